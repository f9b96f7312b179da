"""cornac: its propensity-stratified evaluation, by the function that it calls for each stratum.

Up to version 1.16 metrics take a vector with a weight for each relevant item. Since 1.17 they take
the items themselves, and its evaluation with propensities compares ranks with weights.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import numpy as np
from cornac.data import Dataset
from cornac.eval_methods.propensity_stratified_evaluation import ranking_eval
from cornac.metrics import NDCG, Precision, Recall

if TYPE_CHECKING:
    from tests.peers.weighted.cases import Case

DISTRIBUTION = "cornac"


class Model:
    """A recommender with given scores."""

    def __init__(self, scores: Any) -> None:
        self._scores = np.array(scores)

    def rank(self, user: int, _: Any = None) -> tuple[Any, Any]:
        """Return all items, best first, and their scores."""
        return np.argsort(-self._scores[user]), self._scores[user]


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {"plain", "weighted", "stratified" or a stratum: {metric: mean}}."""
    users = OrderedDict((user, user) for user in range(len(case.scores)))
    items = OrderedDict((item, item) for item in range(len(case.weights)))
    metrics = {"recall": Recall(case.k), "precision": Precision(case.k), "ndcg": NDCG(case.k)}

    def build(pairs: Any) -> Any:
        rows = [(user, item, 1.0) for user, item in pairs]
        return Dataset.build(rows, global_uid_map=users, global_iid_map=items)

    others = {(user, item) for user in users for item in items} - {*case.labels}

    def evaluate(pairs: Any, props: Any = None) -> dict[str, float]:
        how: dict[str, Any] = {"train_set": build(sorted(others)), "test_set": build(pairs)}
        means, _ = ranking_eval(Model(case.scores), [*metrics.values()], **how, props=props)
        return {f"{name}@{case.k}": float(one) for name, one in zip(metrics, means)}  # noqa: B905

    propensities = {str(item): 1 / weight for item, weight in enumerate(case.weights)}
    found = {"plain": evaluate(case.labels), "weighted": evaluate(case.labels, propensities)}
    parts: dict[str, Any] = {}
    for user, item in case.labels:
        parts.setdefault(case.strata[item], []).append((user, item))
    found |= {stratum: evaluate(pairs) for stratum, pairs in parts.items()}
    share = {stratum: len(pairs) / len(case.labels) for stratum, pairs in parts.items()}
    found["stratified"] = {
        metric: sum(share[one] * found[one][metric] for one in parts) for metric in found["plain"]
    }
    return found
