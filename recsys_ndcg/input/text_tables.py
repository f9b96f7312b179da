"""Tables in text: CSV, lines of JSON, and the files of TREC."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.files import Content, is_file_source
from recsys_ndcg.input.ids import as_numbers
from recsys_ndcg.input.rows import Rows, to_column, to_floats
from recsys_ndcg.input.text_format import HEADING, MOST_COLUMNS, TextFormat, first_line

_FORM = '{"user": 1, "item": 2, "estimated": 3.5, "true": 4}'


def seems_json(text: str) -> bool:
    """Tell lines of JSON by the first one, where no name says what they are.

    Examples
    --------
    >>> seems_json('{"user": 1}'), seems_json("{user},item"), seems_json("user,item")
    (True, False, False)
    """
    line = text[: 1 << 20].lstrip().partition("\n")[0]
    try:
        return line.startswith("{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


class JsonLines(Mapping[str, Any]):
    """The columns of a file in which each line is an object; what one lacks is not there.

    Parameters
    ----------
    name : str
        What messages call the file.
    text : str
        All of it.

    Raises
    ------
    InvalidInputError
        A line is no object, or there are very many different names.
    """

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._rows: list[tuple[int, dict[str, Any]]] = []
        names: dict[str, None] = {}
        for place, line in enumerate(io.StringIO(text), start=1):
            if not line.strip():
                continue
            row = self._object(place, line)
            names.update(dict.fromkeys(row))
            if len(names) > MOST_COLUMNS:
                self._refuse(place, f"there are more than {MOST_COLUMNS} different names.")
            self._rows.append((place, row))
        self._names = list(names)

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column, None where an object has none."""
        if name not in self._names:
            raise KeyError(name)
        for place, row in self._rows:
            value = row.get(name)
            if isinstance(value, list | dict):
                self._refuse(place, f"{name} is {quote(value)}; write a number, or text.")
        return [row.get(name) for _, row in self._rows]

    def __iter__(self) -> Iterator[str]:
        """Go through the names."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return how many columns there are."""
        return len(self._names)

    def _object(self, place: int, line: str) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):  # also of a number of thousands of digits
            row = None
        if not isinstance(row, dict):
            array = " Of an array, write each object in a line." if line[:1] == "[" else ""
            self._refuse(place, f"{quote(line.strip())} is not an object, such as {_FORM}.{array}")
        return dict(row)

    def _refuse(self, place: int, what: str) -> None:
        msg = f"{self._name}, line {place}: {what}"
        raise InvalidInputError(msg)


#: The fields of a line in the files of TREC, and which of them is read as a number.
_TREC = {
    "qrels": (("topic", "iteration", "document", "grade"), "grade"),
    "run": (("topic", "Q0", "document", "rank", "score", "tag"), "score"),
}


def read_trec(source: Any, table: str) -> Rows:
    """Read labels from qrels, or results from a run: a file, or {topic: {document: number}}.

    A negative grade means unlabelled, and the rank column is ignored, both as in trec_eval.
    """
    fields, value = _TREC[table]
    if isinstance(source, Mapping):
        for user, one in source.items():
            if not isinstance(one, Mapping):
                msg = f"Topic {user!r} has {quote(one)}; give a dict {{document: {value}}}."
                raise InvalidInputError(msg)
        name = "The dict"
        flat = [(user, item, x) for user, one in source.items() for item, x in one.items()]
    elif is_file_source(source):
        content = Content.of(source)
        name, flat = content.name, _lines(content, fields, fields.index(value))
    else:
        msg = f"Give a TREC file or a dict {{topic: {{document: {value}}}}}, not {quote(source)}."
        raise InvalidInputError(msg)
    if not flat:
        msg = f"{name}: there are no entries."
        raise InvalidInputError(msg)
    user, item, values = zip(*flat, strict=True)
    ids = {"user": to_column(user, "topic"), "item": to_column(item, "document")}
    numbers = to_floats(list(values), table)
    if table == "run":
        return Rows({**ids, "estimated": numbers}, "results", score="score")
    return Rows({**ids, "true": np.where(numbers < 0, np.nan, numbers)}, "labels")


def _lines(content: Content, fields: tuple[str, ...], at: int) -> list[tuple[str, str, float]]:
    rows, form = [], " ".join(fields)
    advice = f"Save it as text in UTF-8, each line '{form}'."
    text = io.StringIO(TextFormat().decode(content, advice), newline=None)
    for number, line in enumerate(text, start=1):
        parts = line.split()
        if not parts:
            continue
        try:
            if len(parts) != len(fields) or ODD_NUMBER.search(parts[at]):
                raise ValueError  # noqa: TRY301 - the same fault as a bad number
            rows.append((parts[0], parts[2], float(parts[at])))
        except ValueError:
            msg = f"{content.name}, line {number}: {quote(line.strip())} is not '{form}'."
            raise InvalidInputError(msg) from None
    return rows


