"""What the tests of experiments run: small ratings, and models that do what they are told."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from surprise import AlgoBase, BaselineOnly

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.surprise import SVD, MostPopular

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd


@cache
def ratings() -> pd.DataFrame:
    """Return ratings of sixty users."""
    return sample_ratings(n_users=60, n_items=80)


def models() -> dict[str, Any]:
    """Return three models that take no time."""
    return {"SVD": SVD(n_factors=3, n_epochs=2), "biases": BaselineOnly(), "top": MostPopular()}


def run(given: dict[str, Any] | None = None, **options: Any) -> rn.Comparison:
    """Run an experiment of two folds, in silence."""
    asked = {"metrics": ["ndcg@5"], "splits": 2, "progress": False, **options}
    return rn.experiment(asked.pop("data", ratings()), given or models(), **asked)


def item_means(train: pd.DataFrame) -> Callable[[pd.DataFrame], Any]:
    """Return a function that estimates pairs by the mean rating of the item."""
    means = train.groupby("item")["rating"].mean()
    return lambda pairs: pairs["item"].map(means).fillna(0.0)


class Failing(AlgoBase):  # type: ignore[misc] # surprise has no types
    """A model that fails in its n-th fold, counted over all copies of it."""

    calls = 0

    def __init__(self, fold: int) -> None:
        AlgoBase.__init__(self)
        self.fold = fold

    def fit(self, trainset: Any) -> Failing:
        """Fail in one fold."""
        type(self).calls += 1
        if type(self).calls == self.fold:
            msg = "no convergence"
            raise RuntimeError(msg)
        AlgoBase.fit(self, trainset)
        return self

    def estimate(self, user: int, item: int) -> float:
        """Return something that orders."""
        return float((user + item) % 5)


class Elsewhere(AlgoBase):  # type: ignore[misc] # surprise has no types
    """A model whose test leaves out the first pair, and adds one that nobody asked for."""

    def estimate(self, user: int, item: int) -> float:
        """Return something that orders."""
        return float((user + item) % 5)

    def test(self, testset: list[Any], verbose: bool = False) -> list[Any]:  # noqa: FBT001, FBT002
        """Return predictions of other pairs."""
        first, *others = AlgoBase.test(self, testset, verbose)
        return [*others, first._replace(uid="nobody")]
