"""Scores: what lists collect under some metrics, user by user."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.convention import Convention, Floats
    from recsys_ndcg.grouping import Positions
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.ranked_lists import RankedLists

_BLOCK_ROWS = 1 << 14  # estimates, gains and orders of a block stay in the second-level cache
_BLOCK_CELLS = 1 << 18


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
    def undefined(self) -> NDArray[np.bool_]:
        """Users who have no score of their own: the denominator is 0."""
        return (self.denominator == 0) & ~self.left_out

    @property
    def values(self) -> Floats:
        """The score of each user, NaN where there is none."""
        defined = (self.denominator != 0) & ~self.left_out
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
        values = self.values
        there = ~np.isnan(values)
        count = there.sum(axis=0)
        total = np.where(there, values, 0).sum(axis=0)
        return np.divide(total, count, where=count > 0, out=np.full(len(count), np.nan))

    @property
    def pooled(self) -> Floats:
        """The sum of the numerators over the sum of the denominators."""
        top = np.where(self.left_out, 0, self.numerator).sum(axis=0)
        bottom = np.where(self.left_out, 0, self.denominator).sum(axis=0)
        ratio = np.divide(top, bottom, where=bottom != 0, out=np.full(len(bottom), np.nan))
        scores = [metric.score(ratio[i : i + 1]) for i, metric in enumerate(self.metrics)]
        return np.concatenate(scores)


@dataclass(frozen=True)
class Measured:
    """Scores, with what is known of each user's list."""

    scores: Scores
    n_items: Positions
    n_relevant: Floats | None
    first_tie: Floats


def measure(
    lists: RankedLists,
    metrics: Sequence[Metric],
    convention: Convention,
    *,
    threshold: float | None,
    blind: bool = False,
) -> Measured:
    """Rank prepared lists block by block, and take the metrics of each block.

    Raises
    ------
    InvalidInputError
        ``undefined="raise"`` and a user's score is undefined.
    """
    depths = [metric.depth for metric in metrics]
    depth = None if None in depths else max(depth for depth in depths if depth is not None)

    def of(block: tuple[int, int]) -> tuple[list[Floats], list[Floats], Floats | None, Floats]:
        part = lists.between(*block)
        ranking = Ranking(part, convention, depth=depth, threshold=threshold, blind=blind)
        return (
            [metric.numerator(ranking) for metric in metrics],
            [metric.denominator(ranking) for metric in metrics],
            None if threshold is None else ranking.n_relevant,
            ranking.first_tie,
        )

    blocks = _blocks(lists, depth)
    if len(blocks) == 1:
        parts = [of(blocks[0])]
    else:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = list(pool.map(of, blocks))
    numerators, denominators, relevant, first_tie = zip(*parts, strict=True)
    scores = Scores(
        metrics,
        np.concatenate([np.column_stack(one) for one in numerators]),
        np.concatenate([np.column_stack(one) for one in denominators]),
        _left_out(lists, metrics, convention),
        convention.undefined if isinstance(convention.undefined, float) else np.nan,
    )
    if convention.undefined == "raise":
        _refuse_undefined(lists, scores)
    n_relevant = None if threshold is None else np.concatenate(relevant)
    return Measured(scores, lists.n_items, n_relevant, np.concatenate(first_tie))


def _blocks(lists: RankedLists, depth: int | None) -> list[tuple[int, int]]:
    """Split the users into runs of about equally many rows, and of tables that stay small."""
    rows = np.arange(0, lists.offsets[-1] + _BLOCK_ROWS, _BLOCK_ROWS)
    cuts = np.searchsorted(lists.offsets, rows)
    most_users = np.arange(0, len(lists) + _BLOCK_ROWS, _BLOCK_ROWS)
    edges = np.unique(np.concatenate([cuts, most_users]).clip(max=len(lists))).tolist()
    longest = lists.n_items + np.diff(lists.unlisted_offsets)
    pending = list(zip(edges[:-1], edges[1:], strict=True))[::-1]
    blocks = []
    while pending:
        first, last = pending.pop()
        width = int(longest[first:last].max())
        width = width if depth is None else min(width, depth)
        if last - first == 1 or width * (last - first) <= _BLOCK_CELLS:
            blocks.append((first, last))
        else:
            middle = (first + last) // 2
            pending += [(middle, last), (first, middle)]
    return blocks


def _left_out(
    lists: RankedLists, metrics: Sequence[Metric], convention: Convention
) -> NDArray[np.bool_]:
    missing = lists.missing & (convention.missing_user == "skip")
    short = [
        lists.n_items < metric.k
        if metric.k is not None and convention.short_list == "drop"
        else np.zeros(len(lists), dtype=bool)
        for metric in metrics
    ]
    return np.column_stack(short) | missing[:, None]


def _refuse_undefined(lists: RankedLists, scores: Scores) -> None:
    if not scores.undefined.any():
        return
    user, column = np.argwhere(scores.undefined)[0]
    users = ", ".join(repr(one) for one in lists.users[scores.undefined[:, column]][:3].tolist())
    msg = (
        f"{scores.metrics[column]} is undefined for {int(scores.undefined[:, column].sum())} users, "
        f"the first {users}: they have nothing relevant. Choose undefined='skip', 0.0 or 1.0."
    )
    raise InvalidInputError(msg)
