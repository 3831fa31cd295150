"""The data of others: what is read, and what happens on the way."""

import hashlib
import sys

import numpy as np
import pytest

from timelike import datasets
from timelike.datasets import Remote, fetch, folder
from timelike.exceptions import InputError


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TIMELIKE_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def remote(tmp_path):
    """A file that can be downloaded without a network."""
    source = tmp_path / "source.txt"
    source.write_bytes(b"content")
    return Remote("place/name.txt", source.as_uri(), hashlib.sha256(b"content").hexdigest())


@pytest.fixture
def shared(shared_data, monkeypatch):
    monkeypatch.setenv("TIMELIKE_DATA", str(shared_data))


@pytest.mark.usefixtures("shared")
def test_reprogramming():
    courses = datasets.reprogramming()
    assert len(courses) == len(set(courses.names)) == 1931
    np.testing.assert_array_equal(courses.grid, np.repeat([0, 48, 96, 144, 192], 2))
    assert sum(name.startswith("unnamed-") for name in courses.names) == 235
    assert courses.names[101:104] == ("unnamed-102", "Mns1", "Samd14")
    assert "Lpl-2" in courses
    assert courses.values.mean() == pytest.approx(9.491161, abs=1e-6)  # the authors' starting mean


@pytest.mark.usefixtures("shared")
def test_symbols_are_as_the_authors_give_them():
    symbols = datasets.symbols()
    assert len(symbols) == 1931
    assert symbols.count("") == 235
    assert len(set(symbols) - {""}) == 1559


@pytest.mark.usefixtures("shared")
def test_gene_ontology():
    graph, annotation = datasets.gene_ontology()
    assert (graph.name, annotation.name) == ("go_2019-01-27.obo.gz", "goa_mouse_2019-01-14.gaf.gz")


@pytest.mark.usefixtures("cache")
def test_gene_ontology_is_not_there():
    with pytest.raises(InputError, match=r"no Gene Ontology in .*TIMELIKE_DATA"):
        datasets.gene_ontology()


def test_fetched_once_and_kept(cache, remote, monkeypatch):
    path = fetch(remote)
    assert path == cache / "place" / "name.txt"
    assert path.read_bytes() == b"content"
    monkeypatch.setattr(datasets, "_download", lambda _: pytest.fail("downloaded again"))
    assert fetch(remote) == path


def test_wrong_content_is_refused_and_not_kept(cache, remote):
    with pytest.raises(InputError, match="not the expected file"):
        fetch(Remote(remote.name, remote.url, "0" * 64))
    assert not (cache / remote.name).exists()


def test_a_damaged_copy_is_refused(cache, remote):
    fetch(remote).write_bytes(b"other")
    with pytest.raises(InputError, match=r"name\.txt is not the expected file.*Delete the copy"):
        fetch(remote)


@pytest.mark.usefixtures("cache")
def test_no_network_says_what_to_do(remote):
    with pytest.raises(InputError, match=r"cannot download .*save it as place/name.txt.*TIMELIKE_DATA"):
        fetch(Remote(remote.name, remote.url + ".missing", remote.sha256))


@pytest.mark.parametrize(("platform", "expected"), [("linux", ".cache"), ("darwin", "Caches"), ("win32", "Local")])
def test_folder_of_each_system(platform, expected, monkeypatch):
    for name in ("TIMELIKE_DATA", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    assert folder().parts[-2:] == (expected, "timelike")
