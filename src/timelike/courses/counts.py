"""Counts as values: log2 of what was counted, with an error each, around the course's own smooth mean.

A count of a gene in a sample is negative binomial: its mean is the sample's size factor times the gene's level there,
its variance ``mean + dispersion mean^2``. Anscombe's logarithm ``g = log(count + 1 / (2 dispersion))`` has a variance
that hardly depends on the mean; few counts enter it nearly as they are, many as their logarithm. Around a mean that is
roughly known, its own mean, slope (in the log mean) and variance are exact numbers. So each count becomes

    value = eta + (g - E[g]) / slope      error = sd[g] / slope

with ``eta`` the logarithm of the gene's own smooth mean: unbiased to first order, zeros included, with an error that
grows as counts become few, and little moved by a single wild count.

The dispersion in the error is that of the trend over all genes of the same mean. What a gene scatters more or less than
that is not known exactly, and is left to whoever asks: put into the errors as if it were known, even shrunk to the
trend, it makes tests three times too bold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.exceptions import InputError

if TYPE_CHECKING:
    import pandas as pd

LEVEL_VARIANCE = 25.0
PRIOR_PARTS = ((0.5, None, True), (0.5, 0.35, False), (0.5, 0.35, True), (0.2, 0.1, True))
"""What is expected of a gene's smooth mean, in natural logarithms, around its level: (variance, length scale as a share
of the ranks of times or None for a constant, whether each condition has its own)."""
DISPERSIONS = np.geomspace(1e-3, 10, 25)
"""Where dispersions are sought."""
MOST_ERRORS = 4.0
"""A value lies so many errors from the smooth mean at most, or as far as the logarithm of the count itself does. A
single read where a hundredth was expected would be at ten; the bias of this is below a tenth of an error."""
LEAST_RANK = 1e-4
GENES_AT_ONCE = 4000
LOG_MEANS = np.linspace(np.log(1e-3), np.log(1e5), 241)
LOG_DISPERSIONS = np.linspace(np.log(1e-3), np.log(10), 73)
"""The grid of means and dispersions on which moments are computed once."""
OFFSETS = (0.5, 50.0)


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts as values, and what was found on the way.

    Attributes
    ----------
    values, errors : (genes, samples)
        In log2, per size factor; errors are standard errors.
    size_factors : (samples,)
        How much deeper than on average a sample was sequenced, by the median of ratios; their geometric mean is 1.
    means : (genes,)
        Mean count of each gene, per size factor.
    trend : (genes,)
        Dispersion that genes of this mean have; it is in the errors.
    dispersions : (genes,)
        Dispersion of each gene's own, shrunk to the trend, for the eye: tests that take it as known are too bold.
    """

    values: Floats
    errors: Floats
    size_factors: Floats
    means: Floats
    trend: Floats
    dispersions: Floats

    def to_frame(self, names: Sequence[str]) -> pd.DataFrame:
        """Table with a row for each gene: its mean count, the trend's dispersion and its own."""
        import pandas as pd

        return pd.DataFrame(
            {"name": list(names), "mean": self.means, "trend": self.trend, "dispersion": self.dispersions}
        )


def counted(counts: Floats, groups: Groups, size_factors: Floats | None = None) -> Counted:
    """Counts (genes, samples), none of the genes all zero, as values with errors; samples of a group share a mean."""
    factors = by_median_of_ratios(counts) if size_factors is None else size_factors
    rough = smooth_means(counts, factors, groups, np.full(len(counts), 0.1))
    profile = dispersion_profile(counts, factors * np.exp(rough[:, groups.of]), groups)
    means = (counts / factors).mean(axis=1)
    trend = dispersion_trend(means, profile)
    eta = smooth_means(counts, factors, groups, trend, start=rough)[:, groups.of]
    values, variances = around(counts, eta + np.log(factors), trend)
    own = shrunk_dispersions(profile, trend, counts.shape[1] - len(groups.prior), means)
    return Counted((values - np.log(factors)) / np.log(2), np.sqrt(variances) / np.log(2), factors, means, trend, own)


# -- what is given ---------------------------------------------------------------------------------------------


