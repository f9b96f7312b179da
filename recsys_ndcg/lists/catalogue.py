"""CataloguePool: the pool of long lists that keep only the labelled items, with their places."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from recsys_ndcg.arrays import Floats, Ids, Positions
from recsys_ndcg.convention import Convention, TieRule
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lists.grouped_lists import GroupedLists, Pool


@dataclass(frozen=True, eq=False, kw_only=True)
class CataloguePool(Pool):
    """A catalogue whose unlabelled items are counted instead of kept.

    It has thousands of items for each test rating of a user, and a metric needs only the places of
    the rated items: the columns `ahead` (items with a higher estimate), `tied` (items with the same
    estimate) and `within` (the position among these). The rows of the lists are the labelled items,
    and for measures beyond accuracy also the unlabelled items of the first ranks, sorted by user,
    `ahead` and `within`. They are valid for one tie tolerance and one rule for ties.

    Parameters
    ----------
    convention : Convention
        The choices of the ranking.
    threshold : float, optional
        The threshold of relevance, if it decides what counts as recommended.
    n_above : int64 array, shape (n_users,)
        The number of items estimated at least `recommend_from`.
    ties_from : float64 array, shape (n_users,)
        The first rank that is part of a tie; inf if there is no tie.
    n_not_made : int64 array, shape (n_users,)
        The number of predictions that the model could not make.
    unlabelled_items, unlabelled_estimated : arrays, shape (n_users, n_kept)
        The ids and estimates of the first unlabelled items in ranked order, to show a list;
        estimates are -inf past its end.
    """

    is_catalogue: ClassVar[bool] = True

    convention: Convention
    threshold: float | None
    n_above: Positions
    ties_from: Floats
    n_not_made: Positions
    unlabelled_items: Ids
    unlabelled_estimated: Floats

    @property
    def ranked_under(self) -> tuple[Convention, float | None]:
        """The choices and the threshold of the ranking."""
        return self.convention, self.threshold

    def count_unlabelled(self, lists: GroupedLists) -> Floats:
        """Return the number of items in each list without a true value."""
        return lists.n_items - lists.sum_by_user(~np.isnan(lists.true))

    def count_impossible(self, _: GroupedLists) -> Floats:
        """Return the number of each user's predictions that the model could not make."""
        return self.n_not_made.astype(np.float64)

    def count_recommended(self, *_: Any) -> Floats:
        """Return the number of items in each list whose estimate is high enough to recommend."""
        return self.n_above.astype(np.float64)

    def compute_sort_key(self, lists: GroupedLists, convention: Convention) -> Floats:  # noqa: ARG002 - the places depend on it
        """Return the key by which rows are ranked, largest first; equal keys are tied."""
        return -lists.columns["ahead"].astype(np.float64)

    def compute_tie_key(self, lists: GroupedLists, rule: TieRule) -> Floats:  # noqa: ARG002 - the places depend on it
        """Return the key that orders tied rows, largest first."""
        return -lists.columns["within"].astype(np.float64)

    def find_spans(
        self, lists: GroupedLists, rows: Positions, *_: Positions
    ) -> tuple[Positions, Positions]:
        """Return the number of items ahead of each run of equal estimates, and its size."""
        return lists.columns["ahead"][rows], lists.columns["tied"][rows]

    def find_first_tie_ranks(self, lists: GroupedLists, again: Positions) -> Floats:  # noqa: ARG002 - the places depend on it
        """Return the first rank of each user that is part of a tie; inf if there is no tie."""
        return self.ties_from

    def find_places_in_ties(self, lists: GroupedLists, rows: Positions, _: Positions) -> Positions:
        """Return the positions of rows among all items of their tie."""
        return lists.columns["within"][rows]

    def is_one_tie(self, lists: GroupedLists, step: float) -> bool:  # noqa: ARG002 - places have a tolerance
        """Return whether the estimates of each list with a row are equal."""
        lengths = np.repeat(lists.n_items, np.diff(lists.offsets))
        return bool(len(lengths) and lengths.max() > 1 and (lists.columns["tied"] == lengths).all())

    def list_items(
        self, lists: GroupedLists, rows: Positions, ranks: Positions, k: int | None
    ) -> tuple[Ids, Ids, Positions]:
        """Return user, item and rank (from 0) of the first k items of every list."""
        k = int(lists.n_items.max(initial=0)) if k is None else k
        user, rank = np.nonzero(np.arange(k) < lists.n_items[:, None])
        return lists.users[user], self._fill_ranks(lists, rows, ranks, k)[0][user, rank], rank

    def get_items_at(
        self, lists: GroupedLists, rows: Positions, ranks: Positions, k: int
    ) -> tuple[Ids, Floats, Floats]:
        """Return the items, estimates and grades at the first ranks; there is only one user."""
        items, estimated, true = self._fill_ranks(lists, rows, ranks, k)
        return items[0], estimated[0], true[0]

    def _fill_ranks(
        self, lists: GroupedLists, rows: Positions, ranks: Positions, k: int
    ) -> tuple[Ids, Floats, Floats]:
        """Return tables of the items, estimates and grades at the first ranks of every list."""
        n_kept = self.unlabelled_items.shape[1]
        if k > n_kept:
            msg = (
                f"This report keeps the first {n_kept} ranks of each list, not the catalogue. "
                f"Choose k up to {n_kept}, or evaluate with a larger k."
            )
            raise InvalidInputError(msg)
        shape = len(lists), k
        items, estimated, true = np.empty(shape, object), np.empty(shape), np.full(shape, np.nan)
        is_kept = (ranks < k) & ~np.isnan(lists.true[rows])  # others are in `unlabelled_items`
        rows, ranks = rows[is_kept], ranks[is_kept]
        place = lists.user_of_row[rows], ranks
        items[place], true[place] = np.asarray(lists.items)[rows], lists.true[rows]
        estimated[place] = lists.estimated[rows]
        is_other = np.isnan(true) & (np.arange(k) < lists.n_items[:, None])
        other = np.nonzero(is_other)
        kept = other[0], (np.cumsum(is_other, axis=1) - 1)[other]
        items[other] = self.unlabelled_items[kept]
        estimated[other] = self.unlabelled_estimated[kept]
        return items, estimated, true

    def select_labelled(self, lists: GroupedLists) -> GroupedLists:
        """Return lists without their unlabelled items, in rows of their own."""
        labelled = super().select_labelled(lists).with_columns(ahead=None, tied=None, within=None)
        return replace(labelled, lengths=None, pool=Pool())

    @staticmethod
    def find_changed_choice(
        placed: tuple[Convention, float | None], wanted: tuple[Convention, float | None]
    ) -> tuple[str, Any, Any] | None:
        """Return the name of a choice that would move items, with both its values; None if none.

        Parameters
        ----------
        placed, wanted : pairs of Convention and float
            The choices and the threshold of the lists, and of a measurement.
        """
        (old, old_threshold), (new, new_threshold) = placed, wanted
        names = ["tie_tolerance", "impossible", "recommend_from"]
        if new.tie_rule.gives_each_item_a_place:
            names.append("ties")
        choices = [(name, getattr(old, name), getattr(new, name)) for name in names]
        if new.recommend_from == "threshold":
            choices.append(("threshold", old_threshold, new_threshold))
        return next((choice for choice in choices if choice[1] != choice[2]), None)
