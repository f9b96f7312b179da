"""How many numbers does one metric have for one file of predictions? Almost one per library.

Ratings are predicted from user and item means, and evaluated under each library's
conventions. Pass a file of user, item, rating (CSV or '::'-separated) and a threshold to use your
own ratings.
"""

import sys
import warnings

import numpy as np
import pandas as pd

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.ratings import read_ratings

METRICS = ["ndcg@10", "precision@10", "recall@10", "ap@10"]


def predictions(ratings: pd.DataFrame) -> pd.DataFrame:
    """Predict a fifth of the ratings from the means of the rest."""
    test = np.random.default_rng(0).random(len(ratings)) < 0.2
    train, rest = ratings[~test], ratings[test]
    overall = train["rating"].mean()
    users, items = (train.groupby(key)["rating"].mean() - overall for key in ("user", "item"))
    biases = rest["user"].map(users).fillna(0) + rest["item"].map(items).fillna(0)
    columns = {"rating": "true"}
    low, high = ratings["rating"].min(), ratings["rating"].max()
    return rest.rename(columns=columns).assign(estimated=(overall + biases).clip(low, high))


def main() -> None:
    """Print the numbers of all presets."""
    # about short lists and ties, which are what libraries treat differently
    warnings.filterwarnings("ignore", category=rn.DataWarning)
    ratings = read_ratings(sys.argv[1]) if len(sys.argv) > 1 else sample_ratings()
    threshold = float(sys.argv[2]) if len(sys.argv) > 2 else 4.0
    table = rn.reconcile(predictions(ratings), METRICS, threshold=threshold)

    own = table.groupby("metric")["yours"].first()
    computed = table[table["note"] == ""]  # for the libraries that have the metric
    values = computed.pivot_table(index="preset", columns="metric", values="value", sort=False)[
        METRICS
    ]
    values.loc["(by default here)"] = own
    values.loc["lowest"], values.loc["highest"] = values.min(), values.max()
    print(
        values.to_string(
            float_format="{:.4f}".format, na_rep="-", header=METRICS, index_names=False
        )
    )

    causes = computed[computed["preset"] == "evidently"].set_index("metric")["changes"]
    print("\nWhy precision@10 is so high in evidently:", causes["precision@10"])


if __name__ == "__main__":
    main()
