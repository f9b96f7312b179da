"""Score models for real users, who are taken as the whole population."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from surprise import SVD, BaselineOnly, Dataset, KNNBaseline, Reader

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.ratings import read_ratings
from recsys_ndcg.surprise import MostPopular, evaluate_catalogue

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.arrays import Floats, Positions

ITEM = {"name": "pearson_baseline", "user_based": False}
PMF = {"biased": False, "random_state": 0}
MODELS: dict[str, tuple[Any, dict[str, Any]]] = {
    "MostPopular": (MostPopular, {}),
    "BaselineOnly": (BaselineOnly, {"verbose": False}),
    "KNNBaseline": (KNNBaseline, {"sim_options": ITEM, "verbose": False}),
    "SVD": (SVD, {"random_state": 0}),
    "PMF": (SVD, PMF | {"n_epochs": 20, "reg_all": 0.1}),
    "PMF of 10 epochs": (SVD, PMF | {"n_epochs": 10}),
}
#: of the rated items, nearly all lists have a hit in ten
METRICS = {
    name: ["ndcg@10", "recall@5", "precision@5", f"hit@{hit}", "rr@10", "ap@10"]
    for name, hit in (("rated", 1), ("catalogue", 10))
}
RUNS, SHARE = 40, 0.8  # runs of one algorithm, and the training ratings that each has
_FEWEST = 20  # ratings per user: with fewer, all models order most test lists alike
_NEIGHBOURS, _SHRINKS, _POWERS = (5, 10, 20, 50, 100), (0, 3, 10, 30, 100), (0.25, 0.5)
_DISCOUNTS = 1 / np.log2(np.arange(2, 12))


@dataclass(frozen=True)
class Population:
    """Users to draw samples from, and the models' scores.

    Parameters
    ----------
    name : str
        The ranked items ("rated" or "catalogue"), and the models if they are not `MODELS`.
    tables : dict of tuples
        For each metric, the numerators, of shape (n_users, n_models), and the denominators of
        shape (n_users,).
    """

    name: str
    tables: dict[str, tuple[Floats, Floats]]

    @property
    def n_users(self) -> int:
        """The number of users."""
        return len(next(iter(self.tables.values()))[1])

    def scores(self, metric: str) -> Floats:
        """Return the users' scores, a column per model."""
        numerator, denominator = self.tables[metric]
        scores: Floats = numerator / denominator[:, None]
        return scores


def measure_populations(*, real: bool = True) -> tuple[str, list[Population]]:
    """Return a description of the ratings, and the models' scores on a fifth of them.

    The ratings are MovieTweetings in the folder RECSYS_NDCG_DATA, or else the package's sample.
    """
    description, ratings = _read_ratings(real=real)
    warnings.simplefilter("ignore", rn.DataWarning)
    often = ratings[ratings.groupby("user")["rating"].transform("size") >= _FEWEST]
    return description, [
        *_measure_models(often),
        *_measure_configurations(ImplicitRatings.split(often)),
        *_measure_runs(ImplicitRatings.split(ratings)),
    ]


def _read_ratings(*, real: bool) -> tuple[str, pd.DataFrame]:
    folder = os.environ.get("RECSYS_NDCG_DATA")
    description, ratings = "the sample ratings of the package", sample_ratings()
    if real and folder is not None:
        ratings = read_ratings(Path(folder) / "movietweetings-100k" / "ratings.dat")
        description = "MovieTweetings-100K"
    return description, ratings[["user", "item", "rating"]]


def _hold_out(ratings: pd.DataFrame) -> Any:
    return np.random.default_rng(0).random(len(ratings)) < 0.2


def _measure_models(ratings: pd.DataFrame) -> Iterator[Population]:
    """Yield the scores of the Surprise models, with rated items and the catalogue ranked."""
    held_out = _hold_out(ratings)
    scale = ratings["rating"].min(), ratings["rating"].max()
    train = Dataset.load_from_df(ratings[~held_out], Reader(rating_scale=scale))
    train, test = train.build_full_trainset(), [*ratings[held_out].itertuples(index=False)]
    algos = [kind(**options).fit(train) for kind, options in MODELS.values()]
    for name, metrics in METRICS.items():
        how: dict[str, Any] = {"metrics": metrics, "threshold": 0.8 * scale[1]}
        yield _make_population(
            name,
            [
                rn.evaluate(one.test(test), **how)
                if name == "rated"
                else evaluate_catalogue(one, train, test, **how)
                for one in algos
            ],
        )
    how = {"metrics": "precision@5", "threshold": 0.8 * scale[1]}
    how["weights"] = rn.propensity(ratings[~held_out], gamma=1)
    yield _make_population("weighted", [rn.evaluate(one.test(test), **how) for one in algos])


def _make_population(name: str, reports: list[rn.Report]) -> Population:
    """Return the users for whom every model has all scores."""
    numerator = np.stack([one._data.scores.numerator for one in reports], axis=-1)
    denominator = np.stack([one._data.scores.denominator for one in reports], axis=-1)
    has_score = (denominator > 0).all(axis=(1, 2))
    if any(one.users.tolist() != reports[0].users.tolist() for one in reports):
        raise AssertionError(name)
    if np.ptp(denominator[has_score], axis=-1).max() > 0:
        raise AssertionError(name)
    return Population(
        name,
        {
            metric: (numerator[has_score, place], denominator[has_score, place, 0])
            for place, metric in enumerate(reports[0].metrics)
        },
    )


