"""One metric in which all models meet, and what the tests say of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Positions,
    Record,
    column_lengths,
    column_sums,
    quotient,
)
from recsys_ndcg.lazy import lazy
from recsys_ndcg.metrics import Metric
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.significance import (
    PairResults,
    compare_pairs,
    mean_interval,
    ratio_interval,
)

if TYPE_CHECKING:
    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.significance import Testing

#: What there is of each user under every model.
_TABLES = ("scores", "numerator", "denominator", "chance", "best")
_STEP = 1e-6  # of the ratio, over which the slope of a root is taken


@dataclass(frozen=True, eq=False)
class MetricComparison(Record):
    """The scores of all models in one metric: tables of shape (n_users, n_models).

    Parameters
    ----------
    name : str
        Of the metric, as it is shown.
    metric : Metric
        The same.
    models : tuple of str
        A column each.
    scores, numerator, denominator, chance, best : float64 arrays
        As the `ModelScores.tables`.
    how : Testing
        The test, the correction, the level.
    margin : float, optional
        Up to which a difference does not matter.
    progress : bool
        Whether a bar shows how far a test is that takes long.
    """

    name: str
    metric: Metric
    models: tuple[str, ...]
    scores: Floats
    numerator: Floats
    denominator: Floats
    chance: Floats
    best: Floats
    how: Testing
    margin: float | None = None
    progress: bool = True

    @classmethod
    def of(cls, comparison: Comparison, name: str) -> MetricComparison:
        """Return one metric of a comparison."""
        found, place = comparison.contenders, comparison.metrics.index(name)
        tables: dict[str, Any] = {
            table: np.column_stack([one.tables[table][:, place] for one in found.values()])
            for table in _TABLES
        }
        tables |= {one: getattr(comparison, one) for one in ("how", "margin", "progress")}
        return cls(name, comparison.first.metrics[place], tuple(found), **tables)

    def among(self, users: Flags) -> MetricComparison:
        """Return the same of some users."""
        tables = {table: getattr(self, table)[users] for table in _TABLES}
        return replace(self, **tables)

    def scores_of(self, model: str) -> Floats:
        """Return the users' scores under one of the models."""
        scores: Floats = self.scores[:, self.models.index(model)]
        return scores

    def means(self, table: str = "scores") -> Floats:
        """Return the mean of each model over what is there of its scores, or of another table."""
        values = getattr(self, table)
        there = ~np.isnan(values)
        total = column_sums(np.where(there, values, 0.0))
        return quotient(total, there.sum(axis=0))

    def intervals(self, alpha: float) -> Floats:
        """Return Student's t interval for each model's mean: shape (2, n_models)."""
        there, mean = ~np.isnan(self.scores), self.means()
        lengths = column_lengths(np.where(there, self.scores - mean, 0.0))
        return np.array(mean_interval(there.sum(axis=0), mean, lengths, 1 - alpha))

    @property
    def best_first(self) -> Positions:
        """The places of the models, the best mean first, those without a score last."""
        mean = self.means()
        return np.argsort(np.where(np.isnan(mean), np.inf, -self.sign * mean), kind="stable")

    @property
    def better(self) -> Positions:
        """1 for each pair whose first model is significantly better, -1 for the second, or 0."""
        with np.errstate(invalid="ignore"):
            sure = self.tested.corrected <= self.how.alpha
        return np.where(sure, np.nan_to_num(self.tested.direction), 0).astype(np.int64)

    def interval_in(self, found: PairResults) -> tuple[Floats, Floats]:
        """Return the intervals in the units of the metric, where less may be better."""
        return (found.low, found.high) if self.sign > 0 else (-found.high, -found.low)

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is: of errors."""
        return 1 if self.metric.greater_is_better else -1

    @property
    def pairs(self) -> Positions:
        """The places of both models of each pair, in the order of the models."""
        return np.array([*combinations(range(len(self.models)), 2)], dtype=np.int64).reshape(-1, 2)

    @property
    def named_pairs(self) -> list[tuple[str, str]]:
        """The same by name."""
        return [*combinations(self.models, 2)]

    @lazy
    def tested(self) -> PairResults:
        """What the test says of the means, as if more were better."""
        return self._tested(self.scores, self.name, self.margin)

    @lazy
    def pooled_tested(self) -> PairResults:
        """What it says of the pooled scores: of the users' parts in them."""
        among: Flags = (self.denominator != 0).any(axis=1)
        values = np.where(among[:, None], self._linearised(among), np.nan)
        return self._tested(values, f"pooled {self.name}")

    def _tested(self, values: Floats, what: str, margin: float | None = None) -> PairResults:
        with progress_bar(wanted=self.progress and self.how.kind.is_drawn) as show:
            told = partial(show, f"Testing {what}")
            return compare_pairs(self.sign * values, self.pairs, self.how, margin=margin, show=told)

    @lazy
    def pooled(self) -> Floats:
        """The pooled score of each model, NaN where there is nothing to collect."""
        return self.metric.score(self._ratio)

    @property
    def _ratio(self) -> Floats:
        top, bottom = column_sums(self.numerator), column_sums(self.denominator)
        return quotient(top, bottom)

    def pooled_intervals(self, alpha: float) -> Floats:
        """Return the delta-method interval of each model's pooled score: shape (2, n_models)."""
        own = self.denominator != 0
        count, ratio = own.sum(axis=0), self._ratio
        mean = column_sums(self.denominator) / np.maximum(count, 1)
        rest = column_lengths(self.numerator - ratio * self.denominator)
        ends = ratio_interval(count, ratio, mean, rest, 1 - alpha)
        return np.array([self.metric.score(end) for end in ends])

    def _linearised(self, among: Flags) -> Floats:
        r"""Return each user's part in a model's pooled score: their mean is that score.

        .. math:: f(r) + f'(r) \frac{n_i - r d_i}{\bar d}

        with r the ratio of the sums and f the metric's root, if it takes one (Cochran 1977,
        Sampling Techniques, chapter 6). A user whom a model has no score for adds nothing there.
        """
        ratio = self._ratio
        mean = column_sums(self.denominator) / max(int(among.sum()), 1)
        rest = self.numerator - ratio * self.denominator
        parts = quotient(rest, mean, np.broadcast_to(mean != 0, rest.shape))
        values: Floats = self.metric.score(ratio) + self._slope(ratio) * parts
        return values

    def _slope(self, ratio: Floats) -> Any:
        """Return how fast the score moves with the ratio."""
        if type(self.metric).score is Metric.score:
            return 1.0
        step = _STEP * np.where(ratio == 0, 1.0, np.abs(ratio))
        score = self.metric.score
        return (score(ratio + step) - score(ratio - step)) / (2 * step)
