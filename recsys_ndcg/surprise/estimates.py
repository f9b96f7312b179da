"""Every estimate of a fitted Surprise algorithm, in blocks of users.

Most algorithms have a class here that computes their formula over arrays; `RULES` lists them. In
k-NN algorithms x is the side that is compared, users or items, and y the other, as in Surprise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np
import surprise
from surprise import AlgoBase

from recsys_ndcg.arrays import Codes, Flags, Floats, Ids, Positions
from recsys_ndcg.errors import warn
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.parallel import raise_if_cancelled
from recsys_ndcg.ratings import GroupedRows, Interactions
from recsys_ndcg.surprise.traps import check_finite

Items = Positions | slice

_CELLS = 1 << 19  # similarities at a time that fit the processor's cache


class Rule(Protocol):
    """An algorithm's formula over arrays, for users and items of the trainset."""

    def estimate_block(self, users: Positions, items: Items) -> tuple[Floats, Flags | None]:
        """Return the estimates in a new array, and which ones `predict` reports as impossible.

        Parameters
        ----------
        users : int array
            Inner ids of known users.
        items : int array or slice
            Inner ids.
        """


class Biases:
    """BaselineOnly: the global mean plus the biases of the user and of the item."""

    def __init__(self, algo: Any) -> None:
        self._users = algo.trainset.global_mean + np.asarray(algo.bu, dtype=np.float64)
        self._items = np.asarray(algo.bi, dtype=np.float64)

    def estimate_block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the baselines."""
        return np.add.outer(self._users[users], self._items[items]), None


class Factors:
    """SVD and NMF: the product of the factors, plus the biases of a biased algorithm."""

    def __init__(self, algo: Any) -> None:
        self._biases = Biases(algo) if algo.biased else None
        self._users, self._items = algo.pu, algo.qi

    def estimate_block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the products."""
        product: Floats = self._users[users] @ self._items[items].T
        if self._biases is not None:
            product += self._biases.estimate_block(users, items)[0]
        return product, None


class ImplicitFactors(Factors):
    """SVD++: SVD with biases, and with a user's factors shifted by the user's items."""

    def __init__(self, algo: Any) -> None:
        ratings = GroupedRows.from_lists(algo.trainset.ur, algo.trainset.n_users)
        rated = ratings.to_matrix(algo.trainset.n_items)
        self._users = algo.pu + (rated @ algo.yj) / np.sqrt(ratings.sizes)[:, None]
        self._items = algo.qi
        self._biases: Biases | None = Biases(algo)


