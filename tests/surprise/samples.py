"""What the tests of the plug-in share: ratings, models, splits, and a recorder of warnings."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from surprise import SVD, AlgoBase, Dataset, Reader, model_selection
from surprise.model_selection import KFold

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings

RATINGS = sample_ratings(40, 60)
TABLE = RATINGS[["user", "item", "rating"]]
GRID = {"n_factors": [2, 6], "n_epochs": [2], "random_state": [0]}
TWO, THREE = KFold(2, random_state=0), KFold(3, random_state=0)


def dataset(table: pd.DataFrame = TABLE, scale: tuple[float, float] = (0.5, 5)) -> Any:
    """Return a table of user, item, rating and maybe more as a dataset of Surprise."""
    return Dataset.load_from_df(table.iloc[:, :3], Reader(rating_scale=scale))


DATA = dataset()


def svd(n_epochs: int = 3, **options: Any) -> Any:
    """Return a small SVD."""
    return SVD(**{"n_factors": 3, "n_epochs": n_epochs, "random_state": 0, **options})


def fit_search(kind: Any, *given: Any, data: Any = DATA, **options: Any) -> Any:
    """Return a search after its fit, which begins at the same random state."""
    search = kind(*given, **options)
    np.random.seed(5)  # noqa: NPY002 - the generator of Surprise
    search.fit(data)
    return search


def search_by_both(name: str, *given: Any, **options: Any) -> list[Any]:
    """Return our search of a name and Surprise's, after their fits."""
    libraries = rn.surprise.model_selection, model_selection
    return [fit_search(getattr(one, name), *given, **options) for one in libraries]


def mean_error(predictions: Any, times: float = 1) -> float:
    """Return the mean error, as a user's own measure."""
    return times * float(np.mean([abs(one.r_ui - one.est) for one in predictions]))


class Formula(AlgoBase):  # type: ignore[misc]
    """An algorithm whose estimate is a function of the trainset, the inner user and item."""

    def __init__(self, formula: Any) -> None:
        super().__init__()
        self.formula = formula

    def estimate(self, user: Any, item: Any) -> float:
        """Return the function's value."""
        return float(self.formula(self.trainset, user, item))


class NeverFitted(AlgoBase):  # type: ignore[misc]
    """An algorithm that fails the test when it is fitted."""

    def __init__(self, x: Any = None, random_state: Any = None) -> None:
        super().__init__()
        self.x, self.random_state = x, random_state

    def fit(self, _: Any) -> Any:
        """Fail: pytest's failure is no Exception that the package could catch."""
        pytest.fail("an algorithm was fitted")


class FixedSplits:
    """A splitter of the user's own that returns what a function makes."""

    def __init__(self, splits: Callable[[], Any]) -> None:
        self.splits = splits

    def split(self, _: Any) -> Any:
        """Return the splits, whatever the data."""
        return self.splits()

    def get_n_folds(self) -> int:
        """Return a number of folds."""
        return 2


def assert_same_scores(ours: Any, expected: Any) -> None:
    """Compare names, order, type and every bit of the scores, but no times; NaN equals NaN."""
    assert list(ours) == list(expected)
    for name in expected:
        if name != "params" and not name.endswith("_time"):
            own, value = ours[name], expected[name]
            assert type(own) is type(value), name
            strict = isinstance(value, np.ndarray)
            np.testing.assert_array_equal(own, value, err_msg=name, strict=strict)


def warnings_of(act: Callable[[], Any]) -> list[str]:
    """Return what `act` warns of; every warning must be ours and point at the calling test."""
    caller = sys._getframe(1).f_code.co_filename
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        act()
    assert all(issubclass(one.category, rn.DataWarning) for one in caught), caught
    assert all(one.filename == caller for one in caught), caught
    return [str(one.message) for one in caught]
