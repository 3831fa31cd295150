"""Packed files that unpack to far more than they are: refused before the memory is filled."""

import gzip
import io
import re
import tracemalloc
import zipfile

import numpy as np
import pytest

import timelike as tl
from timelike.base import unpacking
from timelike.clusters import saved
from timelike.ontology import files
from timelike.reading import read_table
from timelike.reading.course_file import CourseFile


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A file may unpack to a megabyte, or a hundred times its size."""
    monkeypatch.setattr(unpacking, "LARGE", 2**20)


def archive(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return path


def gzipped(path, content):
    path.write_bytes(gzip.compress(content))
    return path


TOO_MUCH = r"bomb\.\S+: it is packed, and (says that it )?unpacks to .*more than 100 times its size of \S+ MB"
ZEROS = b"a" + b",0" * 10**7


def test_gzipped_tables(tmp_path):
    path = gzipped(tmp_path / "bomb.csv.gz", ZEROS)
    tracemalloc.start()
    try:
        for read in (tl.read, read_table, CourseFile):
            with pytest.raises(tl.InputError, match=TOO_MUCH):
                read(path)
        assert tracemalloc.get_traced_memory()[1] < 15e6
    finally:
        tracemalloc.stop()


def test_a_gzipped_course_file_that_grows_below_its_header(tmp_path):
    path = gzipped(
        tmp_path / "bomb.csv.gz",
        b"gene,0h,1h\n" + b"".join(b"g%d,0,%s\n" % (i % 1000, b"0" * 2000) for i in range(5000)),
    )
    with pytest.raises(tl.InputError, match=TOO_MUCH):
        list(CourseFile(path, rows=1000))


def test_a_line_without_end_in_a_file_of_an_ontology(tmp_path):
    path = gzipped(tmp_path / "terms.obo.gz", b"x" * (files.LONGEST_LINE + 1))
    with pytest.raises(tl.InputError, match="a line has more than 16,777,216 characters: it is no such table"):
        list(files._lines(path))


def test_a_workbook(tmp_path):
    path = archive(tmp_path / "bomb.xlsx", {"xl/workbook.xml": b"<workbook/>", "xl/worksheets/sheet1.xml": ZEROS})
    with pytest.raises(tl.InputError, match=TOO_MUCH):
        tl.read(path)


def test_a_clustering(tmp_path):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, facts=np.zeros(10**7, dtype=np.uint8))
    with pytest.raises(tl.InputError, match=TOO_MUCH):
        saved.load(path, tl.GP.se(1, 1, 1))


def test_a_parquet_file(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "bomb.parquet"
    parquet.write_table(arrow.table({"gene": np.zeros(10**6), "0h": np.zeros(10**6)}), path)
    with pytest.raises(tl.InputError, match=TOO_MUCH):
        tl.read(path)


def test_files_of_measurements_are_read(tmp_path):
    values = np.random.default_rng(1).normal(size=(20_000, 8)).round(2)
    text = "gene,0,1,2,3,4,5,6,7\n" + "".join(f"g{i},{','.join(map(str, row))}\n" for i, row in enumerate(values))
    path = gzipped(tmp_path / "genes.csv.gz", text.encode())
    assert len(text) > unpacking.LARGE / 2
    np.testing.assert_array_equal(tl.read(path).values, values.ravel())
    np.testing.assert_array_equal(np.concatenate([part.values for part in CourseFile(path)]), values.ravel())


def test_the_bound():
    assert unpacking.most(10) == 2**20
    assert unpacking.most(2**20) == 100 * 2**20
    with pytest.raises(tl.InputError, match=re.escape("unpacks to 2 GB")):
        unpacking.check_announced([10**9, 10**9], 100)
    packed = gzip.compress(b"x" * 2**20)
    assert len(unpacking.gunzipped(io.BytesIO(packed), 0).read()) == 2**20
    with pytest.raises(tl.InputError, match="unpacks to more than"):
        unpacking.gunzipped(io.BytesIO(gzip.compress(b"x" * (2**20 + 1))), 0).read()
