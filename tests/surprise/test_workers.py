"""Workers fit and predict; the process that asks for folds ranks what they predict."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.errors import DivergedModelError

surprise = pytest.importorskip("surprise")

import joblib  # noqa: E402
from surprise import accuracy as accuracy_of_surprise  # noqa: E402
from surprise import model_selection  # noqa: E402
from surprise.model_selection import KFold  # noqa: E402

from recsys_ndcg.surprise import GridSearchCV, accuracy, cross_validate  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

READER = surprise.Reader(rating_scale=(0.5, 5))
DATA = surprise.Dataset.load_from_df(sample_ratings(30, 40)[["user", "item", "rating"]], READER)
TWO = KFold(2, random_state=0)
RATED = ["rmse", "fcp", "ndcg@5", "recall@5"]


def svd(**options: Any) -> Any:
    """Return a small SVD."""
    return surprise.SVD(**{"n_factors": 3, "n_epochs": 2, "random_state": 0, **options})


def knn() -> Any:
    """Return a k-NN that cannot estimate all ratings."""
    return surprise.KNNBasic(min_k=4, verbose=False)


def impossible(predictions: Any) -> int:
    """Count the estimates that could not be made."""
    return sum(one.details["was_impossible"] for one in predictions)


def neighbours(predictions: Any) -> int:
    """Count the neighbours, and refuse what is no prediction of Surprise."""
    assert {type(one).__name__ for one in predictions} == {"Prediction"}
    return sum(one.details.get("actual_k", 0) for one in predictions)


class Backwards(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that predicts the testset from its end."""

    def test(self, testset: Any, verbose: bool = False) -> Any:  # noqa: FBT001, FBT002, ARG002
        """Predict something in another order, and without details."""
        return [(*row, sum(row[1].encode()) % 97 / 20, None) for row in testset[::-1]]


