"""An algorithm of Surprise as a model of folds.

Every worker of a search imports this, so that it needs no more than an algorithm does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recsys_ndcg.surprise.traps import refuse_diverged

if TYPE_CHECKING:
    from recsys_ndcg.catalogue import Candidates
    from recsys_ndcg.convention import Convention


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

    def refuse_diverged(self, predictions: list[Any]) -> None:
        """Refuse it if its predictions are no numbers unclipped."""
        refuse_diverged(self._algo, predictions)

    def candidates(self, trainset: Any, convention: Convention) -> Candidates:
        """Return its estimates of all items that a user has not rated."""
        from recsys_ndcg.surprise.catalogue import candidates_of  # noqa: PLC0415 - see above

        return candidates_of(self._algo, trainset, convention=convention)
