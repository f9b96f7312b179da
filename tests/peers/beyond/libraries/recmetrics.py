"""recmetrics: coverage, novelty, personalization and similarity of lists of items, best first.

It has no cutoff, so it is given the first k items. Short lists and cold items are errors in it.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pandas as pd
import recmetrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.peers.beyond.cases import Case

DISTRIBUTION = "recmetrics"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {measure: {"value": mean} or a refusal}}."""
    lists = [case.best_first(user)[: case.k] for user in case.run]
    features = pd.DataFrame(case.features).T
    counts = Counter(item for _, item in case.train)
    n_users = len({user for user, _ in case.train})
    asked: dict[str, Callable[[], float]] = {
        "intra_list_similarity": lambda: recmetrics.intra_list_similarity(lists, features),
        "novelty": lambda: recmetrics.novelty(lists, dict(counts), n_users, case.k)[0],
        "personalization": lambda: recmetrics.personalization(lists),
        "prediction_coverage(catalogue)": lambda: recmetrics.prediction_coverage(
            lists, case.catalogue
        ),
    }
    answers: dict[str, Any] = {}
    for measure, ask in asked.items():
        try:
            answers[measure] = {"value": float(ask())}
        except (KeyError, ValueError, ZeroDivisionError) as error:
            answers[measure] = {"refused": f"{type(error).__name__}: {error}"}
    return {"recmetrics": answers}
