"""The truth beside the answer: how much of a made-up experiment was found, and how much of it is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from timelike.base.arrays import Ints
from timelike.base.checks import counted
from timelike.clusters.nmi import nmi
from timelike.courses.conditions import SEPARATOR
from timelike.questions.compare import Compared
from timelike.questions.found import Found
from timelike.runs.analysis import Analysis
from timelike.simulate import PROGRAMMES, STRAINS, Experiment

if TYPE_CHECKING:
    import pandas as pd

FDR = 0.05


def scored_changes(made: Experiment, found: Found) -> str:
    """How many of the courses that truly change were found, and how many of those found do not."""
    truth = made.truth_frame().set_index("gene")
    true = {f"{gene}{SEPARATOR}{strain}" for strain in STRAINS for gene in truth.index[truth[f"changes_{strain}"]]}
    return _scored(found, true, "courses that change")


def scored_differences(made: Experiment, found: Found) -> str:
    """How many of the genes that truly differ were found, and how many of those found do not."""
    truth = made.truth_frame().set_index("gene")
    return _scored(found, set(truth.index[truth["differs"]]), "genes that differ")


def _scored(found: Found, true: set[str], what: str) -> str:
    called = _called(found)
    hit = len(called & true)
    wrong = 1 - hit / len(called) if called else 0.0
    return f"True: {hit} of the {len(true)} {what} are found; {wrong:.1%} of those called are wrong (stated: 5 %)."


def _called(found: Found) -> set[str]:
    return {found.names[gene] for gene in found.called(FDR)}


# -- programmes ------------------------------------------------------------------------------------------------------


def programmes_beside(made: Experiment, change: Found, differ: Compared) -> Iterator[str]:
    """A table with a line for each programme: what is true of it, and what was found."""
    changing, table = _called(change), _differences(differ)
    form = "  {:<16}{:<36}{:>5}  {:>9}  {:>10}  {:>6}  {}"
    yield form.format("programme", "truth", "genes", "change wt", "change mut", "differ", "how")
    for number, (name, programme) in enumerate(PROGRAMMES.items()):
        genes = [made.names[k] for k in np.flatnonzero(made.programme == number)]
        changed = [sum(f"{gene}{SEPARATOR}{strain}" in changing for gene in genes) for strain in STRAINS]
        own = table[table.index.isin(genes)]
        how = _how(own) if programme.kind else ""
        yield form.format(name, programme.story, len(genes), *changed, len(own), how).rstrip()


def _differences(differ: Compared) -> pd.DataFrame:
    """What was said of the genes that are called, by name."""
    table = differ.to_frame().set_index("name")
    return table[table.index.isin(_called(differ))]


def _how(own: pd.DataFrame) -> str:
    """How genes of one programme were said to differ: most of them with figures, the others as a number."""
    counts = own["kind"].value_counts()
    words = [_of_kind(kind, own[own["kind"] == kind]) for kind in counts.index[:1]]
    return ", ".join(words + [f"{count} by {kind}" for kind, count in counts.iloc[1:].items()])


def _of_kind(kind: str, own: pd.DataFrame) -> str:
    """How many are of a kind, and the middle of what was found of them, with the range of nine of ten."""
    value, unit = (own["delay"], " h") if kind == "delay" else (own["largest_difference"], "")
    low, middle, high = value.quantile([0.05, 0.5, 0.95])
    when = f" around {own['largest_at'].median():.3g} h" if kind == "shape" else ""
    return f"{len(own)} by {kind}: {middle:+.1f}{unit} ({low:.1f} to {high:.1f}){when}"


# -- clusters --------------------------------------------------------------------------------------------------------


def clusters_beside(made: Experiment, groups: Analysis) -> Iterator[str]:
    """How well clusters and true curves agree, and a line for each cluster: whom it has, and what its genes are."""
    from sklearn.metrics import adjusted_rand_score

    labels, truth = groups.clustering.labels, _true_curves(made, groups)
    agreement = f"adjusted Rand index {adjusted_rand_score(truth, labels):.2f}, NMI {nmi(truth, labels):.2f}"
    yield f"True: these courses follow {len(set(truth))} curves; how well clusters and curves agree: {agreement}."
    form = "  {:>7}  {:>7}  {:<66}  {}"
    yield form.format("cluster", "courses", "whom it has, by the truth", "its strongest set (q)")
    for cluster in range(groups.clustering.k):
        own = [name for name, label in zip(groups.courses.names, labels, strict=True) if label == cluster]
        yield form.format(cluster, len(own), _members(made, own), _strongest(groups, cluster)).rstrip()


def _true_curves(made: Experiment, groups: Analysis) -> Ints:
    """The true curve of each clustered course, by number: those of programmes that do the same are one."""
    shapes = np.stack([one.at(np.unique(made.times)) for one in PROGRAMMES.values()])
    shapes = (shapes - shapes.mean(axis=2, keepdims=True)).round(9) + 0.0
    _, number = np.unique(shapes.reshape(-1, shapes.shape[2]), axis=0, return_inverse=True)
    programme = dict(zip(made.names, made.programme, strict=True))
    pairs = [name.rsplit(SEPARATOR, 1) for name in groups.courses.names]
    return np.array([number.ravel()[2 * programme[gene] + STRAINS.index(strain)] for gene, strain in pairs])


def _members(made: Experiment, courses: list[str], most: int = 3) -> str:
    """The programmes of courses, those with most courses first: "42 repair (wt), ..."."""
    import pandas as pd

    programme = dict(zip(made.names, [list(PROGRAMMES)[k] for k in made.programme], strict=True))
    pairs = [name.rsplit(SEPARATOR, 1) for name in courses]
    counts = pd.Series([f"{programme[gene]} ({strain})" for gene, strain in pairs]).value_counts()
    words = [f"{count} {name}" for name, count in counts.iloc[:most].items()]
    rest = int(counts.iloc[most:].sum())
    return ", ".join(words) + (f", {counted(rest, 'other')}" if rest else "")


def _strongest(groups: Analysis, cluster: int) -> str:
    """The term that a cluster is most enriched for, where there is one at 5 %."""
    terms = groups.enrichment
    if terms is None:
        return ""
    own = terms[(terms["cluster"] == cluster) & (terms["q"] <= FDR)]
    return "" if own.empty else f"{own.iloc[0]['name']} ({own.iloc[0]['q']:.0e})"
