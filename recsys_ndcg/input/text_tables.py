"""CSV and similar text: parsed by pyarrow if it is plain, else carefully, line by line.

pyarrow parses in several threads, several times faster. The result is the same to the last bit; the
careful parser has a message for every fault.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.files import Content
from recsys_ndcg.input.ids import EncodedIds, encode_text, import_pyarrow, unify_numbers
from recsys_ndcg.input.text_format import (
    MAX_COLUMNS,
    MAX_HEADER_LENGTH,
    SCORES_HEADER,
    TextFormat,
    get_first_line,
    raise_at,
)
from recsys_ndcg.parallel import map_in_threads

_BLOCK_BYTES = 1 << 21
_OLDEST_PYARROW = 21  # older ones may crash, for instance at a line with a million fields
_PLAIN_SEPARATORS = frozenset("\t,;| ")
_SAMPLE = 1000  # rows of a column that is not read
#: The usual words for a missing number.
_MISSING = ("", *["nan", "NaN", "NAN", "na", "NA", "none", "None", "NONE", "null", "Null", "NULL"])
#: Separators that may be meant, and how to type them.
_TYPED = {"::": "'::'", "\t": "'tab'", **{sign: f"'{sign}'" for sign in ",;|"}, " ": "'space'"}
#: What Python accepts in a number, and DuckDB, Arrow and pandas do not: 1_000, and digits of
#: other scripts.
UNUSUAL_NUMBER = re.compile(r"_|[^\x00-\x7f]")
_TOO_WIDE = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_MAX_DIGITS = 20  # characters of an integer of 64 bits
_SWAP_DECIMAL = str.maketrans(",.", ".,")


class ColumnChoice(NamedTuple):
    """The columns to read from a text, and their types.

    Parameters
    ----------
    names : list of str
        The names of all columns.
    ids : list of str
        The columns of ids.
    numbers : dict
        The columns of numbers, and whether a field may be empty.
    optional : sequence of str
        The columns of ids in which a field may be empty.
    """

    names: list[str]
    ids: list[str]
    numbers: dict[str, bool]
    optional: Sequence[str] = ()


#: Chooses the columns to read, given the names of all.
Chooser = Callable[[Sequence[str]], ColumnChoice]


def parse_text(
    content: Content, text: str, text_format: TextFormat, choose: Chooser
) -> pd.DataFrame | dict[str, Any]:
    """Parse text with pyarrow if it is plain, else carefully."""
    columns = parse_plain(content, text, text_format, choose)
    return parse_carefully(content.name, text, text_format, choose) if columns is None else columns


def parse_plain(
    content: Content, text: str, text_format: TextFormat, choose: Chooser
) -> dict[str, Any] | None:
    """Parse plain text with pyarrow.

    Parameters
    ----------
    content : Content
        The file.
    text : str
        The file's text.
    text_format : TextFormat
        Its format.
    choose : callable
        Chooses the columns to parse. For the others, only the number of fields is checked.

    Returns
    -------
    dict or None
        All columns; those that were not chosen are lists of their first fields. Ids are integers
        if all of them are written as plain integers, else encoded text. None if the text is not
        plain.
    """
    pa = import_pyarrow()
    if pa is None or int(pa.__version__.partition(".")[0]) < _OLDEST_PYARROW:
        return None
    separator = text_format.find_separator(text)
    if separator == "::":
        text, separator = text.replace("::", "\t"), "\t"
    line = get_first_line(text)
    header = _parse_header(line, separator, has_header=bool(text_format.heading))
    if header is None or is_mostly_empty(text, separator):
        return None
    names, ids, numbers, _ = choose(header)
    if not ids:
        return None
    from pyarrow import csv as arrow_csv  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    types = dict.fromkeys(ids, pa.string()) | dict.fromkeys(numbers, pa.float64())
    try:
        is_unchanged = text.isascii() and len(text) == len(content.data)
        data = pa.py_buffer(content.data if is_unchanged else text.encode())
        table = arrow_csv.read_csv(
            pa.BufferReader(data.slice(len(line.encode()) if text_format.heading else 0)),
            arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK_BYTES),
            arrow_csv.ParseOptions(
                delimiter=separator,
                quote_char='"' if '"' in text else False,
                newlines_in_values='"' in text,
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,  # it was decoded
                include_columns=[*types],
                column_types=types,
                null_values=_MISSING,
                strings_can_be_null=False,
                decimal_point=text_format.decimal,
            ),
        )
        numeric = {name: _convert_numbers(table[name], numbers[name]) for name in numbers}
        encoded = map_in_threads(lambda name: _convert_ids(table[name]), ids, len(table))
        lines = text[:MAX_HEADER_LENGTH].splitlines()[bool(text_format.heading) :]
        rows = csv.reader(lines[:_SAMPLE], delimiter=separator)
        sample = [row for row in rows if len(row) == len(names)]  # a line may end in a field
    except (pa.ArrowException, csv.Error, UnicodeEncodeError):  # for lone surrogates
        return None
    columns: dict[str, Any] = {**numeric, **dict(zip(ids, encoded, strict=True))}
    unread = {name: [row[place] for row in sample] for place, name in enumerate(names)}
    return None if any(one is None for one in columns.values()) else {**unread, **columns}


def _parse_header(line: str, separator: str, *, has_header: bool) -> list[str] | None:
    """Return the names of the columns, None if the first line is unusual or may be JSON."""
    is_odd = line.count('"') % 2 or line.lstrip().startswith("{") or line.startswith("\ufeff")
    if separator not in _PLAIN_SEPARATORS or is_odd or len(line) == MAX_HEADER_LENGTH:
        return None
    fields = TextFormat(separator).split_first_line(line)
    if not 2 <= len(fields) <= line.count(separator) + 1 <= MAX_COLUMNS:
        return None
    if not has_header:
        return [str(place + 1) for place in range(len(fields))]
    names = [name.strip() for name in fields]
    if len(set(names)) < len(names) or tuple(names[: len(SCORES_HEADER)]) == SCORES_HEADER:
        return None
    return names


def _convert_numbers(column: Any, may_be_empty: bool) -> Floats | None:  # noqa: FBT001 - private
    """Return numbers, NaN for an empty field; None if one is infinite, or must not be empty."""
    values: Floats = column.to_numpy()
    n_empty = column.null_count
    is_plain = np.count_nonzero(~np.isfinite(values)) == n_empty
    return values if is_plain and (may_be_empty or not n_empty) else None


def _convert_ids(column: Any) -> Ids | EncodedIds | None:
    """Return integers, or encoded text; None if an id may be missing."""
    encoded = encode_text(column)
    if encoded is None or not all(map(str.strip, encoded.ids)):
        return None
    integers = parse_integers(encoded.ids.tolist())
    return encoded if integers is None else integers[encoded.codes]


def parse_carefully(name: str, text: str, text_format: TextFormat, choose: Chooser) -> pd.DataFrame:
    """Parse any text, slowly, with a message for every fault.

    Raises
    ------
    InvalidInputError
        The text cannot be parsed; the message has the line.
    """
    table = TextTable(name, text, text_format)
    names, ids, numbers, optional = choose(list(table.frame.columns))
    table.frame = table.frame.set_axis(names, axis=1)
    for column in ids:
        table.parse_ids(column, may_be_empty=column in optional)
    for column, may_be_empty in numbers.items():
        table.parse_numbers(column, may_be_empty=may_be_empty)
    return table.frame


class TextTable:
    """A text file as a table of text, whose columns can be parsed as ids or numbers.

    Parameters
    ----------
    name : str
        The file's name in messages.
    text : str
        The file's text, not empty.
    text_format : TextFormat
        The separators, and whether the first line is a header.

    Raises
    ------
    InvalidInputError
        There are too many columns, a line has more or fewer fields than the first, or the header
        has a name twice.
    """

    def __init__(self, name: str, text: str, text_format: TextFormat) -> None:
        self._name, self._decimal = name, text_format.decimal
        self._first_line = 1 + bool(text_format.heading)
        separator = text_format.find_separator(text)
        if separator == "::":
            separator, text = "\t", text.replace("::", "\t")
        _check_size(name, text, separator)
        self.frame = self._parse(text, separator, has_header=bool(text_format.heading))
        if (self.frame.iloc[:, 0] == "").any():  # the index keeps the number of the line
            self.frame = self.frame[~(self.frame == "").all(axis=1)]
        self._check_row_lengths(text, separator)

    def parse_ids(self, name: str, *, may_be_empty: bool = False) -> None:
        """Parse a column of ids, as integers if all are written as plain integers."""
        codes, index = pd.factorize(self.frame[name])
        distinct = index.tolist()
        is_blank = np.array([not text.strip() for text in distinct], dtype=bool)
        if not may_be_empty:
            self._check_cells(name, pd.Series(is_blank[codes]), "is missing")
        integers = parse_integers([text for text in distinct if text.strip()])
        ids = np.full(len(distinct), None, dtype=object)
        ids[~is_blank] = index[~is_blank] if integers is None else integers
        if is_blank.any():
            self.frame = self.frame.assign(**{name: ids[codes]})
        elif integers is not None:
            self.frame = self.frame.assign(**{name: integers[codes]})

    def parse_numbers(self, name: str, *, may_be_empty: bool = False) -> None:
        """Parse a column of finite numbers; an empty field or a word for it is NaN, if allowed."""
        text = self.frame[name].str.strip()
        is_empty = text.str.lower().isin(["", "nan", "na", "none", "null"])
        usual = text if self._decimal == "." else text.str.translate(_SWAP_DECIMAL)
        values = pd.Series(_parse_numbers(usual.mask(is_empty, "nan")), index=text.index)
        bad = values.isna() & ~is_empty
        fault = "is {}, which is not a number"
        first = usual[bad].iloc[0] if bad.any() else ""
        if not np.isnan(parse_number(first.translate(_SWAP_DECIMAL))):
            decimal, sign = ("comma", ",") if self._decimal == "." else ("point", ".")
            fault += (
                f"; if numbers have a decimal {decimal}, give "
                f"`(path, rn.TextFormat(decimal='{sign}'))`"
            )
        elif any(character.isdigit() and not character.isascii() for character in first):
            fault += "; write numbers with the digits 0 to 9"
        else:
            fault += "; correct it, or name the right column with `columns=`"
        self._check_cells(name, bad, fault)
        self._check_cells(name, values.abs() == np.inf, "is {}, which is not a finite number")
        if not may_be_empty:
            self._check_cells(name, is_empty, "is missing")
        self.frame = self.frame.assign(**{name: values})

    def _parse(self, text: str, separator: str, *, has_header: bool) -> pd.DataFrame:
        try:
            frame = pd.read_csv(
                io.StringIO(text),
                sep=separator,
                header=None,
                dtype=str,
                keep_default_na=False,
                skip_blank_lines=False,
            ).fillna("")
        except ValueError as error:
            reason = str(error).removeprefix("Error tokenizing data. C error: ").strip()
            if reason.startswith("Calling read"):  # how pandas reports Ctrl-C at this moment
                raise KeyboardInterrupt from None
            fix = f"Put a field that contains {quote(separator)} in double quotes."
            if wide := _TOO_WIDE.search(reason):
                reason = f"{wide[3]} fields in place of {wide[1]}. {fix}"
                raise_at(self._name, int(wide[2]), reason)
            msg = f"{self._name}: cannot be parsed ({reason}). {fix}"
            raise InvalidInputError(msg) from None
        self._check_separator(frame, text, separator)
        if not has_header:
            return frame.set_axis([str(place + 1) for place in range(len(frame.columns))], axis=1)
        names = [str(name).strip() for name in frame.iloc[0]]
        repeated = [name for name in names if names.count(name) > 1]
        if repeated:
            msg = f"{self._name}: the heading names the column {repeated[0]!r} twice; keep one."
            raise InvalidInputError(msg)
        frame = frame.iloc[1:].reset_index(drop=True).set_axis(names, axis=1)
        if tuple(names[: len(SCORES_HEADER)]) != SCORES_HEADER:
            return frame
        unescape = TextFormat.unescape_formula
        return frame.rename(columns=unescape).assign(user=frame["user"].map(unescape))

    def _check_separator(self, frame: pd.DataFrame, text: str, separator: str) -> None:
        """Raise if there is one column, and another separator in its first line."""
        line = get_first_line(text)
        others = [sign for sign in _TYPED if sign in line and sign != separator]
        if len(frame.columns) == 1 and others:
            typed = _TYPED[others[0]]
            msg = (
                f"{self._name}: line 1 is a single field, {quote(line)}. If {typed} separates "
                f"fields, give `(path, rn.TextFormat(separator={typed}))`. If the line is not part "
                "of the table, remove it."
            )
            raise InvalidInputError(msg)

    def _check_row_lengths(self, text: str, separator: str) -> None:
        """Raise if a row has too few fields: pandas fills it up with empty ones."""
        if not len(self.frame) or not (self.frame.iloc[:, -1] == "").any():
            return
        width = len(self.frame.columns)
        try:
            rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
            for line, fields in enumerate(rows, start=1):
                if any(fields) and len(fields) < width:
                    problem = (
                        f"{len(fields)} fields in place of {width}: "
                        f"{quote(separator.join(fields))}. Was it cut off? Write a missing value "
                        "as an empty field."
                    )
                    raise_at(self._name, line, problem)
        except csv.Error:  # a field exceeds the csv module's limit; pandas has parsed it
            return

    def _check_cells(self, name: str, bad: pd.Series[bool], fault: str) -> None:
        """Raise if a cell of a column is bad, with the line of the first one."""
        if bad.any():
            place = int(bad.to_numpy().argmax())
            line = int(str(self.frame.index[place])) + self._first_line
            problem = f"{name} {fault.format(quote(self.frame[name].iloc[place]))}."
            if line == 1:
                problem += " If this line is a heading, leave out heading=False."
            raise_at(self._name, line, problem)


def parse_number(text: str) -> float:
    """Return a number, NaN for a text that is not a number."""
    try:
        return np.nan if UNUSUAL_NUMBER.search(text) else float(text)
    except ValueError:
        return np.nan


def _parse_numbers(text: pd.Series[str]) -> Floats:
    """Return the float64 nearest to each number, as Python does; NaN for other text."""
    try:
        values = text.to_numpy(dtype=object).astype(np.float64)
    except ValueError:
        values = np.array([parse_number(cell) for cell in text])
    return np.where(text.str.contains(UNUSUAL_NUMBER), np.nan, values)


def parse_integers(distinct: list[str]) -> Ids | None:
    """Return ids in text as integers, or None unless all are plain integers of 64 bits.

    Examples
    --------
    >>> parse_integers(["-7", "42"]), parse_integers(["-7", "042"]), parse_integers(["+1"])
    (array([-7, 42]), None, None)
    """
    for text in distinct:
        is_short = len(text) <= _MAX_DIGITS and text.isascii() and text.removeprefix("-").isdigit()
        if not (is_short and str(int(text)) == text and -(2**63) <= int(text) < 2**64):
            return None
    return unify_numbers(np.array([*map(int, distinct)], dtype=object))


def _check_size(name: str, text: str, separator: str) -> None:
    """Raise if a table would take minutes to parse, or fill the memory."""
    width = get_first_line(text).count(separator) + 1
    if width > MAX_COLUMNS:
        msg = (
            f"{name}: more than {MAX_COLUMNS} columns in line 1. Keep only those of the "
            "predictions: user, item, estimated, true."
        )
        raise InvalidInputError(msg)
    if is_mostly_empty(text, separator):
        msg = (
            f"{name}: most lines are blank, or have far fewer columns than the {width} of line 1. "
            "Remove what is not part of the table."
        )
        raise InvalidInputError(msg)


def is_mostly_empty(text: str, separator: str) -> bool:
    """Return whether lines are so much shorter than the first that empty cells fill the memory."""
    width = get_first_line(text).count(separator) + 1
    return text.count("\n") + text.count("\r") > (1_000_000 + 2 * len(text)) / width