def check_counts(counts: Floats, where: Callable[[int, int], str], sample: Callable[[int], str]) -> None:
    """Raise unless all counts (genes, samples) are whole numbers from 0 on, some in each sample.

    Parameters
    ----------
    counts
    where
        From a gene and a sample to words for the count.
    sample
        From a sample to words for it.
    """
    if counts.ndim != 2 or counts.size == 0:
        raise InputError(f"counts have shape {counts.shape}: expected a row for each gene, a column for each sample.")
    bad = ~np.isfinite(counts) | (counts < 0) | (counts != np.floor(counts))
    if bad.any():
        first = tuple(int(i) for i in np.argwhere(bad)[0])
        found = "missing" if np.isnan(counts[first]) else f"{counts[first]:.10g}"
        raise InputError(
            f"{where(*first)} is {found}{checks.and_more(int(bad.sum()))}: expected whole numbers, zero or more. "
            f"{_remedy(counts[first])}"
        )
    empty = np.flatnonzero(counts.sum(axis=0) == 0)
    if len(empty):
        raise InputError(
            f"{sample(int(empty[0]))} has no counts at all{checks.and_more(len(empty))}: a library of size zero says "
            "nothing. Leave it out."
        )


def _remedy(value: float) -> str:
    if np.isnan(value):
        return "A count that is missing is not zero: leave the sample or the gene out."
    if value < 0:
        return "Are these logarithms? Give them as values (from_arrays; without --counts)."
    return (
        "Values that are normalised already are no counts: take log2 of them, as values (from_arrays; without "
        "--counts); counts that a program estimated can be rounded."
    )


