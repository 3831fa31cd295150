"""Docstrings agree with signatures: what a docstring lists is what the code takes, all of it, in the same order."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import timelike

PACKAGE = Path(timelike.__file__).parent
SECTION = re.compile(r"^(\w[\w ]*)\n-+\n", re.MULTILINE)
BY_SCIKIT_LEARN = {"feature_names_in_", "n_features_in_"}
"""Set by its validation of X."""
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : .*)?$", re.MULTILINE)


def listed(docstring, section):
    """Names in a section of a docstring, or None where it has no such section."""
    parts = SECTION.split(docstring)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    if section not in sections:
        return None
    entries = ENTRY.findall(sections[section])
    return [name.strip("* ") for entry in entries for name in entry.split(",")]


def taken(function):
    """Names of a function's parameters."""
    args = function.args
    named = [*args.posonlyargs, *args.args, *([args.vararg] if args.vararg else []), *args.kwonlyargs]
    names = [arg.arg for arg in [*named, *([args.kwarg] if args.kwarg else [])]]
    return names[1:] if names and names[0] in ("self", "cls") else names


def held(class_):
    """Names that instances of a class have, its bases' among them: fields, methods, and what methods set."""
    for node in ast.walk(class_):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id
        elif isinstance(node, ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
    for base in class_.bases:
        if isinstance(base, ast.Name) and base.id in CLASSES:
            yield from held(CLASSES[base.id])


def definitions(kind):
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind) and ast.get_docstring(node):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno} {node.name}", node


CLASSES = {node.name: node for _, node in definitions(ast.ClassDef)}


def differing(function):
    names = listed(ast.get_docstring(function), "Parameters")
    return None if names in (None, taken(function)) else f"lists {names}, takes {taken(function)}"


def test_functions_list_what_they_take():
    wrong = {where: differing(node) for where, node in definitions(ast.FunctionDef) if differing(node)}
    assert wrong == {}


def constructor(class_):
    """What making an instance takes: the parameters of __init__, or the fields of a dataclass."""
    for node in class_.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            return taken(node)
    return [node.target.id for node in class_.body if isinstance(node, ast.AnnAssign)]


def test_classes_list_what_they_take():
    wrong = {}
    for where, node in definitions(ast.ClassDef):
        names = listed(ast.get_docstring(node), "Parameters")
        if names is not None and names != constructor(node):
            wrong[where] = f"lists {names}, takes {constructor(node)}"
    assert wrong == {}


def test_classes_have_the_attributes_that_they_list():
    wrong = {}
    for where, node in definitions(ast.ClassDef):
        missing = set(listed(ast.get_docstring(node), "Attributes") or ()) - set(held(node)) - BY_SCIKIT_LEARN
        if missing:
            wrong[where] = missing
    assert wrong == {}


def functions():
    """What users call by its public name."""
    return [name for name in timelike.__all__ if inspect.isfunction(getattr(timelike, name))]


@pytest.mark.parametrize("name", functions())
def test_what_users_call_lists_its_options_and_has_an_example(name):
    function = getattr(timelike, name)
    docstring = inspect.getdoc(function)
    options = [p for p in inspect.signature(function).parameters.values() if p.default is not p.empty]
    assert len(options) < 2 or listed(docstring, "Parameters")
    assert ">>> " in docstring
