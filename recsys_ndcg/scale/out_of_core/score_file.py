"""Scores on disk, for the one statistic that needs all of them: the median."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats

_AT_ONCE = 1 << 20  # scores
_BITS = 16
_SIGN = np.uint64(1 << 63)


class ScoreFile:
    """Scores of users under some metrics, a file for each metric, without those who have none.

    Parameters
    ----------
    folder : Path
        Where they are written.
    count : int
        How many metrics.
    """

    def __init__(self, folder: Path, count: int) -> None:
        self._paths = [folder / f"scores_{place}" for place in range(count)]
        for path in self._paths:
            path.touch()

    def add(self, per_user: Floats) -> None:
        """Write the scores of some users: shape (n_users, n_metrics), NaN where there is none."""
        for path, column in zip(self._paths, per_user.T, strict=True):
            with path.open("ab") as file:
                column[~np.isnan(column)].tofile(file)

    @property
    def median(self) -> Floats:
        """The median of each metric, NaN of no scores: found in a few passes over its file."""
        return np.array([self._median(path) for path in self._paths])

    def _median(self, path: Path) -> float:
        count = path.stat().st_size // 8
        if not count:
            return np.nan
        low = _select(path, (count - 1) // 2)
        return low if count % 2 else float(np.mean([low, _select(path, count // 2)]))


def _select(path: Path, rank: int) -> float:
    """Return the score of some rank, from 0 on: 16 bits of it after the other.

    Read as whole numbers, the bits of floats stand in the order of the floats.
    """
    found = 0
    for done in range(0, 64, _BITS):
        shift, counts = 64 - done - _BITS, np.zeros(1 << _BITS, dtype=np.int64)
        for keys in _keys(path):
            same = keys if not done else keys[(keys >> np.uint64(shift + _BITS)) == found]
            digits = (same >> np.uint64(shift)) & np.uint64((1 << _BITS) - 1)
            counts += np.bincount(digits.astype(np.int64), minlength=1 << _BITS)
        below = np.cumsum(counts)
        digit = int(np.searchsorted(below, rank, side="right"))
        rank -= int(below[digit] - counts[digit])
        found = (found << _BITS) | digit
    return _value(found)


def _keys(path: Path) -> Iterator[NDArray[np.uint64]]:
    """Give scores as whole numbers in the same order, some at once."""
    with path.open("rb") as file:
        while len(bits := np.fromfile(file, dtype=np.uint64, count=_AT_ONCE)):
            yield np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _value(key: int) -> float:
    bits = np.uint64(key)
    bits = bits ^ _SIGN if bits & _SIGN else ~bits
    return float(bits.view(np.float64))
