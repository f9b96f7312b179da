"""Block: some users' rows, sorted by estimate, before any rule for ties."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.convention.gains import gains, relevance
from recsys_ndcg.convention.rounding import least_recommended, rounded
from recsys_ndcg.lazy import lazy
from recsys_ndcg.ranking.ordering import TieGroups, descending

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.ranked_lists import RankedLists


class Block:
    """What the rankings of the same lists under several rules for ties have in common.

    Parameters
    ----------
    lists : RankedLists
        As `recsys_ndcg.lists.preparation.prepared` returns them.
    convention : Convention
        Its `ties` are not looked at here.
    depth : int, optional
        How many ranks are wanted; None means all. The width is less where every list is shorter.
    threshold : float, optional
        From which grade an item is relevant.
    blind : bool
        Rank as if all estimates of a list were equal.
    """

    def __init__(
        self,
        lists: RankedLists,
        convention: Convention,
        *,
        depth: int | None,
        threshold: float | None = None,
        blind: bool = False,
    ) -> None:
        self.lists = lists
        self.convention = convention
        self.threshold = threshold
        self.n_items = lists.n_items
        longest = int((self.n_items + lists.n_unlisted).max(initial=1))
        self.width = longest if depth is None else min(depth, longest)
        self._blind = blind

    @lazy
    def gains(self) -> Floats:
        """The gain of every row."""
        return gains(self.lists.true, self.convention, self.threshold)

    @lazy
    def relevant(self) -> Floats:
        """Whether each row is relevant, 0 or 1."""
        return relevance(self.lists.true, self.threshold)

    @lazy
    def labelled(self) -> Floats:
        """Whether each row has a true value, 0 or 1."""
        return (~np.isnan(self.lists.true)).astype(np.float64)

    @lazy
    def order(self) -> Positions:
        """The rows by user and estimate; equal estimates in any order."""
        if self._blind:
            return np.arange(len(self.lists.true))
        return descending(self._rounded, self.lists.offsets)

    @lazy
    def item_text_order(self) -> Floats:
        """The place of each row's item among all items here, compared as text."""
        items = np.asarray(self.lists.items)
        _, place = np.unique(items.astype(str), return_inverse=True)
        return place.astype(np.float64)

    @lazy
    def groups(self) -> TieGroups:
        """The runs of equal estimates among the sorted rows."""
        values = np.zeros(len(self.order)) if self._blind else self._rounded[self.order]
        return TieGroups.equal(values, self.lists.offsets, self.width)

    @lazy
    def first_tie(self) -> Floats:
        """The first rank of each user whose item shares its estimate; inf if none does."""
        ranks = np.full(len(self.n_items), np.inf)
        if not self.groups.single:
            tied = self.groups.start[:-1][np.diff(self.groups.start) > 1][::-1]
            user = self.user[tied]  # backwards, so that each user's first group comes last
            ranks[user] = tied - self.lists.offsets[user] + 1
        return ranks

    @lazy
    def ideal_gain(self) -> Floats:
        """The gain at each rank of the ideal list; under ``max`` that of the top grade in all."""
        if self.convention.ideal == "max":
            return np.full((len(self.n_items), self.width), self.top_gain)
        values, offsets = self.gains, self.lists.offsets
        extra = self.lists.n_unlisted
        if self.convention.ideal == "local":  # an empty list has no order of its own
            extra = np.where(self.n_items == 0, extra, 0)
        if extra.any():
            values, offsets = self._with_unlisted(extra)
        return self.table(values[descending(values, offsets)], offsets)

    @lazy
    def top_gain(self) -> float:
        """The gain of the top grade; binary gains need not be told which that is."""
        if self.convention.max_grade is None:
            return 1.0
        top = np.array([self.convention.max_grade], dtype=np.float64)
        return float(gains(top, self.convention, self.threshold)[0])

    @lazy
    def n_labelled(self) -> Floats:
        """How many items of each user have a label, in the list or not."""
        return self.per_user(self.labelled) + self.lists.n_unlisted

    @lazy
    def n_relevant(self) -> Floats:
        """How many items of each user are relevant, in the list or not."""
        listed = self.per_user(self.relevant)
        if not len(self.lists.unlisted_true):
            return listed
        unlisted = relevance(self.lists.unlisted_true, self.threshold)
        user = np.repeat(np.arange(len(self.n_items)), self.lists.n_unlisted)
        return listed + np.bincount(user, weights=unlisted, minlength=len(self.n_items))

    @lazy
    def n_recommended(self) -> Floats | Positions:
        """How many items of each list count as recommended; they are its first ones."""
        if self.convention.recommend_from is None:
            return self.n_items
        return self.per_user(self._rounded >= least_recommended(self.convention, self.threshold))

    def per_user(self, values: Floats | NDArray[np.bool_]) -> Floats:
        """Return the sum of a column over each user's rows."""
        sums = np.bincount(self.user, weights=values, minlength=len(self.n_items))
        return sums.astype(np.float64, copy=False)

    def table(self, values: Floats, offsets: Positions) -> Floats:
        """Return the first ranks of each user's sorted values, 0 past the end."""
        places = offsets[:-1, None] + np.arange(self.width)
        places = np.where(places < offsets[1:, None], places, len(values))
        table: Floats = np.append(values, 0.0)[places]
        return table

    @lazy
    def user(self) -> Positions:
        """Whose list each row is in, by place."""
        return np.repeat(np.arange(len(self.n_items)), np.diff(self.lists.offsets))

    @lazy
    def _rounded(self) -> Floats:
        return rounded(self.lists.estimated, self.convention)

    def _with_unlisted(self, extra: Positions) -> tuple[Floats, Positions]:
        """Return gains with the unlisted labels of the users who have some `extra`."""
        lists = self.lists
        unlisted = lists.unlisted_true[np.repeat(extra > 0, lists.n_unlisted)]
        user = np.concatenate([self.user, np.repeat(np.arange(len(extra)), extra)])
        gain = gains(unlisted, self.convention, self.threshold)
        values = np.concatenate([self.gains, gain])[np.argsort(user, kind="stable")]
        return values, np.concatenate([[0], np.cumsum(np.diff(lists.offsets) + extra)])
