"""What all errors of bad input have in common: the class, and a message without internals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import recsys_ndcg as rn

INSIDE = ("np.", "numpy", "Traceback", "recsys_ndcg/", "recsys_ndcg.", "site-packages", "?.")


@contextmanager
def rejects(
    match: str, kind: type[rn.RecsysNdcgError] = rn.InvalidInputError, *, whole: bool = True
) -> Iterator[pytest.ExceptionInfo[rn.RecsysNdcgError]]:
    """Expect an error of our own whose message matches, without internals of the program.

    `whole` is False if the message quotes the system, such as the name of a file.
    """
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    text.encode()  # it has no half of a character
    assert "\n" not in text
    assert not whole or not [part for part in INSIDE if part in text], text


def assert_rejected(
    match: str, act: Callable[..., object], *data: Any, whole: bool = True, **options: Any
) -> None:
    """Expect such an error from a call with these arguments."""
    with rejects(match, whole=whole):
        act(*data, **options)
