"""The page of file formats names every field that is written, with its type, and no other."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import kernels as sk

import timelike as tl
from timelike.gp.clock import Clocked
from timelike.runs.ask import ask

PAGE = (Path(__file__).parents[1] / "docs" / "formats.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| (`.+?`) \|(?: (.*?) \|)?", re.MULTILINE)
NUMBER = r"-?\d+(\.\d+)?(e[-+]\d+)?"
IN_TABLES = {
    "text": r"(?s).+",
    "whole number": r"-?\d+",
    "number": NUMBER,
    "number or nothing": rf"({NUMBER})?",
    "number, inf or nothing": rf"({NUMBER}|inf)?",
    "whole number or nothing": r"(-?\d+)?",
}
CONDITIONS = ("wt", "mut")
CONDITION = re.compile("|".join(CONDITIONS))
IN_TABLES["text or nothing"] = "(?s).*"
KINDS = {"float64": "f", "integer": "i", "bool": "b", "uint8": "u"}


def listed(heading, first):
    """Field -> type, of the table below a heading whose first column has this title."""
    section = re.split(r"^##+ ", PAGE.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    table = section.split(f"| {first} |", 1)[1].split("\n\n", 1)[0]
    return {name: kind for names, kind in ROW.findall(table) for name in re.findall(r"`(.+?)`", names)}


def is_json(kind, value):
    """Whether a value is of a type of the page."""
    one = {
        "text": lambda v: isinstance(v, str),
        "number": lambda v: isinstance(v, float),
        "whole number": lambda v: isinstance(v, int) and not isinstance(v, bool),
        "true or false": lambda v: isinstance(v, bool),
        "object": lambda v: isinstance(v, dict),
        "list": lambda v: isinstance(v, list),
        "list of text": lambda v: isinstance(v, list) and all(isinstance(entry, str) for entry in v),
        "null": lambda v: v is None,
    }
    kinds = [kind] if kind in one else kind.split(" or ")
    return any(one[each](value) for each in kinds)


def assert_like_the_page(found, page):
    """Every field of every file is on the page with its type, and every field of the page is in one of the files."""
    assert {name for fields in found for name in fields} == set(page)
    wrong = [(name, v) for fields in found for name, v in fields.items() if not is_json(page[name], v)]
    assert wrong == []


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Folders of runs that together have every file and every field."""
    folder = tmp_path_factory.mktemp("runs")
    courses, _ = tl.simulate.profiles(noise=0.05, per_group=6, seed=1)
    values = courses.values.reshape(len(courses), -1).copy()
    values[0, 7] += 2  # a wild value
    genes = ["Actb", "Klf4", "Nanog", "Sox2"]
    names = [*genes, *courses.names[4:]]
    times = courses.designs.points[:, 0]
    wide = pd.DataFrame(values, columns=[f"{t:.3g} h" for t in times]).assign(gene=names)
    wide.assign(symbol=[f"S{i}" for i in range(len(wide))]).to_csv(folder / "wide.csv", index=False)
    (folder / "sets.gmt").write_text("MINE\tmade up\tActb\tKlf4\tNanog\n")
    exact = tl.TimeCourses.from_arrays(times, values, names=names, errors=np.full_like(values, 0.01))
    plain = {"neighbors": 3, "seed": 1}
    sets = tl.ontology.read_sets(folder / "sets.gmt")
    with pytest.warns((tl.DataWarning, tl.FitWarning)):
        tl.analyse(folder / "wide.csv", folder / "mixture", ontology=sets, title="Genes", **plain)
    tl.analyse(exact, folder / "evidence", method="evidence", k=2, model=tl.GP.se(0.9, 0.7, 0.05, clock=2), **plain)
    tl.analyse(exact, folder / "spectral", method="spectral", k=2, model=tl.GP.se(0.9, 0.7, 0.05), **plain)
    rng = np.random.default_rng(0)
    noisy = np.outer(np.repeat([-2, 2], 9), np.cos(3 * times))
    noisy += rng.standard_normal(values.shape) * np.repeat([0.02, 0.4], 9)[:, None]
    model = tl.GP.se(0.9, 2.0, 0.1)
    with pytest.warns(tl.DataWarning, match="the noise differs between"):
        tl.analyse(tl.TimeCourses.from_arrays(times, noisy), folder / "noisy", k=2, model=model, robust=False, **plain)
    free = {"up_to": ("level", "gain", "delay"), "max_delay": 0.4}
    with pytest.warns(tl.DataWarning, match="freedom in"):
        tl.analyse(tl.simulate.delayed(per_group=6)[0], folder / "free", k=1, model=tl.GP.se(0.2, 0.5, 0.1), **free)
    apart = [f"{names[i % 9]} | {CONDITIONS[i // 9]}" for i in range(17)]
    tl.analyse(
        tl.TimeCourses.from_arrays(times, values[:17], apart),
        folder / "conditions",
        k=1,
        model=model,
        robust=False,
        **plain,
    )
    reads = np.random.default_rng(1).poisson(60, (20, 8))
    counts = pd.DataFrame(reads, columns=[f"{t} h" for t in range(8)]).assign(gene=[f"g{i}" for i in range(20)])
    tl.analyse(counts, folder / "counts", reading={"counts": True}, k=1, model=tl.GP.se(2.0, 0.7, 0.05, 6.0), **plain)
    return [folder / name for name in ("mixture", "evidence", "spectral", "noisy", "free", "conditions", "counts")]


