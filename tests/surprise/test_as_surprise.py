"""What Surprise's model_selection takes is taken with its results; what it refuses is refused."""

from __future__ import annotations

import functools
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from recsys_ndcg.datasets import sample_ratings
from tests.errors import rejects

surprise = pytest.importorskip("surprise")

from scipy import stats  # noqa: E402
from surprise import model_selection  # noqa: E402
from surprise.model_selection import KFold, LeaveOneOut, ShuffleSplit  # noqa: E402

from recsys_ndcg.surprise import (  # noqa: E402
    GridSearchCV,
    RandomizedSearchCV,
    cross_validate,
    make_measure,
)

if TYPE_CHECKING:
    from collections.abc import Callable

READER = surprise.Reader(rating_scale=(0.5, 5))
DATA = surprise.Dataset.load_from_df(sample_ratings(30, 40)[["user", "item", "rating"]], READER)
TWO = KFold(2, random_state=0)
FOLDS = list(TWO.split(DATA))
GRID = {"n_factors": [2, 6], "n_epochs": [2], "random_state": [0]}


class Gives:
    """A splitter of somebody's own, with the folds that a function makes."""

    def __init__(self, splits: Callable[[], Any], n_splits: Any = 2) -> None:
        self.splits = splits
        self.n_splits = n_splits

    def split(self, _: Any) -> Any:
        """Return the folds, whatever the data."""
        return self.splits()

    def get_n_folds(self) -> int:
        """Return their number."""
        return 2


class Ready:
    """A class that splits without being made."""

    n_splits = 2
    get_n_folds = staticmethod(lambda: 2)

    @staticmethod
    def split(data: Any) -> Any:
        """Return two folds."""
        return TWO.split(data)


def svd() -> Any:
    """Return a small SVD."""
    return surprise.SVD(n_factors=2, n_epochs=2, random_state=0)


def values(found: Any) -> dict[str, list[Any]]:
    """Return everything but the times."""
    return {
        name: list(value)
        for name, value in found.items()
        if name != "params" and not name.endswith("_time")
    }


