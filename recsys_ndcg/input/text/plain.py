"""Text in which nothing is out of the ordinary: what fast readers and the careful one see alike."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.input.contents import MOST_COLUMNS
from recsys_ndcg.input.spreadsheets import HEADING
from recsys_ndcg.input.text.tables import most_lines, separator_of, whole_numbers

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Ids
    from recsys_ndcg.input.contents import Content
    from recsys_ndcg.input.ids import Coded
    from recsys_ndcg.input.text.form import TextFormat

_BLOCK = 1 << 20
_LINE_END = re.compile(rb"\r\n?|\n")
_SEPARATORS = frozenset("\t,;| ")
_UTF_8 = frozenset({"utf-8", "utf8", "utf_8"})
_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
#: Words for a number that is not there, as they are mostly written.
ABSENT = ("", *["nan", "NaN", "NAN", "na", "NA", "none", "None", "NONE", "null", "Null", "NULL"])


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


def plain_text(content: Content, how: TextFormat) -> PlainText | None:
    """Return a text that is plain, None of any other: the careful reader says what is wrong.

    Raises
    ------
    InvalidInputError
        It is no text in the encoding that somebody said.
    """
    data = _in_utf_8(content, how)
    start = len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0
    if b"\0" in data or data.startswith(codecs.BOM_UTF8, start):
        return None
    length = _characters(data) - bool(start)
    line, end = line_at(data, start)
    if not length > 0 or not line.strip() or line.lstrip().startswith("{"):  # JSON, perhaps
        return None
    separator = how.separator or separator_of(line, how)
    if separator == "::":
        doubles = data.count(b"::")
        data, length = data.replace(b"::", b"\t"), length - doubles
        separator = "\t"
        line, end = line_at(data, start)
    quoted = b'"' in data
    names = _names(line, separator, heading=how.heading)
    lines = count_of(data, b"\n") + count_of(data, b"\r")
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


def line_at(data: bytes, start: int) -> tuple[str, int]:
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


def count_of(data: bytes, sign: bytes, start: int = 0) -> int:
    """Return how often a sign occurs from a place on, sooner than bytes.count if that is often.

    Examples
    --------
    >>> count_of(b"user,item,true", b",")
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


def plain_ids(text: Coded) -> Ids | Coded:
    """Return ids of text: whole numbers where nothing of their writing is lost.

    Raises
    ------
    UnusualError
        One is missing.

    Examples
    --------
    >>> from recsys_ndcg.input.ids import Coded
    >>> ids = np.array(["7", "3"], dtype=object)
    >>> plain_ids(Coded(ids, np.array([0, 1, 0], dtype=np.int32)))
    array([7, 3, 7])
    """
    distinct = text.ids.tolist()
    if not all(map(str.strip, distinct)):
        raise UnusualError
    numbers = whole_numbers(distinct)
    return text if numbers is None else numbers[text.codes]
