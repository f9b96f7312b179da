"""Saved comparisons, damaged: refused, or all that a comparison has can be asked for."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import recsys_ndcg as rn
from tests.comparison.models import models
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
    return found


def case(chance: random.Random) -> bytes:
    """Change a comparison here and there."""
    return damaged(chance, chance.choice(_samples()))


def run(case: bytes, folder: Path) -> None:
    """Load it, and ask for all that it has."""
    path = folder / "c.json"
    path.write_bytes(case)
    comparison = rn.Comparison.load(path)
    try:
        with np.errstate(all="raise", under="ignore"):
            said = [str(comparison), comparison.verdict, json.dumps(comparison.to_dict())]
            said += [comparison.to_markdown(), comparison.to_latex(pairs=True)]
            comparison.movers(2)
            if comparison.compared.groups is not None:
                said.append(comparison.segments.to_string())
    except rn.RecsysNdcgError as error:
        msg = "a comparison that was loaded refuses to be looked at"
        raise AssertionError(msg) from error
    assert all(said)
    board = comparison.leaderboard
    assert (board["rank_low"] <= board["rank_high"]).all()
