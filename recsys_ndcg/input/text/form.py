"""How a table is written as text, as far as the file does not say so itself."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recsys_ndcg.errors import InvalidInputError, shown

if TYPE_CHECKING:
    from recsys_ndcg.input.contents import Content

_TYPED = {r"\t": "\t", "tab": "\t", "space": " "}
_NO_TEXT = (
    "Save it as CSV in UTF-8; the name of a Parquet file ends in .parquet, that of Arrow in "
    ".feather, that of pickled predictions in .pickle."
)
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

    separator: str | None = None
    decimal: str = "."
    encoding: str | None = None
    heading: bool = True

    def __post_init__(self) -> None:
        """Refuse what no file is written like."""
        object.__setattr__(self, "separator", _TYPED.get(str(self.separator), self.separator))
        sign = self.separator
        if sign is not None and not (isinstance(sign, str) and (_is_sign(sign) or sign == "::")):
            msg = (
                f"separator (--sep) is one sign, such as ';' or 'tab', or '::', not {shown(sign)}."
            )
            raise InvalidInputError(msg)
        if self.decimal not in (".", ","):
            msg = f"decimal (--decimal) is '.' or ',', not {shown(self.decimal)}."
            raise InvalidInputError(msg)
        if self.encoding is not None and not _is_encoding(self.encoding):
            msg = (
                f"encoding (--encoding) is the name of one, such as 'latin-1' or 'utf-16', not "
                f"{shown(self.encoding)}."
            )
            raise InvalidInputError(msg)

    def decoded(self, content: Content) -> str:
        """Return the text in a file.

        Raises
        ------
        InvalidInputError
            It is no text in this encoding.
        """
        marked = content.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = self.encoding or ("utf-16" if marked else "utf-8-sig")
        try:
            return content.data.decode(encoding)
        except UnicodeError as error:
            place = f" (byte {error.start})" if isinstance(error, UnicodeDecodeError) else ""
            usual = encoding == "utf-8-sig"
            msg = (
                f"{content.name}: not text in {'UTF-8' if usual else encoding}{place}. "
                f"{_LATIN if usual else ''} {_NO_TEXT}"
            )
            raise InvalidInputError(" ".join(msg.split())) from None

    def text_of(self, content: Content) -> str:
        """Return the same, of a file that is neither empty nor binary."""
        text = self.decoded(content)
        if not text.strip():
            msg = f"{content.name}: the file is empty."
            raise InvalidInputError(msg)
        before, nul, _ = text.partition("\0")
        if nul:
            line = before.count("\n") + 1
            msg = f"{content.name}: not text (a zero byte in line {line}). {_NO_TEXT}"
            raise InvalidInputError(msg)
        return text


def _is_sign(text: str) -> bool:
    return len(text) == 1 and text not in '"\r\n\0'


def _is_encoding(name: object) -> bool:
    try:
        b"text".decode(str(name))
    except UnicodeError:
        return True
    except (LookupError, ValueError):  # none, or none of text
        return False
    return True