TAKEN: dict[str, Any] = {
    "a list of tuples": Gives(lambda: FOLDS),
    "a tuple of lists": Gives(lambda: tuple(map(list, FOLDS))),
    "a generator of lists": Gives(lambda: (list(one) for one in FOLDS)),
    "a generator of generators": Gives(lambda: (iter(one) for one in FOLDS)),
    "a map": Gives(lambda: map(tuple, FOLDS)),
    "testsets as tuples": Gives(lambda: [(one, tuple(rows)) for one, rows in FOLDS]),
    "testsets as generators": Gives(lambda: ((one, iter(rows)) for one, rows in FOLDS)),
    "rows as generators": Gives(
        lambda: [(one, [iter(row) for row in rows]) for one, rows in FOLDS]
    ),
    "rows as lists": Gives(lambda: [(one, [list(row) for row in rows]) for one, rows in FOLDS]),
    "testsets as arrays": Gives(
        lambda: [(one, np.array(rows, dtype=object)) for one, rows in FOLDS]
    ),
    "a number of folds that is none": Gives(lambda: FOLDS, n_splits=len),
    "a class": Ready,
    "a class in an object": Ready(),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_a_splitter_may_give_is_what_surprise_takes(name: str) -> None:
    """In cross_validate and in a search, where the same folds are for every combination."""
    cv = TAKEN[name]
    theirs = model_selection.cross_validate(svd(), DATA, ["rmse", "fcp"], cv)
    assert values(cross_validate(svd(), DATA, ["rmse", "fcp"], cv)) == values(theirs)
    ranked = cross_validate(svd(), DATA, ["ndcg@5", "ndcg@5:catalogue"], cv)
    assert values(ranked) == values(
        cross_validate(svd(), DATA, ["ndcg@5", "ndcg@5:catalogue"], TWO)
    )
    search = GridSearchCV(surprise.SVD, GRID, ["rmse"], cv)
    search.fit(DATA)
    if "generators" not in name:  # which Surprise has used up after the first combination
        other = model_selection.GridSearchCV(surprise.SVD, GRID, ["rmse"], cv)
        other.fit(DATA)
        assert values(search.cv_results) == values(other.cv_results)


class Abstract(Gives):
    """One whose number of folds cannot be asked for."""

    def get_n_folds(self) -> int:
        """Refuse."""
        raise NotImplementedError


def test_a_number_of_folds_is_for_the_bar_alone() -> None:
    """Folds are trained without it."""
    found = cross_validate(svd(), DATA, ["rmse"], Abstract(lambda: FOLDS))
    assert values(found) == values(cross_validate(svd(), DATA, ["rmse"], TWO))


def test_a_splitter_of_ones_own_takes_what_it_will() -> None:
    """Surprise hands it the data unseen; measures that rank settle on the folds."""
    cv = Gives(lambda: FOLDS)
    for data in (None, "ratings.csv", pd.DataFrame()):
        theirs = model_selection.cross_validate(svd(), data, ["rmse"], cv)
        assert values(cross_validate(svd(), data, ["rmse"], cv)) == values(theirs)
    found = cross_validate(svd(), None, ["ndcg@5"], cv)
    assert values(found) == values(cross_validate(svd(), DATA, ["ndcg@5"], cv))


@pytest.mark.parametrize(
    ("cv", "match"),
    [
        (FOLDS, "cv must be None, .* split.data. returns them"),
        (tuple(FOLDS), "cv must be None"),
        ((one for one in FOLDS), "cv must be None"),
        (b"5", "cv must be None"),
        (KFold, "cv must be None"),
        (type("Odd", (), {"split": 5})(), "cv must be None"),
        (1, "cv=1, but .* between 2 and"),
        (0, "cv=0, but"),
        (-2, "cv=-2, but"),
        (True, "cv=True, but"),
        (10**9, "cv=1000000000, but"),
        (KFold(10**9), "cv cannot split the data: Incorrect value"),
        (ShuffleSplit(test_size=10**9), "cv cannot split the data: test_size"),
        (LeaveOneOut(min_n_ratings=10**9), "cv cannot split the data: Could not build"),
        (Gives(lambda: None), "gives None, not pairs of trainset and testset"),
        (Gives(lambda: 5), "gives 5, not pairs"),
        (Gives(list), "cv gives no split"),
        (Gives(lambda: [1, 2]), "Split 1 of cv is 1, not"),
        (Gives(lambda: [(*FOLDS[0], 1)]), "Split 1 of cv is .*, not"),
        (Gives(lambda: [FOLDS[0], FOLDS[1][::-1]]), "Split 2 of cv is .*, not"),
        (Gives(lambda: [(FOLDS[0][0], 5)]), "Split 1 of cv is .*, not"),
        (Gives(lambda: [(FOLDS[0][0], [])]), "Split 1 of cv has an empty testset"),
        (Gives(lambda: [(FOLDS[0][0], DATA.raw_ratings)]), "not .user, item, rating"),
        (Gives(lambda: [(FOLDS[0][0], [1, 2])]), "has 1 in its testset"),
        (Gives(lambda: [(FOLDS[0][0], [("a", "b", None)])]), "rating.*finite number"),
        (Gives(lambda: [(FOLDS[0][0], [("a", "b", "4")])]), "rating.*'4'"),
    ],
)
def test_what_surprise_refuses_is_refused(cv: Any, match: str) -> None:
    """It fails there too, if in other words; by all three before anything but the folds before."""
    with pytest.raises((AttributeError, TypeError, ValueError)):
        model_selection.cross_validate(svd(), DATA, ["rmse"], cv)
    tools: list[Callable[[Any], Any]] = [
        lambda cv: cross_validate(svd(), DATA, ["rmse"], cv),
        lambda cv: GridSearchCV(surprise.SVD, GRID, ["rmse"], cv).fit(DATA),
        lambda cv: RandomizedSearchCV(surprise.SVD, GRID, 1, ["rmse"], cv).fit(DATA),
    ]
    for tool in tools:
        with rejects(match, whole=False):
            tool(cv)


def rounded(predictions: Any, digits: int = 0) -> float:
    """Return a measure of one's own."""
    return round(float(np.mean([one.est for one in predictions])), digits)


@pytest.mark.parametrize(
    "measures", [["rmse", "rmse"], ["rmse", "RMSE", "mae"], [], (), ("fcp", "mae", "fcp")]
)
def test_repeated_measures_count_once_and_none_are_times_alone(measures: Any) -> None:
    """As in Surprise."""
    ours = cross_validate(svd(), DATA, measures, TWO, return_train_measures=True)
    theirs = model_selection.cross_validate(svd(), DATA, measures, TWO, return_train_measures=True)
    assert list(ours) == list(theirs)
    assert values(ours) == values(theirs)
    assert len(ours.to_frame()) == 5
    for kind in (GridSearchCV, RandomizedSearchCV):
        more: dict[str, Any] = {} if kind is GridSearchCV else {"n_iter": 2, "random_state": 0}
        search = kind(surprise.SVD, GRID, measures=measures, cv=TWO, **more)
        search.fit(DATA)
        assert list(search.best_params) == list(dict.fromkeys(map(str.lower, measures)))
        assert len(search.to_frame()) == 2
    search = GridSearchCV(surprise.SVD, GRID, measures, TWO)
    other = model_selection.GridSearchCV(surprise.SVD, GRID, measures, TWO)
    search.fit(DATA)
    other.fit(DATA)
    assert list(search.cv_results) == list(other.cv_results)
    assert values(search.cv_results) == values(other.cv_results)


@pytest.mark.parametrize(
    ("measures", "names"),
    [
        (["ndcg@10", "NDCG@10"], ["ndcg@10"]),
        (["ndcg@5", "hit@5", "NDCG@5:rated", " Hit@5"], ["ndcg@5", "hit@5"]),
        ([rounded, "rmse", rounded, make_measure(rounded)], ["rounded", "rmse"]),
        ([make_measure(rounded, digits=one) for one in (1, 1)], ["rounded"]),
    ],
)
def test_the_same_measure_in_two_forms_counts_once(measures: list[Any], names: list[str]) -> None:
    """Where it stands first."""
    found = cross_validate(svd(), DATA, measures, TWO, threshold=4)
    assert list(found) == [*(f"test_{name}" for name in names), "fit_time", "test_time"]
    search = GridSearchCV(surprise.SVD, GRID, measures, TWO, threshold=4, refit=True)
    assert (search.measures, search.refit) == (names, names[0])


def test_without_measures_there_is_nothing_to_refit_by() -> None:
    """Where Surprise has an IndexError."""
    with rejects("refit=True chooses by a measure, and measures is empty"):
        GridSearchCV(surprise.SVD, GRID, [], refit=True)


@pytest.mark.parametrize("change", ["set", "append", "text", "object"])
def test_measures_set_after_construction_are_heeded(change: str) -> None:
    """As in Surprise, also before a second fit."""
    search = GridSearchCV(surprise.SVD, GRID, ["rmse"], TWO, threshold=4)
    search.fit(DATA)
    if change == "append":
        search.measures.append("mae")
        names = ["rmse", "mae"]
    else:
        names = ["mae", "precision@5"]
        given = {"set": names, "text": ["MAE", "Precision@5:rated"]}
        search.measures = given.get(change, ["mae", make_measure(rounded, "precision@5")])
    search.fit(DATA)
    assert search.measures == names
    assert list(search.best_params) == names
    if change in ("set", "text"):
        fresh = GridSearchCV(surprise.SVD, GRID, names, TWO, threshold=4)
        fresh.fit(DATA)
        assert values(search.cv_results) == values(fresh.cv_results)
    other = model_selection.GridSearchCV(surprise.SVD, GRID, ["rmse"], TWO)
    other.measures = ["mae"]
    other.fit(DATA)
    assert list(search.cv_results["mean_test_mae"]) == list(other.cv_results["mean_test_mae"])


def test_a_function_among_the_measures_is_found_again_by_its_name() -> None:
    """As the attribute shows it."""
    search = GridSearchCV(surprise.SVD, GRID, ["rmse", rounded], TWO)
    search.measures = list(reversed(search.measures))
    search.fit(DATA)
    assert list(search.best_params) == ["rounded", "rmse"]


def test_other_attributes_set_after_construction_are_heeded() -> None:
    """Those that Surprise reads when it fits, and ours."""
    found = []
    for kind in (GridSearchCV, model_selection.GridSearchCV):
        search = kind(surprise.SVD, GRID, ["rmse", "mae"])
        search.cv = TWO
        search.return_train_measures = True
        search.refit = "mae"
        search.n_jobs = 2
        search.param_combinations = search.param_combinations[:1]
        search.fit(DATA)
        found.append(search)
    ours, theirs = found
    assert list(ours.cv_results) == list(theirs.cv_results)
    assert values(ours.cv_results) == values(theirs.cv_results)
    rows = FOLDS[0][1]
    assert ours.test(rows) == theirs.test(rows)
    search = GridSearchCV(surprise.SVD, GRID, ["precision@5"], TWO, threshold=1)
    search.threshold, search.keep_per_user, search.refit = 5, True, True
    search.fit(DATA)
    fresh = GridSearchCV(surprise.SVD, GRID, ["precision@5"], TWO, threshold=5)
    fresh.fit(DATA)
    assert values(search.cv_results) == values(fresh.cv_results)
    assert len(search.per_user)
    assert search.predict("u001", "i001").est > 0


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("measures", ["ndgc@5"], "No measure is named 'ndgc@5'"),
        ("measures", 5, "measures is a list"),
        ("refit", "ndcg@5", "none of the measures"),
        ("n_jobs", 0, "n_jobs must be a whole number"),
        ("n_jobs", "2", "n_jobs must be a whole number"),
        ("threshold", "4", "threshold must be a finite number"),
    ],
)
def test_what_cannot_be_is_refused_by_fit_too(name: str, value: Any, match: str) -> None:
    """An attribute is checked as an argument is."""
    search = GridSearchCV(surprise.SVD, GRID, ["recall@5"], TWO, threshold=4)
    setattr(search, name, value)
    with pytest.raises(ValueError, match=match):
        search.fit(DATA)


