"""ir_measures: one measure at a time, so that each gets the provider it would get alone.

The default pipeline gives RR@k to its msmarco provider and all else here to pytrec_eval, which
takes whole grades alone. ``rel`` is the threshold; NDCG keeps all grades. ``iter_calc`` gives
labelled users without a list 0, and so counts them.
"""

from __future__ import annotations

from typing import Any

import ir_measures
from ir_measures import AP, RR, P, R, Rprec, SetF, SetP, SetR, Success, nDCG

from tests.peers.cases import Case, per_user

DISTRIBUTION = "ir_measures"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    k, rel = case.k, int(case.threshold)
    measures = {
        f"ndcg@{k}": nDCG @ k, f"precision@{k}": P(rel=rel) @ k, f"recall@{k}": R(rel=rel) @ k,
        f"ap@{k}": AP(rel=rel) @ k, f"rr@{k}": RR(rel=rel) @ k, f"hit@{k}": Success(rel=rel) @ k,
        "rr": RR(rel=rel), "rprecision": Rprec(rel=rel), "ndcg": nDCG, "ap": AP(rel=rel),
        "precision": SetP(rel=rel), "recall": SetR(rel=rel), "f1": SetF(rel=rel),
    }  # fmt: skip
    grades = case.whole_grades()
    answers: dict[str, Any] = {}
    for metric, measure in measures.items():
        try:
            found = list(ir_measures.iter_calc([measure], grades, case.run))
        except TypeError as error:
            answers[metric] = {"refused": str(error)}
            continue
        values = {one.query_id: float(one.value) for one in found}
        answers[metric] = per_user(dict(sorted(values.items())))
    return {"ir_measures": answers}
