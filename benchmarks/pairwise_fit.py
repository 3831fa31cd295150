"""Time similarity_pairwise_fit on 150 courses of 15 points, beside a plain loop of SciPy's L-BFGS over pairs.

Both maximise the same likelihood, from the same number of starting length scales.
"""

from __future__ import annotations

import argparse
from time import perf_counter, process_time

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

import timelike as tl
from timelike.base.blas import one_thread_below
from timelike.base.threads import thread_count
from timelike.pairs.own_fit.similarity_pairwise_fit import LENGTH_STARTS, similarity_pairwise_fit


def negative(parameters, curves):
    """Minus the log likelihood of independent curves [(x, y), ...] at log (length scale, signal, noise), and mean."""
    length, signal, noise = np.exp(parameters[:3])
    value, slope = 0.0, np.zeros(4)
    for x, y in curves:
        square = (np.subtract.outer(x, x) / length) ** 2
        K = signal * np.exp(-square / 2)
        factor = cho_factor(K + noise * np.eye(len(x)), lower=True)
        alpha = cho_solve(factor, y - parameters[3])
        inner = np.outer(alpha, alpha) - cho_solve(factor, np.eye(len(x)))
        value += 0.5 * (y - parameters[3]) @ alpha + np.log(np.diag(factor[0])).sum()
        slope[:3] -= 0.5 * np.array([(inner * K * square).sum(), (inner * K).sum(), noise * np.trace(inner)])
        slope[3] -= alpha.sum()
    return value, slope


def best(curves):
    level = np.mean(np.concatenate([y for _, y in curves]))
    starts = [[length, -1, -3, level] for length in np.linspace(np.log(1 / 28), np.log(4), LENGTH_STARTS)]
    bounds = [(np.log(1 / 280), np.log(100)), (-18, 9), (-18, 5), (None, None)]
    return max(-minimize(negative, s, (curves,), jac=True, method="L-BFGS-B", bounds=bounds).fun for s in starts)


def plain(courses, pairs):
    scores = []
    for i, j in pairs:
        (x, y), (u, v) = ((courses[k].times, courses[k].values) for k in (int(i), int(j)))
        same = best([(np.concatenate([x, u]), np.concatenate([y, v]))])
        scores.append(same - best([(x, y), (u, v)]))
    return np.array(scores)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--per-group", type=int, default=50, help="courses of each of the three profiles")
    parser.add_argument("--sampling", default="even", help="even, uneven or asynchronous")
    parser.add_argument("--sample", type=int, default=20, help="pairs for the plain loop")
    options = parser.parse_args()
    courses, _ = tl.simulate.profiles(sampling=options.sampling, per_group=options.per_group, seed=1)
    left, right = np.triu_indices(len(courses), 1)
    chosen = np.random.default_rng(0).choice(len(left), min(options.sample, len(left)), replace=False)
    pairs = np.column_stack([left, right])[chosen]

    begin, begin_cpu = perf_counter(), process_time()
    S = similarity_pairwise_fit(courses)
    ours, ours_cpu = perf_counter() - begin, process_time() - begin_cpu
    begin, begin_cpu = perf_counter(), process_time()
    with one_thread_below():  # matrices so small only lose by threads
        theirs = plain(courses, pairs)
    loop, loop_cpu = perf_counter() - begin, process_time() - begin_cpu

    fitted = len(left) + len(courses)
    gap = S.values[pairs[:, 0], pairs[:, 1]] - theirs
    print(f"{courses}, {options.sampling}, {thread_count(None)} threads")
    for name, count, wall, cpu in (
        ("timelike", fitted, ours, ours_cpu),
        ("plain L-BFGS", len(pairs), loop, loop_cpu),
    ):
        rates = f"{count / wall:6.1f} a second, {count / cpu:6.1f} a CPU second"
        print(f"{name:12} {count:6,} pairs in {wall:6.1f} s  {rates}")
    faster = fitted / ours / (len(pairs) / loop), fitted / ours_cpu / (len(pairs) / loop_cpu)
    print(f"ratio {faster[0]:.0f} x, {faster[1]:.0f} x by CPU time")
    print(f"largest difference on the sample {np.abs(gap).max():.1e}")


if __name__ == "__main__":
    main()
