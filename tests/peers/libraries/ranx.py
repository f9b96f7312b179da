"""ranx: objects made from dictionaries, and ``make_comparable`` as users on both sides differ.

``-l4`` makes the binary metrics so; NDCG goes without, as it would lose the lower grades.
Grades that are not whole would be truncated without a word, so such data is not given to it.
Its sort is stable up to 15 items, so ties in these lists keep the order of the input.
"""

from __future__ import annotations

from typing import Any

from ranx import Qrels, Run, evaluate

from tests.peers.cases import Case, per_user

DISTRIBUTION = "ranx"
BINARY = {"precision": "precision", "recall": "recall", "f1": "f1", "ap": "map", "rr": "mrr"}


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    k, level = case.k, f"-l{int(case.threshold)}"
    names: dict[str, dict[str, str]] = {"ranx": {}, "ranx_burges": {}}
    for at in (f"@{k}", ""):
        for metric in ("ndcg", "dcg"):
            names["ranx"][metric + at] = metric + at
            names["ranx_burges"][metric + at] = f"{metric}_burges{at}"
        names["ranx"] |= {metric + at: name + at + level for metric, name in BINARY.items()}
    names["ranx"] |= {f"hit@{k}": f"hit_rate@{k}{level}", "rprecision": f"r-precision{level}"}
    if not all(grade.is_integer() for own in case.labels.values() for grade in own.values()):
        refusal = {"refused": "truncates grades to integers"}
        return {preset: dict.fromkeys(metrics, refusal) for preset, metrics in names.items()}
    run = Run.from_dict(case.run)
    wanted = [name for metrics in names.values() for name in metrics.values()]
    evaluate(Qrels.from_dict(case.labels), run, wanted, make_comparable=True)
    return {
        preset: {metric: per_user(run.scores[name]) for metric, name in metrics.items()}
        for preset, metrics in names.items()
    }
