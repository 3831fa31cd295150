"""Paired subjects: the same people under both conditions."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import timelike as tl
from timelike.questions.effects import eliminated, evidence, spectrum

TIMES = np.repeat([0.0, 2, 4, 8], 4)
WHO = ["p", "q", "r", "s"] * 4
GP = tl.GP.se(3.0, signal_sd=1.0, noise_sd=0.4)


def made(seed=0, levels=1.5, count=200, different=20):
    rng = np.random.default_rng(seed)
    person = levels * rng.standard_normal((count, 4))[:, ["pqrs".index(one) for one in WHO]]
    effect = 2.0 * (np.arange(count) < different)[:, None] * TIMES / 8
    noise = 0.4 * rng.standard_normal((2, count, 16))
    arms = {"placebo": person + noise[0], "drug": person + effect + noise[1]}
    return {arm: tl.TimeCourses.from_arrays(TIMES, values) for arm, values in arms.items()}


def test_pairing_finds_what_levels_of_people_hide():
    arms = made()
    alone, paired = tl.compare(arms, GP), tl.compare(arms, GP, subjects=dict.fromkeys(arms, WHO))
    assert (alone.fdr[:20] < 0.05).mean() < 0.3
    assert (paired.fdr[:20] < 0.05).mean() > 0.9
    assert (paired.fdr[20:] < 0.05).mean() < 0.03


def test_levels_of_people_do_not_matter():
    subjects = dict.fromkeys(("placebo", "drug"), WHO)
    small, large = (tl.compare(made(levels=size), GP, subjects=subjects) for size in (0.0, 5.0))
    assert_allclose(small.log_bayes_factor, large.log_bayes_factor, atol=0.5)  # sizes are sought on another ladder


def test_the_evidence_is_that_of_dense_matrices():
    arms = made(count=3, different=1)
    question = tl.compare(arms, GP, subjects=dict.fromkeys(arms, WHO)).question
    known = question.measured.known(np.arange(3))
    found = spectrum(eliminated(known, *question.nuisances[0]), next(iter(question.effects(question.contrasts[0]))))
    got = evidence(found, 0.7, np.full((3, 1), 1.3))[:, 0]

    y = np.concatenate([arms[arm].values.reshape(3, 16) for arm in arms], axis=1)
    time = (np.tile(TIMES, 2)[:, None] == np.unique(TIMES)).astype(float)
    person = (np.array(WHO * 2)[:, None] == np.array(["p", "q", "r", "s"])).astype(float)
    left = np.linalg.svd(np.hstack([time, person]))
    free = left[0][:, np.linalg.matrix_rank(np.hstack([time, person])) :]  # what neither times nor people explain
    level = np.repeat([-0.5, 0.5], 16)
    noise = 1.3 * 0.16 * np.eye(32)
    expected = []
    for values in y:
        heights = []
        for K in (noise, noise + 0.7 * np.outer(level, level)):
            C = free.T @ K @ free
            z = free.T @ values
            heights.append(-(z @ np.linalg.solve(C, z) + np.linalg.slogdet(C)[1]) / 2)
        expected.append(heights[1] - heights[0])
    assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("subjects", "words"),
    [
        ({"placebo": WHO}, "expected one list for each of placebo, drug"),
        ({"placebo": WHO, "drug": WHO[:-1]}, "condition 'drug' has 15 subjects, its courses 16 samples"),
        ({"placebo": WHO, "drug": [f"{one}2" for one in WHO]}, "no subject was measured under two conditions"),
    ],
)
def test_subjects_that_pair_nothing(subjects, words):
    with pytest.raises(tl.InputError, match=words):
        tl.compare(made(count=5), GP, subjects=subjects)


def test_gaps_cannot_be_paired():
    arms = made(count=5)
    times, values = arms["drug"].to_matrix()
    values[2, 3] = np.nan
    with pytest.raises(tl.InputError, match="times of their own or gaps"):
        tl.compare(arms | {"drug": tl.TimeCourses.from_arrays(times, values)}, GP, subjects=dict.fromkeys(arms, WHO))


def test_a_column_of_the_sample_sheet_says_who():
    from timelike.reading import understand

    names = [f"s{k}" for k in range(32)]
    values = np.hstack([courses.values.reshape(6, 16) for courses in made(count=6).values()])
    order = np.random.default_rng(1).permutation(32)  # samples in any order
    table = pd.DataFrame(values, columns=names, index=[f"g{i}" for i in range(6)])[[names[k] for k in order]]
    sheet = pd.DataFrame(
        {"sample": names, "hour": np.tile(TIMES, 2), "arm": ["placebo"] * 16 + ["drug"] * 16, "who": WHO * 2}
    )
    found = understand(table.rename_axis("gene").reset_index(), samples=sheet, subject="who")
    for arm, courses in found.courses.by_condition().items():
        own = {(row.who, row.hour): row.sample for row in sheet[sheet.arm == arm].itertuples()}
        told = [own[who, hour] for who, hour in zip(found.subjects[arm], courses.grid, strict=True)]
        assert_allclose(courses.values.reshape(6, 16), table[told].to_numpy())
    with pytest.raises(tl.InputError, match="sample sheet: it has no column 'whom'"):
        understand(table.rename_axis("gene").reset_index(), samples=sheet, subject="whom")
    with pytest.raises(tl.InputError, match="it names a column of a sample sheet"):
        understand(pd.DataFrame({"gene": ["a"], "0h": [1.0], "2h": [2.0]}), subject="who")
