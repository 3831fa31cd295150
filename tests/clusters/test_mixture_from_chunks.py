"""The mixture from chunks against the mixture in memory, and files that give chunks."""

import gzip
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import timelike as tl
from timelike.clusters.curves import scratch
from timelike.clusters.curves.ascent import Effort
from timelike.clusters.curves.bound import Given, sample
from timelike.clusters.curves.mixture import mixture
from timelike.clusters.curves.mixture_from_chunks import mixture_from_chunks
from timelike.clusters.curves.scratch import Means
from timelike.clusters.nmi import nmi
from timelike.exceptions import DataWarning, InputError
from timelike.reading.course_file import CourseFile

GP = tl.GP.se(length_scale=0.3, signal_sd=1.0, noise_sd=0.3, mean=0.4)
TIMES = np.linspace(0, 1, 8)


SMALL = Effort(walkers=300, many=1000, few=600, block=200)
"""What happens at a hundred thousand courses happens at 1500, in blocks of 200."""


def six(count=1500, seed=0, gaps=0.0):
    """Six smooth curves; a share of the values missing in one of two patterns."""
    rng = np.random.default_rng(seed)
    K = np.exp(-((TIMES[:, None] - TIMES) ** 2) / (2 * 0.3**2)) + 1e-9 * np.eye(8)
    curves = 0.4 + np.random.default_rng(3).standard_normal((6, 8)) @ np.linalg.cholesky(K).T
    truth = rng.integers(0, 6, count)
    values = curves[truth] + 0.3 * rng.standard_normal((count, 8))
    values[rng.random(count) < gaps, 2] = np.nan
    values[rng.random(count) < gaps, 5:7] = np.nan
    return tl.TimeCourses.from_arrays(TIMES, values), truth


def parts(courses, size=333):
    return [courses[i : i + size] for i in range(0, len(courses), size)]


def check_same(found, whole):
    """Labels, probabilities, curves and bound are those of the mixture in memory."""
    np.testing.assert_array_equal(found.labels, whole.labels)
    np.testing.assert_array_equal(found.nearest, whole.nearest)
    np.testing.assert_allclose(found.confidence, whole.confidence, atol=1e-4)
    np.testing.assert_array_equal(found.sizes, whole.sizes)
    assert found.spread == pytest.approx(whole.spread, rel=1e-6, abs=1e-9)
    assert found.evidence == pytest.approx(whole.evidence, rel=1e-6)
    when = [-0.2, 0.33, 0.8, 1.4]
    for k in range(whole.k):
        np.testing.assert_allclose(found.curve(k, when).mean, whole.curve(k, when).mean, atol=1e-4)
        np.testing.assert_allclose(found.curve(k, when).sd, whole.curve(k, when).sd, rtol=1e-3)


# -- the same result -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize(("k", "spread"), [(None, None), (6, 0.1), (3, None)])
def test_same_as_in_memory(gaps, k, spread):
    courses, truth = six(gaps=gaps)
    settings = {"k": k, "spread": spread, "robust": False}
    found, whole = (
        mixture_from_chunks(parts(courses), GP, **settings, effort=SMALL),
        mixture(courses, GP, **settings, effort=SMALL),
    )
    check_same(found, whole)
    if k is None:
        assert nmi(found.nearest, truth) > 0.7


@pytest.mark.parametrize("gone", [0, 1, 2])
def test_a_pattern_of_gaps_of_which_all_courses_are_in_none(gone):
    """Such a design has no mean course; rows of its neighbours were taken for its own."""
    times = [[0.0, 0.5], [0.1, 0.2, 0.9], [0.3]]
    rng = np.random.default_rng(gone)
    weight, sums = rng.uniform(1, 9, (2, 3)), rng.standard_normal((2, 6))
    weight[:, gone] = 0
    designs = tl.TimeCourses.from_arrays(times, times).designs
    courses, r = Means(weight, sums).courses(designs, mean=0.4)
    kept = [g for g in range(3) if g != gone]
    assert len(courses.designs) == 2
    for i, (k, g) in enumerate([(k, g) for k in range(2) for g in kept]):
        own = slice(designs.starts[g], designs.starts[g + 1])
        np.testing.assert_array_equal(courses[i].designs.points[:, 0], times[g])
        np.testing.assert_allclose(courses[i].values, 0.4 + sums[k, own] / weight[k, g])
        assert r[i, k] == weight[k, g]


