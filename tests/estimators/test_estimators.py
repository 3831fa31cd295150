"""Estimators: scikit-learn's own checks, the same answers as the functions, and scikit-learn's tools around them."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import EfficiencyWarning, NotFittedError
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import silhouette_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import oracle
import slowing
import timelike as tl
from timelike.estimators import EvidenceLinkage, GPMixture, GPNeighbors, GPSimilarity
from timelike.exceptions import DataWarning, FitWarning, InputError
from timelike.pairs.similarity import as_distance, as_probability

ALL = (GPSimilarity, GPMixture, EvidenceLinkage, GPNeighbors)
CLUSTERERS = (GPMixture, EvidenceLinkage)
TRANSFORMERS = (GPSimilarity, GPNeighbors)
OTHER_ARRAYS = "check_array_api_input"
"""Needs a further package and a setting from before SciPy was imported; it is about arrays that are not NumPy's."""


@pytest.fixture(scope="module")
def data():
    courses, truth = tl.simulate.profiles(noise=0.05, per_group=12, seed=1)
    times, X = courses.to_matrix()
    return times, X, np.asarray(truth)


@pytest.fixture(scope="module")
def gp(data):
    times, X, _ = data
    return tl.fit(tl.TimeCourses.from_arrays(times, X))


def courses_of(times, X):
    return tl.TimeCourses.from_arrays(times, X)


def as_written(gp):
    """Covariance, noise variance and mean for the dense formulas."""
    return oracle.given(oracle.se, gp.length_scale, gp.signal_sd), gp.noise_sd**2, gp.mean


# -- scikit-learn's own checks -----------------------------------------------------------------------------------


def all_checks():
    """Every check of scikit-learn for each of our estimators, at its defaults, none expected to fail."""
    pairs = parametrize_with_checks([cls() for cls in ALL]).args[1]
    return [pair for pair in pairs if name_of(pair[1]) != OTHER_ARRAYS]


def name_of(check):
    return getattr(check, "func", check).__name__


@pytest.mark.filterwarnings("ignore::timelike.exceptions.FitWarning")
@pytest.mark.filterwarnings("ignore::timelike.exceptions.DataWarning")
@pytest.mark.filterwarnings("ignore:Can't check dok sparse matrix:UserWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [pytest.param(*pair, id=f"{type(pair[0]).__name__}-{i}-{name_of(pair[1])}") for i, pair in enumerate(all_checks())],
)
def test_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_there_are_checks_for_each():
    counted = pd.Series([type(estimator).__name__ for estimator, _ in all_checks()]).value_counts()
    assert set(counted.index) == {cls.__name__ for cls in ALL}
    assert counted.min() > 30


# -- the same answers as the functions ----------------------------------------------------------------------------


def test_similarity_is_that_of_the_paper(data):
    times, X, _ = data
    X = X.copy()
    X[::3, 4] = np.nan
    model = GPSimilarity(times).fit(X[:6])
    found = model.transform(X[6:9])
    for i in range(3):
        for j in range(6):
            mine, other = ((times[~np.isnan(y)], y[~np.isnan(y)]) for y in (X[6 + i], X[j]))
            expected = oracle.similarity(*mine, *other, *as_written(model.gp_))
            assert_allclose(found[i, j], expected, rtol=1e-7, atol=1e-7)


