"""Ranking metrics of a list of predictions, in the manner of ``surprise.accuracy``.

Surprise's own rmse, mae, mse and fcp are here too, so that only an import changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surprise.accuracy import fcp, mae, mse, rmse

from recsys_ndcg.evaluation import measured
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.surprise.library import complete
from recsys_ndcg.surprise.printing import say
from recsys_ndcg.surprise.tolerance import tolerant_plan
from recsys_ndcg.surprise.traps import rated_lists

if TYPE_CHECKING:
    from recsys_ndcg.convention.convention import Convention

__all__ = ["ap", "f1", "fcp", "hit", "mae", "mse", "ndcg", "precision", "recall", "rmse", "rr"]


def ndcg(
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
        The predictions cannot be ranked: they are of an anti-testset, of one item per user, NaN.

    Warns
    -----
    DataWarning
        All estimates are one value, as those of a model that diverged, and as for `evaluate`.

    Examples
    --------
    >>> ann = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]
    >>> value = ndcg(ann, k=2)
    NDCG@2: 0.8129
    """
    return _mean("ndcg", predictions, k, verbose, threshold, convention)


def precision(
    predictions: Any,
    k: int | None = 10,
    verbose: bool = True,  # noqa: FBT001, FBT002 - as in Surprise
    *,
    threshold: float | None = None,
    convention: Convention | str | None = None,
) -> float:
    """Compute precision@k: the share of relevant items among the first k.

    Parameters, result and errors as those of `ndcg`.

    Examples
    --------
    >>> ann = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]
    >>> value = precision(ann, k=2, threshold=4)
    PRECISION@2: 0.5000
    """
    return _mean("precision", predictions, k, verbose, threshold, convention)


def recall(
    predictions: Any,
    k: int | None = 10,
    verbose: bool = True,  # noqa: FBT001, FBT002 - as in Surprise
    *,
    threshold: float | None = None,
    convention: Convention | str | None = None,
) -> float:
    """Compute recall@k: the share of the relevant items that are among the first k.

    Parameters, result and errors as those of `ndcg`.

    Examples
    --------
    >>> ann = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]
    >>> value = recall(ann, k=2, threshold=4)
    RECALL@2: 0.5000
    """
    return _mean("recall", predictions, k, verbose, threshold, convention)


def ap(
    predictions: Any,
    k: int | None = 10,
    verbose: bool = True,  # noqa: FBT001, FBT002 - as in Surprise
    *,
    threshold: float | None = None,
    convention: Convention | str | None = None,
) -> float:
    """Compute average precision at k, whose mean over users is MAP@k.

    Parameters, result and errors as those of `ndcg`.

    Examples
    --------
    >>> ann = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]
    >>> value = ap(ann, k=2, threshold=4)
    AP@2: 0.5000
    """
    return _mean("ap", predictions, k, verbose, threshold, convention)


def rr(
    predictions: Any,
    k: int | None = 10,
    verbose: bool = True,  # noqa: FBT001, FBT002 - as in Surprise
    *,
    threshold: float | None = None,
    convention: Convention | str | None = None,
) -> float:
    """Compute reciprocal rank at k, whose mean over users is MRR@k.

    Parameters, result and errors as those of `ndcg`.

    Examples
    --------
    >>> ann = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]
    >>> value = rr(ann, k=2, threshold=4)
    RR@2: 1.0000
    """
    return _mean("rr", predictions, k, verbose, threshold, convention)


def hit(
    predictions: Any,
    k: int | None = 10,
    verbose: bool = True,  # noqa: FBT001, FBT002 - as in Surprise
    *,
    threshold: float | None = None,
    convention: Convention | str | None = None,
) -> float:
    """Compute hit rate at k: the share of users with a relevant item among the first k.

    Parameters, result and errors as those of `ndcg`.

    Examples
    --------
    >>> ann = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]
    >>> value = hit(ann, k=2, threshold=4)
    HIT@2: 1.0000
    """
    return _mean("hit", predictions, k, verbose, threshold, convention)


def f1(
    predictions: Any,
    k: int | None = 10,
    verbose: bool = True,  # noqa: FBT001, FBT002 - as in Surprise
    *,
    threshold: float | None = None,
    convention: Convention | str | None = None,
) -> float:
    """Compute F1@k: the harmonic mean of precision@k and recall@k.

    Parameters, result and errors as those of `ndcg`.

    Examples
    --------
    >>> ann = [("ann", "a", 5, 4.5, {}), ("ann", "b", 2, 3.0, {}), ("ann", "c", 4, 2.0, {})]
    >>> value = f1(ann, k=2, threshold=4)
    F1@2: 0.5000
    """
    return _mean("f1", predictions, k, verbose, threshold, convention)


def _mean(  # noqa: PLR0913, PLR0917 - those of each metric
    name: str,
    predictions: Any,
    k: int | None,
    verbose: bool,  # noqa: FBT001
    threshold: float | None,
    convention: Convention | str | None,
) -> float:
    metric = METRICS[name](k)
    plan = tolerant_plan(metric, threshold=threshold, convention=convention)
    report = measured(rated_lists(predictions, plan.duplicates), plan)
    value = float(report.mean.iloc[0])
    if verbose:
        say(f"{str(metric).upper()}: {value:1.4f}")
    return value


complete(__name__, "surprise.accuracy")
