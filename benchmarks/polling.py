"""Call a function periodically while other code runs."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def poll(look: Callable[[], None], seconds: float) -> Iterator[None]:
    """Call `look` at this interval; ignore files that have disappeared."""
    is_over = threading.Event()

    def keep_looking() -> None:
        while not is_over.wait(seconds):
            with suppress(OSError):
                look()

    thread = threading.Thread(target=keep_looking, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
