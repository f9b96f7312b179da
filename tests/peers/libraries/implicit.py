"""implicit: ranking_metrics_at_k over the users of the truth, means and for precision a pool.

Any item of the truth counts as relevant, so it is given the labels from the threshold on. It
asks a model for its lists and takes them as they come; the one here answers with the case's,
best first, equal scores in the order of the input, and with the item -1, which no user likes,
where a list ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from implicit.evaluation import ranking_metrics_at_k
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from tests.peers.cases import Case

DISTRIBUTION = "implicit"


class _Lists:
    """Recommend from given lists: {user: [item]}, best first, users and items by number."""

    def __init__(self, lists: dict[int, list[int]]) -> None:
        """Keep the lists."""
        self.lists = lists

    def recommend(self, users: np.ndarray, _: csr_matrix, N: int) -> tuple[np.ndarray, None]:  # noqa: N803
        """Return the N best items of each user, and no scores."""
        best = np.full((len(users), N), -1, dtype=np.int32)
        for row, user in enumerate(users):
            items = self.lists.get(int(user), [])[:N]
            best[row, : len(items)] = items
        return best, None


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"mean": value}}}."""
    users = {user: place for place, user in enumerate(case.labels | case.run)}
    lists = [*case.labels.values(), *case.run.values()]
    items = {item: place for place, item in enumerate(sorted({i for own in lists for i in own}))}
    truth = np.zeros((len(users), len(items)), dtype=np.float32)
    for user, own in case.liked().items():
        truth[users[user], [items[item] for item in own]] = 1
    run = {users[user]: [items[item] for item in case.best_first(user)] for user in case.run}
    values = ranking_metrics_at_k(
        _Lists(run), csr_matrix(truth.shape), csr_matrix(truth), K=case.k, show_progress=False
    )
    names = {"ndcg": "ndcg", "precision": "precision", "ap": "map"}
    return {"implicit": {f"{n}@{case.k}": {"mean": values[key]} for n, key in names.items()}}
