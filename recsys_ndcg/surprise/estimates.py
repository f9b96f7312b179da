"""Every estimate that a fitted Surprise algorithm would give, in blocks of users."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from surprise import (
    NMF,
    SVD,
    AlgoBase,
    BaselineOnly,
    CoClustering,
    KNNBaseline,
    KNNBasic,
    KNNWithMeans,
    KNNWithZScore,
    SlopeOne,
    SVDpp,
)

from recsys_ndcg.arrays import Flags, Floats, Ids, Positions
from recsys_ndcg.errors import warn
from recsys_ndcg.lazy import lazy
from recsys_ndcg.surprise.formulas import (
    BaselineNeighbours,
    Biases,
    CentredNeighbours,
    CoClusters,
    Factors,
    ImplicitFactors,
    MostPopular,
    Neighbours,
    Popularity,
    Rule,
    Slopes,
)
from recsys_ndcg.surprise.traps import refuse_infinite

if TYPE_CHECKING:
    from recsys_ndcg.catalogue import Training

#: By the function that computes the estimate, so that a subclass with another one is not taken
#: for its parent.
RULES: dict[Any, Callable[[Any], Rule]] = {
    BaselineOnly.estimate: Biases,
    SVD.estimate: Factors,
    NMF.estimate: Factors,
    SVDpp.estimate: ImplicitFactors,
    SlopeOne.estimate: Slopes,
    CoClustering.estimate: CoClusters,
    KNNBasic.estimate: Neighbours,
    KNNWithMeans.estimate: CentredNeighbours,
    KNNWithZScore.estimate: CentredNeighbours,
    KNNBaseline.estimate: BaselineNeighbours,
    MostPopular.estimate: Popularity,
}
_CHECKED = [(5, 2)] * 5  # users by items, each drawn anew: 50 pairs
_TOLERANCE = 1e-9


class Estimates:
    """Every estimate that a fitted algorithm would give, unclipped, in blocks of users.

    Several threads may ask for blocks at once, as long as `vectorised` is true; otherwise it is
    the algorithm that has to bear it.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted. Not copied: fitting it again leaves this object behind.
    training : Training
        What it was fitted on.

    Attributes
    ----------
    vectorised : bool
        Whether the estimates are computed over arrays. This is so for the algorithms that come
        with Surprise and are not random, with `estimate`, `predict` and `default_prediction` as
        they are there, if 50 pairs drawn at random get what `predict` gives them. For all others
        `predict` is called for every pair.

    Warns
    -----
    DataWarning
        The drawn pairs do not get what `predict` gives them.
    """

    vectorised: bool

    def __init__(self, algo: Any, training: Training) -> None:
        self._algo = algo
        self._name = type(algo).__name__
        self._users, self._items = training.users, training.items
        rule = _rule_of(algo)
        self._rule = rule if rule is not None and self._agrees(rule) else None
        self.vectorised = self._rule is not None

    def of_all(self, users: Ids, places: Positions) -> tuple[Floats, Flags | None]:
        """Return some users' estimates for all items.

        An algorithm of one's own may know users that the trainset does not.

        Parameters
        ----------
        users : array, shape (n,)
            Raw ids.
        places : int array, shape (n,)
            Their inner ids; -1 for a user that the trainset does not know.

        Returns
        -------
        estimates : float64 array, shape (n, n_items)
            In the order of the inner ids of the items, new and the caller's own.
        impossible : bool array of the same shape, or None
            Where `predict` says that the estimate was impossible; None for nowhere.

        Raises
        ------
        DivergedModelError
            One is NaN or infinite.
        """
        if self._rule is None:
            return self.of_raw(users, self._items)
        known = places >= 0
        values, impossible = self._rule.block(places[known], slice(None))
        if not known.all():
            table = np.empty((len(users), len(self._items)))
            where = np.zeros(table.shape, dtype=bool)
            table[known], where[known] = values, False if impossible is None else impossible
            table[~known], where[~known] = self._of_stranger
            values, impossible = table, where
        refuse_infinite(self._name, users, values)
        return values, impossible

    def of_raw(self, users: Ids, items: Ids) -> tuple[Floats, Flags]:
        """Return what `predict` says of raw ids.

        Raises
        ------
        DivergedModelError
            One is NaN or infinite.
        """
        values, impossible = self._predict(users, items)
        refuse_infinite(self._name, users, values)
        return values, impossible

    def _predict(self, users: Ids, items: Ids) -> tuple[Floats, Flags]:
        """Return what ``algo.predict(..., clip=False)`` says of raw ids."""
        values = np.empty((len(users), len(items)))
        impossible = np.zeros(values.shape, dtype=bool)
        for row, user in enumerate(users.tolist()):
            for column, item in enumerate(items.tolist()):
                prediction = self._algo.predict(user, item, clip=False)
                values[row, column] = prediction.est
                impossible[row, column] = (prediction.details or {}).get("was_impossible", False)
        return values, impossible

    @lazy
    def _of_stranger(self) -> tuple[Floats, Flags]:
        """The estimates of a user that cannot exist, for all items."""
        return self._predict(np.array([object()]), self._items)

    def _agrees(self, rule: Rule) -> bool:
        """Compare pairs drawn at random with predict, and warn if any differs."""
        if not (len(self._users) and len(self._items)):
            return True
        rng = np.random.default_rng(0)
        worst = 0.0
        for n_users, n_items in _CHECKED:
            users = rng.integers(len(self._users), size=n_users)
            items = rng.integers(len(self._items), size=n_items)
            got, where = rule.block(users, items)
            true, impossible = self._predict(self._users[users], self._items[items])
            with np.errstate(invalid="ignore"):
                off = np.abs(got - true)
            off[np.isclose(got, true, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)] = 0.0
            off[impossible != (where if where is not None else False)] = np.inf
            worst = max(worst, float(np.nan_to_num(off, nan=np.inf, posinf=np.inf).max()))
        if worst > 0.0:
            warn(
                f"{self._name}: computed over arrays, some estimates differ from those of "
                f"predict() by up to {worst:.3g}. All are taken from predict(), pair by pair, "
                "which is slow."
            )
        return worst == 0.0


def _rule_of(algo: Any) -> Rule | None:
    """Return the rule for the algorithm, None if there is none that it is sure to follow."""
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
    return rule if getattr(rule, "suits", True) else None