@dataclass(frozen=True)
class ImplicitRatings:
    """Which items users have rated: for models that compute fast.

    Parameters
    ----------
    train : float array, shape (n_ratings, 3)
        Users, items and ratings.
    shape : tuple of int
        The number of users and items.
    users : int64 array
        The users who have a relevant item in the test.
    tested, relevant : bool arrays, shape (n_tested_users, n_items)
        The items in the test, and those that are relevant.
    """

    train: Floats
    shape: tuple[int, int]
    users: Positions
    tested: Any
    relevant: Any

    @classmethod
    def split(cls, ratings: pd.DataFrame) -> ImplicitRatings:
        """Split the ratings into training and test."""
        columns = [np.unique(ratings[name], return_inverse=True)[1] for name in ("user", "item")]
        table = np.column_stack([*columns, ratings["rating"]]).astype(np.float64)
        held_out, is_relevant = _hold_out(ratings), table[:, 2] >= 0.8 * table[:, 2].max()
        shape = int(columns[0].max()) + 1, int(columns[1].max()) + 1
        tested, relevant = (
            _make_matrix(table[rows], shape) for rows in (held_out, held_out & is_relevant)
        )
        users = np.flatnonzero(relevant.getnnz(axis=1))
        tested, relevant = (one[users].toarray() > 0 for one in (tested, relevant))
        return cls(table[~held_out], shape, users, tested, relevant)

    def score_lists(self, estimates: Floats, *, catalogue: bool) -> tuple[Floats, Floats]:
        """Return the users' ndcg@10 and recall@10 of the best items.

        The items are those in the test, or all that are not in training.
        """
        if catalogue:
            left_out = _make_matrix(self.train, self.shape)[self.users].toarray() > 0
        else:
            left_out = ~self.tested
        estimates = np.where(left_out, -np.inf, estimates)
        best = np.argpartition(-estimates, 10, axis=1)[:, :10]
        order = np.argsort(-np.take_along_axis(estimates, best, axis=1), axis=1, kind="stable")
        best = np.take_along_axis(best, order, axis=1)
        is_hit, n_relevant = np.take_along_axis(self.relevant, best, axis=1), self.relevant.sum(1)
        ideal = np.cumsum(_DISCOUNTS)[np.minimum(n_relevant, 10) - 1]
        return is_hit @ _DISCOUNTS / ideal, is_hit.sum(axis=1) / n_relevant


def _make_matrix(rows: Floats, shape: tuple[int, int]) -> Any:
    places = rows[:, :2].astype(np.int64).T
    return sparse.csr_matrix((np.ones(len(rows), np.float32), tuple(places)), shape)


def _estimate_by_neighbours(
    data: ImplicitRatings, rows: Floats, neighbours: int, shrink: float, power: float
) -> Floats:
    """Return each user's sum of similarities to the items in training: item-kNN.

    The similarity is the number of common users over (n1 + shrink)^power · (n2 + shrink)^power;
    each item keeps its largest ones.
    """
    known = _make_matrix(rows, data.shape)
    counts = np.asarray(known.sum(axis=0)).ravel()
    scaled = known @ sparse.diags(np.maximum(counts + shrink, 1) ** -power).astype(np.float32)
    similar = (scaled.T @ scaled).tocsr()
    similar -= sparse.diags(similar.diagonal())
    for start, end in zip(similar.indptr, similar.indptr[1:], strict=False):
        values = similar.data[start:end]
        if len(values) > neighbours:
            values[values < np.partition(values, -neighbours)[-neighbours]] = 0
    estimates: Floats = (known[data.users] @ similar.T).toarray()
    return estimates


def _measure_configurations(data: ImplicitRatings) -> Iterator[Population]:
    """Yield the scores of 50 configurations of item-kNN, in an order drawn by lot."""
    grid = [*product(_NEIGHBOURS, _SHRINKS, _POWERS)]
    order = np.random.default_rng(0).permutation(len(grid))
    found = [_estimate_by_neighbours(data, data.train, *grid[place]) for place in order]
    for name in METRICS:
        scores = [data.score_lists(one, catalogue=name == "catalogue") for one in found]
        yield _collect(f"item-kNN, {name}", scores)


def _measure_runs(data: ImplicitRatings) -> Iterator[Population]:
    """Yield the scores of one algorithm, trained on many samples of the training ratings."""
    by_neighbours, by_means = [], []
    for seed in range(RUNS):
        some = data.train[np.random.default_rng(seed).random(len(data.train)) < SHARE]
        estimates = _estimate_by_neighbours(data, some, 50, 3, 0.5)
        by_neighbours.append(data.score_lists(estimates, catalogue=True))
        items, ratings = some[:, 1].astype(np.int64), some[:, 2]
        sums, counts = (
            np.bincount(items, weights, data.shape[1])
            for weights in (ratings - ratings.mean(), None)
        )
        by_means.append(data.score_lists(sums / (counts + 5), catalogue=True))
    yield _collect("runs of item-kNN", by_neighbours)
    yield _collect("runs of item means", by_means)


def _collect(name: str, scores: Sequence[tuple[Floats, Floats]]) -> Population:
    ndcg, recall = (np.column_stack(one) for one in zip(*scores, strict=True))
    ones = np.ones(len(ndcg))
    return Population(name, {"ndcg@10": (ndcg, ones), "recall@10": (recall, ones)})
