"""torchmetrics: each retrieval metric of the page, of the given lists alone, by user."""

from __future__ import annotations

from typing import Any

from torchmetrics import retrieval

from tests.peers.cases import Case, per_user
from tests.peers.libraries.torchmetrics import build_tensors, keep_values
from tests.peers.named.tables import list_their_names

DISTRIBUTION = "torchmetrics"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {page: {name: {"per_user": {user: value}, "refused": {}}}}."""
    indexes, estimates, grades = build_tensors(case)
    answers = {}
    for name in list_their_names("torchmetrics"):
        metric = eval(name, vars(retrieval))  # noqa: S307 - of our page
        metric.aggregation = keep_values
        target = grades if "NDCG" in name or "DCG" in name else grades >= case.threshold
        metric.update(estimates, target, indexes=indexes)
        users = [*case.run]
        if metric.empty_target_action == "skip":
            users = [u for u, own in case.relevance().items() if any(own)]
        answers[name] = per_user(dict(zip(users, metric.compute().tolist(), strict=True)))
    return {"torchmetrics": answers}
