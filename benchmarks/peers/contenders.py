"""One contender on prepared data, in the environment where it lives; prints one JSON line for each data set.

python contenders.py NAME K FOLDER...      # started by peers.py; needs NumPy and the contender, nothing else
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

WARM = 60
"""Courses of a first run that is not timed, so that imports and compilers have done their work."""


@dataclass(frozen=True)
class Data:
    """A data set in the forms that contenders take: values on a grid, and as they were measured."""

    times: np.ndarray
    values: np.ndarray
    owner: np.ndarray | None
    when: np.ndarray | None
    what: np.ndarray | None

    @staticmethod
    def read(folder: Path) -> Data:
        """The data set that peers.py has laid into a folder."""

        def array(name: str) -> np.ndarray | None:
            path = folder / f"{name}.npy"
            return np.load(path) if path.exists() else None

        return Data(**{name: array(name) for name in Data.__dataclass_fields__})

    def head(self, count: int) -> Data:
        """The first courses."""
        if self.owner is None:
            return Data(self.times, self.values[:count], None, None, None)
        own = self.owner < count
        return Data(self.times, self.values[:count], self.owner[own], self.when[own], self.what[own])


# -- ours ----------------------------------------------------------------------------------------------------------


def courses_of(data: Data):
    import timelike as tl

    if data.owner is None:
        return tl.TimeCourses.from_arrays(data.times, data.values)
    cuts = np.flatnonzero(np.diff(data.owner)) + 1
    return tl.TimeCourses.from_arrays(np.split(data.when, cuts), np.split(data.what, cuts))


def timelike_mixture(data: Data, k: int | None) -> np.ndarray:
    import timelike as tl

    courses = courses_of(data)
    return tl.mixture(courses, tl.fit(courses), k).nearest


def timelike_chosen(data: Data, _k: int) -> np.ndarray:
    return timelike_mixture(data, None)


def timelike_linkage(data: Data, k: int) -> np.ndarray:
    import timelike as tl

    courses = courses_of(data)
    return tl.evidence_linkage(courses, tl.fit(courses), k=k, spread=None).labels


def timelike_spectral(data: Data, k: int) -> np.ndarray:
    """The paper's pipeline; beyond 10,000 courses the graph of the seven nearest, without the N x N matrix."""
    import timelike as tl

    courses = courses_of(data)
    gp = tl.fit(courses)
    alike = tl.similarity(courses, gp) if len(courses) <= 10_000 else tl.neighbors(courses, gp, k=7)
    return tl.spectral(alike, k).labels


# -- values on a grid ------------------------------------------------------------------------------------------------


def sklearn_kmeans(data: Data, k: int) -> np.ndarray:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=0).fit_predict(data.values)


def sklearn_mixture(data: Data, k: int) -> np.ndarray:
    from sklearn.mixture import GaussianMixture

    return GaussianMixture(k, n_init=3, reg_covar=1e-4, random_state=0).fit_predict(data.values)


def sklearn_spectral(data: Data, k: int) -> np.ndarray:
    from sklearn.cluster import SpectralClustering

    settings = {"affinity": "nearest_neighbors", "assign_labels": "discretize", "n_jobs": 2, "random_state": 0}
    return SpectralClustering(k, **settings).fit_predict(data.values)


def tslearn_dtw(data: Data, k: int, starts: int = 1) -> np.ndarray:
    from tslearn.clustering import TimeSeriesKMeans

    return TimeSeriesKMeans(k, metric="dtw", n_init=starts, random_state=0).fit_predict(data.values)


def tslearn_kshape(data: Data, k: int, starts: int = 1) -> np.ndarray:
    from tslearn.clustering import KShape
    from tslearn.preprocessing import TimeSeriesScalerMeanVariance

    scaled = TimeSeriesScalerMeanVariance().fit_transform(data.values)
    return KShape(k, n_init=starts, random_state=0).fit_predict(scaled)


def aeon_dtw(data: Data, k: int, starts: int = 1) -> np.ndarray:
    return _aeon(data, k, "dtw", starts)


def aeon_msm(data: Data, k: int, starts: int = 1) -> np.ndarray:
    return _aeon(data, k, "msm", starts)


def _aeon(data: Data, k: int, distance: str, starts: int) -> np.ndarray:
    """One start and 50 rounds, as tslearn does by itself; aeon's own are 10 and 300."""
    from aeon.clustering import TimeSeriesKMeans

    settings = {"n_init": starts, "max_iter": 50, "n_jobs": 2, "random_state": 0}
    return TimeSeriesKMeans(k, distance=distance, **settings).fit_predict(data.values)


def aeon_medoids(data: Data, k: int) -> np.ndarray:
    from aeon.clustering import TimeSeriesKMedoids

    return TimeSeriesKMedoids(k, distance="msm", n_init=1, random_state=0).fit_predict(data.values)


