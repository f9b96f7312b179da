"""recpack: coverage, diversity and its inverse-propensity hits, on matrices of users by items.

The columns are the catalogue, so it is not asked about lists with other items. Propensities are of
a matrix of 0 and 1, as its documentation has them, or of the number of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from recpack.metrics import CoverageK, IntraListDiversityK, IPSHitRateK
from scipy.sparse import csr_matrix

if TYPE_CHECKING:
    from tests.peers.beyond.cases import Case

DISTRIBUTION = "recpack"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": mean, "per_user": {user: value}}}}."""
    items = {item: at for at, item in enumerate(case.catalogue)}
    users = sorted({*case.run, *case.test, *(user for user, _ in case.train)})
    features = csr_matrix(np.array([case.features[item] for item in items]))
    asked = {
        "CoverageK": (CoverageK, None),
        "IPSHitRateK(fit on counts)": (IPSHitRateK, "counts"),
        "IPSHitRateK(fit on test)": (IPSHitRateK, "test"),
        "IPSHitRateK(fit on train)": (IPSHitRateK, "train"),
        "IntraListDiversityK": (IntraListDiversityK, "features"),
    }
    if not {item for own in case.run.values() for item in own} <= items.keys():
        return {"recpack": {name: {"refused": "an item without column"} for name in asked}}

    def fill(cells: list[tuple[int, int, float]]) -> csr_matrix:
        matrix = np.zeros((len(users), len(items)))
        for user, item, value in cells:
            matrix[users.index(user), items[item]] += value
        return csr_matrix(matrix)

    true = fill([(user, item, 1.0) for user, item in case.rows("test")])
    predicted = fill([(u, item, own[item]) for u, own in case.run.items() for item in own])
    counts = fill([(user, item, 1.0) for user, item in case.train])
    fits = {"features": features, "test": true, "counts": counts, "train": counts.sign()}
    answers: dict[str, Any] = {}
    for measure, (kind, fit) in asked.items():
        metric = kind(case.k)
        if fit:
            metric.fit(fits[fit])
        metric.calculate(true, predicted)
        answers[measure] = {"value": float(metric.value)}
        if measure == "IntraListDiversityK":
            rows = zip(metric.results["user_id"], metric.results["score"], strict=True)
            answers[measure]["per_user"] = {users[int(row)]: float(value) for row, value in rows}
    return {"recpack": answers}
