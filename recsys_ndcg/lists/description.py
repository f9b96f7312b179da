"""What lists hold, as a sentence: how they print."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recsys_ndcg.lists.grouped_lists import GroupedLists


def described(lists: GroupedLists) -> str:
    """Return how many users and items there are, and how many of these are labelled."""
    sizes, labels = lists.n_items, len(lists.unlisted_true)
    ends = sorted({int(end) for end in (sizes.min(), sizes.max())}) if len(lists) else [0]
    rows = "rating" if lists.protocol == "rated" else "recommended item"
    rows = "candidate" if lists.placed_under is not None else rows
    first = (
        f"{type(lists).__name__} of {counted(len(lists), 'user')} with "
        f"{counted(int(sizes.sum()), rows)}, {' to '.join(map(str, ends))} each"
    )
    if lists.candidates is not None:
        first += f", of {counted(int(lists.candidates.sum()), 'candidate')}"
    told = [first]
    if lists.n_unlabelled:
        told.append(f"{lists.n_unlabelled} without a true value")
    if labels:
        told.append(f"{counted(labels, 'labelled item')} in no list")
    return "; ".join(told) + "."


def counted(number: int, what: str) -> str:
    """Return a number and what there is of it: ``1 user``, ``2 users``."""
    return f"{number} {what}{'' if number == 1 else 's'}"
