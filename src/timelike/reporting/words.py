"""The report in words: what was found, how sure it is, and what the model's numbers mean."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from timelike.base.checks import counted, listed
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves import borders
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.granularity import coarsest
from timelike.courses import TimeCourses
from timelike.gp import kernels
from timelike.reporting import freedoms
from timelike.reporting.page_basis import distinct_times
from timelike.reporting.subject import Naming, Subject

SURE = 0.9
DOUBTFUL = 0.1
"""The least sure cluster is named where more than this share of its courses are not sure."""
KERNELS = {
    "se": "squared exponential, for smooth curves",
    "matern12": "Matérn 1/2, for rough curves, like a random walk",
    "matern32": "Matérn 3/2, for curves with a slope but sudden bends",
    "matern52": "Matérn 5/2, for fairly smooth curves",
    "periodic": "periodic, for curves that repeat",
    "linear": "linear, for straight lines",
}


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


# -- numbers -------------------------------------------------------------------------------------------------------


def number(value: float) -> str:
    """A number with three digits that matter, thousands apart.

    Examples
    --------
    >>> number(0.35865), number(12345.6), number(3e-7)
    ('0.359', '12,346', '3e-07')
    """
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.3g}"


def likelier(log_ratio: float) -> str:
    """How many times likelier, from the logarithm of a likelihood ratio.

    Examples
    --------
    >>> likelier(5.3), likelier(0.2), likelier(100)
    ('200 times', '1.2 times', 'about 10⁴³ times')
    """
    if log_ratio > np.log(1e6):
        return f"about 10{f'{log_ratio / np.log(10):.0f}'.translate(_RAISED)} times"
    ratio = float(np.exp(log_ratio))
    digits = 2 if ratio < 1e4 else 1
    return f"{float(f'{ratio:.{digits}g}'):,g} times"


def share(count: int, total: int) -> str:
    """A part of a whole, in percent; what is not the whole is never 100 %.

    Examples
    --------
    >>> share(1, 800), share(2, 3), share(299, 300), share(3, 3)
    ('0.12 %', '67 %', 'more than 99 %', '100 %')
    """
    if count == total:
        return "100 %"
    return f"{100 * count / total:.2g} %" if count / total <= 0.99 else "more than 99 %"


# -- the data ------------------------------------------------------------------------------------------------------


def timing(courses: TimeCourses, naming: Naming) -> str:
    """When the courses were measured."""
    times, _ = distinct_times(courses)
    unit = f" {naming.time_unit}" if naming.time_unit else ""
    span = f"from {times[0]:g} to {times[-1]:g}{unit}" if len(times) > 1 else f"({times[0]:g}{unit})"
    sizes = courses.sizes
    if len(times) > 2 * sizes.max():
        return f"each at times of its own, {sizes.min():,} to {sizes.max():,} values a course, {span}"
    columns, matrix = courses.to_matrix()
    text = f"at {counted(len(times), 'time')} {span}"
    if len(columns) > len(times):
        each = np.unique(columns, return_counts=True)[1]
        many = f"{each[0]:,} replicates" if each.min() == each.max() else f"{each.min():,} to {each.max():,} replicates"
        text += f", with {many} at each time"
    missing = float(np.isnan(matrix).mean())
    return text + (f"; {100 * missing:.2g} % of the values are missing" if missing else "; no value is missing")


def measured(subject: Subject, noun: str) -> str:
    """How many courses there are, under the name `noun`, and when they were measured."""
    count = len(subject.courses)
    were = "was" if count == 1 else "were"
    return f"{counted(count, noun)} {were} measured {timing(subject.courses, subject.naming)}."


def selected(subject: Subject) -> list[str]:
    """Which of the courses that were read these are, and under which conditions they were measured."""
    chosen, courses = subject.run.get("selected"), subject.courses
    sentences = [f"They are {chosen}."] if chosen else []
    if courses.conditions is not None:
        each = [f"{kind} ({counted(n, 'course')})" for kind, n in Counter(courses.conditions).items()]
        names = counted(len(set(courses.plain_names)), "name")
        sentences.append(f"They are of {names}, measured under the conditions {listed(each)}.")
    return sentences


def facts(subject: Subject) -> list[tuple[str, str, str]]:
    """The numbers that a reader wants first: number, noun, remark."""
    courses, clustering = subject.courses, subject.clustering
    times, _ = distinct_times(courses)
    unit = f" {subject.naming.time_unit}" if subject.naming.time_unit else ""
    found = [
        (f"{len(courses):,}", "courses", f"{len(courses.values):,} values"),
        _times(courses, f"{times[0]:g} to {times[-1]:g}{unit}", len(times)),
        (f"{clustering.k:,}", "clusters", _how_many(subject)),
    ]
    if subject.curved is not None:
        found.append((f"{subject.none:,}", "in none", share(subject.none, len(courses)) + " of the courses"))
    if subject.outliers is not None:
        found.append((f"{len(subject.outliers):,}", "wild values", "which count for little"))
    return found


def _times(courses: TimeCourses, span: str, distinct: int) -> tuple[str, str, str]:
    sizes = courses.sizes
    if distinct > 2 * sizes.max():
        return f"{sizes.min():,}\u2013{sizes.max():,}", "values a course", f"at own times, {span}"
    return f"{distinct:,}", "times", span


def _how_many(subject: Subject) -> str:
    known = {
        "method": "found by the method",
        "continuum": "of a continuum",
        "gaps": "that stand out by wide gaps",
        "tolerance": "at the tolerance that was given",
        "given": "their number was given",
        "evidence": "chosen by the evidence",
    }
    return known.get(decided_by(subject)) or _preferred(subject)


def decided_by(subject: Subject) -> str:
    """What decided about the number of clusters; "" where that is not known.

    The method, the tolerance or the number that was given, gaps between clusters that stand out, how few describe a
    continuum, or the evidence.
    """
    clustering, found = subject.clustering, subject.curved
    if clustering.method == "leiden":
        return "method"
    if found is not None and subject.run.get("tolerance") is not None:
        return "tolerance"
    if not clustering.evidence or subject.run.get("k") == clustering.k:
        return "given"
    if found is not None and found.continuum:
        return "continuum"
    if found is not None and found.finest is not None and found.stands_out:
        return "gaps"
    best, *others = _by_evidence(clustering)
    return "evidence" if others and best == clustering.k else ""


def _by_evidence(clustering: Clustering) -> list[int]:
    """The numbers of clusters that were compared, the one with the largest evidence first."""
    evidence = clustering.evidence or {}
    return sorted(evidence, key=lambda number: -evidence[number])


def _preferred(subject: Subject) -> str:
    """Which number the evidence would choose, where that is another than the one shown."""
    best, *others = _by_evidence(subject.clustering) or [0]
    return f"the evidence is largest for {best}" if others and best != subject.clustering.k else ""


# -- the summary ---------------------------------------------------------------------------------------------------


def summary(subject: Subject) -> list[str]:
    """What was found, in sentences, one string a paragraph."""
    about = [measured(subject, "course"), *selected(subject)]
    first = [*about, clusters(subject), *freedoms.earned(subject), *_sureness(subject)]
    second = [*_borders(subject), *_outlying(subject), in_a_sentence(subject), *_search(subject)]
    return [" ".join(first), " ".join(second)]


def sentence(subject: Subject) -> str:
    """What was found, in one short sentence."""
    found = f"{counted(len(subject.courses), 'course')} in {counted(subject.clustering.k, 'cluster')}"
    of = " of a continuum" if decided_by(subject) == "continuum" else ""
    none = f"; {subject.none:,} in none of them" if subject.none else ""
    return f"{found}{of}{none}. Choose a cluster to see its courses."


def clusters(subject: Subject) -> str:
    """How many clusters there are, and how clearly."""
    k = counted(subject.clustering.k, "cluster")
    if subject.clustering.method == "leiden":
        return f"They fall into {k}: communities of the neighbour graph. Another resolution gives another number."
    if len(subject.courses) == 1:
        return "A single course is a cluster of its own."
    how = decided_by(subject)
    if subject.curved is not None and how in ("continuum", "gaps", "tolerance"):
        return _merged(subject.curved, how, subject.run.get("tolerance"))
    if how != "evidence":
        given = "; that number was given, not chosen by the data" if how == "given" else ""
        preferred = _preferred(subject).capitalize()
        remark = f" {preferred}, see the number of clusters." if preferred else ""
        return f"They were put into {k}{given}.{remark}"
    return _chosen(subject)


def _chosen(subject: Subject) -> str:
    evidence, k = subject.clustering.evidence or {}, counted(subject.clustering.k, "cluster")
    best, *others = _by_evidence(subject.clustering)
    margin = evidence[best] - evidence[others[0]]
    words = f"They fall into {k}. The number was chosen by the evidence: the data are {likelier(margin)} likelier "
    clearly = " That is not a clear difference: look at both." if margin < np.log(20) else ""
    return words + f"with {counted(best, 'cluster')} than with {others[0]}, the next best number.{clearly}"


def _merged(found: CurveClustering, how: str, tolerance: Any) -> str:
    """How clusters came about that depend on how fine one looks, and where the reader finds others."""
    said = {"continuum": _continuum, "gaps": _standing_out}
    told = said[how](found) if how in said else _at_tolerance(found, tolerance)
    others = ' "How fine to look" has coarser and finer ones, each within the other.'
    return told + (others if found.finest is not None else "")


def few_enough(found: CurveClustering) -> bool:
    """Whether clusters of a continuum are as few as keep three quarters of the gain in evidence, see `mixture`."""
    return bool(found.path) and found.k == min(coarsest(found.path), (found.finest or found).k)


def _continuum(found: CurveClustering) -> str:
    most = _by_evidence(found)[0] if found.finest is None else found.finest.k
    gaps = "" if found.finest is None else "no wide gap divides them, and "
    few = ", as few as keep three quarters of the gain in evidence over a single cluster" if few_enough(found) else ""
    return (
        f"The courses form a continuum rather than separate groups: {gaps}more clusters always describe them a little "
        f"better, up to {most}. The {counted(found.k, 'cluster')} shown here are a choice of how fine to look{few}, "
        "not a number found in the data, and courses near a border could as well be next door."
    )


def _standing_out(found: CurveClustering) -> str:
    finest = (found.finest or found).k
    return (
        f"They fall into {counted(found.k, 'cluster')} that stand out: {finest} finer ones describe them a little "
        "better, but lie in groups with wide gaps between them, and these groups keep most of the gain in evidence."
    )


def _at_tolerance(found: CurveClustering, tolerance: Any) -> str:
    return (
        f"They were put into {counted(found.k, 'cluster')}: curves that differ by less than the tolerance that was "
        f"given, {number(float(tolerance))}, are one cluster."
    )


def _borders(subject: Subject) -> list[str]:
    """Which clusters are sure, and which a matter of taste."""
    told = "" if subject.compared is None else borders.in_words(subject.compared.borders)
    return [*([told] if told else []), *_least_sure(subject)]


def _sureness(subject: Subject) -> list[str]:
    sentences = []
    if subject.none:
        who = "One course belongs" if subject.none == 1 else f"{subject.none:,} courses belong"
        its = "its" if subject.none == 1 else "their"
        of_all = share(subject.none, len(subject.courses))
        sentences.append(
            f"{who} to none of the clusters ({of_all}): a curve of {its} own explains {its} values better."
        )
    if subject.confidence is not None:
        sure = int((subject.confidence > SURE).sum())
        sentences.append(
            f"For {share(sure, len(subject.courses))} of the courses the assignment has a probability above {SURE:g}."
        )
    return sentences


def _least_sure(subject: Subject) -> list[str]:
    """Which cluster has most courses that are not sure, where these are many."""
    found = subject.curved
    if found is None or found.probabilities is None or found.k == 1:
        return []
    worst = int(found.unsure.argmax())
    if found.unsure[worst] <= DOUBTFUL:
        return []
    return [
        f"The least sure is cluster {worst}: {100 * found.unsure[worst]:.0f} % of its courses have a probability below "
        f"{borders.SURE:g} to be in it."
    ]


def _outlying(subject: Subject) -> list[str]:
    if subject.outliers is None or not len(subject.outliers):
        return []
    count = len(subject.outliers)
    who, counts = ("One value is", "it counts") if count == 1 else (f"{count:,} single values are", "they count")
    return [f"{who} so far from what course and cluster let expect that {counts} for little."]


def _search(subject: Subject) -> list[str]:
    """A warning where the search for neighbours may have missed some."""
    recall = subject.neighbors.recall
    if recall >= 1:
        return []
    return [f"Neighbours were searched among likely candidates: {100 * recall:.1f} % of the true ones are found."]


# -- the model -----------------------------------------------------------------------------------------------------


def in_a_sentence(subject: Subject) -> str:
    """What the model says about curves and noise."""
    gp, naming = subject.gp, subject.naming
    noise = f"{_beyond(subject)}repeated measurements scatter by about {number(gp.noise_sd)}"
    if isinstance(gp.length_scale, float) and kernels.name_of(gp.kernel) in _TIMED:
        if gp.clock is not None:
            return f"{_slowing(subject, gp.length_scale)}, and {noise}."
        return f"Values {naming.time(gp.length_scale)} apart on one curve begin to differ, and {noise}."
    return f"Curves rise and fall by about {number(subject.signal)}, and {noise}."


def _beyond(subject: Subject) -> str:
    """Noise is what values scatter beyond their errors, where these are known."""
    return "" if subject.courses.errors is None else "beyond their known standard errors "


def _slowing(subject: Subject, scale: float) -> str:
    """What the length scale of a model on a clock means, early and late."""
    naming, times = subject.naming, distinct_times(subject.courses)[0]
    early, last = float(times[0] if subject.gp.kernel.start is not None else 0), float(times[-1])
    first, late = (naming.time(scale * float(unit)) for unit in subject.gp.kernel.unit(np.array([early, last])))
    where = "at the start of the time course" if subject.gp.kernel.start is not None else "around time zero"
    return (
        f"Curves change fast early and slowly late: values about {first} apart on one curve begin to differ {where}, "
        f"values about {late} apart at its end"
    )


def clock(subject: Subject) -> str:
    """What the clock is, and why there is one, for somebody who never heard of it."""
    gp, naming = subject.gp, subject.naming
    tau = naming.time(float(gp.clock or 0))
    since = "time zero" if gp.kernel.start is None else naming.time(float(gp.kernel.start))
    return (
        f"{tau}. Time is counted on a clock that runs slower and slower the longer it is since {since}, from about "
        f"{tau} on noticeably, as changes do after an event: on it, curves change about as fast early as late. "
        f"{chosen_clock(subject)}"
    )


def clock_given(subject: Subject) -> bool:
    """Whether somebody gave the clock of the model."""
    gp = subject.gp
    return gp.log_likelihood is None or gp.kernel.tau_bounds == "fixed" or subject.run.get("clock", "auto") != "auto"


def chosen_clock(subject: Subject) -> str:
    """Why the model has a clock."""
    if clock_given(subject):
        return "It was given, not chosen by the data."
    return "It was chosen because the courses are clearly likelier on it than in plain time."


_TIMED = ("se", "matern12", "matern32", "matern52")


def model(subject: Subject) -> list[tuple[str, str]]:
    """Each number of the model, and what it means."""
    gp = subject.gp
    name = kernels.name_of(gp.kernel)
    entries = [("Kernel", KERNELS.get(name, name)), *_scales(subject)]
    scatter = float(np.sqrt(np.median(gp.at(subject.courses).noise_variances)))  # with errors, where these are known
    ratio = subject.signal / scatter if scatter > 0 else np.inf
    scattering = f"{_beyond(subject)}repeated measurements of the same thing scatter by about so much"
    than = "" if subject.courses.errors is None else " as the scatter of a value with both"
    far = "Far from any measurement a curve returns to this level." if name in _TIMED else "Curves vary around it."
    entries += [
        ("Signal", f"{number(subject.signal)}. Curves rise and fall by about so much around the mean level."),
        (
            "Noise",
            f"{number(gp.noise_sd)}. {scattering[0].upper()}{scattering[1:]}; the signal is {number(ratio)} times as "
            f"large{than}.",
        ),
        ("Mean level", f"{number(gp.mean)}. {far}"),
    ]
    if subject.curved is not None:
        entries += _within(subject.curved, subject)
    if subject.courses.errors is not None:
        entries.append(("Known errors", "Each value has a standard error of its own, which adds to the noise."))
    if gp.log_likelihood is not None:
        entries.append(("Log likelihood", f"{gp.log_likelihood:,.1f}, of all courses, each with a curve of its own."))
    else:
        entries.append(("Origin", "These numbers were given, not fitted to the courses."))
    return entries


def _scales(subject: Subject) -> list[tuple[str, str]]:
    gp, naming = subject.gp, subject.naming
    name, scale = kernels.name_of(gp.kernel), gp.length_scale
    timed = [("Clock", clock(subject))] if gp.clock is not None else []
    if isinstance(scale, float) and name in _TIMED:
        length = naming.time(scale)
        apart = _slowing(subject, scale) if timed else f"Values {length} apart on one curve begin to differ"
        return [("Length scale", f"{length}. {apart}."), *timed]
    if name == "periodic":
        period = naming.time(float(kernels.unclocked(gp.kernel).get_params()["periodicity"]))
        return [("Period", f"{period}. Curves repeat after this time."), *timed]
    return timed


def _within(curved: CurveClustering, subject: Subject) -> list[tuple[str, str]]:
    """What is so within the clusters: how much courses differ, their noise, and the model if it is another one."""
    own = curved.gp
    entries = [("Spread", _spread(curved, subject.signal * own.signal_sd / subject.gp.signal_sd, subject))]
    if len(curved.noise) > 1:
        low, high = np.quantile(curved.course_noise, [0.05, 0.95])
        entries.append(
            ("Noise of courses", f"{number(low)} to {number(high)} in nine of ten. Courses count by their own.")
        )
    if own.noise_sd != subject.gp.noise_sd and isinstance(own.length_scale, float):
        entries.append(
            (
                "Within clusters",
                f"length scale {subject.naming.time(own.length_scale)}, signal {number(own.signal_sd)}, noise "
                f"{number(own.noise_sd)}. The clusters' curves ask for another model than single courses do.",
            )
        )
    return entries


def _spread(curved: CurveClustering, signal: float, subject: Subject) -> str:
    if curved.spread == 0 and not curved.learned:
        return "0 (given). Courses of one cluster are taken to be identical but for the noise."
    if curved.spread == 0:
        return "0 (learned). Courses of one cluster do not differ beyond the noise."
    origin = "learned" if curved.learned else "given"
    scale = curved.deviation.length_scale
    other = scale if curved.deviation_scale != 1 and isinstance(scale, float) else None
    slow = "" if other is None else f", on a length scale of {subject.naming.time(other)}"
    return (
        f"{number(curved.spread)} of the signal ({origin}). Curves of one cluster differ from the cluster's curve by "
        f"about {number(curved.spread * signal)}{slow}, beyond the noise."
    )