def loaded(runs, name):
    return [json.loads((run / name).read_text(encoding="utf-8")) for run in runs]


def test_run_json(runs):
    found = loaded(runs, "run.json")
    flat = [
        {n: v for n, v in record.items() if n not in ("source", "recipe", "terms")}
        | {f"{part}.{n}": v for part in ("source", "recipe", "terms") for n, v in (record[part] or {}).items()}
        for record in found
    ]
    assert_like_the_page(flat, listed("run.json", "field"))
    assert f'`"format": "{found[0]["format"]}"`' in PAGE


def test_model_json(runs):
    found = loaded(runs, "model.json")
    assert_like_the_page(found, listed("model.json", "field"))
    assert f'`"format": "{found[0]["format"]}"`' in PAGE


def test_kernels_of_a_model(tmp_path):
    with pytest.raises(tl.InputError, match="cannot be saved as text") as refused:
        tl.GP(sk.PairwiseKernel(), 1, 1).save(tmp_path / "model.json")
    rows = re.findall(r"^\| (`.+`) \| (`.+) \|$", PAGE.split("| class |")[1].split("\n\n")[0], re.MULTILINE)
    page = {c: set(re.findall("`(.+?)`", told)) for names, told in rows for c in re.findall("`(.+?)`", names)}
    assert set(page) == set(str(refused.value).split("These can: ")[1].strip(".").split(", "))
    parts = {"Sum": (sk.RBF(), sk.RBF()), "Product": (sk.RBF(), sk.RBF()), "Exponentiation": (sk.RBF(), 2)}
    parts["Clocked"] = (sk.RBF(), 3.0, 0.5)
    for name, parameters in page.items():
        kernel = (Clocked if name == "Clocked" else getattr(sk, name))(*parts.get(name, ()))
        tl.GP(kernel if name != "ConstantKernel" else sk.RBF() + kernel, 1, 1).save(tmp_path / "model.json")
        (written,) = loaded([tmp_path], "model.json")
        entry = written["kernel"] if name != "ConstantKernel" else written["kernel"]["k2"]
        assert set(entry) == {"class"} | parameters


def test_analysis_npz(runs):
    page = listed("analysis.npz", "array")
    found = []
    for run in runs:
        with np.load(run / "analysis.npz") as file:
            found.append(dict(file))
    assert {name for arrays in found for name in arrays} == set(page)
    for name, array in (entry for arrays in found for entry in arrays.items()):
        kind, _, shape = page[name].partition(", ")
        assert array.dtype.kind == KINDS[kind], name
        assert array.ndim == (len([part for part in shape.strip("()").split(",") if part]) or 1), name
    facts = [json.loads(arrays["facts"].tobytes()) for arrays in found]
    assert_like_the_page(facts, listed("analysis.npz", "fact"))
    assert f'`"{facts[0]["format"]}"`' in PAGE


def test_labels_of_similarities(tmp_path):
    zarr = pytest.importorskip("zarr")
    courses, _ = tl.simulate.profiles(per_group=2, seed=1)
    for name, others in (("S", None), ("T", courses[:2])):
        for ending in ("npy", "zarr"):
            tl.similarity(courses, tl.GP.se(0.9, 0.7, 0.08), others, out=tmp_path / f"{name}.{ending}")
    found = [json.loads((tmp_path / f"{name}.npy.json").read_text(encoding="utf-8")) for name in "ST"]
    assert [dict(zarr.open_array(tmp_path / f"{name}.zarr").attrs) for name in "ST"] == found
    assert_like_the_page(found, listed("Similarities: .npy and .zarr", "label"))
    parts = listed("Similarities: .npy and .zarr", "part of the fingerprint")
    assert {part for labels in found for part in labels["fingerprint"]} == set(parts)
    assert f'`"{found[0]["format"]}"`' in PAGE
    assert (tmp_path / "S.npy").read_bytes()[:8] == b"\x93NUMPY\x01\x00"
    array = zarr.open_array(tmp_path / "S.zarr")
    assert (array.metadata.zarr_format, array.compressors, array.filters) == (3, (), ())


TABLES = (
    "clusters.csv",
    "neighbors.csv",
    "conditions.csv",
    "changes.csv",
    "curves.csv",
    "outliers.csv",
    "numbers.csv",
    "enrichment.csv",
    "counts.csv",
)