#: What may separate fields, and how it is typed.
_TYPED_AS = {"::": "'::'", "\t": "'tab'", **{sign: f"'{sign}'" for sign in ",;|"}, " ": "'space'"}
#: What Python reads in a number, and DuckDB, Arrow and pandas do not: names such as 1_000, and
#: digits of other scripts.
ODD_NUMBER = re.compile(r"_|[^\x00-\x7f]")
_TOO_WIDE = re.compile(r"Expected (\d+) fields in line (\d+), saw (\d+)")
_LONGEST = 20  # signs of a whole number of 64 bits
_SWAPPED = str.maketrans(",.", ".,")


class Chosen(NamedTuple):
    """Which columns of a text are read, and how.

    Parameters
    ----------
    names : list of str
        What all columns are called.
    ids : list of str
        Those of ids.
    numbers : dict
        Those of numbers; whether a field may be empty.
    """

    names: list[str]
    ids: list[str]
    numbers: dict[str, bool]


#: Says, of the names of all columns, which are read.
Choose = Callable[[Sequence[str]], Chosen]


def careful_columns(name: str, text: str, how: TextFormat, choose: Choose) -> pd.DataFrame:
    """Read text whatever is in it: slower, and with a word for everything that is wrong.

    Raises
    ------
    InvalidInputError
        It cannot be read or parsed; the line is named.
    """
    table = TextTable(name, text, how)
    names, ids, numbers = choose(list(table.frame.columns))
    table.frame = table.frame.set_axis(names, axis=1)
    for one in ids:
        table.read_ids(one)
    for one, may_be_empty in numbers.items():
        table.read_numbers(one, may_be_empty=may_be_empty)
    return table.frame


class TextTable:
    """A text file as a table of text, whose columns are then read as ids or numbers.

    Parameters
    ----------
    name : str
        What messages call the file.
    text : str
        The file, not empty.
    how : TextFormat
        Its separator, decimals, and whether the first line names the columns.

    Raises
    ------
    InvalidInputError
        It has too many columns, a line has more or fewer fields than the first, or a name stands
        twice in the heading.
    """

    def __init__(self, name: str, text: str, how: TextFormat) -> None:
        self._name, self._decimal = name, how.decimal
        self._first_line = 1 + how.heading
        separator = how.find_separator(text)
        if separator == "::":
            separator, text = "\t", text.replace("::", "\t")
        _check_width(name, text, separator)
        self.frame = self._parsed(text, separator, heading=how.heading)
        if (self.frame.iloc[:, 0] == "").any():  # the index still tells the line
            self.frame = self.frame[~(self.frame == "").all(axis=1)]
        self._refuse_short(text, separator)

    def read_ids(self, name: str) -> None:
        """Read a column of ids, as whole numbers where nothing of their writing is lost."""
        codes, found = pd.factorize(self.frame[name])
        distinct = found.tolist()
        if not all(map(str.strip, distinct)):
            blank = np.array([not one.strip() for one in distinct])
            self._refuse(name, pd.Series(blank[codes]), "is missing")
        numbers = whole_numbers(distinct)
        if numbers is not None:
            self.frame = self.frame.assign(**{name: numbers[codes]})

    def read_numbers(self, name: str, *, may_be_empty: bool = False) -> None:
        """Read a column of finite numbers; words that say there is none are NaN if that may be."""
        text = self.frame[name].str.strip()
        absent = text.str.lower().isin(["", "nan", "na", "none", "null"])
        plain = text if self._decimal == "." else text.str.translate(_SWAPPED)
        values = pd.Series(_numbers(plain.mask(absent, "nan")), index=text.index)
        bad = values.isna() & ~absent
        fault = "is {}, which is not a number"
        first = plain[bad].iloc[0] if bad.any() else ""
        if not np.isnan(number(first.translate(_SWAPPED))):
            point, sign = ("comma", ",") if self._decimal == "." else ("point", ".")
            fault += (
                f" (with a decimal {point} it is: --decimal '{sign}' or "
                f"text=TextFormat(decimal='{sign}') of RankedLists.from_file)"
            )
        elif any(one.isdigit() and not one.isascii() for one in first):
            fault += "; write numbers with the digits 0 to 9"
        else:
            fault += "; correct it, or name the right column with columns= (--columns)"
        self._refuse(name, bad, fault)
        self._refuse(name, values.abs() == np.inf, "is {}, which is not a finite number")
        if not may_be_empty:
            self._refuse(name, absent, "is missing")
        self.frame = self.frame.assign(**{name: np.asarray(values, dtype=np.float64)})

    def _parsed(self, text: str, separator: str, *, heading: bool) -> pd.DataFrame:
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
            if reason.startswith("Calling read"):  # which pandas says of Ctrl-C in this moment
                raise KeyboardInterrupt from None
            quoted = f"A field that holds {quote(separator)} stands in double quotes."
            msg = f"{self._name}: cannot be parsed ({reason}). {quoted}"
            if wide := _TOO_WIDE.search(reason):
                many = f"{wide[3]} fields in place of {wide[1]}"
                msg = f"{self._name}, line {wide[2]}: {many}. {quoted}"
            raise InvalidInputError(msg) from None
        self._refuse_narrow(frame, text, separator)
        if not heading:
            return frame.set_axis([str(place + 1) for place in range(len(frame.columns))], axis=1)
        names = [str(name).strip() for name in frame.iloc[0]]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            msg = f"{self._name}: the heading names the column {twice[0]!r} twice; keep one."
            raise InvalidInputError(msg)
        frame = frame.iloc[1:].reset_index(drop=True).set_axis(names, axis=1)
        if tuple(names[: len(HEADING)]) != HEADING:
            return frame
        return frame.rename(columns=TextFormat.unescape_formula).assign(
            user=frame["user"].map(TextFormat.unescape_formula)
        )

    def _refuse_narrow(self, frame: pd.DataFrame, text: str, separator: str) -> None:
        """Refuse a table of one column, whose first line has what separates fields elsewhere."""
        line = first_line(text)
        signs = [sign for sign in _TYPED_AS if sign in line and sign != separator]
        if len(frame.columns) == 1 and signs:
            typed = _TYPED_AS[signs[0]]
            msg = (
                f"{self._name}: line 1 is a single field, {quote(line)}. If {typed} separates "
                f"fields: --sep {typed} (TextFormat(separator={typed})); if the line is not of "
                "the table, take it out."
            )
            raise InvalidInputError(msg)

    def _refuse_short(self, text: str, separator: str) -> None:
        """Refuse a row that was cut off: pandas fills it up with empty fields."""
        if not len(self.frame) or not (self.frame.iloc[:, -1] == "").any():
            return
        width = len(self.frame.columns)
        try:
            for line, fields in enumerate(
                csv.reader(io.StringIO(text, newline=""), delimiter=separator), start=1
            ):
                if any(fields) and len(fields) < width:
                    msg = (
                        f"{self._name}, line {line}: {len(fields)} fields in place of {width}: "
                        f"{quote(separator.join(fields))}. Was it cut off? A value that is not "
                        "there is an empty field."
                    )
                    raise InvalidInputError(msg)
        except csv.Error:  # a field is longer than the module takes, and has been read
            return

    def _refuse(self, name: str, bad: pd.Series[bool], fault: str) -> None:
        if bad.any():
            place = int(bad.to_numpy().argmax())
            line = int(str(self.frame.index[place])) + self._first_line
            what = fault.format(quote(self.frame[name].iloc[place]))
            msg = f"{self._name}, line {line}: {name} {what}."
            if line == 1:
                msg += " If this line is a heading, leave out --no-heading (heading=False)."
            raise InvalidInputError(msg)


