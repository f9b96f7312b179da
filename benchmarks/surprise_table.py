"""Surprise's own benchmark table, with the columns that it lacks, as a page in Markdown.

    python benchmarks/surprise_table.py ml-100k/u.data [--fewest 20] [--name "MovieLens 100K"]

The models, parameters, seeds and folds are those of examples/benchmark.py in Surprise's repository,
with one row for SVD++ and one for the most popular items. The file has user, item, rating and
perhaps a timestamp: CSV, tabs or '::'. On MovieLens 100K it takes about five minutes on two cores.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from surprise import (
    NMF,
    SVD,
    BaselineOnly,
    CoClustering,
    Dataset,
    KNNBaseline,
    KNNBasic,
    KNNWithMeans,
    NormalPredictor,
    Reader,
    SlopeOne,
    SVDpp,
)
from surprise.model_selection import KFold

import recsys_ndcg as rn
from recsys_ndcg.ratings import read_ratings
from recsys_ndcg.surprise import MostPopular, cross_validate

ALGORITHMS = {
    "SVD": SVD(random_state=0),
    "SVD++": SVDpp(random_state=0, cache_ratings=True),
    "NMF": NMF(random_state=0),
    "Slope One": SlopeOne(),
    "k-NN": KNNBasic(verbose=False),
    "Centered k-NN": KNNWithMeans(verbose=False),
    "k-NN Baseline": KNNBaseline(verbose=False),
    "Co-Clustering": CoClustering(random_state=0),
    "Baseline": BaselineOnly(verbose=False),
    "Random": NormalPredictor(),
    "*MostPopular*": MostPopular(),
}
#: RMSE and MAE on MovieLens 100K in Surprise's README.
PUBLISHED = {
    "SVD": (0.934, 0.737),
    "SVD++": (0.919, 0.721),
    "NMF": (0.963, 0.758),
    "Slope One": (0.946, 0.743),
    "k-NN": (0.98, 0.774),
    "Centered k-NN": (0.951, 0.749),
    "k-NN Baseline": (0.931, 0.733),
    "Co-Clustering": (0.963, 0.753),
    "Baseline": (0.944, 0.748),
    "Random": (1.518, 1.219),
}
NDCG = "ndcg@10:catalogue"
COLUMNS = {
    "ndcg@10": "NDCG@10, own ratings",
    NDCG: "NDCG@10, catalogue",
    "recall@10:catalogue": "recall@10, catalogue",
    "coverage@10:catalogue": "coverage@10",
    "popularity@10:catalogue": "popularity@10",
}
MEASURES = [*COLUMNS]


def cross_validate_all(data: Any, threshold: float) -> dict[str, Any]:
    """Return the cross-validation of every algorithm, on the same folds."""
    found = {}
    for name, algo in ALGORITHMS.items():
        print(f"{name} …", file=sys.stderr, flush=True)
        how: dict[str, Any] = {"cv": KFold(random_state=0), "threshold": threshold}
        np.random.seed(0)  # noqa: NPY002 - for NormalPredictor, which draws from the global state
        if name == "Random":  # ranking a catalogue draws, too, and would change its errors
            errors = cross_validate(algo, data, ["rmse", "mae"], **how)
            found[name] = cross_validate(algo, data, MEASURES, **how)
            found[name] |= errors
        else:
            found[name] = cross_validate(algo, data, ["rmse", "mae", *MEASURES], **how, n_jobs=2)
    return found


def build_table(found: dict[str, Any]) -> pd.DataFrame:
    """Return a row for each algorithm, best RMSE first, and one for random order, exactly."""
    metrics = [name for name in MEASURES if name.startswith(("ndcg", "recall"))]
    comparison = rn.compare(found, metrics=metrics, baseline="chance")
    rows = {}
    for name, one in found.items():
        errors = {"RMSE": one["test_rmse"].mean(), "MAE": one["test_mae"].mean()}
        means = {heading: one[f"test_{measure}"].mean() for measure, heading in COLUMNS.items()}
        tier = comparison.leaderboards[NDCG]["tier"][name]
        rows[name] = {**errors, **means, "tier": f"{tier:.0f}"}
    table = pd.DataFrame.from_dict(rows, orient="index").sort_values("RMSE")
    chance = {COLUMNS[one]: comparison.leaderboards[one]["mean"]["chance"] for one in metrics}
    table.loc["*random order, exactly*"] = {**chance, "tier": ""}
    return table


def describe(table: pd.DataFrame, ratings: pd.DataFrame) -> list[str]:
    """Return what the table shows, a sentence each."""
    models, chance = table.dropna(subset="RMSE"), table[COLUMNS[NDCG]].iloc[-1]
    catalogue, popularity = models[COLUMNS[NDCG]], models[COLUMNS["popularity@10:catalogue"]]
    by_rmse, by_ndcg = models.index[0], catalogue.idxmax()
    best = f"{catalogue[by_rmse]:.4f} and {catalogue[by_ndcg]:.4f}"
    lines = [f"{by_rmse} has the best RMSE, {by_ndcg} the best NDCG@10 of the catalogue: {best}."]
    worse = catalogue.index[catalogue < chance]
    if len(worse):
        first, place = worse[0], models.index.get_loc(worse[0]) + 1
        lines.append(
            f"{first} is number {place} by RMSE, and its NDCG@10 of the catalogue, "
            f"{catalogue[first]:.4f}, is below random order, {chance:.4f}. The items that it lists "
            f"were rated {popularity[first]:.1f} times on average in training; those of {by_ndcg}, "
            f"{popularity[by_ndcg]:.0f} times."
        )
    size = len(ratings), ratings["user"].nunique(), ratings["item"].nunique()
    if size == (100_000, 943, 1682):
        wrong = [
            name
            for name, published in PUBLISHED.items()
            if [*models.loc[name, ["RMSE", "MAE"]].round(3)] != [*published]
        ]
        same = "equal those of Surprise's README to three decimals"
        agree = f"differ from Surprise's README in {', '.join(wrong)}"
        lines.append(f"RMSE and MAE {agree if wrong else same}.")
    return lines


def format_page(table: pd.DataFrame, ratings: pd.DataFrame, name: str, threshold: float) -> str:
    """Return the page in Markdown."""
    digits = {"RMSE": 3, "MAE": 3, "coverage@10": 3, "popularity@10": 1}
    shown = pd.DataFrame(
        {
            heading: [
                one
                if isinstance(one, str)
                else ""
                if np.isnan(one)
                else f"{one:.{digits.get(heading, 4)}f}"
                for one in column
            ]
            for heading, column in table.items()
        },
        index=table.index.rename("model"),
    )
    users, items = ratings["user"].nunique(), ratings["item"].nunique()
    head = f"{name}: {len(ratings)} ratings, {users} users, {items} items; {threshold:g} and above "
    head += f"is relevant. scikit-surprise {version('scikit-surprise')}, 5 folds."
    sides = ["left", *["right"] * len(shown.columns)]
    lines = [f"- {line}" for line in describe(table, ratings)]
    return "\n".join(
        [head, "", shown.to_markdown(disable_numparse=True, colalign=sides), "", *lines]
    )


def main() -> None:
    """Read the ratings, and print the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("ratings", type=Path, help="a file of user, item, rating")
    parser.add_argument("--fewest", type=int, default=1, help="leave out users with fewer ratings")
    parser.add_argument("--name", help="the name of the data set, by default the file's")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", category=rn.DataWarning)
    ratings = read_ratings(options.ratings)
    ratings = ratings[ratings.groupby("user")["rating"].transform("size") >= options.fewest]
    scale = ratings["rating"].min(), ratings["rating"].max()
    data = Dataset.load_from_df(ratings[["user", "item", "rating"]], Reader(rating_scale=scale))
    threshold = 0.8 * scale[1]
    table = build_table(cross_validate_all(data, threshold))
    print(format_page(table, ratings, options.name or options.ratings.stem, threshold))


if __name__ == "__main__":
    main()
