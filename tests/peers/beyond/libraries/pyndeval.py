"""pyndeval: intent-aware measures of ndeval, whose subtopics are an item's features.

Whole lists are given; the measures cut them. Identifiers are text, by which ndeval breaks ties.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any

import pyndeval

if TYPE_CHECKING:
    from tests.peers.beyond.cases import Case

DISTRIBUTION = "pyndeval"
MEASURES = ["ERR-IA@5", "MAP-IA", "P-IA@5", "alpha-DCG@5", "alpha-nDCG@5", "nERR-IA@5", "strec@5"]


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": mean, "per_user": {user: value}}}}."""
    labels = [
        (str(user), f"f{at}", str(item), 1)
        for user, item in case.rows("test")
        for at, has in enumerate(case.features[item])
        if has
    ]
    lists = [
        (str(user), str(item), score)
        for user, own in case.run.items()
        for item, score in own.items()
    ]
    found = pyndeval.ndeval(labels, lists, MEASURES, alpha=0.5)
    answers: dict[str, Any] = {}
    for measure in MEASURES:
        per_user = {user: float(own[measure]) for user, own in found.items()}
        answers[measure] = {"value": fmean(per_user.values()), "per_user": per_user}
    return {"pyndeval": answers}
