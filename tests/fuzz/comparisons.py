"""Saved comparisons, damaged: refused, as `reports` are."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import recsys_ndcg as rn
from tests.comparison.models import models
from tests.files.made_earlier import FOLDER
from tests.fuzz.reports import damaged

if TYPE_CHECKING:
    import random


@cache
def _samples() -> list[bytes]:
    """Return real comparisons: of two models and of more, by several tests, with segments."""
    how = {"metrics": ["ndcg@3", "precision@3", "rmse"], "threshold": 4.0}
    comparisons = [
        rn.compare(models(users=20), **how),  # type: ignore[arg-type]
        rn.compare(models(users=9, a=1.0, b=2.0), metrics=["dcg@3"], margin=0.1, by="activity"),
        rn.compare(
            models(users=12),
            k=2,
            test="randomisation",
            draws=99,
            correction="holm",
            baseline="fair",
        ),
        rn.compare(models(users=12), k=2, baseline="chance", alpha=0.2),
    ]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.json"
        for one in comparisons:
            one.save(path)
            found.append(path.read_bytes())
    return [*found, *(one.read_bytes() for one in sorted(FOLDER.glob("comparison-*.json")))]


def case(chance: random.Random) -> bytes:
    """Change a comparison here and there."""
    return damaged(chance, chance.choice(_samples()))


def run(case: bytes, folder: Path) -> None:
    """Load it."""
    path = folder / "c.json"
    path.write_bytes(case)
    rn.Comparison.load(path)
