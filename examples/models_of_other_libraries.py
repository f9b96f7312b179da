"""Models of several libraries on the same folds.

A model that is not Surprise's is a function: it gets the ratings to train on, and returns a
function that estimates pairs of user and item. This one trains least squares of implicit, which
``pip install implicit`` brings.
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
    """Train on who rated what, and how highly."""
    users, items = train["user"].astype("category"), train["item"].astype("category")
    weights = csr_matrix((train["rating"], (users.cat.codes, items.cat.codes))).astype("float32")
    with threadpool_limits(1, "blas"):
        model = AlternatingLeastSquares(factors, random_state=seed, num_threads=1)
        model.fit(weights, show_progress=False)

    def estimates(pairs: pd.DataFrame) -> np.ndarray:
        user = pd.Categorical(pairs["user"], users.cat.categories).codes
        item = pd.Categorical(pairs["item"], items.cat.categories).codes
        scores = (model.user_factors[user] * model.item_factors[item]).sum(axis=1)
        scores[(user < 0) | (item < 0)] = -1e3  # nothing is known of them
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
            protocol="catalogue",  # "both" ranks the test ratings alone, too
            splits=3,
            folder=folder,  # the same call goes on where another was stopped
            n_jobs=2,
        )
        print(comparison)
        print(rn.load_runs(folder).table[["ndcg@10:catalogue", "users", "fit_time"]].round(2))