@pytest.mark.parametrize("n_jobs", [0, "2", 1.5])
def test_jobs_that_joblib_does_not_know_are_refused(n_jobs: Any) -> None:
    """Before anything is trained."""
    with rejects("n_jobs must be a whole number"):
        cross_validate(svd(), DATA, ["rmse"], TWO, n_jobs=n_jobs)


def test_no_number_of_jobs_is_one() -> None:
    """As joblib has it: one algorithm, fitted fold after fold."""
    ours = cross_validate(svd(), DATA, ["rmse"], TWO, n_jobs=None)  # type: ignore[arg-type]
    theirs = model_selection.cross_validate(svd(), DATA, ["rmse"], TWO, n_jobs=None)
    assert values(ours) == values(theirs)


@pytest.mark.parametrize("algo", [None, 5, surprise.SVD, "SVD"])
def test_what_is_no_algorithm_is_refused(algo: Any) -> None:
    """Before anything is split."""
    with rejects("algo is an algorithm"):
        cross_validate(algo, DATA, ["rmse"], TWO)


@pytest.mark.parametrize(
    "kind",
    [functools.partial(surprise.SVD, lr_all=0.01), lambda **how: surprise.SVD(**how, reg_all=0.1)],
)
def test_a_function_that_makes_algorithms_is_searched(kind: Any) -> None:
    """Surprise calls whatever it is given."""
    ours = GridSearchCV(kind, GRID, ["rmse"], TWO)
    theirs = model_selection.GridSearchCV(kind, GRID, ["rmse"], TWO)
    ours.fit(DATA)
    theirs.fit(DATA)
    assert values(ours.cv_results) == values(theirs.cv_results)


