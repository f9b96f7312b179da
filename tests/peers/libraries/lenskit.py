"""LensKit: the list metrics of its RunAnalysis, one value per output list, gaps filled as it does.

Any test item counts as relevant (`gain` is None by default), so the tests are the labels from
the threshold on, and a user without any has none. The lists are put in order by the library's
`ItemList.top_n`. Each metric runs alone, as AveragePrecision stops all of them with an error
if a user has no test item.
"""

from __future__ import annotations

from typing import Any

from lenskit.data import ItemList, ItemListCollection, UserIDKey
from lenskit.metrics import NDCG, Hit, Precision, Recall, RecipRank, RunAnalysis
from lenskit.metrics.ranking import DCG, AveragePrecision

from tests.peers.cases import Case, per_user

DISTRIBUTION = "lenskit"
METRICS = {
    "ndcg": NDCG, "dcg": DCG, "precision": Precision, "recall": Recall,
    "ap": AveragePrecision, "hit": Hit, "rr": RecipRank,
}  # fmt: skip


def build_collections(case: Case) -> tuple[ItemListCollection, ItemListCollection]:
    """Return the lists, and the relevant items with their ratings."""
    tests = ItemListCollection(UserIDKey)
    for user, liked in case.liked().items():
        tests.add(ItemList(item_ids=list(liked), rating=list(liked.values())), user_id=user)
    outputs = ItemListCollection(UserIDKey)
    for user, own in case.run.items():
        estimated = ItemList(item_ids=list(own), scores=list(own.values()))
        outputs.add(estimated.top_n(), user_id=user)
    return outputs, tests


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, ...} or {"refused": message}}}."""
    answers: dict[str, Any] = {}
    for name, metric in METRICS.items():
        analysis = RunAnalysis()
        analysis.add_metric(metric(case.k), label=name)
        try:
            values = analysis.measure(*build_collections(case)).list_metrics()[name]
        except ZeroDivisionError as error:
            answers[f"{name}@{case.k}"] = {"refused": str(error)}
            continue
        answers[f"{name}@{case.k}"] = per_user(values)
    return {"lenskit": answers}
