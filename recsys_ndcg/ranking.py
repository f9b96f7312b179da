"""Ranking: the tables that metrics read, one row per user and one column per rank."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.gains import discounts, gains, relevance
from recsys_ndcg.ordering import TieGroups, descending, first_rows

if TYPE_CHECKING:
    from recsys_ndcg.convention import Convention, Floats
    from recsys_ndcg.grouping import Positions
    from recsys_ndcg.ranked_lists import RankedLists


class Ranking:
    """Lists in ranked order, as tables of shape (n_users, width), each made when first read.

    Parameters
    ----------
    lists : RankedLists
        As `recsys_ndcg.preparation.prepared` returns them.
    convention : Convention
        Its `ties` say what stands in the tables: with ``expected`` a group of equal estimates
        contributes its mean at each of its ranks, else the tables hold one concrete order.
    depth : int, optional
        How many ranks are wanted; None means all. The width is less where every list is shorter.
    threshold : float, optional
        From which grade an item is relevant.
    blind : bool
        Rank as if all estimates of a list were equal: the expected, worst and best scores are
        then those of random order, the worst and the best possible order.

    Examples
    --------
    >>> from recsys_ndcg import Convention, RankedLists
    >>> lists = RankedLists.from_tuples({"ann": [(2.0, 1), (4.5, 3), (2.0, 2)]})
    >>> Ranking(lists, Convention(), depth=2).gain
    array([[7., 2.]])
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
        self.convention = convention
        self.threshold = threshold
        self.n_items = lists.n_items
        self._lists = lists
        self._blind = blind
        longest = int((self.n_items + np.diff(lists.unlisted_offsets)).max(initial=1))
        self._width = longest if depth is None else min(depth, longest)

    @cached_property
    def discount(self) -> Floats:
        """The weight of each rank, shape (width,)."""
        return discounts(self._width, self.convention)

    @cached_property
    def gain(self) -> Floats:
        """The gain at each rank, 0 past the end of a list."""
        order, groups = self._gain_order
        return self._table(groups.mean(self._gains[order]), self._lists.offsets)

    @cached_property
    def ideal_gain(self) -> Floats:
        """The gain at each rank of the ideal list; under ``max`` that of the top grade in all."""
        if self.convention.ideal == "max":
            return np.full((len(self.n_items), self._width), self.top_gain)
        values, offsets = self._gains, self._lists.offsets
        extra = self._lists.unlisted_offsets
        if extra[-1]:
            counts = np.diff(extra)
            if self.convention.ideal == "local":  # an empty list has no order of its own
                counts = np.where(self.n_items == 0, counts, 0)
            values, offsets = self._with_unlisted(counts)
        return self._table(values[descending(values, offsets)], offsets)

    @cached_property
    def top_gain(self) -> float:
        """The gain of ``max_grade``."""
        top = np.array([self.convention.max_grade], dtype=np.float64)
        return float(gains(top, self.convention, self.threshold)[0])

    @cached_property
    def relevance(self) -> Floats:
        """The relevance at each rank, in [0, 1]."""
        order, groups = self._relevance_order
        return self._table(groups.mean(self._relevant[order]), self._lists.offsets)

    @cached_property
    def relevance_so_far(self) -> Floats:
        """E[rel_r · (relevant items at ranks up to r)], for average precision.

        At the i-th place of a group of m items, ρ of them relevant, behind H relevant items:
        (ρ/m)·(H + 1 + (i-1)(ρ-1)/(m-1)).
        """
        order, groups = self._relevance_order
        offsets = self._lists.offsets
        hits = np.concatenate([[0.0], np.cumsum(self._relevant[order])])
        group = np.arange(len(order)) if groups.group is None else groups.group
        start = groups.start[group]
        size = groups.start[group + 1] - start
        within = hits[start + size] - hits[start]
        user_start = np.repeat(offsets[:-1], self.n_items)
        ahead = hits[start] - hits[user_start]
        place = np.arange(len(order)) - start
        share = place * (within - 1) / np.maximum(size - 1, 1)
        return self._table(within / size * (ahead + 1 + share), offsets)

    @cached_property
    def first_hit(self) -> Floats:
        """P(the first relevant item stands at rank r), for reciprocal rank and hit rate.

        In the first group with a relevant item, ρ of m: C(m-j, ρ-1)/C(m, ρ) at its j-th place,
        here as ρ/m times a running product of (m-j-ρ+2)/(m-j+1).
        """
        order, groups = self._relevance_order
        hits = np.concatenate([[0.0], np.cumsum(self._relevant[order])])
        within = np.diff(hits[groups.start])
        found = np.flatnonzero(within > 0)
        offsets = self._lists.offsets
        user = np.searchsorted(offsets, groups.start[found], side="right") - 1
        user, first = np.unique(user, return_index=True)
        group = found[first]
        size = np.diff(groups.start)[group][:, None]
        relevant = within[group][:, None]
        place = np.arange(1, self._width + 1) - (groups.start[group] - offsets[user])[:, None]
        later = (place > 1) & (place <= size)
        factor = np.where(later, (size - place - relevant + 2) / np.maximum(size - place + 1, 1), 1)
        chance = relevant / size * np.cumprod(factor, axis=1)
        table = np.zeros((len(self.n_items), self._width))
        table[user] = np.where((place >= 1) & (place <= size), chance, 0)
        return table

    @cached_property
    def n_labelled(self) -> Floats:
        """How many items of each user have a label, in the list or not."""
        listed = self._per_user(~np.isnan(self._lists.true))
        return listed + np.diff(self._lists.unlisted_offsets)

    @cached_property
    def n_relevant(self) -> Floats:
        """How many items of each user are relevant, in the list or not."""
        unlisted = relevance(self._lists.unlisted_true, self.threshold)
        user = np.repeat(np.arange(len(self.n_items)), np.diff(self._lists.unlisted_offsets))
        extra = np.bincount(user, weights=unlisted, minlength=len(self.n_items))
        return self._per_user(self._relevant) + extra

    @cached_property
    def n_recommended(self) -> Floats | Positions:
        """How many items of each list count as recommended; they are its first ones."""
        least, step = self.convention.recommend_from, self.convention.tie_tolerance
        if least is None:
            return self.n_items
        if step:
            # the limit on the grid of the rounded estimates, whatever the division's last digit
            least = float(np.ceil(least / step - 1e-6))
        return self._per_user(self._rounded >= least)

    @cached_property
    def first_tie(self) -> Floats:
        """The first rank whose item has an estimate in common with another; inf if none has."""
        first = first_rows(self._scores[self._order], self._lists.offsets)
        groups = TieGroups.of(first)
        tied = groups.start[:-1][np.diff(groups.start) > 1]
        user = np.searchsorted(self._lists.offsets, tied, side="right") - 1
        ranks = np.full(len(self.n_items), np.inf)
        np.minimum.at(ranks, user, tied - self._lists.offsets[user] + 1)
        return ranks

    @property
    def error(self) -> Floats:
        """Estimated minus true of every row, NaN where unlabelled: the one column not by rank."""
        return self._lists.estimated - self._lists.true

    def per_user(self, values: Floats) -> Floats:
        """Return the sum of a column over each user's rows, NaN left out."""
        return self._per_user(np.nan_to_num(values))

    @property
    def order(self) -> Positions:
        """The rows in ranked order; equal estimates in the order of the gains' tables."""
        return self._gain_order[0]

    @cached_property
    def _gains(self) -> Floats:
        return gains(self._lists.true, self.convention, self.threshold)

    @cached_property
    def _relevant(self) -> Floats:
        return relevance(self._lists.true, self.threshold)

    @cached_property
    def _rounded(self) -> Floats:
        step, estimated = self.convention.tie_tolerance, self._lists.estimated
        return np.rint(estimated / step) if step else estimated

    @property
    def _scores(self) -> Floats:
        return np.zeros(len(self._lists.true)) if self._blind else self._rounded

    @cached_property
    def _order(self) -> Positions:
        """The order by estimate; ties by the rows or by item, or at random under other rules."""
        ties, codes = self.convention.ties, self._lists.item_codes
        before = None
        if ties == "input":
            before = np.arange(len(self._lists.true))
        elif ties in ("item_asc", "item_desc") and codes is not None:
            before = np.argsort(codes if ties == "item_asc" else -codes)
        return descending(self._scores, self._lists.offsets, before)

    @cached_property
    def _gain_order(self) -> tuple[Positions, TieGroups]:
        return self._ordered_by(self._gains)

    @cached_property
    def _relevance_order(self) -> tuple[Positions, TieGroups]:
        return self._ordered_by(self._relevant)

    def _ordered_by(self, values: Floats) -> tuple[Positions, TieGroups]:
        """Return rows in ranked order and their tie groups; best and worst depend on `values`."""
        ties, offsets = self.convention.ties, self._lists.offsets
        if ties == "expected":
            return self._order, TieGroups.of(first_rows(self._scores[self._order], offsets))
        order = self._order
        if ties in ("best", "worst"):
            before = np.argsort(-values if ties == "best" else values)
            order = descending(self._scores, offsets, before)
        return order, TieGroups.of(np.ones(len(order), dtype=bool))

    def _with_unlisted(self, counts: Positions) -> tuple[Floats, Positions]:
        """Return the gains of the lists with the first `counts` unlisted labels of each user."""
        lists = self._lists
        offsets = np.concatenate([[0], np.cumsum(self.n_items + counts)])
        taken = np.repeat(counts > 0, np.diff(lists.unlisted_offsets))
        values = np.empty(offsets[-1])
        listed = np.repeat(offsets[:-1] - lists.offsets[:-1], self.n_items)
        values[listed + np.arange(len(lists.true))] = self._gains
        begin = np.concatenate([[0], np.cumsum(counts)])[:-1]
        place = np.repeat(offsets[:-1] + self.n_items - begin, counts) + np.arange(counts.sum())
        values[place] = gains(lists.unlisted_true[taken], self.convention, self.threshold)
        return values, offsets

    def _per_user(self, values: Floats) -> Floats:
        user = np.repeat(np.arange(len(self.n_items)), self.n_items)
        return np.bincount(user, weights=values, minlength=len(self.n_items))

    def _table(self, values: Floats, offsets: Positions) -> Floats:
        """Return the first ranks of each user's values, 0 past the end."""
        places = offsets[:-1, None] + np.arange(self._width)
        places = np.where(places < offsets[1:, None], places, len(values))
        return np.append(values, 0.0)[places]
