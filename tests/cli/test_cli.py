import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import timelike as tl
from timelike.cli import main
from timelike.clusters.methods import METHODS
from timelike.gp.kernels import NAMED
from timelike.runs.recipe import SCALES


def run(*arguments):
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.fixture
def table(tmp_path):
    courses, _ = tl.simulate.profiles(per_group=5, seed=3)
    times, values = courses.to_matrix()
    path = tmp_path / "courses.csv"
    pd.DataFrame(values, index=pd.Index(courses.names, name="name"), columns=times).to_csv(path)
    return path


def test_fit_then_similarity_is_what_the_library_says(table, tmp_path):
    model, out = tmp_path / "model.json", tmp_path / "s.csv"
    assert run("fit", table, "--out", model).exit_code == 0
    assert run("similarity", table, "--model", model, "--out", out).exit_code == 0
    courses = tl.read(table)
    expected = tl.similarity(courses, tl.fit(courses))
    found = pd.read_csv(out, index_col=0)
    assert tuple(found.index) == tuple(found.columns) == courses.names
    np.testing.assert_allclose(found.to_numpy(), expected.values, rtol=1e-12)


@pytest.mark.parametrize("ending", ["tsv", "npy"])
def test_other_outputs(table, tmp_path, ending):
    out = tmp_path / f"s.{ending}"
    assert run("similarity", table, "--out", out).exit_code == 0
    values = np.load(out) if ending == "npy" else pd.read_csv(out, sep="\t", index_col=0).to_numpy()
    assert values.shape == (15, 15)


def test_choosing_and_scaling(table, tmp_path):
    out = tmp_path / "s.npy"
    result = run("similarity", table, "--most-variable", 12, "--scale", "standardize", "--out", out)
    assert result.exit_code == 0, result.output
    courses = tl.read(table).most_variable(12).standardized()
    np.testing.assert_allclose(np.load(out), tl.similarity(courses, tl.fit(courses)).values, rtol=1e-9)


def test_explain_prints_what_adds_up(table, tmp_path):
    figure = tmp_path / "why.svg"
    result = run("explain", table, "A01", "C01", "--figure", figure)
    assert result.exit_code == 0, result.output
    assert "s = " in result.output
    assert result.output.count("A01") == 15
    assert figure.read_text(encoding="utf-8").startswith("<?xml")


