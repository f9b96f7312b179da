"""Text in which nothing is out of the ordinary, which pyarrow reads as the careful reader would.

What is returned is what the careful reader returns, to the last bit; None is for that one to look
at. pyarrow reads in all threads, several times faster.
"""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.input.arrow.text import coded_text, pyarrow_if_any
from recsys_ndcg.input.column_names import roles_of
from recsys_ndcg.input.text.form import HEADING, MOST_COLUMNS
from recsys_ndcg.input.text.tables import (
    is_plain_number,
    most_lines,
    whole_numbers,
)
from recsys_ndcg.parallel import in_threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recsys_ndcg.arrays import Floats, Ids
    from recsys_ndcg.files import Content
    from recsys_ndcg.input.ids import Coded
    from recsys_ndcg.input.text.form import TextFormat

_BLOCK = 1 << 20
_ARROW_BLOCK = 1 << 21
_SAFE = 21  # the first version of pyarrow that is sure of its memory, whatever a line holds
_LINE_END = re.compile(rb"\r\n?|\n")
_SEPARATORS = frozenset("\t,;| ")
_UTF_8 = frozenset({"utf-8", "utf8", "utf_8"})
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: Words for a number that is not there, as they are mostly written.
_ABSENT = ("", *["nan", "NaN", "NAN", "na", "NA", "none", "None", "NONE", "null", "Null", "NULL"])


class UnusualError(ValueError):
    """Something in a plain text is not, and the careful reader has to look at it."""


@dataclass(frozen=True)
class PlainText:
    """A table in text, whose fields stand between separators, in quotes all of them or not.

    Parameters
    ----------
    data : bytes
        All of it, in UTF-8.
    start : int
        Where the first row stands.
    separator : str
        One sign of ASCII.
    names : list of str
        What the columns are called, each once; without a heading, their places from 1 on.
    quoted : bool
        Whether there are quotes: around a field, and nowhere else.
    decimal : {'.', ','}
        What stands before the decimals of a number.
    """

    data: bytes
    start: int
    separator: str
    names: list[str]
    quoted: bool
    decimal: str


def reads_text() -> bool:
    """Return whether there is a pyarrow that a file of text can be given to.

    Older ones end the process over a line of a million fields.
    """
    pa = pyarrow_if_any()
    return pa is not None and int(pa.__version__.partition(".")[0]) >= _SAFE


def plain_text(content: Content, how: TextFormat) -> PlainText | None:
    """Return a text that is plain, None of any other: the careful reader says what is wrong.

    Raises
    ------
    InvalidInputError
        It is no text in the encoding that somebody said.
    """
    if not reads_text():
        return None
    data = _in_utf_8(content, how)
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    if b"\0" in data or data.startswith(codecs.BOM_UTF8, start):
        return None
    length = _characters(data) - bool(start)
    line, end = _line_at(data, start)
    if not length > 0 or not line.strip() or line.lstrip().startswith("{"):  # JSON, perhaps
        return None
    separator = how.separator_in(line)
    if separator == "::":
        doubles = data.count(b"::")
        data, length = data.replace(b"::", b"\t"), length - doubles
        separator = "\t"
        line, end = _line_at(data, start)
    quoted = b'"' in data
    names = _names(line, separator, heading=how.heading)
    lines = _count_of(data, b"\n") + _count_of(data, b"\r")
    if names is None or lines > most_lines(line.count(separator) + 1, length):
        return None
    if quoted and not _quotes_fit(data, start, separator):
        return None
    return PlainText(data, end if how.heading else start, separator, names, quoted, how.decimal)


def _in_utf_8(content: Content, how: TextFormat) -> bytes:
    """Return the text in UTF-8, nothing where it cannot be written so."""
    encoding = (how.encoding or "utf-8").lower()
    if encoding in _UTF_8 and not (how.encoding is None and content.data.startswith(_MARKS)):
        return content.data
    try:
        return how.text_of(content).encode()
    except UnicodeEncodeError:  # half a character
        return b""


