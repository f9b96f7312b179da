"""Every user's scores as CSV or Parquet."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import re
from collections.abc import Callable

import pandas as pd

from recsys_ndcg.errors import InvalidInputError, is_encodable, require_libraries
from recsys_ndcg.input import TextFormat

#: Separators of cells in spreadsheets of some countries, and ends of lines in all.
_SEPARATORS = re.compile(r"[;|\t\r]")


def find_score_writer(name: str) -> Callable[[pd.DataFrame], bytes]:
    """Return the function that writes a table of users' scores in the format of a file's name.

    Raises
    ------
    InvalidInputError
        There is no such format. The function raises it if the format cannot hold the ids.
    MissingExtraError
        Raised by the function: Parquet needs pyarrow.
    """
    for end, write in _FORMS.items():
        if name.lower().endswith(end):
            return write
    ends = ", ".join(_FORMS)
    msg = f"{name}: scores of users are written as CSV or Parquet. Let the name end in {ends}."
    raise InvalidInputError(msg)


def _check_encodable(per_user: pd.DataFrame) -> None:
    for one in per_user.index:
        if isinstance(one, str) and not is_encodable(one):
            msg = f"The user id {one!r} has a lone surrogate, which no file can hold. Correct it."
            raise InvalidInputError(msg)


def _write_parquet(per_user: pd.DataFrame) -> bytes:
    _check_encodable(per_user)
    stream = io.BytesIO()
    with require_libraries("pyarrow", job="Writing Parquet", extra="scale"):
        try:
            per_user.reset_index().to_parquet(stream, index=False, engine="pyarrow")
        except (ValueError, TypeError, OverflowError):  # pyarrow's own are among them
            msg = "Parquet has no type for these user ids. Write CSV or JSON."
            raise InvalidInputError(msg) from None
    return stream.getvalue()


def write_csv(per_user: pd.DataFrame) -> str:
    r"""Return a table of users' scores as CSV, in which no text is a formula.

    `TextFormat.escape_formula` puts an apostrophe before ids and headings that a spreadsheet would
    run.
    Our reader removes it; with pandas, ``pd.read_csv(path, dtype={"user": str})`` and then
    ``table["user"].str.replace(r"^'(?='*[=+\-@\t\r\n])", "", regex=True)``.

    Raises
    ------
    InvalidInputError
        An id is blank, or has a zero byte or a lone surrogate, so it could not be read back.
    """
    _check_encodable(per_user)
    for one in per_user.index:
        if isinstance(one, str) and ("\0" in one or not one.strip()):
            msg = f"The user id {one!r} cannot be read back from CSV. Save the report as JSON."
            raise InvalidInputError(msg)
    escape = TextFormat.escape_formula
    ids = [*map(escape, per_user.index)]
    users = pd.Index(ids, name=per_user.index.name, dtype=object, tupleize_cols=False)
    table = per_user.set_axis(users, axis=0).set_axis([*map(escape, per_user)], axis=1)
    odd = any(_SEPARATORS.search(str(one)) for one in [*users, *table])
    return table.to_csv(
        lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC if odd else csv.QUOTE_MINIMAL
    )


_FORMS: dict[str, Callable[[pd.DataFrame], bytes]] = {
    ".csv": lambda table: write_csv(table).encode(),
    ".csv.gz": lambda table: gzip.compress(write_csv(table).encode(), mtime=0),
    ".csv.bz2": lambda table: bz2.compress(write_csv(table).encode()),
    ".csv.xz": lambda table: lzma.compress(write_csv(table).encode()),
    ".parquet": _write_parquet,
}
