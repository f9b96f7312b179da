"""The numbers of an experiment, compared with formulas in plain Python."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from surprise import AlgoBase, Dataset, NormalPredictor, Reader

from recsys_ndcg.surprise import MostPopular, UserKFold
from tests.experiments.made import ratings, run

if TYPE_CHECKING:
    import pandas as pd


def _estimate(item: str) -> float:
    return (int(item[1:]) * 37) % 101 / 20


def _fixed(_: pd.DataFrame) -> Any:
    return lambda pairs: [_estimate(item) for item in pairs["item"]]


def _ndcg(rows: list[tuple[float, float]], k: int) -> float:
    """Return NDCG@k of (estimated, true) rows without ties."""
    ranked = [true for _, true in sorted(rows, key=lambda row: -row[0])]
    best = sorted(ranked, reverse=True)
    dcg, ideal = (
        sum((2**true - 1) / math.log2(rank + 2) for rank, true in enumerate(order[:k]))
        for order in (ranked, best)
    )
    return dcg / ideal


def test_the_mean_is_over_users() -> None:
    """Each user counts once, in however many folds and seeds the user is."""
    table = ratings()[["user", "item", "rating"]]
    kept = table.groupby("user").cumcount() < np.arange(len(table)) % 3 + 2
    table = table[kept]
    assert len({*table.groupby("user").size()}) > 1
    scale = table["rating"].min(), table["rating"].max()
    data = Dataset.load_from_df(table, Reader(rating_scale=scale))
    scores = defaultdict(list)
    for seed in (3, 8):
        for _, testset in UserKFold(3, random_state=seed).split(data):
            rows = defaultdict(list)
            for user, item, true in testset:
                rows[user].append((_estimate(item), true))
            for user, some in rows.items():
                scores[user].append(_ndcg(some, 5))
    per_user = {user: fmean(some) for user, some in scores.items()}
    found = run({"fixed": _fixed, "top": MostPopular()}, data=table, splits=3, seeds=[3, 8])
    assert found.per_user["ndcg@5", "fixed"].to_dict() == pytest.approx(per_user, abs=1e-12)
    assert found.leaderboard.loc["fixed", "mean"] == pytest.approx(
        fmean(per_user.values()), abs=1e-12
    )


def test_each_seed_has_its_own_random_numbers() -> None:
    """Also of models that draw from NumPy's global state."""
    found = run({"random": NormalPredictor(), "top": MostPopular()}, splits=_Same(), seeds=2)
    of_seed = [found.runs.loc["random"].xs(seed, level="seed")["ndcg@5"].iloc[0] for seed in (0, 1)]
    assert of_seed[0] != of_seed[1]


def test_several_seeds_replace_random_states() -> None:
    """Of models and splits; otherwise all seeds would give the same numbers."""

    class Seeded(AlgoBase):  # type: ignore[misc] # surprise has no types
        def __init__(self, random_state: int) -> None:
            AlgoBase.__init__(self)
            self.random_state = random_state

        def estimate(self, user: int, item: int) -> float:
            drawn = np.random.default_rng([self.random_state, user, item])
            return float(drawn.random())

    given = {"seeded": Seeded(random_state=9), "top": MostPopular()}
    same = run(given, splits=_Same(), seeds=[1, 2]).runs
    assert len({*same.loc["seeded"]["ndcg@5"]}) == 2
    parted = run(given, splits=UserKFold(2, random_state=4), seeds=[1, 2]).runs
    assert len({*parted.loc["top"]["ndcg@5"]}) == 4


class _Same:
    """A split that is the same whatever the seed."""

    def split(self, data: Any) -> Any:
        yield next(UserKFold(2, random_state=0).split(data))
