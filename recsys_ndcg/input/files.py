"""CSV, Parquet and ratings files."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, check_path, reading, shown
from recsys_ndcg.input.column_names import roles_of
from recsys_ndcg.input.parquet import ParquetColumns
from recsys_ndcg.input.spreadsheets import HEADING, unguarded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.arrays import Floats

_MOST_COLUMNS = 1000
_SEPARATORS = ("\t", ",", ";", "|")
_NO_TEXT = (
    "Save it as CSV in UTF-8; the name of a Parquet file ends in .parquet, that of pickled "
    "predictions in .pickle."
)
RATINGS = ("user", "item", "rating", "timestamp")


def read_file(
    path: str | Path, columns: Mapping[str, str] | None = None
) -> pd.DataFrame | ParquetColumns:
    """Read a table from a CSV file with a heading, or from a Parquet file.

    Ids keep their text, so that "0042" stays itself; a column in which every id is the plain
    writing of a whole number becomes whole numbers. An empty true value is unlabelled. Apostrophes
    that guard ids from spreadsheets (`recsys_ndcg.input.spreadsheets`) are taken away where the
    heading is that of our own scores of users, ``user,n_items,n_relevant``, and nowhere else.

    Raises
    ------
    InvalidInputError
        The file cannot be read or parsed; the line is named.
    """
    path = Path(path)
    if path.suffix.lower() in (".parquet", ".pq"):
        return _read_parquet(path)
    lines = _Lines(path, _text_of(path), headed=True)
    for ours, found in roles_of(lines.frame.columns, columns).items():
        for theirs in found if len(found) == 1 else []:
            if ours in ("user", "item"):
                lines.read_ids(theirs)
            else:
                lines.read_numbers(theirs, may_be_empty=ours == "true")
    return lines.frame


def read_ratings(path: str | Path) -> pd.DataFrame:
    """Read ``user, item, rating[, timestamp]``, with or without a heading, ``::`` or CSV.

    Returns
    -------
    pandas.DataFrame
        Columns user, item (as written), rating and, where the file has it, timestamp.

    Raises
    ------
    InvalidInputError
        The file cannot be read or parsed; the line is named.
    """
    path = Path(path)
    text = _text_of(path)
    if "::" in _first_line(text):
        text = text.replace("::", "\t")
        _check_width(path, text)
    first = _first_line(text)
    third = "".join(_fields(first)[2:3]).strip()
    lines = _Lines(path, text, headed=third != "" and np.isnan(_number(third)))
    count = len(lines.frame.columns)
    if count not in (3, 4):
        msg = f"{path}: {count} columns; ratings are user, item, rating[, timestamp]."
        raise InvalidInputError(msg)
    lines.frame.columns = pd.Index(RATINGS[:count])
    for name in ("user", "item"):
        lines.read_ids(name)
    for name in RATINGS[2:count]:
        lines.read_numbers(name)
    return lines.frame


def _fields(line: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=_separator_of(line)), [])
    except csv.Error:  # one is longer than any name
        return []


class _Lines:
    """A text file as a table of text, whose columns are then read as ids or numbers.

    Parameters
    ----------
    path : Path
        Named in messages.
    text : str
        The file, not empty.
    headed : bool
        Whether the first line names the columns.
    """

    def __init__(self, path: Path, text: str, *, headed: bool) -> None:
        self._path = path
        self._first_line = 1 + headed
        self.frame = self._parsed(text, _separator_of(_first_line(text)), headed=headed)
        empty = self.frame.isna() | (self.frame == "")
        self.frame = self.frame[~empty.all(axis=1)]  # the index still tells the line

    def read_ids(self, name: str) -> None:
        """Read a column of ids, as whole numbers where nothing of their writing is lost."""
        if name not in self.frame:
            return
        text = self.frame[name]
        self._refuse(name, text.isna() | (text.str.strip() == ""), "is missing")
        distinct = text.unique()
        if all(map(_is_plain_number, distinct)):
            self.frame = self.frame.assign(**{name: text.astype(np.int64)})

    def read_numbers(self, name: str, *, may_be_empty: bool = False) -> None:
        """Read a column of finite numbers; an empty field is NaN where that is allowed."""
        if name not in self.frame:
            return
        text = self.frame[name].fillna("").str.strip()
        absent = text.str.lower().isin(["", "nan", "na", "none", "null"])
        values = pd.Series(_numbers(text.mask(absent, "nan")), index=text.index)
        self._refuse(name, values.isna() & ~absent, "is {}, which is not a number")
        self._refuse(name, values.abs() == np.inf, "is {}, which is not a finite number")
        if not may_be_empty:
            self._refuse(name, absent, "is missing")
        self.frame = self.frame.assign(**{name: values})

    def _parsed(self, text: str, separator: str, *, headed: bool) -> pd.DataFrame:
        try:
            frame = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                header=None,
                dtype=str,
                keep_default_na=False,
                skip_blank_lines=False,
            )
        except ValueError as error:
            reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
            msg = f"{self._path}: cannot be parsed ({reason})."
            raise InvalidInputError(msg) from None
        if not headed:
            return frame
        names = [str(name).strip() for name in frame.iloc[0]]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            msg = f"{self._path}: the heading names the column {twice[0]!r} twice."
            raise InvalidInputError(msg)
        frame = frame.iloc[1:].reset_index(drop=True).set_axis(names, axis=1)
        if tuple(names[: len(HEADING)]) != HEADING:
            return frame
        return frame.rename(columns=unguarded).assign(user=frame["user"].map(unguarded))

    def _refuse(self, name: str, bad: pd.Series[bool], fault: str) -> None:
        if bad.any():
            place = int(bad.to_numpy().argmax())
            line = int(str(self.frame.index[place])) + self._first_line
            what = fault.format(shown(self.frame[name].iloc[place]))
            msg = f"{self._path}, line {line}: {name} {what}."
            raise InvalidInputError(msg)


def _numbers(text: pd.Series[str]) -> Floats:
    """Return the nearest float64 of each number, as Python finds it; NaN for what is none."""
    try:
        values = text.to_numpy(dtype=object).astype(np.float64)
    except ValueError:
        values = np.array([_number(one) for one in text])
    return np.where(text.str.contains("_", regex=False), np.nan, values)  # a name, not a number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return np.nan


def _is_plain_number(text: str) -> bool:
    """Tell the usual writing of a whole number that fits 64 bits."""
    short = len(text) < 19 and text.isascii() and text.isdigit()
    return short and str(int(text)) == text


def _text_of(path: Path) -> str:
    try:
        # an id may hold a line end
        with reading(path), path.open(encoding="utf-8-sig", newline="") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        msg = f"{path}: not text in UTF-8 (byte {error.start}). {_NO_TEXT}"
        raise InvalidInputError(msg) from None
    if not text.strip():
        msg = f"{path}: the file is empty."
        raise InvalidInputError(msg)
    before, nul, _ = text.partition("\0")
    if nul:
        line = before.count("\n") + 1
        msg = f"{path}: not text (a zero byte in line {line}). {_NO_TEXT}"
        raise InvalidInputError(msg)
    _check_width(path, text)
    return text


def _first_line(text: str) -> str:
    return re.split(r"[\r\n]", text, maxsplit=1)[0]


def _check_width(path: Path, text: str) -> None:
    """Refuse columns so many that reading them takes minutes, and lines without them."""
    first = _first_line(text[: 1 << 20])
    width = first.count(_separator_of(first)) + 1
    if width > _MOST_COLUMNS:
        msg = (
            f"{path}: more than {_MOST_COLUMNS} columns in line 1. Keep those of the predictions: "
            "user, item, estimated, true."
        )
        raise InvalidInputError(msg)
    lines = text.count("\n") + text.count("\r")
    if lines * width > 1_000_000 + 2 * len(text):  # cells that are not there would fill the memory
        msg = (
            f"{path}: most lines are blank, or have far fewer columns than the {width} of line 1. "
            "Take out what is not of the table."
        )
        raise InvalidInputError(msg)


def _separator_of(line: str) -> str:
    return max(_SEPARATORS, key=line.count)


def _read_parquet(path: Path) -> ParquetColumns:
    check_path(path)
    if not path.is_file():
        there = "Is a directory" if path.is_dir() else "Is no file"
        msg = f"{path}: cannot be read ({there if path.exists() else 'No such file'})."
        raise InvalidInputError(msg)
    return ParquetColumns(path)
