"""The content of the files in ``earlier``: reports, comparisons and a run of version 0.1.0.

They have the formats before archives: report 4, comparison 1, run, model and cell 2. The package
of that time wrote them. ``report-own`` is ``report-text`` with a metric of a user's own: the name
"precision@2" became "homemade@2", which is unknown when the file is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from tests.comparison.models import models

FOLDER = Path(__file__).parent / "earlier"
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
    """Return the reports by the names of their files."""
    found = {}
    for name, ids in IDS.items():
        of_text = dict(zip(IDS["text"], ids, strict=True))
        rows = [(of_text[user], *rest) for user, *rest in ROWS]
        found[f"report-{name}"] = rn.evaluate(rows, metrics=METRICS, threshold=2)
    drawn = models(users=40)["fair"]
    chosen = rn.Convention(undefined=0.0, short_list="drop", gain="linear")
    found["report-drawn"] = rn.evaluate(drawn, k=[3, 5], threshold=4, convention=chosen)
    found["report-part"] = found["report-drawn"].take(["u0003", "u0001", "u0030"])
    return found


def comparisons() -> dict[str, rn.Comparison]:
    """Return the comparisons by the names of their files."""
    drawn = models(users=24)
    two: dict[str, Any] = {"metrics": ["ndcg@3", "rmse"]}
    test: dict[str, Any] = {"test": "randomisation", "draws": 199}
    runs = [rn.evaluate(models(users=12, seed=0, a=1.0 + seed)["a"]) for seed in range(2)]
    return {
        "comparison-segments": rn.compare(drawn, margin=0.02, by="list_length", alpha=0.1, **two),
        "comparison-drawn": rn.compare(drawn, k=2, correction="holm", baseline="chance", **test),
        "comparison-runs": rn.compare({"runs": runs, "one": models(users=12, b=3.0)["b"]}),
    }


def run(folder: Path) -> rn.Comparison:
    """Do the experiment in a folder."""
    from surprise import BaselineOnly  # noqa: PLC0415 - an extra

    from recsys_ndcg.surprise import MostPopular  # noqa: PLC0415 - an extra

    ratings, algorithms = sample_ratings(12, 30), {"top": MostPopular(), "biases": BaselineOnly()}
    how: dict[str, Any] = {"metrics": ["ndcg@3"], "splits": 2, "folder": folder}
    return rn.experiment(ratings, algorithms, progress=False, **how)
