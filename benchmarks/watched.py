"""Look at something again and again while something else runs."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def watched(look: Callable[[], None], seconds: float) -> Iterator[None]:
    """Look every so many seconds; what is gone in the meantime is no error."""
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(seconds):
            with suppress(OSError):
                look()

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
