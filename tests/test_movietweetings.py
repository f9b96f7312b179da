"""Real ratings, where most users have fewer test ratings than the cutoff."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.ratings import read_ratings

FOLDER = os.environ.get("RECSYS_NDCG_DATA")
K = 10
pytestmark = [
    pytest.mark.skipif(FOLDER is None, reason="RECSYS_NDCG_DATA is not set"),
    pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning"),
]


@pytest.fixture(scope="module")
def predictions() -> pd.DataFrame:
    """Predict a fifth of the ratings by the means of user and item."""
    ratings = read_ratings(Path(str(FOLDER)) / "movietweetings-100k" / "ratings.dat")
    test = np.random.default_rng(0).random(len(ratings)) < 0.2
    train, rest = ratings[~test], ratings[test]
    overall = train["rating"].mean()
    users, items = (train.groupby(key)["rating"].mean() - overall for key in ("user", "item"))
    estimated = overall + rest["user"].map(users).fillna(0) + rest["item"].map(items).fillna(0)
    columns = {"user": rest["user"], "item": rest["item"], "true": rest["rating"]}
    return pd.DataFrame(columns).assign(estimated=estimated)


@pytest.fixture(scope="module")
def report(predictions: pd.DataFrame) -> rn.Report:
    """Return the report under the default choices."""
    return rn.evaluate(predictions, metrics=["ndcg", "precision"], k=K, threshold=8)


def test_item_ids_keep_their_leading_zeros(predictions: pd.DataFrame) -> None:
    """Films are known by seven digits, the first of which are often zeros."""
    assert predictions["item"].str.len().min() == 7


def test_precision_divides_by_k_by_default(predictions: pd.DataFrame, report: rn.Report) -> None:
    """Most users are short, and hits are divided by k all the same."""
    sizes = predictions.groupby("user").size()
    hits = (predictions["true"] >= 8).groupby(predictions["user"]).sum()
    assert report.counts["short"] == int((sizes < K).sum())
    assert report.counts["short"] > 0.9 * len(sizes)
    assert (report.per_user["n_items"] == sizes).all()
    short = sizes[sizes < K].index
    np.testing.assert_allclose(report.per_user.loc[short, "precision@10"], hits[short] / K)


def test_random_order_scores_above_nine_tenths(report: rn.Report) -> None:
    """The chance level of the rated protocol, which a bare score hides."""
    assert report.summary["chance"]["ndcg@10"] > 0.9
    assert report.counts["trivial"] > 0.5 * report.counts["users"]
