"""The scores of every user for programs: as CSV or Parquet."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
from collections.abc import Callable
from typing import Any

import pandas as pd

from recsys_ndcg.errors import InvalidInputError, is_encodable, require_libraries
from recsys_ndcg.input import TextFormat

#: What separates cells in the spreadsheets of some countries, and a line end in those of all.
_SEPARATES = re.compile(r"[;|\t\r]")


def per_user_writer(name: str) -> Callable[[pd.DataFrame], bytes]:
    """Return what makes a file of a table of scores by user, in the form that its name ends in.

    Raises
    ------
    InvalidInputError
        There is no such form. What is returned raises it where the ids cannot be written so.
    MissingExtraError
        From what is returned: Parquet needs pyarrow.
    """
    for end, write in _FORMS.items():
        if name.lower().endswith(end):
            return write
    msg = (
        f"{name}: scores of users are written as CSV or Parquet. Let the name end in "
        f"{', '.join(_FORMS)}."
    )
    raise InvalidInputError(msg)


def _check_encodable(per_user: pd.DataFrame) -> None:
    for one in per_user.index:
        if isinstance(one, str) and not is_encodable(one):
            msg = f"The user id {one!r} has a lone surrogate, which no file can hold. Correct it."
            raise InvalidInputError(msg)


def _parquet(per_user: pd.DataFrame) -> bytes:
    _check_encodable(per_user)
    stream = io.BytesIO()
    with require_libraries("pyarrow", job="Writing Parquet", extra="scale"):
        try:
            per_user.reset_index().to_parquet(stream, index=False, engine="pyarrow")
        except (ValueError, TypeError, OverflowError):  # pyarrow's own are among them
            msg = "Parquet has no column for these ids of users. Write them as CSV, or as JSON."
            raise InvalidInputError(msg) from None
    return stream.getvalue()


def per_user_csv(per_user: pd.DataFrame) -> str:
    r"""Return a table of scores by user as CSV, in which no text is a formula.

    Ids and headings that a spreadsheet would run have an apostrophe in front, as
    `TextFormat.guarded` writes them. Our own reader takes it away; with
    pandas, ``pd.read_csv(path, dtype={"user": str})`` and then
    ``table["user"].str.replace(r"^'(?='*[=+\-@\t\r\n])", "", regex=True)``.

    Raises
    ------
    InvalidInputError
        An id is blank, or holds a zero byte or a lone surrogate: no reader would take it for an id.
    """
    _check_encodable(per_user)
    for one in per_user.index:
        if isinstance(one, str) and ("\0" in one or not one.strip()):
            msg = f"The user id {one!r} would be no id in a CSV file. Save the report as JSON."
            raise InvalidInputError(msg)
    users = pd.Index([*map(_guarded, per_user.index)], name=per_user.index.name, dtype=object)
    table = per_user.set_axis(users, axis=0).set_axis([*map(_guarded, per_user)], axis=1)
    odd = any(_SEPARATES.search(str(one)) for one in [*users, *table])
    return table.to_csv(
        lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL
    )


def _guarded(cell: Any) -> Any:
    return TextFormat.guarded(cell) if isinstance(cell, str) else cell


_FORMS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    ".csv": lambda table: per_user_csv(table).encode(),
    ".csv.gz": lambda table: gzip.compress(per_user_csv(table).encode(), mtime=0),
    ".csv.bz2": lambda table: bz2.compress(per_user_csv(table).encode()),
    ".csv.xz": lambda table: lzma.compress(per_user_csv(table).encode()),
    ".parquet": _parquet,
}
