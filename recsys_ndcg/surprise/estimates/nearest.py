"""Which neighbours count: the k most similar ones, as Surprise picks them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.parallel import in_threads

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Codes, Floats
    from recsys_ndcg.surprise.estimates.rules import Inner

Places = NDArray[Any]  # of unsigned integers

_CELLS = 1 << 18


def places(sim: Floats) -> Places:
    """Return the place of each similarity among the positive ones of its row, from below.

    Equal ones share a place; what is not positive has place 0. Numbers of 16 bits are sorted
    several times as fast as those of 64.

    Parameters
    ----------
    sim : float64 array, shape (n, n)

    Examples
    --------
    >>> places(np.array([[0.5, -1.0, 0.9, 0.5]]))
    array([[1, 0, 2, 1]], dtype=uint16)
    """
    n = sim.shape[1]
    found = np.empty(sim.shape, dtype=np.uint16 if n < 1 << 16 else np.uint32)
    step = max(1, _CELLS // max(1, n))

    def fill(first: int) -> None:
        some = np.maximum(sim[first : first + step], 0.0)
        order = np.argsort(some, axis=1, kind="stable")  # the fastest with many zeros
        ascending = np.take_along_axis(some, order, axis=1)
        new = np.diff(ascending, axis=1, prepend=0.0) > 0.0
        place = np.cumsum(new, axis=1, dtype=found.dtype)
        np.put_along_axis(found[first : first + step], order, place, axis=1)

    in_threads(fill, range(0, len(sim), step))
    return found


def keep_nearest(sim: Floats, place: Places, who: Codes, k: int) -> Floats:
    """Return the similarities to some neighbours, with 0 for all that do not count.

    Parameters
    ----------
    sim : float64 array, shape (rows, n)
        Finite.
    place : int array, shape (rows, n)
        As `places` returns them for these rows.
    who : int array, shape (m,)
        The neighbours, with repeats.
    k : int
        How many count, at least 1: the most similar ones, and of those only the ones with a
        positive similarity. Of equal ones at the k-th place the earlier of `who` do, as with
        `heapq.nlargest`.

    Returns
    -------
    float64 array, shape (rows, m)

    Examples
    --------
    >>> sim = np.array([[0.5, -1.0, 0.9, 0.5]])
    >>> keep_nearest(sim, places(sim), np.array([3, 2, 1, 0]), 2)
    array([[ 0.5,  0.9, -0. ,  0. ]])
    """
    near: Floats = sim.take(who, axis=1)
    m = len(who)
    if m <= k:
        return np.maximum(near, 0.0, out=near)
    place = place.take(who, axis=1)
    kth = np.partition(place, m - k, axis=1)[:, m - k]
    kept = place >= np.maximum(kth, 1)[:, None]
    surplus = kept.sum(axis=1) - k
    tied = np.flatnonzero(surplus > 0)
    if len(tied):
        row, column = _last_equal(place[tied] == kth[tied, None], surplus[tied])
        kept[tied[row], column] = False
    near *= kept
    return near


def _last_equal(equal: NDArray[np.bool_], surplus: Inner) -> tuple[Inner, Inner]:
    """Return the rows and columns of the last `surplus` of each row's equal ones."""
    row, column = np.nonzero(equal)
    ends = np.cumsum(np.bincount(row, minlength=len(surplus)))
    last = np.arange(len(row)) >= (ends - surplus)[row]
    return row[last], column[last]