def test_tidy_columns_by_name(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("id,day,mmHg\n" + "".join(f"p{i},{d},{120 + i * d}\n" for i in range(4) for d in (0, 3, 9)))
    result = run("fit", path, "--course", "id", "--time", "day", "--value", "mmHg", "--out", tmp_path / "m.json")
    assert result.exit_code == 0, result.output
    assert "4 courses, 3 times (0 to 9 days)" in result.output


def test_notes_of_the_fit_reach_the_user(tmp_path):
    path = tmp_path / "flat.csv"
    path.write_text("name,0,1,2\n" + "".join(f"c{i},{i},{i},{i}\n" for i in range(5)))
    result = run("fit", path, "--out", tmp_path / "m.json")
    assert result.exit_code == 0, result.output
    assert "note: the fit ended on the" in result.output


@pytest.mark.parametrize("verb", [["fit"], ["similarity"], ["neighbors", "-k", "2"]])
def test_what_courses_ask_for_reaches_the_user_once(verb, tmp_path):
    path = tmp_path / "levels.csv"
    rows = "".join(f"c{i},{20 * i},{20 * i + 1.5},{20 * i + 1},{20 * i + 0.5}\n" for i in range(5))
    path.write_text("name,0,1,2,3\n" + rows)
    quiet = ["--quiet", "--model", tmp_path / "m.json"] if verb != ["fit"] else ["--quiet"]
    tl.GP.se(1, 30, 1, mean=40).save(tmp_path / "m.json")
    out = tmp_path / ("new.json" if verb == ["fit"] else "new.csv")
    result = run(*verb, path, "--out", out, *quiet)
    assert result.exit_code == 0, result.output
    assert result.output.count("of the variance lies between the levels of courses") == 1
    assert "note: 100 % of the variance" in result.output


def test_neighbors_say_how_sure_they_are(table, tmp_path):
    result = run("neighbors", table, "-k", "3", "--probabilities", "--out", tmp_path / "n.csv")
    assert result.exit_code == 0, result.output
    found = pd.read_csv(tmp_path / "n.csv")
    assert found.columns.tolist() == ["course", "rank", "neighbor", "score", "probability"]
    assert found.probability.between(0, 1).all()
    result = run("neighbors", table, "-k", "3", "--fdr", "0.05", "--out", tmp_path / "sure.csv")
    assert result.exit_code == 0, result.output
    sure = pd.read_csv(tmp_path / "sure.csv")
    assert len(sure) <= len(found)
    assert (sure.probability >= 0.5).all()
    assert f"of which {len(sure)} at an fdr of 0.05" in result.output
    assert "fdr is 3.0" in run("neighbors", table, "--fdr", "3", "--out", tmp_path / "no.csv").output


def test_nothing_is_overwritten_without_force(table, tmp_path):
    model = tmp_path / "model.json"
    model.write_text("mine")
    result = run("fit", table, "--out", model)
    assert result.exit_code == 2
    assert "exists. Choose another --out, or add --force" in result.output
    assert model.read_text() == "mine"
    assert run("fit", table, "--out", model, "--force").exit_code == 0
    assert json.loads(model.read_text())["format"] == "timelike model 1"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "absent.csv"], "there is no file absent.csv"),
        (["fit", "TABLE", "--kernel", "spline"], "there is no kernel 'spline': choose from se"),
        (["fit", "TABLE", "--out", "nowhere/model.json"], "there is no folder nowhere"),
        (["fit", "TABLE", "--course", "id"], "no column 'id'"),
        (["fit", "TABLE", "--most-variable", "99"], "there are 15 courses to choose from"),
        (["similarity", "TABLE", "--out", "s.xlsx"], "expected a name that ends in .csv"),
        (["similarity", "TABLE", "--model", "TABLE"], "is not a model file"),
        (["similarity", "TABLE", "--threads", "0"], "expected a whole number, at least 1"),
        (["explain", "TABLE", "A01", "Z9"], "there is no course 'Z9'"),
    ],
)
def test_a_mistake_gets_one_line_and_a_code(table, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    result = run(*[str(table) if a == "TABLE" else a for a in arguments])
    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
    assert result.output.strip().splitlines()[-1].startswith("timelike: ")


def test_info_and_version():
    assert "engine: num" in run("info").output
    assert run("--version").output.strip() == f"timelike {tl.__version__}"


def test_bhi_of_a_table_of_clusters(tmp_path):
    (tmp_path / "go.obo").write_text(
        "format-version: 1.4\n"
        + "".join(
            f"\n[Term]\nid: GO:{k}\nname: t{k}\nnamespace: biological_process\n" + (f"is_a: GO:{p}\n" if p else "")
            for k, p in ((1, None), (2, 1), (3, 1), (4, 2), (5, 3))
        )
    )
    (tmp_path / "genes.tsv").write_text("a\tGO:4\nb\tGO:4\nc\tGO:5\nd\tGO:5\ne\tGO:3\n")
    (tmp_path / "clusters.csv").write_text("name,cluster\na,x\nb,x\nc,y\nd,y\ne,y\na,y\nzz,y\n")
    files = ["--obo", tmp_path / "go.obo", "--gaf", tmp_path / "genes.tsv"]
    result = run("bhi", tmp_path / "clusters.csv", *files, "--enrichment", tmp_path / "e.csv", "--permutations", 50)
    assert result.exit_code == 0, result.output
    assert "cluster x: " in result.output
    assert "(5 genes, 50 relabellings)" in result.output
    assert set(pd.read_csv(tmp_path / "e.csv")["cluster"]) <= {"x", "y"}
    (tmp_path / "numbered.csv").write_text("name,cluster\na,0\nb,0\nc,1\nd,1\ne,-1\n")
    numbered = run("bhi", tmp_path / "numbered.csv", *files, "--permutations", 50)
    assert "(4 genes, 50 relabellings)" in numbered.output  # -1 is "in no cluster"
    assert "cluster -1" not in numbered.output
    (tmp_path / "wrong.csv").write_text("gene,cluster\na,x\n")
    wrong = run("bhi", tmp_path / "wrong.csv", *files)
    assert wrong.exit_code == 2
    assert "has no column 'name'" in wrong.output


@pytest.mark.parametrize("method", [name for name in METHODS if "k" in METHODS[name].takes])
def test_cluster_leaves_a_table_a_model_and_a_record(table, tmp_path, method):
    out = tmp_path / "result"
    result = run("cluster", table, "--out", out, "--method", method, "-k", 3)
    assert result.exit_code == 0, result.output
    assert "15 courses in 3 clusters" in result.output
    found = pd.read_csv(out / "clusters.csv")
    assert list(found["name"]) == list(tl.read(table).names)
    assert set(found["cluster"]) <= {-1, 0, 1, 2}
    record = json.loads((out / "run.json").read_text())
    assert (record["recipe"]["method"], record["recipe"]["k"], len(record["source"]["sha256"])) == (method, 3, 64)
    assert tl.GP.load(out / "model.json").noise_sd > 0


@pytest.mark.parametrize("names", [METHODS, NAMED, SCALES])
def test_help_lists_what_there_is(names):
    said = " ".join(run("cluster", "--help").output.replace("|", ", ").split())
    assert ", ".join(names) in said


def test_help_loads_nothing_heavy():
    heavy = ["pandas", "sklearn", "scipy", "matplotlib", "numba", "tqdm"]
    code = f"import sys, timelike.cli; print(*[m for m in {heavy} if m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert loaded == []


def test_cluster_chooses_the_number_and_repeats_itself(table, tmp_path):
    for name in ("one", "two"):
        assert run("cluster", table, "--out", tmp_path / name).exit_code == 0
    assert (tmp_path / "one" / "clusters.csv").read_bytes() == (tmp_path / "two" / "clusters.csv").read_bytes()
    assert "k" in pd.read_csv(tmp_path / "one" / "numbers.csv").columns


def test_cluster_draws(table, tmp_path):
    pytest.importorskip("matplotlib")
    assert run("cluster", table, "--out", tmp_path / "out").exit_code == 0
    assert (tmp_path / "out" / "clusters.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "spectral"], "spectral does not choose the number of clusters"),
        (["--method", "magic"], "there is no method 'magic': choose from mixture"),
        (["-k", "99"], "from 1 to 15"),
        (["--tolerance", "-1"], "tolerance is -1.0: expected a number, zero or more, in units of the values"),
        (["--tolerance", "0.3", "-k", "3"], "k is 3 and tolerance 0.3: give one of them, the other follows"),
        (
            ["--method", "spectral", "-k", "2", "--tolerance", "1"],
            "spectral has no tolerance: leave it out",
        ),
        (["--method", "leiden", "--spread", "0"], "leiden has no spread: leave it out, or use mixture or evidence"),
    ],
)
def test_cluster_with_settings_that_cannot_be(table, tmp_path, options, message):
    result = run("cluster", table, "--out", tmp_path / "result", *options)
    assert result.exit_code == 2
    assert message in result.output


