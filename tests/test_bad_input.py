"""Bad input: an error that says what was found, where, and what to do; never a NaN that spreads silently."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import kernels as sk

import timelike as tl
from timelike import GP, TimeCourses
from timelike.exceptions import FitWarning, InputError

NAN, INF = float("nan"), float("inf")
AB = ["Abc1", "Xyz2"]


def raises_with(*parts, of=InputError):
    """Expect an error whose message contains all the parts."""
    return _Rejected(parts, of)


class _Rejected:
    def __init__(self, parts, of):
        self.parts, self.context = parts, pytest.raises(of)

    def __enter__(self):
        self.info = self.context.__enter__()

    def __exit__(self, *problem):
        caught = self.context.__exit__(*problem)
        if caught:
            message = str(self.info.value)
            assert [p for p in self.parts if p not in message] == [], message
        return caught


# -- arrays ---------------------------------------------------------------------------------------------------

BAD_ARRAYS = {
    # empty
    "no times": (([], np.zeros((2, 0))), ["times", "at least one"]),
    "nothing": (([], []), ["times", "at least one"]),
    "no courses": (([0, 1], np.zeros((0, 2))), ["values", "(0, 2)"]),
    "empty list of values": (([0, 1], []), ["values"]),
    "own times, one course empty": (([[0, 1], []], [[1, 2], []], AB), ["'Xyz2'"]),
    "a course that was never measured": (
        ([0, 1], [[1, 2], [NAN, NAN]], AB),
        ["'Xyz2'", "no value", "Leave it out"],
    ),
    "two of them": (([0], [[NAN], [1], [NAN]], list("abc")), ["'a'", "1 more"]),
    "never measured, own times": (([[0, 1], [2]], [[1, 2], [NAN]], AB), ["'Xyz2'", "no value"]),
    # not finite
    "infinite": (([5, 7], [[1, 2], [3, INF]], AB), ["'Xyz2'", "inf", "time 7", "NaN"]),
    "minus infinite, own times": (([[0, 1], [2.5]], [[1, 2], [-INF]], AB), ["'Xyz2'", "-inf", "time 2.5"]),
    "time NaN": (([0, NAN], [[1, 2]]), ["times", "finite", "nan", "position 1"]),
    "time infinite, own times": (([[0], [3, INF]], [[1], [1, 2]], AB), ["times", "'Xyz2'", "finite", "inf"]),
    # not numbers
    "text in values": (([0, 1], [[1, 2], [3, "n/a"]], AB), ["'Xyz2'", "column 1", "'n/a'", "NaN"]),
    "text without names": (([0, 1], [[1, 2], [3, "n/a"]]), ["'1'", "column 1", "'n/a'"]),
    "text array": (([0, 1], np.array([["1", "2"], ["low", "4"]]), AB), ["'Xyz2'", "column 0", "'low'"]),
    "text in values, own times": (([[0], [1, 2]], [[1], [3, "n/a"]], AB), ["'Xyz2'", "'n/a'", "position 1"]),
    "text and too few names": (([0, 1], [[1, 2], [3, "n/a"]], ["one"]), []),
    "text in times": ((["day 1", "day 3"], [[1, 2]]), ["times", "'day 1'", "position 0"]),
    "text in own times": (([[0], ["day 3", 2]], [[1], [2, 3]], AB), ["times", "'Xyz2'", "'day 3'"]),
    "dates as times": ((np.array(["2020-01-01", "2020-02-01"], "datetime64[D]"), [[1, 2]]), ["times", "date"]),
    "durations as times": ((np.array([1, 2], "timedelta64[D]"), [[1, 2]]), ["times", "numbers"]),
    "complex values": (([0, 1], np.array([[1j, 2], [3, 4]]), AB), ["values", "numbers"]),
    "no times at all": ((None, [[1, 2]]), ["times"]),
    "a table of times": (({"a": 1}, [[1, 2]]), ["times", "numbers"]),
    "no values at all": (([[0], [1]], None), ["values"]),
    # names
    "a name twice": (([0], [[1], [2], [3]], ["p", "q", "p"]), ["'p'", "positions 0 and 2"]),
    "names equal as text": (([0], [[1], [2]], [1, "1"]), ["'1'", "positions 0 and 1"]),
    "too few names": (([0], [[1], [2]], ["p"]), ["1 name", "2 courses"]),
    "too many names": (([0], [[1], [2]], list("pqr")), ["3 names", "2 courses"]),
    "a number for names": (([0], [[1], [2]], 5), ["names", "5"]),
    # lengths
    "another number of values": (([0, 1, 2], [[1, 2], [3, 4]]), ["(2, 2)", "3 times"]),
    "transposed": (([0, 1, 2], np.zeros((3, 2))), ["(3, 2)", "3 times", "one row a course"]),
    "a cube": (([0, 1, 2], np.zeros((2, 2, 3))), ["(2, 2, 3)"]),
    "ragged values on a shared grid": (([0, 1], [[1, 2], [1]]), ["different lengths", "times"]),
    "own times, one value too many": (([[0, 1], [1]], [[1, 2], [3, 4]], AB), ["'Xyz2'", "1 time", "2 values"]),
    "own times, one course too few": (([[0, 1], [1]], [[1, 2]]), ["2 courses", "1"]),
    "own times, other coordinates": (([[0, 1], [[1, 2]]], [[1, 2], [3]], AB), ["'Xyz2'", "coordinate"]),
    # errors
    "negative error": (([0, 4], [[1, 2], [3, 4]], AB, [[1, 1], [1, -0.5]]), ["'Xyz2'", "time 4", "-0.5"]),
    "error NaN": (([0, 4], [[1, 2], [3, 4]], AB, [[1, 1], [1, NAN]]), ["'Xyz2'", "time 4", "nan"]),
    "error infinite": (([0, 4], [[1, 2], [3, 4]], AB, [[1, 1], [1, INF]]), ["'Xyz2'", "time 4", "inf", "give NaN"]),
    "text in errors": (([0, 4], [[1, 2], [3, 4]], AB, [[1, 1], ["?", 1]]), ["errors", "'Xyz2'", "'?'"]),
    "errors of another shape": (([0, 1], [[1, 2], [3, 4]], AB, [[1, 1, 1]]), ["errors", "(1, 3)", "(2, 2)"]),
    "errors for too few courses": (([[0, 1], [1]], [[1, 2], [3]], AB, [[1, 1]]), ["errors", "1", "2"]),
    "errors for too few values": (([[0, 1], [1]], [[1, 2], [3]], AB, [[1], [1]]), ["error"]),
    "errors that belong elsewhere": (([[0, 1], [1]], [[1, 2], [3]], AB, [[1], [1, 1]]), ["errors", "'Abc1'"]),
}


@pytest.mark.parametrize("case", BAD_ARRAYS)
def test_arrays(case):
    arguments, parts = BAD_ARRAYS[case]
    with raises_with(*parts):
        TimeCourses.from_arrays(*arguments)


def test_the_hint_for_times_does_not_offer_nan():
    with pytest.raises(InputError) as info:
        TimeCourses.from_arrays(["day 1", "day 3"], [[1, 2]])
    assert "NaN" not in str(info.value), "a time cannot be NaN"


# -- tables ----------------------------------------------------------------------------------------------------


def table(**columns):
    return pd.DataFrame({"course": ["p", "p", "q"], "time": [0, 1, 0], "value": [1.0, 2.0, 3.0]} | columns)


BAD_TABLES = {
    "no rows": (table().iloc[:0], ["no rows"]),
    "no such column": (table().rename(columns={"time": "hours"}), ["'time'", "'hours'"]),
    "no course": (table(course=["p", None, "q"]), ["'course'", "row 1"]),
    "text in values": (table(value=[1, 2, "low"]), ["'value'", "'q'", "'low'", "row 2"]),
    "text in times": (table(time=[0, "day 3", 0]), ["'time'", "'p'", "'day 3'", "row 1"]),
    "time missing": (table(time=[0, NAN, 0]), ["'time'", "'p'", "nan", "row 1"]),
    "time infinite": (table(time=[0, INF, 0]), ["'time'", "'p'", "inf", "row 1"]),
    "dates": (table(time=pd.to_datetime(["2020-01-01"] * 3)), ["'time'", "dates", "days since"]),
    "durations": (table(time=pd.to_timedelta([1, 2, 3], unit="D")), ["'time'", "numbers"]),
    "infinite": (table(value=[1, INF, 3]), ["'p'", "inf", "time 1"]),
    "never measured": (table(value=[1, 2, NAN]), ["'q'", "no value"]),
    "complex": (table(value=[1j, 2, 3]), ["'value'"]),
    "names equal as text": (table(course=[1, "1", 2]), ["'1'"]),
}


@pytest.mark.parametrize("case", BAD_TABLES)
def test_tables(case):
    frame, parts = BAD_TABLES[case]
    with pytest.raises(InputError) as info:
        TimeCourses.from_long(frame)
    assert [p for p in parts if p not in str(info.value)] == [], str(info.value)
    assert "np.float64" not in str(info.value), "numbers are shown as people write them"


@pytest.mark.parametrize(("errors", "part"), [([0.1, -1, 0.1], "-1"), ([0.1, NAN, 0.1], "nan"), ([0.1, "?", 1], "'?'")])
def test_errors_in_tables(errors, part):
    with raises_with("'p'", part):
        TimeCourses.from_long(table(se=errors), error="se")


def test_something_that_is_no_table():
    with raises_with("table", of=(InputError, TypeError)):
        TimeCourses.from_long([1, 2, 3])


# -- choosing --------------------------------------------------------------------------------------------------


@pytest.fixture
def three():
    return TimeCourses.from_arrays([0, 1], [[1, 2], [3, 3], [5, 1]], names=["Samd14", "flat", "Fbln5"])


@pytest.mark.parametrize(
    ("which", "parts"),
    [
        ("Samd41", ["'Samd41'", "Did you mean 'Samd14'?"]),
        ("zzz", ["'zzz'", "Names look like 'Samd14'"]),
        (3, ["3", "0 to 2"]),
        (-4, ["-4", "0 to 2"]),
        (["Fbln5", "Fbln6"], ["'Fbln6'", "'Fbln5'"]),
        ([0, 0], ["'Samd14'"]),
        ([True, False], ["mask", "2", "3"]),
        ([], ["no course"]),
        (slice(0, 0), ["no course"]),
        ([1.5], ["1.5"]),
        (1.5, ["1.5"]),
        ([None], ["None"]),
    ],
)
def test_selection(three, which, parts):
    with raises_with(*parts):
        three[which]


@pytest.mark.parametrize("n", [0, -1, 4, 1.5])
def test_most_variable(three, n):
    with raises_with(f"most_variable({n})", "3 courses"):
        three.most_variable(n)


def test_standardizing_a_constant_course_names_it(three):
    with raises_with("'flat'", "constant"):
        three.standardized()


def test_standardizing_one_value_names_the_course():
    with raises_with("'1'", "constant"):
        TimeCourses.from_arrays([0, 1], [[1, 2], [NAN, 5]]).standardized()


def test_standardizing_courses_that_are_constant_up_to_rounding():
    wobble = 1e5 * (1 + np.finfo(float).eps * np.array([[0, 1, 0, -1]]))
    with raises_with("'0'", "constant"):
        TimeCourses.from_arrays([0, 1, 2, 3], wobble).standardized()


# -- models ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        ({"noise_sd": -0.1}, ["noise_sd", "-0.1"]),
        ({"noise_sd": NAN}, ["noise_sd", "nan"]),
        ({"noise_sd": INF}, ["noise_sd", "inf"]),
        ({"noise_sd": "low"}, ["noise_sd", "'low'"]),
        ({"signal_sd": 0}, ["signal_sd", "above zero"]),
        ({"signal_sd": -2}, ["signal_sd", "-2"]),
        ({"signal_sd": None}, ["signal_sd", "None"]),
        ({"length_scale": 0}, ["length_scale", "above zero"]),
        ({"length_scale": -3}, ["length_scale", "-3"]),
        ({"length_scale": NAN}, ["length_scale", "nan"]),
        ({"mean": INF}, ["mean", "inf"]),
        ({"mean": "zero"}, ["mean", "'zero'"]),
    ],
)
def test_given_hyperparameters(arguments, parts):
    with raises_with(*parts):
        GP.se(**({"length_scale": 1, "signal_sd": 1, "noise_sd": 0.1} | arguments))


BAD_KERNELS = {
    "unknown name": ("squared", ["'squared'", "se", "matern32"]),
    "a number": (3, ["3", "scikit-learn"]),
    "nothing": (None, ["None"]),
    "a class": (sk.RBF, ["RBF"]),
    "white noise": (sk.WhiteKernel(), ["WhiteKernel", "noise"]),
    "white noise in a sum": (sk.RBF() + sk.WhiteKernel(), ["WhiteKernel", "noise"]),
    "white noise deep inside": (sk.RBF() * (sk.RBF() + sk.WhiteKernel()), ["WhiteKernel"]),
    "length scale below zero": (sk.RBF(-1.0), ["length_scale", "-1"]),
    "length scale zero": (sk.RBF(0.0), ["length_scale", "0"]),
    "length scale NaN": (sk.RBF(NAN), ["length_scale", "nan"]),
    "period zero": (sk.ExpSineSquared(1.0, 0.0), ["periodicity", "0"]),
    "constant below zero": (sk.ConstantKernel(-1.0) * sk.RBF(), ["constant_value", "-1"]),
}


@pytest.mark.parametrize("case", BAD_KERNELS)
def test_kernels_that_cannot_be(case):
    kernel, parts = BAD_KERNELS[case]
    with raises_with(*parts):
        GP(kernel, signal_sd=1, noise_sd=0.1)


def test_kernels_that_cannot_be_are_not_fitted_either():
    courses, _ = tl.simulate.profiles(per_group=3)
    for kernel in (sk.RBF() + sk.WhiteKernel(), sk.ConstantKernel(-1.0) * sk.RBF()):
        with raises_with():
            tl.fit(courses, kernel)


class Indefinite(sk.RBF):
    """1 - 0.8 d^2: symmetric, one on the diagonal, and not a covariance."""

    def __call__(self, X, Y=None, eval_gradient=False):
        K = 1 - 0.8 * (X - (X if Y is None else Y).T) ** 2
        return (K, np.zeros((*K.shape, 1))) if eval_gradient else K


INDEFINITE_ON = {
    "grid": TimeCourses.from_arrays([0, 1, 2], [[1, 2, 4], [2, 3, 5], [1, 0, 0]]),
    "own times": TimeCourses.from_arrays([[0, 1], [0.5, 1.5, 2], [0, 2, 3]], [[1, 2], [4, 3, 2], [0, 1, 1]]),
}


@pytest.mark.parametrize("times", INDEFINITE_ON)
@pytest.mark.parametrize("what", ["similarity", "score", "posterior", "fit"])
def test_a_kernel_that_is_not_positive_definite(times, what):
    courses, gp = INDEFINITE_ON[times], GP(Indefinite(), signal_sd=1, noise_sd=0.3)
    with raises_with("positive definite"):
        {
            "similarity": lambda: tl.similarity(courses, gp),
            "score": lambda: gp.score(courses),
            "posterior": lambda: gp.posterior(courses, [0.5]),
            "fit": lambda: tl.fit(courses, Indefinite()),
        }[what]()


def test_a_kernel_for_another_number_of_coordinates():
    courses = TimeCourses.from_arrays([0, 1], [[1, 2], [3, 4]])
    gp = GP(sk.RBF([1.0, 2.0]), signal_sd=1, noise_sd=0.1)
    for work in (lambda: tl.similarity(courses, gp), lambda: gp.score(courses), lambda: tl.fit(courses, gp.kernel)):
        with raises_with("2", "1"):
            work()


def test_zero_noise_is_an_error_where_it_has_no_answer():
    courses = TimeCourses.from_arrays([0, 1], [[1, 2], [3, 4]])
    gp = GP.se(1, signal_sd=1, noise_sd=0)
    with raises_with("noise", "zero", "noise_sd"):
        tl.similarity(courses, gp)
    with raises_with("noise", "zero"):
        gp.posterior(courses, [0.5])


def test_zero_noise_is_fine_where_every_value_has_an_error():
    times, values = np.array([0.0, 1.0]), [[1, 2], [1.5, 1.8]]
    known = TimeCourses.from_arrays(times, values, errors=[[0.3, 0.3], [0.3, 0.3]])
    plain = TimeCourses.from_arrays(times, values)
    without, with_noise = GP.se(1, signal_sd=1, noise_sd=0), GP.se(1, signal_sd=1, noise_sd=0.3)
    np.testing.assert_allclose(
        tl.similarity(known, without).values, tl.similarity(plain, with_noise).values, rtol=1e-12
    )
    assert without.score(known) == pytest.approx(with_noise.score(plain), rel=1e-12)


@pytest.mark.parametrize("ratio", [1e-8, 1e-9, 1e-12, 1e-30, 1e-160])
@pytest.mark.parametrize("times", ["grid", "own"])
def test_noise_too_small_for_double_precision(ratio, times):
    """Conditioning allows nothing below about 1e-8 of the signal: an error that says so, never a crash or a NaN."""
    rng = np.random.default_rng(0)
    if times == "grid":
        courses = TimeCourses.from_arrays(np.linspace(0, 1, 10), rng.standard_normal((5, 10)))
    else:
        where = [np.sort(rng.random(2)) for _ in range(30)]
        where[1] = where[0]
        courses = TimeCourses.from_arrays(where, [rng.standard_normal(2) for _ in where])
    gp = GP.se(0.3, signal_sd=1, noise_sd=ratio)
    for work in (lambda: tl.similarity(courses, gp).values, lambda: gp.posterior(courses[0], [0.5])):
        try:
            result = np.asarray(work())
        except InputError as problem:
            assert "noise" in str(problem)  # noqa: PT017  # an answer is allowed too
        else:
            assert np.isfinite(result).all()


@pytest.mark.parametrize("mean", ["none", NAN, INF, None, [1, 2]])
def test_means_that_cannot_be(mean):
    courses, _ = tl.simulate.profiles(per_group=3)
    with raises_with("mean", "'constant'", "'zero'"):
        tl.fit(courses, mean=mean)


@pytest.mark.parametrize("times", [[NAN], [INF], ["noon"], [], 1.0, [[0.0, 1.0]]])
def test_times_of_a_posterior(times):
    courses = TimeCourses.from_arrays([0, 1], [[1, 2]])
    with raises_with("times"):
        GP.se(1, 1, 0.1).posterior(courses, times)


@pytest.mark.parametrize("threads", [0, -1, 1.5, "many"])
def test_threads(threads):
    courses = TimeCourses.from_arrays([0, 1], [[1, 2]])
    with raises_with("threads", str(threads)):
        tl.similarity(courses, GP.se(1, 1, 0.1), threads=threads)


def test_courses_with_other_coordinates_cannot_be_compared():
    line = TimeCourses.from_arrays([0, 1], [[1, 2]])
    plane = TimeCourses.from_arrays(np.array([[0.0, 1.0], [1.0, 0.0]]), [[1, 2]])
    with raises_with("coordinates"):
        tl.similarity(line, GP.se(1, 1, 0.1), plane)


def test_a_dissimilarity_of_a_rectangle():
    one = TimeCourses.from_arrays([0, 1], [[1, 2]])
    with raises_with("others"):
        tl.similarity(one, GP.se(1, 1, 0.1), one).dissimilarity()


def test_wrong_types_are_told_what_is_expected():
    array, courses, gp = np.zeros((3, 4)), TimeCourses.from_arrays([0], [[1]]), GP.se(1, 1, 0.1)
    for work in (
        lambda: tl.fit(array),
        lambda: tl.similarity(array, gp),
        lambda: tl.similarity(courses, gp, array),
        lambda: gp.score(array),
        lambda: gp.posterior(array, [0.0]),
    ):
        with raises_with("TimeCourses", of=(InputError, TypeError)):
            work()
    with raises_with("GP", of=(InputError, TypeError)):
        tl.similarity(courses, "se")


# -- model files -------------------------------------------------------------------------------------------------

GOOD = {
    "format": "timelike model 1",
    "kernel": {"class": "RBF", "length_scale": 1.0},
    "signal_sd": 1.0,
    "noise_sd": 0.1,
    "mean": 0.0,
    "log_likelihood": None,
    "warnings": [],
}
BAD_ENTRIES = {
    "signal_sd": [-1, 0, "x", None, [1], NAN],
    "noise_sd": [-1, "x", NAN, INF],
    "mean": ["x", NAN, {}],
    "log_likelihood": ["x", NAN],
    "warnings": [None, 5, "not a list"],
    "format": ["timelike model 2", None, "pickle"],
}
BAD_KERNEL_ENTRIES = {
    "null": None,
    "text": "RBF",
    "list": [],
    "no class": {"length_scale": 1},
    "not ours": {"class": "WhiteKernel"},
    "another module": {"class": "os.system", "command": "echo"},
    "class is a list": {"class": ["RBF"]},
    "unknown parameter": {"class": "RBF", "bogus": 1},
    "text parameter": {"class": "RBF", "length_scale": "x"},
    "null parameter": {"class": "RBF", "length_scale": None},
    "empty parameter": {"class": "RBF", "length_scale": []},
    "negative": {"class": "RBF", "length_scale": -1},
    "zero": {"class": "RBF", "length_scale": 0},
    "NaN": {"class": "RBF", "length_scale": NAN},
    "infinite": {"class": "DotProduct", "sigma_0": INF},
    "negative constant": {"class": "ConstantKernel", "constant_value": -1},
    "negative nu": {"class": "Matern", "nu": -1},
    "half a sum": {"class": "Sum", "k1": {"class": "RBF"}},
    "sum with a number": {"class": "Sum", "k1": {"class": "RBF"}, "k2": 3},
    "white noise in a sum": {"class": "Sum", "k1": {"class": "RBF"}, "k2": {"class": "WhiteKernel"}},
    "kernel for a number": {"class": "RBF", "length_scale": {"class": "RBF"}},
    "text exponent": {"class": "Exponentiation", "kernel": {"class": "RBF"}, "exponent": "2"},
}


@pytest.fixture
def load(tmp_path):
    path = tmp_path / "model.json"

    def from_text(text):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return GP.load(path)

    return from_text


def test_the_good_file_is_good(load):
    assert load(json.dumps(GOOD)).length_scale == 1.0


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "3", json.dumps(GOOD)[:70], b"\xff\xfe\x00\x80", b"\x80\x04\x95.", "[" * 100_000],
    ids=["empty", "no entries", "list", "number", "cut off", "binary", "pickle", "deep"],
)
def test_files_that_are_no_models(load, text):
    with raises_with("model.json", "not a model"):
        load(text)


@pytest.mark.parametrize("entry", GOOD)
def test_model_files_with_a_missing_entry(load, entry):
    with raises_with("model.json", entry):
        load(json.dumps({k: v for k, v in GOOD.items() if k != entry}))


@pytest.mark.parametrize(("entry", "value"), [(k, v) for k, values in BAD_ENTRIES.items() for v in values])
def test_model_files_with_a_bad_entry(load, entry, value):
    with raises_with("model.json", entry):
        load(json.dumps(GOOD | {entry: value}))


@pytest.mark.parametrize("case", BAD_KERNEL_ENTRIES)
def test_model_files_with_a_bad_kernel(load, case):
    with raises_with("model.json", "kernel"):
        load(json.dumps(GOOD | {"kernel": BAD_KERNEL_ENTRIES[case]}))


def test_model_files_that_are_not_there(tmp_path):
    with raises_with("none.json", "No such file"):
        GP.load(tmp_path / "none.json")
    with raises_with(str(tmp_path), "irectory"):
        GP.load(tmp_path)
    with raises_with("cannot write", "missing"):
        GP.se(1, 1, 0.1).save(tmp_path / "missing" / "model.json")


# -- odd, but valid: finite numbers, or words ---------------------------------------------------------------------

TEN = np.linspace(0, 1, 10)
STRAIGHT = np.random.default_rng(5).standard_normal((20, 1)) * TEN
SLOPES = np.arange(-3, 4)[:, None] * np.linspace(0, 1, 8)
WAVES = np.sin(TEN + 6 * np.random.default_rng(0).random((20, 1)))
ODD = {
    "one course": TimeCourses.from_arrays(range(5), [[1, 2, 4, 3, 2.5]]),
    "one value": TimeCourses.from_arrays([0], [[1.0]]),
    "one time": TimeCourses.from_arrays([3], [[1.0], [2.0], [4.0]]),
    "one time, replicated": TimeCourses.from_arrays([3, 3, 3], [[1, 2, 3], [2, 3, 4]]),
    "two values each": TimeCourses.from_arrays([0, 1], [[1, 2], [3, 5]]),
    "one value each": TimeCourses.from_arrays([[0], [1], [2], [3.5]], [[1], [2], [1.5], [3]]),
    "constant courses": TimeCourses.from_arrays([0, 1, 2], [[1, 1, 1], [2, 2, 2], [5, 5, 5]]),
    "equal constant courses": TimeCourses.from_arrays([0, 1, 2], [[7, 7, 7], [7, 7, 7]]),
    "some constant courses": TimeCourses.from_arrays([0, 1, 2, 3], [[1, 1, 1, 1], [2, 3, 2, 1], [5, 5, 5, 5]]),
    "all zero": TimeCourses.from_arrays(range(5), np.zeros((3, 5))),
    "one course four times": TimeCourses.from_arrays(range(5), [[1, 2, 4, 3, 2.5]] * 4),
    "straight lines without noise": TimeCourses.from_arrays(TEN, STRAIGHT),
    "slopes": TimeCourses.from_arrays(np.linspace(0, 1, 8), SLOPES),
    "waves without noise": TimeCourses.from_arrays(TEN, WAVES),
    "times almost equal": TimeCourses.from_arrays([0, 1e-300, 1, 2], [[1, 2, 0, 4], [3, 1, 0.5, 1]]),
    "two very different values": TimeCourses.from_arrays([0, 1, 2], [[0, 0, 1e-9], [1e9, 0, 0]]),
    "values of the order 1e200": TimeCourses.from_arrays([0, 1, 2], [[1e200, 2e200, 4e200], [3e200, 1e200, 0]]),
    "values of the order 1e-200": TimeCourses.from_arrays([0, 1, 2], [[1e-200, 2e-200, 4e-200], [3e-200, 1e-200, 0]]),
    "times of the order 1e200": TimeCourses.from_arrays([0, 1e200, 2e200], [[1, 2, 4], [3, 1, 0.5]]),
    "times of the order 1e-200": TimeCourses.from_arrays([0, 1e-200, 2e-200], [[1, 2, 4], [3, 1, 0.5]]),
}


@pytest.mark.parametrize("kernel", ["se", "matern12", "periodic", "linear"])
@pytest.mark.parametrize("case", ODD)
def test_odd_courses_give_finite_numbers_or_words(case, kernel):
    courses = ODD[case]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # any other warning is an error
        try:
            gp = tl.fit(courses, kernel)
        except InputError as problem:
            # Words about the data, not about some matrix on the way to the optimum.
            assert "positive definite" not in str(problem), str(problem)  # noqa: PT017
            assert "values" in str(problem) or "times" in str(problem)  # noqa: PT017
            return
        assert np.isfinite([gp.signal_sd, gp.noise_sd, gp.mean, gp.log_likelihood]).all()
        assert gp.signal_sd > 0
        assert np.isfinite(tl.similarity(courses, gp).values).all()
        assert np.isfinite(gp.score(courses))


@pytest.mark.parametrize("case", ["one value", "equal constant courses", "all zero"])
def test_courses_without_any_difference_cannot_be_fitted(case):
    with raises_with("all values are equal", "nothing to fit"):
        tl.fit(ODD[case])


@pytest.mark.parametrize("case", ["values of the order 1e200", "values of the order 1e-200"])
def test_courses_with_differences_are_not_called_equal(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        try:
            tl.fit(ODD[case])
        except InputError as problem:
            assert "equal" not in str(problem)  # noqa: PT017  # an answer is even better


@pytest.mark.parametrize(
    "case", ["one course", "one time", "one value each", "one course four times", "constant courses"]
)
def test_an_answer_that_the_data_do_not_determine_comes_with_a_warning(case):
    with pytest.warns(FitWarning) as caught:
        gp = tl.fit(ODD[case])
    assert tuple(str(w.message) for w in caught) == gp.warnings


@pytest.mark.parametrize("case", [name for name in ODD if "order" not in name])
def test_odd_courses_with_given_hyperparameters(case):
    courses = ODD[case]
    scale = float(np.abs(courses.values).max()) or 1.0
    span = float(np.ptp(courses.times)) or 1.0
    gp = GP.se(span / 3, signal_sd=scale, noise_sd=scale / 10)
    assert np.isfinite(tl.similarity(courses, gp).values).all()
    assert np.isfinite(gp.score(courses))
    assert np.isfinite(gp.posterior(courses, courses[0].times)).all()
