"""The demo: train Surprise models on most of the ratings, and predict the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, about, warn_of_some
from recsys_ndcg.evaluation import evaluate
from recsys_ndcg.lists import RankedLists
from recsys_ndcg.surprise.library import library

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from recsys_ndcg.report import Report

MODELS = ("SVD", "KNNBaseline", "BaselineOnly", "NormalPredictor")
_FEWEST = 50
_HIGHEST_SEED = 2**32 - 1  # that NumPy takes


class Experiment:
    """Ratings split at random, 80 % to train on and 20 % to predict.

    Parameters
    ----------
    ratings : pandas.DataFrame
        Columns user, item, rating.
    seed : int
        For the split and the models.

    Raises
    ------
    MissingExtraError
        scikit-surprise is not installed.
    InvalidInputError
        There are too few ratings, or all are the same, or the seed is none.
    """

    def __init__(self, ratings: pd.DataFrame, seed: int = 0) -> None:
        if not 0 <= seed <= _HIGHEST_SEED:
            msg = f"seed must be from 0 to {_HIGHEST_SEED}, not {seed}."
            raise InvalidInputError(msg)
        grades = ratings["rating"].nunique()
        if len(ratings) < _FEWEST or grades < 2:
            msg = (
                f"{len(ratings)} ratings with {grades} different values are too few to train on; "
                f"give at least {_FEWEST}."
            )
            raise InvalidInputError(msg)
        repeats = ratings.duplicated(["user", "item"])
        if repeats.any():
            row = ratings[repeats].iloc[0]
            msg = (
                f"User {row['user']!r} rates item {row['item']!r} more than once "
                f"({int(repeats.sum())} such rows). Keep one rating of each."
            )
            raise InvalidInputError(msg)
        self._surprise = library("The demo")
        self._seed = seed
        self.scale = float(ratings["rating"].min()), float(ratings["rating"].max())
        shuffled = np.random.default_rng(seed).permutation(len(ratings))
        n_test = len(ratings) // 5
        columns = ratings[["user", "item", "rating"]]
        self._test = list(columns.iloc[shuffled[:n_test]].itertuples(index=False, name=None))
        train = columns.iloc[shuffled[n_test:]]
        reader = self._surprise.Reader(rating_scale=self.scale)
        data = self._surprise.Dataset.load_from_df(train, reader)
        self._train = data.build_full_trainset()
        self.n_train, self.n_test = len(train), n_test

    def run(self) -> Iterator[tuple[str, RankedLists]]:
        """Train one model after the other, and give its predictions as lists."""
        for name in MODELS:
            np.random.seed(self._seed)  # noqa: NPY002 - what NormalPredictor draws from
            predictions = self._model(name).fit(self._train).test(self._test)
            yield name, RankedLists.from_surprise(predictions)

    def _model(self, name: str) -> Any:
        surprise = self._surprise
        if name == "KNNBaseline":
            options = {"name": "pearson_baseline", "user_based": False}
            return surprise.KNNBaseline(
                sim_options=options, bsl_options={"method": "als"}, verbose=False
            )
        if name == "SVD":
            return surprise.SVD(random_state=self._seed)
        if name == "BaselineOnly":
            return surprise.BaselineOnly(verbose=False)
        return surprise.NormalPredictor()


def reports(
    runs: Iterable[tuple[str, RankedLists]], metrics: Sequence[str], threshold: float
) -> dict[str, Report]:
    """Evaluate each model as it comes; a warning of some of them says of which."""
    found, said = {}, {}
    for model, lists in runs:
        with about(model) as said[model]:
            found[model] = evaluate(lists, metrics=metrics, threshold=threshold)
    warn_of_some(said)
    return found
