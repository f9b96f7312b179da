"""RecTools: its metrics of lists, catalogue, popularity, novelty and serendipity.

It takes ranks, not scores, and its Hamming distance of features is the only one it has for a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
from rectools import metrics
from rectools.metrics.distances import PairwiseHammingDistanceCalculator

if TYPE_CHECKING:
    from tests.peers.beyond.cases import Case

DISTRIBUTION = "rectools"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": mean, "per_user": {user: value}}}}."""
    pair = ["user_id", "item_id"]
    lists = pd.DataFrame(
        [(user, item, rank) for user in case.run
         for rank, item in enumerate(case.best_first(user), 1)], columns=[*pair, "rank"],
    )  # fmt: skip
    base = pd.DataFrame(case.rows("base"), columns=pair)
    base["rank"] = base.groupby("user_id").cumcount() + 1
    test, train = (pd.DataFrame(rows, columns=pair) for rows in (case.rows("test"), case.train))
    distances = PairwiseHammingDistanceCalculator(pd.DataFrame(case.features).T)
    k, catalogue = case.k, case.catalogue
    asked = {
        "AvgRecPopularity": (metrics.AvgRecPopularity(k), train),
        "AvgRecPopularity(normalize)": (metrics.AvgRecPopularity(k, normalize=True), train),
        "CatalogCoverage": (metrics.CatalogCoverage(k), catalogue),
        "CatalogCoverage(normalize)": (metrics.CatalogCoverage(k, normalize=True), catalogue),
        "CoveredUsers": (metrics.CoveredUsers(k), test),
        "IntraListDiversity(Hamming)": (metrics.IntraListDiversity(k, distances),),
        "Intersection(base)": (metrics.Intersection(k), base),
        "MeanInvUserFreq": (metrics.MeanInvUserFreq(k), train),
        "Serendipity": (metrics.Serendipity(k), test, train, catalogue),
        "SufficientReco": (metrics.SufficientReco(k),),
    }
    answers: dict[str, Any] = {}
    for measure, (metric, *given) in asked.items():
        answers[measure] = {"value": float(metric.calc(lists, *given))}
        if hasattr(metric, "calc_per_user"):
            values = metric.calc_per_user(lists, *given)
            answers[measure]["per_user"] = {int(user): float(own) for user, own in values.items()}
    return {"rectools": answers}
