"""Which change, which differ, where nobody simulated: public data with their nulls; and conditions with other times.

.venv-bench/bin/python benchmarks/questions.py      # a few minutes; writes benchmarks/results/questions.md
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
from racing import DATA, machine, table, write

import timelike as tl

SEEDS = range(100, 110)
SAMPLED = {
    "all eight times, shared": (0.0, 1, 2, 4, 6, 9, 12, 16),
    "four of A's times": (0.0, 2, 6, 12),
    "four times, none of A's": (0.5, 3, 7.5, 14),
}
"""When condition B is measured; A always at the first eight. Three replicates each."""


def made(seed: int, times: tuple[float, ...], count: int = 1500) -> tuple[dict[str, tl.TimeCourses], np.ndarray]:
    """Pulses that both conditions share; one gene in ten differs by a level, a ramp or a pulse. Own noise."""
    rng = np.random.default_rng(seed)
    middle, size, width = (
        rng.uniform(0, 16, (count, 1)),
        rng.normal(0, 1.5, (count, 1)),
        rng.uniform(2.5, 6, (count, 1)),
    )
    size *= rng.random((count, 1)) < 0.4
    kind, other = rng.integers(0, 3, (count, 1)), rng.uniform(2, 14, (count, 1))
    drawn = rng.normal(0, 1, (count, 1))
    different = np.arange(count) < count // 10
    effect = np.sign(drawn) * (0.5 + np.abs(drawn)) * different[:, None]
    noise = 0.35 * np.exp(0.3 * rng.normal(size=(count, 1)))

    def values(at: np.ndarray, share: float) -> tl.TimeCourses:
        pulse = np.exp(-(((at - other) / 3) ** 2) / 2)
        curve = size * np.exp(-(((at - middle) / width) ** 2) / 2)
        difference = effect * np.select([kind == 0, kind == 1], [np.ones_like(pulse), at / 16 + 0 * pulse], pulse)
        return tl.TimeCourses.from_arrays(at, curve + share * difference + noise * rng.normal(size=pulse.shape))

    first = np.repeat(SAMPLED["all eight times, shared"], 3)
    return {"A": values(first, 0.0), "B": values(np.repeat(times, 3), 1.0)}, different


def power(scores: np.ndarray, different: np.ndarray, level: float) -> float:
    """Share of the different genes in the longest list of which at most `level` are wrong."""
    order = np.argsort(-scores, kind="stable")
    wrong = np.cumsum(~different[order]) / np.arange(1, len(order) + 1)
    fine = np.flatnonzero(wrong <= level)
    return float(different[order][: fine[-1] + 1].sum() / different.sum()) if len(fine) else 0.0


def other_times() -> str:
    rows: list[list[object]] = []
    for name, times in SAMPLED.items():
        found = []
        for seed in SEEDS:
            conditions, different = made(seed, times)
            answer = tl.compare(conditions)
            called = answer.fdr <= 0.05
            rates = [power(answer.log_bayes_factor, different, level) for level in (0.01, 0.05, 0.1)]
            found.append([*rates, (~different[called]).mean() if called.any() else 0.0])
        rows.append([name, *(f"{x:.3f}" for x in np.mean(found, axis=0))])
    header = ["condition B is measured at", "power at a true FDR of 1 %", "5 %", "10 %", "true FDR where 5 % is stated"]
    return f"## Other times\n\n{len(SEEDS)} sets of 1,500 genes, one in ten different.\n\n{table(header, rows)}"


def fission() -> dict[str, tl.TimeCourses]:
    counts = pd.read_csv(DATA / "fission" / "counts.csv.gz", index_col=0)
    samples = pd.read_csv(DATA / "fission" / "samples.csv", index_col=0).loc[counts.columns]
    return tl.TimeCourses.from_counts(samples["minute"], counts, conditions=samples["strain"]).by_condition()


def mouse_flu() -> dict[str, tl.TimeCourses]:
    values = pd.read_csv(DATA / "mouse_flu" / "expression.csv.gz", index_col=0)
    samples = pd.read_csv(DATA / "mouse_flu" / "samples.csv", index_col=0).loc[values.columns]
    groups = {group: (samples["Group"] == group).to_numpy() for group in ("M", "K", "C")}
    return {g: tl.TimeCourses.from_arrays(samples["Timepoint"][own], values.loc[:, own]) for g, own in groups.items()}


def answered(what: str, found: tl.Changing | tl.Compared) -> list[object]:
    check = found.check(permutations=5)
    called = [f"{called:,} ({chance:.3g})" for called, chance in zip(check.called, check.by_chance, strict=True)]
    return [what, len(found), *called]


def real() -> str:
    yeast, mice = fission(), mouse_flu()
    rows = [answered("fission: wt and mut differ", tl.compare(yeast))]
    rows += [answered(f"fission: {name} changes", tl.changing(courses)) for name, courses in yeast.items()]
    rows += [answered(f"mouse_flu: {name} changes", tl.changing(courses)) for name, courses in mice.items()]
    rows += [answered(f"mouse_flu: M and {g} differ", tl.compare({"M": mice["M"], g: mice[g]})) for g in ("K", "C")]
    rows.append(answered("mouse_flu: M, K and C differ", tl.compare(mice)))
    header = ["question", "courses", "called at 1 % (permuted)", "5 %", "10 %"]
    words = (
        "In brackets what is called when samples are permuted and everything is learned anew, mean of 5 permutations."
    )
    first = tl.compare(yeast).to_frame().sort_values("over_time", ascending=False)["name"].iloc[0]
    return f"## Public data\n\n{words} First of fission's differences over time: {first}.\n\n{table(header, rows)}"


def main() -> None:
    warnings.simplefilter("ignore")
    write("questions.md", f"# Questions\n\n{machine('timelike', 'numpy')}\n\n{real()}\n{other_times()}")


if __name__ == "__main__":
    main()
