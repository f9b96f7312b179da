"""ir_measures: one measure at a time, so that each gets the provider it would get alone.

The default pipeline gives RR@k to its msmarco provider and all else here to pytrec_eval, which
takes whole grades alone. ``rel`` is the threshold; NDCG keeps all grades. ``iter_calc`` gives
labelled users without a list 0, and so counts them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ir_measures
from ir_measures import AP, RR, P, R, Rprec, SetF, SetP, SetR, Success, nDCG

if TYPE_CHECKING:
    from tests.peers.cases import Case

DISTRIBUTION = "ir_measures"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    k, rel = case.k, int(case.threshold)
    measures = {
        f"ndcg@{k}": nDCG @ k,
        f"precision@{k}": P(rel=rel) @ k,
        f"recall@{k}": R(rel=rel) @ k,
        f"ap@{k}": AP(rel=rel) @ k,
        f"rr@{k}": RR(rel=rel) @ k,
        f"hit@{k}": Success(rel=rel) @ k,
        "rr": RR(rel=rel),
        "rprecision": Rprec(rel=rel),
        "ndcg": nDCG,
        "ap": AP(rel=rel),
        "precision": SetP(rel=rel),
        "recall": SetR(rel=rel),
        "f1": SetF(rel=rel),
    }
    grades = {
        user: {item: int(grade) if grade.is_integer() else grade for item, grade in own.items()}
        for user, own in case.labels.items()
    }
    answers: dict[str, Any] = {}
    for metric, measure in measures.items():
        try:
            found = list(ir_measures.iter_calc([measure], grades, case.run))
        except TypeError as error:
            answers[metric] = {"refused": str(error)}
            continue
        values = {one.query_id: float(one.value) for one in found}
        answers[metric] = {
            "per_user": {user: values[user] for user in sorted(values)},
            "refused": {},
        }
    return {"ir_measures": answers}
