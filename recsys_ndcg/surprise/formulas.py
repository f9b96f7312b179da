"""What each algorithm estimates over arrays, from what it has learned; and the popular items.

Of the k-NN algorithms x is the side whose members are compared, users or items, and y the other,
as in Surprise.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from surprise import AlgoBase

from recsys_ndcg.arrays import Codes, Flags, Floats, Positions
from recsys_ndcg.catalogue import Ratings
from recsys_ndcg.lazy import lazy
from recsys_ndcg.parallel import heed, in_threads

Items = Positions | slice
Places = NDArray[Any]  # of unsigned integers

_SORTED = 1 << 18  # similarities at a time
_CELLS = 1 << 19  # similarities at a time, for the processor's cache, which decides the speed


class Rule(Protocol):
    """An algorithm's formula over arrays, for users and items of the trainset."""

    def block(self, users: Positions, items: Items) -> tuple[Floats, Flags | None]:
        """Return the estimates in a new array, and where predict says they were impossible.

        Parameters
        ----------
        users : int array
            Positions ids, none of them unknown.
        items : int array or slice
            Positions ids.
        """


class Biases:
    """BaselineOnly: the global mean plus the biases of the user and the item."""

    def __init__(self, algo: Any) -> None:
        self._users = algo.trainset.global_mean + np.asarray(algo.bu, dtype=np.float64)
        self._items = np.asarray(algo.bi, dtype=np.float64)

    def block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the baselines."""
        return np.add.outer(self._users[users], self._items[items]), None


class Factors:
    """SVD and NMF: the product of the factors, on top of the biases if there are any."""

    def __init__(self, algo: Any) -> None:
        self._biases = Biases(algo) if algo.biased else None
        self._users, self._items = algo.pu, algo.qi

    def block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the products."""
        product: Floats = self._users[users] @ self._items[items].T
        if self._biases is not None:
            product += self._biases.block(users, items)[0]
        return product, None


class ImplicitFactors(Factors):
    """SVD++: as SVD with biases, a user's factors shifted by the items that the user rated."""

    def __init__(self, algo: Any) -> None:
        ratings = Ratings(algo.trainset.ur, algo.trainset.n_users)
        rated = ratings.matrix(algo.trainset.n_items)
        self._users = algo.pu + (rated @ algo.yj) / np.sqrt(ratings.sizes)[:, None]
        self._items = algo.qi
        self._biases: Biases | None = Biases(algo)


class Slopes:
    """SlopeOne: the user's mean, plus how far the item is above the items that the user rated.

    Only items that somebody rated together with the item count. Both sums are products with the
    sparse matrix of who rated what.
    """

    def __init__(self, algo: Any) -> None:
        ratings = Ratings(algo.trainset.ur, algo.trainset.n_users)
        self._means = np.asarray(algo.user_mean, dtype=np.float64)
        together = algo.freq.T > 0
        self._differences = np.zeros(algo.dev.shape)
        np.copyto(self._differences, algo.dev.T, where=together)  # dev is 0/0 elsewhere
        self._together = together.astype(np.int32, order="C")
        self._rated = ratings.matrix(len(together))
        self._counted = self._rated.astype(np.int32)

    def block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the means plus the mean differences."""
        values: Floats = self._rated[users] @ self._differences[:, items]
        counts = self._counted[users] @ self._together[:, items]
        values /= np.maximum(counts, 1)
        values += self._means[users, None]
        return values, None


class CoClusters:
    """CoClustering: the mean of the co-cluster, moved by how far user and item are from theirs."""

    def __init__(self, algo: Any) -> None:
        self._algo = algo

    def block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the moved means."""
        algo = self._algo
        of_user, of_item = algo.cltr_u[users], algo.cltr_i[items]
        values: Floats = algo.avg_cocltr[of_user].take(of_item, axis=1)
        values += algo.user_mean[users, None]  # in the library's order, for the last digit's sake
        values -= algo.avg_cltr_u[of_user, None]
        values += algo.item_mean[items]
        values -= algo.avg_cltr_i[of_item]
        return values, None


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

    def finish(self, means: Floats, lonely: Flags, users: Positions, items: Items) -> Flags | None:
        """Make estimates of means, which are 0 where there were too few neighbours, in place.

        Returns
        -------
        bool array or None
            Where they are impossible.
        """
        del users, items
        means[lonely] = self._algo.default_prediction()
        return lonely

    def block(self, users: Positions, items: Items) -> tuple[Floats, Flags | None]:
        """Return the estimates from the nearest neighbours."""
        each_item = np.arange(self._algo.trainset.n_items)[items]
        if self._user_based:
            means, lonely = self._means(users, each_item)
            means, lonely = np.ascontiguousarray(means.T), np.ascontiguousarray(lonely.T)
        else:
            means, lonely = self._means(each_item, users)
        return means, self.finish(means, lonely, users, items)

    def _means(self, xs: Positions, ys: Positions) -> tuple[Floats, Flags]:
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
    """KNNWithMeans: the mean of x, plus how far the neighbours are above theirs.

    KNNWithZScore, which has learned standard deviations, says how far in those.
    """

    least_k = -np.inf

    def __init__(self, algo: Any) -> None:
        self._sigmas = getattr(algo, "sigmas", None)
        super().__init__(algo)

    def weights(self, ratings: Ratings) -> Floats:
        """Return the ratings less the means of who gave or got them."""
        less: Floats = ratings.values - self._algo.means[ratings.codes]
        return less if self._sigmas is None else less / self._sigmas[ratings.codes]

    def finish(self, means: Floats, lonely: Flags, users: Positions, items: Items) -> None:
        """Make estimates around the mean of x."""
        del lonely
        own = (users, None) if self._user_based else items
        if self._sigmas is not None:
            means *= self._sigmas[own]
        means += self._algo.means[own]


