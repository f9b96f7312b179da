"""What a convention does to lists before they are ranked, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.gains import faulty_grades

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.convention import Convention
    from recsys_ndcg.ranked_lists import RankedLists


def prepared(
    lists: RankedLists,
    convention: Convention,
    *,
    threshold: float | None = None,
    gains_matter: bool = True,
) -> RankedLists:
    """Apply `unlabelled` and `unlisted`, and check everything that ranking relies on.

    Raises
    ------
    InvalidInputError
        The convention says ``raise`` to what the lists contain, needs item ids that they do not
        have, or a grade has no usable gain.
    """
    unlabelled = np.isnan(lists.true)
    if convention.unlabelled == "raise" and unlabelled.any():
        msg = (
            f"{int(unlabelled.sum())} items have no true value, the first "
            f"{named(lists, unlabelled)}. Label them, or choose unlabelled='zero' or 'filter'."
        )
        raise InvalidInputError(msg)
    if convention.missing_user == "raise" and lists.missing.any():
        users = ", ".join(repr(user) for user in lists.users[lists.missing][:3].tolist())
        msg = (
            f"{int(lists.missing.sum())} labelled users have no list, the first {users}. "
            "Recommend for them, or choose missing_user='zero' or 'skip'."
        )
        raise InvalidInputError(msg)
    _check_items(lists, convention)
    if lists.merged and lists.duplicates != convention.duplicates:
        msg = (
            f"The lists were made with duplicates={lists.duplicates!r}, which merged "
            f"{lists.merged} rows, but the convention says {convention.duplicates!r}. "
            "Give both the same rule."
        )
        raise InvalidInputError(msg)
    _check_size(lists, convention)
    if convention.unlisted == "ignore":
        lists = _without_unlisted(lists)
    if convention.unlabelled == "filter":
        lists = _labelled_only(lists)
    if gains_matter:
        _check_gains(lists, convention, threshold)
    return lists


def _check_items(lists: RankedLists, convention: Convention) -> None:
    by_item = convention.ties.startswith(("item", "text"))
    if by_item and lists.item_codes is None:
        msg = (
            f"ties={convention.ties!r} orders by item, but the data has no item ids. "
            "Give them, or choose another rule, such as ties='expected'."
        )
        raise InvalidInputError(msg)


def _check_size(lists: RankedLists, convention: Convention) -> None:
    step = convention.tie_tolerance
    most = float(np.finfo(np.float32).max) if isinstance(step, str) else step * 1e300
    if step and np.abs(lists.estimated).max(initial=0) > most:
        msg = f"tie_tolerance={step!r} is too small a step for estimates of this size."
        raise InvalidInputError(msg)


def _without_unlisted(lists: RankedLists) -> RankedLists:
    """Return the lists without the labels of other items."""
    nothing = np.zeros_like(lists.unlisted_offsets)
    return replace(lists, unlisted_offsets=nothing, unlisted_true=lists.unlisted_true[:0])


def _labelled_only(lists: RankedLists) -> RankedLists:
    """Return the lists without their unlabelled items."""
    labelled = ~np.isnan(lists.true)
    before = np.concatenate([[0], np.cumsum(labelled)])
    codes = lists.item_codes
    return replace(
        lists,
        offsets=before[lists.offsets],
        estimated=lists.estimated[labelled],
        true=lists.true[labelled],
        item_codes=None if codes is None else codes[labelled],
    )


def named(lists: RankedLists, rows: NDArray[np.bool_]) -> str:
    """Name the first rows where `rows` holds, by user and item."""
    chosen = np.flatnonzero(rows)[:3]
    users = lists.users[np.searchsorted(lists.offsets, chosen, side="right") - 1].tolist()
    if lists.item_ids is None or lists.item_codes is None:
        return ", ".join(f"user {user!r}" for user in users)
    items = lists.item_ids[lists.item_codes[chosen]].tolist()
    pairs = zip(users, items, strict=True)
    return ", ".join(f"user {user!r} item {item!r}" for user, item in pairs)


def _check_gains(lists: RankedLists, convention: Convention, threshold: float | None) -> None:
    true = lists.true
    if len(lists.unlisted_true):
        true = np.concatenate([true, lists.unlisted_true])
    fault = faulty_grades(true, convention, threshold)
    if fault:
        grades, what, advice = fault
        rows = np.isin(lists.true, grades)
        where = f" ({named(lists, rows)})" if rows.any() else ""
        shown = ", ".join(str(grade) for grade in grades[:3].tolist())
        msg = f"true: the grade {shown}{where} has {what}; {advice}."
        raise InvalidInputError(msg)
