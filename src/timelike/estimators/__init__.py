"""scikit-learn estimators over the functions of this library.

``X`` has a course a row and a time a column, NaN where nothing was measured. `times` says when the columns were
measured; repeated times are replicates. Without it they are 0, 1, 2, ...: names of columns are never read as times.

scikit-learn takes a second to import, so ``import timelike`` does not do it; import the classes from here.

>>> import timelike as tl
>>> from timelike.estimators import GPMixture
>>> courses, _ = tl.simulate.profiles(seed=1)
>>> times, X = courses.to_matrix()
>>> model = GPMixture(times=times).fit(X)
>>> model.n_clusters_
3
"""

from timelike.estimators.clusterers import EvidenceLinkage, GPMixture
from timelike.estimators.transformers import GPNeighbors, GPSimilarity

__all__ = ["EvidenceLinkage", "GPMixture", "GPNeighbors", "GPSimilarity"]
