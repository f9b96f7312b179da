"""Values chosen to have one hash, which any dict of them compares with each other forever."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Hashable

_MOST_ALIKE = 16  # by chance there are no two


class Collisions:
    """The different values seen so far, by their hashes.

    Examples
    --------
    >>> seen = Collisions()
    >>> any(seen.crowded(2**70 + count) for count in range(100))
    False
    >>> any(seen.crowded(count * (2**61 - 1)) for count in range(100))
    True
    """

    def __init__(self) -> None:
        self._by_hash: dict[bytes, list[Hashable]] = {}

    def crowded(self, value: Hashable) -> bool:
        """Tell whether many other values have the hash of this one."""
        # bytes, since what a hash of numbers is can be chosen, and that of bytes cannot
        key = hash(value).to_bytes(8, "little", signed=True)
        alike = self._by_hash.setdefault(key, [])
        if value not in alike:
            alike.append(value)
        return len(alike) > _MOST_ALIKE