@pytest.mark.parametrize("name", TABLES)
def test_columns_of_a_table(runs, name):
    page = listed(name, "column")
    paths = [run / name for run in runs if (run / name).exists()]
    rows = [row for path in paths for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]
    assert rows, "no row to compare with"
    named = {"symbol": "<detail>", "neighbor_symbol": "neighbor_<detail>"}
    rows = [{named.get(c, CONDITION.sub("<condition>", c)): cell for c, cell in row.items()} for row in rows]
    assert {column for row in rows for column in row} == set(page)
    wrong = [(c, cell) for row in rows for c, cell in row.items() if not re.fullmatch(IN_TABLES[page[c]], cell)]
    assert wrong == []


def test_every_file_of_a_run_is_on_the_page(runs):
    files = [path for run in runs for path in run.rglob("*") if path.is_file()]
    written = {re.sub(r"cluster_\d+\.", "cluster_3.", path.name) for path in files}
    section = PAGE.split("## The folder of a run")[1].split("## run.json")[0]
    named = set(
        re.findall(r"`(?:lists/)?(\w+\.\w+)`", section.replace("`.svg`, `.pdf`", "`clusters.svg`, `clusters.pdf`"))
    )
    assert written | {"none.txt"} == named


@pytest.fixture(scope="module")
def questions(tmp_path_factory):
    """Folders of questions that together have every file and every field."""
    folder = tmp_path_factory.mktemp("questions")
    rng = np.random.default_rng(1)
    times, names = np.repeat([0.0, 2, 4, 8, 12], 3), [f"g{i}" for i in range(30)]
    curve = 6 * np.exp(-((times - 5) ** 2) / 8)
    made = {c: curve + rng.normal(size=(30, 15)) / 3 for c in "CKM"}
    made["K"][:6] += 4 * (times > 2)
    made["M"][:6] -= 4
    made["K"][6:12] += 6 * np.exp(-((times - 8) ** 2) / 8) - curve  # later
    each = {c: tl.TimeCourses.from_arrays(times, values, names) for c, values in made.items()}
    how = {"top": 1, "check": 1, "value_name": "level"}
    ask("compare", each, folder / "three", model=tl.GP.se(3.0, 2.0, 0.3), between=("M", "K", "C"), **how)
    ask("compare", {c: each[c] for c in "CK"}, folder / "two", clock=5.0, **how)
    ask("changing", each["C"], folder / "changing", title="C", time_unit="h", **how)
    return [folder / name for name in ("three", "two", "changing")]


def test_run_json_of_a_question(questions):
    found = loaded(questions, "run.json")
    flat = [
        {n: v for n, v in record.items() if n != "wish"} | {f"wish.{n}": v for n, v in record["wish"].items()}
        for record in found
    ]
    assert_like_the_page(flat, listed("run.json of a question", "entry"))
    assert f'`"format": "{found[0]["format"]}"`' in PAGE


def test_tables_of_pairs_are_on_the_page(tmp_path):
    """lags.csv, order.csv and match.csv, as the command line writes them."""
    from click.testing import CliRunner

    from timelike.cli import main

    courses, _ = tl.simulate.delayed(per_group=4, seed=1)
    courses.to_frame().to_csv(tmp_path / "courses.csv", index=False)
    tl.GP.se(0.2, 0.5, 0.1).save(tmp_path / "model.json")
    file, model = str(tmp_path / "courses.csv"), ["--model", str(tmp_path / "model.json"), "--max-delay", "0.4"]
    lags, order, match = (str(tmp_path / f"{name}.csv") for name in ("lags", "order", "match"))
    asked = (["lags", file, "--out", lags, "--order", order], ["match", file, "A01", "C01", "--out", match])
    for words, free in zip(asked, ([], ["--up-to", "gain,delay"]), strict=True):
        ran = CliRunner().invoke(main, [*words, *model, *free])
        assert ran.exit_code == 0, ran.output
    for path in (lags, order, match):
        page = listed(Path(path).name, "column")
        with Path(path).open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert list(rows[0]) == list(page)
        wrong = [(c, cell) for row in rows for c, cell in row.items() if not re.fullmatch(IN_TABLES[page[c]], cell)]
        assert wrong == []


ANSWERS = ("differences.csv", "difference_curves.csv", "changing.csv", "change_curves.csv", "check.csv")


@pytest.mark.parametrize("name", ANSWERS)
def test_columns_of_an_answer(questions, name):
    page = listed(name, "column")
    paths = [folder / name for folder in questions if (folder / name).is_file()]
    rows = [row for path in paths for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines())]
    assert rows, "no row to compare with"
    assert {column for row in rows for column in row} == set(page)
    wrong = [(c, cell) for row in rows for c, cell in row.items() if not re.fullmatch(IN_TABLES[page[c]], cell)]
    assert wrong == []


def test_every_file_of_a_question_is_on_the_page(questions):
    written = {path.name for folder in questions for path in folder.iterdir()}
    section = PAGE.split("## The folder of a question")[1].split("### run.json")[0]
    figures = {f"{name}{ending}" for name in ("volcano", "top") for ending in (".png", ".svg", ".pdf")}
    assert "`volcano` and `top`, each `.png`, `.svg`, `.pdf`" in section
    assert written == set(re.findall(r"`(\w+\.\w+)`", section)) | figures
