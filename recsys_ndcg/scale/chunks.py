"""Lists of some users, from a table that has all rows of each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.frames import Table
from recsys_ndcg.input.labels import Labels, Results
from recsys_ndcg.lists.assembly import join
from recsys_ndcg.lists.ranked_lists import RankedLists

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.lists.grouped_lists import GroupedLists


class Form(NamedTuple):
    """What the rows of a table are.

    Parameters
    ----------
    duplicates : str
        As in `Convention`.
    joined : bool
        Whether they are labels and results, one below the other; the column ``listed`` says of
        each which it is.
    ranked : bool
        Whether the estimates of the results are ranks.
    """

    duplicates: str = "raise"
    joined: bool = False
    ranked: bool = False


def lists_of(table: Any, form: Form) -> GroupedLists:
    """Make lists of a table of pyarrow with the columns user, item, estimated and true.

    Raises
    ------
    InvalidInputError
        A user has an item twice, and `form` has no rule for it; they are named, for the places of
        rows in such a table say nothing.
    """
    try:
        if form.joined:
            return _joined(table, form)
        return RankedLists.of(table, duplicates=form.duplicates)
    except InvalidInputError:
        repeat = _repeat(table, form)
        if repeat:
            raise InvalidInputError(repeat) from None
        raise


def _joined(table: Any, form: Form) -> GroupedLists:
    listed = np.asarray(table.column("listed").to_numpy(), dtype=bool)
    labels, results = (Table(table.take(np.flatnonzero(rows))) for rows in (~listed, listed))
    scores = results.numbers("estimated")
    return join(
        Labels(*labels.coded_ids(), labels.numbers("true")),
        Results(
            *results.coded_ids(),
            -scores if form.ranked else scores,
            order_only=form.ranked,
        ),
        form.duplicates,
        RankedLists,
        part=True,
    )


def _repeat(table: Any, form: Form) -> str:
    """Say which user has an item twice, and what to do; nothing if nobody has."""
    if form.duplicates != "raise":
        return ""
    names = ["user", "item", *(["listed"] if form.joined else [])]
    pairs: pd.DataFrame = table.select(names).to_pandas()
    again = pairs[pairs.duplicated()]
    if again.empty:
        return ""
    user, item, *listed = again.iloc[0].tolist()
    where = "predictions" if not listed else "results" if listed[0] else "labels"
    return (
        f"{where}: user {shown(user)} has the item {shown(item)} twice or more. Remove such "
        "repeats, or choose duplicates='max' or 'mean': "
        "convention=Convention(duplicates='max') (--convention duplicates=max)."
    )
