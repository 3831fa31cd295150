"""What is declared in pyproject.toml agrees with itself, with the package, and with the oldest versions tested."""

import re
import tomllib
from pathlib import Path

import pytest

import timelike

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BY_LICENCE = {"leiden"}
"""Extras that "all" leaves out: their packages have licences that a user should choose knowingly."""


def requirements():
    """All requirements, of the core and of the extras, but for those on ourselves."""
    extras = [line for lines in PROJECT["optional-dependencies"].values() for line in lines]
    return [line for line in PROJECT["dependencies"] + extras if not line.startswith("timelike[")]


LOWER_BOUND = re.compile(r"([\w-]+)>=([\d.]+)")


def bounds():
    """Package -> the oldest version that is allowed."""
    return dict(match.groups() for match in map(LOWER_BOUND.fullmatch, requirements()) if match)


def oldest():
    lines = (ROOT / "tests" / "compat" / "oldest.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def padded(version):
    return tuple([*map(int, version.split(".")), 0, 0][:3])


def test_every_requirement_has_a_lower_bound_and_no_upper_one():
    assert [line for line in requirements() if not LOWER_BOUND.fullmatch(line)] == []


def test_the_oldest_versions_that_are_tested_are_those_that_are_allowed():
    assert {name: padded(v) for name, v in oldest().items()} == {name: padded(v) for name, v in bounds().items()}


def test_all_has_every_extra():
    extras = PROJECT["optional-dependencies"]
    reached, todo = set(), ["all"]
    while todo:
        inner = [re.fullmatch(r"timelike\[([\w,]+)\]", line) for line in extras[todo.pop()]]
        new = {name for match in inner if match for name in match[1].split(",")} - reached
        reached |= new
        todo += new
    assert reached == set(extras) - {"all"} - BY_LICENCE


def test_one_version():
    assert timelike.__version__ == PROJECT["version"]


@pytest.mark.parametrize("part", ["name", "description", "readme", "license", "requires-python", "scripts"])
def test_the_package_says_what_it_is(part):
    assert PROJECT[part]


def test_the_command_is_there():
    from importlib import import_module

    module, _, function = PROJECT["scripts"]["timelike"].partition(":")
    assert callable(getattr(import_module(module), function))


# -- the repository, which an sdist has only a part of -----------------------------------------------------------------


def of_the_repository(*parts):
    path = ROOT.joinpath(*parts)
    if not (ROOT / ".git").exists():
        pytest.skip("this is not the repository")
    return pytest.importorskip("yaml").safe_load(path.read_text(encoding="utf-8"))


def test_hooks_before_a_commit_are_our_own_and_part_of_make_check():
    (local,) = of_the_repository(".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"  # no host is asked for code
    checked = (ROOT / "Makefile").read_text(encoding="utf-8").split("\ncheck:")[1].split("\n\n")[0]
    for hook in local["hooks"]:
        assert hook["language"] == "system"
        program = re.match(r"\.venv/bin/(\w+(?: check| format)?)", hook["entry"])[1]
        assert f"$(BIN)/{program}" in checked


@pytest.mark.parametrize("name", ["bug_report.yml", "question_or_wish.yml"])
def test_forms_ask_for_what_lets_us_repeat_it(name):
    form = of_the_repository(".github", "ISSUE_TEMPLATE", name)
    assert form["name"]
    assert form["description"]
    asked = " ".join(str(text) for field in form["body"] for text in field["attributes"].values())
    for words in ("timelike info", "The command", "first lines of the file", "What you expected"):
        assert words.casefold() in asked.casefold(), words
    assert len({field.get("id") for field in form["body"]}) == len(form["body"])
