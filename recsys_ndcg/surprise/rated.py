"""Lists of the users' own test ratings, from predictions, and what they cannot tell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from surprise import AlgoBase

from recsys_ndcg.errors import DivergedModelError, InvalidInputError
from recsys_ndcg.ranked_lists import RankedLists

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.convention import Convention

_ENOUGH = 20


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


def refuse_diverged(algo: Any, predictions: Iterable[Any]) -> None:
    """Refuse a model whose NaN the predictions hide: clipped, it is the top rating.

    Raises
    ------
    DivergedModelError
        An estimate at the top of the scale is NaN without clipping.
    """
    # an algorithm with a predict of its own answers for what it says
    if getattr(type(algo), "predict", None) is not AlgoBase.predict or "predict" in vars(algo):
        return
    top = algo.trainset.rating_scale[1]
    suspects = [one for one in predictions if one[3] == top][:_ENOUGH]
    drawn = np.random.get_state()  # noqa: NPY002 - what an algorithm of Surprise draws from
    try:
        unclipped = [algo.predict(*one[:2], clip=False).est for one in suspects]
    finally:
        np.random.set_state(drawn)  # noqa: NPY002
    for one, estimate in zip(suspects, unclipped, strict=True):
        if math.isnan(estimate):
            msg = (
                f"{type(algo).__name__} estimates NaN (user {one[0]!r}, item {one[1]!r}): the "
                f"model diverged, which predict() hides, because clipping turns NaN into {top:g}. "
                "Train it with a smaller learning rate or more regularisation."
            )
            raise DivergedModelError(msg)
