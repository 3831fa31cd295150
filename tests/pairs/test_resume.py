"""A run that is killed at any moment continues, and nobody can tell from the result."""

import dataclasses
import json
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import oracle
from small_jobs import Case, case_of
from timelike import GP, DataWarning, InputError, TimeCourses
from timelike.base.locks import locked
from timelike.gp.clock import Clocked
from timelike.pairs.job import Cut, Job
from timelike.pairs.on_disk import journal, write
from timelike.pairs.on_disk.journal import Journal
from timelike.pairs.on_disk.write import compute

ENDINGS = ["npy", "zarr"]
CODE = """
import os, random, signal, sys, threading, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from small_jobs import case_of
from timelike.pairs.on_disk import journal, write

left = int(sys.argv[3])

def record(*arguments):
    global left
    journal.record(*arguments)
    left -= 1
    if left == 0:
        threading.Timer(random.uniform(0, 0.01), os.kill, (os.getpid(), signal.SIGKILL)).start()
    time.sleep(0.002)  # many tiles are left when the moment comes

write.record = record
case_of("information", count=150).to_file(Path(sys.argv[2]), resume=True)
"""


@pytest.fixture
def case():
    return case_of("information")


@pytest.fixture(params=ENDINGS)
def out(request, tmp_path):
    return tmp_path / f"S.{request.param}"


def partial(out: Path) -> Path:
    return out.with_name(out.name + ".partial")


def stop(case, out, after=7):
    """Begin a run and end it after some tiles."""
    with pytest.MonkeyPatch.context() as patch:
        lines = []

        def last(file, tile, check, plain=journal.record):
            if len(lines) == after:
                raise KeyboardInterrupt
            lines.append(tile)
            plain(file, tile, check)

        patch.setattr(write, "record", last)
        with pytest.raises(KeyboardInterrupt):
            case.to_file(out)
    assert len(Journal(partial(out) / "journal").done()) == after
    return lines


def check_resumed(case, out, computed=None):
    """The result of a resumed run is that of memory; so many tiles were computed for it."""
    tiles = []

    class Counted(Job):
        def tile(self, tile):
            tiles.append(tile)
            return super().tile(tile)

    assert_array_equal(np.asarray(compute(case.run(kind=Counted), out, resume=True)), case.values())
    assert computed is None or len(tiles) == computed
    assert not partial(out).exists()


# -- kill -9 -----------------------------------------------------------------------------------------------------


def test_killed_three_times(out):
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
    case = case_of("information", count=150)
    check_resumed(case, out, len(case.job().tiles()) - done)
    assert not list(out.parent.rglob("*.partial"))


# -- what is done, and what is not -----------------------------------------------------------------------------------


def test_only_what_is_left_is_computed(case, out):
    stop(case, out)
    check_resumed(case, out, len(case.job().tiles()) - 7)


def test_resume_with_nothing_to_continue_starts(case, out):
    check_resumed(case, out, len(case.job().tiles()))


def test_an_unfinished_run_is_not_begun_again_by_mistake(case, out):
    stop(case, out)
    with pytest.raises(InputError, match="holds an unfinished run"):
        case.to_file(out)
    check_resumed(case, out)


def test_a_finished_run_is_not_computed_again(case, out):
    check_resumed(case, out)
    check_resumed(case, out, 0)
    with pytest.raises(InputError, match="finished, but of other input: values"):
        Case(case.courses.centered()).to_file(out, resume=True)


def test_courses_that_the_route_sorts(tmp_path):
    case, out = case_of("grids"), tmp_path / "S.zarr"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write.Reordered, "of", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            case.to_file(out)
    assert len(Journal(partial(out) / "sorted.journal").done()) == len(case.job().tiles())
    check_resumed(case, out, 0)  # read in the order of the courses, but not computed again


def _flip(path, at):
    with path.open("r+b") as file:
        file.seek(at)
        byte = file.read(1)
        file.seek(at)
        file.write(bytes([byte[0] ^ 1]))


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_flipped_bit_is_noticed(case, out, mirrored):
    rows, cols = next(tile for tile in stop(case, out) if tile[0] != tile[1])[:: -1 if mirrored else 1]
    if out.suffix == ".npy":
        _flip(next(partial(out).glob("matrix-*.npy")), 128 + 8 * (60 * (rows.start + 1) + cols.start + 1))
    else:
        size = case.job().size[0]
        _flip(next(partial(out).glob("matrix-*.zarr")) / f"c/{rows.start // size}/{cols.start // size}", 100)
    check_resumed(case, out, len(case.job().tiles()) - 6)


def test_a_truncated_chunk_is_noticed(case, tmp_path):
    out = tmp_path / "S.zarr"
    for tile in stop(case, out)[3:5]:
        size = case.job().size[0]
        chunk = next(partial(out).glob("matrix-*.zarr")) / f"c/{tile[0].start // size}/{tile[1].start // size}"
        chunk.write_bytes(chunk.read_bytes()[:-8])
    check_resumed(case, out, len(case.job().tiles()) - 5)