def set_apart(counts: Floats, names: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """The genes that have a count, and a note about the others, which have no value in logarithms."""
    some = counts.sum(axis=1) > 0
    zeros = [name for name, kept in zip(names, some, strict=True) if not kept]
    note = f"left out {checks.counted(len(zeros), 'gene')} without any count: {checks.first_few(zeros)}"
    return np.flatnonzero(some), (note,) if zeros else ()


def checked_factors(size_factors: ArrayLike, samples: int) -> Floats:
    """Size factors that were given, with a geometric mean of 1."""
    found = checks.numbers(size_factors, "size_factors")
    if found.shape != (samples,) or not (np.isfinite(found) & (found > 0)).all():
        raise InputError(f"size_factors: expected {samples} numbers above zero, one for each sample.")
    return found / np.exp(np.log(found).mean())


# -- size factors ------------------------------------------------------------------------------------------------


def by_median_of_ratios(counts: Floats) -> Floats:
    """Size factors: the median, over genes counted in every sample, of a sample's count to the gene's geometric mean.

    Where no gene was counted in every sample, genes counted in most of them serve, see :func:`about_few_genes`.

    Examples
    --------
    >>> by_median_of_ratios(np.array([[10, 20, 40], [5, 10, 20], [7, 14, 28.0]]))
    array([0.5, 1. , 2. ])
    """
    share = _shares(counts)
    chosen = counts[share == share.max()]
    logs = np.log(np.where(chosen > 0, chosen, np.nan))
    ratios = logs - np.nanmean(logs, axis=1, keepdims=True)
    if np.isnan(ratios).all(axis=0).any():
        raise InputError(
            "size factors cannot be found: samples share no genes. Leave out the sample that is unlike the others, or "
            "give them (TimeCourses.from_counts(size_factors=))."
        )
    factors = np.nanmedian(ratios, axis=0)
    return np.exp(factors - factors.mean())


def about_few_genes(counts: Floats) -> tuple[str, ...]:
    """A note where no gene was counted in every sample."""
    share = _shares(counts)
    if share.max() == 1:
        return ()
    genes = checks.counted(int((share == share.max()).sum()), "gene")
    return (
        f"no gene was counted in every sample: size factors are from the {genes} counted in {share.max():.0%} of them. "
        "Are these single cells? Sum the cells of a sample first",
    )


def _shares(counts: Floats) -> Floats:
    """Share of the samples in which each gene was counted, (genes,)."""
    return (counts > 0).mean(axis=1)


# -- smooth means -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Groups:
    """Samples of the same time and condition."""

    of: Ints
    """The group of each sample, (samples,)."""
    prior: Floats
    """Covariance of the groups' log means around a gene's level, (groups, groups)."""

    @classmethod
    def made(cls, times: Floats, conditions: Sequence[str] | None) -> Groups:
        """The groups of samples with these times and conditions."""
        kinds = np.zeros(len(times)) if conditions is None else np.unique(list(conditions), return_inverse=True)[1]
        found, of = np.unique(np.column_stack([kinds, times]), axis=0, return_inverse=True)
        return cls(of.ravel().astype(np.intp), _prior(found[:, 0], found[:, 1]))


def _prior(kinds: Floats, times: Floats) -> Floats:
    distinct, rank = np.unique(times, return_inverse=True)
    place = rank / max(len(distinct) - 1, 1)
    apart = place[:, None] - place
    total = np.zeros((len(times), len(times)))
    for variance, scale, own in PRIOR_PARTS:
        part = variance * (np.ones_like(total) if scale is None else np.exp(-((apart / scale) ** 2) / 2))
        total += np.where(kinds[:, None] == kinds, part, 0) if own else part
    return total


def smooth_means(
    counts: Floats, factors: Floats, groups: Groups, dispersion: Floats, start: Floats | None = None
) -> Floats:
    """Logarithm of each gene's smooth mean in each group, per size factor, (genes, groups): some steps of Newton's."""
    inside = np.eye(len(groups.prior))[groups.of]
    sums, exposure, size = counts @ inside, factors @ inside, inside.sum(axis=0)
    level = np.log(sums.sum(axis=1) / exposure.sum())[:, None]
    eta = (
        np.clip(np.log((sums + np.exp(level) / 2) / (exposure + 0.5)), level - 2, level + 3) if start is None else start
    )
    weight, axes = np.linalg.eigh(groups.prior + LEVEL_VARIANCE)
    kept = weight > LEAST_RANK * weight[-1]
    features = axes[:, kept] * np.sqrt(weight[kept])
    found = np.empty_like(eta)
    for first in range(0, len(counts), GENES_AT_ONCE):
        rows = slice(first, first + GENES_AT_ONCE)
        found[rows] = _settled(sums[rows], exposure, size, dispersion[rows, None], features, level[rows], eta[rows])
    return found


def _settled(
    sums: Floats, exposure: Floats, size: Floats, dispersion: Floats, features: Floats, level: Floats, eta: Floats
) -> Floats:
    identity = np.eye(features.shape[1])
    for _ in range(4):
        mean = exposure * np.exp(eta)
        weight = mean / (1 + dispersion * mean / size)
        working = eta - level + (sums - mean) / mean
        weighted = weight[:, :, None] * features
        right = (weighted.transpose(0, 2, 1) @ working[:, :, None])[:, :, 0]
        solved = np.linalg.solve(weighted.transpose(0, 2, 1) @ features + identity, right[:, :, None])[:, :, 0]
        eta = eta + np.clip(level + solved @ features.T - eta, -2, 2)
    return eta


# -- dispersions ---------------------------------------------------------------------------------------------------


def dispersion_profile(counts: Floats, means: Floats, groups: Groups) -> Floats:
    """Log likelihood of each gene at each of `DISPERSIONS`, adjusted for the fitted means (Cox-Reid), (genes, D)."""
    from scipy.special import gammaln

    inside = np.eye(len(groups.prior))[groups.of]
    found = np.empty((len(counts), len(DISPERSIONS)))
    for k, dispersion in enumerate(DISPERSIONS):
        size, product = 1 / dispersion, dispersion * means
        logs = gammaln(counts + size) - gammaln(size) - (counts + size) * np.log1p(product) + counts * np.log(product)
        information = (means / (1 + product)) @ inside
        found[:, k] = logs.sum(axis=1) - np.log(information).sum(axis=1) / 2
    return found


def dispersion_trend(means: Floats, profile: Floats) -> Floats:
    """Dispersion of genes with each mean: the likeliest common one among neighbours in the mean, smoothed, (genes,)."""
    order = np.argsort(means, kind="stable")
    bins = np.array_split(order, int(np.clip(len(means) // 100, 1, 40)))
    place = np.array([np.log(means[chosen]).mean() for chosen in bins])
    height = _likeliest(np.array([profile[chosen].sum(axis=0) for chosen in bins]))
    near = np.exp(-(((place[:, None] - place) / 0.7) ** 2) / 2)
    return np.exp(np.interp(np.log(means), place, near @ height / near.sum(axis=1)))


def _likeliest(curves: Floats) -> Floats:
    """The logarithm of the dispersion at the top of each log likelihood, by a parabola through the highest three."""
    logs, top = np.log(DISPERSIONS), curves.argmax(axis=1)
    inner = np.clip(top, 1, len(logs) - 2)
    low, high, up = (np.take_along_axis(curves, (inner + k)[:, None], axis=1)[:, 0] for k in (-1, 0, 1))
    bend = low - 2 * high + up
    shift = np.where((top == inner) & (bend < 0), (low - up) / 2 / np.where(bend < 0, bend, 1), 0)
    return logs[top] + (logs[1] - logs[0]) * shift


def shrunk_dispersions(profile: Floats, trend: Floats, freedom: int, means: Floats) -> Floats:
    """Each gene's likeliest dispersion where those of its mean are log-normal around the trend, (genes,)."""
    from scipy.special import polygamma

    logs, around_trend = np.log(DISPERSIONS), np.log(trend)
    counted_well = means >= min(20.0, float(np.median(means)))
    own = _likeliest(profile) - around_trend
    apart = 1.4826 * float(np.median(np.abs(own[counted_well])))
    variance = max(apart**2 - float(polygamma(1, max(freedom, 1) / 2)), 0.05)
    posterior = profile - (logs - around_trend[:, None]) ** 2 / (2 * variance)
    return np.exp(_likeliest(posterior))


# -- values ----------------------------------------------------------------------------------------------------------


def around(counts: Floats, eta: Floats, dispersion: Floats) -> tuple[Floats, Floats]:
    """Counts as natural logarithms around log means `eta`, (genes, samples), and their variances."""
    from scipy.ndimage import map_coordinates

    rows = (np.clip(eta, LOG_MEANS[0], LOG_MEANS[-1]) - LOG_MEANS[0]) / (LOG_MEANS[1] - LOG_MEANS[0])
    of_gene = np.clip(np.log(dispersion), LOG_DISPERSIONS[0], LOG_DISPERSIONS[-1]) - LOG_DISPERSIONS[0]
    columns = np.broadcast_to((of_gene / (LOG_DISPERSIONS[1] - LOG_DISPERSIONS[0]))[:, None], rows.shape)
    bias, slope, log_variance = (
        map_coordinates(table, (rows, columns), order=1, mode="nearest") for table in moments()
    )
    few = np.maximum(LOG_MEANS[0] - eta, 0)  # below the table the variance grows as one over the mean does
    variance, added = np.exp(log_variance + few), offset(dispersion)[:, None]
    away = (np.log(counts + added) - eta - bias) / slope
    most = np.maximum(MOST_ERRORS * np.sqrt(variance), np.abs(np.log(counts + 0.5) - eta))
    return eta + np.clip(away, -most, most), variance


def offset(dispersion: Floats) -> Floats:
    """What is added to counts before their logarithm is taken, after Anscombe; within bounds."""
    return np.clip(1 / (2 * dispersion), *OFFSETS)


@cache
def moments() -> tuple[Floats, Floats, Floats]:
    """Of log(count + offset): its mean less the log mean, the slope of its mean, and log(variance / slope^2).

    On `LOG_MEANS` x `LOG_DISPERSIONS`. A negative binomial count is a Poisson count whose mean is gamma distributed.
    """
    from scipy.stats import gamma

    quantiles, dispersions = (np.arange(200) + 0.5) / 200, np.exp(LOG_DISPERSIONS)
    mean, variance = np.empty((2, len(LOG_MEANS), len(LOG_DISPERSIONS)))
    for k, (dispersion, added) in enumerate(zip(dispersions, offset(dispersions), strict=True)):
        drawn = np.log(np.maximum(gamma.ppf(quantiles, 1 / dispersion), 1e-300) * dispersion)
        places, of_mean, poisson, scatter = LOG_MEANS[:, None] + drawn, *_poisson_moments(added)
        drawn_means = np.interp(places, of_mean, poisson)
        mean[:, k] = drawn_means.mean(axis=1)
        variance[:, k] = np.interp(places, of_mean, scatter).mean(axis=1) + drawn_means.var(axis=1)
    slope = np.gradient(mean, LOG_MEANS, axis=0)
    return mean - LOG_MEANS[:, None], slope, np.log(variance) - 2 * np.log(slope)


def _poisson_moments(added: float) -> tuple[Floats, Floats, Floats]:
    """Log means, and at each the mean and the variance of log(count + added) of a Poisson count."""
    logs, chance, counts = _poisson()
    means, value = np.exp(logs), np.log(counts + added)
    mean, variance = np.log(means + added), means / (means + added) ** 2
    mean[: len(chance)] = chance @ value
    variance[: len(chance)] = chance @ value**2 - mean[: len(chance)] ** 2
    return logs, mean, variance


@cache
def _poisson() -> tuple[Floats, Floats, Floats]:
    """Log means, the chance of each count at those of them that are small, and these counts."""
    from scipy.special import gammaln

    logs, counts = np.linspace(np.log(1e-8), np.log(1e8), 920), np.arange(420.0)
    small = logs[np.exp(logs) < 200][:, None]
    return logs, np.exp(counts * small - np.exp(small) - gammaln(counts + 1)), counts


# -- courses ---------------------------------------------------------------------------------------------------------


def samples_of(what: Any, count: int, name: str) -> list[str] | None:
    """A text for each sample, or None."""
    if what is None:
        return None
    if isinstance(what, Iterable):
        checks.ordered(what, name)
    found = [str(entry) for entry in (what if isinstance(what, Iterable) and not isinstance(what, str) else [what])]
    if len(found) != count:
        raise InputError(f"{name} are for {len(found)} samples, counts for {count}: give one for each sample.")
    return found