def test_the_bound_is_that_of_all_courses():
    """Against the bound of the responsibilities of the mixture in memory, computed from all courses at once."""
    courses, _ = six(gaps=0.1)
    whole = mixture(courses, GP, k=6, robust=False, effort=SMALL)
    data = sample(GP.at(courses))
    found = mixture_from_chunks(iter(parts(courses)), GP, k=6, robust=False, effort=SMALL)
    assert found.bound == pytest.approx(data.at(whole.spread).sweep(Given.at(whole.responsibilities)).bound, rel=1e-6)


def test_few_courses_are_clustered_as_in_memory():
    courses, _ = six(400)
    check_same(mixture_from_chunks(parts(courses), GP), mixture(courses, GP))


def test_wild_values_count_for_nothing():
    courses, _ = six()
    values = courses.values.reshape(len(courses), 8).copy()
    values[[3, 700, 1400], [0, 4, 7]] += 40
    courses = tl.TimeCourses.from_arrays(TIMES, values)
    with pytest.warns(DataWarning, match=r"3 of 12,000 values are wild and count for nothing"):
        found = mixture_from_chunks(parts(courses), GP, k=6, effort=SMALL)
    with pytest.warns(DataWarning, match="3 of 12,000 values count for little"):
        whole = mixture(courses, GP, k=6, effort=SMALL)
    np.testing.assert_array_equal(found.labels, whole.labels)
    np.testing.assert_allclose(found.confidence, whole.confidence, atol=1e-3)
    assert found.spread == pytest.approx(whole.spread, rel=1e-3)


