"""Segments that follow from what is counted of each user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.report.segments.membership import categorical
from recsys_ndcg.report.segments.training import trained_on

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from recsys_ndcg.arrays import Floats, Ids, Positions
    from recsys_ndcg.scoring.scores import ListCounts

#: Segments that need nobody to say who is in them.
BUILT_IN = ("activity", "cold", "list_length", "relevant")


def built_in(
    name: str, users: Ids, counts: ListCounts, train: Any, columns: Mapping[str, str] | None
) -> pd.Series[Any]:
    """Return the segments of a name.

    Parameters
    ----------
    name : str
        One of `BUILT_IN`.
    users : array
        The ids.
    counts : ListCounts
        Of the same users.
    train : optional
        What the model was trained on.
    columns : mapping, optional
        ``{"user": ...}`` says what a table calls its users.

    Raises
    ------
    InvalidInputError
        What they follow from is not known.
    """
    if name == "cold":
        known = trained_on(train, users, columns, rows=False) > 0
        labels = np.array(["known", "unknown"], dtype=object)
        return categorical(np.where(known, 0, 1), labels, users, name)
    if name == "list_length":
        return _in_quarters(counts.n_items, users, name)
    if name == "relevant":
        if np.isnan(counts.n_relevant).any():
            msg = (
                "'relevant' needs to know which items are relevant: evaluate with threshold=4.0 "
                "(--threshold 4), for instance, so that items with a true value of at least 4.0 "
                "are."
            )
            raise InvalidInputError(msg)
        return _in_quarters(counts.n_relevant, users, name, apart=0)
    if train is not None:
        return _in_quarters(trained_on(train, users, columns, rows=True), users, name)
    return _in_quarters(counts.activity, users, name)


def _in_quarters(
    numbers: Floats | Positions, users: Ids, name: str, apart: int | None = None
) -> pd.Series[Any]:
    """Return users in four parts by a whole number, cut between different ones only.

    A part is called by the least and the highest number in it; users whose number is `apart` are
    one of their own.
    """
    numbers = np.asarray(numbers, dtype=np.int64)
    among = numbers != apart
    quarters, some = (0.25, 0.5, 0.75), numbers[among]
    cuts = np.quantile(some, quarters, method="inverted_cdf") if len(some) else []
    place = np.searchsorted(np.unique(cuts), numbers) + 1
    parts, codes = np.unique(np.where(among, place, 0), return_inverse=True)
    labels = [_range(numbers[codes == code]) for code in range(len(parts))]
    return categorical(codes, np.array(labels, dtype=object), users, name, labels)


def _range(numbers: Positions) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low}–{high}"