def _characters(data: bytes) -> int:
    """Return how many there are; -1 of what is not in UTF-8."""
    if data.isascii():
        return len(data)
    decoder, found = codecs.getincrementaldecoder("utf-8")(), 0
    try:
        for first in range(0, len(data), _BLOCK):
            found += len(decoder.decode(data[first : first + _BLOCK]))
        return found + len(decoder.decode(b"", final=True))
    except UnicodeDecodeError:
        return -1


def _line_at(data: bytes, start: int) -> tuple[str, int]:
    """Return the line from a place on, and where the next one begins; "" if it is very long."""
    found = _LINE_END.search(data, start, start + _BLOCK)
    if found is None:
        return ("", 0) if len(data) > start + _BLOCK else (_decoded(data[start:]), len(data))
    return _decoded(data[start : found.start()]), found.end()


def _decoded(line: bytes) -> str:
    return line.decode(errors="replace")


def _names(line: str, separator: str, *, heading: bool) -> list[str] | None:
    """Return the names of the columns, None where they are none."""
    if separator not in _SEPARATORS or line.count('"') % 2:
        return None
    try:
        fields = next(csv.reader([line], delimiter=separator))
    except csv.Error:  # one is longer than any name
        return None
    if not 2 <= len(fields) <= line.count(separator) + 1 <= MOST_COLUMNS:
        return None
    if not heading:
        return [str(place + 1) for place in range(len(fields))]
    names = [name.strip() for name in fields]
    if len(set(names)) < len(names) or tuple(names[: len(HEADING)]) == HEADING:
        return None
    return names


def _count_of(data: bytes, sign: bytes, start: int = 0) -> int:
    """Return how often a sign occurs from a place on, sooner than bytes.count if that is often.

    Examples
    --------
    >>> _count_of(b"user,item,true", b",")
    2
    """
    if data.find(sign, start) < 0:
        return 0
    signs = np.frombuffer(data, np.uint8)
    return sum(
        int(np.count_nonzero(signs[first : first + _BLOCK] == ord(sign)))
        for first in range(start, len(data), _BLOCK)
    )


def _quotes_fit(data: bytes, start: int, separator: str) -> bool:
    """Tell whether every quote opens or closes a whole field, and none stands inside of one."""
    signs = np.frombuffer(data, np.uint8)
    bound = np.zeros(256, dtype=bool)
    bound[[ord("\r"), ord("\n"), ord(separator)]] = True
    opened = 0
    for first in range(0, len(data), _BLOCK):
        at = first + np.flatnonzero(signs[first : first + _BLOCK] == ord('"'))
        before = bound[signs[at - 1]] | (at == start)
        after = bound[signs[np.minimum(at + 1, len(data) - 1)]] | (at == len(data) - 1)
        if not (before[opened::2].all() and after[1 - opened :: 2].all()):
            return False
        opened = (opened + len(at)) % 2
    return not opened


def plain_table(
    content: Content, how: TextFormat, columns: Mapping[str, str] | None, order: Sequence[str]
) -> dict[str, Ids | Coded | Floats | None] | None:
    """Return the columns of a plain text under their names, None of any that nobody reads.

    None in place of the table is for the careful reader to look at.

    Parameters
    ----------
    content : Content
        The file.
    how : TextFormat
        How it is written.
    columns : mapping, optional
        Our names to the file's.
    order : sequence of str
        What columns without a heading are.

    Raises
    ------
    InvalidInputError
        The file is no text in the encoding that somebody said.
    """
    plain = plain_text(content, how)
    if plain is None:
        return None
    called = {name: name for name in plain.names}
    if not how.heading and columns and not called.keys() >= set(columns.values()):
        return None
    if not how.heading and not columns:
        called |= dict(zip(plain.names, order, strict=False))
    places = {name: place for place, name in called.items()}
    wanted = {
        ours: places[found[0]]
        for ours, found in roles_of(places, columns).items()
        if len(found) == 1 and found[0] in places
    }
    read = plain_columns(
        plain,
        [name for ours, name in wanted.items() if ours in ("user", "item")],
        {name: ours == "true" for ours, name in wanted.items() if ours not in ("user", "item")},
    )
    return None if read is None else {name: read.get(place) for name, place in places.items()}


