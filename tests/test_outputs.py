"""No output is ever half-written: whatever writes a file writes to a temporary name that `base.files` gave it."""

import ast
from pathlib import Path

import pytest

import timelike

PACKAGE = Path(timelike.__file__).parent
GUARDS = {"atomic_path", "atomic_write"}
ON_A_PATH = {"write_text", "write_bytes", "touch"}
"""Methods of a path that leave a file behind."""
TO_A_FILE = {
    *("to_csv", "to_parquet", "to_excel", "to_feather", "to_hdf", "to_pickle", "to_zarr", "write_h5ad", "write_zarr"),
    *("savefig", "savetxt", "savez", "savez_compressed", "tofile", "write_csv", "write_index", "create_array"),
    *("ExcelWriter", "mkstemp", "NamedTemporaryFile", "urlretrieve"),
}
"""Functions and methods that write to the file they are given."""
COPIES = {"copy", "copy2", "copyfile", "copyfileobj", "copytree", "move"}
"""Functions that write to the second of two files."""
OPENERS = {
    **dict.fromkeys(("GzipFile", "BZ2File", "LZMAFile", "ZipFile"), (1, "r")),
    **dict.fromkeys(("open_array", "open_group"), (1, "a")),
    "memmap": (2, "r+"),
    "open_memmap": (1, "r+"),
}
"""What opens a file for reading or writing -> where its mode stands, and the mode when there is none."""
FILES = {"path_or_buf", "path", "fname", "file", "filename", "fileobj", "store", "dst"}
"""What a file is called where it is named."""
OURS_THAT_SAVE = {"gp", "model_of", "saved", "plot", "record", "run"}
"""``save`` of these goes through the guards, or this test finds what they call; every other ``save`` writes."""
ALLOWED = {
    "base/dask_workers.py": "empty files that show whether workers see a folder and may write there, removed at once",
    "base/locks.py": {"locked"},  # a line that says who holds the lock
    "app/inputs.py": {"add"},  # a file that somebody gives: it goes if it is not whole
    "app/results.py": {"zipped"},  # bytes for a browser
    "app/serve.py": {"_open"},  # a page in the browser
    "pairs/on_disk/stores.py": "tiles in a folder of its own, which takes the final name when all of them are there",
    "pairs/on_disk/journal.py": "lines of a journal, each with a checksum: a line that was cut off does not count",
    "clusters/curves/scratch.py": "values and names of a stream of courses, in a temporary folder, removed after",
    "reproduce/repeats.py": "lines added to a journal: a line that was cut off is removed",
    "ontology/terms.py": "an example of a few lines in a temporary folder, read again and removed",
}
"""Module -> why what it writes may be there before it is whole."""


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py") if path.name != "files.py")


def calls_that_write(tree):
    """(function, call, what it writes to) for each call that writes a file outside a guard."""
    yield from _visit(tree, "", frozenset())


