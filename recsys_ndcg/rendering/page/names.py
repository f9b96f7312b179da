"""Names and ids that somebody chose, as a page shows them: visible, and not without end."""

from __future__ import annotations

from typing import TYPE_CHECKING

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


def shortened(sentence: str, names: Iterable[str]) -> str:
    """Return a sentence with the names in it as `told` has them.

    Examples
    --------
    >>> len(shortened("a" * 999 + " is better.", ["a" * 999]))
    71
    """
    for name in sorted({visible(one) for one in names}, key=len, reverse=True):
        if len(name) > LONGEST:
            sentence = sentence.replace(name, told(name))
    return sentence
