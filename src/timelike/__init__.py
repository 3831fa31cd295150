"""Tell which short, noisy, irregular time courses are alike, and group them.

>>> import timelike as tl
>>> courses, profile = tl.simulate.profiles(noise=0.08, seed=1)
>>> gp = tl.fit(courses)
>>> S = tl.similarity(courses, gp)
"""

from timelike import annotated, datasets, ontology, plot, simulate
from timelike.clusters.clustering import Clustering
from timelike.clusters.curves.curve_clustering import CurveClustering
from timelike.clusters.curves.evidence_linkage import evidence_linkage
from timelike.clusters.curves.mixture import mixture
from timelike.clusters.curves.mixture_from_chunks import ChunkedClustering, mixture_from_chunks
from timelike.clusters.curves.stability import stability
from timelike.clusters.hierarchical import hierarchical
from timelike.clusters.leiden import leiden
from timelike.clusters.nmi import nmi
from timelike.clusters.spectral import spectral
from timelike.courses import TimeCourses
from timelike.exceptions import DataWarning, FitWarning, InputError, MissingExtraError
from timelike.gp import GP, Curve
from timelike.gp.fit import fit
from timelike.gp.look import look
from timelike.ontology.bhi import Homogeneity, bhi
from timelike.ontology.enrichment import enrichment
from timelike.pairs.distance import Distance, distance
from timelike.pairs.explain import Explanation, explain
from timelike.pairs.lags import GroupLags, Lags, lags
from timelike.pairs.match import Match, match
from timelike.pairs.nearest.neighbors import Neighbors, neighbors
from timelike.pairs.own_fit.similarity_pairwise_fit import similarity_pairwise_fit
from timelike.pairs.similar_pairs import SimilarPairs, similar_pairs
from timelike.pairs.similarity import Similarity, similarity
from timelike.questions.changing import Changing, changing
from timelike.questions.compare import Compared, compare
from timelike.reading import read
from timelike.reading.course_file import CourseFile
from timelike.reporting.report import report
from timelike.reporting.report_answer import report_answer
from timelike.runs.analyse import analyse
from timelike.runs.analysis import Analysis

__version__ = "0.1.0"
__all__ = [
    "GP",
    "Analysis",
    "Changing",
    "ChunkedClustering",
    "Clustering",
    "Compared",
    "CourseFile",
    "Curve",
    "CurveClustering",
    "DataWarning",
    "Distance",
    "Explanation",
    "FitWarning",
    "GroupLags",
    "Homogeneity",
    "InputError",
    "Lags",
    "Match",
    "MissingExtraError",
    "Neighbors",
    "SimilarPairs",
    "Similarity",
    "TimeCourses",
    "analyse",
    "annotated",
    "bhi",
    "changing",
    "compare",
    "datasets",
    "distance",
    "enrichment",
    "evidence_linkage",
    "explain",
    "fit",
    "hierarchical",
    "lags",
    "leiden",
    "look",
    "match",
    "mixture",
    "mixture_from_chunks",
    "neighbors",
    "nmi",
    "ontology",
    "plot",
    "read",
    "report",
    "report_answer",
    "similar_pairs",
    "similarity",
    "similarity_pairwise_fit",
    "simulate",
    "spectral",
    "stability",
]


def __dir__() -> list[str]:
    """The public names, without the rooms that they come from."""
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
