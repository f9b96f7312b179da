"""Algorithms of Surprise as models of folds.

Workers import this module, so it needs no more than an algorithm does.
"""

from __future__ import annotations

import copy
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
from surprise import AlgoBase

from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.surprise.traps import make_diverged_error

if TYPE_CHECKING:
    from recsys_ndcg.catalogue import Candidates
    from recsys_ndcg.convention import Convention

_N_CHECKED = 20  # predictions that are made again without clipping


class Algorithm:
    """An algorithm of Surprise, or an object with the same methods, as a model of folds.

    Parameters
    ----------
    algo : surprise.AlgoBase
        It is fitted, not copied.
    """

    def __init__(self, algo: Any) -> None:
        self._algo = algo

    def fit(self, trainset: Any) -> None:
        """Fit the algorithm."""
        self._algo.fit(trainset)

    def test(self, testset: list[Any]) -> Any:
        """Return the predictions of a testset."""
        return self._algo.test(testset)

    def check_not_diverged(self, predictions: list[Any]) -> None:
        """Raise if predictions at the top of the scale are NaN or infinite without clipping.

        Raises
        ------
        DivergedModelError
            The message has the user of the first one.
        """
        algo = self._algo
        # an overridden predict is responsible for its own numbers
        if getattr(type(algo), "predict", None) is not AlgoBase.predict or "predict" in vars(algo):
            return
        top = algo.trainset.rating_scale[1]
        suspects = [one for one in predictions if one[3] == top][:_N_CHECKED]
        state = np.random.get_state()  # noqa: NPY002 - the generator of Surprise
        try:
            unclipped = [algo.predict(*one[:2], clip=False).est for one in suspects]
        finally:
            np.random.set_state(state)  # noqa: NPY002
        for one, estimate in zip(suspects, unclipped, strict=True):
            if not math.isfinite(estimate):
                raise make_diverged_error(type(algo).__name__, one[0])

    def candidates(self, trainset: Any, convention: Convention) -> Candidates:
        """Return the estimates of all items that a user has not rated."""
        from recsys_ndcg.surprise.catalogue import build_candidates  # noqa: PLC0415 - see above

        return build_candidates(self._algo, trainset, convention=convention)


class CheckedAlgorithm(Algorithm):
    """An algorithm that gets a copy of the split, and whose predictions are checked.

    It may change the copy without consequences for other models.
    """

    def fit(self, trainset: Any) -> None:
        """Fit the algorithm on a trainset with lists of its own."""
        own = copy.copy(trainset)
        for name in ("ur", "ir"):
            lists = copy.copy(getattr(trainset, name))  # it may be a defaultdict
            lists.update((inner, list(pairs)) for inner, pairs in lists.items())
            setattr(own, name, lists)
        self._algo.fit(own)
        if getattr(self._algo, "trainset", None) is None:  # Surprise reads it
            self._algo.trainset = own

    def test(self, testset: list[Any]) -> list[Any]:
        """Return the predictions after a check that they are of the pairs of the testset.

        Raises
        ------
        InvalidInputError
            A pair is missing, or was not requested.
        """
        predictions = list(self._algo.test(list(testset)))
        rows, wanted = ([tuple(row[:3]) for row in each] for each in (predictions, testset))
        if rows == wanted or (found := Counter(rows)) == (requested := Counter(wanted)):
            return predictions
        missing, more = requested - found, found - requested
        first = quote(next(iter(missing or more)))
        fault = "is missing" if missing else "was not requested"
        msg = (
            f"test() returned predictions of other pairs than requested: {missing.total()} of "
            f"{requested.total()} (user, item, rating) are missing, {more.total()} are others; "
            f"{first} {fault}."
        )
        raise InvalidInputError(msg)
