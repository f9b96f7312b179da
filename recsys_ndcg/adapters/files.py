"""CSV, Parquet and ratings files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SEPARATORS = ("\t", ",", ";", "|")
RATINGS = ("user", "item", "rating", "timestamp")


def read_file(path: str | Path, columns: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Read a table from a CSV file with a heading, or from a Parquet file.

    Ids keep their text, so that "0042" stays itself; a column in which every id is the plain
    writing of a whole number becomes whole numbers.

    Raises
    ------
    InvalidInputError
        The file cannot be read or parsed; the line is named.
    """
    path = Path(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        return _read_parquet(path)
    text = _text_of(path)
    heading = text[: text.find("\n")] if "\n" in text else text
    separator = _separator_of(heading)
    named = columns or {}
    ids = [named.get(name, name) for name in ("user", "item")]
    numbers = [named.get(name, name) for name in ("estimated", "true", "rank")]
    frame = _parse(path, text, separator, header=0)
    _to_numbers(path, frame, [name for name in numbers if name in frame], first_line=2)
    return _plain_ids(frame, [name for name in ids if name in frame])


def read_ratings(path: str | Path) -> pd.DataFrame:
    """Read ``user, item, rating[, timestamp]``, with or without a heading, ``::`` or CSV.

    Returns
    -------
    pandas.DataFrame
        Columns user, item (as written), rating and, where the file has it, timestamp.
    """
    path = Path(path)
    text = _text_of(path)
    if "::" in text[: text.find("\n")]:
        text = text.replace("::", "\t")
    first = text[: text.find("\n")] if "\n" in text else text
    separator = _separator_of(first)
    headed = not _is_number(first.split(separator)[2:3])
    frame = _parse(path, text, separator, header=0 if headed else None)
    if len(frame.columns) not in (3, 4):
        msg = f"{path}: {len(frame.columns)} columns; ratings are user, item, rating[, timestamp]."
        raise InvalidInputError(msg)
    frame.columns = pd.Index(RATINGS[: len(frame.columns)])
    _to_numbers(path, frame, list(frame.columns[2:]), first_line=2 if headed else 1)
    absent = frame.index[frame["rating"].isna()]
    if len(absent):
        msg = f"{path}, line {absent[0] + 1 + headed}: no rating."
        raise InvalidInputError(msg)
    return _plain_ids(frame, ["user", "item"])


def _is_number(fields: Sequence[str]) -> bool:
    try:
        return bool([float(field) for field in fields])
    except ValueError:
        return False


def _text_of(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{path}: not text in UTF-8 (byte {error.start}). Is it a CSV file?"
        raise InvalidInputError(msg) from None
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror})."
        raise InvalidInputError(msg) from None
    if not text.strip():
        msg = f"{path}: the file is empty."
        raise InvalidInputError(msg)
    return text


def _separator_of(line: str) -> str:
    return max(_SEPARATORS, key=line.count)


def _parse(path: Path, text: str, separator: str, header: int | None) -> pd.DataFrame:
    try:
        return pd.read_csv(
            io.StringIO(text),
            sep=separator,
            header=header,
            dtype=str,
            keep_default_na=False,
            skip_blank_lines=False,
            index_col=False,
            on_bad_lines="error",
        )
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
        msg = f"{path}: cannot be parsed ({reason})."
        raise InvalidInputError(msg) from None


def _to_numbers(path: Path, frame: pd.DataFrame, names: list[str], first_line: int) -> None:
    """Turn text into numbers in place; an empty field is NaN."""
    for name in names:
        text = frame[name].str.strip()
        values = pd.to_numeric(text, errors="coerce")
        absent = text.str.lower().isin(["", "nan", "na", "none", "null"])
        bad = np.flatnonzero(values.isna() & ~absent)
        if len(bad):
            line = int(bad[0]) + first_line
            msg = f"{path}, line {line}: {name} is {text.iloc[bad[0]]!r}, which is not a number."
            raise InvalidInputError(msg)
        frame[name] = values.astype(np.float64)


def _plain_ids(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Read ids as whole numbers where nothing of their writing is lost."""
    for name in names:
        distinct = frame[name].unique()
        if all(one.isascii() and one.isdigit() and str(int(one)) == one for one in distinct):
            small = all(len(one) < 19 for one in distinct)
            frame[name] = frame[name].astype(np.int64) if small else frame[name]
    return frame


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path)
    except ImportError:
        raise MissingExtraError(job="Reading Parquet", extra="scale") from None
    except (OSError, ValueError) as error:
        msg = f"{path}: cannot be read as Parquet ({error})."
        raise InvalidInputError(msg) from None
