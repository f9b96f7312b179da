"""May the new model replace the old one? Run it as a test: pytest examples/test_quality_gate.py."""

from __future__ import annotations

import numpy as np

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings

MARGIN = 0.005  # of NDCG@10: the largest difference that does not matter


def predictions(noise: float, users: int = 300, seed: int = 0) -> list[tuple]:
    """Return made-up predictions; in a pipeline, use the path of a file instead."""
    rows = sample_ratings().rename(columns={"rating": "true"})
    rows = rows[rows["user"].isin(rows["user"].unique()[:users])]
    error = np.random.default_rng(seed).normal(scale=noise, size=len(rows))
    rows["estimated"] = rows["true"] + error
    return list(rows[["user", "item", "estimated", "true"]].itertuples(index=False, name=None))


def compare_models(old: list[tuple], new: list[tuple]) -> rn.Comparison:
    """Compare two models on the users that both have."""
    return rn.compare({"old": old, "new": new}, metrics=["ndcg@10"], users="common")


def test_the_new_model_is_not_worse() -> None:
    """It fails if the model is worse by the margin, or if there are too few users to tell."""
    comparison = compare_models(predictions(1.0), predictions(0.8, seed=1))
    gate = comparison.not_worse("new", "old", margin=MARGIN)
    assert gate, gate.reason


if __name__ == "__main__":
    old, few = predictions(1.0), predictions(1.0, users=12)
    cases = {
        "better": compare_models(old, predictions(0.8, seed=1)),
        "worse": compare_models(old, predictions(1.2, seed=1)),
        "few users": compare_models(few, predictions(1.0, users=12, seed=12)),
    }
    for name, comparison in cases.items():
        gate = comparison.not_worse("new", "old", margin=MARGIN)
        print(f"{name}: {'passed' if gate else 'failed'}. {gate.reason}")
