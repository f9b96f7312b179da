"""Metrics for LightGBM: evaluation after each boosting round, and early stopping."""

from __future__ import annotations

from typing import Any

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.integrations.group_scorer import GroupScorer


class lightgbm_metric(GroupScorer):  # noqa: N801 - called as a function
    """A metric for LightGBM, to watch and to stop by.

    It is the mean over groups of `recsys_ndcg.evaluate`. Groups whose score is undefined, such as
    groups without a relevant item, are left out of the mean; LightGBM's own ndcg counts them as 1.

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
    For ``lightgbm.train(feval=...)``, ``lightgbm.cv(feval=...)`` and
    ``lightgbm.LGBMRanker.fit(eval_metric=...)``. With ``metric="none"``, or ``metric=None`` for
    LGBMRanker, LightGBM computes no metric of its own; early stopping then sees only this one.

    Examples
    --------
    >>> import lightgbm
    >>> import numpy as np
    >>> import recsys_ndcg as rn
    >>> rows, sizes = np.arange(60.0).reshape(20, 3) % 7, [10, 10]
    >>> data = lightgbm.Dataset(rows, rows[:, 0] // 2, group=sizes)
    >>> options = {"objective": "lambdarank", "metric": "none", "verbose": -1, "min_data": 1}
    >>> history = {}
    >>> model = lightgbm.train(
    ...     options, data, 3, valid_sets=[data], feval=rn.integrations.lightgbm_metric("ndcg@5"),
    ...     callbacks=[lightgbm.record_evaluation(history)],
    ... )
    >>> list(history["training"]), len(history["training"]["ndcg@5"])
    (['ndcg@5'], 3)
    """

    def __call__(
        self, first: Any, second: Any, weight: Any = None, group: Any = None
    ) -> list[tuple[str, float, bool]]:
        """Return name, mean and whether higher is better, for each metric.

        Parameters
        ----------
        first, second : arrays, or array and lightgbm.Dataset
            Estimates and data set, from `lightgbm.train`; grades and estimates, from
            `lightgbm.LGBMRanker`, which counts the four parameters of this function.
        weight, group : arrays, optional
            From `lightgbm.LGBMRanker`: the weights of the rows, and the sizes of the groups.

        Raises
        ------
        InvalidInputError
            There are no groups, or as for `GroupScorer.compute_means`.
        """
        true, estimated = first, second
        if hasattr(second, "get_group"):
            true, estimated = second.get_label(), first
            weight, group = second.get_weight(), second.get_group()
        if group is None:
            msg = (
                "The data has no groups. Write lightgbm.Dataset(X, y, group=sizes), or in "
                "LGBMRanker.fit group=sizes and eval_group=[sizes]: the number of rows of each "
                "user, whose rows lie together."
            )
            raise InvalidInputError(msg)
        how = {"sizes": True, "weighted": weight is not None}
        means = self.compute_means(group, true, estimated, **how)
        better = [one.greater_is_better for one in self.plan.metrics]
        return list(zip(means, means.values(), better, strict=True))
