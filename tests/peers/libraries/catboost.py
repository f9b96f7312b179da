"""CatBoost: ``eval_metric``, a group at a time, so that its mean over groups is that one's value.

It knows the given list alone, and all of it needs a grade: unlabelled items get 0. ``border`` is
strict, so it stands between the threshold and the next lower half star.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catboost.utils import eval_metric

if TYPE_CHECKING:
    from tests.peers.cases import Case

DISTRIBUTION = "catboost"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    k = case.k
    border = f"border={case.threshold - 0.25}"
    names = {
        "catboost": {
            f"ndcg@{k}": f"NDCG:top={k};type=Base",
            f"dcg@{k}": f"DCG:top={k};type=Base",
            f"precision@{k}": f"PrecisionAt:top={k};{border}",
            f"recall@{k}": f"RecallAt:top={k};{border}",
            f"ap@{k}": f"MAP:top={k};{border}",
            f"rr@{k}": f"MRR:top={k};{border}",
            "rr": f"MRR:{border}",
            "ndcg": "NDCG:type=Base",
            "dcg": "DCG:type=Base",
            "ap": f"MAP:{border}",
            "precision": f"PrecisionAt:{border}",
            "recall": f"RecallAt:{border}",
        },
        "catboost_exp": {
            f"ndcg@{k}": f"NDCG:top={k};type=Exp",
            f"dcg@{k}": f"DCG:top={k};type=Exp",
            "ndcg": "NDCG:type=Exp",
            "dcg": "DCG:type=Exp",
        },
    }
    lists = {
        user: (grades, list(case.run[user].values())) for user, grades in case.grades().items()
    }
    return {
        preset: {
            metric: {
                "per_user": {
                    user: eval_metric(true, given, name, group_id=[0] * len(true))[0]
                    for user, (true, given) in lists.items()
                },
                "refused": {},
            }
            for metric, name in metrics.items()
        }
        for preset, metrics in names.items()
    }
