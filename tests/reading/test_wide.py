"""Wide tables: which way their courses lie, and names that are numbered where they are empty or stand twice."""

import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

import timelike as tl
from timelike.reading.tables import Columns, Table
from timelike.reading.wide import is_tall, numbered

STEMS = st.sampled_from(["", "a", "unnamed"])
NAMES = st.lists(
    STEMS | st.builds("{}-{}".format, STEMS, st.sampled_from(["", "0", "1", "2", "2-2", "3"])), max_size=12
)


def test_names_get_numbers_only_where_they_must():
    assert numbered(["a", "b", "a", "", "a", ""]) == ["a", "b", "a-2", "unnamed-1", "a-3", "unnamed-2"]


@given(NAMES)
@example(["Vwf", "Vwf", "Vwf-2"])
def test_numbered_names_are_distinct_and_as_many_as_before(names):
    found = numbered(names)
    assert len(set(found)) == len(found) == len(names)
    assert "" not in found


@given(NAMES)
def test_the_first_of_a_name_keeps_it(names):
    found = numbered(names)
    assert all(found[names.index(name)] == name for name in names if name)


def test_numbered_names_are_distinct_even_where_a_number_is_taken(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("gene,0,1\na,1,2\na,3,4\na-2,5,6\n,7,8\n")
    assert tl.read(path, duplicates="number").names == ("a", "a-3", "a-2", "unnamed-1")


def test_a_table_of_many_columns_looks_at_its_first_rows_once():
    looks = []

    class Watched(Columns):
        def peek(self):
            looks.append(self)
            return super().peek()

    wide = pd.DataFrame({"time": [0, 1, 2]} | {f"g{k}": [1.0, 2, 3] for k in range(50)})
    assert is_tall(Table(tuple(wide.columns), Watched(wide)))
    assert len(looks) == 1