def overlapping(seed=7):
    """Clusters that run into each other: climbing on from a top that was reached still moves their curves."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal((3, 8))[rng.integers(0, 3, 160)] * 0.4 + 0.5 * rng.standard_normal((160, 8))
    values[rng.random(160) < 0.3, 3] = np.nan
    return tl.TimeCourses.from_arrays(TIMES, values)


@pytest.mark.parametrize(("k", "spread"), [(3, None), (None, 0.05), (12, None), (15, 0.0)])
@pytest.mark.filterwarnings("ignore::timelike.exceptions.DataWarning")
def test_same_where_clusters_run_into_each_other_or_are_too_many(k, spread):
    """Nothing is climbed again after what memory found, and what lost clusters had goes where it goes there."""
    courses, gp = overlapping(), tl.GP.se(0.3, 0.4, 0.5)
    settings = {"k": k, "spread": spread, "robust": False}
    found = mixture_from_chunks(parts(courses, 33), gp, **settings)
    whole = mixture(courses, gp, noise="common", refine=False, tolerance=None if k else 0, **settings)
    check_same(found, whole)


@pytest.mark.filterwarnings("ignore::timelike.exceptions.DataWarning")
def test_clusters_that_many_courses_do_not_support():
    """As in memory, those without courses go before the last climb."""
    rng = np.random.default_rng(10)
    values = rng.standard_normal((3, 8))[rng.integers(0, 3, 300)] + 0.25 * rng.standard_normal((300, 8))
    courses, gp = tl.TimeCourses.from_arrays(TIMES, values), tl.GP.se(0.3, 1.0, 0.25)
    settings = {"k": 12, "spread": 0.0, "robust": False, "effort": Effort(100, 100, 120, 100, 33)}
    found = mixture_from_chunks(parts(courses, 33), gp, **settings)
    check_same(found, mixture(courses, gp, noise="common", **settings))


def test_neither_chunks_nor_blocks_nor_threads_matter():
    courses, _ = six()
    first = mixture_from_chunks(parts(courses), GP, k=6, threads=1, effort=SMALL)
    second = mixture_from_chunks(parts(courses, 1499), GP, k=6, threads=3, effort=SMALL)
    third = mixture_from_chunks([courses], GP, k=6, effort=SMALL._replace(block=701))
    np.testing.assert_array_equal(first.labels, second.labels)
    assert first.bound == second.bound
    np.testing.assert_array_equal(first.labels, third.labels)
    assert first.bound == pytest.approx(third.bound, rel=1e-10)


def test_continuum_is_said(monkeypatch):
    courses, _ = six()
    monkeypatch.setattr("timelike.clusters.curves.mixture.choose", lambda fits: (fits[1], fits[2]))
    with pytest.warns(DataWarning, match="continuum"):
        found = mixture_from_chunks(parts(courses), GP, robust=False, effort=SMALL)
    assert (found.k, found.continuum) == (2, True)


def test_predict_is_that_of_the_mixture_in_memory():
    courses, _ = six(gaps=0.2)
    new = tl.TimeCourses.from_arrays([0.05, 0.5, 0.77], [[0, 1, 2], [9, -9, 9], [0.1, 0.2, 0.3]])
    found, whole = mixture_from_chunks(parts(courses), GP, k=6, effort=SMALL), mixture(courses, GP, k=6, effort=SMALL)
    # In memory the uncertainty about who is in which cluster counts, too.
    np.testing.assert_allclose(found.predict(new).probabilities, whole.predict(new).probabilities, atol=2e-3)
    assert found.predict(new).labels[1] == -1


def test_a_lost_cluster_is_dropped_and_said():
    courses, _ = six()
    with pytest.warns(DataWarning, match=r"asked for 30 clusters, the data support \d+"):
        found = mixture_from_chunks(parts(courses), GP, k=30, robust=False, effort=SMALL)
    assert found.k == len(found.sizes) == len(set(found.labels[found.labels >= 0])) < 30
    assert found.sizes.min() > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        np.testing.assert_array_equal(found.labels, mixture(courses, GP, k=30, robust=False, effort=SMALL).labels)


# -- what is written -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_table_of_all_courses(tmp_path, ending, monkeypatch):
    courses, _ = six(120)
    courses = tl.TimeCourses.from_arrays(TIMES, courses.values.reshape(120, 8), [f'g "{i}", x' for i in range(120)])
    monkeypatch.setattr("timelike.clusters.curves.mixture_from_chunks.TABLE_ROWS", 50)
    found = mixture_from_chunks(parts(courses, 50), GP, out=tmp_path / f"table{ending}", scratch=tmp_path)
    table = pd.read_csv(tmp_path / f"table{ending}")
    assert list(table.columns) == list(mixture(courses, GP).to_frame().columns)
    assert tuple(table["name"]) == courses.names
    np.testing.assert_array_equal(table["cluster"], found.labels)
    np.testing.assert_allclose(table["probability"], found.confidence, rtol=1e-5)
    assert [p.name for p in tmp_path.iterdir()] == [f"table{ending}"]


def test_scratch_is_left_empty_after_an_error(tmp_path):
    courses, _ = six(50)
    with pytest.raises(InputError, match="each chunk must be TimeCourses, not str"):
        mixture_from_chunks([courses, "more"], GP, scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []


# -- refusals --------------------------------------------------------------------------------------------------------


def test_refusals(monkeypatch):
    courses, _ = six(50)
    with pytest.raises(InputError, match="no chunks"):
        mixture_from_chunks([], GP)
    with pytest.raises(InputError, match="k is 51: expected a whole number from 1 to 50"):
        mixture_from_chunks([courses], GP, 51)
    with pytest.raises(InputError, match="gp must be GP"):
        mixture_from_chunks([courses], "se")
    monkeypatch.setattr("timelike.clusters.curves.scratch.MAX_DESIGNS", 3)
    own = tl.TimeCourses.from_arrays([[0, 0.1 * i] for i in range(1, 6)], [[0, 1]] * 5)
    with pytest.raises(InputError, match="more than 3 different sets of times"):
        mixture_from_chunks([own], GP)


def test_points_of_another_space():
    plane = tl.TimeCourses.from_arrays(np.ones((2, 2)), [[1.0, 2.0]] * 3)
    with pytest.raises(InputError, match="2 coordinates in one chunk, 1 before"):
        mixture_from_chunks([six(20)[0], plane], GP, robust=False)


# -- files -------------------------------------------------------------------------------------------------------------


def written(folder, ending, values, names):
    """A file of that kind."""
    path = folder / f"courses{ending}"
    header = [f"{t:g}h" for t in range(values.shape[1])]
    frame = pd.DataFrame(values, columns=header)
    frame.insert(0, "gene", names)
    if ending == ".npy":
        np.save(path, values.astype(np.float32))
    elif ending == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if "tsv" in ending else ",")
    return path


@pytest.mark.parametrize("ending", [".npy", ".csv", ".csv.gz", ".tsv", ".parquet"])
def test_files_give_the_same_courses_twice(tmp_path, ending):
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    values = np.random.default_rng(0).normal(size=(25, 4)).astype(np.float32).astype(float)
    values[3, 1] = np.nan
    names = [str(i) for i in range(25)] if ending == ".npy" else [f"00{i}" for i in range(25)]
    file = CourseFile(written(tmp_path, ending, values, names), [0, 1, 2, 3] if ending == ".npy" else None, rows=10)
    for _ in range(2):
        chunks = list(file)
        assert [len(chunk) for chunk in chunks] == [10, 10, 5]
        assert [name for chunk in chunks for name in chunk.names] == names
        np.testing.assert_allclose(np.concatenate([c.to_matrix()[1] for c in chunks]), values)
        np.testing.assert_array_equal(chunks[0].to_matrix()[0], [0, 1, 2, 3])
    assert file.count == 25


def test_sample_draws_each_course_at_most_once(tmp_path):
    values = np.arange(60.0).reshape(30, 2)
    file = CourseFile(written(tmp_path, ".csv", values, [f"g{i}" for i in range(30)]), rows=7)
    some = file.sample(12, seed=1)
    at = [int(name[1:]) for name in some.names]
    assert at == sorted(set(at))
    assert len(at) == 12
    np.testing.assert_array_equal(some.values.reshape(12, 2), values[at])
    assert file.sample(12, seed=2).names != some.names
    assert len(file.sample(100)) == 30


def test_names_with_line_breaks_stay_one_line_each(tmp_path):
    courses, _ = six(60)
    names = [f"a\nb {i}" if i % 7 == 0 else f"c{i}" for i in range(60)]
    odd = tl.TimeCourses.from_arrays(TIMES, courses.values.reshape(60, -1), names)
    mixture_from_chunks(parts(odd, 23), GP, 2, robust=False, out=tmp_path / "table.csv")
    assert pd.read_csv(tmp_path / "table.csv")["name"].tolist() == [name.replace("\n", " ") for name in names]


def test_a_table_that_somebody_unpacked_and_kept_the_name_of(tmp_path):
    path = tmp_path / "plain.csv.gz"
    path.write_bytes(b"gene,0h,1h\na,1,2\n")
    np.testing.assert_array_equal(next(iter(CourseFile(path))).values, [1, 2])


def test_replicates_and_given_times(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("gene,0h,0h,12h\na,1,2,3\n")
    np.testing.assert_array_equal(next(iter(CourseFile(path))).times, [0, 0, 12])
    np.testing.assert_array_equal(next(iter(CourseFile(path, [5, 6, 7]))).times, [5, 6, 7])


def raises_for(path, message, times=None):
    with pytest.raises(InputError, match=message):
        list(CourseFile(path, times))


def test_files_that_cannot_be_used(tmp_path):
    raises_for(tmp_path / "none.npy", "there is no file")
    for name, text, message in [
        ("x.txt", "a", r"ends in '.txt': expected .npy, .csv, .tsv, .parquet"),
        ("a.csv", "gene\nx\n", "the header has 1 column"),
        ("b.csv", "gene,colour\nx,1\n", "is not a name and then times"),
        ("c.csv", "gene,0h,1h\nx,1,red\n", "course 'x', column '1h': 'red' is not a number"),
        ("d.csv", "gene,0h,1h\nx,1\ny,,\n", "y"),
        ("e.npy", "no array", "cannot read"),
    ]:
        (tmp_path / name).write_text(text)
        raises_for(tmp_path / name, message, [0, 1] if name.endswith(".npy") else None)
    np.save(tmp_path / "f.npy", np.zeros((3, 4)))
    raises_for(tmp_path / "f.npy", "values without times")
    raises_for(tmp_path / "f.npy", "4 columns of values, times have shape", [0, 1])
    np.save(tmp_path / "g.npy", np.zeros(3))
    raises_for(tmp_path / "g.npy", r"shape \(3,\): expected numbers, one row a course", [0, 1])
    with pytest.raises(InputError, match="rows is 0"):
        CourseFile(tmp_path / "f.npy", [0, 1, 2, 3], rows=0)


def test_gzip_is_told_by_its_ending(tmp_path):
    path = tmp_path / "x.tsv.gz"
    path.write_bytes(gzip.compress(b"gene\t0h\t1h\na\t1\t2\n"))
    assert next(iter(CourseFile(path))).names == ("a",)


def test_mixture_from_a_file(tmp_path):
    courses, truth = six(300)
    np.save(tmp_path / "x.npy", courses.values.reshape(300, 8))
    file = CourseFile(tmp_path / "x.npy", TIMES, rows=100)
    found = mixture_from_chunks(file, tl.fit(file.sample(200)))
    assert nmi(found.nearest, truth) > 0.7
    assert "300 courses in" in repr(found)
    assert repr(file) == "CourseFile: x.npy, 8 columns (0 to 1)"


def test_a_course_file_reads_what_read_reads_or_says_so(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("gene,0h,1h\nNA,1,2\nb,3,4\n")
    assert [chunk.names for chunk in tl.CourseFile(path)] == [("NA", "b")]
    path.write_text("gene,0h,1h\na,1,2,9\nb,3,4,9\n")
    with pytest.raises(tl.InputError, match=r"c\.csv"):
        list(tl.CourseFile(path))
    with pytest.raises(tl.InputError, match="count is -5"):
        tl.CourseFile(path).sample(-5)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ({"out": "x.parquet"}, "expected a .csv"),
        ({"out": "nope/x.csv"}, "expected a .csv"),
        ({"scratch": "nope"}, "scratch"),
    ],
)
def test_places_are_looked_at_before_the_work(where, message):
    courses, _ = tl.simulate.profiles(per_group=3, seed=1)
    with pytest.raises(tl.InputError, match=message):
        tl.mixture_from_chunks([courses], tl.GP.se(1, 1, 0.1), **where)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"k": 0}, "k is 0: expected a whole number, at least 1"),
        ({"k": 2.5}, "k is 2.5"),
        ({"k": True}, "k is True"),
        ({"max_k": 0}, "max_k is 0"),
        ({"spread": -1}, "spread is -1"),
        ({"threads": 0}, "threads is 0"),
    ],
)
def test_settings_are_looked_at_before_the_chunks_are_read(settings, message):
    def chunks():
        pytest.fail("read in vain")
        yield

    with pytest.raises(InputError, match=message):
        mixture_from_chunks(chunks(), GP, **settings)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no disk that is always full")
@pytest.mark.parametrize("name", ["values", "names"])
def test_a_full_disk_is_said(tmp_path, name, monkeypatch):
    def on_full(self, *arguments, plain=Path.open, **settings):
        return plain(Path("/dev/full") if self.name == name else self, *arguments, **settings)

    monkeypatch.setattr(Path, "open", on_full)
    with pytest.raises(InputError, match=rf"cannot write {tmp_path}/timelike-\w+/{name}: .*Give scratch="):
        mixture_from_chunks([six(50)[0]], GP, scratch=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_the_chunks_is_theirs(tmp_path):
    def chunks():
        yield six(50)[0]
        raise FileNotFoundError("mine")

    with pytest.raises(FileNotFoundError, match="mine"):
        mixture_from_chunks(chunks(), GP, scratch=tmp_path)


def test_a_scratch_folder_that_cannot_be_written(tmp_path, monkeypatch):
    def refuses(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuses)
    with pytest.raises(InputError, match=rf"cannot write {tmp_path}: Permission denied"):
        mixture_from_chunks([six(50)[0]], GP, scratch=tmp_path)


# -- a file in chunks is the file at once ---------------------------------------------------------------------------


def test_numbers_are_read_to_the_last_bit(tmp_path):
    values = np.random.default_rng(0).normal(size=(300, 4)) * 10.0 ** np.arange(-5, 3, 2)
    path = written(tmp_path, ".csv", values, [f"g{i}" for i in range(300)])
    found = np.concatenate([chunk.to_matrix()[1] for chunk in CourseFile(path, rows=100)])
    np.testing.assert_array_equal(found, values)
    np.testing.assert_array_equal(found, tl.read(path).to_matrix()[1])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("b,True,False", "course 'b', column '0h': 'True' is not a number"),
        ("b,true,", "course 'b', column '0h': '[Tt]rue' is not a number"),
        ("b,1_000,2", "'1_000' is not a number"),
        ("b,inf,2", "is not finite"),
        ("b,1e200,2", "larger than"),
        (",1,2", "course number 2 has no name"),
        ("  ,1,2", "course number 2 has no name"),
    ],
)
@pytest.mark.parametrize("rows", [1, 10])
def test_what_read_refuses_is_refused_in_chunks(tmp_path, line, message, rows):
    path = tmp_path / "c.csv"
    path.write_text(f"gene,0h,1h\na,1,2\n{line}\n")
    with pytest.raises(InputError):
        tl.read(path)
    with pytest.raises(InputError, match=rf"c\.csv: .*{message}"):
        list(CourseFile(path, rows=rows))


def test_what_read_reads_is_read_in_chunks(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("gene,0h,1h\n a ,1,\nb,99999999999999999999,NA\n")
    (found,) = CourseFile(path)
    assert found.names == tl.read(path).names == ("a", "b")
    np.testing.assert_array_equal(found.values, [1, 1e20])


@pytest.mark.parametrize("unnamed", [False, True])
def test_a_parquet_file_with_an_index(tmp_path, unnamed):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"gene": ["a", "b"], "0h": [1.0, 2.0], "12h": [3.0, 4.0]}).set_index("gene")
    (frame.rename_axis(None) if unnamed else frame).to_parquet(tmp_path / "x.parquet")
    (found,) = CourseFile(tmp_path / "x.parquet")
    assert found.names == tl.read(tmp_path / "x.parquet").names == ("a", "b")
    np.testing.assert_array_equal(found.to_matrix()[1], [[1, 3], [2, 4]])


def test_truths_and_absent_names_in_parquet(tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "x.parquet"
    pd.DataFrame({"gene": ["a", "b"], "0h": [True, False], "12h": [3.0, 4.0]}).to_parquet(path)
    raises_for(path, "column '0h': 'True' is not a number")
    pd.DataFrame({"gene": ["a", None], "0h": [1.0, 2.0], "12h": [3.0, 4.0]}).to_parquet(path)
    raises_for(path, "course number 2 has no name")
    with pytest.raises(InputError, match="course number 2 has no name"):
        list(CourseFile(path, rows=1))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("latin.csv", "gene,0h,1h\nMüller,1,2\n".encode("latin-1")),
        ("header.csv", "gène,0h,1h\na,1,2\n".encode("latin-1")),
        ("cut.csv.gz", gzip.compress(("gene,0h,1h\n" + "a,1,2\n" * 9).encode())[:-9]),
        ("late.csv.gz", gzip.compress(b"gene,0h,1h\n" + np.random.default_rng(0).bytes(99_999).hex().encode())[:-900]),
        ("broken.csv.gz", gzip.compress(b"gene,0h,1h\na,1,2\n")[:12] + b"\xff" * 30),
        ("pk.npy", b"PK\x03\x04 and more"),
        ("empty.npy", b""),
        ("empty.csv", b""),
        ("bad.parquet", b"PAR1 and more"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bytes_that_are_no_table(tmp_path, name, content):
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")
    (tmp_path / name).write_bytes(content)
    raises_for(tmp_path / name, name, [0, 1] if name.endswith(".npy") else None)


def test_an_archive_of_arrays_is_no_array(tmp_path):
    np.savez(tmp_path / "x.npz", np.eye(2))
    (tmp_path / "x.npz").rename(tmp_path / "x.npy")
    raises_for(tmp_path / "x.npy", r"cannot read .*x\.npy", [0, 1])


def test_a_time_with_a_thousands_separator_is_not_one(tmp_path):
    (tmp_path / "c.csv").write_text('gene,"100","500","1,000"\na,1,2,3\n')
    with pytest.raises(tl.InputError, match="'1,000' can be read with a decimal comma or with a thousands separator"):
        CourseFile(tmp_path / "c.csv")


def test_a_gap_pattern_whose_courses_are_all_in_none():
    """Sums over designs that no mean course has must not take the row of a neighbour."""
    gp, rng = tl.GP.se(0.3, 1.0, 0.1), np.random.default_rng(5)
    values = np.repeat([np.sin(6 * TIMES), np.cos(6 * TIMES)], 40, axis=0) + 0.1 * rng.standard_normal((80, 8))
    values[::8, 6] = np.nan  # in both clusters
    wild = 3 * np.array([[1, -2, np.nan, 2, 0, -2, 1, 2.0]])  # a pattern of gaps that no other course has
    courses = tl.TimeCourses.from_arrays(TIMES, np.concatenate([wild, values]))
    settings = {"k": 2, "spread": 0.05, "robust": False}
    found, whole = mixture_from_chunks([courses], gp, **settings), mixture(courses, gp, noise="common", **settings)
    assert (found.labels == -1).nonzero()[0].tolist() == [0]
    for k in range(2):
        np.testing.assert_allclose(found.curve(k, TIMES), whole.curve(k, TIMES), atol=1e-5)


def test_sums_over_designs_that_no_course_has():
    courses = tl.TimeCourses.from_arrays([[0, 1], [0, 0.5], [0, 0.3]], [[1, 2], [1, 2], [2, 3]])
    state = sample(GP.at(courses)).at(0.1)
    only = replace(state, design_of=np.array([2, 0, 2]))
    np.testing.assert_allclose(only.per_design(np.eye(3)), [[0, 1, 0], [0, 0, 0], [1, 0, 1]])


# -- on a cluster of machines ----------------------------------------------------------------------------------------


def test_a_cluster_gives_the_same_bits(client, tmp_path):
    courses, _ = six()
    for settings in ({"k": 6}, {}):  # with a given number of clusters, and with one that is chosen
        here = mixture_from_chunks(parts(courses), GP, **settings, effort=SMALL)
        there = mixture_from_chunks(parts(courses), GP, **settings, effort=SMALL, client=client, scratch=tmp_path)
        for name in ("labels", "nearest", "confidence", "bound"):
            np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
        assert there.path == here.path
    assert not list(tmp_path.iterdir())


def test_workers_that_do_not_see_the_scratch_folder(client, monkeypatch, tmp_path):
    monkeypatch.setattr(scratch, "shares", lambda *_: False)
    with pytest.raises(InputError, match=r"not all Dask workers see .*: give scratch= a folder on a disk"):
        mixture_from_chunks(parts(six()[0]), GP, 6, client=client, scratch=tmp_path)


def test_something_else_than_a_client():
    with pytest.raises(InputError, match=r"client must be a dask\.distributed\.Client"):
        mixture_from_chunks(parts(six()[0]), GP, 6, client="tcp://127.0.0.1:8786")
