"""The scores of every user as CSV."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input.spreadsheets import guarded

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What separates cells in the spreadsheets of some countries, and a line end in those of all.
_SEPARATES = re.compile(r"[;|\t\r]")


def per_user_csv(per_user: pd.DataFrame) -> str:
    r"""Return a table of scores by user as CSV, in which no text is a formula.

    Ids and headings that a spreadsheet would run have an apostrophe in front, as
    `recsys_ndcg.input.spreadsheets.guarded` writes them. Our own reader takes it away; with
    pandas, ``pd.read_csv(path, dtype={"user": str})`` and then
    ``table["user"].str.replace(r"^'(?='*[=+\-@\t\r\n])", "", regex=True)``.

    Raises
    ------
    InvalidInputError
        An id is blank, or holds a zero byte: no reader would take it for an id.
    """
    for one in per_user.index:
        if isinstance(one, str) and ("\0" in one or not one.strip()):
            msg = f"The user id {one!r} would be no id in a CSV file. Save the report as JSON."
            raise InvalidInputError(msg)
    users = pd.Index(_guarded(per_user.index), name=per_user.index.name, dtype=object)
    table = per_user.set_axis(users, axis=0).set_axis(_guarded(per_user.columns), axis=1)
    odd = any(_SEPARATES.search(str(one)) for one in [*users, *table])
    return table.to_csv(
        lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL
    )


def _guarded(names: Iterable[Any]) -> list[Any]:
    return [guarded(one) if isinstance(one, str) else one for one in names]
