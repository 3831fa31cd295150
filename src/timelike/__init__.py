"""Tell which short, noisy, irregular time courses are alike, and group them.

>>> import timelike as tl
>>> courses, profile = tl.simulate.profiles(noise=0.08, seed=1)
>>> gp = tl.fit(courses)
>>> S = tl.similarity(courses, gp)
"""

from timelike import datasets, ontology, plot, simulate
from timelike.clusters import Clustering, hierarchical, spectral
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
from timelike.pairwise_fit import similarity_pairwise_fit
from timelike.reading import read
from timelike.similarities import Similarity, similarity

__version__ = "0.1.0"
__all__ = [
    "GP",
    "Clustering",
    "Curve",
    "CurveClustering",
    "DataWarning",
    "Distance",
    "Explanation",
    "FitWarning",
    "Homogeneity",
    "InputError",
    "MissingExtraError",
    "Similarity",
    "TimeCourses",
    "bhi",
    "datasets",
    "distance",
    "enrichment",
    "evidence_linkage",
    "explain",
    "fit",
    "hierarchical",
    "mixture",
    "nmi",
    "ontology",
    "plot",
    "read",
    "similarity",
    "similarity_pairwise_fit",
    "simulate",
    "spectral",
]