class Short(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm whose estimates are floats of 32 bits, which stand for decimals."""

    def estimate(self, user: Any, item: Any) -> Any:
        """Return one."""
        return np.float32((7 * len(str(user)) + len(str(item))) % 5 + 0.7)


class Nothing(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that predicts no number."""

    def predict(self, uid: Any, iid: Any, r_ui: Any = None, *_: Any, **__: Any) -> Any:
        """Return NaN for what Surprise would clip."""
        return surprise.Prediction(uid, iid, r_ui, math.nan, {"was_impossible": False})


def ways() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield backends, one after the other in place, with the options for them."""
    yield "alone", {"n_jobs": 1}
    for backend in ("loky", "threading"):
        with joblib.parallel_config(backend=backend):
            yield backend, {"n_jobs": 2}


# what comes of it


def test_workers_import_neither_pandas_nor_scipy() -> None:
    """Each has memory of its own for what it imports; a function of the user tells of it."""
    code = """
import os, sys
from surprise import SVD, Dataset, Reader
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.surprise import GridSearchCV, cross_validate

def heavy(predictions):
    names = {'pandas', 'scipy', 'pyarrow', 'narwhals', 'rich', 'recsys_ndcg.metrics'}
    return float(len(names & set(sys.modules)))

def elsewhere(predictions):
    return float(os.getpid())

data = Dataset.load_from_df(sample_ratings(20, 30)[['user', 'item', 'rating']], Reader())
measures = ['rmse', 'fcp', 'ndcg@5', 'recall@5', heavy, elsewhere]
grid = {'n_factors': [2, 3], 'n_epochs': [1]}
search = GridSearchCV(SVD, grid, measures, cv=2, n_jobs=2, threshold=4, return_train_measures=True)
search.fit(data)
found = cross_validate(SVD(n_epochs=1), data, measures, cv=2, n_jobs=2, threshold=4)
assert os.getpid() not in {*search.cv_results['split0_test_elsewhere'], *found['test_elsewhere']}
assert 'pandas' in sys.modules
print(search.cv_results['mean_test_heavy'].tolist(), found['test_heavy'].tolist())
"""
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout == "[0.0, 0.0] [0.0, 0.0]\n", done.stderr


@pytest.mark.parametrize("make", [svd, knn], ids=["SVD", "KNN"])
@pytest.mark.parametrize("rule", ["rank", "last", "drop"])
@pytest.mark.filterwarnings("ignore:Tied estimates:recsys_ndcg.DataWarning")
def test_rated_measures_are_the_same_wherever_folds_are_fitted(
    make: Callable[[], Any], rule: str
) -> None:
    """As Surprise measures them, and as `accuracy` does by hand, to the last bit."""
    convention = rn.Convention(impossible=rule)
    options: dict[str, Any] = {"cv": TWO, "threshold": 4, "return_train_measures": True}
    first = None
    for name, way in ways():
        found = cross_validate(make(), DATA, RATED, convention=convention, **options, **way)
        first = found if first is None else first
        pd.testing.assert_frame_equal(found.per_user, first.per_user, check_exact=True)
        pd.testing.assert_series_equal(found.pooled, first.pooled, check_exact=True)
        for fold, (trainset, testset) in enumerate(TWO.split(DATA)):
            algo = make().fit(trainset)
            for part, rows in (("test", testset), ("train", trainset.build_testset())):
                predictions = algo.test(rows)
                how: dict[str, Any] = {"verbose": False, "convention": convention}
                by_hand = {
                    "rmse": accuracy_of_surprise.rmse(predictions, verbose=False),
                    "fcp": accuracy_of_surprise.fcp(predictions, verbose=False),
                    "ndcg@5": accuracy.ndcg(predictions, 5, **how),
                    "recall@5": accuracy.recall(predictions, 5, threshold=4, **how),
                }
                mine = {one: found[f"{part}_{one}"][fold] for one in by_hand}
                assert mine == by_hand, (name, fold, part)


def test_a_search_with_workers_is_surprises() -> None:
    """Value by value, with processes and threads."""
    grid = {"n_factors": [2, 4], "n_epochs": [1, 3], "random_state": [0]}
    theirs = model_selection.GridSearchCV(surprise.SVD, grid, ["rmse", "fcp"], cv=TWO)
    theirs.fit(DATA)
    for name, way in ways():
        ours = GridSearchCV(surprise.SVD, grid, ["rmse", "fcp", "ndcg@5"], cv=TWO, **way)
        ours.fit(DATA)
        for key, value in theirs.cv_results.items():
            if not key.endswith("_time") and key != "params":
                assert np.array_equal(ours.cv_results[key], value), (name, key)
        assert ours.best_params["rmse"] == theirs.best_params["rmse"]


def test_a_function_sees_the_predictions_with_their_details() -> None:
    """Those of a worker as those of the same process: whether impossible, and anything besides."""
    by_hand = []
    for trainset, testset in TWO.split(DATA):
        predictions = knn().fit(trainset).test(testset)
        by_hand.append((impossible(predictions), neighbours(predictions)))
    assert all(one > 0 for row in by_hand for one in row)
    for _, way in ways():
        found = cross_validate(knn(), DATA, [impossible, neighbours, "ndcg@5"], cv=TWO, **way)
        values = zip(found["test_impossible"], found["test_neighbours"], strict=True)
        assert list(values) == by_hand


@pytest.mark.parametrize("make", [Backwards, Short], ids=["rows of its own", "short floats"])
def test_predictions_that_are_not_as_usual_are_ranked_as_they_are(make: Any) -> None:
    """Of an algorithm with a `test` of its own, and of estimates that are no float64."""
    first = None
    for _, way in ways():
        options: dict[str, Any] = {"cv": TWO, "return_train_measures": True, **way}
        found = cross_validate(make(), DATA, ["ndcg@5", "rmse"], **options)
        first = found if first is None else first
        for key in ("test_ndcg@5", "train_ndcg@5", "test_rmse", "train_rmse"):
            assert np.array_equal(found[key], first[key]), key
        pd.testing.assert_frame_equal(found.per_user, first.per_user, check_exact=True)


def test_a_catalogue_is_ranked_by_workers() -> None:
    """Where the model is; the measures beside it with it."""
    names = ["ndcg@5:catalogue", "ndcg@5", "rmse"]
    first = None
    for _, way in ways():
        found = cross_validate(svd(), DATA, names, cv=TWO, **way)
        first = found if first is None else first
        for name in names:
            assert np.array_equal(found[f"test_{name}"], first[f"test_{name}"])
        pd.testing.assert_frame_equal(found.per_user, first.per_user, check_exact=True)


@pytest.mark.parametrize("measures", [["rmse"], ["ndcg@5"], ["ndcg@5:catalogue"]])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the arithmetic
def test_a_model_that_diverged_is_refused_wherever_it_is_fitted(measures: list[str]) -> None:
    """With the same words; a search ranks it last."""
    said = set()
    for _, way in ways():
        with pytest.raises(DivergedModelError, match="SVD estimates NaN or infinity") as caught:
            cross_validate(svd(lr_all=50), DATA, measures, cv=TWO, **way)
        said.add(str(caught.value))
        grid = {"lr_all": [50, 0.005], "n_epochs": [2], "random_state": [0]}
        search = GridSearchCV(surprise.SVD, grid, ["ndcg@5", *measures], cv=TWO, **way)
        with pytest.warns(rn.DataWarning, match="1 of 2 combinations diverged"):
            search.fit(DATA)
        chosen: dict[str, Any] = search.best_params
        assert chosen["ndcg@5"]["lr_all"] == 0.005
        assert math.isnan(search.cv_results["mean_test_ndcg@5"][0])
    assert len(said) == 1


# joblib may look for a fold that it has just given up, when it stops its workers
@pytest.mark.filterwarnings("ignore:Exception in thread ExecutorManagerThread")
def test_what_cannot_be_ranked_is_refused_wherever_it_was_predicted() -> None:
    """With the same words."""
    said = set()
    for _, way in ways():
        with pytest.raises(rn.InvalidInputError, match="estimated") as caught:
            cross_validate(Nothing(), DATA, ["ndcg@5"], cv=KFold(16, random_state=0), **way)
        said.add(str(caught.value))
    assert len(said) == 1


# names that are imported when they are asked for


def test_what_of_the_plug_in_is_not_imported_yet_is_there() -> None:
    """By its name, as an attribute, with a star, and in the list; submodules of both, too."""
    code = """
import sys
import recsys_ndcg.surprise as ours
assert not {'pandas', 'scipy'} & set(sys.modules)
assert {*ours.__all__, '__version__'} <= {*dir(ours)}
assert {*ours.model_selection.__all__} <= {*dir(ours.model_selection)}
from recsys_ndcg.surprise.dataset import Dataset
import recsys_ndcg.surprise.model_selection.split
assert Dataset is ours.Dataset and ours.prediction_algorithms.SVD is ours.SVD
assert not hasattr(ours, 'nothing') and not hasattr(ours.model_selection, 'nothing')
assert not {'pandas', 'scipy'} & set(sys.modules)
import recsys_ndcg.surprise.accuracy
from recsys_ndcg.surprise import *
from recsys_ndcg.surprise.model_selection.validation import fit_and_score
assert cross_validate is ours.model_selection.validation.cross_validate
assert ours.accuracy.ndcg is accuracy.ndcg and ours.catalogue.predict_all is predict_all
assert fit_and_score.__module__ == 'surprise.model_selection.validation'
"""
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
