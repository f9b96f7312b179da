"""How numbers, counts and names are written, wherever people read them."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable
from unicodedata import bidirectional

import numpy as np

from recsys_ndcg.errors import escape_invisible

_SMALLEST = 0.0001  # p that is written with its digits
_HUGE = 1e9  # numbers from here on have six digits, and a power of ten
LONGEST = 60  # characters of a name on a page
_LONGEST_LABEL = 32  # and in a chart
#: What could end a script, in which notebooks put the text of a chart as it stands; and its like.
_ENDS, _LIKE = re.compile(r"<(?=[/!?a-z])", re.IGNORECASE), "\u2039"
#: What Vega finds under these names is a part of JavaScript, in place of what it has put there.
_EVERY_OBJECT_HAS = re.compile(
    "constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|toLocaleString|toString|valueOf"
    "|__(define|lookup)(Getter|Setter)__|__proto__"
)


# Numbers


def number(value: float, sign: str = "") -> str:
    """Return four decimals, six digits of a huge number, or a dash where there is none."""
    if np.isnan(value):
        return "-"
    return f"{value:{sign}z.4f}" if abs(value) < _HUGE else f"{value:{sign}.6g}"  # z: no -0.0000


def signed(value: float) -> str:
    """Return a difference with its sign, in as many digits as `number`.

    Examples
    --------
    >>> signed(0.25), signed(-0.00001), signed(1.5e60)
    ('+0.2500', '+0.0000', '+1.5e+60')
    """
    return number(value, "+")


def probability(p: float) -> str:
    """Return a p-value in a table, in four decimals."""
    return f"<{_SMALLEST}" if p < _SMALLEST else number(p)


def within(low: float, high: float, level: float) -> str:
    """Return an interval in words, nothing if there is none.

    Examples
    --------
    >>> within(0.25, 0.75, 0.95)
    '95 % interval 0.2500 to 0.7500'
    """
    if np.isnan(low) or np.isnan(high):
        return ""
    return f"{of_level(level)} {number(low)} to {number(high)}"


def of_level(level: float) -> str:
    """Return what an interval is called: ``95 % interval``."""
    return f"{100 * level:.10g} % interval"


def beside(*parts: str) -> str:
    """Return what is said in brackets, nothing if nothing is."""
    said = "; ".join(part for part in parts if part)
    return f" ({said})" if said else ""


# Counts


def count(n: int, what: str = "user") -> str:
    """Return how many there are of something.

    Examples
    --------
    >>> count(1), count(1234567)
    ('1 user', '1,234,567 users')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def first_few(items: Iterable[str], most: int, rest: str = "{} more") -> list[str]:
    """Return the first few texts, and how many more there are; a single one more is told itself.

    Examples
    --------
    >>> first_few("abcd", 3), first_few("abcde", 3)
    (['a', 'b', 'c', 'd'], ['a', 'b', 'c', '2 more'])
    """
    every = list(items)
    more = len(every) - most
    return every if more < 2 else [*every[:most], rest.format(more)]


# Names


def cut(name: object, longest: int = LONGEST) -> str:
    """Return a name that somebody chose as a page shows it: visible, and not without end.

    Examples
    --------
    >>> cut("SVD"), cut("x" * 99, 8)
    ('SVD', 'xxxxxxx…')
    """
    text = escape_invisible(str(name)[: longest + 1])
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def with_cut_names(sentence: str, names: Iterable[str], *, isolate: bool = True) -> str:
    """Return a sentence, visible, with the names in it as `cut` has them.

    Those that are read from right to left are isolated, but in lines that are copied.

    Examples
    --------
    >>> len(with_cut_names("a" * 999 + " is better.", ["a" * 999]))
    71
    """
    sentence = escape_invisible(sentence)
    known = {escape_invisible(one) for one in names}
    special = [one for one in known if len(one) > LONGEST or (isolate and _turns(one))]
    if not special:
        return sentence
    form = "|".join(map(re.escape, sorted(special, key=len, reverse=True)))
    return re.sub(form, lambda found: _isolated(cut(found[0]), isolate=isolate), sentence)


def _turns(name: str) -> bool:
    """Tell a name that is read from right to left: it would turn its neighbours around."""
    return any(bidirectional(sign) in {"R", "AL"} for sign in name)


def _isolated(name: str, *, isolate: bool) -> str:
    return f"\u2068{name}\u2069" if isolate and _turns(name) else name


def label(name: object, longest: int = _LONGEST_LABEL) -> str:
    r"""Return a name as charts show it: short, visible, and without a meaning in HTML.

    Examples
    --------
    >>> label("a < b"), label("n" * 99, 8), ascii(label("</script>"))
    ('a < b', 'nnnnnnn…', "'\\u2039/script>'")
    """
    text = " ".join(escape_invisible(str(name)[: 4 * longest]).split())
    short = text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
    if _EVERY_OBJECT_HAS.fullmatch(short):
        return f"'{short}'"
    return _ENDS.sub(_LIKE, short) or "(no name)"


def labels(names: Iterable[object], longest: int = _LONGEST_LABEL) -> list[str]:
    """Return names as charts show them; those that are the same when cut are numbered.

    Examples
    --------
    >>> labels(["model of today", "model of tomorrow", "SVD"], 12)
    ['model of to… (1)', 'model of to… (2)', 'SVD']
    """
    short = [label(name, longest) for name in names]
    often = Counter(short)
    found: dict[str, None] = {}
    for one in short:
        numbered = (f"{one} ({n})" for n in itertools.count(1))
        tried = numbered if often[one] > 1 else itertools.chain([one], numbered)
        found[next(text for text in tried if text not in found)] = None
    return list(found)
