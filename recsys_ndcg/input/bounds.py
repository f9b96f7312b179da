"""How much a file of some size may stand for: few bytes can unpack to as many as one likes."""

from __future__ import annotations

#: Of a text whose columns nobody can have meant: reading them takes minutes.
MOST_COLUMNS = 1000
_ROWS_ANYWAY = 500_000
_ROWS_PER_BYTE = 16  # half a bit each


def most_rows(size: int) -> int:
    """Return how many rows a file of so many bytes may have."""
    return _ROWS_ANYWAY + _ROWS_PER_BYTE * size
