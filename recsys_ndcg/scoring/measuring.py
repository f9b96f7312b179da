"""Scores: what lists collect under some metrics, user by user."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.parallel import blocks_of, in_threads
from recsys_ndcg.ranking.placed import block_of, ranking_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.ranked_lists import RankedLists
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.ranking.ranking import Ranking


@dataclass(frozen=True)
class Scores:
    """Numerators and denominators, and what follows from them.

    Parameters
    ----------
    metrics : sequence of Metric
        One per column.
    numerator, denominator : float64 arrays, shape (n_users, n_metrics)
        What was collected, and what there was to collect.
    left_out : bool array, same shape
        Users whom the convention leaves out of a metric: short lists, missing users.
    score_of_undefined : float
        What stands where the denominator is 0; NaN keeps it out of the mean.
    """

    metrics: Sequence[Metric]
    numerator: Floats
    denominator: Floats
    left_out: NDArray[np.bool_]
    score_of_undefined: float = np.nan

    @property
    def names(self) -> list[str]:
        """The names of the metrics."""
        return [str(metric) for metric in self.metrics]

    @property
    def defined(self) -> NDArray[np.bool_]:
        """Users who have a score of their own."""
        return np.asarray((self.denominator != 0) & ~self.left_out)

    @property
    def undefined(self) -> NDArray[np.bool_]:
        """Users who have no score of their own: the denominator is 0."""
        return np.asarray((self.denominator == 0) & ~self.left_out)

    @property
    def per_user(self) -> Floats:
        """The score of each user, NaN where there is none."""
        defined = self.defined
        ratio = np.divide(
            self.numerator, self.denominator, where=defined, out=np.full(defined.shape, np.nan)
        )
        columns = [metric.score(ratio[:, i]) for i, metric in enumerate(self.metrics)]
        values = np.column_stack(columns)
        values[self.undefined] = self.score_of_undefined
        return values

    @property
    def mean(self) -> Floats:
        """The mean over the users who have a score; NaN where nobody has."""
        return mean_over_users(self.per_user)

    @property
    def pooled(self) -> Floats:
        """The sum of the numerators over the sum of the denominators."""
        top = _sums(np.where(self.left_out, 0, self.numerator))
        bottom = _sums(np.where(self.left_out, 0, self.denominator))
        ratio = np.divide(top, bottom, where=bottom != 0, out=np.full(len(bottom), np.nan))
        scores = [metric.score(ratio[i : i + 1]) for i, metric in enumerate(self.metrics)]
        return np.concatenate(scores)


def mean_over_users(values: Floats) -> Floats:
    """Return the mean of each column over the users who have a score; NaN where nobody has."""
    there = ~np.isnan(values)
    count = there.sum(axis=0)
    total = _sums(np.where(there, values, 0))
    mean: Floats = np.divide(total, count, where=count > 0, out=np.full(len(count), np.nan))
    return mean


def _sums(values: Floats) -> Floats:
    """Return the sum of each column, to the last digit whatever other columns there are."""
    return np.array([column.sum() for column in values.T])


@dataclass(frozen=True)
class Measured:
    """Scores, those with every tie in its worst and best order, and what is known of each list."""

    scores: Scores
    worst: Scores
    best: Scores
    n_relevant: Floats
    first_tie: Floats


def measure(  # noqa: PLR0913 - what is measured, and how
    lists: RankedLists,
    metrics: Sequence[Metric],
    convention: Convention,
    *,
    threshold: float | None,
    blind: bool = False,
    tie_range: bool = True,
) -> Measured:
    """Rank prepared lists block by block, and take the metrics of each block.

    Parameters
    ----------
    lists : RankedLists
        As `recsys_ndcg.lists.preparation.prepared` returns them.
    metrics, convention, threshold
        What is measured, and how.
    blind : bool
        Treat all estimates of a list as equal: the expected, worst and best scores are then those
        of random order, the worst and the best possible order.
    tie_range : bool
        Without it the worst and best scores are not worked out, but those of the rule for ties.

    Raises
    ------
    InvalidInputError
        ``undefined="raise"`` and a user's score is undefined.
    """
    depths = [metric.depth for metric in metrics]
    depth = None if None in depths else max(depth for depth in depths if depth is not None)
    rules = (convention.ties, "worst", "best")

    def of(users: tuple[int, int]) -> tuple[list[Floats], Floats, Floats, Floats]:
        block = block_of(
            lists.between(*users), convention, depth=depth, threshold=threshold, blind=blind
        )
        tied = bool((block.first_tie <= block.width).any())
        asked = rules if tied and tie_range else rules[:1]
        tables = [_parts(metrics, ranking_of(block, rule)) for rule in asked]
        relevant = np.full(len(block.n_items), np.nan) if threshold is None else block.n_relevant
        counted = block.n_labelled if convention.mean_over == "labelled" else relevant
        return tables * (3 // len(asked)), relevant, counted, block.first_tie

    width = lists.n_items + lists.n_unlisted
    blocks = blocks_of(lists.offsets, width if depth is None else np.minimum(width, depth))
    tables, *by_user = zip(*in_threads(of, blocks), strict=True)
    n_relevant, counted, first_tie = map(np.concatenate, by_user)
    left_out = _left_out(lists, metrics, convention, counted)
    undefined = convention.undefined if isinstance(convention.undefined, float) else np.nan
    by_rule = [
        np.concatenate(tables_of_rule, axis=1) for tables_of_rule in zip(*tables, strict=True)
    ]
    scores, worst, best = (
        Scores(metrics, numerator, denominator, left_out, undefined)
        for numerator, denominator in by_rule
    )
    if convention.undefined == "raise":
        _refuse_undefined(lists, scores)
    return Measured(scores, worst, best, n_relevant, first_tie)


def _parts(metrics: Sequence[Metric], ranking: Ranking) -> Floats:
    """Return numerators and denominators, shape (2, n_users, n_metrics)."""
    parts = np.empty((2, len(ranking.n_items), len(metrics)))
    for column, metric in enumerate(metrics):
        numerator, denominator = metric.numerator(ranking), metric.denominator(ranking)
        if metric.bounded:  # what exceeds 1 is the last digit of a sum
            numerator = np.minimum(numerator, denominator)
        parts[:, :, column] = numerator, denominator
    return parts


def _left_out(
    lists: RankedLists, metrics: Sequence[Metric], convention: Convention, counted: Floats
) -> NDArray[np.bool_]:
    """Tell whom to leave out; `counted` are the items that `mean_over` asks for."""
    left_out = np.zeros((len(lists), len(metrics)), dtype=bool)
    if convention.mean_over != "all":
        left_out |= (counted == 0)[:, None]
    if convention.missing_user == "skip":
        left_out |= lists.missing[:, None]
    if convention.short_list == "drop":
        left_out |= lists.n_items[:, None] < np.array(short_below(metrics))
    return left_out


def short_below(metrics: Sequence[Metric]) -> list[int]:
    """Return how long a list must be for each metric, where short ones are left out.

    A metric without a cutoff goes with the smallest one asked for.
    """
    cutoffs = [metric.k for metric in metrics if metric.k is not None]
    return [metric.k or min(cutoffs, default=0) for metric in metrics]


def _refuse_undefined(lists: RankedLists, scores: Scores) -> None:
    if not scores.undefined.any():
        return
    column = int(np.argwhere(scores.undefined)[0, 1])
    users = ", ".join(repr(one) for one in lists.users[scores.undefined[:, column]][:3].tolist())
    msg = (
        f"{scores.metrics[column]} is undefined for {int(scores.undefined[:, column].sum())} "
        f"users, the first {users}: nothing is relevant, recommended or listed there. "
        "Choose undefined='skip', 0.0 or 1.0."
    )
    raise InvalidInputError(msg)
