import errno
import os
import stat

import pytest

from timelike.base.files import atomic_path, atomic_write, checksum
from timelike.exceptions import InputError


def listing(folder):
    return sorted(p.name for p in folder.iterdir())


def test_a_file_appears_when_the_block_ends(tmp_path):
    with atomic_write(tmp_path / "table.csv") as file:
        file.write("a,ü")
        assert not (tmp_path / "table.csv").exists()
    assert (tmp_path / "table.csv").read_bytes() == "a,ü".encode()
    assert listing(tmp_path) == ["table.csv"]


@pytest.mark.parametrize(
    ("problem", "raised", "said"),
    [
        (ZeroDivisionError("mine"), ZeroDivisionError, "mine"),
        (OSError(errno.ENOSPC, "No space left on device"), InputError, r"table\.csv: No space left on device\."),
        (OSError("disk says no"), InputError, r"cannot write .*table\.csv: disk says no\."),
    ],
)
def test_an_error_inside_leaves_the_old_file_and_no_litter(tmp_path, problem, raised, said):
    target = tmp_path / "table.csv"
    target.write_text("old")

    def half():
        with atomic_write(target) as file:
            file.write("half of the n")
            raise problem

    with pytest.raises(raised, match=said):
        half()
    assert target.read_text() == "old"
    assert listing(tmp_path) == ["table.csv"]


def test_an_error_inside_leaves_nothing_where_nothing_was(tmp_path):
    def half():
        with atomic_path(tmp_path / "table.csv") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert listing(tmp_path) == []


def test_the_old_file_stays_readable_until_the_end(tmp_path):
    target = tmp_path / "table.csv"
    target.write_text("old")
    with atomic_write(target) as file:
        file.write("new")
        file.flush()
        assert target.read_text() == "old"
    assert target.read_text() == "new"


def test_the_temporary_name_keeps_the_ending_and_the_folder(tmp_path):
    with atomic_path(tmp_path / "deep.table.parquet") as temporary:
        assert temporary.suffix == ".parquet"
        assert temporary.parent == tmp_path
        assert temporary.name.startswith(".")


def test_bytes(tmp_path):
    with atomic_write(str(tmp_path / "raw"), "wb") as file:
        file.write(b"\x00\xff")
    assert (tmp_path / "raw").read_bytes() == b"\x00\xff"


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_permissions_follow_the_umask(tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        with atomic_write(tmp_path / "table.csv") as file:
            file.write("x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "table.csv").stat().st_mode) == mode


def test_a_folder_that_is_not_there(tmp_path):
    with (
        pytest.raises(InputError, match=r"cannot write .*missing.*No such file"),
        atomic_write(tmp_path / "missing" / "x"),
    ):
        pass


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with (
        pytest.raises(InputError, match=r"cannot write .*file.*Not a directory"),
        atomic_write(tmp_path / "file" / "x"),
    ):
        pass


def test_a_target_that_is_a_folder(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=r"cannot write .*folder"), atomic_write(tmp_path / "folder") as file:
        file.write("x")
    assert listing(tmp_path) == ["folder"]


def test_a_file_has_the_rights_that_the_process_gives_and_other_threads_see_no_change(tmp_path, monkeypatch):
    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", lambda _: pytest.fail("another thread would see it"))
        with atomic_write(tmp_path / "table.csv") as file:
            file.write("x")
    finally:
        monkeypatch.undo()
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "table.csv").stat().st_mode) == 0o640


def test_checksum_is_sha256(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert checksum(tmp_path / "a") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
