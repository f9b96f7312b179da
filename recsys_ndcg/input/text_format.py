"""How a table is written as text: as far as the file does not say so, and for spreadsheets."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from typing import ClassVar

from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.files import Content

#: Of a table whose columns nobody can have meant: reading them takes minutes.
MOST_COLUMNS = 1000
#: How the heading of what `guarded` text stands in begins: no other file is read by its rule.
HEADING = ("user", "n_items", "n_relevant")
#: As much of a line as is looked at for a heading.
LONGEST_LINE = 1 << 20
_RUNS = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]", re.ASCII)  # noqa: RUF001 - typed in Japan
_NUMBER = re.compile(r"-[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_TYPED = {r"\t": "\t", "tab": "\t", "space": " "}
_NO_TEXT = (
    "Save it as CSV in UTF-8; the name of a Parquet file ends in .parquet, that of Arrow in "
    ".feather, that of pickled predictions in .pickle."
)
_LOOK = 1 << 12
_SEPARATORS = ("\t", ",", ";", "|")
_MARK = "\ufeff"
_LATIN = (
    "If it is of an older program, say how it is written: --encoding latin-1 "
    "(text=TextFormat(encoding='latin-1') of RankedLists.from_file)."
)


@dataclass(frozen=True)
class TextFormat:
    r"""How a file of CSV, or its like, is written.

    Parameters
    ----------
    separator : str, optional
        What stands between fields: one sign, ``"\t"`` or ``"tab"`` for tabulators, or ``"::"``. By
        default whichever of tabulator, comma, semicolon and | the first line has most of.
    decimal : {'.', ','}
        What stands before the decimals of a number.
    encoding : str, optional
        By default UTF-8, or UTF-16 where the file begins with the mark of that.
    heading : bool
        Whether the first line names the columns. Without, they are user, item, estimated and true
        in this order, or ``columns={"user": "1", "item": "2", ...}`` says where each stands.

    Raises
    ------
    InvalidInputError
        An option is none of those.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_file("p.csv", text=rn.TextFormat(decimal=","))  # doctest: +SKIP
    """

    #: In which order columns without a heading stand.
    ORDER: ClassVar = ("user", "item", "estimated", "true")

    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    heading: bool = True

    def __post_init__(self) -> None:
        """Refuse what no file is written like."""
        object.__setattr__(self, "separator", _TYPED.get(str(self.separator), self.separator))
        sign = self.separator
        is_sign = isinstance(sign, str) and len(sign) == 1 and sign not in '"\r\n\0'
        if not (is_sign or sign in (None, "::")):
            msg = (
                f"separator (--sep) is one sign, such as ';' or 'tab', or '::', not {quote(sign)}."
            )
            raise InvalidInputError(msg)
        if self.decimal not in (".", ","):
            msg = f"decimal (--decimal) is '.' or ',', not {quote(self.decimal)}."
            raise InvalidInputError(msg)
        if self.encoding is not None and not _is_encoding(self.encoding):
            msg = (
                f"encoding (--encoding) is the name of one, such as 'latin-1' or 'utf-16', not "
                f"{quote(self.encoding)}."
            )
            raise InvalidInputError(msg)

    def decode(self, content: Content, advice: str = "") -> str:
        """Return the text in a file; `advice` is for a file that is not text, CSV by default.

        Raises
        ------
        InvalidInputError
            It is no text in this encoding, or empty.
        """
        marked = content.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = self.encoding or ("utf-16" if marked else "utf-8")
        if not marked and encoding.lower() in {"utf-16", "utf16", "utf_16"}:
            encoding = _wide(content.data) or encoding
        try:
            text = content.data.decode(encoding).removeprefix(_MARK)
        except UnicodeError as error:
            place = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
            latin = "" if self.encoding else f"{_LATIN} "
            msg = (
                f"{content.name}: not text in {self.encoding or encoding.upper()}{place}. "
                f"{_seen_in(content.data) or advice or latin + _NO_TEXT}"
            )
            raise InvalidInputError(msg) from None

        if not text.strip():
            msg = f"{content.name}: the file is empty."
            raise InvalidInputError(msg)
        before, nul, _ = text.partition("\0")
        if nul:
            line = before.count("\n") + 1
            what = _seen_in(content.data) or advice or _NO_TEXT
            msg = f"{content.name}: not text (a zero byte in line {line}). {what}"
            raise InvalidInputError(msg)
        return text

    def find_separator(self, text: str) -> str:
        """Return what separates fields: what the first line has most of, if nobody says.

        A decimal comma is none, where there are others.
        """
        if self.separator:
            return self.separator
        line, commas = first_line(text), self.decimal == ","
        others = [one for one in _SEPARATORS if one != self.decimal and one in line]
        return max(others if commas and others else _SEPARATORS, key=line.count)

    @staticmethod
    def escape_formula(text: str) -> str:
        """Return a text as the scores of users are written to CSV.

        A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end.
        So a text that begins with one of these, or with apostrophes and then one of these, gets an
        apostrophe in front. A negative number is none of them.

        Examples
        --------
        >>> [TextFormat.escape_formula(one) for one in ("=1+1", "'=1+1", "'tis", "-5", "ann")]
        ["'=1+1", "''=1+1", "'tis", '-5', 'ann']
        """
        return f"'{text}" if _RUNS.match(text) and not _NUMBER.fullmatch(text) else text

    @staticmethod
    def unescape_formula(text: str) -> str:
        """Return the text that `guarded` made this one of: one apostrophe less where it gave one.

        Examples
        --------
        >>> guarded = map(TextFormat.escape_formula, ("=1+1", "'=1+1", "'tis", "-5", "ann"))
        >>> [*map(TextFormat.unescape_formula, guarded)]
        ['=1+1', "'=1+1", "'tis", '-5', 'ann']
        """
        return text[1:] if text.startswith("'") and _RUNS.match(text) else text

    def split_first_line(self, text: str) -> list[str]:
        """Return the fields of the first line."""
        separator, line = self.find_separator(text), first_line(text)
        if separator == "::":
            return line.split(separator)
        try:
            return next(csv.reader([line], delimiter=separator), [])
        except csv.Error:  # one is longer than any name
            return []


def first_line(text: str) -> str:
    """Return the line that may be the heading, or as much of it as may be one."""
    return re.split(r"[\r\n]", text[:LONGEST_LINE], maxsplit=1)[0]


def _seen_in(data: bytes) -> str:
    """Return what to do with bytes that are no text as they stand, where they show what they are.

    Examples
    --------
    >>> _seen_in("user".encode("utf-16-le"))
    'It looks like UTF-16: --encoding utf-16-le (encoding=).'
    """
    kind, wide = Content.find_compression(data), _wide(data)
    if kind == ".zip":
        return (
            "It begins as a .zip does: let its name end so; if it is a spreadsheet, save it as CSV."
        )
    if kind:
        return f"It begins as a {kind} does: let its name end so."
    return f"It looks like UTF-16: --encoding {wide} (encoding=)." if wide else ""


def _wide(data: bytes) -> str:
    """Return which UTF-16 it is by the zeros before or behind Latin letters, "" for none."""
    begin = data[:_LOOK]
    first, second = begin[::2].count(0), begin[1::2].count(0)
    if max(first, second) <= len(begin) // 4 or min(first, second):
        return ""
    return "utf-16-be" if first else "utf-16-le"


def _is_encoding(name: object) -> bool:
    try:
        b"text".decode(str(name))
    except UnicodeDecodeError:
        return True
    except (LookupError, ValueError):  # none, or none of text
        return False
    return True
