"""Train and compare models of several libraries on the same folds.

A model of another library is a function: it receives the training ratings and returns a
function that estimates pairs of user and item. This one trains implicit's alternating least
squares (``pip install implicit``).
"""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pandas as pd
from implicit.als import AlternatingLeastSquares
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.surprise import SVD, MostPopular

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    Estimates = Callable[[pd.DataFrame], np.ndarray]


def least_squares(train: pd.DataFrame, seed: int, factors: int = 16) -> Estimates:
    """Train on all ratings."""
    users, items = train["user"].astype("category"), train["item"].astype("category")
    weights = csr_matrix((train["rating"], (users.cat.codes, items.cat.codes))).astype("float32")
    with threadpool_limits(1, "blas"):
        model = AlternatingLeastSquares(factors, random_state=seed, num_threads=1)
        model.fit(weights, show_progress=False)

    def estimates(pairs: pd.DataFrame) -> np.ndarray:
        user = pd.Categorical(pairs["user"], users.cat.categories).codes
        item = pd.Categorical(pairs["item"], items.cat.categories).codes
        scores = (model.user_factors[user] * model.item_factors[item]).sum(axis=1)
        scores[(user < 0) | (item < 0)] = -1e3  # unknown users and items
        return scores

    return estimates


if __name__ == "__main__":
    models = {
        "SVD": SVD(n_factors=20),
        "popular": MostPopular(),
        "ALS": least_squares,
    }
    with tempfile.TemporaryDirectory() as folder:
        comparison = rn.experiment(
            sample_ratings(),
            models,
            metrics=["ndcg@10", "recall@10"],
            threshold=4,
            protocol="catalogue",  # "both" also ranks only the test ratings
            splits=3,
            folder=folder,  # the same call resumes an interrupted run
            n_jobs=2,
            progress=False,  # otherwise a line per fold, or bars on a terminal
        )
        print(comparison)
        print(rn.load_runs(folder).table[["ndcg@10:catalogue", "users", "fit_seconds"]].round(2))
