"""The results of a search in Surprise's names and order, and the best of each measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import warn
from recsys_ndcg.surprise.model_selection.measures import ACCURACY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.surprise.model_selection.fold_plan import FoldPlan
    from recsys_ndcg.surprise.model_selection.folds import Fold
    from recsys_ndcg.surprise.model_selection.measures import Measure


def tabulated(
    plan: FoldPlan, combinations: Sequence[dict[str, Any]], folds: Sequence[Sequence[Fold]]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return `cv_results`, and the place of the best combination for each measure.

    Parameters
    ----------
    plan : FoldPlan
        What was measured.
    combinations : sequence of dict
        Of parameters.
    folds : sequence of sequences of Fold
        What came of each combination.
    """
    results: dict[str, Any] = {}
    best = {}
    for measure in plan.measures:
        name = measure.name
        test = np.asarray([[fold.test[name] for fold in one] for one in folds])
        kinds = {"test": test}
        if plan.train:
            kinds["train"] = np.asarray([[fold.train[name] for fold in one] for one in folds])
        for split in range(test.shape[1]):
            results |= {f"split{split}_{kind}_{name}": of[:, split] for kind, of in kinds.items()}
        for kind, of in kinds.items():
            results[f"mean_{kind}_{name}"] = of.mean(axis=1)
            results[f"std_{kind}_{name}"] = of.std(axis=1)
        results[f"rank_test_{name}"], best[name] = _ranked(measure, test.mean(axis=1))
    for kind in ("fit", "test"):
        times = np.array([[getattr(fold, f"{kind}_time") for fold in one] for one in folds])
        results[f"mean_{kind}_time"] = times.mean(axis=1)
        results[f"std_{kind}_time"] = times.std(axis=1)
    results["params"] = combinations
    for name in combinations[0]:
        results[f"param_{name}"] = [chosen[name] for chosen in combinations]
    return results, best


def _ranked(measure: Measure, mean: Floats) -> tuple[Any, Any]:
    """Return the rank of every combination, 1 for the best, and the place of the best."""
    # a stable sort, so that the best of equals ranks first, with what has no score at the end
    order = (-mean if measure.greater_is_better else mean).argsort(kind="stable")
    best = None if np.isnan(mean).all() else order[0]
    if measure in ACCURACY.values() and not np.isnan(mean).any():
        order = mean.argsort()[:: -1 if measure.greater_is_better else 1]  # equals as in Surprise
    rank = np.empty_like(order)
    rank[order] = np.arange(1, len(mean) + 1)
    if best is None:
        warn(f"No combination has a score in {measure.name}, so none is the best.")
    return rank, best
