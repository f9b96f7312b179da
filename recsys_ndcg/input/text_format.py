"""The format of a text table: separator, decimal, encoding and header; spreadsheet escapes."""

from __future__ import annotations

import codecs
import csv
import re
from dataclasses import dataclass
from typing import Any, NoReturn

from recsys_ndcg.errors import InvalidInputError, quote, warn
from recsys_ndcg.files import Content

#: More columns than any table has: parsing them takes minutes.
MAX_COLUMNS = 10_000
#: The first columns of our own CSV of users' scores, the only file with escaped formulas.
SCORES_HEADER = ("user", "n_items", "n_relevant")
#: The number of characters in which the first line is searched for.
MAX_HEADER_LENGTH = 1 << 20
_FORMULA = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]", re.ASCII)  # noqa: RUF001 - typed in Japan
_NEGATIVE_NUMBER = re.compile(r"-[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_SEPARATOR_WORDS = {r"\t": "\t", "tab": "\t", "space": " "}
_NOT_TEXT_ADVICE = (
    "If it is text, save it as CSV in UTF-8. Parquet is recognised by the ending .parquet, pickled "
    "predictions by .pickle; for another kind give the table, such as pandas.read_feather(path)."
)
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")  # also of Latin-1
_SAMPLE_BYTES = 1 << 12
_SEPARATORS = ("\t", ",", ";", "|")
_BYTE_ORDER_MARK = "\ufeff"
_ENCODING_ADVICE = (
    "If an older program wrote it, give its encoding: `(path, rn.TextFormat(encoding='latin-1'))`. "
)


@dataclass(frozen=True)
class TextFormat:
    r"""The format of a CSV file or a similar text file.

    Parameters
    ----------
    separator : str, optional
        The field separator: one character, ``"tab"`` or ``"\t"`` for tabs, or ``"::"``. By default
        the one of tab, comma, semicolon and | that the first line has most often.
    decimal : {'.', ','}
        The decimal separator of numbers.
    encoding : str, optional
        By default UTF-8, or UTF-16 if the file has its byte order mark; Latin-1, with a warning,
        if text is not UTF-8.
    heading : bool, optional
        Whether the first line names the columns. Without it they are user, item, estimated and
        true, in this order, or ``columns={"user": "1", "item": "2", ...}`` gives their positions.
        By default it does, unless a field is a number and none has a known name.

    Raises
    ------
    InvalidInputError
        An option has a value that is not allowed.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> lists = rn.RankedLists.from_file("p.csv", text=rn.TextFormat(decimal=","))  # doctest: +SKIP
    """

    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    heading: bool | None = None

    def __post_init__(self) -> None:
        """Validate the options, and translate words for separators."""
        separator = _SEPARATOR_WORDS.get(str(self.separator), self.separator)
        object.__setattr__(self, "separator", separator)
        is_char = isinstance(separator, str) and len(separator) == 1 and separator not in '"\r\n\0'
        msg = ""
        if not (is_char or separator in (None, "::")):
            msg = (
                "`separator` must be one character, such as ';' or 'tab', or '::', not "
                f"{quote(separator)}."
            )
        elif self.decimal not in (".", ","):
            msg = f"`decimal` must be '.' or ',', not {quote(self.decimal)}."
        elif self.encoding is not None and not _is_encoding(self.encoding):
            msg = (
                "`encoding` must be the name of a text encoding, such as 'latin-1' or "
                f"'utf-16', not {quote(self.encoding)}."
            )
        InvalidInputError.raise_if(msg)

    def decode(self, content: Content, advice: str = "") -> str:
        """Decode the text in a file.

        Parameters
        ----------
        content : Content
            The file.
        advice : str
            How to fix a file that is not text; by default for CSV.

        Raises
        ------
        InvalidInputError
            The file is empty, or is not text in this encoding.
        """
        has_mark = content.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = self.encoding or ("utf-16" if has_mark else "utf-8")
        if not has_mark and encoding.lower() in {"utf-16", "utf16", "utf_16"}:
            encoding = _detect_utf16(content.data) or encoding
        try:
            text = content.data.decode(encoding).removeprefix(_BYTE_ORDER_MARK)
        except UnicodeError as error:
            is_binary = _explain_bytes(content.data) or _CONTROL.search(content.data)
            if not (self.encoding or has_mark or is_binary):
                warn(
                    f"{content.name}: not text in UTF-8, so it is read as Latin-1, an older "
                    "encoding. To silence this, give `(path, rn.TextFormat(encoding='latin-1'))`."
                )
                return content.data.decode("latin-1")
            place = f" (at byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
            default = ("" if self.encoding else _ENCODING_ADVICE) + _NOT_TEXT_ADVICE
            msg = (
                f"{content.name}: not text in {self.encoding or encoding.upper()}{place}. "
                f"{_explain_bytes(content.data) or advice or default}"
            )
            raise InvalidInputError(msg) from None
        if not text.strip():
            msg = f"{content.name}: the file is empty."
            raise InvalidInputError(msg)
        before, zero, _ = text.partition("\0")
        if zero:
            line = before.count("\n") + 1
            fix = _explain_bytes(content.data) or advice or _NOT_TEXT_ADVICE
            msg = f"{content.name}: not text (a zero byte in line {line}). {fix}"
            raise InvalidInputError(msg)
        return text

    def find_separator(self, text: str) -> str:
        """Return the separator: the given one, or the most frequent one of the first line.

        A comma is not detected if it is the decimal separator and another separator occurs.
        """
        if self.separator:
            return self.separator
        line = get_first_line(text)
        others = [one for one in _SEPARATORS if one != self.decimal and one in line]
        return max(others if self.decimal == "," and others else _SEPARATORS, key=line.count)

    @staticmethod
    def escape_formula(cell: Any) -> Any:
        """Return a cell that a spreadsheet does not run as a formula.

        A spreadsheet runs a text that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end.
        Such a text, also after apostrophes, gets an apostrophe in front. A negative number does
        not, nor does a cell of another type.

        Examples
        --------
        >>> [TextFormat.escape_formula(text) for text in ("=1+1", "'=1+1", "'tis", "-5", "ann")]
        ["'=1+1", "''=1+1", "'tis", '-5', 'ann']
        """
        is_formula = isinstance(cell, str) and _FORMULA.match(cell)
        return f"'{cell}" if is_formula and not _NEGATIVE_NUMBER.fullmatch(cell) else cell

    @staticmethod
    def unescape_formula(text: str) -> str:
        """Return the text from which `escape_formula` made this one.

        Examples
        --------
        >>> escaped = map(TextFormat.escape_formula, ("=1+1", "'=1+1", "'tis", "-5", "ann"))
        >>> [*map(TextFormat.unescape_formula, escaped)]
        ['=1+1', "'=1+1", "'tis", '-5', 'ann']
        """
        return text[1:] if text.startswith("'") and _FORMULA.match(text) else text

    def split_first_line(self, text: str) -> list[str]:
        """Return the fields of the first line."""
        separator, line = self.find_separator(text), get_first_line(text)
        if separator == "::":
            return line.split(separator)
        try:
            return next(csv.reader([line], delimiter=separator), [])
        except csv.Error:  # a field exceeds the csv module's limit
            return []


def split_format(data: Any, text_format: TextFormat | None = None) -> tuple[Any, Any]:
    """Return a file and its format, which may be given beside it: (path, TextFormat(...)).

    Examples
    --------
    >>> split_format(("r.csv", TextFormat(";")))[0]
    'r.csv'
    """
    is_pair = isinstance(data, tuple) and len(data) == 2 and isinstance(data[1], TextFormat)
    return data if is_pair else (data, text_format)


def get_first_line(text: str) -> str:
    """Return the first line, or the beginning of a line that is too long for a header."""
    return re.split(r"[\r\n]", text[:MAX_HEADER_LENGTH], maxsplit=1)[0]


def raise_at(name: str, line: int, problem: str) -> NoReturn:
    """Raise the error that a line of a file cannot be read."""
    msg = f"{name}, line {line}: {problem}"
    raise InvalidInputError(msg) from None


def _explain_bytes(data: bytes) -> str:
    """Return how to read bytes of a recognised format, "" if there is none.

    Examples
    --------
    >>> _explain_bytes("user".encode("utf-16-le"))
    "It looks like UTF-16: give `(path, rn.TextFormat(encoding='utf-16-le'))`."
    """
    compression, utf16 = Content.find_compression(data), _detect_utf16(data)
    if compression:
        sheet = "; if it is a spreadsheet, save it as CSV" if compression == ".zip" else ""
        return f"It starts like a {compression} file: let its name end in {compression}{sheet}."
    advice = f"give `(path, rn.TextFormat(encoding={utf16!r}))`."
    return f"It looks like UTF-16: {advice}" if utf16 else ""


def _detect_utf16(data: bytes) -> str:
    """Return the variant of UTF-16, by the zero bytes of Latin letters; "" if it is not UTF-16."""
    sample = data[:_SAMPLE_BYTES]
    first, second = sample[::2].count(0), sample[1::2].count(0)
    if max(first, second) <= len(sample) // 4 or min(first, second):
        return ""
    return "utf-16-be" if first else "utf-16-le"


def _is_encoding(name: object) -> bool:
    try:
        b"text".decode(str(name))
    except UnicodeDecodeError:
        return True
    except (LookupError, ValueError):  # unknown, or not a text encoding
        return False
    return True