class BaselineNeighbours(Neighbours):
    """KNNBaseline: the baseline, plus how far the neighbours are above theirs."""

    least_k = -np.inf

    def weights(self, ratings: Ratings) -> Floats:
        """Return the ratings less their baselines."""
        algo = self._algo
        baselines = algo.trainset.global_mean + algo.bx[ratings.codes] + algo.by[ratings.rows]
        less: Floats = ratings.values - baselines
        return less

    def finish(self, means: Floats, lonely: Flags, users: Positions, items: Items) -> None:
        """Make estimates around the baseline."""
        del lonely
        means += Biases(self._algo).block(users, items)[0]


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


def _last_equal(equal: Flags, surplus: Positions) -> tuple[Positions, Positions]:
    """Return the rows and columns of the last `surplus` of each row's equal ones."""
    row, column = np.nonzero(equal)
    ends = np.cumsum(np.bincount(row, minlength=len(surplus)))
    last = np.arange(len(row)) >= (ends - surplus)[row]
    return row[last], column[last]


class MostPopular(AlgoBase):  # type: ignore[misc] # surprise has no types
    """The items with the most ratings, the same for every user.

    The estimate of an item is its number of ratings in the trainset, scaled so that the most
    rated item has the top of the rating scale. It is no rating, and RMSE of it says nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from surprise import Dataset, Reader
    >>> rows = [("ann", "a", 2), ("bob", "a", 1), ("bob", "b", 5)]
    >>> data = Dataset.load_from_df(pd.DataFrame(rows), Reader(rating_scale=(1, 5)))
    >>> popular = MostPopular().fit(data.build_full_trainset())
    >>> float(popular.predict("ann", "a").est), float(popular.predict("ann", "b").est)
    (5.0, 3.0)
    """

    def fit(self, trainset: Any) -> Self:
        """Count the ratings of each item."""
        AlgoBase.fit(self, trainset)
        counts = Ratings(trainset.ir, trainset.n_items).sizes
        low, high = trainset.rating_scale
        self.popularity = low + (high - low) * counts / max(counts.max(initial=0), 1)
        return self

    def estimate(self, user: Any, item: Any) -> float:  # noqa: ARG002 - Surprise's signature
        """Return the popularity of an item: the bottom of the scale for one that nobody rated."""
        if self.trainset.knows_item(item):
            return float(self.popularity[item])
        return float(self.trainset.rating_scale[0])


class Popularity:
    """The estimates of `MostPopular` for blocks of users."""

    def __init__(self, algo: Any) -> None:
        self._items = np.asarray(algo.popularity, dtype=np.float64)

    def block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the popularity of the items, a row for each user."""
        return np.tile(self._items[items], (len(users), 1)), None