@pytest.mark.parametrize("left", [0, 100, 5000])
def test_a_truncated_file_is_noticed(case, tmp_path, left):
    out = tmp_path / "S.npy"
    stop(case, out)
    with next(partial(out).glob("matrix-*.npy")).open("r+b") as file:
        file.truncate(left)
    check_resumed(case, out)


@pytest.mark.parametrize("torn", ["14 28 12345", "14 28 12345 999\n", "\x00\x00", "14"])
def test_a_line_cut_short_does_not_count(case, out, torn):
    stop(case, out)
    lines = partial(out) / "journal"
    lines.write_text(lines.read_text() + torn)
    assert len(Journal(lines).done()) == 7
    check_resumed(case, out, len(case.job().tiles()) - 7)


def test_a_journal_without_its_first_line_begins_anew(case, out):
    stop(case, out)
    (partial(out) / "journal").write_text('{"names": "ab')
    check_resumed(case, out, len(case.job().tiles()))


# -- other input -------------------------------------------------------------------------------------------------


def raises_changed(part, run, out):
    with pytest.raises(InputError, match=rf"holds a run of other input: .*{part}.*remove that folder"):
        compute(run, out, resume=True)


def test_changed_input_is_noticed(case, out):
    stop(case, out)
    times, values = oracle.example("gaps", count=60)[:2]
    raises_changed("values", Case(case.courses.centered()).run(), out)
    raises_changed("times", Case(TimeCourses.from_arrays([t + 1 for t in times], values)).run(), out)
    raises_changed("names", Case(TimeCourses.from_arrays(times, values, names=range(1, 61))).run(), out)
    raises_changed("values of the others", case.run(case.courses[:30]), out)
    for gp in (GP.se(np.nextafter(0.4, 1), 1.3, 0.3, mean=0.2), GP.se(0.4, 1.3, 0.3, mean=0.2000000001)):
        raises_changed("model", Case(case.courses, gp).run(), out)
    raises_changed("model", Case(case.courses, GP.se(0.4, 1.3, 0.3, mean=0.2, clock=5.0)).run(), out)
    raises_changed("tiles", dataclasses.replace(case, cut=Cut(7, 7)).run(), out)
    raises_changed("route", dataclasses.replace(case, route="grids").run(), out)
    header = case.run().header
    other = dataclasses.replace(header, fingerprint=header.fingerprint | {"software": "numpy 7"})
    other_software = dataclasses.replace(case.run(), header=other)
    raises_changed(r"software \(it has timelike .*, now numpy 7\)", other_software, out)
    check_resumed(case, out, len(case.job().tiles()) - 7)


@pytest.mark.parametrize(("tau", "start"), [(np.nextafter(5.0, 6), 0.0), (5.0, 1e-15), (5.0, None)])
def test_every_digit_of_a_clock_is_part_of_the_fingerprint(case, tau, start):
    def model(tau, start):
        kernel = Clocked(GP.se(0.4, 1, 1).kernel, tau, start)
        return Case(case.courses, GP(kernel, 1.3, 0.3)).run().header.fingerprint["model"]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # of times before the start
        assert model(tau, start) != model(5.0, 0.0)
        assert model(5.0, 0.0) == model(5.0, 0.0)


def test_the_fingerprint_is_kept_with_the_result(case, tmp_path):
    case.to_file(tmp_path / "S.npy")
    header = json.loads((tmp_path / "S.npy.json").read_text())
    assert header["fingerprint"]["route"] == header["route"] == "information"


# -- two at once -------------------------------------------------------------------------------------------------------


def test_two_processes_on_one_file(case, out):
    stop(case, out)
    with locked(partial(out)), pytest.raises(InputError, match=r"in use by another process \(process \d+ on "):
        case.to_file(out, resume=True)
    check_resumed(case, out)


def test_a_lock_left_by_a_dead_process_does_not_block(case, out):
    stop(case, out)
    (partial(out) / "lock").write_text("process 1 on this machine\n")
    check_resumed(case, out)


# -- files that someone changed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["[1]", "5", '"a"', "[" * 100_000, "null"])
def test_a_journal_that_begins_with_something_else_begins_anew(case, tmp_path, first):
    out = tmp_path / "S.npy"
    stop(case, out)
    (partial(out) / "journal").write_text(f"{first}\n0 0 0\n")
    check_resumed(case, out, len(case.job().tiles()))


@pytest.mark.parametrize("line", ["0", " 0", "1 2 2277188503"])
def test_a_line_whose_checksum_is_right_by_chance_does_not_count(line):
    assert journal._parse(line) is None


@pytest.mark.parametrize("change", [{"fingerprint": [1]}, {"fingerprint": 5}, {}])
def test_resume_with_a_header_without_a_fingerprint(case, tmp_path, change):
    out = tmp_path / "S.npy"
    case.to_file(out)
    path = tmp_path / "S.npy.json"
    whole = json.loads(path.read_text())
    del whole["fingerprint"]
    path.write_text(json.dumps(whole | change))
    with pytest.raises(InputError, match="fingerprint"):
        case.to_file(out, resume=True)
