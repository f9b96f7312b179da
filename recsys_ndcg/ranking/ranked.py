"""rank: lists under a convention, once it is known that they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.lists.facts import Facts
from recsys_ndcg.lists.objections import gain_objection, objection, refuse
from recsys_ndcg.lists.preparation import prepared
from recsys_ndcg.ranking.graded_lists import GradedLists
from recsys_ndcg.ranking.ranking import Ranking
from recsys_ndcg.ranking.sorted_lists import SortedLists

if TYPE_CHECKING:
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.grouped_lists import GroupedLists


def rank(
    lists: GroupedLists,
    convention: Convention,
    depth: int | None = None,
    *,
    threshold: float | None = None,
) -> Ranking:
    """Rank lists under a convention.

    Parameters
    ----------
    lists : GroupedLists
        Any.
    convention : Convention
        Every choice.
    depth : int, optional
        How many ranks the tables have; None for the longest list.
    threshold : float, optional
        From which grade an item is relevant.

    Raises
    ------
    InvalidInputError
        The lists cannot be ranked under the convention.

    Examples
    --------
    >>> from recsys_ndcg import Convention, RankedLists
    >>> lists = RankedLists.from_tuples({"ann": [(2.0, 1), (4.5, 3), (2.0, 2)]})
    >>> rank(lists, Convention(), depth=2).gain
    array([[7., 2.]])
    """
    facts = Facts.of(lists, distinct=not isinstance(convention.gain, str))
    refuse(objection(convention, threshold, facts, lists))
    refuse(gain_objection(convention, threshold, facts, lists))
    ready = prepared(lists, convention)
    in_order = SortedLists(ready, convention, depth=depth)
    return Ranking(GradedLists(ready), in_order, convention, threshold=threshold)
