"""evidently: its legacy recsys metrics, on the shown items with their features, and the history.

Scores are its predictions. Serendipity takes the labels: 1 for a relevant item, else 0.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd
from evidently.legacy import metrics
from evidently.legacy.pipeline.column_mapping import ColumnMapping
from evidently.legacy.report import Report

if TYPE_CHECKING:
    from tests.peers.beyond.cases import Case

DISTRIBUTION = "evidently"
MAPPING = ColumnMapping(target="target", prediction="prediction", user_id="user", item_id="item")


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": mean}}}."""
    features = pd.DataFrame(case.features).T.add_prefix("f")
    names = list(features)
    rows = [
        (user, item, score, int(item in case.test.get(user, ())))
        for user, own in case.run.items()
        for item, score in own.items()
    ]
    lists = pd.DataFrame(rows, columns=["user", "item", "prediction", "target"])
    train = pd.DataFrame(case.train, columns=["user", "item"])
    given = {
        "reference_data": None,
        "current_data": lists.join(features, on="item"),
        "column_mapping": MAPPING,
        "additional_data": {"current_train_data": train.join(features, on="item")},
    }
    asked = {
        "Diversity": metrics.DiversityMetric(case.k, names),
        "Novelty": metrics.NoveltyMetric(case.k),
        "Personalization": metrics.PersonalizationMetric(case.k),
        "PopularityBias": metrics.PopularityBias(case.k),
        "PopularityBias(normalize_arp)": metrics.PopularityBias(case.k, normalize_arp=True),
        "Serendipity": metrics.SerendipityMetric(case.k, names, min_rel_score=1),
    }
    answers: dict[str, Any] = {}
    for measure, metric in asked.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Report(metrics=[metric]).run(**given)
            result = metric.get_result()
        if measure == "PopularityBias":
            answers["PopularityBias.coverage"] = {"value": float(result.current_coverage)}
            answers["PopularityBias.gini"] = {"value": float(result.current_gini)}
        if measure.startswith("PopularityBias"):
            answers[f"{measure}.apr"] = {"value": float(result.current_apr)}
        else:
            answers[measure] = {"value": float(result.current_value)}
    return {"evidently": answers}
