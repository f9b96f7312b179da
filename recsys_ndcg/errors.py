"""The errors and the warning a caller may catch."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class RecsysNdcgError(ValueError):
    """Everything this package raises on purpose."""


class InvalidInputError(RecsysNdcgError):
    """The data or an option cannot be used; the message says where and what to do."""


class UnknownMetricError(RecsysNdcgError):
    """No metric has the name that was asked for."""


class MissingExtraError(RecsysNdcgError, ImportError):
    """A job needs a library that is not installed; the message says which extra brings it."""

    def __init__(self, *, job: str, extra: str) -> None:
        super().__init__(
            f"{job} needs a library that is not installed. Run: pip install 'recsys-ndcg[{extra}]'"
        )


class DataWarning(UserWarning):
    """The data is legal, but its scores are likely to mislead."""


def nearest(word: str, words: Iterable[str]) -> str:
    """Return the hint naming the word that was probably meant, or all that exist.

    Examples
    --------
    >>> nearest("ndgc", ["ndcg", "recall"])
    "Did you mean 'ndcg'?"
    >>> nearest("x", ["ndcg", "recall"])
    'There are: ndcg, recall.'
    """
    known = sorted(words)
    close = difflib.get_close_matches(word, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"There are: {', '.join(known)}."
