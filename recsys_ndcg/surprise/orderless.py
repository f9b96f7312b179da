"""Estimates that order nothing: scores of random order, which look like any others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import warn
from recsys_ndcg.lists.placed_lists import PlacedLists
from recsys_ndcg.surprise.tolerance import TIE_TOLERANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.lists.grouped_lists import GroupedLists


def orderless(lists: GroupedLists) -> bool:
    """Tell lists in each of which all items have one estimate.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> orderless(rn.RankedLists.from_tuples({"ann": [(3, 1), (3, 5)], "bob": [(4, 4), (4, 2)]}))
    True
    """
    if isinstance(lists, PlacedLists):
        lengths = np.repeat(lists.lengths, np.diff(lists.offsets))
        return bool(len(lengths) and lengths.max() > 1 and (lists.tied == lengths).all())
    first = np.repeat(lists.estimated[lists.offsets[:-1]], lists.n_items)
    same = np.abs(lists.estimated - first) <= TIE_TOLERANCE
    return bool(same.all()) and int(lists.n_items.max()) > 1


def warn_of_random_order(who: str, found: Sequence[Sequence[str]], parts: str) -> None:
    """Warn of an algorithm whose lists have no order, with the measures that this spoils.

    Parameters
    ----------
    who : str
        The algorithm, or the first of several.
    found : sequence of sequences of str
        The measures of each part that were taken of lists without an order; mostly none.
    parts : str
        What the parts are: folds, or combinations.
    """
    bad = [names for names in found if names]
    if not bad:
        return
    msg = (
        f"{who} estimates the same for every item of a user ({len(bad)} of {len(found)} {parts}): "
        f"random order scores the same in {', '.join(bad[0])}. Check its parameters, and whether "
        "it can learn anything of these ratings."
    )
    warn(msg)
