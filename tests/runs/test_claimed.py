"""A folder belongs to one run at a time, and what killed runs left in it is in nobody's way."""

import errno
import os
import signal
import subprocess
import sys
import warnings

import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.base import locks
from timelike.cli import main
from timelike.exceptions import DataWarning
from timelike.runs.analysis import Analysis
from timelike.runs.ask import ask
from timelike.runs.folder import RECORD, claimed

pytestmark = pytest.mark.filterwarnings("ignore::timelike.exceptions.DataWarning")
ASK = {
    "cluster": lambda table, out: tl.analyse(table, out, k=2),
    "changing": lambda table, out: ask("changing", table, out),
}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "courses.csv"
    courses, _ = tl.simulate.profiles(per_group=6, noise=0.05, seed=4)
    courses.to_frame().to_csv(path, index=False)
    return path


def hidden(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("run", ASK.values(), ids=ASK)
def test_a_run_is_refused_where_another_is_under_way(table, tmp_path, run):
    out = tmp_path / "out"
    with claimed(out, overwrite=False):
        for _ in range(2):  # who was refused does not take the lock away
            with pytest.raises(tl.InputError, match=r"out is in use by another process \(process \d+ on "):
                run(table, out)
    run(table, out)
    assert (out / RECORD).is_file()
    assert hidden(out) == []


def test_of_two_commands_at_once_one_is_done(table, tmp_path):
    words = (sys.executable, "-c", "from timelike.cli import main; main()", "cluster", table, "-k", "2")
    both = [subprocess.Popen([*words, "--out", tmp_path / "out"], stderr=subprocess.PIPE) for _ in range(2)]
    said = [one.communicate(timeout=200)[1].decode() for one in both]
    assert sorted(one.returncode for one in both) == [0, 2], said
    assert len(Analysis.load(tmp_path / "out").clustering.labels) == 18


@pytest.mark.parametrize("run", ASK.values(), ids=ASK)
def test_what_came_in_meanwhile_stays(table, tmp_path, monkeypatch, run):
    """As when another program, or a machine that sees no locks, writes there while we compute."""
    out, save = tmp_path / "out", tl.GP.save

    def late(gp, path):
        (out / "clusters.csv").write_text("precious")
        save(gp, path)

    monkeypatch.setattr(tl.GP, "save", late)
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        found = run(table, out)
    assert "out is not empty" in found.failed[0]
    assert [path.name for path in out.iterdir()] == ["clusters.csv"]
    assert (out / "clusters.csv").read_text() == "precious"


def test_what_a_killed_run_left_is_swept(table, tmp_path):
    out = tmp_path / "out"
    killed = (
        "import os, sys, tempfile; from pathlib import Path; from timelike.runs.folder import NEW, claimed\n"
        "with claimed(Path(sys.argv[1]), overwrite=False) as out:\n"
        "    Path(tempfile.mkdtemp(dir=out, prefix=NEW), 'clusters.csv').write_text('half')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", killed, out], check=False).returncode == -signal.SIGKILL
    assert len(hidden(out)) == 2
    (out / f".{'0' * 32}.json").write_text("half")
    tl.analyse(table, out, k=2)
    assert hidden(out) == []


def test_hidden_files_of_people_are_not_swept(table, tmp_path):
    (tmp_path / ".new-notes").write_text("precious")
    with pytest.raises(tl.InputError, match="is not empty"):
        tl.analyse(table, tmp_path, k=2)
    tl.analyse(table, tmp_path, k=2, overwrite=True)
    assert (tmp_path / ".new-notes").read_text() == "precious"


def test_a_file_system_without_locks_is_said(table, tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def none(*_):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", none)
    with pytest.warns(DataWarning, match="has no locks"):
        tl.analyse(table, tmp_path / "out", k=2)
    assert hidden(tmp_path / "out") == []


LONG = "x" * 300
TOO_LONG = {
    "cluster": ("cluster", "{table}", "-k", "2", "--out", LONG),
    "inside": ("cluster", "{table}", "-k", "2", "--out", f"a/{LONG}"),
    "changing": ("changing", "{table}", "--out", LONG),
    "similarity": ("similarity", "{table}", "--out", f"{LONG}.npy"),
    "neighbors": ("neighbors", "{table}", "--out", f"{LONG}.csv"),
    "input": ("fit", LONG, "--out", "m.json"),
    "terms": ("cluster", "{table}", "--gmt", LONG, "--out", "out"),
    "report": ("report", LONG),
    "fit": ("fit", "{table}", "--out", f"{LONG}.json"),
}


@pytest.mark.parametrize("words", TOO_LONG.values(), ids=TOO_LONG)
def test_a_name_that_is_too_long_is_a_mistake_in_one_line(table, tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(main, [word.format(table=table) for word in words])
    assert found.exit_code == 2, found.exception
    assert found.stderr.count("\n") == 1
    assert f"{LONG[:3]}" in found.stderr
    assert "File name too long" in found.stderr


def test_a_name_that_is_too_long_in_python(table, tmp_path):
    with pytest.raises(tl.InputError, match="too long"):
        tl.analyse(table, tmp_path / LONG)
    gp = tl.GP.se(1, 1, 0.1)
    with pytest.raises(tl.InputError, match="too long"):
        gp.save(tmp_path / f"{LONG}.json")
    with pytest.raises(tl.InputError, match="too long"):
        tl.similarity(tl.read(table), gp, out=tmp_path / f"{LONG}.npy")


def test_a_disk_that_is_full_is_one_line(table, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(locks.os, "uname", full)
    found = CliRunner().invoke(main, ["cluster", str(table), "--out", str(tmp_path / "out")])
    assert found.exit_code == 2, found.exception
    assert found.stderr == f"timelike: cannot write into the folder {tmp_path / 'out'}: No space left on device.\n"
