"""What of lists is legal but looks like a mistake: said before anybody trusts a number."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import shown
from recsys_ndcg.lists.facts import FEW, FEW_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.lists.facts import Facts, ScaleValues

_MOST, _NEARLY = 0.5, 0.95
_ENDS = 2  # values of a scale, at least
_TIMES = {"seconds": 1.0, "milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
_FIRST, _LAST = 631_152_000, 2_524_608_000  # the years from 1990 to 2050 in seconds


def suspicions(facts: Facts) -> Iterator[str]:
    """Return a sentence for each thing that looks like a mistake, with what to do.

    Examples
    --------
    >>> from recsys_ndcg import RankedLists
    >>> from recsys_ndcg.lists.facts import Facts
    >>> lists = RankedLists.from_tuples({"ann": [(4.5, 5)], "bob": [(2.0, 1)]})
    >>> [told.partition(":")[0] for told in suspicions(Facts.of(lists))]
    ['2 of 2 users have one item']
    """
    if facts.made_here:  # which has none of these
        return
    if facts.protocol == "rated":
        yield from _single_items(facts)
    yield from _times("estimated", facts.estimated.lowest, facts.estimated.highest)
    yield from _times("true", facts.listed.lowest, facts.listed.highest)
    if facts.protocol == "rated" and facts.estimated.count >= FEW_ROWS and not facts.order_only:
        yield from _exchanged(facts)
        yield from _at_a_bound(facts)


def _single_items(facts: Facts) -> Iterator[str]:
    if facts.users > 1 and facts.single / facts.users > _MOST:
        yield (
            f"{facts.single} of {facts.users} users have one item: any order of it is perfect, so "
            "these users say nothing about the model."
        )


def _times(name: str, low: float, high: float) -> Iterator[str]:
    """Tell of numbers that are all moments of these decades."""
    for unit, scale in _TIMES.items():
        if low / scale >= _FIRST and high / scale < _LAST and high >= low:
            first, last = (str(np.datetime64(int(end / scale), "s"))[:10] for end in (low, high))
            yield (
                f"{name}: all values are times in {unit}, from {first} to {last}. Was the column "
                "of the timestamps taken? Name the right one with columns= (--columns)."
            )


def _exchanged(facts: Facts) -> Iterator[str]:
    """Tell of estimates that stand where ratings do, and true values that do not."""
    estimated, scaled = facts.estimated, facts.scale_values
    if scaled is None or facts.constant:
        return
    n_labelled = scaled.true.count
    if scaled.n_off <= _MOST * n_labelled or scaled.true.on_a_scale:
        return
    # grades too, as logarithms of counts
    if len(scaled.grades) <= min(FEW, _MOST * n_labelled):
        return
    yield (
        "The columns estimated and true look exchanged: the estimates are the steps of a scale "
        f"from {estimated.lowest:g} to {estimated.highest:g}, as ratings are, and true values such "
        f"as {shown(scaled.off)} are not. Rows are (user, item, estimated, true), but Surprise's "
        "(uid, iid, r_ui, est) have the true rating first: give them as Predictions, or a table "
        "with columns= (--columns)."
    )


def _at_a_bound(facts: Facts) -> Iterator[str]:
    """Tell of estimates that are one value, or were cut to one end of the scale.

    Clipping turns the NaN of a model of Surprise's that diverged into the top rating, so that
    nothing else of it can be seen in predictions. Nearly all are enough, if that is the top indeed.
    """
    estimated, top = facts.estimated, facts.listed.highest
    ends = {estimated.lowest: estimated.at_lowest, estimated.highest: estimated.at_highest}
    # scores are 0 where a model knows nothing
    counted = [one for one in sorted(ends.items()) if one[0] or estimated.lowest != one[0]]
    bound, n_there = max(counted or ends.items(), key=itemgetter(1))
    share = n_there / estimated.count
    if share == 1 or (share >= _NEARLY and bound >= top > -np.inf):
        so_many = f"All {n_there}" if share == 1 else f"{n_there} of {estimated.count}"
        scale = f", or its rating_scale ends there (the true values run to {top:g})"
        yield (
            f"{so_many} estimates are {bound:g}: their order is random, and so is the score. The "
            "model may have diverged, for Surprise's predict() cuts NaN to the top of the "
            "rating_scale: look at algo.predict(user, item, clip=False), and train with a smaller "
            "learning rate or more regularisation. Else it estimates the same for everything"
            f"{scale if top > bound else ''}."
        )
    elif share > _MOST and top > -np.inf and not _classes(facts.scale_values):
        yield (
            f"{share:.1%} of the estimates are exactly {bound}, while the true values run from "
            f"{facts.listed.lowest} to {top}: was the model given the wrong rating_scale? Those "
            "items are tied."
        )


def _classes(scaled: ScaleValues | None) -> bool:
    """Tell estimates of a classifier, of which one may well be the most frequent.

    Only the two ends, where more than two are to be estimated, are huge estimates that were cut.
    """
    if scaled is None:
        return False
    return len(scaled.estimates) > _ENDS or len(scaled.grades) <= _ENDS
