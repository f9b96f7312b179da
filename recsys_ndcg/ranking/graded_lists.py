"""GradedLists: gains, relevance and ideal lists, which do not depend on the order."""

from __future__ import annotations

from collections.abc import Hashable
from copy import copy
from functools import partial

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, compute_offsets
from recsys_ndcg.convention import Convention, compute_relevance
from recsys_ndcg.lazy import Cache
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.ranking.ordering import sort_descending

_SORTED_GRADES = "sorted grades"


class GradedLists(Cache):
    """The gains, relevance and ideal order of lists, computed once for each choice.

    Parameters
    ----------
    lists : GroupedLists
        The result of `recsys_ndcg.lists.prepare_lists`.
    sort_grades : bool
        Whether to sort the grades of each list, highest first, so that gains need no other sort;
        grades then no longer belong to items.
    """

    def __init__(self, lists: GroupedLists, *, sort_grades: bool = False) -> None:
        super().__init__()
        self.sort_grades = sort_grades
        if sort_grades:
            grades = sort_descending(_fill_unlabelled(lists.true), lists.offsets)
            self._values |= {"grades": grades, _SORTED_GRADES: grades}
            lists = lists.with_columns(true=np.where(np.isneginf(grades), np.nan, grades))
        self.lists = lists

    def compute_gains(
        self,
        convention: Convention,
        threshold: float | None,
        rows: slice | Positions = slice(None),
    ) -> Floats:
        """Return the gains of some rows, by default of all."""
        true, weights = self.lists.true, self.lists.weights
        if self.gains_rise_with_grade(convention):
            return convention.compute_gains(true[rows], threshold)

        def compute() -> Floats:
            gains = convention.compute_gains(true, threshold)
            return gains if weights is None else gains * weights

        key = "gains", make_gain_key(convention, threshold)  # a function of the user's can be slow
        return self.get_or_compute(key, compute)[rows]

    def gains_rise_with_grade(self, convention: Convention) -> bool:
        """Return whether a higher grade never has a lower gain, and gains have no weights."""
        return isinstance(convention.gain, str) and self.lists.weights is None

    def compute_relevance(self, threshold: float | None) -> Floats:
        """Return whether each row is relevant, 0 or 1."""
        key = "relevant", threshold
        return self.get_or_compute(key, lambda: compute_relevance(self.lists.true, threshold))

    def with_lists(self, lists: GroupedLists) -> GradedLists:
        """Return the same grades for lists that differ only in their estimates."""
        graded = copy(self)  # with the same cache
        graded.lists = lists
        return graded

    @property
    def grades(self) -> Floats:
        """The grade of each row, -inf for unlabelled rows."""
        return self.get_or_compute("grades", lambda: _fill_unlabelled(self.lists.true))

    @property
    def labelled(self) -> Floats:
        """Whether each row has a true value, 0 or 1."""
        true = self.lists.true
        return self.get_or_compute("labelled", lambda: (~np.isnan(true)).astype(np.float64))

    @property
    def n_labelled(self) -> Floats:
        """The number of labelled items of each user, in the list or not."""
        return self.get_or_compute(
            "n_labelled", lambda: self.lists.sum_by_user(self.labelled) + self.lists.n_unlisted
        )

    def count_relevant(self, threshold: float | None) -> Floats:
        """Return the number of relevant items of each user, in the list or not."""

        def compute() -> Floats:
            lists = self.lists
            n_listed = lists.sum_by_user(self.compute_relevance(threshold))
            unlisted = compute_relevance(lists.unlisted["true"], threshold)
            return n_listed + np.bincount(lists.user_of_label, unlisted, len(lists))

        return self.get_or_compute(("n_relevant", threshold), compute)

    def compute_ideal_gains(
        self, convention: Convention, threshold: float | None, width: int
    ) -> Floats:
        """Return the gains of each user's ideal list, largest first: shape (n_users, width)."""
        key = "ideal", convention.ideal, make_gain_key(convention, threshold), width
        return self.get_or_compute(key, lambda: self._fill_ideal(convention, threshold, width))

    def _fill_ideal(self, convention: Convention, threshold: float | None, width: int) -> Floats:
        n_extra = self.lists.n_unlisted
        if convention.ideal == "local":  # only an empty list counts its unlisted labels
            n_extra = np.where(self.lists.n_items == 0, n_extra, 0)
        values, offsets = self._sort_grades_or_gains(convention, threshold, n_extra)
        padded = np.append(values, -np.inf)
        index = offsets[:-1, None] + np.arange(width)
        table = padded[np.where(index < offsets[1:, None], index, -1)]
        return self._find_gains(table, convention, threshold)

    def sum_gains(self, convention: Convention, threshold: float | None) -> Floats:
        """Return the sum of the gains of each user's labelled items, in the list or not."""
        values, offsets = self._sort_grades_or_gains(convention, threshold, self.lists.n_unlisted)
        gains = self._find_gains(np.append(values, -np.inf), convention, threshold)
        return np.where(np.diff(offsets) > 0, np.add.reduceat(gains, offsets[:-1]), 0.0)

    def _sort_grades_or_gains(
        self, convention: Convention, threshold: float | None, n_extra: Positions | None = None
    ) -> tuple[Floats, Positions]:
        """Return each user's grades in descending order, -inf for unlabelled rows, and the offsets.

        They are gains instead, if a higher grade can have a lower gain, or labels have weights.
        `n_extra` is the number of unlisted labels of each user that count, too.
        """
        lists, is_grade = self.lists, self.gains_rise_with_grade(convention)
        worth = self.grades if is_grade else self.compute_gains(convention, threshold)
        if n_extra is None or not n_extra.any():
            key = _SORTED_GRADES if is_grade else ("sorted", make_gain_key(convention, threshold))
            sort = partial(sort_descending, worth, lists.offsets)
            return self.get_or_compute(key, sort), lists.offsets
        extra, weights = lists.unlisted["true"], lists.unlisted_weights
        if not is_grade:
            extra = convention.compute_gains(extra, threshold) * (1 if weights is None else weights)
        extra = extra[np.repeat(n_extra > 0, lists.n_unlisted)]
        user = np.append(lists.user_of_row, np.repeat(np.arange(len(n_extra)), n_extra))
        worth = np.append(worth, extra)[np.argsort(user, kind="stable")]
        offsets = compute_offsets(np.diff(lists.offsets) + n_extra)
        return sort_descending(worth, offsets), offsets

    def _find_gains(self, worth: Floats, convention: Convention, threshold: float | None) -> Floats:
        """Return the gains of these grades or gains; 0 for -inf."""
        if not self.gains_rise_with_grade(convention):
            return np.maximum(worth, 0.0)
        return convention.compute_gains(np.where(np.isneginf(worth), np.nan, worth), threshold)

    def compute_gain_norm(self, convention: Convention, threshold: float | None) -> Floats:
        r"""Return the Euclidean norm of each list's centred gains, \sqrt{\sum (g_i - \bar g)^2}.

        Each user's gains are scaled by the largest and added in ascending order, so neither the
        order of the rows nor the unit of the gains matters.
        """

        def compute() -> Floats:
            lists = self.lists
            n_rows, n_items = np.diff(lists.offsets), lists.pool.count_candidates(lists)
            worth, _ = self._sort_grades_or_gains(convention, threshold)
            values = self._find_gains(worth, convention, threshold)
            largest = np.zeros(len(lists))
            largest[n_rows > 0] = values[lists.offsets[:-1][n_rows > 0]]
            unit = np.where(largest > 0, largest, 1.0)
            values = values / np.repeat(unit, n_rows)
            mean = lists.sum_by_user(values) / np.maximum(n_items, 1)
            centred = values - np.repeat(mean, n_rows)
            square = lists.sum_by_user(centred * centred) + (n_items - n_rows) * (mean * mean)
            return unit * np.sqrt(square)

        return self.get_or_compute(("norm", make_gain_key(convention, threshold)), compute)

    def compute_flag_norm(self, flags: Floats) -> Floats:
        """Return the Euclidean norm of each list's centred flags, which are 0 or 1."""
        lists = self.lists
        ones, n_items = lists.sum_by_user(flags), lists.pool.count_candidates(lists)
        return np.sqrt(ones * (n_items - ones) / np.maximum(n_items, 1))


def _fill_unlabelled(true: Floats) -> Floats:
    """Return the grades, -inf for unlabelled rows."""
    is_unlabelled = np.isnan(true)
    return np.where(is_unlabelled, -np.inf, true) if is_unlabelled.any() else true


def make_gain_key(convention: Convention, threshold: float | None) -> Hashable:
    """Return a key that is equal for equal gains."""
    return convention.select_choices("gain"), threshold if convention.gain_needs_threshold else None
