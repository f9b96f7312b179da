"""What every refusal has in common: its class, and a message fit for people."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import recsys_ndcg as rn

if TYPE_CHECKING:
    from collections.abc import Iterator

INSIDE = ("np.", "numpy", "Traceback", "recsys_ndcg/", "recsys_ndcg.", "site-packages", "?.")


@contextmanager
def rejects(
    match: str, kind: type[rn.RecsysNdcgError] = rn.InvalidInputError, *, whole: bool = True
) -> Iterator[pytest.ExceptionInfo[rn.RecsysNdcgError]]:
    """Expect an error of our own whose message tells, and shows nothing of the machinery.

    `whole` is False where the message quotes what the machine said, such as a file's name.
    """
    with pytest.raises(kind, match=match) as caught:
        yield caught
    assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    text.encode()  # it has no half of a character
    assert "\n" not in text
    assert not whole or not [part for part in INSIDE if part in text], text
