"""Tell which short, noisy, irregular time courses are alike, and group them.

>>> import timelike as tl
>>> courses, profile = tl.simulate.profiles(noise=0.08, seed=1)
>>> gp = tl.fit(courses)
>>> S = tl.similarity(courses, gp)
"""

from timelike import annotated, datasets, ontology, plot, simulate
from timelike.analyses import Analysis
from timelike.analysing import analyse
from timelike.chunked_mixture import ChunkedClustering, mixture_from_chunks
from timelike.clusters import Clustering, hierarchical, spectral
from timelike.communities import leiden
from timelike.courses import TimeCourses
from timelike.curve_clusters import CurveClustering
from timelike.distances import Distance, distance
from timelike.enriching import enrichment
from timelike.evaluate import nmi
from timelike.evidence_tree import evidence_linkage
from timelike.exceptions import DataWarning, FitWarning, InputError, MissingExtraError
from timelike.explanation import Explanation, explain
from timelike.fitting import fit
from timelike.gp import GP, Curve
from timelike.homogeneity import Homogeneity, bhi
from timelike.mixtures import mixture
from timelike.neighborhoods import Neighbors, neighbors
from timelike.pairwise_fit import similarity_pairwise_fit
from timelike.reading import read
from timelike.reporting import report
from timelike.similarities import Similarity, similarity
from timelike.streaming import CourseFile
from timelike.thresholding import SimilarPairs, similar_pairs

__version__ = "0.1.0"
__all__ = [
    "GP",
    "Analysis",
    "ChunkedClustering",
    "Clustering",
    "CourseFile",
    "Curve",
    "CurveClustering",
    "DataWarning",
    "Distance",
    "Explanation",
    "FitWarning",
    "Homogeneity",
    "InputError",
    "MissingExtraError",
    "Neighbors",
    "SimilarPairs",
    "Similarity",
    "TimeCourses",
    "analyse",
    "annotated",
    "bhi",
    "datasets",
    "distance",
    "enrichment",
    "evidence_linkage",
    "explain",
    "fit",
    "hierarchical",
    "leiden",
    "mixture",
    "mixture_from_chunks",
    "neighbors",
    "nmi",
    "ontology",
    "plot",
    "read",
    "report",
    "similar_pairs",
    "similarity",
    "similarity_pairwise_fit",
    "simulate",
    "spectral",
]
