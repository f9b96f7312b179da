"""recommenders: diversity, novelty, serendipity and coverage of its pandas evaluation module.

It has no cutoff, so it is given the first k items. It refuses lists with a seen item.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from recommenders.evaluation import python_evaluation as library

if TYPE_CHECKING:
    from tests.peers.beyond.cases import Case

DISTRIBUTION = "recommenders"
warnings.simplefilter("ignore", FutureWarning)  # of its use of pandas


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": mean, "per_user": {user: value}} or a refusal}}."""
    train = pd.DataFrame(case.train, columns=["userID", "itemID"])
    rows = [(user, item, float(item in case.test.get(user, ()))) for user, item, *_ in case.shown()]
    lists = pd.DataFrame(rows, columns=["userID", "itemID", "relevance"])
    vectors = [(item, np.array(own, dtype=float)) for item, own in case.features.items()]
    features = pd.DataFrame(vectors, columns=["itemID", "features"])
    by_features = {"item_feature_df": features, "item_sim_measure": "item_feature_vector"}
    relevance = {"col_relevance": "relevance"}
    asked: dict[str, tuple[str, dict[str, Any]]] = {
        "catalog_coverage": ("catalog_coverage", {}),
        "distributional_coverage": ("distributional_coverage", {}),
        "novelty": ("novelty", {}),
        "diversity(cooccurrence)": ("diversity", {}),
        "diversity(features)": ("diversity", by_features),
        "serendipity(cooccurrence)": ("serendipity", {}),
        "serendipity(cooccurrence, relevance)": ("serendipity", relevance),
        "serendipity(features)": ("serendipity", by_features),
    }
    answers: dict[str, Any] = {}
    for measure, (name, options) in asked.items():
        given = lists if options is relevance else lists[["userID", "itemID"]]
        try:
            answers[measure] = {"value": float(getattr(library, name)(train, given, **options))}
        except Exception as error:  # noqa: BLE001 - it raises Exception itself
            answers[measure] = {"refused": str(error)}
            continue
        if per_user := getattr(library, f"user_{name}", None):
            own = per_user(train, given, **options).set_index("userID").iloc[:, -1]
            answers[measure]["per_user"] = {
                int(user): float(own[user]) for user in sorted(own.index)
            }
    return {"recommenders": answers}
