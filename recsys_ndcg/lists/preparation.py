"""What a convention does to lists before they are ranked, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.convention.gains import faulty_grades
from recsys_ndcg.convention.rounding import below_all
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lists.grouping import offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.ranked_lists import RankedLists


def prepared(
    lists: RankedLists,
    convention: Convention,
    *,
    threshold: float | None = None,
    gains_matter: bool = True,
) -> RankedLists:
    """Apply `impossible`, `unlabelled` and `unlisted`, and check everything that ranking relies on.

    Raises
    ------
    InvalidInputError
        The convention says ``raise`` to what the lists contain, needs item ids that they do not
        have, or a grade has no usable gain.
    """
    if lists.impossible is not None and convention.impossible != "rank":
        lists = _impossible_settled(lists, lists.impossible, convention)
    if convention.unlabelled == "raise" and lists.n_unlabelled:
        first = named(lists, np.isnan(lists.true)) or f"user {lists.users[0]!r}"
        msg = (
            f"{lists.n_unlabelled} items have no true value, the first {first}. "
            "Label them, or choose unlabelled='zero' or 'filter'."
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
        lists = lists.labelled_only()
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


def _impossible_settled(
    lists: RankedLists, impossible: NDArray[np.bool_], convention: Convention
) -> RankedLists:
    """Return the lists with the impossible predictions below all others, tied, or without them."""
    if convention.impossible == "drop":
        return _without_impossible(lists, impossible)
    estimated = lists.estimated.copy()
    estimated[impossible] = below_all(estimated.min(), convention)
    return replace(lists, estimated=estimated, impossible=None)


def _without_impossible(lists: RankedLists, impossible: NDArray[np.bool_]) -> RankedLists:
    """Return the lists without the impossible predictions, whose labels are then unlisted."""
    places = np.arange(len(lists))
    extra = impossible & ~np.isnan(lists.true)
    user = np.concatenate(
        [np.repeat(places, lists.n_unlisted), np.repeat(places, lists.n_items)[extra]]
    )
    order = np.argsort(user, kind="stable")
    kept = replace(
        lists.only(~impossible),
        unlisted_offsets=offsets_of(user, len(lists)),
        unlisted_true=np.concatenate([lists.unlisted_true, lists.true[extra]])[order],
        impossible=None,
    )
    return replace(kept, missing=(kept.n_items == 0) & (kept.n_unlisted > 0))


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
