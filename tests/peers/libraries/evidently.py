"""evidently: its legacy recsys metrics on the shown items, unlabelled ones as 0, as given.

NDCG takes the grades, as it does by default; for the others `min_rel_score` is the threshold.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd
from evidently.legacy import metrics
from evidently.legacy.pipeline.column_mapping import ColumnMapping
from evidently.legacy.report import Report

if TYPE_CHECKING:
    from tests.peers.cases import Case

DISTRIBUTION = "evidently"
METRICS = {
    "ndcg": "NDCGK", "precision": "PrecisionTopK", "recall": "RecallTopK", "f1": "FBetaTopK",
    "ap": "MAPK", "hit": "HitRateK", "rr": "MRRK",
}  # fmt: skip
MAPPING = ColumnMapping(target="target", prediction="prediction", user_id="user", item_id="item")


def _value(name: str, rows: pd.DataFrame, case: Case) -> float:
    """Return what one metric's report holds for k."""
    options = {} if name == "ndcg" else {"min_rel_score": int(case.threshold)}
    metric = getattr(metrics, f"{METRICS[name]}Metric")(k=case.k, **options)
    report = Report(metrics=[metric])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report.run(reference_data=None, current_data=rows, column_mapping=MAPPING)
    current = metric.get_result().current
    return float(current[case.k - 1 if min(current.index) == 0 else case.k])


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"mean": value}}}."""
    rows = pd.DataFrame(
        [
            (user, item, score, grade)
            for user, grades in case.grades().items()
            for (item, score), grade in zip(case.run[user].items(), grades, strict=True)
        ],
        columns=["user", "item", "prediction", "target"],
    )
    return {
        "evidently": {f"{name}@{case.k}": {"mean": _value(name, rows, case)} for name in METRICS}
    }
