"""One test set, three models, and each library's number for coverage, Gini, novelty and their kin.

    RECSYS_NDCG_DATA=... python benchmarks/beyond_accuracy.py

The ratings are MovieTweetings-100K (users with at least 20 ratings, a random fifth is the test
set). Each model recommends the ten best films that a user has not rated in training.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from typing import Any

import pandas as pd
from surprise import SVD, Dataset, KNNBaseline, Reader
from surprise.model_selection import train_test_split

import recsys_ndcg as rn
from recsys_ndcg.surprise import MostPopular, rank_catalogue

LEAST, K, THRESHOLD = 20, 10, 8
MODELS = {
    "SVD": SVD(random_state=0),
    "MostPopular": MostPopular(),
    "k-NN": KNNBaseline(verbose=False),
}
#: By measure, our metric and the libraries whose definitions are compared.
MEASURES = {
    "ndcg": ["(ours)"],
    "coverage": ["(ours)", "recommenders", "recbole", "replay"],
    "gini": ["(ours)", "evidently", "recbole", "elliot"],
    "entropy": ["(ours)", "warprec", "recbole"],
    "popularity": ["(ours)", "rectools"],
    "tail": ["(ours)", "recbole", "elliot"],
    "novelty": ["(ours)", "replay", "recommenders"],
    "epc": ["elliot"],
    "diversity(genres)": ["(ours)"],
    "personalization": ["(ours)", "evidently"],
}


def read_ratings(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the ratings of active users, and the genres of the films."""
    names = ["user", "item", "rating", "time"]
    how: dict[str, Any] = {"sep": "::", "engine": "python", "header": None}
    ratings = pd.read_csv(folder / "ratings.dat", names=names, dtype={"item": str}, **how)
    films = pd.read_csv(
        folder / "movies.dat", names=["item", "title", "genres"], dtype=str, encoding="utf-8", **how
    )
    active = ratings["user"].map(ratings["user"].value_counts()) >= LEAST
    genres = films["genres"].fillna("").str.split("|").map(set)
    return ratings[active], films[["item"]].assign(genres=genres)


def main() -> None:
    """Print the table."""
    folder = Path(os.environ.get("RECSYS_NDCG_DATA", "")) / "movietweetings-100k"
    if not folder.exists():
        sys.exit("Set RECSYS_NDCG_DATA to the folder that has movietweetings-100k/.")
    warnings.simplefilter("ignore", rn.DataWarning)
    ratings, films = read_ratings(folder)
    data = Dataset.load_from_df(ratings[["user", "item", "rating"]], Reader(rating_scale=(0, 10)))
    trainset, testset = train_test_split(data, test_size=0.2, random_state=0)
    known = {trainset.to_raw_iid(item) for item in trainset.all_items()}
    test = pd.DataFrame(testset, columns=["user", "item", "true"])
    test = test[test["user"].isin({trainset.to_raw_uid(u) for u in trainset.all_users()})]
    lists = {}
    for name, algo in MODELS.items():
        users = sorted(test["user"].unique())
        lists[name] = rank_catalogue(algo.fit(trainset), trainset, K, users=users, progress=False)
    print(f"{len(ratings)} ratings, {test['user'].nunique()} test users, {len(known)} films")
    heading = f"{'measure':18} {'as in':13}" + "".join(f"{name:>13}" for name in MODELS)
    print(heading, "best", sep="  ")
    for measure, libraries in MEASURES.items():
        for library in libraries:
            values = {}
            for name, top in lists.items():
                convention = None if library == "(ours)" else library
                report = rn.evaluate(
                    {"labels": test, "results": top[["user", "item", "rank"]]},
                    metrics=f"{measure}@{K}",
                    threshold=THRESHOLD,
                    train=trainset,
                    catalogue=known,
                    features=films,
                    convention=convention,
                )
                is_pooled = library == "recommenders" and measure == "novelty"
                values[name] = (report.pooled if is_pooled else report.mean).iloc[0]
            metric = report._data.audit.measurements[0].metric
            lower = not metric.greater_is_better
            if library == "elliot" and measure == "gini":
                lower = False  # it is 1 - Gini there
            best = min(values, key=values.__getitem__) if lower else max(values, key=values.get)
            row = "".join(f"{value:13.4f}" for value in values.values())
            print(f"{measure:18} {library:13}{row}  {best}")


if __name__ == "__main__":
    main()
