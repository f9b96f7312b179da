"""A metric for MLflow's evaluation of retrievers and recommenders."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import pandas as pd

from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import InvalidInputError, quote, require_libraries
from recsys_ndcg.lists import RankedLists
from recsys_ndcg.metrics import Metric
from recsys_ndcg.report import build_tracker_keys
from recsys_ndcg.scoring import Plan, Totals


def mlflow_metric(
    metric: str | Metric,
    *,
    k: int | Literal["default"] | None = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
) -> Any:
    """Make a metric for MLflow from one of ours; each row of its data is a list.

    Parameters
    ----------
    metric : name or metric object
        ``"ndcg@10"``.
    k, threshold, convention
        As for `recsys_ndcg.evaluate`.

    Returns
    -------
    mlflow.models.EvaluationMetric
        For ``extra_metrics=`` of ``mlflow.models.evaluate``. Of each row the predictions are items,
        best first, and the targets are relevant items, or a dict of items and grades. Results are
        the score of each row (none if it is undefined), and ``mean``, ``ci_low`` and ``ci_high``,
        the mean and the ends of its 95 % interval. The name is ``ndcg_at_10``, as MLflow allows no
        ``@``.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        An option cannot be read.
    MissingExtraError
        MLflow is not installed.

    Examples
    --------
    >>> import mlflow
    >>> import pandas as pd
    >>> import recsys_ndcg as rn
    >>> metric = rn.integrations.mlflow_metric("ndcg@2")
    >>> results, labels = pd.Series([["a", "b"], ["c"]]), pd.Series([["b"], {"c": 3, "d": 1}])
    >>> value = metric.eval_fn(results, labels, {})
    >>> [round(score, 3) for score in value.scores], round(value.aggregate_results["mean"], 3)
    ([0.631, 0.917], 0.774)
    >>> isinstance(metric, mlflow.models.EvaluationMetric)
    True
    """
    with require_libraries("mlflow", job="A metric for MLflow", extra="mlflow"):
        from mlflow.metrics import MetricValue  # noqa: PLC0415 - an extra
        from mlflow.models import make_metric  # noqa: PLC0415 - an extra
    plan = Plan.of(metric, k=k, threshold=threshold, convention=convention)
    [measured] = plan.metrics

    def evaluate_rows(predictions: Any, targets: Any, metrics: Any) -> Any:  # noqa: ARG001 - MLflow's
        results = {row: list(_check_row(one)) for row, one in enumerate(predictions)}
        labels = {
            row: one if isinstance(one, Mapping) else dict.fromkeys(_check_row(one), 1)
            for row, one in enumerate(targets)
        }
        lists = RankedLists.from_labels(labels, results, duplicates=plan.duplicates)
        scores = plan.resolve_and_measure(lists._data)
        by_row = pd.Series(scores.per_user[:, 0], index=scores.users).reindex(range(len(results)))
        totals = Totals.of(scores)
        low, high = totals.mean_interval()
        ends = {"mean": totals.mean, "ci_low": low, "ci_high": high}
        return MetricValue(
            scores=[None if pd.isna(one) else one for one in by_row.tolist()],
            aggregate_results={name: float(values[0]) for name, values in ends.items()},
        )

    [name] = build_tracker_keys(plan.names).values()
    better = measured.greater_is_better
    return make_metric(eval_fn=evaluate_rows, greater_is_better=better, name=name)


def _check_row(one: Any) -> Iterable[Any]:
    """Return a row, or raise if it is no list of items."""
    if isinstance(one, str) or not isinstance(one, Iterable):
        msg = f"A row is a list of items, best first, not {quote(one)}."
        raise InvalidInputError(msg)
    return one
