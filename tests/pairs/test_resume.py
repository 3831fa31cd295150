"""A run that is killed at any moment continues, and nobody can tell from the result."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import oracle
import timelike as tl
from timelike import GP, InputError, TimeCourses
from timelike.pairs import job as tiling
from timelike.pairs.on_disk import journal
from timelike.pairs.on_disk import write as on_disk
from timelike.pairs.on_disk.journal import Journal, alone
from timelike.pairs.routes import GridRoute, InformationRoute, OneGridRoute

GIVEN = GP.se(0.4, signal_sd=1.3, noise_sd=0.3, mean=0.2)
ENDINGS = ["npy", "zarr"]
CODE = """
import os, random, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import oracle, timelike as tl
from timelike.pairs.on_disk import journal
from timelike.pairs.on_disk import write as on_disk
from timelike.pairs import routes as pairs
from timelike.pairs import job as tiling

tiling.BLOCK, pairs.InformationRoute.side = 14, 7
left = int(sys.argv[3])

def record(*arguments):
    global left
    journal.record(*arguments)
    left -= 1
    if left == 0:
        threading.Timer(random.uniform(0, 0.01), os.kill, (os.getpid(), signal.SIGKILL)).start()
    time.sleep(0.002)  # many tiles are left when the moment comes

on_disk.record = record
courses = tl.TimeCourses.from_arrays(*oracle.example("gaps", count=150)[:2])
tl.similarity(courses, tl.GP.se(0.4, signal_sd=1.3, noise_sd=0.3, mean=0.2), out=sys.argv[2], resume=True)
"""


@pytest.fixture
def small_tiles(monkeypatch):
    monkeypatch.setattr(tiling, "BLOCK", 14)
    for way in (OneGridRoute, GridRoute, InformationRoute):
        monkeypatch.setattr(way, "side", 7)


@pytest.fixture
def courses(small_tiles):
    return TimeCourses.from_arrays(*oracle.example("gaps", count=60)[:2])


@pytest.fixture(params=ENDINGS)
def out(request, tmp_path):
    return tmp_path / f"S.{request.param}"


def partial(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


def stop(courses, out, after=7):
    """Begin a run and end it after some tiles."""
    with pytest.MonkeyPatch.context() as patch:
        lines = []

        def last(file, tile, check, plain=journal.record):
            if len(lines) == after:
                raise KeyboardInterrupt
            lines.append(tile)
            plain(file, tile, check)

        patch.setattr(on_disk, "record", last)
        with pytest.raises(KeyboardInterrupt):
            tl.similarity(courses, GIVEN, out=out)
    assert len(Journal(partial(out) / "journal").done()) == after
    return lines


def check_resumed(courses, out, computed=None):
    """The result of a resumed run is that of memory; so many tiles were computed for it."""
    tiles = []
    with pytest.MonkeyPatch.context() as patch:

        def counted(self, tile, plain=tiling.Job.tile):
            tiles.append(tile)
            return plain(self, tile)

        patch.setattr(tiling.Job, "tile", counted)
        S = tl.similarity(courses, GIVEN, out=out, resume=True)
    assert_array_equal(np.asarray(S.values), tl.similarity(courses, GIVEN).values)
    assert computed is None or len(tiles) == computed
    assert not partial(out).exists()


# -- kill -9 -----------------------------------------------------------------------------------------------------


def test_killed_three_times(out, small_tiles):
    if out.suffix == ".zarr":
        pytest.importorskip("zarr")
    command = [sys.executable, "-c", CODE, str(Path(oracle.__file__).parent), str(out)]
    lines, done = Journal(partial(out) / "journal"), 0
    for more in (1, 5, 9):
        ended = subprocess.run([*command, str(more)], check=False)
        assert ended.returncode == -signal.SIGKILL
        assert not out.exists()
        assert len(lines.done()) >= done + more
        done = len(lines.done())
    courses = TimeCourses.from_arrays(*oracle.example("gaps", count=150)[:2])
    check_resumed(courses, out, len(tiling.job_of(courses, GIVEN).tiles()) - done)
    assert not list(out.parent.rglob("*.partial"))


# -- what is done, and what is not -----------------------------------------------------------------------------------


def test_only_what_is_left_is_computed(courses, out):
    stop(courses, out)
    check_resumed(courses, out, len(tiling.job_of(courses, GIVEN).tiles()) - 7)


def test_resume_with_nothing_to_continue_starts(courses, out):
    check_resumed(courses, out, len(tiling.job_of(courses, GIVEN).tiles()))


def test_an_unfinished_run_is_not_begun_again_by_mistake(courses, out):
    stop(courses, out)
    with pytest.raises(InputError, match="holds an unfinished run"):
        tl.similarity(courses, GIVEN, out=out)
    check_resumed(courses, out)


def test_a_finished_run_is_not_computed_again(courses, out):
    check_resumed(courses, out)
    check_resumed(courses, out, 0)
    with pytest.raises(InputError, match="finished, but of other input: values"):
        tl.similarity(courses.centered(), GIVEN, out=out, resume=True)


def test_courses_that_the_route_sorts(courses, tmp_path, monkeypatch):
    monkeypatch.setattr("timelike.pairs.routes.FEW", 1)
    monkeypatch.setattr(on_disk.Reordered, "side", 7)
    out = tmp_path / "S.zarr"
    stop_sorted = on_disk._fill_all

    def stop_between(run, target, folder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(on_disk.Reordered, "of", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
            return stop_sorted(run, target, folder)

    with monkeypatch.context() as patch:
        patch.setattr(on_disk, "_fill_all", stop_between)
        with pytest.raises(KeyboardInterrupt):
            tl.similarity(courses, GIVEN, out=out)
    tiles = len(tiling.job_of(courses, GIVEN).tiles())
    assert len(Journal(partial(out) / "sorted.journal").done()) == tiles
    check_resumed(courses, out, tiles)  # read in the order of the courses, but not computed again


def _flip(path, at):
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_flipped_bit_is_noticed(courses, out, mirrored):
    rows, cols = next(tile for tile in stop(courses, out) if tile[0] != tile[1])[:: -1 if mirrored else 1]
    if out.suffix == ".npy":
        _flip(next(partial(out).glob("matrix-*.npy")), 128 + 8 * (60 * (rows.start + 1) + cols.start + 1))
    else:
        size = tiling.job_of(courses, GIVEN).size[0]
        _flip(next(partial(out).glob("matrix-*.zarr")) / f"c/{rows.start // size}/{cols.start // size}", 100)
    check_resumed(courses, out, len(tiling.job_of(courses, GIVEN).tiles()) - 6)


def test_a_truncated_chunk_is_noticed(courses, tmp_path):
    out = tmp_path / "S.zarr"
    for tile in stop(courses, out)[3:5]:
        size = tiling.job_of(courses, GIVEN).size[0]
        chunk = next(partial(out).glob("matrix-*.zarr")) / f"c/{tile[0].start // size}/{tile[1].start // size}"
        chunk.write_bytes(chunk.read_bytes()[:-8])
    check_resumed(courses, out, len(tiling.job_of(courses, GIVEN).tiles()) - 5)


@pytest.mark.parametrize("left", [0, 100, 5000])
def test_a_truncated_file_is_noticed(courses, tmp_path, left):
    out = tmp_path / "S.npy"
    stop(courses, out)
    with next(partial(out).glob("matrix-*.npy")).open("r+b") as file:
        file.truncate(left)
    check_resumed(courses, out)


@pytest.mark.parametrize("torn", ["14 28 12345", "14 28 12345 999\n", "\x00\x00", "14"])
def test_a_line_cut_short_does_not_count(courses, out, torn):
    stop(courses, out)
    lines = partial(out) / "journal"
    lines.write_text(lines.read_text() + torn)
    assert len(Journal(lines).done()) == 7
    check_resumed(courses, out, len(tiling.job_of(courses, GIVEN).tiles()) - 7)


def test_a_journal_without_its_first_line_begins_anew(courses, out):
    stop(courses, out)
    (partial(out) / "journal").write_text('{"names": "ab')
    check_resumed(courses, out, len(tiling.job_of(courses, GIVEN).tiles()))


# -- other input -------------------------------------------------------------------------------------------------


def raises_changed(part, courses, gp, out, others=None):
    with pytest.raises(InputError, match=rf"holds a run of other input: .*{part}.*remove that folder"):
        tl.similarity(courses, gp, others, out=out, resume=True)


def test_changed_input_is_noticed(courses, out, monkeypatch):
    stop(courses, out)
    times, values = oracle.example("gaps", count=60)[:2]
    raises_changed("values", courses.centered(), GIVEN, out)
    raises_changed("times", TimeCourses.from_arrays([t + 1 for t in times], values), GIVEN, out)
    raises_changed("names", TimeCourses.from_arrays(times, values, names=range(1, 61)), GIVEN, out)
    raises_changed("values of the others", courses, GIVEN, out, courses[:30])
    raises_changed("model", courses, GP.se(np.nextafter(0.4, 1), signal_sd=1.3, noise_sd=0.3, mean=0.2), out)
    raises_changed("model", courses, GP.se(0.4, signal_sd=1.3, noise_sd=0.3, mean=0.2000000001), out)
    with monkeypatch.context() as patch:
        patch.setattr(tiling, "BLOCK", 7)
        raises_changed("tiles", courses, GIVEN, out)
        patch.setattr("timelike.pairs.on_disk.fingerprint.software", lambda: "numpy 7")
        raises_changed(r"software \(it has timelike .*, now numpy 7\)", courses, GIVEN, out)
    with monkeypatch.context() as patch:
        patch.setattr("timelike.pairs.routes.FEW", 1)
        raises_changed("route", courses, GIVEN, out)
    check_resumed(courses, out, len(tiling.job_of(courses, GIVEN).tiles()) - 7)


def test_the_fingerprint_is_kept_with_the_result(courses, tmp_path):
    tl.similarity(courses, GIVEN, out=tmp_path / "S.npy")
    labels = json.loads((tmp_path / "S.npy.json").read_text())
    assert labels["fingerprint"]["route"] == labels["route"] == "information"


# -- two at once -------------------------------------------------------------------------------------------------------


def test_two_processes_on_one_file(courses, out):
    stop(courses, out)
    with alone(partial(out)), pytest.raises(InputError, match=r"in use by another process \(process \d+ on "):
        tl.similarity(courses, GIVEN, out=out, resume=True)
    check_resumed(courses, out)


def test_a_lock_left_by_a_dead_process_does_not_block(courses, out):
    stop(courses, out)
    (partial(out) / "lock").write_text("process 1 on this machine\n")
    check_resumed(courses, out)


# -- files that someone changed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["[1]", "5", '"a"', "[" * 100_000, "null"])
def test_a_journal_that_begins_with_something_else_begins_anew(courses, tmp_path, first):
    out = tmp_path / "S.npy"
    stop(courses, out)
    (partial(out) / "journal").write_text(f"{first}\n0 0 0\n")
    check_resumed(courses, out, len(tiling.job_of(courses, GIVEN).tiles()))


@pytest.mark.parametrize("line", ["0", " 0", "1 2 2277188503"])
def test_a_line_whose_checksum_is_right_by_chance_does_not_count(courses, tmp_path, line):
    assert journal._parse(line) is None


@pytest.mark.parametrize("labels", [{"fingerprint": [1]}, {"fingerprint": 5}, {}])
def test_resume_with_labels_without_a_fingerprint(courses, tmp_path, labels):
    out = tmp_path / "S.npy"
    tl.similarity(courses, GIVEN, out=out)
    path = tmp_path / "S.npy.json"
    whole = json.loads(path.read_text())
    del whole["fingerprint"]
    path.write_text(json.dumps(whole | labels))
    with pytest.raises(InputError, match="fingerprint"):
        tl.similarity(courses, GIVEN, out=out, resume=True)
