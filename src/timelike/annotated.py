"""Results written into an AnnData object, under clear keys, as the tools of scverse do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from timelike.base import checks
from timelike.base.arrays import Floats, Ints
from timelike.base.versions import installed
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.exceptions import InputError
from timelike.gp import GP, kernels
from timelike.pairs.nearest.graph import directed_graph
from timelike.pairs.similarity import as_distance, as_probability
from timelike.questions.compare import Compared
from timelike.questions.found import Found

if TYPE_CHECKING:
    import pandas as pd
    from anndata import AnnData
    from scipy.sparse import csr_matrix

    from timelike.pairs.nearest.neighbors import Neighbors
    from timelike.runs.analysis import Analysis

AXES = ("var", "obs")
ANSWERED = (
    "log_bayes_factor",
    "probability",
    "fdr",
    "over_time",
    "kind",
    "kind_probability",
    "largest_difference",
    "largest_at",
    "higher_in",
    "delay",
    "between",
    "partition",
    "partition_probability",
    "largest_change",
    "first_change",
    "first_change_from",
    "first_change_to",
    "peak",
    "peak_from",
    "peak_to",
)
"""Columns that an answer can have."""
PLACED = tuple(f"{name}{end}" for name in ("delay", "gain", "level") for end in ("", "_low", "_high"))
"""Columns that clusters can have whose courses may differ in these."""
NONE = "none"
"""The category of courses that are in none of the clusters."""
CITATION = (
    "Liu, Z. and Barahona, M. (2021). Similarity measure for sparse time course data based on Gaussian processes. "
    "Uncertainty in Artificial Intelligence, PMLR 161."
)


def write(
    adata: AnnData,
    found: Clustering | Analysis | Found,
    neighbors: Neighbors | None = None,
    *,
    gp: GP | None = None,
    key_added: str = "timelike",
    axis: str = "var",
    copy: bool = False,
) -> AnnData | None:
    """Write clusters, and neighbours if given, into an AnnData object whose genes (or observations) are the courses.

    Courses are found by name. What was not analysed, genes that were not selected for instance, is missing (NaN).
    Entries of an earlier call with the same key are replaced.

    Parameters
    ----------
    adata
    found
        From :func:`timelike.mixture` or another method; or an analysis, which brings its model and neighbours along; or
        an answer from :func:`timelike.compare` or :func:`timelike.changing`.
    neighbors
        From :func:`timelike.neighbors`, of the same courses.
    gp
        The model, for the record. Clusters that have curves bring theirs.
    key_added
        How all keys begin.
    axis
        ``"var"``: the courses are genes. ``"obs"``: they are observations, patients for instance, and everything goes
        into ``obs``, ``obsm`` and ``obsp`` instead.
    copy
        Return a copy in memory with the results, and leave `adata` as it is.

    Returns
    -------
    AnnData or None
        None unless a copy was asked for. With the key "timelike" there are

        - ``var["timelike"]``: the cluster, categorical, "none" for a course in none of them;
        - ``var["timelike_probability"]``: of that cluster, where probabilities are known;
        - ``var["timelike_delay"]``, ``_delay_low`` and ``_delay_high``: how much later than its cluster's curve, with
          the 90 % interval, where delays are free; ``_gain`` and ``_level`` likewise;
        - ``varm["timelike_probabilities"]``: of every cluster and of "none", a column each;
        - ``varp["timelike_scores"]``: the similarity s to each of the nearest courses, sparse, not symmetric;
        - ``varp["timelike_connectivities"]``: the same graph made symmetric, weights between 0 and 1 (the probability
          that one curve explains both, see :func:`timelike.pairs.similarity.as_probability`);
        - ``varp["timelike_distances"]``: its distances, see :func:`timelike.pairs.similarity.as_distance`;
        - ``uns["timelike"]``: settings, model, evidence, versions and what to cite. With ``axis="obs"`` and
          neighbours, scanpy takes the graph by ``neighbors_key="timelike"``.

        Of an answer there are, instead, the columns of its table (``to_frame``), each under the key and its name, as
        ``var["timelike_probability"]``, and in ``uns["timelike"]`` the question, the model, the versions.

    Examples
    --------
    >>> import anndata, timelike as tl
    >>> from timelike import annotated
    >>> courses, _ = tl.simulate.profiles(seed=1)
    >>> times, values = courses.to_matrix()
    >>> adata = anndata.AnnData(values.T)              # samples in rows, genes in columns
    >>> adata.var_names = list(courses.names)
    >>> annotated.write(adata, tl.mixture(courses, tl.fit(courses)))
    >>> adata.var["timelike"].value_counts().to_dict()
    {'1': 51, '0': 50, '2': 49}
    """
    _check(adata, axis, key_added)
    if isinstance(found, Found):
        return _write_answer(adata, found, key_added, axis, copy=copy)
    clustering, neighbors, gp = _parts(found, neighbors, gp)
    target = _copied(adata) if copy else adata
    place = _Place(target, axis, key_added, clustering.names)
    graph = None if neighbors is None else _graph(neighbors, clustering.names)
    place.clear()
    place.write_clusters(clustering)
    if graph is not None:
        place.write_graph(graph)
    target.uns[key_added] = record(clustering, gp) | ({} if graph is None else graph_record(key_added, graph))
    return target if copy else None


def _check(adata: Any, axis: str, key: Any) -> None:
    if not isinstance(adata, checks.optional("anndata", "bio", "results in AnnData need anndata").AnnData):
        raise InputError(f"adata must be an AnnData object, not {type(adata).__name__}.")
    if axis not in AXES:
        raise InputError(f"there is no axis {axis!r}: choose 'var' if courses are genes, 'obs' if observations.")
    if not isinstance(key, str) or not key or "/" in key:
        raise InputError(f"key_added is {key!r}: expected a text without '/', which files take for a folder.")


def _copied(adata: AnnData) -> AnnData:
    """A copy in memory, also of what is on disk."""
    return adata.to_memory() if adata.isbacked else adata.copy()


def _write_answer(adata: AnnData, found: Found, key: str, axis: str, *, copy: bool) -> AnnData | None:
    """Write the table of an answer, a column each; courses that were not asked about are missing."""
    target = _copied(adata) if copy else adata
    place = _Place(target, axis, key, found.names)
    place.clear()
    place.write_table(found.to_frame())  # type: ignore[attr-defined]  # each kind of answer has one
    conditions = list(found.question.measured.conditions)
    target.uns[key] = {
        "question": "compare" if isinstance(found, Compared) else "changing",
        "conditions": conditions if isinstance(found, Compared) else [],
        "share": found.share,
        "versions": installed("timelike", "numpy", "scipy", "scikit-learn", "anndata"),
        "gp": model_record(found.gp),
    }
    return target if copy else None


def _parts(found: Any, neighbors: Neighbors | None, gp: GP | None) -> tuple[Clustering, Neighbors | None, GP | None]:
    """Clusters, neighbours and model, from an analysis or as given."""
    if hasattr(found, "clustering"):
        return found.clustering, neighbors or found.neighbors, gp or found.gp
    checks.instance(found, Clustering, "found")
    return found, neighbors, gp or getattr(found, "gp", None)


# -- where it goes ---------------------------------------------------------------------------------------------------


class _Place:
    """One axis of an AnnData object, one key, and the rows in which courses are."""

    def __init__(self, adata: AnnData, axis: str, key: str, names: Sequence[str]) -> None:
        self.index: pd.Index = getattr(adata, f"{axis}_names")
        self.frame, self.arrays, self.graphs = (getattr(adata, axis + end) for end in ("", "m", "p"))
        self.key, self.rows = key, _rows(self.index, names, f"{axis}_names")

    def clear(self) -> None:
        """Remove what an earlier call wrote and this one may not."""
        for column in (self.key, *(f"{self.key}_{name}" for name in {*ANSWERED, *PLACED})):
            if column in self.frame:
                del self.frame[column]
        for store, end in ((self.arrays, "probabilities"), *((self.graphs, end) for end in _GRAPHS)):
            if f"{self.key}_{end}" in store:
                del store[f"{self.key}_{end}"]

    def write_clusters(self, clustering: Clustering) -> None:
        """Labels, and probabilities where they are known."""
        import pandas as pd

        names, in_none = [*map(str, range(clustering.k)), NONE], clustering.labels < 0
        codes = np.full(len(self.index), -1)
        codes[self.rows] = np.where(in_none, clustering.k, clustering.labels)
        self.frame[self.key] = pd.Categorical.from_codes(codes, names if in_none.any() else names[:-1])
        known = clustering.probabilities
        if known is not None:
            sure = clustering.to_frame()["probability"].to_numpy()
            self.frame[f"{self.key}_probability"] = self._spread(sure)
            every = np.column_stack([known, np.maximum(1 - known.sum(axis=1), 0)])
            self.arrays[f"{self.key}_probabilities"] = pd.DataFrame(self._spread(every), self.index, names)
        table = clustering.to_frame()
        for name in table.columns.intersection(PLACED):
            self.frame[f"{self.key}_{name}"] = self._spread(table[name].to_numpy())

    def write_table(self, table: pd.DataFrame) -> None:
        """The columns of a table with a row for each course, numbers as they are and texts as categories."""
        import pandas as pd

        rows = _rows(self.index, list(table["name"]), "names")
        for name in table.columns.drop("name"):
            column = table[name]
            if column.dtype.kind == "f":
                spread = np.full(len(self.index), np.nan)
                spread[rows] = column
                self.frame[f"{self.key}_{name}"] = spread
            else:
                codes = np.full(len(self.index), -1)
                texts = pd.Categorical(column.astype(str))
                codes[rows] = texts.codes
                self.frame[f"{self.key}_{name}"] = pd.Categorical.from_codes(codes, texts.categories)

    def write_graph(self, scores: csr_matrix) -> None:
        """The neighbour graph: similarities, and what other tools make of them."""
        from scipy.sparse import csr_matrix

        edges = scores.tocoo()
        size = len(self.index)
        where = self.rows[edges.row], self.rows[edges.col]
        for end, (convert, symmetric) in _GRAPHS.items():
            one_way = csr_matrix((convert(edges.data), where), shape=(size, size))
            self.graphs[f"{self.key}_{end}"] = one_way.maximum(one_way.T).tocsr() if symmetric else one_way

    def _spread(self, values: Floats) -> Floats:
        """Values of the courses in their rows, NaN in all others."""
        result = np.full((len(self.index), *values.shape[1:]), np.nan)
        result[self.rows] = values
        return result


_GRAPHS: dict[str, tuple[Any, bool]] = {
    "scores": (np.asarray, False),
    "connectivities": (as_probability, True),
    "distances": (as_distance, False),
}
"""End of the key -> what becomes of a similarity, and whether an edge holds if either end has it."""


def _rows(index: pd.Index, names: Sequence[str], what: str) -> Ints:
    """Where the courses are in the index."""
    if not index.is_unique:
        again = index[index.duplicated()][0]
        raise InputError(f"{again!r} stands twice in {what}: courses are found by name. Use {what}_make_unique().")
    rows = index.astype(str).get_indexer(list(names))
    lost = np.flatnonzero(rows < 0)
    if len(lost):
        known = checks.nearest(names[lost[0]], tuple(map(str, index)))
        raise InputError(f"course {names[lost[0]]!r}{checks.and_more(len(lost))} is not in {what}. {known}")
    return np.asarray(rows, dtype=np.intp)


def _graph(neighbors: Neighbors, names: tuple[str, ...]) -> csr_matrix:
    """The neighbours of each course as a sparse matrix of similarities."""
    if neighbors.names != names or neighbors.others is not None:
        among = "" if neighbors.others is None else f" among {len(neighbors.others):,} others"
        raise InputError(
            f"neighbors are of {checks.counted(len(neighbors.names), 'course')}{among}, clusters of {len(names):,}: "
            "give the neighbours of the same courses, in the same order, among themselves."
        )
    return directed_graph(neighbors.indices, neighbors.scores, len(names))


# -- the record --------------------------------------------------------------------------------------------------------


def record(clustering: Clustering, gp: GP | None) -> dict[str, Any]:
    """What is worth keeping about a clustering, in types that survive a file: no None, no objects."""
    entries: dict[str, Any] = {
        "method": clustering.method,
        "n_clusters": int(clustering.k),
        "versions": installed("timelike", "numpy", "scipy", "scikit-learn", "anndata"),
        "citation": CITATION,
    }
    if isinstance(clustering, CurveClustering):
        entries |= {"spread": float(clustering.spread), "continuum": bool(clustering.continuum)}
        if clustering.free:
            entries |= {"up_to": list(clustering.free.names), "earned": dict(clustering.earned)}
    if clustering.evidence:
        tried = np.array(list(clustering.evidence))
        entries["evidence"] = {"n_clusters": tried, "value": np.array(list(clustering.evidence.values()))}
    return entries if gp is None else entries | {"gp": model_record(gp)}


def model_record(gp: GP) -> dict[str, Any]:
    """The hyperparameters as plain data."""
    fields = ("length_scale", "clock", "signal_sd", "noise_sd", "mean", "log_likelihood")
    numbers = {name: getattr(gp, name) for name in fields}
    numbers["clock_start"] = getattr(gp.kernel, "start", None)
    numbers["period"] = kernels.unclocked(gp.kernel).get_params().get("periodicity")
    known = {name: value for name, value in numbers.items() if value is not None}
    return {"kernel": kernels.name_of(gp.kernel), "warnings": " ".join(gp.warnings)} | known


def graph_record(key: str, graph: csr_matrix) -> dict[str, Any]:
    """Where the graph is, in the words that scanpy looks for."""
    k = int(np.diff(graph.indptr).max(initial=0))
    return {
        "connectivities_key": f"{key}_connectivities",
        "distances_key": f"{key}_distances",
        "params": {"n_neighbors": k, "method": "timelike", "metric": "log likelihood ratio"},
    }
