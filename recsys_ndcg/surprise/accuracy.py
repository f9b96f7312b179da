"""Ranking metrics of a list of predictions, with the interface of ``surprise.accuracy``.

Surprise's rmse, mae, mse and fcp are here too, so a script changes only its import.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, Literal, ParamSpec

from surprise.accuracy import fcp, mae, mse, rmse

from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.evaluation import evaluate_in_memory
from recsys_ndcg.folds import build_rated_lists
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.scoring import Plan
from recsys_ndcg.surprise.library import add_missing_names, print_line

P = ParamSpec("P")

__all__ = ["ap", "f1", "fcp", "hit", "mae", "mse", "ndcg", "precision", "recall", "rmse", "rr"]


def ndcg(
    predictions: Any,
    k: int | Literal["default"] | None = "default",
    verbose: bool = True,  # noqa: FBT001, FBT002 - as in Surprise
    *,
    threshold: float | None = None,
    convention: ConventionLike = None,
) -> float:
    """Compute NDCG@k of the users' test ratings, averaged over users.

    Parameters
    ----------
    predictions : list of surprise.Prediction
        What ``algo.test(testset)`` returns, or any other input of `recsys_ndcg.evaluate`.
    k : int, optional
        The cutoff; None for whole lists. By default 10, or the cutoff of the library in
        `convention`.
    verbose : bool
        Whether to print the value.
    threshold : float, optional
        Ratings at or above it count as relevant; binary metrics and gains need it.
    convention : Convention or str, optional
        All other choices, or a library's name. Estimates that differ by less than 1e-9 are tied.

    Returns
    -------
    float
        In [0, 1]; NaN if no user has a score.

    Raises
    ------
    InvalidInputError
        The predictions cannot be ranked: they are NaN, from an anti-testset, or one per user.

    Warns
    -----
    DataWarning
        As for `evaluate`; for example if all estimates are equal because the model diverged.

    Examples
    --------
    >>> ann = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]
    >>> value = ndcg(ann, k=2, threshold=4)
    NDCG@2: 0.8129
    """
    return _compute("ndcg", predictions, k, verbose, threshold=threshold, convention=convention)


def _compute(name: str, predictions: Any, k: Any, verbose: bool, **choices: Any) -> float:  # noqa: FBT001
    if isinstance(k, str) and k == "default":
        [k], _ = Plan.complete_options("default", None, choices["convention"])
    plan = Plan.of(METRICS[name](k), **choices).with_tie_tolerance()
    report = evaluate_in_memory(build_rated_lists(predictions, plan.duplicates), plan)
    value = float(report.mean.iloc[0])
    if verbose:
        print_line(f"{plan.names[0].upper()}: {value:1.4f}")
    return value


def _adapt(pattern: Callable[P, float], name: str, what: str, value: str) -> Callable[P, float]:
    """Return the same function for another metric, with the docstring adapted."""

    @wraps(pattern)
    def function(*given: P.args, **named: P.kwargs) -> float:
        bound = signature(pattern).bind(*given, **named)
        bound.apply_defaults()
        return _compute(name, **bound.arguments)

    _, parameters = (pattern.__doc__ or "\n").split("\n", 1)
    parameters = parameters.replace("NDCG@2: 0.8129", f"{name.upper()}@2: {value}")
    function.__doc__ = f"Compute {what}.\n{parameters.replace('ndcg(', f'{name}(')}"
    function.__name__ = function.__qualname__ = name
    return function


precision = _adapt(
    ndcg, "precision", "precision@k: the share of relevant items among the first k", "0.5000"
)
recall = _adapt(
    ndcg, "recall", "recall@k: the share of the relevant items that are among the first k", "0.5000"
)
ap = _adapt(ndcg, "ap", "average precision at k, whose mean over users is MAP@k", "0.5000")
rr = _adapt(ndcg, "rr", "reciprocal rank at k, whose mean over users is MRR@k", "1.0000")
hit = _adapt(
    ndcg, "hit", "hit rate at k: the share of users with a relevant item in the top k", "1.0000"
)
f1 = _adapt(ndcg, "f1", "F1@k: the harmonic mean of precision@k and recall@k", "0.5000")

add_missing_names(__name__, "surprise.accuracy")
