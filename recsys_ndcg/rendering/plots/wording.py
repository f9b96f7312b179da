"""What stands in charts as text: names of any kind, intervals, and counts."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors.visible import visible
from recsys_ndcg.rendering.table import number

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

LONGEST = 32  # characters of a name in a chart
#: What could end a script, in which notebooks put the text of a chart as it stands; and its like.
_ENDS, _LIKE = re.compile(r"<(?=[/!?a-z])", re.IGNORECASE), "\u2039"

#: What Vega finds under these names is a part of JavaScript, in place of what it has put there.
_EVERY_OBJECT_HAS = {
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
}


def label(name: object, longest: int = LONGEST) -> str:
    r"""Return a name as charts show it: short, visible, and without a meaning in HTML.

    Examples
    --------
    >>> label("a < b"), label("n" * 99, 8), ascii(label("</script>"))
    ('a < b', 'nnnnnnn…', "'\\u2039/script>'")
    """
    text = " ".join(visible(str(name)[: 4 * longest]).split())
    short = text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
    if short in _EVERY_OBJECT_HAS:
        return f"'{short}'"
    return _ENDS.sub(_LIKE, short) or "(no name)"


def labels(names: Iterable[object], longest: int = LONGEST) -> list[str]:
    """Return names as charts show them; those that are the same when cut are numbered.

    Examples
    --------
    >>> labels(["model of today", "model of tomorrow", "SVD"], 12)
    ['model of to… (1)', 'model of to… (2)', 'SVD']
    """
    short = [label(name, longest) for name in names]
    count = Counter(short)
    found: dict[str, None] = {}
    for one in short:
        numbered = (f"{one} ({n})" for n in itertools.count(1))
        tried = numbered if count[one] > 1 else itertools.chain([one], numbered)
        found[next(text for text in tried if text not in found)] = None
    return list(found)


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
    return f"{100 * level:g} % interval"


def with_interval(told: pd.DataFrame, level: float) -> str:
    """Return what is said of a mean that stands with its interval, nothing if none has one."""
    known = told[["low", "high"]].notna().all(axis=1).any()
    return f", with its {of_level(level)}" if known else ""


def beside(*parts: str) -> str:
    """Return what is said in brackets, nothing if nothing is."""
    said = "; ".join(part for part in parts if part)
    return f" ({said})" if said else ""


def count(n: int, what: str = "user") -> str:
    """Return a number of users.

    Examples
    --------
    >>> count(1), count(1234567)
    ('1 user', '1,234,567 users')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"
