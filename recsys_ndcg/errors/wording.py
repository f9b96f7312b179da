"""Values and texts as messages show them."""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Iterable
from unicodedata import category

_LONGEST = 100
_PLAINLY = "recsys_ndcg.plainly"  # the name by which `str.encode` knows it
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"
_INSTEAD = {"±": "+-", "–": "-", "…": "...", "×": "x"}


def shown(value: object) -> str:
    """Return a value as a message shows it: on one short line, numbers as Python writes them.

    Examples
    --------
    >>> import numpy as np
    >>> shown({"k": np.float64(2.5)})
    "{'k': 2.5}"
    """
    if isinstance(value, type):
        return f"the class {value.__name__}"
    plain = value.tolist() if hasattr(value, "tolist") else value
    try:
        written = repr(plain)
    except ValueError:  # Python writes no whole number of thousands of digits
        return "a number of more than 4300 digits"
    except RecursionError:
        return f"a {type(plain).__name__} that is nested too deep to be shown"
    text = " ".join(re.sub(r"np\.\w+\(([^()]*)\)", r"\1", written).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def nearest(word: str, words: Iterable[str]) -> str:
    """Return the hint naming the word that was probably meant, or all that exist.

    Examples
    --------
    >>> nearest("ndgc", ["ndcg", "recall"])
    "Did you mean 'ndcg'?"
    >>> nearest("x", ["ndcg", "recall"])
    'There are: ndcg, recall.'
    """
    import difflib  # noqa: PLC0415 - needed where something is wrong

    known = sorted(words)
    close = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known)}."


def counted(number: int, what: str) -> str:
    """Return a number and what there is of it: ``1 user``, ``2 users``."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def visible(text: str) -> str:
    r"""Return a text in which what acts and cannot be seen is written as an escape.

    Control characters steer a terminal and line ends begin a new line of a message; marks of
    direction and of no width make a text look like another. Letters of every script, combining
    marks and emoji stay, those that are joined from several too.

    Examples
    --------
    >>> print(visible("ann\x1b[2J\n\u202ebob"))
    ann\x1b[2J\n\u202ebob
    """
    if text.isprintable():
        return text
    return "".join(
        ascii(one)[1:-1] if category(one) in _HIDDEN and not _joins(text, place) else one
        for place, one in enumerate(text)
    )


def is_encodable(text: str) -> bool:
    r"""Return whether UTF-8 can hold a text: not if it has a lone surrogate, half a character.

    JSON may have such halves, and names of files that are not UTF-8.

    Examples
    --------
    >>> is_encodable("zoë"), is_encodable("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """Return the same text as far as standard output can write it, the rest as escapes."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return visible(text).encode(encoding, _PLAINLY).decode(encoding)


def _joins(text: str, place: int) -> bool:
    """Tell a joiner, or its opposite, between two letters or emoji that need one."""
    beside = text[place - 1 : place], text[place + 1 : place + 2]
    return text[place] in _JOINERS and all(
        one and not one.isascii() and category(one) not in _HIDDEN for one in beside
    )


def _plainly(error: UnicodeError) -> tuple[str, int]:
    """Replace what an encoding lacks by what stands for it in plain text, or by an escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_INSTEAD.get(one) or ascii(one)[1:-1] for one in lost), error.end


codecs.register_error(_PLAINLY, _plainly)
