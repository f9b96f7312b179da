"""What an act warns of: our own warnings alone, at a line of the test that led to them."""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import recsys_ndcg as rn

if TYPE_CHECKING:
    from collections.abc import Callable


def said(act: Callable[[], Any]) -> list[str]:
    """Return what an act of the calling test file warns of."""
    caller = sys._getframe(1).f_code.co_filename  # noqa: SLF001 - where warnings must point
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert all(issubclass(one.category, rn.DataWarning) for one in caught), caught
    assert all(one.filename == caller for one in caught), caught
    return [str(one.message) for one in caught]
