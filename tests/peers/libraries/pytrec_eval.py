"""pytrec_eval: trec_eval's measures, per user; it takes whole grades alone.

``relevance_level`` makes P, R, AP, RR and success binary at the threshold; NDCG keeps all grades.
There is no RR@k. Users without a list, or without a label, have no value.
"""

from __future__ import annotations

from typing import Any

import pytrec_eval

from tests.peers.cases import Case, per_user

DISTRIBUTION = "pytrec_eval-terrier"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    k = case.k
    names = {
        f"ndcg@{k}": f"ndcg_cut_{k}", f"precision@{k}": f"P_{k}", f"recall@{k}": f"recall_{k}",
        f"ap@{k}": f"map_cut_{k}", f"hit@{k}": f"success_{k}",
        "rr": "recip_rank", "rprecision": "Rprec", "ndcg": "ndcg", "ap": "map",
        "precision": "set_P", "recall": "set_recall", "f1": "set_F",
    }  # fmt: skip
    try:
        evaluator = pytrec_eval.RelevanceEvaluator(
            case.whole_grades(), {*names.values()}, relevance_level=int(case.threshold)
        )
    except TypeError as error:
        return {"pytrec_eval": {metric: {"refused": str(error)} for metric in names}}
    results = sorted(evaluator.evaluate(case.run).items())
    answers = {
        metric: per_user({user: values[name] for user, values in results})
        for metric, name in names.items()
    }
    return {"pytrec_eval": answers}
