"""The paragraph about methods that a paper needs, with the citation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from timelike.base.checks import counted, listed
from timelike.base.versions import version
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.granularity import ENOUGH, GAP
from timelike.gp import GP, kernels
from timelike.reporting import freedoms
from timelike.reporting.subject import Naming, Subject
from timelike.reporting.words import clock_given, decided_by, few_enough, measured, number, selected

CITATION = (
    "Liu, Z. & Barahona, M. (2021). Similarity measure for sparse time course data based on Gaussian processes. "
    "Proceedings of the Thirty-Seventh Conference on Uncertainty in Artificial Intelligence (UAI), PMLR 161."
)
_KERNEL = {
    "se": "a squared exponential kernel",
    "matern12": "a Matérn 1/2 kernel",
    "matern32": "a Matérn 3/2 kernel",
    "matern52": "a Matérn 5/2 kernel",
    "periodic": "a periodic kernel",
    "linear": "a linear kernel",
}


def methods(subject: Subject) -> list[str]:
    """Paragraphs ready to paste into a paper."""
    told = [measured(subject, "time course"), *selected(subject), *_read(subject.run)]
    data = f"{' '.join(told)}{_counts(subject.run)}{_errors(subject)}{_scaled(subject.run)}"
    compared = (
        "The similarity of two courses is the natural logarithm of the likelihood ratio between one curve shared by "
        "both and a separate curve for each (Liu & Barahona, 2021)."
        f"{_moved(subject)}"
    )
    software = f"The analysis was made with {_software(subject.run)}."
    parts = [data, _fit(subject), compared, _grouping(subject), _terms(subject), software]
    return [" ".join(filter(None, parts)), CITATION]


_SCALED = {
    "centred": ": from each course its own mean was subtracted",
    "standardised": ": from each course its own mean was subtracted, and the rest divided by its standard deviation",
}


def _scaled(run: Mapping[str, Any]) -> str:
    """What was done to values, where something was."""
    scaling = run.get("scaling")
    return (
        f" Values were {scaling} before the analysis{_SCALED.get(scaling, '')}."
        if scaling not in (None, "none")
        else ""
    )


def _read(run: Mapping[str, Any]) -> list[str]:
    """From how many files the courses are, and what of these was left out."""
    joined, left_out = run.get("joined"), run.get("left out")
    told = [f"They were read from {joined}."] if joined else []
    return [*told, f"Left out before the analysis: {left_out}."] if left_out else told


def _errors(subject: Subject) -> str:
    """That values have errors of their own, where they came with them."""
    if subject.courses.errors is None or isinstance(subject.run.get("counts"), Mapping):
        return ""
    usual = number(float(np.median(subject.courses.errors)))
    return f" Each value has a known standard error (median {usual}), which adds to the noise."


def _counts(run: Mapping[str, Any]) -> str:
    """How counts became values, where they did."""
    found = run.get("counts")
    if not isinstance(found, Mapping):
        return ""
    factors = f"{found['smallest size factor']:.2f} to {found['largest size factor']:.2f}"
    return (
        f" Counts of {found['genes']:,} genes in {found['samples']:,} samples were normalised by the median of ratios "
        f"(size factors {factors}) and turned into log2 values, each with its standard error under a negative binomial "
        "distribution around the smooth mean of its gene, with the dispersion that genes of the same mean have (median "
        f"{number(found['median dispersion'])})."
    )


def _moved(subject: Subject) -> str:
    """In what two courses could differ, where they could."""
    names = str(subject.run.get("up to", ""))
    if names == "auto":
        names = ", ".join(subject.curved.free.names) if subject.curved is not None else ""
    if not names:
        return ""
    longest = subject.run.get("max delay")
    known = longest is not None and names.endswith("delay")
    at_most = f" (of at most {number(float(longest or 0))}{_unit(subject.naming)})" if known else ""
    return f" Courses were compared up to {listed(names.split(', '))}{at_most}, summed out under both."


def _unit(naming: Naming) -> str:
    return f" {naming.time_unit}" if naming.time_unit else ""


def _fit(subject: Subject) -> str:
    gp, naming = subject.gp, subject.naming
    name = kernels.name_of(gp.kernel)
    kernel = _KERNEL.get(name, f"the kernel {kernels.unclocked(gp.kernel)}")
    moved = ", moved to one level," if "level" in str(subject.run.get("up to", "")) else ""
    fitted = f"was fitted to all courses{moved} by maximum marginal likelihood"
    how = fitted if gp.log_likelihood is not None else "was used"
    unit = _unit(naming)
    scale = gp.length_scale
    bare = kernels.unclocked(gp.kernel)
    period = f"period {number(bare.get_params()['periodicity'])}{unit}, " if name == "periodic" else ""
    of_length = "" if period else unit  # that of a periodic kernel is in no unit
    length = f"length scale {number(scale)}{of_length}, " if isinstance(scale, float) else ""
    beyond = " beyond the known standard errors" if subject.courses.errors is not None else ""
    return (
        f"One Gaussian process with {kernel} {how} ({period}{length}signal s.d. {number(gp.signal_sd)}, noise s.d. "
        f"{number(gp.noise_sd)}{beyond}, mean {number(gp.mean)}).{_clock(gp, unit, _whence(subject))}"
    )


def _whence(subject: Subject) -> str:
    """Where the constant of a clock is from."""
    if subject.gp.clock is None:
        return ""
    return " (the constant was given in advance)" if clock_given(subject) else " (the constant was fitted too)"


def _clock(gp: GP, unit: str, whence: str = "") -> str:
    """The transformation of time as a formula, where there is one."""
    if gp.clock is None:
        return ""
    tau, start = number(gp.clock), gp.kernel.start
    since = "t" if not start else f"(t - {number(start)})"
    shape = f"{tau} asinh(t / {tau})" if start is None else f"{tau} log(1 + {since} / {tau})"
    return f" To allow for changes that slow down, times t were transformed to {shape}{unit} in the kernel{whence}."


def _grouping(subject: Subject) -> str:
    clustering = subject.clustering
    k = counted(clustering.k, "cluster")
    if clustering.method == "mixture" and isinstance(clustering, CurveClustering):
        free = freedoms.methods(clustering, _unit(subject.naming))
        return _mixture(clustering, k, subject) + free + _adapted(clustering, subject)
    if clustering.method == "evidence linkage" and isinstance(clustering, CurveClustering):
        return (
            f"Courses were merged into {k} by agglomeration: at each step the two sets with the largest log likelihood "
            f"ratio of one shared curve to two were joined, with {_spread(clustering)}."
            f"{freedoms.methods(clustering, _unit(subject.naming))}"
        )
    if clustering.method == "leiden":
        return (
            f"Courses were put into {k} by the Leiden algorithm on the graph that joins each course to its nearest "
            "neighbours by this similarity."
        )
    if clustering.method == "spectral":
        return f"Courses were put into {k} by normalised cuts of the neighbour graph of this similarity."
    return f"Courses were put into {k} by {clustering.method}."


_BEST = "with the largest evidence (a lower bound, and what it leaves out because members are not known)"
_NUMBER = {
    "evidence": f"the number of clusters is the one {_BEST}",
    "given": "the number of clusters is the one given in advance",
}
_MERGED = {
    "gaps": " into the groups that gaps at least {gap:g} times as wide as any within them keep apart (a gap is the "
    "root mean square difference of the nearest two curves of two groups) and that keep at least {enough:.0%} of the "
    "gain in evidence over a single cluster",
    "continuum": ", the nearest first, to as few as keep three quarters of the gain in evidence over a single cluster, "
    "because the courses form a continuum: no wide gap divides them",
    "tolerance": " where their curves differ by less than a tolerance of {tolerance} (root mean square)",
    "": ", the nearest first",
}
"""How the finest clusters were merged, by what decided about it."""


def _number(clustering: CurveClustering, subject: Subject) -> str:
    """What decided about the number of clusters; "" where that is not known."""
    how = decided_by(subject)
    how = "" if how == "continuum" and not few_enough(clustering) else how
    if clustering.finest is None or how not in _MERGED:
        return f"; {_NUMBER[how]}" if how in _NUMBER else ""
    tolerance = number(float(subject.run.get("tolerance") or 0))
    merged = _MERGED[how].format(gap=GAP, enough=ENOUGH, tolerance=tolerance).replace("%", " %")
    best = f" {_BEST}" if len(clustering.path) > 1 else ""
    return f"; {clustering.finest.k} clusters{best} were merged{merged}"


def _terms(subject: Subject) -> str:
    """How clusters were asked about terms, where they were."""
    found = subject.enrichment
    if found is None or not len(found):
        return ""
    source = subject.run.get("terms")
    of = f" of {source}" if source else ""
    tested, genes = counted(found["term"].nunique(), "term"), int(found["all_genes"].iloc[0])
    return (
        f"Enrichment of clusters was tested for {tested}{of} by hypergeometric tests against the {genes:,} names that "
        "count as background, with P values adjusted after Benjamini and Hochberg over all clusters and terms."
    )


def _spread(clustering: CurveClustering) -> str:
    whence = "learned" if clustering.learned else "given"
    sizes = f"{number(clustering.spread)} signal s.d. ({number(clustering.deviation.sd)})"
    return f"a {whence} spread within clusters of {sizes}"


def _mixture(clustering: CurveClustering, k: str, subject: Subject) -> str:
    number_of = _number(clustering, subject)
    spread = _spread(clustering)
    if len(clustering.noise) > 1:
        spread += ", and with the noise of each course summed out"
    wild = len(clustering.outliers())
    down = f" Single wild values were given less weight (n = {wild:,})." if wild else ""
    if subject.run.get("robust") is False:
        down = " Every value was given its full weight."
    if subject.run.get("noise") == "common":
        spread += " and one noise for all courses"
    none = int(clustering.none.sum())
    rest = f" Courses that a curve of their own explains better were assigned to none (n = {none:,})." if none else ""
    return (
        f"Courses were grouped into {k} by a variational mixture of Gaussian process curves with {spread}{number_of}."
        f"{rest}{down}"
    )


def _adapted(clustering: CurveClustering, subject: Subject) -> str:
    """The model of the clusters' curves, where it is not the one that was fitted to all courses."""
    own, unit = clustering.gp, f" {subject.naming.time_unit}" if subject.naming.time_unit else ""
    if (own.signal_sd, own.noise_sd) == (subject.gp.signal_sd, subject.gp.noise_sd):
        return ""
    scales = [(own.length_scale, "length scale"), (clustering.deviation.length_scale, "that of deviations")]
    shown = [f"{word} {number(scale)}{unit}" for scale, word in scales if isinstance(scale, float)]
    sds = [f"signal s.d. {number(own.signal_sd)}", f"noise s.d. {number(own.noise_sd)}"]
    return f" Hyperparameters were adapted within the clusters ({', '.join([*shown, *sds])})."


def _software(run: Mapping[str, Any]) -> str:
    found = run.get("versions")
    if isinstance(found, Mapping):
        others = ", ".join(f"{name} {text}" for name, text in found.items() if name != "timelike")
        return f"timelike {found.get('timelike', version('timelike'))} ({others})"
    return f"timelike {version('timelike')}"


def settings(run: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """The settings of a run as names and texts; settings within settings have both names.

    Examples
    --------
    >>> settings({"seed": 0, "versions": {"numpy": "2.0"}})
    [('seed', '0'), ('versions: numpy', '2.0')]
    """
    found: list[tuple[str, str]] = []
    for name, value in run.items():
        label = f"{before}{name}"
        found += settings(value, f"{label}: ") if isinstance(value, Mapping) else [(label, str(value))]
    return found
