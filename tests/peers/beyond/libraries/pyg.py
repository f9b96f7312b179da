"""PyTorch Geometric: coverage, diversity, personalization and popularity, on a matrix of items.

A row is a list, best first, so lists are at least k long. Items are numbered along the catalogue.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import torch
from torch_geometric import metrics

if TYPE_CHECKING:
    from tests.peers.beyond.cases import Case

DISTRIBUTION = "torch_geometric"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": mean} or a refusal}}."""
    items = {item: at for at, item in enumerate(case.catalogue)}
    counts = Counter(item for _, item in case.train)
    asked = {
        "LinkPredAveragePopularity": torch.tensor([counts[item] for item in items]),
        "LinkPredCoverage": len(items),
        "LinkPredDiversity": torch.tensor([case.category[item] for item in items]),
        "LinkPredPersonalization": None,
    }
    lists = [case.best_first(user) for user in case.run]
    reason = ""
    if not {item for own in lists for item in own} <= items.keys():
        reason = "an item without number"
    elif min(map(len, lists)) < case.k:
        reason = "lists of unequal length"
    if reason:
        return {"pyg": {measure: {"refused": reason} for measure in asked}}
    predicted = torch.tensor([[items[item] for item in own[: case.k]] for own in lists])
    users = {user: at for at, user in enumerate(case.run)}
    edges = [(users[user], items[item]) for user, item in case.rows("test") if user in users]
    answers: dict[str, Any] = {}
    for measure, known in asked.items():
        kind = getattr(metrics, measure)
        metric = kind(case.k) if known is None else kind(case.k, known)
        metric.update(predicted, torch.tensor(edges).T)
        answers[measure] = {"value": float(metric.compute())}
    return {"pyg": answers}
