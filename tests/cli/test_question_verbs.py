"""timelike compare and timelike changing: what they write, what they say, what they refuse."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.cli import main

TIMES = np.repeat([0.0, 2, 4, 8, 12], 3)
HEADER = ("--header", "{condition}_{time}h_{replicate}")


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


def made(conditions, count=40, seed=1):
    """Noise around a curve a gene; the first five genes of later conditions rise, the next three lie lower."""
    rng = np.random.default_rng(seed)
    base = np.sin(TIMES / 4) * rng.normal(2, 1, size=(count, 1))
    values = {name: base + rng.normal(size=(count, len(TIMES))) for name in conditions}
    for name in list(conditions)[1:]:
        values[name][:5] += 5 * (TIMES > 2)
        values[name][5:8] -= 4
    return values


def table(path, values):
    names = [f"g{i}" for i in range(len(next(iter(values.values()))))]
    headers = [f"{c}_{t:g}h_{i % 3 + 1}" for c in values for i, t in enumerate(TIMES)]
    frame = pd.DataFrame(np.hstack(list(values.values())), pd.Index(names, name="gene"), headers)
    frame.to_csv(path)
    return path


@pytest.fixture
def two(tmp_path):
    return table(tmp_path / "two.csv", made(["wt", "mut"]))


def files_of(folder):
    return {path.name for path in folder.iterdir()}


def test_compare_writes_what_the_library_finds(two, tmp_path):
    out = tmp_path / "out"
    said = run("compare", two, *HEADER, "--out", out)
    assert said.exit_code == 0, said.output
    assert said.stdout.startswith(
        "8 of 40 courses differ between wt and mut at an expected false discovery rate of 5 %"
    )
    found = tl.compare(tl.read(two, header=HEADER[1]))
    frame = pd.read_csv(out / "differences.csv", keep_default_na=False)
    expected = found.to_frame()
    assert list(frame.columns) == [*expected.columns, "intervals"]
    assert list(frame["name"]) == list(expected["name"])
    np.testing.assert_allclose(frame["log_bayes_factor"], expected["log_bayes_factor"], rtol=1e-9)
    called = [found.names[i] for i in found.called(0.05)]
    assert [name for name, words in zip(frame["name"], frame["intervals"], strict=True) if words] == called
    assert dict(zip(frame["name"], frame["intervals"], strict=True))["g6"] == "0 to 12 higher in wt"
    curves = pd.read_csv(out / "difference_curves.csv")
    one = curves[curves["name"] == "g0"]
    drawn = found.difference("g0", one["time"])
    np.testing.assert_allclose(one[["mean", "sd"]].to_numpy(), np.column_stack(drawn), rtol=1e-6, atol=1e-9)
    assert list(dict.fromkeys(curves["name"])) == called


def test_the_record_has_what_a_repetition_needs(two, tmp_path):
    out = tmp_path / "out"
    run("compare", two, *HEADER, "--out", out, "--fdr", "0.01", "--kernel", "matern52", "--between", "mut,wt")
    record = json.loads((out / "run.json").read_text())
    source = record["sources"][""]
    assert source["path"] == str(two)
    assert len(source["sha256"]) == 64
    assert source["reading"] == {"header": HEADER[1]}
    assert record["wish"]["fdr"] == 0.01
    assert record["wish"]["kernel"] == "matern52"
    assert record["wish"]["between"] == ["mut", "wt"]
    assert set(record["outputs"]) == files_of(out) - {"run.json"}


def test_a_file_for_each_condition_is_the_same_comparison(two, tmp_path):
    values = made(["wt", "mut"])
    paths = [table(tmp_path / f"{name}.csv", {name: values[name]}) for name in values]
    each = [f"{name}={path}" for name, path in zip(values, paths, strict=True)]
    reading = ("--header", "{any}_{time}h_{replicate}")
    assert run("compare", *each, *reading, "--out", tmp_path / "named").exit_code == 0
    assert run("compare", *paths, *reading, "--out", tmp_path / "plain").exit_code == 0
    assert run("compare", two, *HEADER, "--out", tmp_path / "one").exit_code == 0
    names = ("named", "plain", "one")
    first, second, third = (pd.read_csv(tmp_path / name / "differences.csv").set_index("name") for name in names)
    pd.testing.assert_frame_equal(first, second)
    pd.testing.assert_frame_equal(first, third.loc[first.index], rtol=1e-6)


def test_three_conditions_have_partitions(tmp_path):
    path, out = table(tmp_path / "three.csv", made(["C", "K", "M"])), tmp_path / "out"
    assert run("compare", path, *HEADER, "--out", out).exit_code == 0
    parts = pd.read_csv(out / "partitions.csv").set_index("name")
    assert list(parts.columns) == ["C = K = M", "C = K | M", "C = M | K", "C | K = M", "C | K | M"]
    np.testing.assert_allclose(parts.sum(axis=1), 1, rtol=1e-9)
    frame = pd.read_csv(out / "differences.csv").set_index("name")
    assert frame.loc["g6", "partition"] == parts.loc["g6"].idxmax() == "C | K = M"
    assert list(parts.index) == list(frame.index)
    assert frame.loc["g6", "intervals"].startswith("0 to 12 higher in C than in")
    assert run("compare", path, *HEADER, "--between", "K,M", "--out", tmp_path / "pair").exit_code == 0
    assert "partitions.csv" not in files_of(tmp_path / "pair")


def test_changing_writes_what_the_library_finds(two, tmp_path):
    out = tmp_path / "out"
    said = run("changing", two, *HEADER, "--out", out)
    assert said.exit_code == 0, said.output
    found = tl.changing(tl.read(two, header=HEADER[1]))
    assert f"{len(found.called(0.05)):,} of 80 courses change" in said.stdout
    pd.testing.assert_frame_equal(pd.read_csv(out / "changing.csv"), found.to_frame(), rtol=1e-6)
    curves = pd.read_csv(out / "change_curves.csv")
    assert list(dict.fromkeys(curves["name"])) == [found.names[i] for i in found.called(0.05)]
    first = curves[curves["name"] == found.names[found.order[0]]]
    (drawn,) = found.curves(int(found.order[0]), first["time"]).values()
    np.testing.assert_allclose(first[["mean", "sd"]].to_numpy(), np.column_stack(drawn), rtol=1e-6, atol=1e-9)


def test_force_takes_away_all_of_the_run_before(two, tmp_path):
    out = tmp_path / "out"
    assert run("cluster", two, *HEADER, "--out", out, "--method", "mixture", "-k", "2").exit_code == 0
    assert "clusters.csv" in files_of(out)
    assert run("compare", two, *HEADER, "--out", out).exit_code == 2
    assert run("compare", two, *HEADER, "--out", out, "--force").exit_code == 0
    assert "clusters.csv" not in files_of(out)
    assert run("changing", two, *HEADER, "--out", out, "--force").exit_code == 0
    assert "differences.csv" not in files_of(out)


def test_a_given_model_is_kept_and_known(two, tmp_path):
    tl.GP.se(3.0, 1.0, 1.0).save(tmp_path / "m.json")
    out = tmp_path / "out"
    assert run("compare", two, *HEADER, "--model", tmp_path / "m.json", "--out", out).exit_code == 0
    record = json.loads((out / "run.json").read_text())
    assert record["model_sha256"] == record["outputs"]["model.json"]
    assert tl.GP.load(out / "model.json").length_scale == 3.0


def test_a_question_is_repeated_to_the_bit(two, tmp_path):
    first, again = tmp_path / "first", tmp_path / "again"
    assert run("compare", two, *HEADER, "--between", "mut,wt", "--top", "1", "--out", first).exit_code == 0
    said = run("repeat", first / "run.json", "--out", again)
    assert (said.exit_code, said.stdout) == (0, "the result is the same to the bit\n"), said.output
    record = json.loads((first / "run.json").read_text())
    record["outputs"]["differences.csv"] = "0" * 64
    (first / "run.json").write_text(json.dumps(record))
    said = run("repeat", first / "run.json", "--out", again, "--force")
    assert (said.exit_code, said.stdout) == (1, "different: differences.csv\n")
    two.write_text(two.read_text().replace("g0,", "g0,1"))
    said = run("repeat", first / "run.json", "--out", again, "--force")
    assert said.exit_code == 2
    assert "is not the file of that run" in said.stderr


def test_two_files_and_a_given_model_are_repeated(tmp_path):
    values = made(["wt", "mut"])
    paths = [table(tmp_path / f"{name}.csv", {name: values[name]}) for name in values]
    tl.GP.se(3.0, 1.0, 1.0).save(tmp_path / "m.json")
    first = tmp_path / "first"
    how = ("--header", "{any}_{time}h_{replicate}", "--model", tmp_path / "m.json", "--top", "1")
    assert run("compare", *paths, *how, "--out", first).exit_code == 0
    assert run("repeat", first / "run.json", "--out", tmp_path / "again").exit_code == 0
    said = run("repeat", first / "run.json", "--file", paths[0], "--out", tmp_path / "again", "--force", "-q")
    assert said.exit_code == 2
    assert "has 2 inputs" in said.stderr


def test_where_a_step_fails_the_exit_code_is_1(two, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("timelike.runs.answer_folder.report_answer", fail)
    said = run("compare", two, *HEADER, "--top", "1", "--out", tmp_path / "out")
    assert said.exit_code == 1
    assert said.stdout.startswith("8 of 40 courses differ")
    assert "not everything was made" in said.stderr


def test_counts_are_called_what_they_become(tmp_path):
    counts = np.random.default_rng(1).poisson(40, size=(30, 24))
    samples = [f"s{i}" for i in range(24)]
    names = pd.Index([f"g{i}" for i in range(30)], name="gene")
    pd.DataFrame(counts, names, samples).to_csv(tmp_path / "counts.csv")
    sheet = {"sample": samples, "condition": ["wt", "mut"] * 12, "hour": np.repeat([0, 2, 4, 8], 6)}
    pd.DataFrame(sheet).to_csv(tmp_path / "samples.csv", index=False)
    how = ("--samples", tmp_path / "samples.csv", "--counts", "--top", "1")
    said = run("compare", tmp_path / "counts.csv", *how, "--out", tmp_path / "out")
    assert said.exit_code == 0, said.output
    assert '"valueLabel":"log2' in (tmp_path / "out" / "report.html").read_text()


MISTAKES = {
    "no file": (("nowhere.csv",), "there is no file"),
    "no conditions": (("{wt}",), "nothing tells the conditions of these courses: the first is called 'g0'."),
    "one condition": (("wt={wt}",), "a comparison needs two conditions or more"),
    "a condition twice": (("wt={wt}", "wt={wt}"), "expected a condition of its own for each file"),
    "no such condition": (("{two}", *HEADER, "--between", "wt,ko"), "there is no condition 'ko'"),
    "no rate": (("{two}", *HEADER, "--fdr", "5"), "fdr is 5.0: expected a number between 0 and 1"),
    "no panels": (("{two}", *HEADER, "--top", "0"), "top"),
    "no kernel": (("{two}", *HEADER, "--kernel", "round"), "round"),
    "model and kernel": (("{two}", *HEADER, "--kernel", "se", "--model", "m.json"), "leave out --kernel or --model"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(case, two, tmp_path):
    frame = pd.read_csv(two, index_col=0).filter(like="wt").rename(columns=lambda name: name[3:])
    frame.to_csv(tmp_path / "wt.csv")
    arguments, words = MISTAKES[case]
    places = {"wt": tmp_path / "wt.csv", "two": two}
    filled = [a if a.startswith("{cond") else a.format(**places) for a in arguments]
    said = run("compare", *filled, "--out", tmp_path / "out", "--quiet")
    assert said.exit_code == 2
    assert words in said.stderr
    assert said.stderr.count("\n") == 1


def test_units_that_differ_are_refused(tmp_path):
    for name, unit in (("wt", "h"), ("mut", "min")):
        frame = pd.DataFrame(np.eye(3), ["a", "b", "c"], [f"{t}{unit}" for t in (0, 1, 2)])
        frame.to_csv(tmp_path / f"{name}.csv", index_label="gene")
    said = run("compare", tmp_path / "wt.csv", tmp_path / "mut.csv", "--out", tmp_path / "out", "-q")
    assert said.exit_code == 2
    assert "several units (wt in h, mut in min)" in said.stderr
