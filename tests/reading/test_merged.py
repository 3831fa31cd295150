"""Groups under one name: asked about in a tidy table, said of a sample sheet; nothing is said of true replicates."""

from itertools import product

import pandas as pd
import pytest

import timelike as tl
from timelike.reading import understand

NOTE = "have values under one name at the same time: they became replicates of one course"


def tidy(column="dataset", kinds=("north", "south"), courses=("a", "b"), times=(0, 1, 2)):
    """A measurement a row, a course in each of the groups of a column."""
    rows = [(name, time, kind) for name, kind, time in product(courses, kinds, times)]
    frame = pd.DataFrame(rows, columns=["course", "time", column])
    return frame.assign(value=[0.1 * i for i in range(len(frame))])


def notes(table, **options):
    return understand(table, **options).notes


ASKED = "have values under one name of 'course' at the same time"


def asked(table, **options):
    with pytest.raises(tl.InputError, match=ASKED) as problem:
        understand(table, **options)
    return str(problem.value)


def test_an_id_in_several_groups_is_asked_about():
    assert asked(tidy()) == (
        "the DataFrame: several 'dataset' (north, south) have values under one name of 'course' at the same time. If "
        "each is a course of its own, make the name of both: course=['course', 'dataset'] (--course course --course "
        "dataset). If they are replicates: duplicates='replicates' (--duplicates replicates). If they are conditions, "
        "call that column 'condition'."
    )


def test_what_it_proposes_helps():
    own = tl.read(tidy(), course=["course", "dataset"])
    assert own.names == ("a / north", "a / south", "b / north", "b / south")
    assert list(own.sizes) == [3] * 4
    same = understand(tidy(), duplicates="replicates")
    assert same.courses.names == ("a", "b")
    assert list(same.courses.sizes) == [6, 6]
    assert same.notes == ()
    other = tl.read(tidy().rename(columns={"dataset": "condition"}))
    assert other.names == ("a | north", "a | south", "b | north", "b | south")


def test_many_data_sets_in_one_file():
    """The id counts from one in each of them."""
    table = tidy("ID_dataset", ("growth", "heart"), (1, 2, 3)).rename(columns={"course": "ID"})
    with pytest.raises(tl.InputError, match="--course ID --course ID_dataset"):
        tl.read(table)
    assert tl.read(table, course=["ID", "ID_dataset"]).names[:2] == ("1 / growth", "1 / heart")


def test_one_id_that_is_used_twice_is_enough():
    others = tidy(kinds=("north",), courses=tuple("cdefgh"))
    asked(pd.concat([others, tidy(courses=("a",))]))


def test_groups_with_replicates_of_their_own():
    asked(pd.concat([tidy(), tidy()]))


def test_numbers_can_be_doses():
    assert "several 'dose' (0, 1)" in asked(tidy("dose", (0, 1)))
    assert "several 'mg' (0, 20)" in asked(tidy("mg", (0, 20)))


@pytest.mark.parametrize(
    ("column", "kinds"),
    [
        ("replicate", ("x", "y")),
        ("batch", ("x", "y")),
        ("mouse", ("x", "y")),
        ("which", (1, 2, 3)),
        ("which", (0, 1)),
        ("which", ("rep 1", "rep 2")),
        ("which", ("r1", "r2")),
        ("which", ("x", "")),
        ("which", tuple(f"x{i}" for i in range(25))),
    ],
)
def test_replicates_are_no_groups(column, kinds):
    assert notes(tidy(column, kinds), course="course") == ()


def test_a_label_of_courses_tells_no_groups():
    repeated = pd.concat([tidy(kinds=("north",), courses=("a",)), tidy(kinds=("south",), courses=("b",))] * 2)
    assert notes(repeated) == ()


def test_without_a_repeated_time_there_is_nothing_to_merge():
    moved = pd.concat([tidy(kinds=("north",)), tidy(kinds=("south",), times=(3, 4, 5))])
    assert notes(moved) == ()


def test_names_of_samples_tell_no_groups():
    table = tidy(column="tube")
    assert notes(table.assign(tube=table["tube"] + " " + table["time"].astype(str))) == ()


def test_a_remark_about_single_values_tells_no_groups():
    table = pd.concat([tidy(kinds=("x",)), tidy(kinds=("x",))], ignore_index=True).rename(columns={"dataset": "remark"})
    table.loc[2, "remark"] = "late"
    assert notes(table) == ()


# -- sample sheets -----------------------------------------------------------------------------------------------------


def sheet(**columns):
    return pd.DataFrame({"sample": [f"s{i}" for i in range(12)], "hour": [0, 0, 6, 6, 12, 12] * 2} | columns)


WIDE = pd.DataFrame({"gene": ["a", "b"]} | {f"s{i}": [0.5 * i, 1.5 * i] for i in range(12)})
STRAIN, REPLICATE = ["wt"] * 6 + ["mut"] * 6, ["r1", "r2"] * 6


def test_groups_of_a_sample_sheet():
    said = notes(WIDE, samples=sheet(dose=STRAIN, replicate=REPLICATE))
    assert said[0].startswith(f"several 'dose' (mut, wt) {NOTE}")
    assert notes(WIDE, samples=sheet(strain=STRAIN, replicate=REPLICATE)) == ()
    assert notes(WIDE, samples=sheet(genotype=STRAIN, replicate=REPLICATE)) == ()
    assert notes(WIDE, samples=sheet(genotype=STRAIN, plate=REPLICATE)) == ()
    assert "several 'light'" in notes(WIDE, samples=sheet(genotype=STRAIN, light=["on", "off"] * 6))[0]


def test_a_sheet_can_have_both_notes():
    samples = pd.concat([sheet(dose=STRAIN), pd.DataFrame({"sample": ["lost"], "hour": [0], "dose": ["wt"]})])
    assert len(notes(WIDE, samples=samples)) == 2


def test_shared_data(shared_data):
    folder = shared_data / "fission"
    found = understand(folder / "counts.csv.gz", samples=folder / "samples.csv", time="minute")
    assert set(found.courses.conditions) == {"wt", "mut"}
    folder = shared_data / "mouse_flu"
    assert understand(folder / "expression.csv.gz", samples=folder / "samples.csv", time="Timepoint").notes == ()
