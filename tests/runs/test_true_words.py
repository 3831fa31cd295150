"""Words, page data, tables and record of one run: the same numbers everywhere."""

import base64
import json
import re
from html import unescape

import numpy as np
import pandas as pd
import pytest

import timelike as tl

HOURS = np.repeat([0, 1, 2, 4, 8, 12], 2)
"""Of the samples of one condition."""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Counts of 60 genes in two conditions, three shapes; one gene of no shape, two without counts, wild counts."""
    folder, rng = tmp_path_factory.mktemp("counts"), np.random.default_rng(1)
    samples = [f"{kind}{i}" for kind in ("wt", "mut") for i in range(12)]
    curves = np.array([2 * np.exp(-HOURS / 3), 2 - 2 * np.exp(-HOURS / 3), 2 * np.exp(-((HOURS - 3) ** 2) / 4)])
    kinds = np.arange(60) % 3
    both = np.hstack([curves[kinds], curves[np.where(np.arange(60) < 7, (kinds + 1) % 3, kinds)]])
    both[59, :12] = np.repeat([0, 4, 0, 4, 0, 4], 2)
    means = np.exp(5 + both)
    counts = rng.negative_binomial(30, 30 / (30 + means))
    counts[10, 5], counts[20, 17] = 30 * counts[10, 5], 30 * counts[20, 17]
    table = pd.DataFrame(np.vstack([counts, np.zeros((2, 24), int)]), columns=samples)
    table.insert(0, "gene", [f"g{i}" for i in range(62)])
    table.assign(other=7).to_csv(folder / "counts.csv", index=False)
    sheet = {"sample": samples, "hours": np.tile(HOURS, 2), "condition": ["wt"] * 12 + ["mut"] * 12, "room": 3}
    pd.DataFrame(sheet).to_csv(folder / "sheet.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def said():
    return []


@pytest.fixture(scope="module")
def out(files, said, tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "out"
    reading = {"samples": str(files / "sheet.csv"), "counts": True}
    with pytest.warns((tl.DataWarning, tl.FitWarning)):
        tl.analyse(files / "counts.csv", out, reading=reading, most_variable=50, scale="center", say=said.append)
    return out


@pytest.fixture(scope="module")
def page(out):
    return (out / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def words(page):
    """What the page says without its program, in plain text."""
    plain = re.sub(r"<(script|style).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", plain)).split())


@pytest.fixture(scope="module")
def methods(words):
    return re.search(r"Ready to paste into a paper\. (.*?) Liu, Z\. & Barahona, M\.", words)[1]


@pytest.fixture(scope="module")
def data(page):
    return json.loads(re.search(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)[1])


@pytest.fixture(scope="module")
def labels(data):
    packed = data["labels"]
    return np.frombuffer(base64.b64decode(packed["data"]), dtype=packed["type"])


def numbers(pattern, text):
    """The numbers that a sentence says, once or always the same."""
    (found,) = {tuple(map(int, told)) for told in re.findall(pattern, text)}
    return found


def test_courses_and_clusters_are_the_same_everywhere(out, words, methods, data, labels):
    table = pd.read_csv(out / "clusters.csv")
    inside = table["cluster"][table["cluster"] >= 0]
    sizes = inside.value_counts().sort_index().tolist()
    assert data["names"] == table["name"].tolist()
    assert labels.tolist() == table["cluster"].tolist()
    assert data["sizes"] == sizes
    assert data["k"] == len(sizes)
    assert numbers(r"(\d+) courses in (\d+) clusters", words) == (len(table), len(sizes))
    assert numbers(r"(\d+) (?:time )?courses were measured at (\d+) times", words) == (len(table), 6)
    assert f"Courses were grouped into {len(sizes)} clusters by" in methods
    plain = table["name"].str.split(" | ", regex=False).str[0]
    for cluster in range(len(sizes)):
        names = (out / "lists" / f"cluster_{cluster}.txt").read_text().split()
        assert sorted(names) == sorted(set(plain[table["cluster"] == cluster]))


def test_courses_in_none_are_counted_alike(out, words, methods, labels):
    none = int((pd.read_csv(out / "clusters.csv")["cluster"] < 0).sum())
    assert none > 0
    assert (labels < 0).sum() == none
    assert pd.read_csv(out / "conditions.csv", index_col="cluster").loc[-1].sum() == none
    assert f"clusters; {none} in none of them" in words or f"of a continuum; {none} in none of them" in words
    assert f"assigned to none (n = {none})" in methods


def test_the_selection_is_that_of_the_record_and_of_the_tables(out, said, words, methods):
    record = json.loads((out / "run.json").read_text())
    read, chosen = len(pd.read_csv(out / "counts.csv")), pd.read_csv(out / "clusters.csv")["name"]
    names = chosen.str.split(" | ", regex=False).str[0].nunique()
    expected = f"{len(chosen)} of {2 * read} courses ({names} of {read} names), the most variable"
    assert (names, read) == (50, 60)
    assert record["selected"] == expected
    assert f"selected {expected}" in said
    assert f"They are {expected}." in methods
    assert words.count(f"They are {expected}.") == 2


def test_what_was_left_out_is_said_by_account_methods_and_record(out, said, methods):
    left_out = ["1 column of numbers that the sample sheet does not name", "2 genes without any count"]
    assert json.loads((out / "run.json").read_text())["source"]["left_out"] == left_out
    assert f"Left out before the analysis: {' and '.join(left_out)}." in methods
    account = next(line for line in said if "without any count" in line)
    assert account.startswith("1 column played no part (room of the sample sheet); ")
    assert "left out 2 genes without any count: g60, g61" in account


def test_conditions_and_their_sizes(out, words, methods, data):
    table = pd.read_csv(out / "conditions.csv", index_col="cluster")
    assert data["conditions"]["names"] == list(table.columns)
    told = " and ".join(f"{kind} ({n} courses)" for kind, n in table.sum().items())
    assert f"under the conditions {told}" in methods
    for cluster, row in table[table.index >= 0].iterrows():
        each = [f"{n} ({100 * n / of:.2g} %)" if n else "0 (0 %)" for n, of in zip(row, table.sum(), strict=True)]
        assert f"cluster {cluster} {' '.join(each)}" in words


def test_outlying_values_are_counted_alike(out, words, methods):
    wild = pd.read_csv(out / "outliers.csv")
    assert len(wild) > 1
    assert f"{len(wild)} single values are so far from" in words
    assert f"wild values {len(wild)} which count for little" in words
    assert f"given less weight (n = {len(wild)})" in methods


def test_what_was_done_to_values_is_in_the_methods(out, methods, data):
    model, record = (json.loads((out / name).read_text()) for name in ("model.json", "run.json"))
    assert "Values were centred before the analysis: from each course its own mean was subtracted." in methods
    assert data["valueLabel"].endswith("centred")
    factors = record["source"]["size_factors"].values()
    assert f"Counts of 60 genes in {len(factors)} samples" in methods
    assert f"(size factors {min(factors):.2f} to {max(factors):.2f})" in methods
    assert f"noise s.d. {model['noise_sd']:.3g} beyond the known standard errors" in methods
    assert ("times t were transformed" in methods) == (data["clock"] is not None)


def test_the_page_says_each_note_once(words, out):
    notes = json.loads((out / "run.json").read_text())["notes"]
    summary, model = words.split(" Outlying values ")[0].split(" Model One Gaussian process ")
    told = [note for note in notes if note in summary]
    assert "left out 2 genes without any count: g60, g61" in told
    assert [note for note in told if note in model] == []
