"""Jurity: its recommender metrics, one user at a time, with clicks for the relevant items.

Its order of equal scores is what an unstable sort leaves: users with any are left out. A user for
whom it has no result is left out of its mean. `NDCG` is missing here, as its ideal is not cut at k.
"""

from __future__ import annotations

import warnings
from typing import Any

import pandas as pd
from jurity.recommenders import MAP, Precision, Recall

from tests.peers.cases import Case, per_user

DISTRIBUTION = "jurity"
METRICS = {"precision": Precision, "recall": Recall, "ap": MAP}
COLUMNS = ["user_id", "item_id", "clicks"]


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    liked = case.liked()
    reason = "its order of equal scores is not stable"
    answers = {}
    for name, metric in METRICS.items():
        values, refused = {}, {}
        for user in liked:
            own = case.run.get(user, {})
            if len(set(own.values())) < len(own):
                refused[user] = reason
            actual = pd.DataFrame([(user, item, 1) for item in liked[user]], columns=COLUMNS)
            predicted = pd.DataFrame([(user, *one) for one in own.items()], columns=COLUMNS)
            with warnings.catch_warnings(action="ignore"):  # pandas deprecates what it uses
                value = metric("clicks", k=case.k).get_score(actual, predicted)
            if value is not None:
                values[user] = value
        answers[f"{name}@{case.k}"] = per_user(values, refused)
    return {"jurity": answers}
