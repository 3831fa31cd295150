"""experiment: raw counts of two strains over a day, as laboratories have them, with a story that is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from timelike.base.arrays import Bools, Floats, Ints
from timelike.simulate.groups import CLOCK_TIMES
from timelike.simulate.need import need

if TYPE_CHECKING:
    import pandas as pd

STRAINS = ("wt", "mut")
UNRELATED = 12
"""Sets of genes that have nothing in common."""
SIZE = 2.2
SPREAD = 0.08
"""How far genes go, log2, and the standard deviation of the logarithm of a factor of their own."""
DELAY = 2.0
"""By how many hours the delayed programme is late in the mutant."""
WEAKER = 0.5
"""What is left in the mutant of the response of the weakened programme."""
LEVEL = 1.2
"""How much more, log2, the mutant has of the raised programme at all times."""

Curve = Callable[[Floats], Floats]
"""What a programme adds at hours, (t,), before the size of its genes."""


def _flat(hours: Floats) -> Floats:
    return np.zeros_like(hours)


def _pulse(peak: float, sharpness: float = 1.0) -> Curve:
    """Up from zero, one at the `peak`, and back."""
    return lambda hours: (hours / peak * np.exp(1 - hours / peak)) ** sharpness


def _switch(at: float, width: float) -> Curve:
    """From zero to one, half of the way at a time."""

    def risen(hours: Floats) -> Floats:
        rise = 1 / (1 + np.exp(-(hours - at) / width))
        start = 1 / (1 + np.exp(at / width))
        return (rise - start) / (1 - start)

    return risen


def _swing(hours: Floats) -> Floats:
    """Down around 4 hours, up around 12, and nearly back."""
    return np.asarray(-np.sin(2 * np.pi * hours / 16) * np.exp(-hours / 16))


def _raised(hours: Floats) -> Floats:
    return np.full_like(hours, LEVEL)


def _later(curve: Curve, delay: float) -> Curve:
    return lambda hours: curve(np.maximum(hours - delay, 0))


def _times(curve: Curve, size: float) -> Curve:
    return lambda hours: size * curve(hours)


class Programme(NamedTuple):
    """Genes that do the same: their family name, what is true of them, and their curves in both strains."""

    family: str
    share: float
    """Of all genes."""
    story: str
    curves: tuple[Curve, Curve]
    kind: str = ""
    """How the strains differ: "delay", "shape" or "level"; empty where they do not."""

    def at(self, hours: Floats) -> Floats:
        """What the programme adds in each strain, in units of its genes' sizes, (2, t)."""
        return np.stack([curve(hours) for curve in self.curves])


_RESPONSE, _DEFENCE, _GROWTH = _pulse(3.0, 1.5), _switch(5.0, 1.0), _times(_pulse(6.0, 1.5), -1.0)
_EARLY, _SLOW = _pulse(1.0), _times(_pulse(24.0, 0.5), -1.0)
PROGRAMMES = {
    "early response": Programme("Presto", 0.04, "up within the hour, and back", (_EARLY, _EARLY)),
    "repair": Programme(
        "Tardo", 0.035, f"a pulse, {DELAY:g} h later in mut", (_RESPONSE, _later(_RESPONSE, DELAY)), "delay"
    ),
    "defence": Programme("Bastia", 0.035, "switched on in wt, lost in mut", (_DEFENCE, _flat), "shape"),
    "growth": Programme(
        "Forma", 0.04, f"turned down, {WEAKER:g} times as far in mut", (_GROWTH, _times(_GROWTH, WEAKER)), "shape"
    ),
    "emergency": Programme("Novella", 0.02, "switched on late, in mut alone", (_flat, _switch(13.0, 1.0)), "shape"),
    "neighbours": Programme("Basso", 0.015, f"{LEVEL:g} higher in mut at all times", (_flat, _raised), "level"),
    "division": Programme("Ronda", 0.04, "down, then up", (_swing, _swing)),
    "slow adaptation": Programme("Lento", 0.035, "down all day", (_SLOW, _SLOW)),
    "housekeeping": Programme("Casa", 0.74, "nothing happens", (_flat, _flat)),
}
"""The made-up programmes of :func:`experiment`, by name; the last is what all other genes do."""


