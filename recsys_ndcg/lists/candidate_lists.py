"""CandidateLists: what lists that were recommended had been chosen from, for their chance level."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from recsys_ndcg.arrays import edges
from recsys_ndcg.lists.grouped_lists import GroupedLists

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Positions


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CandidateLists(GroupedLists):
    """All candidates of each user, of whom a list shows the first few: they have no order.

    The rows are the labelled candidates, whether they were recommended or not; the others are
    counted. Measured blind, they tell what a list of the same length scores that is drawn from
    the candidates.

    Parameters
    ----------
    lengths : int64 array, shape (n_users,)
        How many items each list shows, of its `candidates`.
    """

    by_user: ClassVar[tuple[str, ...]] = (*GroupedLists.by_user, "lengths")
    cut_short: ClassVar[bool] = True

    lengths: Positions
    candidates: Positions

    @property
    def n_items(self) -> Positions:
        """How many items each list shows."""
        return self.lengths

    @property
    def n_candidates(self) -> Positions:
        """How many items each list is drawn from."""
        return self.candidates

    @property
    def n_places(self) -> Positions:
        """How many ranks each user's list and ideal list take."""
        return np.maximum(self.lengths, np.diff(self.offsets)) + self.n_unlisted

    @classmethod
    def behind(cls, lists: GroupedLists) -> GroupedLists:
        """Return the candidates of lists, or the lists themselves where they are all there is."""
        if lists.candidates is None:
            return lists
        listed = np.flatnonzero(~np.isnan(lists.true))
        owner = np.repeat(np.arange(len(lists)), lists.n_unlisted)
        within = np.ones(len(owner), dtype=bool) if lists.reachable is None else lists.reachable
        user = np.concatenate([lists.user_of_row[listed], owner[within]])
        true = np.concatenate([lists.true[listed], lists.unlisted_true[within]])
        order = np.argsort(user, kind="stable")
        return cls(
            users=lists.users,
            offsets=edges(np.bincount(user, minlength=len(lists))),
            estimated=np.zeros(len(order)),
            true=true[order],
            item_ids=None,
            item_codes=None,
            unlisted_offsets=edges(np.bincount(owner[~within], minlength=len(lists))),
            unlisted_true=lists.unlisted_true[~within],
            missing=lists.missing,
            protocol=lists.protocol,
            lengths=lists.n_items,
            candidates=lists.candidates,
        )
