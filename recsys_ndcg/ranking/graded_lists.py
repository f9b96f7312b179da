"""GradedLists: gains, relevance and ideal lists, which do not depend on the order."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, compute_offsets
from recsys_ndcg.convention import Convention, compute_relevance
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.ranking.ordering import sort_descending


class GradedLists:
    """Gains, relevance and ideal lists of the same lists, computed once for each choice.

    Parameters
    ----------
    lists : GroupedLists
        The result of `recsys_ndcg.lists.preparation.prepare`.
    best_first : bool
        Whether to sort the grades of each list, so that gains need no other sort; which item has
        which grade is lost.
    """

    def __init__(self, lists: GroupedLists, *, best_first: bool = False) -> None:
        self.best_first = best_first
        if best_first:
            grades = sort_descending(_grades(lists), lists.offsets)
            grades[np.isneginf(grades)] = np.nan
            lists = lists.with_columns(true=grades)
        self.lists = lists
        self._cache = Cache()

    def gains(self, convention: Convention, threshold: float | None) -> Floats:
        """Return the gain of every row."""
        key = "gains", gain_key(convention, threshold)
        return self._cache.get_or_compute(
            key, lambda: convention.compute_gains(self.lists.true, threshold)
        )

    def relevant(self, threshold: float | None) -> Floats:
        """Return whether each row is relevant, 0 or 1."""
        key = "relevant", threshold
        return self._cache.get_or_compute(
            key, lambda: compute_relevance(self.lists.true, threshold)
        )

    @lazy_property
    def grades(self) -> Floats:
        """The grade of each row, -inf for unlabelled rows."""
        return _grades(self.lists)

    @lazy_property
    def labelled(self) -> Floats:
        """Whether each row has a true value, 0 or 1."""
        return (~np.isnan(self.lists.true)).astype(np.float64)

    @lazy_property
    def n_labelled(self) -> Floats:
        """The number of labelled items of each user, in the list or not."""
        return self.lists.sum_by_user(self.labelled) + self.lists.n_unlisted

    def n_relevant(self, threshold: float | None) -> Floats:
        """Return the number of relevant items of each user, in the list or not."""
        return self._cache.get_or_compute(
            ("n_relevant", threshold), lambda: self._count_relevant(threshold)
        )

    def _count_relevant(self, threshold: float | None) -> Floats:
        lists = self.lists
        listed = lists.sum_by_user(self.relevant(threshold))
        if not len(lists.unlisted_true):
            return listed
        unlisted = compute_relevance(lists.unlisted_true, threshold)
        user = np.repeat(np.arange(len(lists)), lists.n_unlisted)
        return listed + np.bincount(user, weights=unlisted, minlength=len(lists))

    def ideal_gain(self, convention: Convention, threshold: float | None, width: int) -> Floats:
        """Return the gains of each user's ideal list, best first: shape (n_users, width)."""
        key = "ideal", convention.ideal, gain_key(convention, threshold), width
        return self._cache.get_or_compute(
            key, lambda: self._ideal_gain(convention, threshold, width)
        )

    def _ideal_gain(self, convention: Convention, threshold: float | None, width: int) -> Floats:
        offsets, extra = self.lists.offsets, self.lists.n_unlisted
        if convention.ideal == "local":  # only an empty list counts its unlisted labels
            extra = np.where(self.lists.n_items == 0, extra, 0)
        if extra.any():
            values = self.gains(convention, threshold)
            values, offsets = self._with_unlisted(values, extra, convention, threshold)
            values = sort_descending(values, offsets)
        else:
            values = self._gains_in_order(convention, threshold)
        best = np.append(values, 0.0)
        places = offsets[:-1, None] + np.arange(width)
        table: Floats = best[np.where(places < offsets[1:, None], places, -1)]
        return table

    def _gains_in_order(self, convention: Convention, threshold: float | None) -> Floats:
        """Return the gains of the rows, each user's largest first."""

        def compute() -> Floats:
            values = self.gains(convention, threshold)
            if self.best_first and isinstance(convention.gain, str):
                return values
            return sort_descending(values, self.lists.offsets)

        return self._cache.get_or_compute(("in order", gain_key(convention, threshold)), compute)

    def length_of_gains(self, convention: Convention, threshold: float | None) -> Floats:
        r"""Return the length of the centred gains of each list, \sqrt{\sum (g_i - \bar g)^2}.

        Each user's gains are scaled by the largest and added in ascending order, so neither the
        order of the rows nor the unit of the gains matters.
        """

        def compute() -> Floats:
            lists = self.lists
            own, n_items = np.diff(lists.offsets), lists.n_candidates
            values = self._gains_in_order(convention, threshold)
            most = np.zeros(len(lists))
            most[own > 0] = values[lists.offsets[:-1][own > 0]]
            unit = np.where(most > 0, most, 1.0)
            values = values / np.repeat(unit, own)
            mean = lists.sum_by_user(values) / np.maximum(n_items, 1)
            apart = values - np.repeat(mean, own)
            square = lists.sum_by_user(apart * apart) + (n_items - own) * (mean * mean)
            length: Floats = unit * np.sqrt(square)
            return length

        return self._cache.get_or_compute(("length", gain_key(convention, threshold)), compute)

    def length_of_flags(self, flags: Floats) -> Floats:
        """Return the length of each list's centred flags, 0 or 1."""
        lists = self.lists
        ones, n_items = lists.sum_by_user(flags), lists.n_candidates
        length: Floats = np.sqrt(ones * (n_items - ones) / np.maximum(n_items, 1))
        return length

    def _with_unlisted(
        self, values: Floats, extra: Positions, convention: Convention, threshold: float | None
    ) -> tuple[Floats, Positions]:
        """Return gains with those of the unlisted labels, for users who have some `extra`."""
        lists = self.lists
        unlisted = lists.unlisted_true[np.repeat(extra > 0, lists.n_unlisted)]
        user = np.concatenate([lists.user_of_row, np.repeat(np.arange(len(extra)), extra)])
        gain = convention.compute_gains(unlisted, threshold)
        values = np.concatenate([values, gain])[np.argsort(user, kind="stable")]
        return values, compute_offsets(np.diff(lists.offsets) + extra)


def _grades(lists: GroupedLists) -> Floats:
    absent = np.isnan(lists.true)
    return np.where(absent, -np.inf, lists.true) if absent.any() else lists.true


def gain_key(convention: Convention, threshold: float | None) -> Hashable:
    """Return a key that is equal for equal gains."""
    return convention.select_choices("gain"), threshold if convention.gain_needs_threshold else None
