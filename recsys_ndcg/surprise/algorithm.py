"""An algorithm of Surprise as a model of folds.

Every worker of a search imports this, so that it needs no more than an algorithm does.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from surprise import AlgoBase

from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.surprise.traps import diverged_error

if TYPE_CHECKING:
    from recsys_ndcg.catalogue import Candidates
    from recsys_ndcg.convention import Convention

_ENOUGH = 20  # predictions that are looked at again


class Algorithm:
    """An algorithm of Surprise, or one of the same methods, as a model of folds.

    Parameters
    ----------
    algo : surprise.AlgoBase
        Fitted by this.
    """

    def __init__(self, algo: Any) -> None:
        self._algo = algo

    def fit(self, trainset: Any) -> None:
        """Fit the algorithm."""
        self._algo.fit(trainset)

    def test(self, testset: list[Any]) -> Any:
        """Return its predictions of a testset."""
        return self._algo.test(testset)

    def check_not_diverged(self, predictions: list[Any]) -> None:
        """Refuse a model whose predictions at the top of the scale are no numbers unclipped.

        Raises
        ------
        DivergedModelError
            The first such prediction.
        """
        algo = self._algo
        # an algorithm with a predict of its own answers for what it says
        if getattr(type(algo), "predict", None) is not AlgoBase.predict or "predict" in vars(algo):
            return
        top = algo.trainset.rating_scale[1]
        suspects = [one for one in predictions if one[3] == top][:_ENOUGH]
        drawn = np.random.get_state()  # noqa: NPY002 - what an algorithm of Surprise draws from
        try:
            unclipped = [algo.predict(*one[:2], clip=False).est for one in suspects]
        finally:
            np.random.set_state(drawn)  # noqa: NPY002
        for one, estimate in zip(suspects, unclipped, strict=True):
            if not math.isfinite(estimate):
                raise diverged_error(type(algo).__name__, one[0])

    def candidates(self, trainset: Any, convention: Convention) -> Candidates:
        """Return its estimates of all items that a user has not rated."""
        from recsys_ndcg.surprise.catalogue import candidates_of  # noqa: PLC0415 - see above

        return candidates_of(self._algo, trainset, convention=convention)


class CheckedAlgorithm(Algorithm):
    """An algorithm that gets its own copy of the split, and whose predictions are checked.

    It may change the copy: the split itself is that of other models, too, and what is measured.
    """

    def fit(self, trainset: Any) -> None:
        """Fit the algorithm on a trainset with lists of its own."""
        own = copy.copy(trainset)
        for name in ("ur", "ir"):
            lists = copy.copy(getattr(trainset, name))  # which may be a defaultdict
            lists.update((inner, list(pairs)) for inner, pairs in lists.items())
            setattr(own, name, lists)
        self._algo.fit(own)
        if getattr(self._algo, "trainset", None) is None:  # by which Surprise knows what is fitted
            self._algo.trainset = own

    def test(self, testset: list[Any]) -> list[Any]:
        """Return its predictions, which are of the pairs that were asked for.

        Raises
        ------
        InvalidInputError
            They are of others.
        """
        predictions = list(self._algo.test(list(testset)))
        rows, wanted = ([tuple(row[:3]) for row in each] for each in (predictions, testset))
        if rows == wanted or (told := Counter(rows)) == (asked := Counter(wanted)):
            return predictions
        missing, more = asked - told, told - asked
        first = quote(next(iter(missing or more)))
        fault = "is missing" if missing else "was not asked for"
        msg = (
            f"test() returns predictions of other pairs than asked for: {missing.total()} of "
            f"{asked.total()} (user, item, rating) are missing, {more.total()} are others; "
            f"{first} {fault}."
        )
        raise InvalidInputError(msg)