def test_square_similarity_is_symmetric_to_the_bit(data):
    times, X, _ = data
    found = GPSimilarity(times).fit_transform(X)
    assert_array_equal(found, found.T)
    assert_allclose(found, GPSimilarity(times).fit(X).transform(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("output", "convert"), [("distance", as_distance), ("probability", as_probability)])
def test_outputs_are_the_conversions(data, gp, output, convert):
    times, X, _ = data
    s = GPSimilarity(times, gp=gp).fit(X[:9]).transform(X[9:])
    assert_array_equal(GPSimilarity(times, gp=gp, output=output).fit(X[:9]).transform(X[9:]), convert(s))


def test_a_course_has_no_distance_from_itself(data, gp):
    times, X, _ = data
    model = GPSimilarity(times, gp=gp, output="distance")
    D = model.fit_transform(X)
    assert (np.diag(D) == 0).all()
    assert (D[~np.eye(len(D), dtype=bool)] > 0).all()
    assert_array_equal(model.transform(X[[5, 3]]) == 0, np.eye(len(X), dtype=bool)[[5, 3]])


def test_distances_fall_where_similarities_rise():
    s = np.concatenate([-np.geomspace(1e3, 1e-9, 99), [0.0], np.geomspace(1e-9, 1e3, 99)])
    d = as_distance(s)
    assert (np.diff(d) < 0).all()
    assert (d > 0).all()
    assert as_distance(np.zeros(1)) == 1


def test_mixture_is_the_function(data):
    times, X, _ = data
    model = GPMixture(times=times).fit(X)
    courses = courses_of(times, X)
    found = tl.mixture(courses, tl.fit(courses))
    assert_array_equal(model.labels_, found.labels)
    assert_allclose(model.probabilities_[:, :-1], found.probabilities)
    assert model.n_clusters_ == found.k == 3
    assert model.evidence_ == found.evidence
    assert_array_equal(model.predict(X), found.predict(courses).labels)


def test_linkage_is_the_function(data):
    times, X, _ = data
    model = EvidenceLinkage(2, times).fit(X)
    courses = courses_of(times, X)
    found = tl.evidence_linkage(courses, tl.fit(courses), 2)
    assert_array_equal(model.labels_, found.labels)
    assert_array_equal(model.linkage_, found.linkage)
    assert model.n_clusters_ == 2


@pytest.mark.parametrize("cls", CLUSTERERS)
def test_probabilities_sum_to_one_and_the_last_is_none(data, cls):
    times, X, _ = data
    model = cls(3, times).fit(X)
    new = np.vstack([X[:4], np.full(len(times), 9.0)])
    p, labels = model.predict_proba(new), model.predict(new)
    assert p.shape == (5, 4)
    assert_allclose(p.sum(axis=1), 1)
    assert labels[-1] == -1
    assert p[-1, -1] > 0.99
    assert_array_equal(labels[:-1], p[:-1, :-1].argmax(axis=1))


def test_other_seeds_and_none_are_taken(data, gp):
    times, X, _ = data
    for seed in (None, 3, np.random.RandomState(1)):
        assert GPMixture(3, times, gp=gp, random_state=seed).fit(X).n_clusters_ == 3


def test_times_are_counted_unless_given(data):
    _, X, _ = data
    named = pd.DataFrame(X, columns=[f"{10 * k}h" for k in range(X.shape[1])])
    by_default = GPSimilarity().fit(named)
    assert_array_equal(by_default.courses_.grid, np.arange(X.shape[1]))
    assert_allclose(
        GPSimilarity(10 * np.arange(X.shape[1])).fit(named).gp_.length_scale, 10 * by_default.gp_.length_scale
    )


def test_repeated_times_are_replicates(data):
    times, X, _ = data
    twice = np.repeat(times, 2)
    model = GPSimilarity(twice).fit(np.repeat(X, 2, axis=1) + np.tile([0.05, -0.05], len(times)))
    assert len(np.unique(model.courses_.grid)) == len(times)


# -- held-out courses -----------------------------------------------------------------------------------------------


def test_density_of_new_courses_integrates_to_one(data):
    """With a single time a course is a number, and all numbers have probability one together."""
    times, X, _ = data
    model = GPMixture(3, times).fit(X)
    values = np.linspace(-12, 12, 24001)
    new = tl.TimeCourses.from_arrays([times[7]], values[:, None])
    density = np.exp(model.clustering_.log_densities(new))
    assert_allclose(density.sum() * (values[1] - values[0]), 1, atol=1e-6)


def test_score_of_one_cluster_is_the_dense_predictive(data, gp):
    """One cluster, no spread: the density given all training values, but for the share of "none"."""
    times, X, _ = data
    model = EvidenceLinkage(1, times, gp=gp).fit(X[:5])
    together = oracle.marginal(np.tile(times, 6), np.append(X[:5], X[20]), *as_written(model.gp_))
    given = together - oracle.marginal(np.tile(times, 5), X[:5].ravel(), *as_written(model.gp_))
    alone = oracle.marginal(times, X[20], *as_written(model.gp_))
    expected = np.logaddexp(np.log(0.99) + given, np.log(0.01) + alone)
    assert_allclose(model.score(X[20:21]), expected, rtol=1e-6)


def test_held_out_score_chooses_three_clusters(data):
    times, X, _ = data
    order = np.random.default_rng(0).permutation(len(X))
    search = GridSearchCV(GPMixture(times=times), {"n_clusters": [1, 2, 3]}, cv=3).fit(X[order])
    assert search.best_params_ == {"n_clusters": 3}
    assert (np.diff(search.cv_results_["mean_test_score"]) > 0).all()
    assert search.predict(X).shape == (len(X),)


@pytest.mark.filterwarnings("ignore::timelike.exceptions.FitWarning")  # the rough kernel leaves no noise
def test_held_out_score_chooses_a_kernel(data):
    times, X, _ = data
    order = np.random.default_rng(0).permutation(len(X))
    search = GridSearchCV(GPSimilarity(times), {"kernel": ["se", "matern12"]}, cv=3).fit(X[order])
    assert search.best_params_ == {"kernel": "se"}
    model = GPSimilarity(times).fit(X)
    assert_allclose(model.score(X), model.gp_.log_likelihood / len(X), rtol=1e-9)


# -- neighbours -----------------------------------------------------------------------------------------------------


def test_graph_has_the_nearest_courses(data, gp):
    times, X, _ = data
    s = GPSimilarity(times, gp=gp).fit(X[:30]).transform(X[30:])
    graph = GPNeighbors(4, times, gp=gp).fit(X[:30]).transform(X[30:])
    assert graph.format == "csr"
    assert graph.shape == s.shape
    for i in range(len(s)):
        best = np.argsort(-s[i])[:5]
        assert_array_equal(graph[i].indices, best)
        assert_allclose(graph[i].data, as_distance(s[i, best]), rtol=1e-9)


def test_graph_of_training_courses_has_each_itself_first(data, gp):
    times, X, _ = data
    graph = GPNeighbors(4, times, gp=gp).fit_transform(X)
    first = graph.indices.reshape(len(X), 5)[:, 0]
    assert_array_equal(first, np.arange(len(X)))
    assert (graph.data.reshape(len(X), 5)[:, 0] == 0).all()
    assert (graph.data.reshape(len(X), 5)[:, 1:] > 0).all()


def test_graph_has_itself_even_where_it_is_not_among_the_most_similar():
    """The measure rewards distinctive courses: many are more like an average course than it is like itself."""
    times, X = tl.simulate.profiles(noise=0.3, per_group=12, seed=1)[0].to_matrix()
    gp = tl.GP.se(1.0, signal_sd=0.5, noise_sd=0.3)
    s = GPSimilarity(times, gp=gp).fit_transform(X)
    assert (s > np.diag(s)[:, None]).sum(axis=1).max() > 5
    graph = GPNeighbors(1, times, gp=gp).fit_transform(X)
    assert (graph.diagonal() == 0).all()
    assert all(i in graph[i].indices for i in range(len(X)))


def test_connectivity_is_ones(data, gp):
    times, X, _ = data
    graph = GPNeighbors(4, times, gp=gp, mode="connectivity").fit_transform(X)
    assert_array_equal(graph.data, np.ones(4 * len(X)))


def test_graph_is_what_precomputed_estimators_take(data, gp):
    times, X, truth = data
    graph = GPNeighbors(6, times, gp=gp).fit_transform(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", EfficiencyWarning)  # given when rows are not sorted
        near = NearestNeighbors(n_neighbors=6, metric="precomputed").fit(graph).kneighbors(return_distance=False)
    s = GPSimilarity(times, gp=gp).fit_transform(X)
    np.fill_diagonal(s, -np.inf)
    found = [set(row) for row in near]
    assert np.mean([len(found[i] & set(np.argsort(-s[i])[:6])) / 6 for i in range(len(X))]) > 0.9
    labels = DBSCAN(eps=0.3, min_samples=3, metric="precomputed").fit_predict(graph)
    assert tl.nmi(labels, truth) > 0.5


def test_two_equal_training_courses_are_at_distance_zero(data, gp):
    times, X, _ = data
    X = np.vstack([X[:10], X[3]])
    graph = GPNeighbors(9, times, gp=gp).fit_transform(X).toarray()
    assert graph[3, 10] == graph[10, 3] == graph[3, 3] == 0


# -- within scikit-learn's tools -------------------------------------------------------------------------------------


def test_pipeline_that_votes(data):
    times, X, truth = data
    vote = make_pipeline(GPNeighbors(8, times), KNeighborsClassifier(5, metric="precomputed"))
    order = np.random.default_rng(0).permutation(len(X))
    assert cross_val_score(vote, X[order], truth[order], cv=3).mean() > 0.9


def test_pipeline_with_similarities_as_features(data):
    times, X, truth = data
    order = np.random.default_rng(0).permutation(len(X))
    model = make_pipeline(GPSimilarity(times, output="probability"), LogisticRegression())
    assert cross_val_score(model, X[order], truth[order], cv=3).mean() > 0.9


def test_distances_for_linkage_and_silhouette(data):
    times, X, truth = data
    D = GPSimilarity(times, output="distance").fit_transform(X)
    labels = AgglomerativeClustering(3, metric="precomputed", linkage="average").fit_predict(D)
    assert tl.nmi(labels, truth) > 0.5
    assert silhouette_score(D, truth, metric="precomputed") > 0


@pytest.mark.parametrize("cls", ALL)
def test_clone_and_pickle_give_the_same_again(data, cls):
    times, X, _ = data
    kernel = ConstantKernel() * RBF(length_scale_bounds=(1e-2, 1e2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)
        model = cls(times=times, kernel=kernel).fit(X)
    assert repr(clone(model)) == repr(cls(times=times, kernel=kernel))
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - our own
    answer = "predict_proba" if cls in CLUSTERERS else "transform"
    first, second = (getattr(m, answer)(X[:3]) for m in (model, again))
    assert abs(first - second).max() == 0


def test_given_model_is_used_as_it_is(data):
    times, X, _ = data
    gp = tl.GP.se(0.4, signal_sd=0.5, noise_sd=0.07)
    for cls in ALL:
        assert cls(times=times, gp=gp).fit(X).gp_ is gp
    assert clone(GPSimilarity(gp=gp)).gp.length_scale == 0.4


def test_pandas_in_pandas_out(data):
    times, X, _ = data
    frame = pd.DataFrame(X[:20], index=[f"gene{i}" for i in range(20)], columns=[f"{t:.2f}" for t in times])
    model = GPSimilarity(times).set_output(transform="pandas").fit(frame[:12])
    out = model.transform(frame[12:])
    assert list(out.columns) == [f"gpsimilarity_gene{i}" for i in range(12)]
    assert list(out.index) == [f"gene{i}" for i in range(12, 20)]
    assert list(model.feature_names_in_) == list(frame.columns)
    assert_array_equal(out.to_numpy(), GPSimilarity(times).fit(frame[:12]).transform(frame[12:]))


def test_resampled_rows_with_repeated_names_are_taken(data):
    times, X, _ = data
    frame = pd.DataFrame(X[[0, 1, 1, 2, 3, 3]], index=["a", "b", "b", "c", "d", "d"])
    names = GPSimilarity(times).fit(frame).get_feature_names_out()
    assert list(names) == [f"gpsimilarity_{i}" for i in range(6)]


def test_column_transformer_for_two_blocks(data):
    times, X, _ = data
    both = ColumnTransformer(
        [
            ("early", GPSimilarity(times[:8]), slice(0, 8)),
            ("late", GPSimilarity(times[8:]), slice(8, 15)),
        ]
    )
    out = both.fit_transform(X[:10])
    assert out.shape == (10, 20)
    assert both.get_feature_names_out()[10] == "late__gpsimilarity_0"


# -- what they refuse -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("model", "message"), [
    (GPSimilarity([0, 1, 2]), "times has 3, X has 15 columns"),
    (GPSimilarity(times=3.0), "times has 1, X has 15 columns"),
    (GPSimilarity(output="affinity"), "there is no output 'affinity': choose from similarity, distance, probability"),
    (GPSimilarity(kernel="rbf"), "there is no kernel 'rbf'"),
    (GPSimilarity(gp="se"), "gp must be GP, not str"),
    (GPMixture(0), "k is 0: expected a whole number from 1 to 36"),
    (GPMixture(max_clusters=0), "max_k is 0"),
    (EvidenceLinkage(99), "k is 99: expected a whole number from 1 to 36"),
    (GPNeighbors(mode="similarity"), "there is no mode 'similarity': choose from distance, connectivity"),
    (GPNeighbors(0), "n_neighbors is 0: expected a whole number, at least 1"),
    (GPNeighbors(2.5), "n_neighbors is 2.5: expected a whole number, at least 1"),
])  # fmt: skip
def test_settings_are_checked_in_fit(data, model, message):
    with pytest.raises(InputError, match=message):
        model.fit(data[1])


def test_too_few_training_courses_for_the_neighbors(data, gp):
    times, X, _ = data
    with pytest.raises(InputError, match=r"n_neighbors = 5 needs 6 training courses.*n_samples = 5"):
        GPNeighbors(5, times, gp=gp).fit(X[:5]).transform(X)


def test_a_row_without_values_is_named(data):
    X = data[1].copy()
    X[7] = np.nan
    with pytest.raises(InputError, match="course '7' has no value at all"):
        GPSimilarity(data[0]).fit(X)


@pytest.mark.parametrize("cls", ALL)
def test_must_be_fitted_first(data, cls):
    with pytest.raises(NotFittedError):
        cls().score(data[1])


def test_fewer_clusters_than_asked_for_is_said(data):
    times, X, _ = data
    with pytest.warns(DataWarning, match="asked for 30 clusters, the data support"):
        assert GPMixture(30, times).fit(X).n_clusters_ < 30


def test_import_of_the_library_leaves_scikit_learn_alone():
    loaded = "print('sklearn' in sys.modules)"
    code = f"import sys, timelike; {loaded}; import timelike.estimators; {loaded}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize("cls", ALL)
def test_the_clock_is_that_of_the_fit(cls):
    courses, _ = slowing.made(per_group=6)
    times, X = courses.to_matrix()
    with pytest.warns(tl.FitWarning, match="clock"):
        chosen = tl.fit(courses).clock
    with pytest.warns(tl.FitWarning, match="clock"):
        assert cls(times=times).fit(X).gp_.clock == chosen
    assert cls(times=times, clock="linear").fit(X).gp_.clock is None
    assert cls(times=times, clock=3.0).fit(X).gp_.clock == 3.0
    with pytest.raises(InputError, match="clock is 'fast'"):
        cls(times=times, clock="fast").fit(X)
