"""Estimates from the most similar users or items: the k-NN algorithms.

As in Surprise, x is the side whose members are compared, users or items, and y is the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Codes, Floats
from recsys_ndcg.catalogue import Ratings
from recsys_ndcg.lazy import lazy
from recsys_ndcg.parallel import heed, in_threads

if TYPE_CHECKING:
    from recsys_ndcg.surprise.formulas import Inner, Items, Mask

Places = NDArray[Any]  # of unsigned integers

_SORTED = 1 << 18  # similarities at a time
_CELLS = 1 << 19  # similarities at a time, for the processor's cache, which decides the speed


class Neighbours:
    """KNNBasic: the mean of the neighbours' ratings, weighted by similarity.

    The subclasses differ in what they take off the neighbours' ratings, and in what they make of
    the mean.
    """

    #: KNNBasic divides by zero without neighbours, and min_k=0 lets it come to that.
    least_k = 1e-300

    def __init__(self, algo: Any) -> None:
        self._algo = algo
        self._user_based = bool(algo.sim_options["user_based"])
        self._sim = np.asarray(algo.sim, dtype=np.float64)
        self._ratings = Ratings(algo.yr, algo.n_y)
        with np.errstate(divide="ignore", invalid="ignore"):
            self._weights = self.weights(self._ratings)

    @property
    def suits(self) -> bool:
        """Whether the arrays say the same as the library's loop.

        They do not where it compares a NaN, which has no place in an order, or divides by zero.
        """
        algo = self._algo
        if not isinstance(algo.k, int | np.integer) or algo.k < 1 or algo.min_k < self.least_k:
            return False
        return bool(np.isfinite(self._sim).all() and np.isfinite(self._weights).all())

    @lazy
    def _places(self) -> Places:
        return places(self._sim)

    def weights(self, ratings: Ratings) -> Floats:
        """Return what every rating brings in, times its similarity."""
        return ratings.values

    def finished(
        self, means: Floats, lonely: Mask, users: Inner, items: Items
    ) -> tuple[Floats, Mask | None]:
        """Return the estimates, from means that are 0 where there were too few neighbours."""
        del users, items
        if not lonely.any():
            return means, None
        means[lonely] = self._algo.default_prediction()
        return means, lonely

    def block(self, users: Inner, items: Items) -> tuple[Floats, Mask | None]:
        """Return the estimates from the nearest neighbours."""
        each_item = np.arange(self._algo.trainset.n_items)[items]
        if self._user_based:
            means, lonely = self._means(users, each_item)
            means, lonely = np.ascontiguousarray(means.T), np.ascontiguousarray(lonely.T)
        else:
            means, lonely = self._means(each_item, users)
        return self.finished(means, lonely, users, items)

    def along_x(self, values: Floats, users: Inner, items: Items) -> Floats:
        """Return the values of x, to be combined with a table of users by items."""
        return values[users, None] if self._user_based else values[items]

    def _means(self, xs: Inner, ys: Inner) -> tuple[Floats, Mask]:
        """Return the weighted means, a row for each y, and where there are too few neighbours."""
        shape = (len(ys), len(xs))
        sums, total = np.empty(shape), np.empty(shape)
        counts = np.empty(shape, dtype=np.int32) if self._algo.min_k > 1 else None
        offsets, codes, k = self._ratings.offsets.tolist(), self._ratings.codes, int(self._algo.k)
        step = max(1, _CELLS // max(1, len(self._sim)))
        for first in range(0, len(xs), step):
            some = slice(first, first + step)
            sim, place = self._sim[xs[some]], self._places[xs[some]]
            for row, y in enumerate(ys.tolist()):
                heed()
                ratings = slice(offsets[y], offsets[y + 1])
                near = keep_nearest(sim, place, codes[ratings], k)
                sums[row, some] = np.vecdot(near, self._weights[ratings])
                total[row, some] = near.sum(axis=1)
                if counts is not None:
                    counts[row, some] = np.count_nonzero(near, axis=1)
        lonely = total == 0.0 if counts is None else counts < self._algo.min_k
        np.divide(sums, total, out=sums, where=~lonely)
        sums[lonely] = 0.0
        return sums, lonely


class CentredNeighbours(Neighbours):
    """KNNWithMeans: the mean of x, plus how far the neighbours are above theirs."""

    least_k = -np.inf

    def weights(self, ratings: Ratings) -> Floats:
        """Return the ratings less the means of who gave or got them."""
        less: Floats = ratings.values - self._algo.means[ratings.codes]
        return less

    def finished(
        self, means: Floats, lonely: Mask, users: Inner, items: Items
    ) -> tuple[Floats, Mask | None]:
        """Return the estimates, around the mean of x."""
        del lonely
        means += self.along_x(self._algo.means, users, items)
        return means, None


class StandardisedNeighbours(CentredNeighbours):
    """KNNWithZScore: as KNNWithMeans, in standard deviations."""

    def weights(self, ratings: Ratings) -> Floats:
        """Return the ratings as standard scores."""
        scores: Floats = super().weights(ratings) / self._algo.sigmas[ratings.codes]
        return scores

    def finished(
        self, means: Floats, lonely: Mask, users: Inner, items: Items
    ) -> tuple[Floats, Mask | None]:
        """Return the estimates, in the standard deviations of x."""
        means *= self.along_x(self._algo.sigmas, users, items)
        return super().finished(means, lonely, users, items)


class BaselineNeighbours(Neighbours):
    """KNNBaseline: the baseline, plus how far the neighbours are above theirs."""

    least_k = -np.inf

    def weights(self, ratings: Ratings) -> Floats:
        """Return the ratings less their baselines."""
        algo = self._algo
        baselines = algo.trainset.global_mean + algo.bx[ratings.codes] + algo.by[ratings.rows]
        less: Floats = ratings.values - baselines
        return less

    def finished(
        self, means: Floats, lonely: Mask, users: Inner, items: Items
    ) -> tuple[Floats, Mask | None]:
        """Return the estimates, around the baseline."""
        del lonely
        algo = self._algo
        means += np.add.outer(algo.trainset.global_mean + algo.bu[users], algo.bi[items])
        return means, None


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
    step = max(1, _SORTED // max(1, n))

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
