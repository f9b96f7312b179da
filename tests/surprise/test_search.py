"""Searches: the results of Surprise to the last bit, and any measure to choose by."""

from __future__ import annotations

import contextlib
import copy
import functools
import math
import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
import surprise
from scipy import stats
from surprise import model_selection
from surprise.model_selection import KFold, ShuffleSplit

import recsys_ndcg as rn
from recsys_ndcg.surprise import GridSearchCV, RandomizedSearchCV, cross_validate, make_measure
from tests.errors import assert_rejected, rejects
from tests.surprise import samples
from tests.surprise.samples import DATA, THREE, TWO, assert_same_scores, fit_search, search_by_both

OWN = ["rmse", "mae", "mse", "fcp"]
GRID = {"n_factors": [2, 6], "n_epochs": [2, 12], "random_state": [0]}
NESTED: dict[str, Any] = {
    "sim_options": {"name": ["msd", "cosine"], "user_based": [False, True], "min_support": [2]},
    "bsl_options": {"method": ["als"], "n_epochs": [1]},
    "verbose": [False],
}


def assert_same_search(ours: Any, theirs: Any) -> None:
    """Compare all results of a search with Surprise's."""
    assert_same_scores(ours.cv_results, theirs.cv_results)
    for name in ("best_index", "best_params", "best_score"):
        mine, yours = getattr(ours, name), getattr(theirs, name)
        assert mine == yours, name
        assert [type(mine[key]) for key in mine] == [type(yours[key]) for key in yours], name
    assert list(ours.best_estimator) == list(theirs.best_estimator)
    for name, estimator in theirs.best_estimator.items():
        assert type(ours.best_estimator[name]) is type(estimator)
        assert hasattr(ours.best_estimator[name], "trainset") == hasattr(estimator, "trainset")


SEARCHES: list[tuple[Any, Any, Any, bool]] = [
    (surprise.SVD, GRID, TWO, True),
    (surprise.SVD, GRID, 2, True),
    (surprise.NormalPredictor, {}, TWO, False),
    (surprise.KNNBaseline, NESTED, ShuffleSplit(2, random_state=0), False),
    (functools.partial(surprise.SVD, lr_all=0.01), samples.GRID, TWO, False),
]


@pytest.mark.parametrize(("kind", "grid", "cv", "train"), SEARCHES, ids=range(len(SEARCHES)))
def test_a_grid_search_has_surprises_results(kind: Any, grid: Any, cv: Any, train: Any) -> None:
    """Every value, the ranks and the best of each measure; the caller's grid is not changed."""
    options = {"measures": OWN, "cv": cv, "return_train_measures": train}
    before = copy.deepcopy(grid)
    ours, theirs = search_by_both("GridSearchCV", kind, grid, **options)
    assert grid == before
    assert_same_search(ours, theirs)
    assert isinstance(ours, model_selection.GridSearchCV)


@pytest.mark.parametrize("refit", [True, "rmse"])
def test_a_refitted_estimator_is_surprises(refit: Any) -> None:
    """It is chosen by name, or by the first measure, and used by `test` and `predict`."""
    given = surprise.SVD, GRID, ["mae", "rmse", "fcp"], TWO
    ours, other = search_by_both("GridSearchCV", *given, refit=refit)
    assert_same_search(ours, other)
    assert ours.refit == other.refit
    testset = DATA.build_full_trainset().build_testset()[:50]
    assert ours.test(testset) == other.test(testset)
    assert ours.predict("u001", "i001", 4) == other.predict("u001", "i001", 4)
    mine = ours.predict("u001", "i001", r_ui=3.0, clip=False)
    estimator = ours.best_estimator[other.refit]
    assert mine == estimator.predict("u001", "i001", r_ui=3.0, clip=False)


