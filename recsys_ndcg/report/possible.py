"""Which numbers no evaluation gives: a report with one is neither saved nor loaded."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import shown
from recsys_ndcg.metrics.metric import Recorded
from recsys_ndcg.scoring.scores import ORDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.arrays import Flags
    from recsys_ndcg.scoring.scores import ListCounts, Scores
    from recsys_ndcg.scoring.signatures import Signature

_MOST_ROWS = 2.0**53  # their sum is exact
_AT_MOST = {
    "n_items": ("ratings",),
    "ratings": ("candidates",),
    "n_relevant": ("ratings", "unlisted"),
    "unlabelled": ("ratings",),
}
_WHOLE = (
    "n_items",
    "n_relevant",
    "ratings",
    "candidates",
    "unlabelled",
    "unlisted",
    "impossible",
    "repeats",
)
_ROOM = 16.0  # times a sum: what is worked out from it stays a number, too

Doubt = tuple["Flags", str]  # whose number is none, and what is wrong with it


def objection(scores: Scores, signatures: dict[str, Signature]) -> str:
    """Return where a number stands that cannot be, and whose it is; nothing if all can be.

    Parameters
    ----------
    scores : Scores
        With the other orders of the lists; what is worked out here is kept for who looks at them.
    signatures : dict of Signature
        Of the same metrics.
    """
    with np.errstate(all="ignore"):
        for bad, what in chain(
            doubts_of_counts(scores.counts),
            _of_scores(scores),
            _of_orders(scores),
        ):
            if bad.any():
                return f"{what} for user {shown(scores.users[int(bad.argmax())])}"
    for (name, signature), users in zip(signatures.items(), scores.n_scored, strict=True):
        told = signature.fields.get("users")
        if told != users:
            return f"signatures.{name} tells of {told} users with a score, but there are {users}"
    return ""


def doubts_of_counts(counts: ListCounts) -> Iterator[Doubt]:
    """Return which numbers cannot be counted in lists, user by user."""
    for name in _WHOLE:
        column = getattr(counts, name)
        if name == "n_relevant" and np.isnan(column).all():
            continue  # no threshold says which items are relevant
        whole = (column >= 0) & (column == np.floor(column)) & np.isfinite(column)
        yield ~whole, f"lists.{name} is no count"
        if column.sum(dtype=np.float64) >= _MOST_ROWS:
            yield column == column.max(), f"lists.{name} is too high"
        if name in _AT_MOST:
            bound = sum(getattr(counts, other).astype(np.float64) for other in _AT_MOST[name])
            yield column > bound, f"lists.{name} is above {' + '.join(_AT_MOST[name])}"
    yield counts.tied & (counts.n_items < 2), "lists.tied is true of fewer than two items"


def _of_scores(scores: Scores) -> Iterator[Doubt]:
    for place, one in enumerate(scores.measurements):
        above, below = scores.numerator[:, place], scores.denominator[:, place]
        top, bottom = f"scores.numerator.{one}", f"scores.denominator.{one}"
        yield np.isinf(above), f"{top} is infinite"
        yield np.isinf(below), f"{bottom} is infinite"
        yield below < 0, f"{bottom} is negative"
        if one.metric.bounded:
            yield above > below, f"{top} is above {bottom}"
        if not (one.metric.origin or isinstance(one.metric, Recorded)):
            yield above < 0, f"{top} is negative"
        for values, what in ((above, top), (below, bottom)):
            if np.isinf(np.nansum(np.abs(values)) * _ROOM):
                yield np.abs(values) == np.nanmax(np.abs(values)), f"{what} is too high"
        yield np.isinf(scores.per_user[:, place]), f"{top} is too high for {bottom}"


def _of_orders(scores: Scores) -> Iterator[Doubt]:
    for place, one in enumerate(scores.measurements):
        for name in ORDERS:
            values = scores.roles[name][:, place]
            yield np.isinf(values), f"orders.{name}.{one} is infinite"
        yield scores.roles["deviation"][:, place] < 0, f"orders.deviation.{one} is negative"
        yield np.isinf(scores.z[:, place]), f"orders.deviation.{one} is too small"
        yield np.isinf(scores.adjusted[:, place]), f"orders.best.{one} is too near to chance"
