"""An option that is meant once stands once: the later one would win without a word."""

import pytest
from click.testing import CliRunner

from timelike.cli import main

TABLE = "ID,ID_dataset,time,value\n" + "".join(
    f"{i},{kind},{t},{i + t + 0.5 * (kind == 'heart')}\n"
    for i in (1, 2)
    for kind in ("growth", "heart")
    for t in (0, 1, 2)
)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "sets.csv"
    path.write_text(TABLE)
    return path


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--value", "value", "--value", "time"], "--value is given 2 times"),
        (["--value=value", "--kernel", "se", "--value", "time"], "--value is given 2 times"),
        (["--robust", "--no-robust"], "--robust or --no-robust is given 2 times"),
        (["-k", "2", "-k", "3"], "-k is given 2 times"),
    ],
)
def test_twice_is_refused(table, tmp_path, options, said):
    found = run("cluster", table, "--out", tmp_path / "out", *options)
    assert found.exit_code == 2
    assert said in found.output
    assert not (tmp_path / "out").exists()


def test_a_flag_that_says_the_same_twice_is_no_mistake(table, tmp_path):
    found = run(
        "fit", table, "--course", "ID", "--duplicates", "replicates", "--quiet", "--quiet", "--out", tmp_path / "m.json"
    )
    assert found.exit_code == 0, found.output


def test_a_name_of_several_columns(table, tmp_path):
    found = run("fit", table, "--course", "ID", "--course", "ID_dataset", "--out", tmp_path / "model.json")
    assert found.exit_code == 0, found.output
    assert "4 courses" in found.output
    asked = run("fit", table, "--out", tmp_path / "other.json")
    assert asked.exit_code == 2
    assert "--course ID --course ID_dataset" in asked.output
