"""Lists of names, and names for pages and charts."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from unicodedata import bidirectional

from recsys_ndcg.errors import escape_invisible

LONGEST = 60  # characters of a name on a page
_LONGEST_LABEL = 32  # characters of a name in a chart
#: Text that could end a script, into which notebooks put the text of a chart; its replacement.
_SCRIPT_END, _REPLACEMENT = re.compile(r"<(?=[/!?a-z])", re.IGNORECASE), "\u2039"
#: Names that every object of JavaScript has: Vega would not find its own values under them.
_OBJECT_ATTRIBUTES = re.compile(
    "constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf"
    "|__(define|lookup)(Getter|Setter)__|__proto__"
)


# Counts


def list_first(items: Iterable[str], most: int, rest: str = "{} more") -> list[str]:
    """Return the first texts and the number of others; all texts if only one would be left out.

    Examples
    --------
    >>> list_first("abcd", 3), list_first("abcde", 3)
    (['a', 'b', 'c', 'd'], ['a', 'b', 'c', '2 more'])
    """
    every = list(items)
    more = len(every) - most
    return every if more < 2 else [*every[:most], rest.format(more)]


def join_names(names: Iterable[str], most: int = 4) -> str:
    """Join names for a sentence.

    Examples
    --------
    >>> join_names("ab"), join_names("abcdef")
    ('a and b', 'a, b, c, d and 2 more')
    """
    *others, last = list_first(names, most)
    return f"{', '.join(others)} and {last}" if others else last


# Names


def shorten(name: object, longest: int = LONGEST) -> str:
    """Shorten a name for a page, and make invisible characters visible.

    Examples
    --------
    >>> shorten("SVD"), shorten("x" * 99, 8)
    ('SVD', 'xxxxxxx…')
    """
    text = escape_invisible(str(name)[: longest + 1])
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def shorten_names_in(sentence: str, names: Iterable[str], *, isolate: bool = True) -> str:
    """Shorten the names in a sentence.

    Names from right to left are isolated, except in lines to copy.

    Examples
    --------
    >>> len(shorten_names_in("a" * 999 + " is better.", ["a" * 999]))
    71
    """
    special = [one for one in names if len(one) > LONGEST or (isolate and _is_right_to_left(one))]
    if not special:
        return sentence
    form = "|".join(map(re.escape, sorted(special, key=len, reverse=True)))
    return re.sub(form, lambda found: _isolate(shorten(found[0]), isolate=isolate), sentence)


def _is_right_to_left(name: str) -> bool:
    """Return whether a name has letters from right to left, which would reorder the text around."""
    return any(bidirectional(sign) in {"R", "AL"} for sign in name)


def _isolate(name: str, *, isolate: bool) -> str:
    return f"\u2068{name}\u2069" if isolate and _is_right_to_left(name) else name


def make_label(name: object, longest: int = _LONGEST_LABEL) -> str:
    r"""Shorten a name for charts, without invisible characters or a meaning in HTML.

    Examples
    --------
    >>> make_label("a < b"), make_label("n" * 99, 8), ascii(make_label("</script>"))
    ('a < b', 'nnnnnnn…', "'\\u2039/script>'")
    """
    text = " ".join(escape_invisible(str(name)[: 4 * longest]).split())
    short = text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
    if _OBJECT_ATTRIBUTES.fullmatch(short):
        return f"'{short}'"
    return _SCRIPT_END.sub(_REPLACEMENT, short) or "(no name)"


def make_labels(names: Iterable[object], longest: int = _LONGEST_LABEL) -> list[str]:
    """Shorten names for charts; equal results are numbered.

    Examples
    --------
    >>> make_labels(["model of today", "model of tomorrow", "SVD"], 12)
    ['model of to… (1)', 'model of to… (2)', 'SVD']
    """
    short = [make_label(name, longest) for name in names]
    often = Counter(short)
    found: dict[str, None] = {}
    for one in short:
        numbered = (f"{one} ({n})" for n in itertools.count(1))
        tried = numbered if often[one] > 1 else itertools.chain([one], numbered)
        found[next(text for text in tried if text not in found)] = None
    return list(found)
