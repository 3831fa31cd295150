import numpy as np
import pandas as pd
import pytest

from timelike.base import tables
from timelike.base.tables import quoted, unquoted, write_table
from timelike.exceptions import InputError

DANGEROUS = ['=HYPERLINK("http://x")', "+1+1", "-2+3", "@SUM(A1)", "\t=1"]


@pytest.mark.parametrize("name", DANGEROUS)
def test_a_name_that_looks_like_a_formula_is_text_in_a_spreadsheet(tmp_path, name):
    write_table(pd.DataFrame({"name": [name], "value": [-1.5]}), tmp_path / "t.csv")
    back = pd.read_csv(tmp_path / "t.csv")
    assert back["name"][0].startswith("'")
    assert back["value"][0] == -1.5
    assert unquoted(quoted(name)) == name


@pytest.mark.parametrize("name", ["Fbln5", "'tis", "1-Mar", "", "a=b"])
def test_other_names_stay_as_they_are(name):
    assert quoted(name) == name
    assert unquoted(name) == name


def test_names_on_rows_and_columns_are_made_harmless_too(tmp_path):
    frame = pd.DataFrame(np.zeros((1, 1)), index=["=a"], columns=["@b"])
    write_table(frame, tmp_path / "t.tsv", index=True)
    assert (tmp_path / "t.tsv").read_text() == "\t'@b\n'=a\t0.0\n"


def test_a_text_is_looked_at_once_however_often_it_stands_there(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr(tables, "quoted", lambda cell: seen.append(cell) or quoted(cell))
    write_table(pd.DataFrame({"name": ["Fbln5", "Samd14"] * 50}), tmp_path / "t.csv")
    assert sorted(seen) == ["Fbln5", "Samd14", "name"]


def test_a_formula_among_many_cells_of_other_kinds_is_found(tmp_path):
    write_table(pd.DataFrame({"name": ["a", "b", "a", "=1"], "any": [["a"], "@b", None, 1.5]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "name,any\na,['a']\nb,'@b\na,\n'=1,1.5\n"


def test_only_known_endings(tmp_path):
    with pytest.raises(InputError, match=r"t\.xls: expected a name that ends in \.csv or \.tsv"):
        write_table(pd.DataFrame(), tmp_path / "t.xls")
    assert list(tmp_path.iterdir()) == []


def test_a_line_break_in_a_name_does_not_break_the_row(tmp_path):
    write_table(pd.DataFrame({"name": ["a\rb", "c\nd"], "value": [1, 2]}), tmp_path / "t.csv")
    assert list(pd.read_csv(tmp_path / "t.csv")["name"]) == ["a b", "c\nd"]