@dataclass(frozen=True)
class Experiment:
    """Counts of genes in samples of two strains, sets of genes, and what is true about them.

    Attributes
    ----------
    counts
        (genes, samples).
    names
        Of the genes: a family for each programme.
    samples
        Names of the samples.
    times, conditions, replicates
        Of each sample, (samples,): hours, one of :data:`STRAINS`, and a number from 1.
    programme
        Which of :data:`PROGRAMMES`, by position, (genes,).
    log2_means
        Expected counts in a library of size 1, log2, (genes, samples).
    library_sizes
        What the expected counts of each sample are multiplied by, (samples,).
    dispersions
        Of the negative binomial, (genes,).
    wild
        Counts that were multiplied by ten, (genes, samples).
    sets
        Sets of genes by name: a programme's has most of its genes and some strangers; others have any genes.
    """

    counts: Ints
    names: tuple[str, ...]
    samples: tuple[str, ...]
    times: Floats
    conditions: tuple[str, ...]
    replicates: Ints
    programme: Ints
    log2_means: Floats
    library_sizes: Floats
    dispersions: Floats
    wild: Bools
    sets: Mapping[str, tuple[str, ...]]

    def counts_frame(self) -> pd.DataFrame:
        """The counts as laboratories have them: a gene a row, a sample a column."""
        import pandas as pd

        frame = pd.DataFrame(self.counts, columns=list(self.samples))
        frame.insert(0, "gene", list(self.names))
        return frame

    def samples_frame(self) -> pd.DataFrame:
        """The sample sheet: sample, hours, genotype, replicate."""
        import pandas as pd

        columns = {"hours": self.times, "genotype": self.conditions, "replicate": self.replicates}
        return pd.DataFrame({"sample": self.samples} | columns)

    def truth_frame(self) -> pd.DataFrame:
        """What is true of each gene: its programme, whether it changes in each strain, how the strains differ."""
        import pandas as pd

        own = [list(PROGRAMMES)[k] for k in self.programme]
        changes = np.stack([np.ptp(one.at(np.unique(self.times)), axis=1) > 0 for one in PROGRAMMES.values()])
        kinds = np.array([one.kind for one in PROGRAMMES.values()])[self.programme]
        columns = {f"changes_{strain}": changes[self.programme, s] for s, strain in enumerate(STRAINS)}
        columns |= {"differs": kinds != "", "kind": kinds, "delay": np.where(kinds == "delay", DELAY, np.nan)}
        return pd.DataFrame({"gene": self.names, "programme": own} | columns)


