"""RMSE picks the wrong model: a grid search with four criteria shows the choice of each.

It searches 16 combinations of SVD's parameters in 3 folds, with Surprise. Pass a file of user,
item, rating (CSV or '::'-separated) to use your own ratings; users with fewer than 20 ratings are
left out. A rating is relevant if it is at least four fifths of the highest one.
"""

import sys
import warnings

import pandas as pd
from surprise import SVD, Dataset, Reader
from surprise.model_selection import KFold

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.ratings import read_ratings
from recsys_ndcg.surprise import GridSearchCV, MostPopular, cross_validate

MEASURES = ["rmse", "ndcg@10", "ndcg@10:catalogue", "recall@10:catalogue"]
GRID = {
    "n_factors": [20, 100],
    "n_epochs": [10, 40],
    "reg_all": [0.02, 0.1],
    "biased": [True, False],
    "random_state": [0],
}
FEWEST = 20
# a few test lists have only one item
warnings.filterwarnings("ignore", category=rn.DataWarning)

ratings = sample_ratings()
if len(sys.argv) > 1:
    ratings = read_ratings(sys.argv[1])
    ratings = ratings[ratings.groupby("user")["rating"].transform("size") >= FEWEST]
scale = ratings["rating"].min(), ratings["rating"].max()
data = Dataset.load_from_df(ratings[["user", "item", "rating"]], Reader(rating_scale=scale))
options = {"cv": KFold(3, random_state=0), "threshold": 0.8 * scale[1], "n_jobs": 2}

search = GridSearchCV(SVD, GRID, MEASURES, keep_per_user=True, **options)
search.fit(data)

results = search.to_frame()
rows = {}
for measure in MEASURES:
    best = results.loc[search.best_index[measure]]
    chosen = search.best_params[measure]
    biases = "biased" if chosen["biased"] else "unbiased"
    words = f"{chosen['n_factors']} f, {chosen['n_epochs']} ep, reg {chosen['reg_all']}, {biases}"
    rows[measure] = [words, *(best[f"mean_test_{name}"] for name in MEASURES)]
popular = cross_validate(MostPopular(), data, MEASURES, **options)
popular_means = [popular[f"test_{name}"].mean() for name in MEASURES[1:]]
rows["-"] = ["the most popular items", float("nan"), *popular_means]

users, items = ratings["user"].nunique(), ratings["item"].nunique()
print(
    f"{len(ratings)} ratings, {users} users, {items} items; "
    f"{0.8 * scale[1]:g} and above is relevant"
)
headings = ["parameters", "RMSE", "NDCG@10", "NDCG:cat.", "recall:cat."]
table = pd.DataFrame.from_dict(rows, orient="index", columns=headings)
print(table.to_string(float_format="{:.4f}".format, na_rep="-"))

comparison = rn.compare(search, metrics=[MEASURES[2]])  # averaged within each user, over folds
by_user = comparison.per_user[MEASURES[2]]
best, wrong = (comparison.models[search.best_index[name]] for name in (MEASURES[2], "rmse"))
better, worse = ((sign * (by_user[best] - by_user[wrong]) > 0).sum() for sign in (1, -1))
gain = comparison.leaderboard["mean"][best] / comparison.leaderboard["mean"][wrong] - 1
tiers = comparison.leaderboard["tier"]
print(
    f"\nIn ndcg@10:catalogue, the model chosen by it scores {gain:.0%} more than the one "
    "chosen by rmse:\n"
    f"better for {better} of {len(by_user)} users, worse for {worse}. "
    f"Of {len(tiers)} models, they are in tiers {tiers[best]} and {tiers[wrong]}."
)
