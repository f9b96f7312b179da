"""Which users there have been, in memory that does not grow with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Flags

    Hashes = NDArray[np.uint64]

#: Users who are remembered one by one: 8 bytes each.
MOST = 1 << 17


@dataclass(frozen=True, eq=False)
class Seen:
    """Some hashes, of which all are known as long as they are few, and then an even share.

    Of more than `most` those are kept that end in a zero bit, of more than twice as many those
    that end in two (adaptive sampling: Flajolet 1990, doi:10.1007/BF02241657). So one that came
    twice is told of for certain at first, and among many that come twice, some always are.

    Parameters
    ----------
    runs : tuple of uint64 arrays
        The hashes that are kept, in ascending order within each, the longest first.
    zeros : int
        In how many zero bits they end.
    most : int, optional
        How many are kept; None for all.

    Examples
    --------
    >>> seen = Seen().with_all(np.array([5, 3], dtype=np.uint64))
    >>> seen.among(np.array([3, 4], dtype=np.uint64))
    array([ True, False])
    """

    runs: tuple[Hashes, ...] = ()
    zeros: int = 0
    most: int | None = MOST

    def among(self, hashes: Hashes) -> Flags:
        """Tell which of some hashes are known to have come before."""
        found = np.zeros(len(hashes), dtype=bool)
        for run in self.runs:
            place = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            found |= run[place] == hashes
        return found

    def shared_with(self, other: Seen) -> int:
        """Return how many hashes are known to be in both."""
        return sum(int(self.among(run).sum()) for run in other.runs)

    def with_all(self, hashes: Hashes) -> Seen:
        """Return the same with more hashes."""
        return self._with(np.sort(hashes), self.zeros)

    def __add__(self, other: Seen) -> Seen:
        """Return the hashes of both."""
        both = self._with(np.zeros(0, dtype=np.uint64), max(self.zeros, other.zeros))
        for run in other.runs:
            both = both._with(run, both.zeros)
        return both

    def _with(self, run: Hashes, zeros: int) -> Seen:
        runs = [*self.runs, run]
        while True:
            if zeros:
                ends = np.uint64((1 << zeros) - 1)
                runs = [one[(one & ends) == 0] for one in runs]
            if self.most is None or sum(map(len, runs)) <= self.most:
                break
            zeros += 1
        return Seen(_merged([one for one in runs if len(one)]), zeros, self.most)


def _merged(runs: list[Hashes]) -> tuple[Hashes, ...]:
    """Return runs of which each is more than twice as long as the next: few, and seldom merged."""
    runs.sort(key=len, reverse=True)
    place = len(runs) - 1
    while place > 0:
        if len(runs[place - 1]) > 2 * len(runs[place]):
            place -= 1
            continue
        both = np.concatenate([runs.pop(place), runs.pop(place - 1)])
        runs.append(np.sort(both, kind="stable"))  # which merges what is sorted already
        runs.sort(key=len, reverse=True)
        place = len(runs) - 1
    return tuple(runs)
