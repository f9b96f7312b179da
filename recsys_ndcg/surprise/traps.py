"""What Surprise silently gets wrong, said before anybody trusts a number.

Ratings outside the scale, algorithms that truncate them, lists of one item.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surprise import CoClustering, SlopeOne

from recsys_ndcg.errors import InvalidInputError, warn
from recsys_ndcg.lists.ranked_lists import RankedLists

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.surprise.trainsets import Ratings

_TRUNCATING = (SlopeOne, CoClustering)


def warn_of_training(kind: type, ratings: Ratings, scale: tuple[float, float] | None) -> None:
    """Warn of ratings outside the rating scale, and of an algorithm that truncates them.

    Parameters
    ----------
    kind : class
        Of the algorithm that is trained.
    ratings : Ratings
        What it is trained on.
    scale : pair of numbers, optional
        Their rating scale; without it, it is not looked at.

    Warns
    -----
    DataWarning
        Once for each.
    """
    if scale is not None:
        _warn_of_scale(ratings.values, *scale)
    if not issubclass(kind, _TRUNCATING):
        return
    values = ratings.values
    fractions = values[values % 1 != 0]
    if len(fractions):
        msg = (
            f"{kind.__name__} keeps ratings as whole numbers: {len(fractions)} of {len(values)}, "
            f"such as {fractions[0]:g}, are cut to the one below ({int(fractions[0])}). Double "
            "the ratings and the rating_scale, or take another algorithm."
        )
        warn(msg)


def _warn_of_scale(values: Floats, low: float, high: float) -> None:
    outside = int(((values < low) | (values > high)).sum())
    if outside:
        least, most = float(values.min()), float(values.max())
        msg = (
            f"{outside} of {len(values)} ratings are outside the rating_scale ({low}, {high}); "
            f"they run from {least:g} to {most:g}. predict() cuts estimates to the scale, and ties "
            f"them: give Reader(rating_scale=({least:g}, {most:g}))."
        )
        warn(msg)


def rated_lists(predictions: Any, duplicates: str) -> GroupedLists:
    """Return the lists of predictions of test ratings.

    Raises
    ------
    InvalidInputError
        The predictions cannot be used, or every user has a single one.
    """
    lists = RankedLists.of(predictions, duplicates=duplicates)
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
