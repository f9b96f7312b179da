"""PlacedLists: long lists, of which only the labelled items are kept, with their places."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Floats, Ids, Positions
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lists.grouped_lists import GroupedLists


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class PlacedLists(GroupedLists):
    """Lists whose unlabelled items are counted instead of kept.

    A catalogue has thousands of items for each that a user rated in the test, and all a metric
    needs is where these stand: in the columns `ahead`, `tied` and `within`, beside the usual ones.
    The rows are the labelled items, by user, `ahead` and `within`. The lists are those of one
    convention: its tolerance and its rule for ties are settled.

    Parameters
    ----------
    convention : Convention
        Under which choices the places were found.
    threshold : float, optional
        From which grade an item was relevant, for what counts as recommended.
    lengths, n_above : int64 arrays, shape (n_users,)
        How many items each list has, and how many are estimated at least `recommend_from`.
    ties_from : float64 array, shape (n_users,)
        The first rank whose item shares its estimate; inf if none does.
    n_not_made : int64 array, shape (n_users,)
        How many of the estimates the model could not make.
    unlabelled_items, unlabelled_estimated : arrays, shape (n_users, n_kept)
        The first items without a label, for showing a list: their ids, the highest estimate first
        and ties by the rule of the lists, and their estimates, -inf past the end.
    """

    convention: Convention
    threshold: float | None
    lengths: Positions
    n_above: Positions
    ties_from: Floats
    n_not_made: Positions
    unlabelled_items: Ids
    unlabelled_estimated: Floats

    @property
    def tied(self) -> Positions:
        """How many items share each row's estimate, itself included."""
        return self.columns["tied"]

    @property
    def placement_choices(self) -> tuple[Convention, float | None]:
        """By which choices and threshold the places were found."""
        return self.convention, self.threshold

    @property
    def n_items(self) -> Positions:
        """How many items each user's list has."""
        return self.lengths

    @property
    def unlabelled_by_user(self) -> Floats:
        """How many items of each list have no true value."""
        return (self.lengths - np.diff(self.offsets)).astype(np.float64)

    @property
    def impossible_by_user(self) -> Floats:
        """How many predictions of each user the model could not make."""
        return self.n_not_made.astype(np.float64)

    def compute_sort_key(self, convention: Convention) -> Floats:  # noqa: ARG002 - settled by the places
        """Return by what the rows of a list are ranked, largest first; equal ones are tied."""
        return -self.columns["ahead"].astype(np.float64)

    def find_spans(
        self,
        rows: Positions,
        ahead: Positions,  # noqa: ARG002
        size: Positions,  # noqa: ARG002
    ) -> tuple[Positions, Positions]:
        """Return how many items stand before each run of equal estimates, and how many it has."""
        return self.columns["ahead"][rows], self.tied[rows]

    def find_first_ties(self, again: Positions) -> Floats:  # noqa: ARG002 - settled by the places
        """Return the first rank of each user whose item shares its estimate; inf if none does."""
        return self.ties_from

    def compute_tie_key(self, rule: str) -> Floats:  # noqa: ARG002 - settled by the places
        """Return by what the rows of a tie stand, largest first."""
        return -self.columns["within"].astype(np.float64)

    def find_places_in_ties(self, rows: Positions, place: Positions) -> Positions:  # noqa: ARG002
        """Return the places of rows among the items of their tie, those without a row too."""
        return self.columns["within"][rows]

    def count_recommended(self, convention: Convention, threshold: float | None) -> Floats:  # noqa: ARG002
        """Return how many items of each list are estimated high enough to be recommended."""
        return self.n_above.astype(np.float64)

    def find_top_items(
        self, rows: Positions, ranks: Positions, k: int
    ) -> tuple[Ids, Ids, Positions]:
        """Return user, item and rank (from 0) of the first k items of every list.

        Parameters
        ----------
        rows, ranks : int64 arrays
            The labelled items, and where they stand.
        k : int
            How many ranks.

        Raises
        ------
        InvalidInputError
            More ranks are asked for than are kept.
        """
        kept = self.unlabelled_items.shape[1]
        if k > kept:
            msg = (
                f"This report keeps the first {kept} ranks of each list, not the catalogue. "
                f"Ask for up to k={kept}, or evaluate with a larger k."
            )
            raise InvalidInputError(msg)
        items = np.empty((len(self), k), dtype=object)
        listed = np.arange(k) < self.lengths[:, None]
        own = np.zeros(items.shape, dtype=bool)
        rows, ranks = rows[ranks < k], ranks[ranks < k]
        own[self.user_of_row[rows], ranks] = True
        items[self.user_of_row[rows], ranks] = np.asarray(self.items)[rows]
        others = listed & ~own
        user, rank = np.nonzero(others)
        items[user, rank] = self.unlabelled_items[user, (np.cumsum(others, axis=1) - 1)[user, rank]]
        user, rank = np.nonzero(listed)
        return self.users[user], items[user, rank], rank

    def find_items_at(
        self, rows: Positions, ranks: Positions, depth: int
    ) -> tuple[Ids, Floats, Floats]:
        """Return item, estimate and grade at the first ranks of the only user's list.

        Raises
        ------
        InvalidInputError
            More ranks are asked for than are kept.
        """
        _, items, _ = self.find_top_items(rows, ranks, depth)
        rows, ranks = rows[ranks < depth], ranks[ranks < depth]
        others = np.setdiff1d(np.arange(depth), ranks)
        estimated, true = np.empty(depth), np.full(depth, np.nan)
        estimated[ranks], true[ranks] = self.estimated[rows], self.true[rows]
        estimated[others] = self.unlabelled_estimated[0, : len(others)]
        return items, estimated, true

    def select_labelled(self) -> GroupedLists:
        """Return the lists without their unlabelled items, every item a row."""
        own = {one.name: getattr(self, one.name) for one in fields(GroupedLists)}
        columns = self.without_columns("ahead", "tied", "within").columns
        return GroupedLists(**{**own, "columns": columns})

    @staticmethod
    def find_changed_choice(
        placed: tuple[Convention, float | None], wanted: tuple[Convention, float | None]
    ) -> tuple[str, Any, Any] | None:
        """Return a choice by which items would stand elsewhere, as it was and as it is wanted.

        Parameters
        ----------
        placed, wanted : pairs of Convention and float
            With the threshold, which may say what counts as recommended.
        """
        (was, limit), (now, threshold) = placed, wanted
        names = ["tie_tolerance", "impossible", "recommend_from"]
        if not now.has_symmetric_ties:
            names.append("ties")
        for name in names:
            if getattr(was, name) != getattr(now, name):
                return name, getattr(was, name), getattr(now, name)
        if now.recommend_from == "threshold" and limit != threshold:
            return "threshold", limit, threshold
        return None
