"""Folds as a model to compare: its scores averaged within each user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.comparison.contender import Contender
from recsys_ndcg.comparison.over_runs import averaged, beside
from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recsys_ndcg.surprise.model_selection.folds import Fold, Ranked


def contender(folds: Sequence[Fold]) -> Contender:
    """Return the scores of every user under all ranking measures, averaged over folds.

    Raises
    ------
    InvalidInputError
        Nothing was ranked, the model diverged, or the scores of users were not kept.
    """
    if any(fold.diverged for fold in folds):
        msg = f"The model diverged, so it has no scores to compare. {folds[0].diverged or ''}"
        raise InvalidInputError(msg.strip())
    parts = [
        [Contender.of(part.audit, part.names) for part in fold.ranked if part.audit]
        for fold in folds
    ]
    check_kept(part for fold in folds for part in fold.ranked)
    if not all(parts):
        msg = "No measure here ranks anything: ask for one such as 'ndcg@10'."
        raise InvalidInputError(msg)
    found = averaged([beside(each) for each in parts])
    orders = {name for name, one in zip(found.names, found.metrics, strict=True) if one.orders}
    asked = [name for name in folds[0].test if name in orders]  # the first of them decides
    return found.columns([*asked, *(name for name in found.names if name not in orders)])


def check_kept(ranked: Iterable[Ranked]) -> None:
    """Refuse a search that kept no scores of users.

    Raises
    ------
    InvalidInputError
        It did not.
    """
    if any(part.audit is None for part in ranked):
        msg = (
            "The scores of every user are not kept by a search unless asked for: pass "
            "keep_per_user=True, and fit again."
        )
        raise InvalidInputError(msg)