class Slopes:
    """SlopeOne: the user's mean, plus the mean difference between the item and the user's items.

    An item counts if a user has rated both. Both sums are products with the sparse matrix of users'
    ratings.
    """

    def __init__(self, algo: Any) -> None:
        ratings = GroupedRows.from_lists(algo.trainset.ur, algo.trainset.n_users)
        self._means = np.asarray(algo.user_mean, dtype=np.float64)
        together = algo.freq.T > 0
        self._differences = np.zeros(algo.dev.shape)
        np.copyto(self._differences, algo.dev.T, where=together)  # dev is 0/0 elsewhere
        self._together = together.astype(np.int32, order="C")
        self._rated = ratings.to_matrix(len(together))
        self._counted = self._rated.astype(np.int32)

    def estimate_block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the means plus the mean differences."""
        values: Floats = self._rated[users] @ self._differences[:, items]
        counts = self._counted[users] @ self._together[:, items]
        values /= np.maximum(counts, 1)
        values += self._means[users, None]
        return values, None


class CoClusters:
    """CoClustering: the co-cluster's mean, plus the differences of user and item from theirs."""

    def __init__(self, algo: Any) -> None:
        self._algo = algo

    def estimate_block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the shifted means."""
        algo = self._algo
        of_user, of_item = algo.cltr_u[users], algo.cltr_i[items]
        values: Floats = algo.avg_cocltr[of_user].take(of_item, axis=1)
        values += algo.user_mean[users, None]  # in the library's order, for equal digits
        values -= algo.avg_cltr_u[of_user, None]
        values += algo.item_mean[items]
        values -= algo.avg_cltr_i[of_item]
        return values, None


class Neighbours:
    """KNNBasic: the mean of the neighbours' ratings, weighted by similarity.

    Subclasses subtract something from the neighbours' ratings, and add something to the mean.
    """

    #: With min_k=0 KNNBasic divides by zero if there are no neighbours.
    least_k = 1e-300

    def __init__(self, algo: Any) -> None:
        self._algo = algo
        self._user_based = bool(algo.sim_options["user_based"])
        self._sim = np.asarray(algo.sim, dtype=np.float64)
        self._ratings = GroupedRows.from_lists(algo.yr, algo.n_y)
        with np.errstate(divide="ignore", invalid="ignore"):
            self._weights = self.compute_weights(self._ratings)

    @property
    def is_exact(self) -> bool:
        """Whether the arrays give the same as the library's loop.

        They do not if it compares a NaN or divides by zero.
        """
        algo = self._algo
        if not isinstance(algo.k, int | np.integer) or algo.k < 1 or algo.min_k < self.least_k:
            return False
        return bool(np.isfinite(self._sim).all() and np.isfinite(self._weights).all())

    def compute_weights(self, ratings: GroupedRows) -> Floats:
        """Return the value that each rating's similarity is multiplied with."""
        return np.asarray(ratings.values)

    def finish(self, means: Floats, lonely: Flags, users: Positions, items: Items) -> Flags | None:
        """Turn means, which are 0 without enough neighbours, into estimates in place.

        Returns
        -------
        bool array or None
            Which ones are impossible.
        """
        del users, items
        means[lonely] = self._algo.default_prediction()
        return lonely

    def estimate_block(self, users: Positions, items: Items) -> tuple[Floats, Flags | None]:
        """Return the estimates from the nearest neighbours."""
        each_item = np.arange(self._algo.trainset.n_items)[items]
        if self._user_based:
            means, lonely = self._compute_means(users, each_item)
            means, lonely = np.ascontiguousarray(means.T), np.ascontiguousarray(lonely.T)
        else:
            means, lonely = self._compute_means(each_item, users)
        return means, self.finish(means, lonely, users, items)

    def _compute_means(self, xs: Positions, ys: Positions) -> tuple[Floats, Flags]:
        """Return the weighted means, with a row per y, and which have too few neighbours."""
        shape = (len(ys), len(xs))
        sums, total = np.empty(shape), np.empty(shape)
        counts = np.empty(shape, dtype=np.int32) if self._algo.min_k > 1 else None
        offsets, codes, k = self._ratings.offsets.tolist(), self._ratings.codes, int(self._algo.k)
        step = max(1, _CELLS // max(1, len(self._sim)))
        for first in range(0, len(xs), step):
            some = slice(first, first + step)
            sim = self._sim[xs[some]]
            for row, y in enumerate(ys.tolist()):
                raise_if_cancelled()
                ratings = slice(offsets[y], offsets[y + 1])
                near = keep_nearest(sim, codes[ratings], k)
                sums[row, some] = np.vecdot(near, self._weights[ratings])
                total[row, some] = near.sum(axis=1)
                if counts is not None:
                    counts[row, some] = np.count_nonzero(near, axis=1)
        lonely = total == 0.0 if counts is None else counts < self._algo.min_k
        np.divide(sums, total, out=sums, where=~lonely)
        sums[lonely] = 0.0
        return sums, lonely


class CentredNeighbours(Neighbours):
    """KNNWithMeans: the mean of x, plus the neighbours' mean difference from their own means.

    KNNWithZScore divides the differences by standard deviations.
    """

    least_k = -np.inf

    def __init__(self, algo: Any) -> None:
        self._sigmas = getattr(algo, "sigmas", None)
        super().__init__(algo)

    def compute_weights(self, ratings: GroupedRows) -> Floats:
        """Return the ratings minus the means of x."""
        less: Floats = ratings.values - self._algo.means[ratings.codes]
        return less if self._sigmas is None else less / self._sigmas[ratings.codes]

    def finish(self, means: Floats, lonely: Flags, users: Positions, items: Items) -> None:
        """Add the mean of x."""
        del lonely
        own = (users, None) if self._user_based else items
        if self._sigmas is not None:
            means *= self._sigmas[own]
        means += self._algo.means[own]


class BaselineNeighbours(Neighbours):
    """KNNBaseline: the baseline, plus the neighbours' mean difference from their baselines."""

    least_k = -np.inf

    def compute_weights(self, ratings: GroupedRows) -> Floats:
        """Return the ratings minus their baselines."""
        algo = self._algo
        baselines = algo.trainset.global_mean + algo.bx[ratings.codes] + algo.by[ratings.owners]
        less: Floats = ratings.values - baselines
        return less

    def finish(self, means: Floats, lonely: Flags, users: Positions, items: Items) -> None:
        """Add the baseline."""
        del lonely
        means += Biases(self._algo).estimate_block(users, items)[0]


def keep_nearest(sim: Floats, who: Codes, k: int) -> Floats:
    """Return the similarities to the nearest neighbours, and 0 for other neighbours.

    Parameters
    ----------
    sim : float64 array, shape (rows, n)
        Finite.
    who : int array, shape (m,)
        The neighbours, with repeats.
    k : int
        Number of nearest neighbours, at least 1, of which only those with a positive similarity
        count. If several are equal at the k-th place, the earlier ones in `who` count, as with
        `heapq.nlargest`.

    Returns
    -------
    float64 array, shape (rows, m)

    Examples
    --------
    >>> keep_nearest(np.array([[0.5, -1.0, 0.9, 0.5]]), np.array([3, 2, 1, 0]), 2)
    array([[0.5, 0.9, 0. , 0. ]])
    """
    near: Floats = np.maximum(sim.take(who, axis=1), 0.0)
    m = len(who)
    if m <= k:
        return near
    kth = np.partition(near, m - k, axis=1)[:, m - k]
    kept = near >= kth[:, None]
    surplus = np.where(kth > 0.0, kept.sum(axis=1) - k, 0)
    tied = np.flatnonzero(surplus)
    if len(tied):
        row, column = np.nonzero(near[tied] == kth[tied, None])
        ends = np.cumsum(np.bincount(row, minlength=len(tied)))
        last = np.arange(len(row)) >= (ends - surplus[tied])[row]
        kept[tied[row[last]], column[last]] = False
    near *= kept
    return near


class MostPopular(AlgoBase):  # type: ignore[misc] # surprise has no types
    """Recommend the items with the most ratings to every user.

    The estimate of an item is its number of ratings in the trainset, scaled so that the maximum is
    the top of the rating scale. It is no rating, so its RMSE has no meaning.

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
        counts = np.array([len(trainset.ir.get(item, ())) for item in range(trainset.n_items)])
        low, high = trainset.rating_scale
        self.popularity = low + (high - low) * counts / max(counts.max(initial=0), 1)
        return self

    def estimate(self, user: Any, item: Any) -> float:  # noqa: ARG002 - Surprise's signature
        """Return the popularity of an item: the bottom of the scale without ratings."""
        if self.trainset.knows_item(item):
            return float(self.popularity[item])
        return float(self.trainset.rating_scale[0])


class PopularItems:
    """The estimates of `MostPopular` for blocks of users."""

    def __init__(self, algo: Any) -> None:
        self._items = np.asarray(algo.popularity, dtype=np.float64)

    def estimate_block(self, users: Positions, items: Items) -> tuple[Floats, None]:
        """Return the popularity of the items, with a row per user."""
        return np.tile(self._items[items], (len(users), 1)), None


#: The key is the function that computes the estimate, because a subclass may override it.
RULES: dict[Any, Callable[[Any], Rule]] = {
    surprise.BaselineOnly.estimate: Biases,
    surprise.SVD.estimate: Factors,
    surprise.NMF.estimate: Factors,
    surprise.SVDpp.estimate: ImplicitFactors,
    surprise.SlopeOne.estimate: Slopes,
    surprise.CoClustering.estimate: CoClusters,
    surprise.KNNBasic.estimate: Neighbours,
    surprise.KNNWithMeans.estimate: CentredNeighbours,
    surprise.KNNWithZScore.estimate: CentredNeighbours,
    surprise.KNNBaseline.estimate: BaselineNeighbours,
    MostPopular.estimate: PopularItems,
}
_CHECKED = [(5, 2)] * 5  # five random samples of users by items: 50 pairs
_TOLERANCE = 1e-9


class Estimates:
    """Every unclipped estimate of a fitted algorithm, in blocks of users.

    Several threads may get blocks at once if `vectorised`; otherwise the algorithm must allow
    it.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted. It is not copied, and must not be fitted again.
    training : Interactions
        Its training ratings.

    Attributes
    ----------
    vectorised : bool
        Whether the estimates are computed over arrays. This needs an algorithm of Surprise that is
        not random, does not override `estimate`, `predict` and `default_prediction`, and agrees
        with `predict` on 50 random pairs. For others `predict` is called for every pair.

    Warns
    -----
    DataWarning
        The arrays do not agree with `predict`.
    """

    vectorised: bool

    def __init__(self, algo: Any, training: Interactions) -> None:
        self._algo = algo
        self._name = type(algo).__name__
        self._users, self._items = training.user.ids, training.item.ids
        rule = _find_rule(algo)
        self._rule = rule if rule is not None and self._agrees(rule) else None
        self.vectorised = self._rule is not None

    def estimate_all(self, users: Ids, places: Positions) -> tuple[Floats, Flags | None]:
        """Return some users' estimates for all items.

        A user's own algorithm may know users who are not in the trainset.

        Parameters
        ----------
        users : array, shape (n,)
            Raw ids.
        places : int array, shape (n,)
            Their inner ids; -1 for a user that the trainset does not know.

        Returns
        -------
        estimates : float64 array, shape (n, n_items)
            In the order of the items' inner ids; the caller may change it.
        impossible : bool array of the same shape, or None
            Which estimates `predict` reports as impossible; None for no estimate.

        Raises
        ------
        DivergedModelError
            One is NaN or infinite.
        """
        if self._rule is None:
            return self.estimate_ids(users, self._items)
        known = places >= 0
        values, impossible = self._rule.estimate_block(places[known], slice(None))
        if not known.all():
            table = np.empty((len(users), len(self._items)))
            flags = np.zeros(table.shape, dtype=bool)
            table[known], flags[known] = values, False if impossible is None else impossible
            table[~known], flags[~known] = self._of_unknown_user
            values, impossible = table, flags
        check_finite(self._name, users, values)
        return values, impossible

    def estimate_ids(self, users: Ids, items: Ids) -> tuple[Floats, Flags]:
        """Return the estimates of `predict` for raw ids.

        Raises
        ------
        DivergedModelError
            One is NaN or infinite.
        """
        values, impossible = self._predict(users, items)
        check_finite(self._name, users, values)
        return values, impossible

    def _predict(self, users: Ids, items: Ids) -> tuple[Floats, Flags]:
        """Return the unclipped estimates of `predict`, and which ones are impossible."""
        values = np.empty((len(users), len(items)))
        impossible = np.zeros(values.shape, dtype=bool)
        for row, user in enumerate(users.tolist()):
            for column, item in enumerate(items.tolist()):
                prediction = self._algo.predict(user, item, clip=False)
                values[row, column] = prediction.est
                impossible[row, column] = (prediction.details or {}).get("was_impossible", False)
        return values, impossible

    @lazy_property
    def _of_unknown_user(self) -> tuple[Floats, Flags]:
        """The estimates of an unknown user for all items."""
        return self._predict(np.array([object()]), self._items)

    def _agrees(self, rule: Rule) -> bool:
        """Return whether random pairs agree with `predict`, and warn if they do not."""
        if not (len(self._users) and len(self._items)):
            return True
        rng = np.random.default_rng(0)
        worst = 0.0
        for n_users, n_items in _CHECKED:
            users = rng.integers(len(self._users), size=n_users)
            items = rng.integers(len(self._items), size=n_items)
            values, flags = rule.estimate_block(users, items)
            true, impossible = self._predict(self._users[users], self._items[items])
            with np.errstate(invalid="ignore"):
                error = np.abs(values - true)
            error[np.isclose(values, true, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)] = 0.0
            error[impossible != (False if flags is None else flags)] = np.inf
            worst = max(worst, float(np.nan_to_num(error, nan=np.inf, posinf=np.inf).max()))
        if worst > 0.0:
            warn(
                f"{self._name}: some estimates computed over arrays differ from predict() by up "
                f"to {worst:.3g}. All estimates come from predict() instead, which is slow."
            )
        return worst == 0.0


def _find_rule(algo: Any) -> Rule | None:
    """Return the rule that an algorithm certainly follows, or None."""
    kind = type(algo)
    for name in ("predict", "default_prediction"):
        if getattr(kind, name, None) is not getattr(AlgoBase, name):
            return None
    if {"estimate", "predict", "default_prediction"} & vars(algo).keys():
        return None
    build = RULES.get(getattr(kind, "estimate", None))
    trainset = algo.trainset
    known = (trainset.n_users, trainset.ur), (trainset.n_items, trainset.ir)
    if build is None or not all(all(map(ids.__contains__, range(n))) for n, ids in known):
        return None
    rule = build(algo)
    return rule if getattr(rule, "is_exact", True) else None