def aeon_kasba(data: Data, k: int, starts: int = 1) -> np.ndarray:
    """It starts once; of several seeds, the one with the least inertia."""
    from aeon.clustering import KASBA

    found = [KASBA(k, random_state=seed).fit(data.values) for seed in range(starts)]
    return min(found, key=lambda one: one.inertia_).labels_


def dtaidistance_average(data: Data, k: int) -> np.ndarray:
    from dtaidistance import dtw
    from scipy.cluster.hierarchy import fcluster, linkage

    distances = dtw.distance_matrix_fast(np.ascontiguousarray(data.values), compact=True)
    return fcluster(linkage(np.asarray(distances), "average"), k, "maxclust")


# -- programs that choose the number of clusters ---------------------------------------------------------------------


def clust(data: Data, _k: int) -> np.ndarray:
    """As it comes; what it puts nowhere is one further cluster."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "in").mkdir()
        header = "\t".join(["gene", *(f"t{x}" for x in range(len(data.times)))])
        lines = ["\t".join([f"c{at}", *map(repr, row)]) for at, row in enumerate(data.values.tolist())]
        (place / "in" / "courses.tsv").write_text("\n".join([header, *lines]) + "\n")
        command = [sys.executable, "-c", "from clust.__main__ import main; main()", str(place / "in")]
        subprocess.run([*command, "-o", str(place / "out")], check=True, stdout=subprocess.DEVNULL, cwd=place)
        table = next((place / "out").glob("**/Clusters_Objects.tsv")).read_text().splitlines()[2:]
    labels = np.full(len(data.values), -1)
    for line in table:
        for cluster, name in enumerate(line.split("\t")):
            if name.strip():
                labels[int(name.strip()[1:])] = cluster
    return labels


def mogp(data: Data, k: int) -> np.ndarray:
    """Started with k clusters, without the preference for falling curves that it was made for."""
    from tempfile import TemporaryDirectory

    from mogp import MoGP_constrained

    when, what = _padded(data)
    with TemporaryDirectory() as folder:
        settings = {"num_init_clusters": k, "savepath": folder, "mean_func": False, "onset_anchor": False}
        model = MoGP_constrained(when, what, 1.0, num_iter=50, normalize=True, **settings)
        model.sample()
    return np.asarray(model.z, int)


def _padded(data: Data) -> tuple[np.ndarray, np.ndarray]:
    """Times from 0 to 1 and values, a row each course, NaN behind the last; mogp fails on gaps and on few kinds."""
    if data.owner is None:
        when = np.broadcast_to((data.times - data.times[0]) / np.ptp(data.times), data.values.shape)
        return when.copy(), data.values
    counts = np.bincount(data.owner)
    inside = np.arange(counts.max()) < counts[:, None]
    when, what = (np.full(inside.shape, np.nan) for _ in range(2))
    when[inside] = (data.when - data.when.min()) / np.ptp(data.when)
    what[inside] = data.what
    return when, what


CONTENDERS: dict[str, Callable[[Data, int], np.ndarray]] = {
    run.__name__: run
    for run in (
        *(timelike_mixture, timelike_chosen, timelike_linkage, timelike_spectral),
        *(sklearn_kmeans, sklearn_mixture, sklearn_spectral, tslearn_dtw, tslearn_kshape),
        *(aeon_dtw, aeon_msm, aeon_medoids, aeon_kasba, dtaidistance_average, clust, mogp),
    )
}
CONTENDERS |= {
    f"{run.__name__}_5": partial(run, starts=5) for run in (tslearn_dtw, tslearn_kshape, aeon_dtw, aeon_msm, aeon_kasba)
}


def peak_gigabytes() -> float:
    """Largest memory of this process, or of one that it started."""
    line = next(x for x in Path("/proc/self/status").read_text().splitlines() if x.startswith("VmHWM"))
    return max(int(line.split()[1]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1e6


def main(name: str, k: int, folders: list[Path]) -> None:
    run = CONTENDERS[name]
    first = Data.read(folders[0])
    if name != "clust" and len(first.values) > WARM:
        run(first.head(WARM), min(k, 3))
    for folder in folders:
        data = Data.read(folder)
        before, start = peak_gigabytes(), time.perf_counter()
        labels = run(data, k)
        seconds = time.perf_counter() - start
        np.savetxt(folder / f"{name}.labels", np.asarray(labels, int), fmt="%d")
        record = {"folder": str(folder), "seconds": seconds, "before": before, "peak": peak_gigabytes()}
        print(json.dumps(record), flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(sys.argv[1], int(sys.argv[2]), [Path(folder) for folder in sys.argv[3:]])
