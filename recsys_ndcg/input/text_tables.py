"""Text tables: CSV, JSON lines and TREC files."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.files import Content, is_file_source
from recsys_ndcg.input.ids import EncodedIds, unify_numbers
from recsys_ndcg.input.rows import Rows, to_column, to_floats
from recsys_ndcg.input.text_format import (
    MAX_COLUMNS,
    SCORES_HEADER,
    TextFormat,
    get_first_line,
    split_format,
)

_JSON_EXAMPLE = '{"user": 1, "item": 2, "estimated": 3.5, "true": 4}'


def is_json(text: str) -> bool:
    """Return whether the first line of a text is a JSON object.

    Examples
    --------
    >>> is_json('{"user": 1}'), is_json("{user},item"), is_json("user,item")
    (True, False, False)
    """
    line = text[: 1 << 20].lstrip().partition("\n")[0]
    try:
        return line.startswith("{") and isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


class JsonObjects(NamedTuple):
    """What a file of JSON holds, if it is one value: lists per user, or rows.

    Parameters
    ----------
    data : dict or list
        The value; keys that are all written as whole numbers are numbers, as ids in CSV.
    """

    data: Any


def read_json(name: str, text: str) -> JsonLines | JsonObjects:
    r"""Read JSON: an object per line, which is a row, or one value, which is a whole table.

    Examples
    --------
    >>> read_json("r.json", '{"7": ["a", "b"]}').data
    {7: ['a', 'b']}
    >>> read_json("r.jsonl", '{"user": 7, "item": "a"}\n{"user": 8, "item": "b"}')["user"]
    [7, 8]
    """
    start, _, rest = text.strip().partition("\n")
    try:
        whole = json.loads(text) if not rest or not is_json(start) else None
    except (ValueError, RecursionError):
        return JsonLines(name, text)
    if isinstance(whole, list):
        return JsonObjects(whole)
    if isinstance(whole, dict) and {"user", "item"} <= whole.keys():  # columns, as of pandas
        are_columns = all(isinstance(one, dict) for one in whole.values())
        return JsonObjects(pd.DataFrame(whole)) if are_columns else JsonObjects(whole)
    users = whole if isinstance(whole, dict) else JsonLines(name, text).merge_users()
    if users and all(isinstance(one, list | dict) for one in users.values()):
        return JsonObjects(_number_keys({user: _number_keys(one) for user, one in users.items()}))
    return JsonLines(name, text)


def _number_keys(data: Any) -> Any:
    """Return an object with numbers as keys, if all are written as plain whole numbers."""
    keys = parse_integers([*data]) if isinstance(data, dict) and data else None
    return data if keys is None else dict(zip(keys.tolist(), data.values(), strict=True))


class JsonLines(Mapping[str, Any]):
    """The columns of a file with one JSON object per line; a missing value is None.

    Parameters
    ----------
    name : str
        The file's name in messages.
    text : str
        The file's text.

    Raises
    ------
    InvalidInputError
        A line is not an object, or there are too many different names.
    """

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._rows: list[tuple[int, dict[str, Any]]] = []
        names: dict[str, None] = {}
        for number, line in enumerate(io.StringIO(text), start=1):
            if not line.strip():
                continue
            row = self._parse_line(number, line)
            names.update(dict.fromkeys(row))
            if len(names) > MAX_COLUMNS:
                _raise_at(name, number, f"there are more than {MAX_COLUMNS} different names.")
            self._rows.append((number, row))
        self._names = list(names)

    def __getitem__(self, name: str) -> list[Any]:
        """Return a column."""
        if name not in self._names:
            raise KeyError(name)
        known = (row.get(name) for _, row in self._rows)
        is_list = isinstance(next((one for one in known if one is not None), None), list)
        for number, row in self._rows:
            value = row.get(name)
            if isinstance(value, dict) or (isinstance(value, list) and not is_list):
                _raise_at(self._name, number, f"{name} is {quote(value)}; write a number, or text.")
        return [row.get(name) for _, row in self._rows]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._names)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._names)

    def merge_users(self) -> dict[str, Any]:
        """Return all lines as one object if each has one name of its own, as {user: items} has."""
        pairs = [*chain.from_iterable(row.items() for _, row in self._rows)]
        return dict(pairs) if len(pairs) == len(self._rows) == len(self._names) > 1 else {}

    def _parse_line(self, number: int, line: str) -> dict[str, Any]:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):  # also for a number of thousands of digits
            row = None
        if not isinstance(row, dict):
            fix = " Write each object of an array on its own line." if line[:1] == "[" else ""
            if line.strip() == "{":
                fix = " Write each object on one line. For a saved report use 'recsys-ndcg report'."
            problem = f"{quote(line.strip())} is not a JSON object, such as {_JSON_EXAMPLE}.{fix}"
            _raise_at(self._name, number, problem)
        return row


def _raise_at(name: str, line: int, problem: str) -> NoReturn:
    msg = f"{name}, line {line}: {problem}"
    raise InvalidInputError(msg) from None


#: The fields of a line in each kind of TREC file: TREC's, and those of BEIR or MS MARCO.
_TREC = {
    "qrels": (("topic", "iteration", "document", "grade"), ("topic", "document", "grade")),
    "run": (("topic", "Q0", "document", "rank", "score", "tag"), ("topic", "document", "score")),
}


def read_trec(source: Any, table: str) -> Rows:
    """Read qrels as labels, or a run as results, from a file or {topic: {document: number}}.

    As in trec_eval, a negative grade means unlabelled, and the rank column is ignored. A line of
    three fields is that of BEIR (qrels, perhaps with a heading) or of MS MARCO (a run; its numbers
    are ranks if they are 1, 2, 3 and so on in each topic).
    """
    source, text_format = split_format(source, TextFormat())
    value = _TREC[table][0][-1 if table == "qrels" else 4]
    name, width = "The dict", 0
    rows: list[Any] | None = None
    if is_file_source(source):
        content = Content.of(source)
        name = content.name
        text = text_format.decode(
            content, f"Save it as text in UTF-8, each line '{' '.join(_TREC[table][0])}'."
        )
        if text.lstrip().startswith("{"):
            source = read_json(name, text)
            source = source.data if isinstance(source, JsonObjects) else source
        else:
            rows, width = _parse_trec(name, text, table)
    if rows is None and isinstance(source, Mapping):
        for user, numbers in source.items():
            if not isinstance(numbers, Mapping):
                msg = f"Topic {user!r} has {quote(numbers)}; give a dict {{document: {value}}}."
                raise InvalidInputError(msg)
        rows = [(user, item, x) for user, numbers in source.items() for item, x in numbers.items()]
    if rows is None:
        msg = f"Give a TREC file or a dict {{topic: {{document: {value}}}}}, not {quote(source)}."
        raise InvalidInputError(msg)
    if not rows:
        msg = f"{name}: there are no entries."
        raise InvalidInputError(msg)
    user, item, values = zip(*rows, strict=True)
    ids = {"user": to_column(user, "topic"), "item": to_column(item, "document")}
    numbers = to_floats(list(values), table)
    if table == "run":
        is_ranked = width == 3 and are_ranks(ids["user"], numbers)
        numbers = -numbers if is_ranked else numbers
        return Rows({**ids, "estimated": numbers}, "results", is_ranked, score="score")
    return Rows({**ids, "true": np.where(numbers < 0, np.nan, numbers)}, "labels")


def _parse_trec(name: str, text: str, table: str) -> tuple[list[Any], int]:
    """Return the topic, the document and the number of each line, and the width of the lines."""
    rows: list[Any] = []
    form = " ".join(_TREC[table][0])
    fields: Sequence[str] = ()
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        parts = line.split()
        if not parts:
            continue
        if not fields:
            fields = next((one for one in _TREC[table] if len(one) == len(parts)), _TREC[table][0])
            if len(parts) == 3 and np.isnan(parse_number(parts[2])):  # a heading
                continue
        at = fields.index("score" if table == "run" else "grade")
        try:
            if len(parts) != len(fields) or UNUSUAL_NUMBER.search(parts[at]):
                raise ValueError  # noqa: TRY301 - the same fault as a bad number
            rows.append((parts[0], parts[fields.index("document")], float(parts[at])))
        except ValueError:
            _raise_at(name, number, f"{quote(line.strip())} is not '{form}'.")
    return rows, len(fields)


def are_ranks(user: Any, numbers: Any) -> bool:
    """Return whether the numbers of each user are 1, 2, 3 and so on, in any order.

    Examples
    --------
    >>> are_ranks(["a", "a", "b"], np.array([2.0, 1.0, 1.0])), are_ranks(["a"], np.array([0.5]))
    (True, False)
    """
    if not len(numbers) or numbers.min() != 1:
        return False
    owner = user.codes if isinstance(user, EncodedIds) else np.asarray(user)
    ranks = pd.Series(numbers).groupby(owner).rank(method="max")
    return bool((ranks == numbers).all())


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
                _raise_at(self._name, int(wide[2]), reason)
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
                    _raise_at(self._name, line, problem)
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
            _raise_at(self._name, line, problem)


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
