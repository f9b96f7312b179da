"""What of lists is legal but looks like a mistake: said before anybody trusts a number."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.lists.grouped_lists import GroupedLists

_MOST, _NEARLY = 0.5, 0.95
_FEW_ROWS = 10  # of which nothing can be told
_LOOK = 1000  # rows that tell at once that a column is an ordinary one
_SCALES = ((0.5, 20), (0.1, 1), (5, 100))  # a step, and the widest from the least to the most
_NEAR = 1e-6  # of a step, for 0.1 + 0.2 is not 0.3
_ENDS, _FEW = 2, 21  # values of a scale: the least, and the most
_TIMES = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
_FIRST, _LAST = 631_152_000, 2_524_608_000  # the years from 1990 to 2050 in seconds


def suspicions(lists: GroupedLists) -> Iterator[str]:
    """Return a sentence for each thing that looks like a mistake, with what to do.

    Examples
    --------
    >>> from recsys_ndcg import RankedLists
    >>> lists = RankedLists.from_tuples({"ann": [(4.5, 5)], "bob": [(2.0, 1)]})
    >>> [told.partition(":")[0] for told in suspicions(lists)]
    ['2 of 2 users have one item']
    """
    if lists.placed_under is not None:  # what is made here has none of these
        return
    if lists.protocol == "rated":
        yield from _single_items(lists)
    yield from _times("estimated", lists.estimated)
    yield from _times("true", lists.true)
    if len(lists.estimated) >= _FEW_ROWS and not lists.order_only:
        yield from _ranks(lists)
        if lists.protocol == "rated":
            yield from _exchanged(lists)
            yield from _at_a_bound(lists)


def constant(lists: GroupedLists) -> bool:
    """Tell lists whose items all have the same estimate, which is said as such."""
    estimated = lists.estimated
    several = lists.placed_under is None and len(estimated) >= _FEW_ROWS
    return several and lists.protocol == "rated" and bool((estimated == estimated[0]).all())


def threshold_suspicions(threshold: float, facts: Facts) -> Iterator[str]:
    """Return what is to be said of a threshold that tells no item from another."""
    grades = facts.all_true
    if threshold > grades.highest:
        yield (
            f"threshold={threshold:g} is above every true value (the highest is "
            f"{grades.highest:g}), so nothing is relevant. Give the threshold of this scale."
        )
    # labels of what was liked alone are usual, but a grade of 0 says that it was not
    alike = facts.protocol == "rated" and not facts.unlabelled
    if threshold <= grades.lowest and (alike or grades.lowest <= 0):
        yield (
            f"threshold={threshold:g} is at or below every true value (the lowest is "
            f"{grades.lowest:g}), so every rated item is relevant. Give the threshold of this "
            "scale."
        )


def tie_suspicions(
    widest: tuple[str, float, float] | None, n_tied: int, n_users: int
) -> Iterator[str]:
    """Return what is to be said of the metric that ties leave open furthest, if any matters."""
    if widest:
        metric, low, high = widest
        yield (
            f"Tied estimates ({n_tied} of {n_users} users) leave {metric} "
            f"open between {low:.4f} and {high:.4f}."
        )


def _single_items(lists: GroupedLists) -> Iterator[str]:
    ones = int((lists.n_items == 1).sum())
    if len(lists) > 1 and ones / len(lists) > _MOST:
        yield (
            f"{ones} of {len(lists)} users have one item: any order of it is perfect, so these "
            "users say nothing about the model."
        )


def _times(name: str, values: Floats) -> Iterator[str]:
    """Tell of numbers that are all moments of these decades."""
    low = float(np.fmin.reduce(values[:_LOOK], initial=np.inf))
    if not _FIRST <= low < np.inf:
        return
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    for unit, scale in _TIMES.items():
        if low / scale >= _FIRST and high / scale < _LAST:
            first, last = (str(np.datetime64(int(end / scale), "s"))[:10] for end in (low, high))
            yield (
                f"{name}: all values are times in {unit}, from {first} to {last}. Was the column "
                "of the timestamps taken? Name the right one with columns= (--columns)."
            )


def _ranks(lists: GroupedLists) -> Iterator[str]:
    """Tell of estimates that are 1 to n in each list, or 0 to n - 1."""
    values, first = lists.estimated, float(lists.estimated.min())
    if first not in (0, 1) or (values[:_LOOK] % 1).any():
        return
    some = lists.n_items > 0
    sizes, start = lists.n_items[some], lists.offsets[:-1][some]
    lowest, highest = np.minimum.reduceat(values, start), np.maximum.reduceat(values, start)
    total = np.add.reduceat(values, start)
    if (
        (sizes > 1).sum() > 1
        and (lowest == first).all()
        and (highest == first + sizes - 1).all()
        and (total == sizes * (lowest + highest) / 2).all()
    ):
        yield (
            f"The estimates of every user are {first:g}, {first + 1:g}, … up to the length of the "
            "list, as ranks are; but the highest estimate comes first. Give ranks as the column "
            "'rank' of RankedLists.from_labels(labels, results) (--results, --columns rank=...), "
            "or with a minus."
        )


def _exchanged(lists: GroupedLists) -> Iterator[str]:
    """Tell of estimates that stand where ratings do, and true values that do not."""
    estimated = lists.estimated
    if not _on_a_scale(estimated) or estimated.min() == estimated.max():
        return
    true = lists.true[~np.isnan(lists.true)]
    off = true[true * 2 % 1 != 0]
    if len(off) <= _MOST * len(true) or _on_a_scale(true):
        return
    if len(pd.unique(true)) <= min(_FEW, _MOST * len(true)):  # grades too, as logarithms of counts
        return
    yield (
        "The columns estimated and true look exchanged: the estimates are the steps of a scale "
        f"from {estimated.min():g} to {estimated.max():g}, as ratings are, and true values such "
        f"as {shown(off[0])} are not. Rows are (user, item, estimated, true), but Surprise's "
        "(uid, iid, r_ui, est) have the true rating first: give them as Predictions, or a table "
        "with columns= (--columns)."
    )


def _on_a_scale(values: Floats) -> bool:
    """Tell whether all values are stars or halves of them, tenths up to 1, or percents in fives.

    Examples
    --------
    >>> [_on_a_scale(np.array(one)) for one in ([1, 4.5], [0.3, 1], [20, 100], [1, 4.1])]
    [True, True, True, False]
    """
    for some in (values[:_LOOK], values):  # the first rows tell most columns at once
        width = np.ptp(some)
        steps = (some / step for step, widest in _SCALES if width <= widest)
        if not any((np.abs(one - one.round()) < _NEAR).all() for one in steps):
            return False
    return True


def _at_a_bound(lists: GroupedLists) -> Iterator[str]:
    """Tell of estimates that are one value, or were cut to one end of the scale.

    Clipping turns the NaN of a model of Surprise's that diverged into the top rating, so that
    nothing else of it can be seen in predictions. Nearly all are enough, if that is the top indeed.
    """
    estimated, top = lists.estimated, float(np.fmax.reduce(lists.true))
    # scores are 0 where a model knows nothing
    ends = sorted({float(estimated.max()), float(estimated.min() or estimated.max())})
    bound, n_there = max(
        ((end, np.count_nonzero(estimated == end)) for end in ends), key=itemgetter(1)
    )
    share = n_there / len(estimated)
    if share == 1 or (share >= _NEARLY and bound >= top):
        so_many = f"All {n_there}" if share == 1 else f"{n_there} of {len(estimated)}"
        scale = f", or its rating_scale ends there (the true values run to {top:g})"
        yield (
            f"{so_many} estimates are {bound:g}: their order is random, and so is the score. The "
            "model may have diverged, for Surprise's predict() cuts NaN to the top of the "
            "rating_scale: look at algo.predict(user, item, clip=False), and train with a smaller "
            "learning rate or more regularisation. Else it estimates the same for everything"
            f"{scale if top > bound else ''}."
        )
    elif share > _MOST and not (np.isnan(top) or _classes(estimated, lists.true)):
        yield (
            f"{share:.1%} of the estimates are exactly {bound}, while the true values run from "
            f"{np.nanmin(lists.true)} to {top}: was the model given the wrong rating_scale? Those "
            "items are tied."
        )


def _classes(estimated: Floats, true: Floats) -> bool:
    """Tell estimates of a classifier, of which one may well be the most frequent.

    Only the two ends, where more than two are to be estimated, are huge estimates that were cut.
    """
    if not _on_a_scale(estimated):
        return False
    return len(pd.unique(estimated)) > _ENDS or len(pd.unique(true[~np.isnan(true)])) <= _ENDS
