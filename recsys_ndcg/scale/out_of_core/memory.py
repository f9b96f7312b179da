"""How much memory a process may use, and how it is shared out."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recsys_ndcg.errors import InvalidInputError, is_number, shown

if TYPE_CHECKING:
    from recsys_ndcg.scoring.plan import Plan

_UNITS = {"": 1, "B": 1} | {
    f"{letter}{form}": (1000 if form == "B" else 1024) ** power
    for power, letter in enumerate("KMGT", start=1)
    for form in ("B", "iB")
}
_NAMED = {name.lower(): size for name, size in _UNITS.items()}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")
_LEAST = 400_000_000  # beside what the process has: DuckDB and pyarrow take half of it themselves
_LOADED = 130_000_000  # bytes of code and tables that DuckDB and pyarrow hold as long as they are
_PER_ROW = 180  # bytes while a row is read, grouped, sorted and scored
_PER_ID = 120  # bytes of a user's own id and counts, where every user is kept
_PER_SCORE = 57  # and of a score with what it is read against
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
    >>> Memory(1_900_000_000).rows
    8074074
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
        if limit is None:
            return cls(max(_free() // 2, _LEAST))
        most, held = bytes_of(limit), resident()
        if most - held < _LEAST:
            msg = (
                f"memory_limit={limit!r} leaves too little: the process itself has "
                f"{written(held)}, and needs {written(_LEAST)} beside it. Give at least "
                f"{written(held + _LEAST)}."
            )
            raise InvalidInputError(msg)
        return cls(most - held)

    @property
    def database(self) -> int:
        """What DuckDB is told to keep to."""
        return int((self.room - _LOADED) * _DATABASE)

    @property
    def rows(self) -> int:
        """How many rows may be in memory at once, beside the users who are kept."""
        return int((self.room * (1 - _KEPT) - _LOADED) / _PER_ROW)

    def keeps(self, users: int, plan: Plan) -> bool:
        """Tell whether so many users may be kept, each with all that is known of them."""
        each = _PER_ID + _PER_SCORE * len(plan.measurements)
        return users * each <= self.room * _KEPT

    @staticmethod
    def limit_for(rows: int) -> str:
        """Return which limit lets so many rows be in memory at once."""
        return written(resident() + int((_LOADED + rows * _PER_ROW) / (1 - _KEPT)))


def resident() -> int:
    """Return how much memory the process has now; the usual, where the system does not say."""
    return _told(Path("/proc/self/status"), "VmRSS") or 200_000_000


def _free() -> int:
    """Return how much memory is free; what most machines have, where the system does not say."""
    return _told(Path("/proc/meminfo"), "MemAvailable") or 4_000_000_000


def _told(path: Path, name: str) -> int | None:
    """Return what the system says of memory, if it does."""
    try:
        told = re.search(rf"{name}:\s*(\d+) kB", path.read_text(encoding="ascii"))
    except OSError:
        return None
    return int(told[1]) * 1024 if told else None


def written(size: int) -> str:
    """Return an amount of memory as a person writes it, rounded up.

    Examples
    --------
    >>> written(1_234_000_000)
    '1.3GB'
    """
    return f"{math.ceil(size / 1e8) / 10:g}GB"
