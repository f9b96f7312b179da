"""What each algorithm estimates over arrays, from what it has learned; and the popular items."""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from surprise import AlgoBase

from recsys_ndcg.arrays import Floats
from recsys_ndcg.catalogue import Ratings

Inner = NDArray[np.intp]
Mask = NDArray[np.bool_]
Items = NDArray[np.intp] | slice


class Rule(Protocol):
    """An algorithm's formula over arrays, for users and items of the trainset."""

    def block(self, users: Inner, items: Items) -> tuple[Floats, Mask | None]:
        """Return the estimates in a new array, and where predict says they were impossible.

        Parameters
        ----------
        users : int array
            Inner ids, none of them unknown.
        items : int array or slice
            Inner ids.
        """


class Biases:
    """BaselineOnly: the global mean plus the biases of the user and the item."""

    def __init__(self, algo: Any) -> None:
        self._users = algo.trainset.global_mean + np.asarray(algo.bu, dtype=np.float64)
        self._items = np.asarray(algo.bi, dtype=np.float64)

    def block(self, users: Inner, items: Items) -> tuple[Floats, None]:
        """Return the baselines."""
        return np.add.outer(self._users[users], self._items[items]), None


class Factors:
    """SVD and NMF: the product of the factors, on top of the biases if there are any."""

    def __init__(self, algo: Any) -> None:
        self._biases = Biases(algo) if algo.biased else None
        self._users, self._items = algo.pu, algo.qi

    def block(self, users: Inner, items: Items) -> tuple[Floats, None]:
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

    def block(self, users: Inner, items: Items) -> tuple[Floats, None]:
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

    def block(self, users: Inner, items: Items) -> tuple[Floats, None]:
        """Return the moved means."""
        algo = self._algo
        of_user, of_item = algo.cltr_u[users], algo.cltr_i[items]
        values: Floats = algo.avg_cocltr[of_user].take(of_item, axis=1)
        values += algo.user_mean[users, None]  # in the library's order, for the last digit's sake
        values -= algo.avg_cltr_u[of_user, None]
        values += algo.item_mean[items]
        values -= algo.avg_cltr_i[of_item]
        return values, None


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

    def block(self, users: Inner, items: Items) -> tuple[Floats, None]:
        """Return the popularity of the items, a row for each user."""
        return np.tile(self._items[items], (len(users), 1)), None