def test_all_combinations_get_the_same_folds() -> None:
    """Also folds without a seed; the next search has other ones."""
    same = {"n_epochs": [1], "n_factors": [2], "random_state": [0], "reg_all": [0.1] * 3}
    search = GridSearchCV(surprise.SVD, same, ["rmse"], cv=KFold(2))
    found = []
    for _ in range(2):
        search.fit(DATA)
        found.append(search.cv_results["mean_test_rmse"].tolist())
    assert [len(set(one)) for one in found] == [1, 1]
    assert found[0] != found[1]


# the best by any measure


@pytest.fixture(name="search", scope="module")
def _search() -> Any:
    measures = ["rmse", "ndcg@5", "ndcg@5:catalogue", "recall@5", samples.mean_error]
    how: dict[str, Any] = {"cv": THREE, "threshold": 4, "keep_per_user": True}
    return fit_search(GridSearchCV, surprise.SVD, GRID, measures, **how)


def test_the_best_has_the_greatest_mean_unless_less_is_better(search: Any) -> None:
    """Ranks follow the direction of the measure too."""
    for name in search.measures:
        means, ranks = (search.cv_results[f"{one}_test_{name}"] for one in ("mean", "rank"))
        losses = means if name == "rmse" else -means
        place = losses.argmin()
        assert search.best_index[name] == place
        assert search.best_score[name] == means[place]
        assert search.best_params[name] == search.cv_results["params"][place]
        assert sorted(ranks) == [1, 2, 3, 4]
        assert (np.diff(losses[np.argsort(ranks)]) >= 0).all()


def test_the_tables_of_a_search(search: Any) -> None:
    """A row per combination with pooled scores, and a row per combination, fold and user."""
    table = search.to_frame()
    assert table.index.name == "combination"
    for name, values in search.cv_results.items():
        assert table[name].tolist() == list(values)
    chosen = surprise.SVD(**search.cv_results["params"][2])
    one = cross_validate(chosen, DATA, ["ndcg@5", "recall@5"], cv=THREE, threshold=4)
    for name in ("ndcg@5", "recall@5"):
        assert table[f"pooled_test_{name}"][2] == one.pooled[name]
        assert table[f"split1_test_{name}"][2] == one[f"test_{name}"][1]
        assert table[f"mean_test_{name}"][2] == one[f"test_{name}"].mean()
    users = search.per_user
    assert (table["test_users"] == len(users.loc[0])).all()
    assert users.index.names == ["combination", "fold", "user"]
    means = users["ndcg@5"].groupby(level=["fold", "combination"]).mean()
    for fold in (1, 2, 3):
        expected = search.cv_results[f"split{fold - 1}_test_ndcg@5"]
        assert means[fold].to_numpy() == pytest.approx(expected, abs=1e-15)
    again = pickle.loads(pickle.dumps(search))  # noqa: S301 - our own
    assert_same_scores(again.cv_results, search.cv_results)
    pd.testing.assert_frame_equal(again.per_user, users)


@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
def test_scores_of_users_are_kept_or_not_on_request(kind: Any) -> None:
    """Without them a search of many users is as small as one of few, and otherwise equal."""
    more: dict[str, Any] = {} if kind is GridSearchCV else {"n_iter": 2, "random_state": 0}
    how = {"measures": ["rmse", "ndcg@5", "ndcg@5:catalogue"], "cv": TWO, **more}
    without = fit_search(kind, surprise.SVD, samples.GRID, keep_per_user=False, **how)
    kept = fit_search(kind, surprise.SVD, samples.GRID, keep_per_user=True, **how)
    assert_same_scores(without.cv_results, kept.cv_results)
    assert without.to_frame().columns.tolist() == kept.to_frame().columns.tolist()
    users = [{row[0] for row in rows} for _, rows in TWO.split(DATA)]
    assert len(kept.per_user) == 2 * sum(map(len, users))
    with rejects("pass keep_per_user=True, and fit again"):
        without.per_user  # noqa: B018
    small, large = (len(pickle.dumps(one._runs)) for one in (without, kept))
    without.fit(samples.dataset(samples.TABLE[samples.TABLE["user"] < "u020"]))
    fewer = len(pickle.dumps(without._runs))
    assert small < 1.1 * fewer < large


