"""LensKit: Gini of lists and of exposure, and the popularity rank, through its RunAnalysis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from lenskit.data import DatasetBuilder, ItemList, ItemListCollection, UserIDKey
from lenskit.metrics import RunAnalysis
from lenskit.metrics.ranking import ExposureGini, ListGini, MeanPopRank

if TYPE_CHECKING:
    from tests.peers.beyond.cases import Case

DISTRIBUTION = "lenskit"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": number, "per_user": {user: value}}}}."""
    builder = DatasetBuilder()
    rows = pd.DataFrame(case.train, columns=["user_id", "item_id"])
    entities = ["user", "item"]
    builder.add_interactions(
        "seen", rows, entities=entities, missing="insert", allow_repeats=True, default=True
    )
    train = builder.build()
    outputs, tests = ItemListCollection(UserIDKey), ItemListCollection(UserIDKey)
    for user, own in case.run.items():
        listed = ItemList(item_ids=list(own), scores=list(own.values()))
        outputs.add(listed.top_n(), user_id=user)
        tests.add(ItemList(item_ids=case.test.get(user, [])), user_id=user)
    n, items = case.k, len(case.catalogue)
    asked = {
        "ExposureGini(0.85)": ExposureGini(n, items=items),
        "ListGini": ListGini(n, items=items),
        "MeanPopRank": MeanPopRank(train, n=n),
        "MeanPopRank(interactions)": MeanPopRank(train, n=n, count="interactions"),
    }
    answers: dict[str, Any] = {}
    for measure, metric in asked.items():
        analysis = RunAnalysis()
        analysis.add_metric(metric, label="asked")  # a label is cut at its first full stop
        found = analysis.measure(outputs, tests)
        answers[measure] = {"value": float(found.global_metrics()["asked"])}
        if isinstance(metric, MeanPopRank):
            values = found.list_metrics()["asked"]
            answers[measure]["per_user"] = {int(user): float(one) for user, one in values.items()}
    return {"lenskit": answers}
