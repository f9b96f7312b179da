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
    from collections.abc import Mapping, Sequence

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
    tables = _tables(table) if form.joined else {"predictions": table}
    try:
        if form.joined:
            return _joined(tables, form)
        return RankedLists.of(table, duplicates=form.duplicates)
    except InvalidInputError:
        told = first_repeat(tables, ("max", "mean")) if form.duplicates == "raise" else ""
        if not told:
            raise
        raise InvalidInputError(told) from None


def _tables(table: Any) -> dict[str, Any]:
    listed = np.asarray(table.column("listed").to_numpy(), dtype=bool)
    parts = {"labels": ~listed, "results": listed}
    return {name: table.take(np.flatnonzero(rows)) for name, rows in parts.items()}


def _joined(tables: Mapping[str, Any], form: Form) -> GroupedLists:
    labels, results = Table(tables["labels"]), Table(tables["results"])
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


def first_repeat(tables: Mapping[str, Any], rules: Sequence[str]) -> str:
    """Say which user has an item twice, and what to do; nothing if nobody has.

    Parameters
    ----------
    tables : mapping
        Of pyarrow's, by what messages call them.
    rules : sequence of str
        Which duplicates of `Convention` may be chosen.
    """
    for where, table in tables.items():
        pairs: pd.DataFrame = table.select(["user", "item"]).to_pandas()
        again = pairs[pairs.duplicated()]
        if not again.empty:
            user, item = again.iloc[0].tolist()
            named = " or ".join(map(repr, rules))
            return (
                f"{where}: user {shown(user)} has the item {shown(item)} twice or more. Remove "
                f"such repeats, or choose duplicates={named}: convention="
                f"Convention(duplicates={rules[0]!r}) (--convention duplicates={rules[0]})."
            )
    return ""
