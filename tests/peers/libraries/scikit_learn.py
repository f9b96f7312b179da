"""scikit-learn: dcg_score and ndcg_score, one list at a time.

It knows the given list alone, and all of it needs a grade: unlabelled items get 0.
"""

from __future__ import annotations

from typing import Any

from sklearn.metrics import dcg_score, ndcg_score

from tests.peers.cases import Case, per_user

DISTRIBUTION = "scikit-learn"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    answers: dict[str, Any] = {}
    for name, function in (("dcg", dcg_score), ("ndcg", ndcg_score)):
        values, refused = {}, {}
        for user, true in case.grades().items():
            estimated = [list(case.run[user].values())]
            try:
                values[user] = function([true], estimated, k=case.k)
            except ValueError as error:
                refused[user] = str(error)
        answers[f"{name}@{case.k}"] = per_user(values, refused)
    return {"sklearn": answers}