def experiment(genes: int = 1200, replicates: int = 3, wild: float = 0.0005, seed: int = 0) -> Experiment:
    """Raw counts of a wild type and a mutant after a stimulus, over a day, with a story to find and what is true.

    Samples at 0, 0.5, 1, 2, 4, 8, 12 and 24 hours. A quarter of the genes belong to :data:`PROGRAMMES`: of these one
    comes later in the mutant, one is lost, one is weaker, one is the mutant's alone, one is higher at all times, and
    three are the same in both. Everything is invented, the names too. Counts are negative binomial around log-normal
    mean counts (median 160), with dispersions ``0.03 + 1 / mean`` times a factor of each gene's own. Libraries differ
    in size by up to a factor of two, and the last sample was sequenced at a third of its depth.

    Parameters
    ----------
    genes
        At least 100.
    replicates
        Samples of each strain at each time.
    wild
        Share of single counts that are multiplied by ten.
    seed

    Examples
    --------
    >>> made = experiment(seed=1)
    >>> made.counts.shape, made.names[48]
    ((1200, 48), 'Tardo1')
    >>> print(made.samples_frame().iloc[:4].to_string(index=False))
    sample  hours genotype  replicate
       S01    0.0       wt          1
       S02    0.0       wt          2
       S03    0.0       wt          3
       S04    0.5       wt          1
    >>> print(made.truth_frame().loc[[48], ["gene", "programme", "kind", "delay"]].to_string(index=False))
      gene programme  kind  delay
    Tardo1    repair delay    2.0
    """
    need(genes >= 100, f"genes {genes}: expected at least 100")
    need(replicates >= 1, f"replicates {replicates}: expected at least 1")
    need(0 <= wild <= 1, f"wild {wild}: expected a number from 0 to 1")
    rng = np.random.default_rng(seed)
    programme = _allotted(genes)
    mean = 10 ** rng.normal(2.2, 0.6, genes)
    curves = np.log2(mean)[:, None, None] + _sizes(rng, programme)[:, None, None] * _curves()[programme]
    log2_means = np.repeat(curves, replicates, axis=2).reshape(genes, -1)
    dispersions = (0.03 + 1 / mean) * np.exp(0.4 * rng.standard_normal(genes))
    libraries = 2 ** rng.uniform(-0.5, 0.5, log2_means.shape[1])
    libraries[-1] /= 3
    shape = 1 / dispersions[:, None]
    values = rng.poisson(rng.gamma(shape, libraries * 2**log2_means / shape))
    thrown = rng.random(values.shape) < wild
    names, count = _names(programme), values.shape[1]
    return Experiment(
        counts=np.where(thrown, 10 * values, values),
        names=names,
        samples=tuple(f"S{i + 1:0{len(str(count))}d}" for i in range(count)),
        times=np.tile(np.repeat(CLOCK_TIMES, replicates), 2),
        conditions=tuple(np.repeat(STRAINS, count // 2).tolist()),
        replicates=np.tile(np.arange(1, replicates + 1), count // replicates),
        programme=programme,
        log2_means=log2_means,
        library_sizes=libraries,
        dispersions=dispersions,
        wild=thrown,
        sets=_sets(rng, programme, names),
    )


def _allotted(genes: int) -> Ints:
    """The programme of each gene, (genes,); what rounding leaves keeps house."""
    sizes = [round(one.share * genes) for one in PROGRAMMES.values()][:-1]
    return np.repeat(np.arange(len(PROGRAMMES)), [*sizes, genes - sum(sizes)])


def _curves() -> Floats:
    """What each programme adds at the times in each strain, (programmes, 2, times)."""
    return np.stack([one.at(np.array(CLOCK_TIMES)) for one in PROGRAMMES.values()])


def _sizes(rng: np.random.Generator, programme: Ints) -> Floats:
    """How far each gene goes, log2, (genes,); levels are given as they are."""
    level = np.array([one.kind == "level" for one in PROGRAMMES.values()])[programme]
    return np.where(level, 1.0, SIZE * np.exp(SPREAD * rng.standard_normal(len(programme))))


def _names(programme: Ints) -> tuple[str, ...]:
    families = [one.family for one in PROGRAMMES.values()]
    within = np.concatenate([np.arange(count) for count in np.bincount(programme)])
    return tuple(f"{families[p]}{k + 1}" for p, k in zip(programme, within, strict=True))


def _sets(rng: np.random.Generator, programme: Ints, names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Four fifths of each programme with some strangers, and sets of any genes, as collections of sets are."""
    house = np.flatnonzero(programme == len(PROGRAMMES) - 1)
    chosen = {}
    for number, name in enumerate(list(PROGRAMMES)[:-1]):
        own = np.flatnonzero(programme == number)
        some = rng.choice(own, -(-4 * len(own) // 5), replace=False)
        chosen[name] = np.concatenate([some, rng.choice(house, len(own) // 4, replace=False)])
    for number in range(UNRELATED):
        chosen[f"unrelated {number + 1}"] = rng.choice(len(names), len(names) // 30, replace=False)
    return {name: tuple(names[i] for i in np.sort(places)) for name, places in chosen.items()}
