"""Workers fit, predict and rank. Nothing depends on n_jobs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import joblib
import pandas as pd
import pytest
import surprise
from surprise.model_selection import KFold

import recsys_ndcg as rn
from recsys_ndcg.errors import DivergedModelError
from recsys_ndcg.folds import folds
from recsys_ndcg.surprise import cross_validate, make_measure
from tests.surprise.samples import DATA, TWO, assert_same_scores, svd


@pytest.fixture(name="workers", params=["threading", pytest.param("loky", marks=pytest.mark.slow)])
def _workers(request: pytest.FixtureRequest) -> Iterator[str]:
    """Let joblib use a backend; loky's workers are processes."""
    with joblib.parallel_config(backend=request.param):
        yield request.param


def knn() -> Any:
    """Return a k-NN that cannot estimate all ratings."""
    return surprise.KNNBasic(min_k=4, verbose=False)


class Backwards(surprise.AlgoBase):  # type: ignore[misc]
    """An algorithm whose own `test` reverses the testset and gives no details."""

    def test(self, testset: Any, verbose: bool = False) -> Any:  # noqa: FBT001, FBT002, ARG002
        """Predict by the bytes of the item."""
        return [(*row, sum(row[1].encode()) % 97 / 20, None) for row in testset[::-1]]


class Undefined(surprise.AlgoBase):  # type: ignore[misc]
    """An algorithm that predicts NaN."""

    def predict(self, uid: Any, iid: Any, r_ui: Any = None, *_: Any, **__: Any) -> Any:
        """Return NaN, which Surprise would clip."""
        return surprise.Prediction(uid, iid, r_ui, math.nan, {"was_impossible": False})


def impossible(predictions: Any) -> int:
    """Count the estimates that could not be made."""
    return sum((one[4] or {}).get("was_impossible", False) for one in predictions)


def neighbours(predictions: Any, times: int = 1) -> int:
    """Count the neighbours in the details."""
    return times * sum(int((one[4] or {}).get("actual_k", 0)) for one in predictions)


TWICE = make_measure(neighbours, "twice", times=2)
MEASURES = ["rmse", "fcp", "ndcg@5", "recall@5", impossible, neighbours, TWICE]


@pytest.mark.parametrize("make", [svd, knn, Backwards])
@pytest.mark.filterwarnings("ignore:Ties affect:recsys_ndcg.DataWarning")
def test_scores_do_not_depend_on_the_workers(make: Any, workers: str) -> None:
    """Equal to the last bit, and functions get complete predictions."""
    how: dict[str, Any] = {"cv": TWO, "threshold": 4, "return_train_measures": True}
    one = cross_validate(make(), DATA, MEASURES, **how)
    two = cross_validate(make(), DATA, MEASURES, n_jobs=2, **how)
    assert_same_scores(two, one)
    pd.testing.assert_frame_equal(two.per_user, one.per_user, check_exact=True)
    pd.testing.assert_series_equal(two.pooled, one.pooled, check_exact=True)
    assert two.n_users == one.n_users
    assert (one["test_neighbours"] > 0).all() == (make is knn), workers
    catalogue = ["ndcg@5:catalogue", "ndcg@5", "rmse"]
    if make is svd:  # ranked by the workers
        one, two = (cross_validate(svd(), DATA, catalogue, cv=TWO, n_jobs=n) for n in (1, 2))
        assert_same_scores(two, one)
        pd.testing.assert_frame_equal(two.per_user, one.per_user, check_exact=True)


@pytest.mark.parametrize("measures", [["rmse"], ["ndcg@5"], ["ndcg@5:catalogue"]])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of the arithmetic
# joblib may look for a fold that it has just given up, when it stops its workers
@pytest.mark.filterwarnings("ignore:Exception in thread ExecutorManagerThread")
def test_errors_do_not_depend_on_the_workers(measures: list[str], workers: str) -> None:
    """For a model that diverged, and for estimates that cannot be ranked."""
    cases: list[Any] = [(svd(lr_all=50), DivergedModelError, "SVD estimates NaN or infinity")]
    if measures == ["ndcg@5"]:
        cases.append((Undefined(), rn.InvalidInputError, "estimated"))
    for algo, kind, match in cases:
        messages = set()
        for n_jobs in (1, 2):
            with pytest.raises(kind, match=match) as caught:
                cross_validate(algo, DATA, measures, cv=KFold(8, random_state=0), n_jobs=n_jobs)
            messages.add(str(caught.value))
        assert len(messages) == 1, workers


@pytest.mark.parametrize("pre_dispatch", ["all", 1])
def test_the_folds_stay_in_their_order(pre_dispatch: Any, workers: str) -> None:
    """With any dispatch and joblib's own n_jobs; the caller's algorithm stays unfitted."""
    algo = svd()
    with joblib.parallel_config(backend=workers, n_jobs=2):
        how: dict[str, Any] = {"n_jobs": None, "pre_dispatch": pre_dispatch}
        found = cross_validate(algo, DATA, ["ndcg@5"], cv=TWO, **how)
    assert not hasattr(algo, "trainset")
    assert_same_scores(found, cross_validate(svd(), DATA, ["ndcg@5"], cv=TWO))


def test_a_backend_without_a_generator_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Such as multiprocessing, for which joblib returns all results at the end."""

    def refusing(return_as: str = "list", **options: Any) -> Any:
        if return_as != "list":
            message = f"the backend does not support return_as={return_as}"
            raise ValueError(message)
        return joblib.Parallel(**options)

    expected = cross_validate(svd(), DATA, ["rmse", "ndcg@5"], cv=TWO)
    monkeypatch.setattr(folds, "Parallel", refusing)
    assert_same_scores(cross_validate(svd(), DATA, ["rmse", "ndcg@5"], cv=TWO), expected)
