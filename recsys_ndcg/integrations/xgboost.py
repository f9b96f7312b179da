"""Metrics for XGBoost: evaluation after each boosting round, and early stopping."""

from __future__ import annotations

from typing import Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.integrations.group_scorer import GroupScorer
from recsys_ndcg.metrics import Metric

_MAXIMISED = ("auc", "map", "ndcg", "pre")  # how a name begins; XGBoost minimises all others


class xgboost_metric(GroupScorer):  # noqa: N801 - called as a function
    """A metric for XGBoost, to watch and to stop by.

    It is the mean over groups of `recsys_ndcg.evaluate`, which XGBoost prints and keeps with six
    decimals. Groups whose score is undefined are left out of the mean.

    Parameters
    ----------
    metrics : name or metric object, or several
        ``"ndcg@10"``, ``["ndcg@10", "recall@10"]``.
    k, threshold, convention
        As for `recsys_ndcg.evaluate`.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        An option cannot be read.

    Notes
    -----
    For ``xgboost.train(custom_metric=...)`` and ``xgboost.cv(custom_metric=...)``. XGBoost
    stops early at the highest value only if a name begins with auc, map, ndcg or pre: so ap is
    called map, and recall is called map-recall. ``xgboost.XGBRanker(eval_metric=...)`` raises,
    because XGBRanker averages over rows.

    Examples
    --------
    >>> import numpy as np
    >>> import recsys_ndcg as rn
    >>> import xgboost
    >>> rows = np.arange(60.0).reshape(20, 3) % 7
    >>> data = xgboost.DMatrix(rows, rows[:, 0] // 2, qid=[1] * 10 + [2] * 10)
    >>> options = {"objective": "rank:ndcg", "disable_default_eval_metric": True}
    >>> history = {}
    >>> model = xgboost.train(
    ...     options, data, 3, evals=[(data, "train")], verbose_eval=False,
    ...     custom_metric=rn.integrations.xgboost_metric("ndcg@5"), evals_result=history,
    ... )
    >>> list(history["train"]), len(history["train"]["ndcg@5"])
    (['ndcg@5'], 3)
    """

    @property
    def __name__(self) -> str:
        """The name, which XGBRanker needs before it calls a function."""
        return ", ".join(map(name_for_xgboost, self.plan.metrics))

    def __call__(self, estimated: Any, data: Any) -> list[tuple[str, float]]:
        """Return name and mean of each metric.

        Parameters
        ----------
        estimated : array, shape (n_rows,)
            The estimates.
        data : xgboost.DMatrix
            Its grades and groups.

        Raises
        ------
        InvalidInputError
            The data has no groups; `xgboost.XGBRanker` has called; or as for
            `GroupScorer.compute_means`.
        """
        if not hasattr(data, "get_uint_info"):
            msg = (
                "XGBRanker(eval_metric=...) calls a function for each group alone, and averages "
                "over rows. Train with the same metric over groups: xgboost.train({'objective': "
                "'rank:ndcg', 'disable_default_eval_metric': True}, xgboost.DMatrix(X, y, "
                "qid=users), evals=[...], custom_metric=rn.integrations.xgboost_metric(...))."
            )
            raise InvalidInputError(msg)
        starts = data.get_uint_info("group_ptr")
        if len(starts) < 2:
            msg = (
                "The data has no groups. Write xgboost.DMatrix(X, y, qid=users), with the rows "
                "sorted by user."
            )
            raise InvalidInputError(msg)
        sizes = np.diff(starts.astype(np.int64))
        how = {"sizes": True, "weighted": len(data.get_weight()) > 0}
        means = self.compute_means(sizes, data.get_label(), estimated, **how)
        return list(zip(map(name_for_xgboost, self.plan.metrics), means.values(), strict=True))


def name_for_xgboost(metric: Metric) -> str:
    """Return a name by which XGBoost's early stopping maximises a metric, or minimises an error.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> [name_for_xgboost(one) for one in (rn.NDCG(10), rn.AP(10), rn.Recall(10), rn.RMSE())]
    ['ndcg@10', 'map@10', 'map-recall@10', 'rmse']
    """
    name = str(metric)
    if name.startswith("ap"):
        return f"m{name}"
    if not metric.greater_is_better or name.startswith(_MAXIMISED):
        return name
    return f"map-{name}"