def test_a_search_of_many_users_warns_before_it_trains(monkeypatch: pytest.MonkeyPatch) -> None:
    """That it keeps no scores of users, unless it is decided."""
    monkeypatch.setattr(sys.modules[GridSearchCV.__module__], "_MAX_KEPT", 159)
    grid = {"x": [1, 2]}  # for forty users in two folds
    with pytest.raises(rn.DataWarning, match=r"have 160 in 2 folds.*at most 159.*rn.compare"):
        GridSearchCV(samples.NeverFitted, grid, ["ndcg@5"], cv=TWO).fit(DATA)
    for measure, kept in (("rmse", None), ("ndcg@5", True), ("ndcg@5", False)):
        fit_search(GridSearchCV, surprise.SVD, GRID, [measure], cv=TWO, keep_per_user=kept)


# refit


@pytest.mark.parametrize("measures", [["rmse", "ndcg@5"], ["ndcg@5:catalogue", "rmse"]])
def test_refit_by_a_ranking_measure_fits_only_the_best_estimator(measures: list[str]) -> None:
    """It is fitted on all ratings."""
    for refit in (measures[0], measures[1].upper(), True):
        search = fit_search(GridSearchCV, surprise.SVD, GRID, measures, cv=TWO, refit=refit)
        name = measures[0] if refit is True else refit.lower()
        assert search.refit == name
        trained = [one for one in measures if hasattr(search.best_estimator[one], "trainset")]
        assert trained == [name]
        by_hand = surprise.SVD(**search.best_params[name]).fit(DATA.build_full_trainset())
        assert search.predict("u001", "i001").est == by_hand.predict("u001", "i001").est


def test_refit_takes_a_measure_in_every_form() -> None:
    """A name, an object or a function."""
    error = make_measure(lambda _: 1.0, "Error", greater_is_better=False)
    cases: list[tuple[Any, Any, str]] = [
        ("ndcg@5", rn.NDCG(5), "ndcg@5"), (rn.NDCG(5), "ndcg@5", "ndcg@5"),
        (min, min, "min"), (error, error, "error"), (error, "Error", "error"),
    ]  # fmt: skip
    for given, refit, name in cases:
        assert GridSearchCV(surprise.SVD, GRID, ["rmse", given], refit=refit).refit == name


@pytest.mark.parametrize("refit", ["recall@5", "ndgc@5", "", make_measure(min, "least")])
@pytest.mark.parametrize("kind", [GridSearchCV, functools.partial(RandomizedSearchCV, n_iter=1)])
def test_refit_by_another_measure_is_rejected(kind: Any, refit: Any) -> None:
    """Before anything is fitted."""
    search = functools.partial(kind, samples.NeverFitted, {"x": [1]})
    with pytest.raises(rn.RecsysNdcgError, match=r"not one of the measures|No measure is named"):
        search(measures=["rmse", "ndcg@5"], refit=refit)
    with rejects("refit=True needs a measure, but measures is empty"):
        search(measures=[], refit=True)


def test_what_needs_a_fit_or_a_refit_says_so() -> None:
    """The message has the call that is missing."""
    search = GridSearchCV(surprise.SVD, samples.GRID, ["ndcg@5"], cv=TWO)
    for read in (search.to_frame, lambda: search.per_user):
        assert_rejected(r"Call fit\(data\) first", read)
    with rejects("Nothing has been searched yet"):
        GridSearchCV(surprise.SVD, samples.GRID, ["rmse"], TWO, refit=True).test([])
    search.fit(DATA)
    for use, given in ((search.predict, ("u001", "i001")), (search.test, ([],))):
        assert_rejected("refit is False, so no estimator is fitted.*refit='ndcg@10'", use, *given)
    assert not hasattr(search.best_estimator["ndcg@5"], "trainset")


# undefined scores


def constant(value: float) -> Any:
    """Return an algorithm that estimates one value."""
    return samples.Formula(lambda *_: value)


