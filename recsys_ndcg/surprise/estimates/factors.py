"""Estimates from biases and factors: BaselineOnly, SVD, NMF and SVD++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.surprise.trainsets import Ratings

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.surprise.estimates.rules import Inner, Items


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
        return _product(self._users[users], self._items[items], self._biases, users, items), None


class ImplicitFactors(Factors):
    """SVD++: as SVD with biases, a user's factors shifted by the items that the user rated."""

    def __init__(self, algo: Any) -> None:
        ratings = Ratings.by_user(algo.trainset)
        rated = ratings.matrix(algo.trainset.n_items)
        self._users = algo.pu + (rated @ algo.yj) / np.sqrt(ratings.sizes)[:, None]
        self._items = algo.qi
        self._biases: Biases | None = Biases(algo)


def _product(
    left: Floats, right: Floats, biases: Biases | None, users: Inner, items: Items
) -> Floats:
    product: Floats = left @ right.T
    if biases is not None:
        product += biases.block(users, items)[0]
    return product
