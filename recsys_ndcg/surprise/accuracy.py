"""Ranking metrics of a list of predictions, in the manner of ``surprise.accuracy``.

Surprise's own rmse, mae, mse and fcp are here too, so that only an import changes.
"""

from __future__ import annotations

from typing import Any, Protocol

from surprise.accuracy import fcp, mae, mse, rmse

from recsys_ndcg.convention import Convention
from recsys_ndcg.evaluation import measured
from recsys_ndcg.folds import rated_lists
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.scoring import Plan
from recsys_ndcg.surprise.library import complete, say

__all__ = ["ap", "f1", "fcp", "hit", "mae", "mse", "ndcg", "precision", "recall", "rmse", "rr"]


class AccuracyFunction(Protocol):
    """A ranking metric of predictions, called as those of ``surprise.accuracy`` are."""

    def __call__(
        self,
        predictions: Any,
        k: int | None = 10,
        verbose: bool = True,  # noqa: FBT001, FBT002 - as in Surprise
        *,
        threshold: float | None = None,
        convention: Convention | str | None = None,
    ) -> float:
        """Return the mean over users."""


def _function_of(name: str, what: str, value: str) -> AccuracyFunction:
    """Return the function of a metric, with its own first line and example in the docstring."""

    def function(
        predictions: Any,
        k: int | None = 10,
        verbose: bool = True,  # noqa: FBT001, FBT002 - as in Surprise
        *,
        threshold: float | None = None,
        convention: Convention | str | None = None,
    ) -> float:
        """Compute NDCG@k of the users' test ratings, averaged over users.

        Parameters
        ----------
        predictions : list of surprise.Prediction
            As ``algo.test(testset)`` returns it; or in any form that `recsys_ndcg.evaluate` takes.
        k : int, optional
            The cutoff; None for whole lists.
        verbose : bool
            Whether to print the value.
        threshold : float, optional
            From which true rating an item is relevant; binary metrics and gains need it.
        convention : Convention or str, optional
            Every other choice that moves the number, or a library's name; estimates are equal to at
            least 1e-9.

        Returns
        -------
        float
            In [0, 1]; NaN if no user has a score.

        Raises
        ------
        InvalidInputError
            The predictions cannot be ranked: they are of an anti-testset, of one item per user,
            NaN.

        Warns
        -----
        DataWarning
            All estimates are one value, as those of a model that diverged, and as for `evaluate`.

        Examples
        --------
        >>> ann = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]
        >>> value = ndcg(ann, k=2, threshold=4)
        NDCG@2: 0.8129
        """
        metric = METRICS[name](k)
        plan = Plan.of(metric, k=None, threshold=threshold, convention=convention).tolerant()
        report = measured(rated_lists(predictions, plan.duplicates), plan)
        found = float(report.mean.iloc[0])
        if verbose:
            say(f"{str(metric).upper()}: {found:1.4f}")
        return found

    _, parameters = (function.__doc__ or "\n").split("\n", 1)
    parameters = parameters.replace("NDCG@2: 0.8129", f"{name.upper()}@2: {value}")
    function.__doc__ = f"Compute {what}.\n{parameters.replace('ndcg(', f'{name}(')}"
    function.__name__ = function.__qualname__ = name
    return function


ndcg = _function_of("ndcg", "NDCG@k of the users' test ratings, averaged over users", "0.8129")
precision = _function_of(
    "precision", "precision@k: the share of relevant items among the first k", "0.5000"
)
recall = _function_of(
    "recall", "recall@k: the share of the relevant items that are among the first k", "0.5000"
)
ap = _function_of("ap", "average precision at k, whose mean over users is MAP@k", "0.5000")
rr = _function_of("rr", "reciprocal rank at k, whose mean over users is MRR@k", "1.0000")
hit = _function_of(
    "hit", "hit rate at k: the share of users with a relevant item among the first k", "1.0000"
)
f1 = _function_of("f1", "F1@k: the harmonic mean of precision@k and recall@k", "0.5000")

complete(__name__, "surprise.accuracy")
