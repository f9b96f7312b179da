"""Reports and comparisons to save: with ids of every type, segments, several runs."""

from __future__ import annotations

from typing import Any

import recsys_ndcg as rn
from tests.comparison.models import models

METRICS = ["ndcg@2", "precision@2", "ap@2", "rr", "rmse"]
ROWS: list[tuple[Any, Any, float, float | None]] = [
    ("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("ann", "c", 3.0, 2),
    ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2), ("Zoë", "d", 5.0, 1), ("Zoë", "e", 4.0, None),
]  # fmt: skip
IDS: dict[str, list[Any]] = {
    "text": ["ann", "bob", "Zoë"], "whole": [-5, 2**33, 7], "large": [1, 2**70, -(2**70)],
    "decimal": [0.5, -1e300, 3.0], "mixed": ["1", 2, 2.5],
}  # fmt: skip


def reports() -> dict[str, rn.Report]:
    """Return reports by name."""
    found = {}
    for name, ids in IDS.items():
        of_text = dict(zip(IDS["text"], ids, strict=True))
        rows = [(of_text[user], *rest) for user, *rest in ROWS]
        found[name] = rn.evaluate(rows, metrics=METRICS, threshold=2)
    drawn = models(users=40)["fair"]
    chosen = rn.Convention(undefined=0.0, short_list="drop", gain="linear")
    found["drawn"] = rn.evaluate(drawn, k=[3, 5], threshold=4, convention=chosen)
    found["part"] = found["drawn"].take(["u0003", "u0001", "u0030"])
    return found


def comparisons() -> dict[str, rn.Comparison]:
    """Return comparisons by name."""
    drawn = models(users=24)
    two: dict[str, Any] = {"metrics": ["ndcg@3", "rmse"]}
    test: dict[str, Any] = {"test": "randomisation", "draws": 199}
    runs = [rn.evaluate(models(users=12, seed=0, a=1.0 + seed)["a"]) for seed in range(2)]
    return {
        "segments": rn.compare(drawn, margin=0.02, by="list_length", alpha=0.1, **two),
        "drawn": rn.compare(drawn, k=2, correction="holm", baseline="chance", **test),
        "runs": rn.compare({"runs": runs, "one": models(users=12, b=3.0)["b"]}),
    }
