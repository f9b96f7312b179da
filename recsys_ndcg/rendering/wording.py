"""The format of numbers, counts and names for people."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from unicodedata import bidirectional

import numpy as np
import pandas as pd

from recsys_ndcg.errors import escape_invisible

_SMALLEST = 0.0001  # p that is not written as <0.0001
_HUGE = 1e9  # from here on six digits and a power of ten
LONGEST = 60  # characters of a name on a page
_DATES = 1e8, 1e10  # numbers between these look like seconds since 1970
_LONGEST_LABEL = 32  # characters of a name in a chart
#: Text that could end a script, into which notebooks put the text of a chart; its replacement.
_SCRIPT_END, _REPLACEMENT = re.compile(r"<(?=[/!?a-z])", re.IGNORECASE), "\u2039"
#: Names that every object of JavaScript has: Vega would not find its own values under them.
_OBJECT_ATTRIBUTES = re.compile(
    "constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf"
    "|__(define|lookup)(Getter|Setter)__|__proto__"
)


# Numbers


def format_number(value: float, sign: str = "") -> str:
    """Format a number with four decimals, a huge one with six digits, NaN as a dash."""
    if np.isnan(value):
        return "-"
    return f"{value:{sign}z.4f}" if abs(value) < _HUGE else f"{value:{sign}.6g}"  # z: no -0.0000


def format_signed(value: float, low: float = np.nan, high: float = np.nan) -> str:
    """Format a difference with its sign, and the ends of its interval if there is one.

    Examples
    --------
    >>> format_signed(0.25), format_signed(-0.00001), format_signed(1.5e60)
    ('+0.2500', '+0.0000', '+1.5e+60')
    >>> format_signed(0.25, 0.125, 0.375)
    '+0.2500 [+0.1250, +0.3750]'
    """
    middle = format_number(value, "+")
    if np.isnan(low) or np.isnan(high):
        return middle
    return f"{middle} [{format_signed(low)}, {format_signed(high)}]"


def format_p_value(p: float) -> str:
    """Format a p-value with four decimals."""
    return f"<{_SMALLEST}" if p < _SMALLEST else format_number(p)


def format_interval(low: float, high: float, level: float) -> str:
    """Describe an interval; empty if there is none.

    Examples
    --------
    >>> format_interval(0.25, 0.75, 0.95)
    '95 % interval 0.2500 to 0.7500'
    """
    if np.isnan(low) or np.isnan(high):
        return ""
    return f"{name_interval(level)} {format_number(low)} to {format_number(high)}"


def format_range(low: float, high: float) -> str:
    """Format the ends of an interval for a table, a dash if there is none.

    Examples
    --------
    >>> format_range(0.25, 0.75), format_range(np.nan, np.nan)
    ('0.2500–0.7500', '-')
    """
    if np.isnan(low) or np.isnan(high):
        return "-"
    return f"{format_number(low)}–{format_number(high)}"


def name_interval(level: float) -> str:
    """Return the name of an interval: ``95 % interval``."""
    return f"{100 * level:.10g} % interval"


def bracket(*parts: str) -> str:
    """Return the parts that are not empty in brackets, empty if all are."""
    inside = "; ".join(part for part in parts if part)
    return f" ({inside})" if inside else ""


# Counts


def pluralise(n: int, noun: str = "user") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> pluralise(1), pluralise(1234567)
    ('1 user', '1,234,567 users')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


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


def join_by_count(counts: Mapping[str, int]) -> dict[int, str]:
    """Return each number with the names that have it, for one sentence on all of them.

    Examples
    --------
    >>> join_by_count({"recall@10": 118, "ap@10": 118, "rr": 120})
    {118: 'recall@10 and ap@10', 120: 'rr'}
    """
    groups: dict[int, list[str]] = {}
    for name, count in counts.items():
        groups.setdefault(count, []).append(name)
    return {count: join_names(names) for count, names in groups.items()}


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


def format_times(times: Iterable[float]) -> list[str]:
    """Return times as text: as dates (UTC) if they look like seconds since 1970.

    Examples
    --------
    >>> format_times([1.4e9, 1.5e9]), format_times([1.4e9, 1.4e9 + 60]), format_times([3, 7.5])
    (['2014-05-13', '2017-07-14'], ['2014-05-13 16:53', '2014-05-13 16:54'], ['3', '7.5'])
    """
    low, high = _DATES
    times = [*times]
    if all(low <= time < high for time in times):
        dates = pd.to_datetime(np.array(times, dtype=np.float64), unit="s")
        for form in ("%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"):
            texts = dates.strftime(form).tolist()
            if len({*texts}) == len(texts):
                return texts
    return [f"{time:.15g}" for time in times]
