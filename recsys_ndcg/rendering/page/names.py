"""Names and ids that somebody chose, as a page shows them: visible, and not without end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unicodedata import bidirectional

from recsys_ndcg.errors.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST = 60  # characters of a name


def told(name: object, longest: int = LONGEST) -> str:
    """Return a name as a page shows it.

    Examples
    --------
    >>> told("SVD"), told("x" * 99, 8)
    ('SVD', 'xxxxxxx…')
    """
    text = visible(str(name)[: longest + 1])
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def shortened(sentence: str, names: Iterable[str], *, isolate: bool = True) -> str:
    """Return a sentence with the names in it as `told` has them.

    Those that are read from right to left are isolated, but in lines that are copied.

    Examples
    --------
    >>> len(shortened("a" * 999 + " is better.", ["a" * 999]))
    71
    """
    known = {visible(one) for one in names}
    special = [one for one in known if len(one) > LONGEST or (isolate and _turns(one))]
    if not special:
        return sentence
    form = "|".join(map(re.escape, sorted(special, key=len, reverse=True)))
    return re.sub(form, lambda found: _isolated(told(found[0]), isolate=isolate), sentence)


def _turns(name: str) -> bool:
    """Tell a name that is read from right to left: it would turn its neighbours around."""
    return any(bidirectional(sign) in {"R", "AL"} for sign in name)


def _isolated(name: str, *, isolate: bool) -> str:
    return f"\u2068{name}\u2069" if isolate and _turns(name) else name
