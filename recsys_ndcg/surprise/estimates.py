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

from recsys_ndcg.arrays import Floats, Ids, Positions
from recsys_ndcg.catalogue import Training
from recsys_ndcg.errors import warn
from recsys_ndcg.lazy import lazy
from recsys_ndcg.surprise.formulas import (
    Biases,
    CoClusters,
    Factors,
    ImplicitFactors,
    Inner,
    Items,
    Mask,
    MostPopular,
    Popularity,
    Rule,
    Slopes,
)
from recsys_ndcg.surprise.neighbours import (
    BaselineNeighbours,
    CentredNeighbours,
    Neighbours,
    StandardisedNeighbours,
)
from recsys_ndcg.surprise.traps import refuse_infinite

if TYPE_CHECKING:
    Block = tuple[Floats, Mask | None]

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
    KNNWithZScore.estimate: StandardisedNeighbours,
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

    Attributes
    ----------
    vectorised : bool
        Whether the estimates are computed over arrays. This is so for the algorithms that come
        with Surprise and are not random, with `estimate`, `predict` and `default_prediction` as
        they are there, if 50 pairs drawn at random get what `predict` gives them. For all others
        `predict` is called for every pair.
    n_items : int
        How many items the trainset has.

    Warns
    -----
    DataWarning
        The drawn pairs do not get what `predict` gives them.
    """

    vectorised: bool
    n_items: int

    def __init__(self, algo: Any) -> None:
        self.n_items = int(algo.trainset.n_items)
        self._n_users = int(algo.trainset.n_users)
        self._name = type(algo).__name__
        self._algo = algo
        rule = _rule_of(algo)
        self._rule = rule if rule is not None and self._agrees(rule) else None
        self.vectorised = self._rule is not None

    def block(self, users: Inner) -> Block:
        """Return some users' estimates for all items.

        Parameters
        ----------
        users : int array, shape (n,)
            Inner ids; -1 for a user that the trainset does not know.

        Returns
        -------
        estimates : float64 array, shape (n, n_items)
            In the order of the inner ids of the items, new and the caller's own.
        impossible : bool array of the same shape, or None
            Where `predict` says that the estimate was impossible; None for nowhere.
        """
        users = np.asarray(users, dtype=np.intp)
        known = users >= 0
        if self._rule is None:
            return self._predicted(users, slice(None))
        if known.all():
            return self._rule.block(users, slice(None))
        values = np.empty((len(users), self.n_items))
        impossible = np.zeros(values.shape, dtype=bool)
        values[known], where = self._rule.block(users[known], slice(None))
        if where is not None:
            impossible[known] = where
        values[~known], impossible[~known] = self._unknown_user
        return values, impossible if impossible.any() else None

    def of_all(self, users: Ids, places: Positions) -> Block:
        """Return some users' estimates for all items, as `block` does, by their raw ids, too.

        An algorithm of one's own may know users that the trainset does not.

        Raises
        ------
        DivergedModelError
            One is NaN or infinite.
        """
        if not self.vectorised:
            return self.of_raw(users, self._raw_ids[1][:-1])
        values, impossible = self.block(places)
        refuse_infinite(self._name, users, values)
        return values, impossible

    def of_raw(self, users: Ids, items: Ids) -> Block:
        """Return what `predict` says of raw ids.

        Raises
        ------
        DivergedModelError
            One is NaN or infinite.
        """
        values, impossible = self._predict(users, items)
        refuse_infinite(self._name, users, values)
        return values, impossible

    def _predict(self, users: Ids, items: Ids) -> Block:
        """Return what ``algo.predict(..., clip=False)`` says of raw ids."""
        values = np.empty((len(users), len(items)))
        impossible = np.zeros(values.shape, dtype=bool)
        for row, user in enumerate(users.tolist()):
            for column, item in enumerate(items.tolist()):
                prediction = self._algo.predict(user, item, clip=False)
                values[row, column] = prediction.est
                impossible[row, column] = (prediction.details or {}).get("was_impossible", False)
        return values, impossible if impossible.any() else None

    def _predicted(self, users: Inner, items: Items) -> Block:
        """Return the same for inner ids, -1 for one that the trainset does not know."""
        raw_users, raw_items = self._raw_ids
        raw = raw_items[:-1][items] if isinstance(items, slice) else raw_items[items]
        return self._predict(raw_users[users], raw)

    @lazy
    def _raw_ids(self) -> tuple[Ids, Ids]:
        """Those of users and of items, each with one at the end that cannot exist, for -1."""
        training, stranger = Training(self._algo.trainset), np.array([object()])
        return np.append(training.users, stranger), np.append(training.items, stranger)

    @lazy
    def _unknown_user(self) -> tuple[Floats, Mask]:
        """An unknown user's estimates for all items, and where they are impossible."""
        values, where = self._predicted(np.array([-1]), slice(None))
        return values[0], np.zeros(self.n_items, dtype=bool) if where is None else where[0]

    def _agrees(self, rule: Rule) -> bool:
        """Compare pairs drawn at random with predict, and warn if any differs."""
        if not (self._n_users and self.n_items):
            return True
        rng = np.random.default_rng(0)
        worst = 0.0
        for n_users, n_items in _CHECKED:
            users = rng.integers(self._n_users, size=n_users)
            items = rng.integers(self.n_items, size=n_items)
            worst = max(worst, _difference(rule.block(users, items), self._predicted(users, items)))
        if worst > 0.0:
            warn(
                f"{self._name}: computed over arrays, some estimates differ from those of "
                f"predict() by up to {worst:.3g}. All are taken from predict(), pair by pair, "
                "which is slow."
            )
        return worst == 0.0


def _difference(one: Block, other: Block) -> float:
    """Return the largest difference above the tolerance, 0 if there is none."""
    (got, got_mask), (true, true_mask) = one, other
    with np.errstate(invalid="ignore"):
        difference = np.abs(got - true)
        same = (difference <= _TOLERANCE * (1.0 + np.abs(true))) | (got == true)
    same |= np.isnan(got) & np.isnan(true)
    if not np.array_equal(_filled(got_mask, same), _filled(true_mask, same)):
        return np.inf
    return float(np.nan_to_num(difference[~same], nan=np.inf).max(initial=0.0))


def _filled(mask: Mask | None, like: Mask) -> Mask:
    return np.zeros(like.shape, dtype=bool) if mask is None else mask


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
