"""Compare the intervals and tests of a sample of users with the truth about all users."""

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
DRAWS = 999  # draws of a randomisation test or a bootstrap, in each sample
PAIRS = np.array([*combinations(range(len(MODELS)), 2)])
MODEL = [*MODELS].index("SVD")
PAIR = [[*MODELS].index(one) for one in ("PMF", "PMF of 10 epochs")]  # differences are skewed
SOME = 3  # models that get equal means in section FALSE; the others keep theirs
BY_T = [("t", "none"), ("t", "max-T")]
RESAMPLED = [("randomisation", "max-T"), ("bootstrap", "max-T")]
ONE, ALL, RANKS, EQUAL, SWAPPED, ANY, ANY_SWAPPED, FALSE, FOUND = range(9)
#: what is counted, and the promised rate: a minimum for coverage and power, a maximum for errors
SECTIONS = [
    ("an interval contains the truth", 1 - ALPHA),
    ("all 15 difference intervals contain the truth", 1 - ALPHA),
    ("all 6 rank intervals contain the truth", 1 - ALPHA),
    ("significant, although the two means are equal", ALPHA),
    ("significant, with the two models swapped at random per user", ALPHA),
    ("any of 15 pairs significant, although all means are equal", ALPHA),
    ("any of 15 pairs significant, with all models swapped at random per user", ALPHA),
    ("three of six means are equal; any of their 3 pairs significant", ALPHA),
    ("significant, at the detectable difference", POWER),
]


def is_promised(section: int, row: str) -> bool:
    """Return whether theory promises the rate of a section, at least for many users.

    Not promised: many pairs without a correction; "bh" if some differences are real; Wilcoxon and
    sign tests of equal means.
    """
    if section == EQUAL:
        return row not in ("wilcoxon", "sign")
    is_joint = section in (ALL, RANKS, ANY, ANY_SWAPPED, FALSE)
    return not (is_joint and row == "t, none") and not (
        section in (RANKS, FALSE) and row == "t, bh"
    )


@dataclass(frozen=True)
class Sample:
    """A sample of users, with its own random numbers."""

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
        yield from self._check_intervals()
        yield from self._check_pair()
        yield from self._check_all_pairs()
        yield from self._check_false_positives()

    def _check_intervals(self) -> Iterator[tuple[int, str, bool]]:
        """Check the intervals of the mean and the pooled score of one model."""
        dcg, ideal = self.population.numerator[:, MODEL], self.population.denominator
        top = np.stack([dcg / ideal, dcg], axis=1)
        bottom = np.stack([np.ones(len(top)), ideal], axis=1)
        truth = top.sum(axis=0) / bottom.sum(axis=0)
        top, bottom = top[self._users], bottom[self._users]
        ratio = top.sum(axis=0) / bottom.sum(axis=0)
        length = np.linalg.norm(top - ratio * bottom, axis=0)
        ends = [
            mean_interval(self.size, ratio[0], length[0], 1 - ALPHA, bounded=True),
            ratio_interval(
                self.size, ratio[1], bottom[:, 1].mean(), length[1], 1 - ALPHA, bounded=True
            ),
        ]
        found = {"t": np.array(ends).T}
        for method in BOOTSTRAPS:
            found[method] = bootstrap_ratios(
                top, bottom, level=1 - ALPHA, method=method, draws=DRAWS, seed=self.number
            )
        for place, kind in enumerate(("mean", "pooled")):
            for method, (low, high) in found.items():
                is_inside = low[place] <= truth[place] <= high[place]
                yield ONE, f"{kind}, {method}", bool(is_inside)

    def _check_pair(self) -> Iterator[tuple[int, str, bool]]:
        """Check tests of two models: as they are, with equal means, and swapped at random."""
        scores = self.population.scores[:, PAIR]
        sample, truth = scores[self._users], scores[:, 0].mean() - scores[:, 1].mean()
        # ties stay ties: only the scores of users with a difference are shifted
        differs = scores[:, 0] != scores[:, 1]
        shift = np.where(differs, truth / differs.mean(), 0.0)[self._users, None] * [1, 0]
        swapped = self._random.permuted(sample, axis=1)
        for test in TESTS:
            if test not in ("wilcoxon", "sign"):
                found = self._test(sample, [(0, 1)], test, "none")
                yield ONE, f"difference, {test}", _contains(found, truth)
            for section, values in ((EQUAL, sample - shift), (SWAPPED, swapped)):
                found = self._test(values, [(0, 1)], test, "none")
                yield section, test, bool(found.p[0] <= ALPHA)
        deviation = float(np.std(scores[:, 0] - scores[:, 1]))
        detectable = power(deviation=deviation, users=self.size, power=POWER, alpha=ALPHA)
        found = self._test(sample - [truth - detectable, 0], [(0, 1)], "t", "none")
        yield FOUND, "t", bool(found.p[0] <= ALPHA and found.difference[0] > 0)

    def _check_all_pairs(self) -> Iterator[tuple[int, str, bool]]:
        """Check the intervals of all differences and ranks."""
        scores = self.population.scores
        means = scores.mean(axis=0)
        truth = means[PAIRS[:, 0]] - means[PAIRS[:, 1]]
        ranks = 1 + (means > means[:, None]).sum(axis=1)
        for test, correction in [*BY_T, ("t", "bonferroni"), *RESAMPLED]:
            found = self._test(scores[self._users], PAIRS, test, correction)
            yield ALL, f"{test}, {correction}", _contains(found, truth)
            for name, p in _correct(found, correction):
                better = np.where(p <= ALPHA, np.sign(found.difference), 0)
                low, high = find_rank_intervals(len(means), PAIRS, better)
                yield RANKS, f"{test}, {name}", bool(((low <= ranks) & (ranks <= high)).all())

    def _check_false_positives(self) -> Iterator[tuple[int, str, bool]]:
        """Check all models with equal means, swapped at random, and with some equal means."""
        scores = self.population.scores
        means, sample = scores.mean(axis=0), scores[self._users]
        some = np.where(np.arange(len(means)) < SOME, means - means[:SOME].mean(), 0.0)
        swapped = self._random.permuted(sample, axis=1)
        every, equal = PAIRS[:, 0] >= 0, (PAIRS < SOME).all(axis=1)
        for section, values, null, tests in (
            (ANY, sample - means, every, BY_T),
            (ANY_SWAPPED, swapped, every, BY_T + RESAMPLED),
            (FALSE, sample - some, equal, BY_T),
        ):
            for test, correction in tests:
                found = self._test(values, PAIRS, test, correction)
                for name, p in _correct(found, correction):
                    yield section, f"{test}, {name}", bool((p[null] <= ALPHA).any())

    def _test(self, values: Floats, pairs: object, test: str, correction: str) -> PairResults:
        how = Testing(test, correction, ALPHA, draws=DRAWS, seed=self.number)
        return compare_pairs(values, pairs, how)


def _contains(found: PairResults, truth: Floats | float) -> bool:
    """Return whether all intervals contain the truth."""
    return bool(((found.low <= truth) & (truth <= found.high)).all())


def _correct(found: PairResults, correction: str) -> Iterator[tuple[str, Floats]]:
    """Yield a correction's name and corrected p-values; for "none", also "bh" and "holm"."""
    if correction == "none":
        for name in ("none", "bh", "holm"):
            yield name, CORRECTIONS[name].correct(found.p)
    else:
        yield correction, found.p_corrected
