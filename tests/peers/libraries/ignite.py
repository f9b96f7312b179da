"""PyTorch-Ignite: its metrics for recommenders, one user at a time, with every default.

It knows the given lists alone: unlabelled items get 0. NDCG takes the grades, the hit rate whether
an item is relevant. The hit rate needs k items, and its order of equal scores is not stable: such
users are left out. It holds scores as float32.
"""

from __future__ import annotations

from typing import Any

import torch
from ignite.metrics.rec_sys import NDCG, HitRate

from tests.peers.cases import Case, per_user

DISTRIBUTION = "pytorch-ignite"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    answers = {}
    for name, kind, labels in (("ndcg", NDCG, case.grades()), ("hit", HitRate, case.relevance())):
        values, refused = {}, {}
        for user, own in labels.items():
            estimated = torch.tensor([[*case.run[user].values()]])
            if name == "hit" and len(estimated.unique()) < estimated.numel():
                refused[user] = "its order of equal scores is not stable"
            if max(own, default=0) < 1:  # it leaves the user out, and has no result for none
                continue
            metric = kind([case.k])
            try:
                metric.update((estimated, torch.tensor([own])))
            except RuntimeError as error:
                refused[user] = str(error).partition("\n")[0]
                continue
            (values[user],) = metric.compute()
        answers[f"{name}@{case.k}"] = per_user(values, refused)
    return {"ignite": answers}
