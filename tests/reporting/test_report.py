"""The report's words and data, without a browser."""

import base64
import hashlib
import json
import re

import numpy as np
import pytest

import timelike as tl
from timelike.base.palette import ON_DARK, cluster_color
from timelike.exceptions import InputError
from timelike.reporting.methods_paragraph import methods
from timelike.reporting.page_basis import chebyshev, features, interpolation
from timelike.reporting.page_data import content, runner_up
from timelike.reporting.page_json import real, script_json, whole
from timelike.reporting.report import page, report
from timelike.reporting.subject import Naming, Subject
from timelike.reporting.words import clusters, facts, likelier, model, summary, timing


def unpacked(entry):
    return np.frombuffer(base64.b64decode(entry["data"]), dtype=entry["type"])


@pytest.fixture(scope="module")
def study():
    courses, _ = tl.simulate.profiles(seed=1)
    gp = tl.fit(courses)
    return courses, gp, tl.mixture(courses, gp)


def subject(courses, gp, clustering, **settings):
    neighbors = tl.neighbors(courses, gp, k=min(4, len(courses) - 1))
    return Subject(courses=courses, gp=gp, clustering=clustering, neighbors=neighbors, **settings)


@pytest.fixture(scope="module")
def profiles(study):
    return subject(*study, naming=Naming("Profiles", "h", "level"))


# -- the page --------------------------------------------------------------------------------------------------


def test_page_is_whole_and_refers_to_nothing(profiles):
    text = page(profiles)
    assert not re.search(r"\{\{\w+\}\}", text)
    assert not re.search(r"""(src|href)=["'](?!#|data:)""", text)
    assert "@import" not in text
    assert "url(" not in re.search(r"<style>(.*?)</style>", text, re.DOTALL)[1]


def test_policy_allows_exactly_this_program_and_style(profiles):
    text = page(profiles)
    for tag in ("script", "style"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text
    assert "unsafe" not in re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]


def test_page_is_the_same_again(profiles, study):
    assert page(profiles) == page(subject(*study, naming=profiles.naming))


