"""Saved comparisons, damaged: rejected, as `reports` are."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import recsys_ndcg as rn
from tests.comparison.models import models
from tests.files.examples import comparisons
from tests.fuzz.damage import saved_bytes
from tests.fuzz.reports import damaged


@cache
def _samples() -> list[bytes]:
    """Return comparisons: of two models and of more, by several tests, with segments."""
    two = rn.compare(models(users=9, a=1.0, b=2.0), metrics=["dcg@3"], margin=0.1, by="activity")
    made = [two, rn.compare(models(users=20), threshold=4.0), *comparisons().values()]
    return [*map(saved_bytes, made)]


def case(chance: random.Random) -> bytes:
    """Change a comparison here and there."""
    return damaged(chance, chance.choice(_samples()))


def run(case: bytes, folder: Path) -> None:
    """Load it."""
    path = folder / "c.json"
    path.write_bytes(case)
    rn.Comparison.load(path)
