"""Found: the answer to a question about many genes, each with a probability."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from timelike.base import checks
from timelike.base.arrays import Floats, Ints, readonly
from timelike.base.odds import running_fdr
from timelike.exceptions import InputError
from timelike.gp import GP, Curve
from timelike.gp.kernels import evenly
from timelike.questions.asked import Answer, Question, answered
from timelike.questions.curves import curves_of
from timelike.questions.measured import check_times, measured
from timelike.questions.permuted import STATED, Check, Columns, as_courses, columns, exchanged

if TYPE_CHECKING:
    import pandas as pd

GRID = 101
"""Times at which peaks, intervals and largest differences are sought, besides those measured."""
LIKELY = 0.5
"""Courses with at least this probability are asked when and how."""


@dataclass(frozen=True, eq=False, repr=False)
class Found:
    """An answer for each gene.

    Attributes
    ----------
    question, answer
        What was asked, and the evidence for every effect.
    gp : GP
        The model whose kernel, clock and noise it was asked under.
    notes : tuple of str
        What deserves a second look.
    """

    question: Question
    answer: Answer
    gp: GP
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the genes."""
        return self.question.measured.names

    @cached_property
    def log_bayes_factor(self) -> Floats:
        """Log likelihood ratio of "yes" to "no", whatever the effect's shape and size and the gene's noise, (N,)."""
        return readonly(self.answer.log_bayes_factor)

    @cached_property
    def posterior(self) -> Floats:
        """Probability of each contrast and effect, (N, contrasts, K), see `Question.shape_of`."""
        return readonly(self.answer.posterior)

    @cached_property
    def probability(self) -> Floats:
        """Probability of "yes", (N,): prior odds are learned from all genes together, see `Answer.posterior`."""
        return readonly(np.minimum(self.posterior[:, :, self.question.counted].sum(axis=(1, 2)), 1.0))

    @cached_property
    def fdr(self) -> Floats:
        """Expected share of false ones among all that are called down to each gene, from the surest on, (N,)."""
        return readonly(running_fdr(self.probability))

    @property
    def share(self) -> float:
        """Share of genes for which the answer is "yes", as learned from all."""
        return float(self.answer.share.mean())

    def called(self, fdr: float = 0.05) -> Ints:
        """Positions of the genes that are called at an expected false discovery rate, the surest first."""
        if not checks.is_number(fdr) or not 0 < fdr < 1:
            raise InputError(f"fdr is {fdr!r}: expected a number between 0 and 1, as 0.05.")
        order = self.order
        return order[self.fdr[order] <= fdr]

    @cached_property
    def order(self) -> Ints:
        """Positions of the genes, the surest first; where probabilities are the same but for rounding, by evidence."""
        return readonly(np.lexsort((-self.log_bayes_factor, -self.probability.round(12))))

    @cached_property
    def grid(self) -> Floats:
        """Times from the first to the last, evenly on the model's clock; with few, those measured are among them."""
        coordinates = self.question.measured.coordinates
        points = check_times(self.question.measured.conditions)
        even = evenly(self.gp.kernel, float(points.min()), float(points.max()), GRID)
        return np.union1d(even, coordinates.points) if coordinates.exact else even

    def curves(self, name: str | int, times: ArrayLike) -> dict[str, Curve]:
        """For each condition the mean and standard deviation, at `times`, of a gene's curve; NaN where not measured."""
        gene, asked = self.index(name), checks.as_points(checks.numbers(times, "times"))
        checks.finite_times(asked)
        question = self.question
        found = curves_of(question.measured, question.shapes, gene, float(self.answer.scale[gene]), asked)
        return dict(zip(question.measured.conditions, found, strict=True))

    @property
    def permutable(self) -> bool:
        """Whether there are samples that can be permuted: times are shared, and subjects are not paired."""
        return self.question.measured.coordinates.exact and not self.question.measured.subjects

    def check(self, permutations: int = 3, seed: int = 0) -> Check:
        """How many are called where nothing can be true: everything done again with permuted samples."""
        checks.whole(permutations, "permutations")
        if self.question.measured.subjects:
            raise InputError("samples of paired subjects are not exchanged: check the same courses without subjects.")
        rng = np.random.default_rng(seed)
        samples = columns(self.question.measured.conditions, self.names)
        again = [self._asked_again(self._permuted(samples, rng)) for _ in range(permutations)]
        chance = [float(np.mean([len(one.called(rate)) for one in again])) for rate in STATED]
        return Check(STATED, tuple(len(self.called(rate)) for rate in STATED), tuple(chance), len(self))

    def _permuted(self, samples: Columns, rng: np.random.Generator) -> Columns:
        return exchanged(samples, rng)

    def _asked_again(self, samples: Columns) -> Found:
        """The answer to the same question about other samples of the genes."""
        conditions = as_courses(samples, self.names, tuple(self.question.measured.conditions))
        here = measured(conditions, self.gp, self.question.measured.coordinates, self.names)
        question = replace(self.question, measured=here)
        return Found(question, answered(question), self.gp)

    def index(self, name: str | int) -> int:
        """Position of a gene, given by name or by position."""
        if checks.is_whole(name) and -len(self) <= name < len(self):
            return int(name) % len(self)
        if name not in self._position:
            raise InputError(f"there is no answer about {name!r}. {checks.nearest(str(name), self.names)}")
        return self._position[str(name)]

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def _numbers(self) -> pd.DataFrame:
        """Table of name, log_bayes_factor, probability and fdr."""
        import pandas as pd

        columns = {"log_bayes_factor": self.log_bayes_factor, "probability": self.probability, "fdr": self.fdr}
        return pd.DataFrame({"name": list(self.names)} | columns)
