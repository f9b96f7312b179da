"""recpack: its metrics on the matrices that its pipeline would compare, y_true being 0 or 1.

The pipeline evaluates binary values, so y_true holds the labels from the threshold on. Its order
of equal scores is what a partition leaves: users with any are left out. `HitK` is missing here,
since its value is the mean number of hits.
"""

from __future__ import annotations

from typing import Any

from recpack.metrics import DCGK, NDCGK, PrecisionK, RecallK, ReciprocalRankK
from scipy.sparse import csr_matrix, lil_matrix

from tests.peers.cases import Case, per_user

DISTRIBUTION = "recpack"
METRICS = {
    "ndcg": NDCGK, "dcg": DCGK, "precision": PrecisionK, "recall": RecallK, "rr": ReciprocalRankK,
}  # fmt: skip


def _matrix(cells: dict[str, dict[str, float]], users: list[str], items: list[str]) -> csr_matrix:
    """Return users by items, what is not given being absent."""
    matrix = lil_matrix((len(users), len(items)))
    for user, own in cells.items():
        for item, value in own.items():
            matrix[users.index(user), items.index(item)] = value
    return matrix.tocsr()


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    users = sorted(case.labels | case.run)
    lists = [*case.labels.values(), *case.run.values()]
    items = sorted({item for own in lists for item in own})
    liked = {user: dict.fromkeys(own, 1.0) for user, own in case.liked().items()}
    true, predicted = _matrix(liked, users, items), _matrix(case.run, users, items)
    tied = {user for user, own in case.run.items() if len(set(own.values())) < len(own)}
    reason = "its order of equal scores is not stable"
    answers = {}
    for name, metric in METRICS.items():
        asked = metric(K=case.k)
        asked.calculate(true, predicted)
        rows = zip(asked.results["user_id"], asked.results["score"], strict=True)
        values = {users[int(row)]: score for row, score in rows}
        refused = {user: reason for user in values if user in tied}
        answers[f"{name}@{case.k}"] = per_user(values, refused)
    return {"recpack": answers}
