"""Small ratings, quick models, and models that fail on request."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
from surprise import AlgoBase, BaselineOnly

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.surprise import SVD, MostPopular
from tests.profiles import slow

_CALLS = "RECSYS_NDCG_TEST_CALLS"
#: Training in this process, and in workers.
JOBS = [1, *slow(2)]


@cache
def ratings() -> pd.DataFrame:
    """Return ratings of sixty users."""
    return sample_ratings(n_users=60, n_items=80)


def models() -> dict[str, Any]:
    """Return three quick models."""
    return {"SVD": SVD(n_factors=3, n_epochs=2), "biases": BaselineOnly(), "top": MostPopular()}


def with_top(model: Any) -> dict[str, Any]:
    """Return a model, and one to compare it with."""
    return {"f": model, "top": MostPopular()}


def run(given: dict[str, Any] | None = None, **options: Any) -> rn.Comparison:
    """Run an experiment of two folds without a progress bar."""
    asked = {"metrics": ["ndcg@5"], "splits": 2, "progress": False, **options}
    return rn.experiment(asked.pop("data", ratings()), given or models(), **asked)


def item_means(train: pd.DataFrame) -> Callable[[pd.DataFrame], Any]:
    """Return a function that estimates pairs by the mean rating of the item."""
    means = train.groupby("item")["rating"].mean()
    return lambda pairs: pairs["item"].map(means).fillna(0.0)


class Failing(AlgoBase):  # type: ignore[misc] # surprise has no types
    """A model that fails in its n-th fold, counted over all its copies.

    The count is in the environment: an attribute would be part of the model's fingerprint.
    """

    def __init__(self, fold: int) -> None:
        AlgoBase.__init__(self)
        self.fold = fold

    def fit(self, trainset: Any) -> Failing:
        """Fail in one fold."""
        calls = int(os.environ.get(_CALLS, "0")) + 1
        os.environ[_CALLS] = str(calls)
        if calls == self.fold:
            msg = "no convergence"
            raise RuntimeError(msg)
        AlgoBase.fit(self, trainset)
        return self

    @staticmethod
    def forget() -> None:
        """Count from zero again."""
        os.environ.pop(_CALLS, None)

    def estimate(self, user: int, item: int) -> float:
        """Return an arbitrary number."""
        return float((user + item) % 5)