@pytest.mark.parametrize(
    ("grid", "match"),
    [
        ({"n_factors": 5}, "n_factors=5 is no list of values"),
        ({"n_factors": None}, "n_factors=None is no list of values"),
        ({"n_factors": stats.randint(2, 6)}, "only RandomizedSearchCV draws from"),
        ({"sim_options": [{"name": "msd"}]}, "Parameters are a dict of lists"),
        ({"sim_options": {"user_based": True}}, "user_based=True is no list of values"),
    ],
)
def test_parameters_that_are_no_lists_are_refused(grid: Any, match: str) -> None:
    """Where Surprise has a TypeError."""
    with pytest.raises((TypeError, AttributeError)):
        model_selection.GridSearchCV(surprise.SVD, grid)
    with rejects(match):
        GridSearchCV(surprise.SVD, grid)
    if "n_factors" not in grid or not hasattr(grid["n_factors"], "rvs"):
        with rejects(match):
            RandomizedSearchCV(surprise.SVD, grid, 1)


def test_nothing_can_be_tested_without_an_estimator() -> None:
    """As predict says it."""
    search = GridSearchCV(surprise.SVD, GRID, ["rmse"], TWO)
    with rejects("refit is False, so no estimator is fitted"):
        search.test([])
    with rejects("Nothing has been searched yet"):
        GridSearchCV(surprise.SVD, GRID, ["rmse"], TWO, refit=True).test([])


# what a search keeps


@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
def test_the_scores_of_every_user_are_kept_where_asked_for(kind: Any) -> None:
    """Without them a search is as large for many users as for few; all else is the same."""
    more: dict[str, Any] = {} if kind is GridSearchCV else {"n_iter": 2, "random_state": 0}
    measures = ["rmse", "ndcg@5", "ndcg@5:catalogue"]
    found, sizes = [], []
    for keep in (False, True):
        search = kind(surprise.SVD, GRID, measures=measures, cv=TWO, keep_per_user=keep, **more)
        search.fit(DATA)
        sizes.append(len(pickle.dumps(search._folds)))  # noqa: SLF001
        found.append(search)
    without, kept = found
    assert values(without.cv_results) == values(kept.cv_results)
    times = [name for name in kept.to_frame() if name.endswith("_time")]
    pd.testing.assert_frame_equal(
        without.to_frame().drop(columns=times), kept.to_frame().drop(columns=times)
    )
    users = [{row[0] for row in rows} for _, rows in FOLDS]
    assert len(kept.per_user) == 2 * sum(map(len, users))
    with rejects("pass keep_per_user=True, and fit again"):
        without.per_user  # noqa: B018
    doubled = surprise.Dataset.load_from_df(
        sample_ratings(120, 40)[["user", "item", "rating"]], READER
    )
    without.fit(doubled)
    assert len(pickle.dumps(without._folds)) < 1.1 * sizes[0] < sizes[1]  # noqa: SLF001
