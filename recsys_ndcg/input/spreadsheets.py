"""Text in CSV that a spreadsheet shows, and does not take for a formula."""

from __future__ import annotations

import re

_RUNS = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]", re.ASCII)  # noqa: RUF001 - typed in Japan
_NUMBER = re.compile(r"-[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?")
#: How the heading of what `guarded` text stands in begins: no other file is read by its rule.
HEADING = ("user", "n_items", "n_relevant")


def guarded(text: str) -> str:
    """Return a text as the scores of users are written to CSV.

    A spreadsheet runs a cell that begins with ``=``, ``+``, ``-``, ``@``, a tab or a line end. So
    a text that begins with one of these, or with apostrophes and then one of these, gets an
    apostrophe in front. A negative number is none of them.

    Examples
    --------
    >>> [guarded(one) for one in ("=1+1", "'=1+1", "'tis", "-5", "ann")]
    ["'=1+1", "''=1+1", "'tis", '-5', 'ann']
    """
    return f"'{text}" if _RUNS.match(text) and not _NUMBER.fullmatch(text) else text


def unguarded(text: str) -> str:
    """Return the text that `guarded` made this one of: one apostrophe less where it gave one.

    Examples
    --------
    >>> [unguarded(guarded(one)) for one in ("=1+1", "'=1+1", "'tis", "-5", "ann")]
    ['=1+1', "'=1+1", "'tis", '-5', 'ann']
    """
    return text[1:] if text.startswith("'") and _RUNS.match(text) else text