def test_a_model_of_other_data_is_noted(table, tmp_path):
    tl.GP.se(1, 1, 0.1, mean=100).save(tmp_path / "m.json")
    result = run("similarity", table, "--model", tmp_path / "m.json", "--out", tmp_path / "s.npy")
    assert "note: the model expects values around 100" in result.output


def test_figures_and_terms_are_not_overwritten(table, tmp_path):
    (tmp_path / "f.png").write_text("mine")
    result = run("explain", table, "A01", "C01", "--figure", tmp_path / "f.png")
    assert result.exit_code == 2
    assert (tmp_path / "f.png").read_text() == "mine"


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_a_matrix_is_not_lost_to_a_file_with_a_mistake(table, tmp_path, ending):
    if ending == "zarr":
        pytest.importorskip("zarr")
    out = tmp_path / f"s.{ending}"
    assert run("similarity", table, "--out", out).exit_code == 0
    (tmp_path / "bad.csv").write_text("gene,0h,1h\na,1,x\n")
    assert run("similarity", tmp_path / "bad.csv", "--out", out, "--force").exit_code == 2
    assert tl.Similarity.open(out).values.shape == (15, 15)
    assert run("similarity", table, "--out", out).exit_code == 2
    assert run("similarity", table, "--out", out, "--resume", "--force").exit_code == 2
    assert run("similarity", table, "--out", out, "--force").exit_code == 0
    assert run("similarity", table, "--out", out, "--resume").exit_code == 0


def test_no_dask_scheduler(table, tmp_path):
    result = run("similarity", table, "--out", tmp_path / "s.npy", "--dask", "tcp://127.0.0.1:1")
    assert result.exit_code == 2
    assert "there is no Dask scheduler at tcp://127.0.0.1:1" in result.output


@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_a_matrix_stays_until_the_new_one_is_whole(table, tmp_path, ending):
    pytest.importorskip("distributed")
    out = tmp_path / f"s.{ending}"
    assert run("similarity", table, "--out", out).exit_code == 0
    result = run("similarity", table, "--out", out, "--force", "--dask", "tcp://127.0.0.1:1")
    assert result.exit_code == 2
    assert tl.Similarity.open(out).values.shape == (15, 15)
    assert run("similarity", table, "--out", out, "--force", "--threads", "0").exit_code == 2
    assert tl.Similarity.open(out).values.shape == (15, 15)
