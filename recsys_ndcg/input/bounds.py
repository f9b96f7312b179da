"""How much a file of some size may stand for: few bytes can unpack to as many as one likes."""

from __future__ import annotations

#: Of a text whose columns nobody can have meant: reading them takes minutes.
MOST_COLUMNS = 1000
_ROWS_ANYWAY = 500_000
_ROWS_PER_BYTE = 16  # half a bit each
_BYTES_ANYWAY = 1 << 26
_BYTES_PER_BYTE = 256  # xz packs 150 of long ids with one score for each item
_DEFLATED_PER_BYTE = 64  # deflate packs 25 of a table at most


def most_rows(size: int) -> int:
    """Return how many rows a file of so many bytes may have."""
    return _ROWS_ANYWAY + _ROWS_PER_BYTE * size


def most_bytes(size: int, kind: str = "") -> int:
    """Return how many bytes a file of so many, with such an end of its name, may unpack to."""
    deflated = kind in {".gz", ".zip"}
    return _BYTES_ANYWAY + (_DEFLATED_PER_BYTE if deflated else _BYTES_PER_BYTE) * size