def look_up(table: Sequence[float]) -> Callable[[Sequence[Any]], float]:
    """Return a measure that looks up the score of estimates of 1, 2, 3 ..."""
    return lambda predictions: float(table[round(float(predictions[0].est)) - 1])


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("table", "greatest", "least"),
    [
        ([NAN, 2, 1], 1, 2), ([2, NAN, 1], 0, 2), ([NAN, NAN, 1], 2, 2), ([NAN, 1, NAN], 1, 1),
        ([NAN, INF, 1], 1, 2), ([NAN, -INF, 1], 2, 1), ([NAN, -INF, NAN], 1, 1),
        ([-INF, NAN, INF], 2, 0),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # the deviation of infinities
@pytest.mark.parametrize("greater", [True, False], ids=["greatest", "least"])
def test_an_undefined_score_is_last(table: Any, greatest: int, least: int, greater: Any) -> None:
    """NaN is never the best in either direction, also among infinite scores."""
    measure = make_measure(look_up(table), "worth", greater_is_better=greater)
    search = fit_search(GridSearchCV, constant, {"value": [1.0, 2.0, 3.0]}, [measure], cv=TWO)
    best = greatest if greater else least
    assert search.best_index["worth"] == best
    assert search.best_score["worth"] == table[best]
    ranks = search.cv_results["rank_test_worth"]
    assert ranks[best] == 1
    missing = np.isnan(table)
    assert ranks[~missing].max() < ranks[missing].min()


def test_without_any_score_there_is_a_warning_and_no_best() -> None:
    """Other measures have their best; to refit by it is an error."""
    measure: Any = make_measure(look_up([NAN] * 3), "worth")
    for refit in (False, measure, "rmse"):
        grid = {"value": [1.0, 2.0, 3.0]}
        search = GridSearchCV(constant, grid, ["rmse", measure], cv=TWO, refit=refit)
        outcome: Any = contextlib.nullcontext()
        if refit is measure:
            outcome = rejects("No combination has a score in worth, so there is none to refit")
        with outcome, pytest.warns(rn.DataWarning, match="No combination has a score in worth"):
            search.fit(DATA)
        assert search.best_index["worth"] is search.best_params["worth"] is None
        assert search.best_estimator["worth"] is None
        assert math.isnan(search.best_score["worth"])
        assert search.best_params["rmse"] == {"value": 3.0}


# random searches


LISTS = {"n_factors": [2, 3, 4], "n_epochs": [1, 2, 3], "random_state": [0]}


def test_lists_are_drawn_by_the_seed_without_repetition() -> None:
    """Surprise ignores the seed for lists."""
    draws: list[list[Any]] = []
    for seed in (0, 0, 1, np.random.RandomState(0)):
        np.random.seed(len(draws))  # noqa: NPY002 - it must not matter
        search = RandomizedSearchCV(surprise.SVD, LISTS, n_iter=4, random_state=seed)
        draws.append([tuple(one.items()) for one in search.param_combinations])
        assert len(set(draws[-1])) == 4
        assert all(one[key] in LISTS[key] for one in search.param_combinations for key in one)
    assert draws[0] == draws[1] == draws[3] != draws[2]
    for n_iter, match in ((10, "n_iter.* 9 combinations"), (0, "^n_iter must be a whole")):
        assert_rejected(match, RandomizedSearchCV, surprise.SVD, LISTS, n_iter=n_iter)
    nested = RandomizedSearchCV(surprise.KNNBaseline, {**NESTED, "k": [5, 10, 20]}, 3)
    assert all(one["sim_options"]["min_support"] == 2 for one in nested.param_combinations)


def test_distributions_are_drawn_as_in_surprise() -> None:
    """The same seed gives the same combinations and scores."""
    given = {"n_factors": stats.randint(2, 6), "lr_all": stats.uniform(0.001, 0.01)}
    given |= {"n_epochs": [1, 2], "random_state": [0]}
    how: dict[str, Any] = {"n_iter": 4, "cv": TWO, "random_state": 0, "refit": "fcp"}
    ours, theirs = search_by_both("RandomizedSearchCV", surprise.SVD, given, measures=OWN, **how)
    assert ours.param_combinations == theirs.param_combinations
    assert_same_search(ours, theirs)
    assert ours.predict("u001", "i001") == theirs.predict("u001", "i001")


def test_parameters_without_a_list_of_values_are_rejected() -> None:
    """Surprise raises a TypeError."""
    grids: list[tuple[dict[str, Any], str]] = [
        ({"n_factors": 5}, "n_factors=5 is no list of values"),
        ({"n_factors": stats.randint(2, 6)}, "only RandomizedSearchCV accepts"),
        ({"sim_options": [{"name": "msd"}]}, "Parameters are a dict of lists"),
    ]
    for grid, match in grids:
        with pytest.raises((TypeError, AttributeError)):
            model_selection.GridSearchCV(surprise.SVD, grid)
        assert_rejected(match, GridSearchCV, surprise.SVD, grid)


# attributes that change after construction


def test_measures_may_change_before_the_next_fit() -> None:
    """As in Surprise: the list is replaced, or it grows."""
    fit = functools.partial(fit_search, GridSearchCV, surprise.SVD, samples.GRID, cv=TWO)
    search = fit(["rmse", samples.mean_error], threshold=4)
    search.measures = ["MAE", "Precision@5:rated", "mean_error"]
    search.fit(DATA)
    fresh = fit(["mae", "precision@5", samples.mean_error], threshold=4)
    assert search.measures == list(search.best_params) == fresh.measures
    assert_same_scores(search.cv_results, fresh.cv_results)
    search.measures.append("fcp")
    search.fit(DATA)
    assert search.measures == list(search.best_params) == [*fresh.measures, "fcp"]


@pytest.mark.parametrize("name", ["GridSearchCV", "RandomizedSearchCV"])
def test_options_are_attributes_as_in_surprise(name: str) -> None:
    """With the values that were given."""
    options = {
        "cv": TWO, "return_train_measures": True, "n_jobs": 2, "pre_dispatch": 3,
        "joblib_verbose": 1,
    }  # fmt: skip
    for library in (rn.surprise.model_selection, model_selection):
        search = getattr(library, name)(surprise.SVD, {"n_factors": [*range(10)]}, **options)
        assert {one: getattr(search, one) for one in options} == options


def test_other_attributes_may_change_before_the_next_fit() -> None:
    """The ones that Surprise reads when it fits, and ours."""
    found = []
    for kind in (GridSearchCV, model_selection.GridSearchCV):
        search = kind(surprise.SVD, samples.GRID, ["rmse", "mae"])
        search.cv, search.return_train_measures, search.refit = TWO, True, "mae"
        search.param_combinations = search.param_combinations[:1]
        search.fit(DATA)
        found.append(search)
    assert_same_search(*found)
    search = GridSearchCV(surprise.SVD, samples.GRID, ["precision@5"], TWO, threshold=1)
    search.threshold, search.keep_per_user, search.refit = 5, True, True
    search.fit(DATA)
    fresh = fit_search(GridSearchCV, surprise.SVD, samples.GRID, ["precision@5"], TWO, threshold=5)
    assert_same_scores(search.cv_results, fresh.cv_results)
    assert len(search.per_user)
    assert search.predict("u001", "i001").est > 0


def test_a_changed_attribute_is_checked_by_fit() -> None:
    """As an argument is."""
    for name, value, match in (
        ("measures", 5, "A measure is a name such as .*, not 5"),
        ("refit", "ndcg@5", "not one of the measures"),
        ("n_jobs", 0, "n_jobs must be a whole number"),
        ("threshold", "4", "threshold must be a finite number"),
    ):
        search = GridSearchCV(samples.NeverFitted, {"x": [1]}, ["recall@5"], TWO, threshold=4)
        setattr(search, name, value)
        with pytest.raises(ValueError, match=match):
            search.fit(DATA)
