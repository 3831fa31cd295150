"""The house has rooms: a room imports only from rooms on lines above its own, at the top of a file or late."""

import ast
from pathlib import Path

import pytest

import timelike

PACKAGE = Path(timelike.__file__).parent

ROOMS = """
exceptions
base
courses ontology
simulate reading gp
datasets pairs questions
clusters
plot reporting annotated estimators
runs reproduce
app
cli
"""
LEVEL = {room: level for level, line in enumerate(ROOMS.split("\n")) for room in line.split()}


def modules():
    return sorted(p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py")


def room(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path):
    """Names of our modules that a file imports, wherever in the file, but not for type checking alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {id(n) for block in ast.walk(tree) if _is_type_checking(block) for n in ast.walk(block)}
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom) and node.module == "timelike":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("timelike."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (a.name.split(".")[1] for a in node.names if a.name.startswith("timelike."))


def _is_type_checking(node):
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def test_every_room_has_a_line():
    assert {room(p) for p in modules()} == set(LEVEL)


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_up(path):
    own = LEVEL[room(path)]
    wrong = {name for name in imported(path) if name != room(path) and LEVEL.get(name, 99) >= own}
    assert not wrong, f"{path.relative_to(PACKAGE)} imports {wrong}, which are not on a line above its room"


def test_ontology_is_an_island():
    """Gene ontology is of use without courses: it needs nothing of ours but the errors."""
    files = [path for path in modules() if room(path) == "ontology"]
    assert {name for path in files for name in imported(path)} == {"exceptions", "ontology"}


def test_the_map_for_contributors_has_these_rooms():
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = text.split("```")[3].strip("\n").split("\n")
    assert [line[:44].split() for line in lines] == [line.split() for line in ROOMS.strip().split("\n")]


def test_import_is_light():
    """`import timelike` must not load what it does not need yet."""
    import subprocess
    import sys

    heavy = ["pandas", "sklearn", "scipy", "matplotlib", "numba", "click", "tqdm"]
    code = f"import sys, timelike; print(*[m for m in {heavy} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []


def test_public_names_are_documented():
    undocumented = [name for name in timelike.__all__ if not (getattr(timelike, name).__doc__ or "").strip()]
    assert undocumented == []


def test_what_users_see_are_the_public_names():
    assert {name for name in dir(timelike) if not name.startswith("__")} == set(timelike.__all__)
    assert {"__version__", "__doc__", "__all__"} <= set(dir(timelike))
    everything = {}
    exec("from timelike import *", everything)  # noqa: S102 - our own names
    assert set(everything) - {"__builtins__"} == set(timelike.__all__)


def test_rooms_are_reached_by_their_names_all_the_same():
    assert timelike.exceptions.InputError is timelike.InputError
    assert timelike.gp.GP is timelike.GP


def test_nothing_speaks_of_a_machine():
    """No absolute path of a workplace in what we ship."""
    wrong = [p.name for p in modules() if "/work/" in p.read_text(encoding="utf-8")]
    assert wrong == []
