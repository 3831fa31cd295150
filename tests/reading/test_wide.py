"""Names of courses that stand in rows: numbered where they are empty or stand twice, and never the same again."""

from hypothesis import example, given
from hypothesis import strategies as st

from timelike.reading.wide import numbered

STEMS = st.sampled_from(["", "a", "unnamed"])
NAMES = st.lists(STEMS | st.builds("{}-{}".format, STEMS, st.sampled_from(["", "0", "1", "2", "2-2", "3"])), max_size=12)


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
