"""Formatting of values and texts for messages."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterable
from unicodedata import category

_MAX_LENGTH = 100
_CLOSE = 0.66  # of difflib: "mew" is close to "new", "linear" is not to "sklearn"
_ENCODE_ERRORS = "recsys_ndcg.replace"  # an error handler of `str.encode`
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"
_PLAIN = {"±": "+-", "–": "-", "…": "...", "×": "x"}


def quote(value: object) -> str:
    """Return a value as text for a message: one line of at most 100 characters.

    NumPy's numbers are written as Python's.

    Examples
    --------
    >>> import numpy as np
    >>> quote({"k": np.float64(2.5)})
    "{'k': 2.5}"
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    plain = value.tolist() if hasattr(value, "tolist") else value
    try:
        full = repr(plain)
    except ValueError:  # Python writes no integer of thousands of digits
        return "a number of more than 4300 digits"
    except RecursionError:
        return f"a {type(plain).__name__} that is nested too deeply to show"
    text = " ".join(re.sub(r"np\.\w+\(([^()]*)\)", r"\1", full).split())
    return text if len(text) <= _MAX_LENGTH else f"{text[:_MAX_LENGTH]}…"


def suggest(word: str, words: Iterable[str]) -> str:
    """Return a hint: the known word that is closest to a word, or all of them.

    If exactly one known word begins with it, this is the closest.

    Examples
    --------
    >>> suggest("ndgc", ["ndcg", "recall"])
    "Did you mean 'ndcg'?"
    >>> suggest("x", ["ndcg", "recall"])
    'There are: ndcg, recall.'
    """
    import difflib  # noqa: PLC0415 - needed for errors only

    known = sorted(words)
    longer = [one for one in known if len(word) > 1 and one.startswith(word)]
    close = longer if len(longer) == 1 else difflib.get_close_matches(word, known, 1, _CLOSE)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known)}."


def format_count(number: int, noun: str) -> str:
    """Return a number and a noun in the singular or plural: ``1 user``, ``2 users``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def escape_invisible(text: str) -> str:
    r"""Return a text with its invisible characters written as escapes.

    Control characters steer a terminal, line ends break a message, and direction marks and
    characters of zero width make one text look like another. Letters of every script, combining
    marks and emoji stay, also emoji that are joined from several.

    Examples
    --------
    >>> print(escape_invisible("ann\x1b[2J\n\u202ebob"))
    ann\x1b[2J\n\u202ebob
    """
    if text.isprintable():
        return text
    return "".join(
        ascii(one)[1:-1] if category(one) in _HIDDEN and not _is_joiner(text, place) else one
        for place, one in enumerate(text)
    )


def is_encodable(text: str) -> bool:
    r"""Return whether UTF-8 can encode a text: it cannot if there is a lone surrogate.

    JSON may contain such halves of a character, and so may file names that are not UTF-8.

    Examples
    --------
    >>> is_encodable("zoë"), is_encodable("\ud800")
    (True, False)
    """
    return text.isascii() or not re.search("[\ud800-\udfff]", text)


def escape_for_stdout(text: str) -> str:
    """Return a text that standard output can encode: other characters replaced or escaped."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return escape_invisible(text).encode(encoding, _ENCODE_ERRORS).decode(encoding)


def _is_joiner(text: str, place: int) -> bool:
    """Return whether a character is a (non-)joiner between two letters or emoji."""
    neighbours = text[place - 1 : place], text[place + 1 : place + 2]
    return text[place] in _JOINERS and all(
        one and not one.isascii() and category(one) not in _HIDDEN for one in neighbours
    )


def _replace(error: UnicodeError) -> tuple[str, int]:
    """Replace characters that an encoding lacks by ASCII equivalents, or by escapes."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(one) or ascii(one)[1:-1] for one in lost), error.end


codecs.register_error(_ENCODE_ERRORS, _replace)