def test_report_replaces_a_file_whole(study, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("old")
    assert report(target, *study) == target
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_half_a_character_in_the_title_does_no_harm(study, tmp_path):
    path = report(tmp_path / "r.html", *study, title="half \udfff")
    assert "<title>half " in path.read_text(encoding="utf-8")


def test_every_text_is_escaped(study):
    attack = "<script>alert(1)</script>"
    made = subject(*study, naming=Naming(attack, attack, attack), notes=[attack], run={attack: attack})
    made = page(made)
    assert attack not in made
    assert made.count("<script") == 2


# -- refused ---------------------------------------------------------------------------------------------------


def test_points_with_two_coordinates_are_refused(tmp_path):
    courses = tl.TimeCourses.from_arrays(np.array([[0.0, 1], [1, 0], [1, 1]]), [[1.0, 2, 3], [2, 3, 4]])
    gp = tl.GP.se(1, signal_sd=1, noise_sd=0.1)
    with pytest.raises(InputError, match="2 coordinates"):
        report(tmp_path / "r.html", courses, gp, tl.evidence_linkage(courses, gp, 1))


def test_clusters_of_other_courses_are_refused(study, tmp_path):
    courses, gp, clustering = study
    with pytest.raises(InputError, match="150 courses, the report of 20"):
        report(tmp_path / "r.html", courses[:20], gp, clustering)


def test_neighbors_of_other_courses_are_refused(study, tmp_path):
    courses, gp, clustering = study
    for wrong in (tl.neighbors(courses[:20], gp, k=3), tl.neighbors(courses, gp, k=3, others=courses)):
        with pytest.raises(InputError, match="neighbors are not those"):
            report(tmp_path / "r.html", courses, gp, clustering, neighbors=wrong)


def test_what_is_no_clustering_is_refused(study, tmp_path):
    courses, gp, _ = study
    with pytest.raises(InputError, match="clustering"):
        report(tmp_path / "r.html", courses, gp, np.zeros(150))


# -- the data --------------------------------------------------------------------------------------------------


def test_data_are_those_of_the_analysis(profiles):
    data = json.loads(script_json(content(profiles)))
    courses, gp, clustering = profiles.courses, profiles.gp, profiles.clustering
    assert data["names"] == list(courses.names)
    np.testing.assert_array_equal(unpacked(data["labels"]), clustering.labels)
    np.testing.assert_allclose(unpacked(data["values"]) + data["mean"], courses.values, atol=1e-5 * gp.noise_sd)
    times = unpacked(data["times"])[unpacked(data["timeOf"])]
    np.testing.assert_allclose(times, courses.designs.points[:, 0], atol=1e-6)
    np.testing.assert_array_equal(unpacked(data["neighbors"]["indices"]), profiles.neighbors.indices.ravel())
    np.testing.assert_allclose(unpacked(data["neighbors"]["scores"]), profiles.neighbors.scores.ravel(), atol=1e-3)
    grid = unpacked(data["grid"])
    expected = [clustering.curve(c, grid).mean for c in range(3)]
    found = unpacked(data["curves"]).reshape(3, -1) + data["mean"]
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert data["evidence"]["best"] == 3
    assert max(data["evidence"]["perCourse"]) == 0


def test_band_is_that_of_a_courses_curve():
    courses, _ = tl.simulate.profiles(seed=2, per_group=10)
    gp = tl.fit(courses)
    made = subject(courses, gp, tl.mixture(courses, gp, k=2, spread=0.5))
    at = made.grid
    alone = made.clustering.curve(1, at).sd
    np.testing.assert_allclose(made.drawn.sd[1] ** 2, alone**2 + 0.25 * gp.signal_sd**2, rtol=1e-9)


def test_a_clustering_without_curves_gets_those_of_its_courses(study):
    courses, gp, _ = study
    clustering = tl.spectral(tl.similarity(courses, gp), k=3)
    made = subject(courses, gp, clustering)
    members = courses.select(clustering.labels == 1)
    np.testing.assert_allclose(made.drawn.mean[1], gp.posterior(members, made.grid).mean)
    data = content(made)
    assert data["probability"] is None
    assert data["evidence"] is None
    assert "given, not chosen" in clusters(made)


def test_scatter_is_about_the_noise_where_curves_are_shared(profiles):
    np.testing.assert_allclose(profiles.scatter, 0.08, rtol=0.1)


def test_runner_up_is_the_next_likeliest():
    labels = np.array([1, -1, 0])
    probabilities = np.array([[0.3, 0.6, 0.0], [0.1, 0.0, 0.2], [1.0, 0.0, 0.0]])
    second, chance = runner_up(labels, probabilities)
    np.testing.assert_array_equal(second, [0, 2, 1])
    np.testing.assert_allclose(chance, [0.3, 0.2, 0.0])


def test_a_single_course_has_a_report(tmp_path):
    courses = tl.TimeCourses.from_arrays([0, 1, 2], [[1.0, 2, 1]])
    gp = tl.GP.se(1, signal_sd=1, noise_sd=0.1)
    path = report(tmp_path / "one.html", courses, gp, tl.evidence_linkage(courses, gp, 1))
    assert path.stat().st_size > 10_000


# -- packing ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("numbers", "kind"), [([0, 255], "uint8"), ([-1, 128], "int16"), ([0, 70_000], "int32")])
def test_whole_numbers_take_the_smallest_type(numbers, kind):
    packed = whole(np.array(numbers))
    assert packed["type"] == kind
    np.testing.assert_array_equal(unpacked(packed), numbers)


def test_real_numbers_are_as_exact_as_asked():
    numbers = np.random.default_rng(0).normal(size=100) * 1e4
    for error in (1.0, 1e-3, 1e-9):
        assert np.abs(unpacked(real(numbers, error)) - numbers).max() <= error
    assert real(np.array([1e300]), 1.0)["type"] == "float64"


def test_json_cannot_end_its_script():
    text = script_json({"a": "</script><!-- & \u2029"})
    assert not set("<>&") & set(text)
    assert text.isascii()
    assert json.loads(text) == {"a": "</script><!-- & \u2029"}


# -- features --------------------------------------------------------------------------------------------------


def test_table_of_features_gives_the_covariance(study):
    courses, gp, _ = study
    grid = np.linspace(0, 1, 21)
    found = features(courses, gp, grid)
    assert found.nodes is None
    np.testing.assert_allclose(
        found.phi @ found.grid.T, gp.covariance(courses.designs.points, grid[:, None]), atol=1e-9
    )


def test_many_own_times_travel_as_nodes():
    courses, _ = tl.simulate.own_times(per_group=30, seed=1)
    gp = tl.GP.se(0.3, signal_sd=1, noise_sd=0.1)
    times = np.unique(courses.times)
    grid = np.linspace(times[0], times[-1], 11)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("timelike.reporting.page_basis.SMALL", 400)
        found = features(courses, gp, grid)
    phi = interpolation(found.nodes, times) @ found.phi
    np.testing.assert_allclose(phi @ phi.T, gp.covariance(times[:, None]), atol=1e-6)
    np.testing.assert_allclose(phi @ found.grid.T, gp.covariance(times[:, None], grid[:, None]), atol=1e-6)


def test_a_kernel_too_rough_has_no_features(monkeypatch):
    courses, _ = tl.simulate.own_times(per_group=30, seed=1)
    monkeypatch.setattr("timelike.reporting.page_basis.MOST_NUMBERS", 400)
    assert features(courses, tl.GP("matern12", 1.0, 0.1), np.linspace(0, 1, 5)) is None


def test_interpolation_hits_its_nodes():
    nodes = chebyshev(-1, 3, 9)
    np.testing.assert_array_equal(interpolation(nodes, nodes), np.eye(9))
    with pytest.raises(AssertionError):
        np.testing.assert_allclose(interpolation(nodes, np.array([0.3])) @ np.abs(nodes), 0.3, atol=1e-6)


# -- words -----------------------------------------------------------------------------------------------------


def test_summary_says_what_was_found(profiles):
    first, rest = summary(profiles)
    margin = np.diff(np.sort(list(profiles.clustering.evidence.values())))[-1]
    assert "150 courses were measured at 15 times from 0 to 1 h; no value is missing." in first
    assert f"fall into 3 clusters. The number was chosen by the evidence: the data are {likelier(margin)}" in first
    assert f"{100 * (profiles.confidence > 0.9).mean():.2g} % of the courses" in first
    assert "Values 0.906 h apart on one curve begin to differ" in rest
    assert "scatter by about 0.0817" in rest


def test_summary_calls_a_continuum_one(study):
    from dataclasses import replace

    courses, gp, clustering = study
    words = clusters(subject(courses, gp, replace(clustering, continuum=True)))
    assert "continuum rather than separate groups" in words
    assert "a choice of how fine to look" in words


def test_a_narrow_choice_is_said(study):
    from dataclasses import replace

    courses, gp, clustering = study
    close = replace(clustering, evidence={2: 10.0, 3: 11.0})
    assert "2.7 times likelier with 3 clusters than with 2" in clusters(subject(courses, gp, close))
    assert "not a clear difference" in clusters(subject(courses, gp, close))


def test_replicates_gaps_and_own_times_are_said():
    naming = Naming(time_unit="min")
    repeated, _ = tl.simulate.replicated(replicates=3, per_group=4)
    assert timing(repeated, naming).endswith("3 replicates at each time; no value is missing")
    gaps, _ = tl.simulate.profiles(sampling="asynchronous", per_group=20)
    assert "% of the values are missing" in timing(gaps, naming)
    own, _ = tl.simulate.own_times(per_group=20, seed=1)
    assert "each at times of its own, 4 to 9 values a course" in timing(own, naming)


def test_outliers_and_none_are_counted():
    courses = tl.simulate.outlying(share=0.01, size=2.0, seed=4)[0]
    gp = tl.fit(tl.simulate.profiles(seed=4)[0])
    with pytest.warns(tl.DataWarning, match="of 2,250 values count for little"):
        made = subject(courses, gp, tl.mixture(courses, gp, k=3))
    assert {noun: number for number, noun, _ in facts(made)}["wild values"] == f"{len(made.outliers)}"
    assert len(made.outliers) > 10
    assert made.outliers["z"].abs().is_monotonic_decreasing
    assert f"{len(made.outliers)} single values are so far from what course and cluster let expect" in summary(made)[1]
    assert made.outliers["course"].iloc[0] in page(made)


def test_model_speaks_in_the_units_of_the_data(profiles, study):
    entries = dict(model(profiles))
    assert entries["Length scale"].startswith("0.906 h.")
    assert entries["Noise"].startswith("0.0817.")
    given = tl.GP.se(2.0, signal_sd=1.0, noise_sd=0.1)
    entries = dict(model(subject(study[0], given, tl.evidence_linkage(study[0], given, 2, spread=0.0))))
    assert entries["Origin"] == "These numbers were given, not fitted to the courses."
    assert entries["Spread"].startswith("0 (given)")
    periodic = tl.GP("periodic", 1.0, 0.1)
    entries = dict(model(subject(study[0], periodic, tl.evidence_linkage(study[0], periodic, 2))))
    assert entries["Period"].startswith("1 (in the unit of the times)")


def test_methods_are_complete(study):
    made = subject(*study, run={"scaling": "standardised", "versions": {"timelike": "9.9", "numpy": "2.0"}})
    paragraph, citation = methods(made)
    for needed in (
        "squared exponential",
        "0.906",
        "maximum marginal likelihood",
        "3 clusters",
        "timelike 9.9 (numpy 2.0)",
    ):
        assert needed in paragraph
    assert "Values were standardised" in paragraph
    assert citation.startswith("Liu, Z. & Barahona, M. (2021)")


@pytest.mark.parametrize(("log", "words"), [(0, "1 times"), (np.log(123), "120 times"), (50, "about 10²² times")])
def test_likelier(log, words):
    assert likelier(log) == words


# -- how many clusters, and who said so ------------------------------------------------------------------------------


def how_many(made):
    return {noun: remark for _, noun, remark in facts(made)}["clusters"]


def test_a_number_that_the_evidence_prefers_was_chosen(profiles):
    assert how_many(profiles) == "chosen by the evidence"
    assert "the number of clusters is the one with the largest evidence" in methods(profiles)[0]


def test_fewer_clusters_than_the_evidence_prefers_were_not_chosen(study):
    courses, gp, clustering = study
    for made in (
        subject(courses, gp, clustering.coarser(2)),
        subject(courses, gp, tl.evidence_linkage(courses, gp, 2)),
    ):
        best = max(made.clustering.evidence, key=made.clustering.evidence.get)
        assert how_many(made) == f"the evidence is largest for {best}"
        assert clusters(made).startswith(f"They were put into 2 clusters. The evidence is largest for {best}, see")
        assert "the number of clusters is the one" not in methods(made)[0]


def test_a_number_that_may_have_been_asked_for_is_not_explained(study):
    courses, gp, _ = study
    made = subject(courses, gp, tl.mixture(courses, gp, k=2))
    assert how_many(made) == ""
    assert clusters(made) == "They were put into 2 clusters."
    assert "the number of clusters" not in methods(made)[0]


def test_a_number_that_the_run_asked_for_was_given(study, tmp_path):
    courses, gp, _ = study
    for clustering in (tl.mixture(courses, gp, k=2), tl.evidence_linkage(courses, gp, 2)):
        made = subject(courses, gp, clustering, run={"k": 2})
        assert how_many(made) == "their number was given"
        assert clusters(made).startswith(
            "They were put into 2 clusters; that number was given, not chosen by the data."
        )
    made = subject(courses, gp, tl.mixture(courses, gp, k=2), run={"k": 2})
    assert "the number of clusters is the one given in advance" in methods(made)[0]
    tl.analyse(courses[25:75], tmp_path / "run", k=2, neighbors=3)
    assert "that number was given" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    with pytest.warns(tl.DataWarning, match="asked for 12 clusters"):
        fewer = tl.mixture(courses[:20], gp, k=12)
    assert "given" not in clusters(subject(courses[:20], gp, fewer, run={"k": 12}))


# -- other kernels, other clusterings --------------------------------------------------------------------------------


def test_the_signal_is_the_size_of_the_curves_for_every_kernel():
    times = np.arange(11.0)
    courses = tl.TimeCourses.from_arrays(times, np.outer([1.0, 1.1, -1], times))
    gp = tl.GP("linear", signal_sd=0.5, noise_sd=0.1)
    made = subject(courses, gp, tl.evidence_linkage(courses, gp, 2, spread=0.2))
    size = 0.5 * np.sqrt(np.mean(1 + times**2))
    entries = dict(model(made))
    assert entries["Signal"].startswith(f"{size:.3g}. ")
    assert f"the signal is {size / 0.1:.3g} times as large" in entries["Noise"]
    assert f"by about {0.2 * size:.3g}, beyond the noise" in entries["Spread"]
    assert "returns" not in entries["Mean level"]
    assert f"rise and fall by about {size:.3g}," in summary(made)[1]


def test_smooth_curves_return_to_their_mean(profiles):
    assert "returns to this level" in dict(model(profiles))["Mean level"]


def test_methods_have_the_period(study):
    from sklearn.gaussian_process.kernels import ExpSineSquared

    gp = tl.GP(ExpSineSquared(length_scale=1.5, periodicity=0.7), 1.0, 0.1)
    made = subject(study[0], gp, tl.evidence_linkage(study[0], gp, 2), naming=Naming(time_unit="h"))
    assert "(period 0.7 h, length scale 1.5, signal s.d. 1," in methods(made)[0]


def test_the_page_says_whose_band_it_is(profiles, study):
    courses, gp, _ = study
    own, shared = "the band holds the curves of nearly all its courses", "the band shows how uncertain that curve is"
    assert own in " ".join(page(profiles).split())
    text = " ".join(page(subject(courses, gp, tl.spectral(tl.similarity(courses, gp), k=3))).split())
    assert shared in text
    assert own not in text


def test_a_cluster_that_got_no_course_has_the_curve_of_the_model(study, tmp_path):
    courses, gp, clustering = study
    few = courses.select(clustering.labels == 1)
    made = subject(few, gp, clustering.predict(few))
    np.testing.assert_array_equal(made.clustering.sizes[[0, 2]], 0)
    np.testing.assert_allclose(made.drawn.mean[[0, 2]], gp.mean)
    np.testing.assert_allclose(made.drawn.sd[[0, 2]], gp.signal_sd)
    np.testing.assert_allclose(made.drawn.mean[1], gp.posterior(few, made.grid).mean)
    assert report(tmp_path / "r.html", few, gp, made.clustering).stat().st_size > 10_000


# -- arguments -------------------------------------------------------------------------------------------------------


def test_a_text_is_one_note(study, tmp_path):
    text = report(tmp_path / "r.html", *study, notes="Two genes were left out.").read_text(encoding="utf-8")
    assert "<li>Two genes were left out.</li>" in text


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"title": 5}, "title must be str, not int"),
        ({"time_unit": 5}, "time_unit must be str, not int"),
        ({"value_name": ["a"]}, "value_name must be str, not list"),
        ({"notes": 5}, "notes are .5.: expected a sentence"),
        ({"notes": ["a", 5]}, "notes are .*, 5.*: expected a sentence"),
        ({"neighbors": 3}, "neighbors must be Neighbors, not int"),
        ({"enrichment": "x"}, "expected a table .*found str"),
        ({"run": "x"}, "run must be Mapping, not str"),
    ],
)
def test_arguments_of_another_kind_are_refused(study, tmp_path, wrong, message):
    with pytest.raises(InputError, match=message):
        report(tmp_path / "r.html", *study, **wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_table_that_is_no_enrichment_is_refused(study, tmp_path):
    with pytest.raises(InputError, match="the table has no column 'term'"):
        report(tmp_path / "r.html", *study, enrichment=study[2].to_frame())


def test_what_nobody_named_has_the_name_of_any_courses():
    assert Naming.of("", None, "") == Naming.of(None, "", None) == Naming()
    assert Naming.of("Genes", "h", "level") == Naming("Genes", "h", "level")


def test_page_and_figures_give_a_cluster_the_same_colour(profiles):
    light, dark = page(profiles).split("--c0:")[1:3]
    for label in range(24):
        assert f"--c{label}: {cluster_color(label)};" in "--c0:" + light
        assert f"--c{label}: {ON_DARK[label]};" in "--c0:" + dark