def number(text: str) -> float:
    """Return a number, NaN for what is none."""
    try:
        return np.nan if ODD_NUMBER.search(text) else float(text)
    except ValueError:
        return np.nan


def _numbers(text: pd.Series[str]) -> Floats:
    """Return the nearest float64 of each number, as Python finds it; NaN for what is none."""
    try:
        values = text.to_numpy(dtype=object).astype(np.float64)
    except ValueError:
        values = np.array([number(one) for one in text])
    return np.where(text.str.contains(ODD_NUMBER), np.nan, values)


def whole_numbers(distinct: list[str]) -> Ids | None:
    """Return the numbers that distinct ids write, None unless all are written as such.

    That is the usual writing of whole numbers of 64 bits, signed or not.

    Examples
    --------
    >>> whole_numbers(["-7", "42"]), whole_numbers(["-7", "042"]), whole_numbers(["+1"])
    (array([-7, 42]), None, None)
    """
    for text in distinct:
        short = len(text) <= _LONGEST and text.isascii() and text.removeprefix("-").isdigit()
        if not (short and str(int(text)) == text and -(2**63) <= int(text) < 2**64):
            return None
    return as_numbers(np.array([*map(int, distinct)], dtype=object))


def _check_width(name: str, text: str, separator: str) -> None:
    """Refuse columns so many that reading them takes minutes, and lines without them."""
    width = first_line(text).count(separator) + 1
    if width > MOST_COLUMNS:
        msg = (
            f"{name}: more than {MOST_COLUMNS} columns in line 1. Keep those of the predictions: "
            "user, item, estimated, true."
        )
        raise InvalidInputError(msg)
    lines = text.count("\n") + text.count("\r")
    if lines > most_lines(width, len(text)):
        msg = (
            f"{name}: most lines are blank, or have far fewer columns than the {width} of line 1. "
            "Take out what is not of the table."
        )
        raise InvalidInputError(msg)


def most_lines(width: int, length: int) -> float:
    """Return how many lines a text may have: cells that are not there would fill the memory.

    Parameters
    ----------
    width : int
        Of its first line, in fields.
    length : int
        Of all of it, in characters.
    """
    return (1_000_000 + 2 * length) / width
