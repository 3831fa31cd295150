"""The paper's synthetic data on a small scale, and the test between its bars."""

import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import slowing
from timelike.reproduce import synthetic
from timelike.reproduce.settings import Run
from timelike.reproduce.synthetic import rank_sum


def test_every_data_set_has_its_own_seed():
    places = [(s, n, seed, r) for s in ("even", "uneven") for n in (0.08, 0.1) for seed in (0, 1) for r in range(50)]
    assert len({synthetic.seed_of(*place) for place in places}) == len(places)


def test_euclidean_is_left_out_where_it_is_not_defined():
    shared, own = (set(synthetic.one_repeat([sampling, 0.08, 0, 0])) for sampling in ("even", "asynchronous"))
    assert shared - own == {"Euclidean, spectral", "Euclidean, hierarchical"}


def test_summary_has_mean_spread_and_p():
    columns = [f"{m}, {c}" for m in synthetic.MEASURES for c in synthetic.CLUSTERINGS]
    scores = pd.DataFrame(np.random.default_rng(0).random((6, len(columns))), columns=columns)
    scores.insert(0, "noise", [0.08] * 4 + [0.1] * 2)
    table = synthetic.summary(scores)
    assert len(table) == 16
    bar = table.set_index(["noise", "clustering", "measure"]).loc[(0.08, "spectral", "Bregman")]
    values = scores["Bregman, spectral"][:4]
    assert bar["mean"] == pytest.approx(values.mean())
    assert bar["sd"] == pytest.approx(values.std())
    assert 0 < bar["p"] <= 1


def test_figure_even(call, tmp_path, monkeypatch):
    result = call("figure-even", "--repeats", 2, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    scores = pd.read_csv(tmp_path / "figure-even.csv")
    assert list(scores.columns[:2]) == ["noise", "repeat"]
    assert scores.shape == (6, 10)
    quiet = scores[scores["noise"] == 0.08]
    assert quiet["GP similarity, spectral"].mean() > 0.8
    for name in ("figure-even", "sampling", "pairs"):
        assert (tmp_path / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert b"<svg" in (tmp_path / f"{name}.svg").read_bytes()
    page = (tmp_path / "reproduction.md").read_text(encoding="utf-8")
    assert "| 0.12 | hierarchical | 1.1e-20 |" in page
    assert all((tmp_path / name).exists() for name in _figures_of(page))

    before = (tmp_path / "figure-even.csv").read_bytes()
    monkeypatch.setattr(synthetic, "one_repeat", lambda job: pytest.fail(f"{job} was computed again"))
    assert call("figure-even", "--repeats", 2, "--out", tmp_path).exit_code == 0
    assert (tmp_path / "figure-even.csv").read_bytes() == before


def _figures_of(page):
    return [part.split(")")[0] for part in page.split("](")[1:]]


def test_a_killed_run_goes_on_and_ends_the_same(call, tmp_path):
    for extra in ("matplotlib", "dtaidistance"):
        pytest.importorskip(extra)
    arguments = ["figure-async", "--repeats", "5", "--out"]
    store = Run(tmp_path / "killed").work / "figure-async.jsonl"
    command = [sys.executable, "-m", "timelike.reproduce", *arguments, tmp_path / "killed", "--processes", "1"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60
        while not (store.exists() and store.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.kill()
    assert 0 < len(store.read_text().splitlines()) < 5
    assert not (tmp_path / "killed" / "figure-async.csv").exists()
    for name in ("killed", "whole"):
        assert call(*arguments, tmp_path / name).exit_code == 0
    first, second = (Path(tmp_path / name / "figure-async.csv").read_bytes() for name in ("killed", "whole"))
    assert first == second


def naive_rank_sum(a, b):
    """Normal approximation with mid-ranks, corrected for ties and continuity."""
    both = sorted([*a, *b])
    rank = {v: np.mean([i + 1 for i, w in enumerate(both) if w == v]) for v in both}
    n, m, total = len(a), len(b), len(both)
    u = sum(rank[v] for v in a) - n * (n + 1) / 2
    ties = sum(both.count(v) ** 3 - both.count(v) for v in set(both))
    sd = math.sqrt(n * m / 12 * (total + 1 - ties / (total * (total - 1))))
    return math.erfc((abs(u - n * m / 2) - 0.5) / sd / math.sqrt(2))


def test_rank_sum_equals_its_definition():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 1, 40).round(1), rng.normal(0.6, 1, 30).round(1)  # rounded: with ties
    assert rank_sum(a, b) == pytest.approx(naive_rank_sum(a.tolist(), b.tolist()), rel=1e-9)
    assert rank_sum(a, b) == pytest.approx(rank_sum(b, a))


def test_time_is_that_of_the_paper(monkeypatch):
    """Also where a fit would choose a clock: the paper has none."""
    courses, _ = slowing.made(per_group=4)
    used = []
    monkeypatch.setattr(synthetic, "similarity", lambda _, gp, **__: used.append(gp))
    monkeypatch.setattr(synthetic, "distance", lambda *_: None)
    list(synthetic.matrices(courses))
    assert used[0].clock is None
