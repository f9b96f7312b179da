"""Metrics for training loops: a Metric of torchmetrics, also for Lightning; a callback of Keras."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import require_libraries
from recsys_ndcg.scoring import Cutoffs, Metrics

if TYPE_CHECKING:
    from recsys_ndcg.integrations.keras import RankingCallback
    from recsys_ndcg.integrations.torchmetrics import RankingMetric


def torchmetric(
    metrics: Metrics,
    *,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
    repeated: str = "raise",
) -> RankingMetric:
    """Make a metric for torchmetrics and Lightning, which keeps sums instead of all rows.

    Its value is the mean over users of `recsys_ndcg.evaluate`, up to the last digits. Users whose
    score is undefined are left out of the mean; it is NaN if all are.

    Parameters
    ----------
    metrics : name or metric object, or several
        ``"ndcg@10"``; with several, the value is a dict, for ``self.log_dict``.
    k, threshold, convention
        As for `recsys_ndcg.evaluate`.
    repeated : {'raise', 'count'}
        What to do with a user of an earlier batch, or of another process. By default raise an
        error, as users were probably split between batches: 8 bytes per user are kept for it. With
        'count', a user who comes again counts as another user, and only two sums per metric are
        kept.

    Returns
    -------
    RankingMetric
        A ``torchmetrics.Metric``. All rows of a user must be in one call of ``update(preds,
        target, indexes)``: tensors of equal shape with the estimate, the grade (NaN means
        unlabelled) and the user's number of each row. ``compute()`` returns the mean.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        An option cannot be read.
    MissingExtraError
        torchmetrics is not installed.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> import torch
    >>> import torchmetrics
    >>> metric = rn.integrations.torchmetric("ndcg@10")
    >>> for users in ([7, 7, 7], [8, 8, 9]):
    ...     metric.update(torch.tensor([4.5, 3, 2]), torch.tensor([5, 2, 4]), torch.tensor(users))
    >>> isinstance(metric, torchmetrics.Metric), round(metric.compute().item(), 3)
    (True, 0.988)
    """
    with require_libraries("torchmetrics", job="A metric for torchmetrics", extra="torch"):
        from recsys_ndcg.integrations.torchmetrics import RankingMetric  # noqa: PLC0415 - an extra
    options: dict[str, Any] = {"k": k, "threshold": threshold, "convention": convention}
    return RankingMetric(metrics, repeated, **options)


def keras_callback(  # noqa: PLR0913 - the data and the options of evaluate
    metrics: Metrics,
    x: Any,
    true: Any,
    users: Any,
    *,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
) -> RankingCallback:
    """Make a callback for Keras that adds ranking metrics of a validation set to every epoch.

    Parameters
    ----------
    metrics : name or metric object, or several
        ``"ndcg@10"`` is ``"val_ndcg@10"`` in the history.
    x : what ``model.predict`` takes
        The validation rows.
    true, users : columns, shape (n_rows,)
        The grade and the user of each row.
    k, threshold, convention
        As for `recsys_ndcg.evaluate`.

    Returns
    -------
    RankingCallback
        Put it before the callbacks that read it: ``callbacks=[rn.integrations.keras_callback(...),
        EarlyStopping("val_ndcg@10", mode="max")]``.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        An option cannot be read.
    MissingExtraError
        Keras 3 is not installed.

    Examples
    --------
    >>> import keras
    >>> import numpy as np
    >>> import recsys_ndcg as rn
    >>> rows = np.arange(24.0).reshape(12, 2) % 5
    >>> grades, users = rows[:, 0], [1] * 6 + [2] * 6
    >>> model = keras.Sequential([keras.layers.Dense(1)])
    >>> model.compile(loss="mse")
    >>> ranked = rn.integrations.keras_callback("ndcg@5", rows, grades, users)
    >>> history = model.fit(rows, grades, epochs=2, verbose=0, callbacks=[ranked])
    >>> list(history.history), len(history.history["val_ndcg@5"])
    (['loss', 'val_ndcg@5'], 2)
    """
    with require_libraries("keras", job="A callback for Keras", extra="keras"):
        from recsys_ndcg.integrations.keras import RankingCallback  # noqa: PLC0415 - an extra
    options: dict[str, Any] = {"k": k, "threshold": threshold, "convention": convention}
    return RankingCallback(metrics, x, true, users, **options)
