"""Compute six Surprise models' scores of real users, who are taken as the whole population."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from surprise import SVD, BaselineOnly, Dataset, KNNBaseline, Reader

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.input.dispatch import read_ratings
from recsys_ndcg.surprise import MostPopular, evaluate_catalogue

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.arrays import Floats

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
METRIC = "ndcg@10"
_FEWEST = 20  # ratings per user: with fewer, all models order most test lists alike


@dataclass(frozen=True)
class Population:
    """Users to draw samples from.

    Parameters
    ----------
    name : str
        The ranked items: "rated" or "catalogue".
    numerator : float64 array, shape (n_users, n_models)
        DCG.
    denominator : float64 array, shape (n_users,)
        Ideal DCG.
    """

    name: str
    numerator: Floats
    denominator: Floats

    @property
    def scores(self) -> Floats:
        """The users' NDCG, a column per model."""
        scores: Floats = self.numerator / self.denominator[:, None]
        return scores


def measure_populations(*, real: bool = True) -> tuple[str, list[Population]]:
    """Return a description of the ratings, and the models' scores on a fifth of them.

    There are two populations: one ranks the users' test items, the other the whole catalogue. The
    ratings are MovieTweetings in the folder RECSYS_NDCG_DATA, or else the package's sample.
    """
    description, ratings = _read_ratings(real=real)
    warnings.simplefilter("ignore", rn.DataWarning)
    held_out = np.random.default_rng(0).random(len(ratings)) < 0.2
    scale = ratings["rating"].min(), ratings["rating"].max()
    train = Dataset.load_from_df(ratings[~held_out], Reader(rating_scale=scale))
    train, test = train.build_full_trainset(), [*ratings[held_out].itertuples(index=False)]
    how: dict[str, Any] = {"metrics": [METRIC], "threshold": 0.8 * scale[1]}
    rated, catalogue = [], []
    for kind, options in MODELS.values():
        algo = kind(**options).fit(train)
        rated.append(rn.evaluate(algo.test(test), **how))
        catalogue.append(evaluate_catalogue(algo, train, test, **how))
    description += f"; {METRIC} of {', '.join(MODELS)}"
    return description, [
        _make_population("rated", rated),
        _make_population("catalogue", catalogue),
    ]


def _read_ratings(*, real: bool) -> tuple[str, pd.DataFrame]:
    folder = os.environ.get("RECSYS_NDCG_DATA")
    description, ratings = "Sample ratings of the package", sample_ratings()
    if real and folder is not None:
        ratings = read_ratings(Path(folder) / "movietweetings-100k" / "ratings.dat")
        ratings = ratings[ratings.groupby("user")["rating"].transform("size") >= _FEWEST]
        description = f"MovieTweetings, users with {_FEWEST} ratings or more"
    return description, ratings[["user", "item", "rating"]]


def _make_population(name: str, reports: list[rn.Report]) -> Population:
    """Return the users for whom every model has a score."""
    numerator = np.column_stack([one.scores.numerator[:, 0] for one in reports])
    denominator = np.column_stack([one.scores.denominator[:, 0] for one in reports])
    has_score = (denominator > 0).all(axis=1)
    if any(one.users.tolist() != reports[0].users.tolist() for one in reports):
        raise AssertionError(name)
    if np.ptp(denominator[has_score], axis=1).max() > 0:
        raise AssertionError(name)
    return Population(name, numerator[has_score], denominator[has_score, 0])
