"""How much memory a process may use, and what a part of the data takes of it."""

from __future__ import annotations

import ctypes
import math
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recsys_ndcg.errors import InvalidInputError, is_number, shown

_UNITS = {"": 1, "B": 1} | {
    f"{letter}{form}": (1000 if form == "B" else 1024) ** power
    for power, letter in enumerate("KMGT", start=1)
    for form in ("B", "iB")
}
_NAMED = {name.lower(): size for name, size in _UNITS.items()}
_AMOUNT = re.compile(r"\s*(\d{1,15}(?:\.\d+)?)\s*([A-Za-z]*)\s*")
_LEAST = 270_000_000  # beside what the process has, for anything to be done
_LOADED = 130_000_000  # bytes of code and tables that DuckDB and pyarrow hold as long as they are
_PER_USER = 150  # and of a user
_PER_SCORE = 130  # and of a user under a measurement
_PER_ROW = 180  # bytes while a row is read, grouped, sorted and scored
_PER_LETTER = 3  # and of a letter of an id: it is read, and kept where it is distinct
#: An id of text takes as much as so many more letters.
AS_TEXT = 40
_KEPT_USER, _KEPT_SCORE = 120, 57  # of a user who is kept, and each score with what it is beside
_KEPT = 1 / 6  # of the memory: users who are kept
_DATABASE = 0.6  # of it: what DuckDB is told, for it takes more than that


def bytes_of(limit: str | float) -> int:
    """Return how many bytes an amount of memory has.

    Raises
    ------
    InvalidInputError
        It is no amount of memory.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("1.5 GiB"), bytes_of(500_000_000)
    (2000000000, 1610612736, 500000000)
    """
    if is_number(limit) and float(limit) > 0:
        return int(float(limit))
    told = _AMOUNT.fullmatch(limit) if isinstance(limit, str) else None
    if told is None or told[2].lower() not in _NAMED:
        msg = f"memory_limit is an amount of memory, such as '2GB', not {shown(limit)}."
        raise InvalidInputError(msg)
    return int(float(told[1]) * _NAMED[told[2].lower()])


@dataclass(frozen=True)
class Memory:
    """What a process may use beyond what it has, in bytes.

    Examples
    --------
    >>> Memory(1_000_000_000).keeps(900_000, n_scores=1)
    True
    """

    room: int

    @classmethod
    def within(cls, limit: str | float | None) -> Memory:
        """Return what a limit leaves; half of what is free, where nobody says one.

        Raises
        ------
        InvalidInputError
            It is no amount of memory, or leaves too little.
        """
        give_back()
        least = _LEAST + _not_loaded()
        if limit is None:
            return cls(max(_free() // 2, least))
        most, held = bytes_of(limit), resident()
        if most - held < least:
            msg = (
                f"memory_limit={limit!r} leaves too little: the process itself has "
                f"{written(held)}, and needs {written(least)} beside it. Give at least "
                f"{written(held + least)}."
            )
            raise InvalidInputError(msg)
        return cls(most - held)

    @property
    def database(self) -> int:
        """What DuckDB is told to keep to."""
        return int((self.room - _not_loaded()) * _DATABASE)

    @property
    def budget(self) -> int:
        """What a part of the data may take, beside the users who are kept."""
        return int(self.room * (1 - _KEPT)) - _not_loaded()

    def keeps(self, users: int, n_scores: int) -> bool:
        """Tell whether so many users may be kept, each with so many scores."""
        return users * (_KEPT_USER + _KEPT_SCORE * n_scores) <= self.room * _KEPT

    @staticmethod
    def limit_for(cost: int) -> str:
        """Return which limit lets a part of the data be in memory at once."""
        needed = max((cost + _not_loaded()) / (1 - _KEPT), _LEAST + _not_loaded())
        return written(resident() + int(needed))


@dataclass(frozen=True)
class Cost:
    """What a part of the data takes in memory while it is measured.

    Parameters
    ----------
    n_scores : int
        How many measurements there are.
    """

    n_scores: int

    def of(self, rows: int, users: int = 0, letters: int = 0) -> int:
        """Return how many bytes so many rows of so many users take, with ids of so many letters.

        Examples
        --------
        >>> Cost(3).of(1_000_000, 10_000)
        185400000
        """
        by_row = rows * _PER_ROW + letters * _PER_LETTER
        return by_row + users * (_PER_USER + _PER_SCORE * self.n_scores)


def resident() -> int:
    """Return how much memory the process has now; the usual, where the system does not say."""
    return _told(Path("/proc/self/status"), r"VmRSS:\s*(\d+) kB") * 1024 or 200_000_000


def written(size: int) -> str:
    """Return an amount of memory as a person writes it, rounded up.

    Examples
    --------
    >>> written(1_234_000_000)
    '1.3GB'
    """
    return f"{math.ceil(size / 1e8) / 10:g}GB"


def _not_loaded() -> int:
    """Return what DuckDB and pyarrow will hold, if they do not yet."""
    return 0 if {"duckdb", "pyarrow"} <= sys.modules.keys() else _LOADED


def give_back() -> None:
    """Let the system have what was used before and is kept for later."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another allocator than glibc's
        ctypes.CDLL(None).malloc_trim(0)


def _free() -> int:
    """Return how much memory is free; what most machines have, where the system does not say."""
    free = _told(Path("/proc/meminfo"), r"MemAvailable:\s*(\d+) kB") * 1024
    whole = _told(Path("/sys/fs/cgroup/memory.max"), r"(\d+)")  # of a container
    ours = whole and max(whole - resident(), 1)
    return min([one for one in (free, ours) if one], default=4_000_000_000)


def _told(path: Path, pattern: str) -> int:
    """Return what the system says of memory, 0 where it does not."""
    try:
        found = re.search(pattern, path.read_text(encoding="ascii"))
    except OSError:
        return 0
    return int(found[1]) if found else 0
