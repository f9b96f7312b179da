"""A sample of users, the procedures it is tested with, and the former ones for comparison."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from recsys_ndcg.significance.paired import PairResults, compare_pairs
from recsys_ndcg.significance.testing import CORRECTIONS, Testing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from populations import Population

    from recsys_ndcg.arrays import Flags, Floats, Positions

ALPHA = 0.05
DRAWS = 999  # draws of a randomisation test or a bootstrap, in each sample


@dataclass(frozen=True)
class Sample:
    """A sample of users, with replacement, and its own random numbers.

    Parameters
    ----------
    population : Population
        The users.
    metric : str
        The metric of the scores.
    size, number : int
        The number of users, and the sample's number.
    """

    population: Population
    metric: str
    size: int
    number: int

    @cached_property
    def random(self) -> np.random.Generator:
        """The sample's random numbers, after those that chose the users."""
        random = np.random.default_rng([self.size, self.number])
        random.integers(0, self.population.n_users, self.size)
        return random

    @cached_property
    def users(self) -> Positions:
        """The places of the users."""
        random = np.random.default_rng([self.size, self.number])
        return random.integers(0, self.population.n_users, self.size)

    def everyone(self, metric: str = "") -> Floats:
        """Return the scores of the whole population, a column per model."""
        return self.population.scores(metric or self.metric)

    def equal(self, metric: str = "") -> Floats:
        """Return the sample's scores, shifted so that the population's means are all equal."""
        scores = self.everyone(metric)
        shifted: Floats = scores[self.users] - scores.mean(axis=0)
        return shifted

    def test(
        self, values: Floats, pairs: Any, test: str = "t", correction: str = "none", **options: Any
    ) -> PairResults:
        """Compare pairs of models."""
        how = Testing(test, correction, ALPHA, draws=DRAWS, seed=self.number)
        return compare_pairs(values, pairs, how, **options)


def list_pairs(n_models: int) -> Positions:
    """Return all pairs of models."""
    return np.array([*combinations(range(n_models), 2)])


def contains(found: PairResults, truth: Floats | float) -> Flags:
    """Return whether each interval contains the truth."""
    return np.asarray((found.low <= truth) & (truth <= found.high))


def find_better(found: PairResults, p: Floats) -> Positions:
    """Return 1 for each pair whose first model is significantly better, -1 for the second, or 0."""
    return np.where(p <= ALPHA, np.sign(found.difference), 0).astype(np.int64)


def correct(found: PairResults, correction: str) -> Iterator[tuple[str, Floats]]:
    """Yield a correction's name and corrected p-values; for "none", also "bh" and "holm"."""
    if correction == "none":
        for name in ("none", "bh", "holm"):
            yield name, CORRECTIONS[name].correct(found.p)
    else:
        yield correction, found.p_corrected


# Former procedures


def find_t_interval(top: Floats, bottom: Floats) -> tuple[float, float]:
    """Return the interval of Σtop / Σbottom by Student's t, which may leave [0, 1]."""
    ratio, users = top.sum() / bottom.sum(), len(top)
    error = np.std(top - ratio * bottom, ddof=1) / np.sqrt(users) / bottom.mean()
    half = stats.t.isf(ALPHA / 2, users - 1) * error
    return ratio - half, ratio + half


def find_probability(apart: Floats, margin: float, random: np.random.Generator) -> float:
    """Return the probability that a mean is above -margin, by users' random shares alone."""
    shares = random.standard_exponential((DRAWS, len(apart)))
    return float((shares @ apart > -margin * shares.sum(axis=1)).mean())


def test_groups_by_welch(scores: Floats, groups: Positions, n_groups: int) -> Floats:
    """Return p-values of each group against the others: Welch's t test, Holm's correction."""
    sides = [(scores[groups == one], scores[groups != one]) for one in range(n_groups)]
    with np.errstate(divide="ignore", invalid="ignore"):
        p = [stats.ttest_ind(*both, equal_var=False).pvalue for both in sides]
    return CORRECTIONS["holm"].correct(np.array(p))
