"""What reports and comparisons say of a sample of users, held against all of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from populations import MODELS, Population

from recsys_ndcg.significance.intervals import (
    BOOTSTRAPS,
    bootstrap_ratios,
    mean_interval,
    ratio_interval,
)
from recsys_ndcg.significance.paired import PairResults, compare_pairs
from recsys_ndcg.significance.ranks import find_rank_intervals
from recsys_ndcg.significance.student import power
from recsys_ndcg.significance.testing import CORRECTIONS, TESTS, Testing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.arrays import Floats, Positions

ALPHA, POWER = 0.05, 0.8
DRAWS = 999  # of a test or a bootstrap, in each sample
PAIRS = np.array([*combinations(range(len(MODELS)), 2)])
MODEL = [*MODELS].index("SVD")
PAIR = [[*MODELS].index(one) for one in ("PMF", "PMF of 10 epochs")]  # differences are skewed
SOME = 3  # models that are made equal, where the others are not
BY_T = [("t", "none"), ("t", "max-T")]
RESAMPLED = [("randomisation", "max-T"), ("bootstrap", "max-T")]
OWN, ALL, RANKS, EQUAL, EXCHANGED, ANY, ANY_EXCHANGED, FALSE, SHOWN = range(9)
#: what is counted, and how often it should happen: coverage and power at least, errors at most
SECTIONS = [
    ("an interval holds the truth", 1 - ALPHA),
    ("the intervals of all 15 differences do", 1 - ALPHA),
    ("the intervals of all 6 ranks do", 1 - ALPHA),
    ("found, though the two means are equal", ALPHA),
    ("found, though the two models are exchanged by chance", ALPHA),
    ("any of 15 found, though all means are equal", ALPHA),
    ("any of 15 found, though all models are exchanged by chance", ALPHA),
    ("any false one found, 3 of 6 means being equal", ALPHA),
    ("found, being as large as is detectable", POWER),
]


def promised(section: int, row: str) -> bool:
    """Tell whether theory promises the rate of a section, at least of many users.

    Not without a correction where pairs are many, nor by one for the share of false findings,
    where some are true; and ranks and signs know nothing of means.
    """
    if section == EQUAL:
        return row not in ("wilcoxon", "sign")
    of_all = section in (ALL, RANKS, ANY, ANY_EXCHANGED, FALSE)
    return not (of_all and row == "t, none") and not (section in (RANKS, FALSE) and row == "t, bh")


@dataclass(frozen=True)
class Sample:
    """Some users of a population, and random numbers of their own."""

    population: Population
    size: int
    number: int

    @cached_property
    def _random(self) -> np.random.Generator:
        return np.random.default_rng([self.size, self.number])

    @cached_property
    def _users(self) -> Positions:
        return self._random.integers(0, len(self.population.denominator), self.size)

    def outcomes(self) -> Iterator[tuple[int, str, bool]]:
        """Yield what is counted: the section, the row, and whether it happened."""
        yield from self._intervals()
        yield from self._pair()
        yield from self._all_pairs()
        yield from self._false()

    def _intervals(self) -> Iterator[tuple[int, str, bool]]:
        """Of a mean and a pooled score."""
        one = self.population.numerator[:, MODEL], self.population.denominator
        top = np.stack([one[0] / one[1], one[0]], axis=1)
        bottom = np.stack([np.ones(len(top)), one[1]], axis=1)
        truth = top.sum(axis=0) / bottom.sum(axis=0)
        top, bottom = top[self._users], bottom[self._users]
        ratio = top.sum(axis=0) / bottom.sum(axis=0)
        length = np.linalg.norm(top - ratio * bottom, axis=0)
        ends = [
            mean_interval(self.size, ratio[0], length[0], 1 - ALPHA),
            ratio_interval(self.size, ratio[1], bottom[:, 1].mean(), length[1], 1 - ALPHA),
        ]
        found = {"t": np.array(ends).T}
        for method in BOOTSTRAPS:
            found[method] = bootstrap_ratios(
                top, bottom, level=1 - ALPHA, method=method, draws=DRAWS, seed=self.number
            )
        for place, kind in enumerate(("mean", "pooled")):
            for method, (low, high) in found.items():
                held = low[place] <= truth[place] <= high[place]
                yield OWN, f"{kind}, {method}", bool(held)

    def _pair(self) -> Iterator[tuple[int, str, bool]]:
        """Of two models: as they are, with equal means, and exchanged by chance."""
        scores = self.population.scores[:, PAIR]
        sample, truth = scores[self._users], scores[:, 0].mean() - scores[:, 1].mean()
        # ties stay ties: who sees a difference between the models sees another one
        seen = scores[:, 0] != scores[:, 1]
        shift = np.where(seen, truth / seen.mean(), 0.0)[self._users, None] * [1, 0]
        exchanged = self._random.permuted(sample, axis=1)
        for test in TESTS:
            if test not in ("wilcoxon", "sign"):
                found = self._tested(sample, [(0, 1)], test, "none")
                yield OWN, f"difference, {test}", _held(found, truth)
            for section, values in ((EQUAL, sample - shift), (EXCHANGED, exchanged)):
                found = self._tested(values, [(0, 1)], test, "none")
                yield section, test, bool(found.p[0] <= ALPHA)
        deviation = float(np.std(scores[:, 0] - scores[:, 1]))
        detectable = power(deviation=deviation, users=self.size, power=POWER, alpha=ALPHA)
        found = self._tested(sample - [truth - detectable, 0], [(0, 1)], "t", "none")
        yield SHOWN, "t", bool(found.p[0] <= ALPHA and found.difference[0] > 0)

    def _all_pairs(self) -> Iterator[tuple[int, str, bool]]:
        """Of all models as they are."""
        scores = self.population.scores
        means = scores.mean(axis=0)
        truth = means[PAIRS[:, 0]] - means[PAIRS[:, 1]]
        ranks = 1 + (means > means[:, None]).sum(axis=1)
        for test, correction in [*BY_T, ("t", "bonferroni"), *RESAMPLED]:
            found = self._tested(scores[self._users], PAIRS, test, correction)
            yield ALL, f"{test}, {correction}", _held(found, truth)
            for name, p in _corrected(found, correction):
                better = np.where(p <= ALPHA, np.sign(found.difference), 0)
                low, high = find_rank_intervals(len(means), PAIRS, better)
                yield RANKS, f"{test}, {name}", bool(((low <= ranks) & (ranks <= high)).all())

    def _false(self) -> Iterator[tuple[int, str, bool]]:
        """Of all models with equal means, exchanged by chance, and with equal means of some."""
        scores = self.population.scores
        means, sample = scores.mean(axis=0), scores[self._users]
        some = np.where(np.arange(len(means)) < SOME, means - means[:SOME].mean(), 0.0)
        exchanged = self._random.permuted(sample, axis=1)
        every, equal = PAIRS[:, 0] >= 0, (PAIRS < SOME).all(axis=1)
        for section, values, null, tests in (
            (ANY, sample - means, every, BY_T),
            (ANY_EXCHANGED, exchanged, every, BY_T + RESAMPLED),
            (FALSE, sample - some, equal, BY_T),
        ):
            for test, correction in tests:
                found = self._tested(values, PAIRS, test, correction)
                for name, p in _corrected(found, correction):
                    yield section, f"{test}, {name}", bool((p[null] <= ALPHA).any())

    def _tested(self, values: Floats, pairs: object, test: str, correction: str) -> PairResults:
        how = Testing(test, correction, ALPHA, draws=DRAWS, seed=self.number)
        return compare_pairs(values, pairs, how)


def _held(found: PairResults, truth: Floats | float) -> bool:
    return bool(((found.low <= truth) & (truth <= found.high)).all())


def _corrected(found: PairResults, correction: str) -> Iterator[tuple[str, Floats]]:
    """Yield corrected p-values by the name of the correction: without one, by those that it has."""
    if correction == "none":
        for name in ("none", "bh", "holm"):
            yield name, CORRECTIONS[name].correct(found.p)
    else:
        yield correction, found.p_corrected
