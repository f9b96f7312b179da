"""Algorithms of Surprise as models of folds."""

from __future__ import annotations

import copy
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from surprise import AlgoBase

from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.surprise.catalogue import build_candidates
from recsys_ndcg.surprise.traps import make_diverged_error

if TYPE_CHECKING:
    from recsys_ndcg.catalogue import Candidates


class Algorithm:
    """An algorithm of Surprise, or an object with the same methods, as a model of folds.

    Parameters
    ----------
    algo : surprise.AlgoBase
        It is fitted, not copied.
    """

    returns_lists = False  # but estimates

    def __init__(self, algo: Any) -> None:
        self._algo = algo
        self._diverged_for: Any = None  # the inner id of a user

    def fit(self, trainset: Any) -> None:
        """Fit the algorithm."""
        self._algo.fit(trainset)

    def test(self, testset: list[Any]) -> Any:
        """Return the predictions of a testset; note whose estimates clipping hides."""
        algo = self._algo
        # an overridden predict is responsible for its own numbers
        is_overridden = getattr(type(algo), "predict", None) is not AlgoBase.predict
        estimate = getattr(algo, "estimate", None)
        if estimate is None or is_overridden or {"predict", "estimate"} & vars(algo).keys():
            return algo.test(testset)

        # as often as Surprise calls it: it may print or count
        def estimate_and_check(user: Any, item: Any) -> Any:
            estimated = estimate(user, item)
            value = estimated[0] if isinstance(estimated, tuple) else estimated
            if not value < math.inf and self._diverged_for is None:
                self._diverged_for = user
            return estimated

        algo.estimate = estimate_and_check
        try:
            return algo.test(testset)
        finally:
            del algo.estimate

    def check_not_diverged(self) -> None:
        """Raise if an estimate that clipping turned into the top rating is NaN or infinite.

        Raises
        ------
        DivergedModelError
            The message has the user of the first one.
        """
        user = self._diverged_for
        if user is not None:
            raw = user if isinstance(user, str) else self._algo.trainset.to_raw_uid(user)
            raise make_diverged_error(type(self._algo).__name__, raw)

    def candidates(self, trainset: Any, convention: Convention) -> Candidates:
        """Return the estimates of all items that a user has not rated."""
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
        predictions = list(super().test(list(testset)))
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
