"""What a file says about courses beside their values: nothing of it is thrown away, and each row is its course's."""

import numpy as np
import pandas as pd
import pytest

from timelike.reading import understand

WIDE = pd.DataFrame(
    {
        "gene": ["a", "b", "c"],
        "symbol": ["A1", "B1", "C1"],
        "0h": [1.0, np.nan, 3],
        "length": [10, 20, 30],
        "6h": [2.0, np.nan, 4],
    }
)


def test_columns_of_a_wide_table_follow_the_courses_that_stay():
    found = understand(WIDE)
    assert found.courses.names == ("a", "c")
    assert found.details.to_dict("list") == {"symbol": ["A1", "C1"], "length": ["10", "30"]}
    assert found.unused == ()
    assert found.lines()[-1].startswith("2 columns carried along into the tables (symbol, length); ")


def test_a_table_that_says_nothing_else_has_none():
    assert understand(WIDE[["gene", "0h", "6h"]]).details is None
    assert understand(pd.DataFrame({"time": [0, 1], "a": [1.0, 2]})).details is None


def test_every_condition_of_a_name_has_its_cells():
    table = pd.DataFrame(
        {
            "gene": ["a", "b"],
            "about": ["x", "y"],
            "wt_0h": [1.0, 2],
            "wt_6h": [1.0, 2],
            "mut_0h": [3.0, 4],
            "mut_6h": [5.0, 6],
        }
    )
    found = understand(table, header="{condition}_{time}h")
    assert found.courses.names == ("a | wt", "a | mut", "b | wt", "b | mut")
    assert [name[0] for name in found.courses.names] == [{"x": "a", "y": "b"}[cell] for cell in found.details["about"]]


def test_repeated_and_empty_headers_are_told_apart():
    table = pd.DataFrame([["a", "p", "q", 1.0, 2.0]], columns=["gene", "note", "note", "0h", "6h"])
    assert understand(table).details.to_dict("list") == {"note": ["p"], "note-2": ["q"]}


def test_numbered_names_keep_their_rows():
    table = pd.DataFrame({"gene": ["a", "a"], "probe": ["p1", "p2"], "0h": [1.0, 2], "6h": [3.0, 4]})
    found = understand(table, duplicates="number")
    assert found.courses.names == ("a", "a-2")
    assert list(found.details["probe"]) == ["p1", "p2"]


TIDY = pd.DataFrame(
    [
        ("b", 0, 1.0, "B", "x", "s"),
        ("a", 0, 2.0, "A", "y", "s"),
        ("b", 1, 3.0, "B", "y", "s"),
        ("a", 1, 4.0, "A", "y", "s"),
    ],
    columns=["gene", "time", "value", "label", "remark", "lab"],
)


def test_of_a_tidy_table_what_is_one_for_each_course():
    found = understand(TIDY)
    assert found.details.to_dict("list") == {"label": [{"a": "A", "b": "B"}[name] for name in found.courses.names]}
    assert found.unused == ("remark", "lab")


def test_cells_that_differ_between_conditions():
    both = pd.concat([TIDY.assign(condition="wt"), TIDY.assign(condition="mut", label=TIDY["label"] + "m")])
    found = understand(both)
    told = dict(zip(found.courses.names, found.details["label"], strict=True))
    assert told == {"a | wt": "A", "b | wt": "B", "a | mut": "Am", "b | mut": "Bm"}


def test_tidy_counts():
    rows = [(gene, time, 5 + i + time, gene.upper()) for i, gene in enumerate("abc") for time in range(4)]
    found = understand(pd.DataFrame(rows, columns=["gene", "time", "count", "label"]), counts=True)
    assert list(found.details["label"]) == [name.upper() for name in found.courses.names]


def test_var_of_anndata():
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(
        np.arange(6.0).reshape(2, 3),
        obs=pd.DataFrame({"day": [0, 1]}, index=["s1", "s2"]),
        var=pd.DataFrame({"chip": [True, False, True], "about": ["x", None, "z"]}, index=["a", "b", "c"]),
    )
    assert understand(data).details.to_dict("list") == {"chip": ["True", "False", "True"], "about": ["x", "", "z"]}
    assert understand(data[:, :][:, ["a", "b"]][:, :].copy()).details.shape == (2, 2)
