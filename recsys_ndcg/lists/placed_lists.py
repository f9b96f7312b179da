"""PlacedLists: long lists, of which only the labelled items are kept, with their places."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lists.ranked_lists import RankedLists

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Positions


@dataclass(frozen=True, eq=False, kw_only=True)
class PlacedLists(RankedLists):
    """Lists whose unlabelled items are counted instead of kept.

    A catalogue has thousands of items for each that a user rated in the test, and all a metric
    needs is where these stand. The rows are the labelled items, by user, `ahead` and `within`. The
    lists are those of one convention: its tolerance and its rule for ties are settled.

    Parameters
    ----------
    ahead : int64 array, one entry per row
        How many items of the user's list have a higher estimate.
    tied : int64 array, one entry per row
        How many share the item's estimate, itself included.
    within : int64 array, one entry per row
        Its place, from 0, among those, where the rule for ties goes by the items.
    lengths : int64 array, shape (n_users,)
        How many items each list has.
    first_tie : float64 array, shape (n_users,)
        The first rank whose item shares its estimate; inf if none does.
    n_recommended : int64 array, shape (n_users,)
        How many items of each list are estimated at least `recommend_from`.
    listing : callable
        Takes the place of a user and returns the whole list.
    impossible_count : int
        How many of the estimates the model could not make.
    """

    ahead: Positions
    tied: Positions
    within: Positions
    lengths: Positions
    first_tie: Floats
    n_recommended: Positions
    listing: Callable[[int], RankedLists]
    impossible_count: int = 0

    @property
    def n_items(self) -> Positions:
        """How many items each user's list has."""
        return self.lengths

    @property
    def n_unlabelled(self) -> int:
        """How many listed items have no true value."""
        return int(self.lengths.sum()) - len(self.true)

    @property
    def n_impossible(self) -> int:
        """How many predictions the model could not make."""
        return self.impossible_count

    def whole(self, place: int) -> RankedLists:
        """Return the list of one user, every item of it."""
        start, end = self.unlisted_offsets[place : place + 2]
        # as many of the unlisted labels as the convention left
        return replace(
            self.listing(place),
            unlisted_offsets=np.array([0, end - start]),
            unlisted_true=self.unlisted_true[start:end],
        )

    def labelled_as(self, grade: float) -> RankedLists:
        """Refuse: the unlabelled items are not kept."""
        msg = f"Items of a catalogue cannot all be of grade {grade}: they are counted, not kept."
        raise InvalidInputError(msg)

    def only(self, kept: NDArray[np.bool_]) -> RankedLists:
        """Refuse: the places of the rows would no longer be those in the list."""
        msg = f"{int((~kept).sum())} rows cannot be taken out of lists that hold places."
        raise InvalidInputError(msg)

    def labelled_only(self) -> RankedLists:
        """Return the lists without their unlabelled items."""
        own = {name: getattr(self, name) for name in RankedLists.__dataclass_fields__}
        return RankedLists(**own)

    def between(self, first: int, last: int) -> Self:
        """Return the users number `first` to `last`, sharing memory."""
        rows = slice(self.offsets[first], self.offsets[last])
        kept = super().between(first, last)
        return replace(
            kept,
            **{name: getattr(self, name)[rows] for name in ("ahead", "tied", "within")},
            **{
                name: getattr(self, name)[first:last]
                for name in ("lengths", "first_tie", "n_recommended")
            },
        )
