"""ranx: objects made from dictionaries, and ``make_comparable`` as users on both sides differ.

``-l4`` makes the binary metrics so; NDCG goes without, as it would lose the lower grades.
Grades that are not whole would be truncated without a word, so such data is not given to it.
Its sort is stable up to 15 items, so ties in these lists keep the order of the input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ranx import Qrels, Run, evaluate

if TYPE_CHECKING:
    from tests.peers.cases import Case

DISTRIBUTION = "ranx"


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    k, level = case.k, f"-l{int(case.threshold)}"
    names = {
        "ranx": {
            f"ndcg@{k}": f"ndcg@{k}",
            f"dcg@{k}": f"dcg@{k}",
            f"precision@{k}": f"precision@{k}{level}",
            f"recall@{k}": f"recall@{k}{level}",
            f"f1@{k}": f"f1@{k}{level}",
            f"ap@{k}": f"map@{k}{level}",
            f"rr@{k}": f"mrr@{k}{level}",
            f"hit@{k}": f"hit_rate@{k}{level}",
            "rr": f"mrr{level}",
            "rprecision": f"r-precision{level}",
            "ndcg": "ndcg",
            "dcg": "dcg",
            "ap": f"map{level}",
            "precision": f"precision{level}",
            "recall": f"recall{level}",
            "f1": f"f1{level}",
        },
        "ranx_burges": {
            f"ndcg@{k}": f"ndcg_burges@{k}",
            f"dcg@{k}": f"dcg_burges@{k}",
            "ndcg": "ndcg_burges",
            "dcg": "dcg_burges",
        },
    }
    if not all(grade.is_integer() for own in case.labels.values() for grade in own.values()):
        refusal = {"refused": "truncates grades to integers"}
        return {preset: dict.fromkeys(metrics, refusal) for preset, metrics in names.items()}
    run = Run.from_dict(case.run)
    wanted = [name for metrics in names.values() for name in metrics.values()]
    evaluate(Qrels.from_dict(case.labels), run, wanted, make_comparable=True)
    return {
        preset: {
            metric: {
                "per_user": {user: float(value) for user, value in run.scores[name].items()},
                "refused": {},
            }
            for metric, name in metrics.items()
        }
        for preset, metrics in names.items()
    }