def _visit(node, function, safe):
    """Go down, with the name of the function we are in and the names that a guard gave."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        function = node.name
    if isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            safe = safe | set(_bound(item)) if _guarded(item, safe) else safe
    if isinstance(node, ast.Call) and (target := _written(node)) is not None and not _is_safe(target, safe):
        yield function, node, target
    for child in ast.iter_child_nodes(node):
        yield from _visit(child, function, safe)


def _guarded(item, safe):
    """Whether a with item is one of the guards, or a file opened on what a guard gave."""
    call = item.context_expr
    if not isinstance(call, ast.Call):
        return False
    return _called(call) in GUARDS or ((target := _written(call)) is not None and _is_safe(target, safe))


def _bound(item):
    return [item.optional_vars.id] if isinstance(item.optional_vars, ast.Name) else []


def _is_safe(target, safe):
    """Whether an expression is a name that a guard gave, or that name as another type."""
    if isinstance(target, ast.Call) and _called(target) in ("str", "Path", "fspath") and len(target.args) == 1:
        target = target.args[0]
    return isinstance(target, ast.Name) and target.id in safe


def _called(call):
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _written(call):
    """The expression that a call writes to, or None if it writes nothing."""
    name, method = _called(call), isinstance(call.func, ast.Attribute)
    if name == "open":
        own = method and not _is_module(call.func.value)  # path.open(mode), or open(path, mode)
        return (call.func.value if own else _file(call)) if _writes(call, 0 if own else 1, "r") else None
    if name in OPENERS:
        return _file(call) if _writes(call, *OPENERS[name]) else None
    if method and name in ON_A_PATH:
        return call.func.value
    if name in COPIES and (not method or _last_name(call.func.value) == "shutil"):
        return _file(call, 1)
    saves = name == "save" and method and _last_name(call.func.value) not in OURS_THAT_SAVE
    return _file(call) if (saves or name in TO_A_FILE) and not _to_text(call) else None


def _last_name(node):
    """``gp`` of ``analysis.gp``, ``model_of`` of ``model_of(courses)``."""
    return _called(node) if isinstance(node, ast.Call) else getattr(node, "attr", getattr(node, "id", ""))


def _is_module(node):
    return _last_name(node) in {"gzip", "io", "lzma", "bz2", "tarfile"}


def _file(call, place=0):
    """The file that a call is given, at a place or by a name."""
    named = [k.value for k in call.keywords if k.arg in FILES]
    return (call.args[place : place + 1] + named + [ast.Constant(None)])[0]


def _to_text(call):
    """``frame.to_csv()`` without a file gives a text; with one it has an argument for it."""
    return not call.args and not any(k.arg in FILES | {None} for k in call.keywords)


def _writes(call, place, default):
    """Whether the mode of an open is for writing; a mode that is not written down counts as one."""
    given = [k.value for k in call.keywords if k.arg == "mode"] + call.args[place : place + 1]
    modes = given or [ast.Constant(default)]
    return any(not isinstance(m, ast.Constant) or set(str(m.value)) & set("wax+") for m in modes)


def where(path):
    return path.relative_to(PACKAGE).as_posix()


def unguarded(path):
    """Places in a module that write a file under its final name."""
    found = calls_that_write(ast.parse(path.read_text(encoding="utf-8")))
    return [f"{where(path)}:{call.lineno} in {function}" for function, call, _ in found]


@pytest.mark.parametrize("path", modules(), ids=where)
def test_files_are_written_under_a_temporary_name(path):
    wrong = [] if where(path) in ALLOWED else unguarded(path)
    assert not wrong, f"not inside atomic_path or atomic_write of timelike.base.files: {', '.join(wrong)}"


def test_no_exception_is_kept_for_longer_than_needed():
    assert set(ALLOWED) <= {where(path) for path in modules() if unguarded(path)}


@pytest.mark.parametrize(
    "code",
    [
        "open(path, 'w')",
        "path.open('wb')",
        "path.open(mode='a')",
        "gzip.open(path, 'wt')",
        "open(path, mode)",
        "path.write_text('a')",
        "frame.to_csv(path, index=False)",
        "frame.to_csv(path_or_buf=path)",
        "np.save(path, x)",
        "np.memmap(path, mode='w+')",
        "np.memmap(filename=path, mode='w+')",
        "np.memmap(path, float, 'r+')",
        "np.memmap(path)",
        "np.lib.format.open_memmap(path, mode='w+')",
        "shutil.copy(path, out)",
        "shutil.copyfile(path, dst=out)",
        "image.save(path)",
        "make_image().save(path)",
        "gzip.GzipFile(path, 'w')",
        "gzip.GzipFile(filename=path, mode='wb')",
        "zarr.create_array(path, shape=(2, 2))",
        "zarr.create_array(store=path, shape=(2, 2))",
        "zarr.open_array(path)",
        "path.touch()",
        "with atomic_path(out) as temporary:\n    frame.to_csv(out.with_name(temporary.name))",
        "with atomic_path(out) as temporary:\n    frame.to_csv(temporary.parent / out.name)",
        "with atomic_path(out) as temporary:\n    frame.to_csv(temporary.with_suffix('.csv'))",
        "with atomic_path(out) as temporary:\n    frame.to_csv(other(out, temporary))",
        "with atomic_path(out) as temporary:\n    shutil.copy(temporary, out)",
        "figure.savefig(path)",
        "with atomic_path(out) as temporary:\n    frame.to_csv(out)",
        "with path.open('w') as file:\n    frame.to_csv(file)",
    ],
)
def test_what_this_test_must_find(code):
    assert list(calls_that_write(ast.parse(code)))


@pytest.mark.parametrize(
    "code",
    [
        "open(path)",
        "path.open('rb')",
        "gzip.open(path, 'rt')",
        "frame.to_csv()",
        "gp.save(path)",
        "analysis.gp.save(path)",
        "search.move(start, step)",
        "frame.copy(deep=True)",
        "np.memmap(path, mode='r')",
        "np.lib.format.open_memmap(path, mode='r')",
        "gzip.GzipFile(path)",
        "zarr.open_array(path, mode='r')",
        "with atomic_path(out) as temporary:\n    shutil.copy(path, temporary)",
        "with atomic_path(out) as temporary:\n    frame.to_csv(path_or_buf=temporary)",
        "with atomic_path(out) as temporary:\n    np.save(str(temporary), x)",
        "with atomic_path(out) as temporary:\n    frame.to_csv(temporary)\n    np.save(temporary, x)",
        "with atomic_path(out) as temporary, temporary.open('w') as file:\n    frame.to_csv(file)",
        "with atomic_write(out) as file:\n    frame.to_csv(file)",
        "with atomic_path(out) as temporary:\n    with open(temporary, 'w') as file:\n        frame.to_csv(file)",
    ],
)
def test_what_this_test_must_let_pass(code):
    assert not list(calls_that_write(ast.parse(code)))
