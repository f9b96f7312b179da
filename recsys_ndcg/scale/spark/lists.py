"""Lists of some users, from a table that has all rows of each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recsys_ndcg.input.frames import Table
from recsys_ndcg.input.rows import Rows
from recsys_ndcg.lists.assembly import join
from recsys_ndcg.lists.ranked_lists import RankedLists
from recsys_ndcg.scale.repeats import repeats_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.lists.grouped_lists import GroupedLists

_RULES = ("max", "mean")  # those that no order of rows is needed for


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
    with repeats_named(tables, form.duplicates, _RULES):
        if form.joined:
            return _joined(tables, form)
        return RankedLists.of(table, duplicates=form.duplicates)


def _tables(table: Any) -> dict[str, Any]:
    listed = np.asarray(table.column("listed").to_numpy(), dtype=bool)
    parts = {"labels": ~listed, "results": listed}
    return {name: table.take(np.flatnonzero(rows)) for name, rows in parts.items()}


def _joined(tables: Mapping[str, Any], form: Form) -> GroupedLists:
    labels, results = Table(tables["labels"]), Table(tables["results"])
    scores = results.numbers("estimated")
    known = dict(zip(("user", "item"), labels.coded_ids(), strict=True))
    found = dict(zip(("user", "item"), results.coded_ids(), strict=True))
    estimated = -scores if form.ranked else scores
    return join(
        Rows({**known, "true": labels.numbers("true")}, "labels"),
        Rows({**found, "estimated": estimated}, "results", order_only=form.ranked),
        form.duplicates,
        RankedLists,
        part=True,
    )
