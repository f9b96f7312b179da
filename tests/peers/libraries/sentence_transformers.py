"""Sentence Transformers: the metrics of its InformationRetrievalEvaluator, one query at a time.

It leaves out queries without relevant documents. Users are queries, items are documents.
"""

from __future__ import annotations

from typing import Any

from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

from tests.peers.cases import Case, per_user

DISTRIBUTION = "sentence-transformers"
METRICS = {
    "ndcg": "ndcg@k", "precision": "precision@k", "recall": "recall@k", "ap": "map@k",
    "rr": "mrr@k", "hit": "accuracy@k",
}  # fmt: skip
CUTOFFS = ("mrr_at_k", "ndcg_at_k", "accuracy_at_k", "precision_recall_at_k", "map_at_k")


def scores(case: Case) -> dict[str, dict[str, Any]]:
    """Return {preset: {metric: {"per_user": {user: value}, "refused": {user: message}}}}."""
    found: dict[str, dict[str, float]] = {name: {} for name in METRICS}
    for user, liked in case.liked().items():
        own = case.run.get(user, {})
        documents = dict.fromkeys([*own, *liked], "text")
        evaluator = InformationRetrievalEvaluator(
            {user: "text"}, documents, {user: {*liked}}, **{name: [case.k] for name in CUTOFFS}
        )
        hits = [{"corpus_id": item, "score": score} for item, score in own.items()]
        values = evaluator.compute_metrics([hits])
        for name, metric in METRICS.items():
            found[name][user] = float(values[metric][case.k])
    answers = {f"{name}@{case.k}": per_user(values) for name, values in found.items()}
    return {"sentence_transformers": answers}
