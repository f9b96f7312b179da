"""Small ratings and quick models; a test that asks for Surprise's is skipped without them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.experiments import ExperimentComparison
from recsys_ndcg.experiments.ratings import digest_split
from recsys_ndcg.ratings import Interactions
from tests.profiles import slow

#: A metric that is no sum over labels, so nothing is measured by item.
QUICK: dict[str, Any] = {"metrics": ["rr@5"], "threshold": 4}
#: Training in this process, and in workers.
JOBS = [1, *slow(2)]


@cache
def ratings(n_users: int = 30) -> pd.DataFrame:
    """Return ratings of eighty items."""
    return sample_ratings(n_users=n_users, n_items=80)


def digest(trainset: Any, testset: list[Any]) -> str:
    """Return the digest of a split."""
    return digest_split(Interactions.from_trainset(trainset), trainset.rating_scale, testset)


def models(*names: str) -> dict[str, Any]:
    """Return two quick models, or those with the given names."""
    pytest.importorskip("surprise")
    from surprise import BaselineOnly  # noqa: PLC0415 - an extra

    from recsys_ndcg.surprise import SVD, MostPopular  # noqa: PLC0415 - an extra

    known = {"SVD": SVD(n_factors=3, n_epochs=2), "biases": BaselineOnly(), "top": MostPopular()}
    return {name: known[name] for name in names or ("SVD", "top")}


def with_top(model: Any) -> dict[str, Any]:
    """Return a model, and one to compare it with."""
    return {"f": model, **models("top")}


def run(given: dict[str, Any] | None = None, **options: Any) -> ExperimentComparison:
    """Run an experiment of two folds without a progress bar."""
    asked = {"metrics": ["ndcg@5"], "splits": 2, "progress": False, **options}
    return rn.experiment(asked.pop("data", ratings()), given or models(), **asked)


run_once = cache(run)  # for what is only read


def item_means(train: pd.DataFrame) -> Callable[[pd.DataFrame], Any]:
    """Return a function that estimates pairs by the mean rating of the item."""
    means = train.groupby("item")["rating"].mean()
    return lambda pairs: pairs["item"].map(means).fillna(0.0)
