"""Evaluate what implicit, LensKit, RecTools and RecBole return, with a line or two each.

If a library is not installed, the list of the most popular items replaces its results, in the
format that it returns, so that the script runs everywhere; the output says so.
"""

from importlib import import_module
from importlib.metadata import version

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings

K = 10
METRICS = ["ndcg", "precision", "recall"]


def installed(name: str) -> bool:
    """Return whether a library is installed."""
    try:
        import_module(name)
    except ImportError:
        return False
    return True


def print_scores(name: str, lists: rn.RankedLists, threshold: float | None = None) -> None:
    """Print the scores of a library."""
    used = installed(name) and name != "recbole"
    whose = version(name) if used else "not used: the most popular items"
    mean = rn.evaluate(lists, metrics=METRICS, k=K, threshold=threshold).mean
    print(f"{name} ({whose}): {' '.join(f'{metric} {x:.4f}' for metric, x in mean.items())}")


# liked items, with ids as whole numbers from 0; a fifth of them are the test
ratings = sample_ratings().query("rating >= 4")
data = pd.DataFrame(
    {
        "user_id": pd.factorize(ratings["user"], sort=True)[0],
        "item_id": pd.factorize(ratings["item"], sort=True)[0],
        "rating": ratings["rating"].to_numpy(),
    }
)
is_test = np.random.default_rng(0).random(len(data)) < 0.2
train = data[~is_test]
test = data[is_test & data["user_id"].isin(train["user_id"])]
shape = data["user_id"].max() + 1, data["item_id"].max() + 1
users = test["user_id"].unique()


def matrix(frame: pd.DataFrame) -> csr_matrix:
    """Return the liked items as a matrix, users x items."""
    return csr_matrix((np.ones(len(frame)), (frame["user_id"], frame["item_id"])), shape)


def most_popular() -> tuple[np.ndarray, np.ndarray]:
    """Return the first K items of each user, and scores: two arrays, users x K."""
    counts = np.asarray(matrix(train).sum(axis=0)).ravel()
    known = matrix(train)[users].toarray() > 0
    items = np.argsort(np.where(known, 1.0, -counts), axis=1, kind="stable")[:, :K]
    return items, np.tile(np.linspace(1, 0.1, K, dtype=np.float32), (len(users), 1))


def as_table(items: np.ndarray, scores: np.ndarray) -> pd.DataFrame:
    """Return items and scores as a table, one row per user and item."""
    rank = np.tile(np.arange(1, K + 1), len(users))
    columns = {"user_id": users.repeat(K), "item_id": items.ravel(), "score": scores.ravel()}
    return pd.DataFrame({**columns, "rank": rank})


# implicit: two arrays, users x K, and matrices of liked items
if installed("implicit"):
    from implicit.als import AlternatingLeastSquares

    model = AlternatingLeastSquares(factors=16, random_state=0)
    model.fit(matrix(train), show_progress=False)
    items, scores = model.recommend(users, matrix(train)[users], N=K)
else:
    items, scores = most_popular()
results = {user: list(zip(*one)) for user, *one in zip(users, items, scores)}
print_scores("implicit", rn.RankedLists.from_labels(matrix(test), results))

# LensKit: an ItemListCollection, whose to_df() has the columns user_id, item_id, score, rank
if installed("lenskit"):
    from lenskit import batch
    from lenskit.basic import PopScorer
    from lenskit.data import from_interactions_df
    from lenskit.pipeline import topn_pipeline

    pipeline = topn_pipeline(PopScorer())
    pipeline.train(from_interactions_df(train))
    frame = batch.recommend(pipeline, users.tolist(), K, n_jobs=1).to_df()
else:
    frame = as_table(*most_popular())
columns = {"user": "user_id", "item": "item_id", "true": "rating"}
lists = rn.RankedLists.from_labels(test, frame, columns=columns)
print_scores("lenskit", lists, threshold=4)

# RecTools: a table with the columns user_id, item_id, score, rank; interactions have a weight
interactions = train.rename(columns={"rating": "weight"}).assign(datetime="2025-01-01")
if installed("rectools"):
    from rectools.dataset import Dataset
    from rectools.models import PopularModel

    dataset = Dataset.construct(interactions)
    popular = PopularModel().fit(dataset)
    frame = popular.recommend(users=users, dataset=dataset, k=K, filter_viewed=True)
else:
    frame = as_table(*most_popular())
columns = {"user": "user_id", "item": "item_id", "true": "weight"}
lists = rn.RankedLists.from_labels(
    test.rename(columns={"rating": "weight"}), frame, columns=columns
)
print_scores("rectools", lists, threshold=4)

# RecBole: scores and items of full_sort_topk, whose external ids are text. RecBole trains from
# files and a configuration, so its results are always replaced here:
#   scores, items = full_sort_topk(uids, model, test_data, k=K, device=config["device"])
#   tokens = dataset.id2token(dataset.iid_field, items.cpu())
#   names = dataset.id2token(dataset.uid_field, uids)
items, scores = most_popular()
names, tokens = users.astype(str), items.astype(str)
results = {user: list(zip(*one)) for user, *one in zip(names, tokens, scores)}
labels = zip(test["user_id"].astype(str), test["item_id"].astype(str))
print_scores("recbole", rn.RankedLists.from_labels(labels, results))
