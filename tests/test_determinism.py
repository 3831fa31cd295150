"""The same input and seed give the same bits, in another process, with any number of threads, ours or the library's."""

import os
import subprocess
import sys
from functools import cache

import pytest

PROGRAM = r"""
import hashlib, sys
import numpy as np
import timelike as tl
from sklearn.gaussian_process.kernels import Matern

threads = int(sys.argv[1])
digest = lambda *arrays: hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in arrays)).hexdigest()[:16]
model = lambda gp: np.array([gp.length_scale, gp.signal_sd, gp.noise_sd, gp.mean, gp.log_likelihood])
courses = {kind: tl.simulate.profiles(noise=0.1, sampling=kind, per_group=60, seed=7)[0]
           for kind in ("even", "asynchronous")}
courses["gaps"] = tl.TimeCourses.from_arrays(
    [c.times[k % 2:] for k, c in enumerate(courses["even"])], [c.values[k % 2:] for k, c in enumerate(courses["even"])])
courses["large"] = tl.simulate.profiles(noise=0.1, per_group=1000, seed=8)[0]
for kind, these in courses.items():
    gp = tl.fit(these)
    print("fit", kind, digest(model(gp)))
    gp = tl.GP.se(length_scale=0.8, signal_sd=0.6, noise_sd=0.1)
    S = tl.similarity(these, gp, threads=threads)
    print("similarity", kind, S.route, digest(S.values))
    part = these.select(range(0, len(these), 3))
    print("rectangle", kind, digest(tl.similarity(part, gp, these, threads=threads).values))
    if kind == "large":
        continue
    rough = tl.GP(Matern(0.8, nu=0.5), signal_sd=0.6, noise_sd=0.1)
    print("rough", kind, digest(tl.similarity(part, rough, threads=threads).values))
    print("spectral", kind, digest(tl.spectral(S, 3).labels))
    print("average", kind, digest(tl.hierarchical(S, 3).labels))
    tree = tl.evidence_linkage(these, gp)
    print("evidence", kind, digest(tree.labels, tree.linkage))
    groups = tl.mixture(these, gp, seed=1)
    print("mixture", kind, digest(groups.labels, groups.probabilities))
    few = these.select(range(8))
    print("pairwise", kind, digest(tl.similarity_pairwise_fit(few, threads=threads).values))
    why = tl.explain(these, gp, 0, 1)
    print("explain", kind, digest(*why.contributions))
times = np.linspace(0, 1, 260)
own = [times + i / 7919 for i in range(4)]
many = tl.TimeCourses.from_arrays(own, np.random.default_rng(0).standard_normal((4, 260)))
rough = tl.GP(Matern(0.3, nu=0.5), signal_sd=0.6, noise_sd=0.5)
S = tl.similarity(many, rough, threads=threads)
print("long", S.route, digest(S.values))
print("long explain", digest(*tl.explain(many, rough, 0, 1).contributions))
print("long posterior", digest(rough.posterior(many, times).mean, rough.posterior(many, times).sd))
times = np.linspace(0, 1, 200)
values = np.sin(6 * times + np.arange(24)[:, None] % 3) + np.random.default_rng(0).normal(0, 0.2, (24, 200))
values[[3, 7], [50, 20]] += 5
long = tl.TimeCourses.from_arrays(times, values)
gp = tl.GP.se(0.3, 1.0, 0.2)
groups = tl.mixture(long, gp, k=3, spread=0.0)
late = tl.TimeCourses.from_arrays([times + i / 7919 for i in range(4)], values[:4])
print("long outliers", digest(groups.outliers().select_dtypes("number").to_numpy()))
print("long curves", digest(*groups.curves(np.linspace(0, 9, 301))))
print("long predict", digest(groups.predict(late).probabilities, groups.log_densities(late)))
print("long stability", digest(tl.stability(groups, pairs=1).to_numpy()))
print("long lags", digest(tl.lags(long, gp, 3, max_delay=0.1, threads=threads).to_frame().select_dtypes("number")))
print("long changing", digest(tl.changing(long, gp, threads=threads).to_frame().select_dtypes("number")))
both = {"a": long, "b": tl.TimeCourses.from_arrays(times, values + np.sin(3 * times))}
print("long compare", digest(tl.compare(both, gp, threads=threads).to_frame().select_dtypes("number")))
"""
SETTINGS = {(1, 1), (2, 1), (1, 2), (2, 3)}
"""Threads of the linear algebra library when the process starts, and threads that are asked for."""


@cache
def run(library, threads):
    """Job -> digest of its result, from a process of its own."""
    counts = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(library))
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | counts)
    return dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize(("library", "threads"), sorted(SETTINGS - {(1, 1)}))
def test_threads_do_not_change_a_bit(library, threads):
    expected, actual = run(1, 1), run(library, threads)
    assert {job for job in expected if actual[job] != expected[job]} == set()
    assert expected.keys() == actual.keys()
