"""torchrec: its metrics over sessions, a session for each list, with every default but the cutoff.

It knows the given lists alone: unlabelled items get 0. Its order of equal scores is not stable, so
that users with any are left out. NDCG is reported as a gain; precision and recall are pooled over
sessions.
"""

from __future__ import annotations

from typing import Any

import torch
from torchrec.metrics.metrics_config import RecTaskInfo, SessionMetricDef
from torchrec.metrics.ndcg import NDCGMetric
from torchrec.metrics.precision_session import PrecisionSessionMetric
from torchrec.metrics.recall_session import RecallSessionMetric

from tests.peers.cases import Case, per_user

DISTRIBUTION = "torchrec"


def _compute(kind: Any, case: Case, grades: dict[str, list[float]], **options: Any) -> float:
    """Return a metric over some users."""
    task = RecTaskInfo("task", session_metric_def=SessionMetricDef("session_id", case.k))
    rows = [
        (score, grade, 1.0, number)
        for number, (user, own) in enumerate(grades.items())
        for score, grade in zip(case.run[user].values(), own, strict=True)
    ]
    columns = [torch.tensor(column, dtype=torch.float64) for column in zip(*rows, strict=True)]
    metric = kind(1, 0, len(rows), [task], window_size=len(rows), **options)
    *tensors, session = columns
    predictions, labels, weights = ({"task": one} for one in tensors)
    inputs = {"session_id": session.long()}
    metric.update(predictions=predictions, labels=labels, weights=weights, required_inputs=inputs)
    (value,) = (one for name, one in metric.compute().items() if "lifetime" in name)
    return float(value)


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": ..., "refused": ...} or {"pooled": value}}}."""
    tied = [user for user, own in case.run.items() if len(set(own.values())) < len(own)]
    untied = {user: own for user, own in case.grades().items() if user not in tied}
    relevant = {user: own for user, own in case.relevance().items() if user not in tied}
    how = {"k": case.k, "report_ndcg_as_decreasing_curve": False}
    values = {user: _compute(NDCGMetric, case, {user: own}, **how) for user, own in untied.items()}
    reason = "its order of equal scores is not stable"
    answers = {f"ndcg@{case.k}": per_user(values, dict.fromkeys(tied, reason))}
    for name, kind in (("precision", PrecisionSessionMetric), ("recall", RecallSessionMetric)):
        answer: dict[str, Any] = {"refused": reason}
        if not tied:
            answer = {"pooled": _compute(kind, case, relevant)}
        answers[f"{name}@{case.k}"] = answer
    return {"torchrec": answers}
