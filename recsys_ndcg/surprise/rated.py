"""Lists of the users' own test ratings, from predictions, and what they cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lists.ranked_lists import RankedLists

if TYPE_CHECKING:
    from recsys_ndcg.convention.convention import Convention


def rated_lists(predictions: Any, convention: Convention) -> RankedLists:
    """Return the lists of predictions of test ratings.

    Raises
    ------
    InvalidInputError
        The predictions cannot be used, or every user has a single one.
    """
    lists = RankedLists.of(predictions, duplicates=convention.duplicates)
    refuse_single_items(len(lists), int(lists.n_items.max()))
    return lists


def refuse_single_items(n_users: int, longest: int) -> None:
    """Refuse lists of which none has a second item.

    Raises
    ------
    InvalidInputError
        There are several users, and the longest list has one item.
    """
    if n_users > 1 and longest == 1:
        msg = (
            f"All {n_users} users have one predicted item, and any order of one item is "
            "perfect: whatever the model, NDCG is 1. Test on more of each user's ratings, by "
            "LeaveNOut(5), or rank all items: 'ndcg@10:catalogue' or evaluate_catalogue()."
        )
        raise InvalidInputError(msg)