def plain_columns(
    plain: PlainText, ids: Sequence[str], numbers: Mapping[str, bool]
) -> dict[str, Ids | Coded | Floats] | None:
    """Return columns of a plain text, None where the careful reader is to look at it.

    Parameters
    ----------
    plain : PlainText
        Its other columns are looked at no further than how many fields each row has.
    ids : sequence of str
        The names of columns of ids: whole numbers if all of them are plain writings of such, else
        text by its distinct values.
    numbers : mapping
        Those of columns of numbers; whether a field may be empty.
    """
    if not ids:
        return None
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    kinds = dict.fromkeys(ids, pa.string()) | dict.fromkeys(numbers, pa.float64())
    try:
        table = _table(plain, kinds)
        found = {name: _floats(table[name], numbers[name]) for name in numbers}
        read = in_threads(lambda name: _ids(table[name]), ids)
    except (pa.ArrowException, UnusualError):
        return None
    return found | dict(zip(ids, read, strict=True))


def _table(plain: PlainText, kinds: dict[str, Any]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import csv  # noqa: PLC0415

    return csv.read_csv(
        pa.BufferReader(pa.py_buffer(plain.data).slice(plain.start)),
        csv.ReadOptions(column_names=plain.names, block_size=_ARROW_BLOCK),
        csv.ParseOptions(
            delimiter=plain.separator,
            quote_char='"' if plain.quoted else False,
            newlines_in_values=plain.quoted,
        ),
        csv.ConvertOptions(
            check_utf8=False,  # it is known
            include_columns=[*kinds],
            column_types=kinds,
            null_values=_ABSENT,
            strings_can_be_null=False,
            decimal_point=plain.decimal,
        ),
    )


def _floats(column: Any, may_be_empty: bool) -> Floats:  # noqa: FBT001 - private
    """Return finite numbers, NaN where the text has none."""
    if column.null_count and not may_be_empty:
        raise UnusualError
    values: Floats = column.to_numpy()
    if np.count_nonzero(~np.isfinite(values)) != column.null_count:
        raise UnusualError
    return values


def _ids(column: Any) -> Ids | Coded:
    first = column[0].as_py() if len(column) else ""
    numbers = _whole_numbers(column) if is_plain_number(first) else None
    if numbers is not None:
        return numbers
    text = coded_text(column)
    if text is None:
        raise UnusualError
    distinct = text.ids.tolist()
    if not all(map(str.strip, distinct)):
        raise UnusualError
    found = whole_numbers(distinct)
    return text if found is None else found[text.codes]


def _whole_numbers(column: Any) -> Ids | None:
    """Return whole numbers of 64 bits with a sign, None if one is longer or not written plainly.

    No other writing of a number is as short as the plain one, but for hexadecimal digits.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import compute  # noqa: PLC0415

    written = [chunk.buffers()[2].to_pybytes() for chunk in column.chunks]
    if any(b"x" in one or b"X" in one for one in written):
        return None
    try:
        values: Ids = column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    low, high = int(values.min()), int(values.max())
    tens = [10**digits for digits in range(len(str(max(-low, high))))]
    length = len(values) + sum(int(np.count_nonzero(values >= ten)) for ten in tens[1:])
    if low < 0:  # -1 and below have a sign besides
        length += sum(int(np.count_nonzero(values <= -ten)) for ten in tens)
    plain = length == compute.sum(compute.binary_length(column)).as_py()
    return values if plain else None
