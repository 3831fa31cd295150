"""Tell which short, noisy, irregular time courses are alike, and group them."""

from timelike import simulate
from timelike.courses import TimeCourses
from timelike.fitting import fit
from timelike.gp import GP
from timelike.similarities import Similarity, similarity

__version__ = "0.1.0"
__all__ = ["GP", "Similarity", "TimeCourses", "fit", "similarity", "simulate"]
