"""Work on blocks of users, a thread per core: NumPy lets go of the interpreter while it sorts."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Return the results in the order of the items.

    Examples
    --------
    >>> in_threads(abs, [-1, 2])
    [1, 2]
    """
    if len(items) < 2:
        return [work(item) for item in items]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(work, items))
