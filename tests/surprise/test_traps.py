"""What goes wrong silently in Surprise is an error or a warning here, and says what to do."""

from __future__ import annotations

import math
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.errors import DivergedModelError
from tests.errors import rejects
from tests.surprise.warned import said

surprise = pytest.importorskip("surprise")

from surprise.model_selection import (  # noqa: E402
    KFold,
    LeaveOneOut,
    PredefinedKFold,
    train_test_split,
)

from recsys_ndcg.surprise import (  # noqa: E402
    GridSearchCV,
    LeaveLastOut,
    LeaveNOut,
    RandomizedSearchCV,
    accuracy,
    cross_validate,
    evaluate_catalogue,
    predict_all,
    rank_catalogue,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TABLE = sample_ratings(60, 80)[["user", "item", "rating"]]
FOLDS = KFold(3, random_state=0)


class NeverFitted(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that shows whether anything was trained."""

    def fit(self, trainset: Any) -> Any:
        """Fail the test."""
        pytest.fail(f"{trainset} was fitted")


class Constant(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that estimates one value for whatever has the item `of`, else 3."""

    def __init__(self, value: float = math.nan, of: Any = None) -> None:
        super().__init__()
        self.value, self.of = value, of

    def estimate(self, _: Any, item: Any) -> float:
        """Return the value, or 3."""
        known = self.trainset.knows_item(item)
        if self.of is None or (known and self.trainset.to_raw_iid(item) == self.of):
            return self.value
        return 3.0


def dataset(frame: pd.DataFrame = TABLE, scale: tuple[float, float] = (0.5, 5)) -> Any:
    """Return a table as a dataset of Surprise."""
    return surprise.Dataset.load_from_df(frame, surprise.Reader(rating_scale=scale))


def model(n_epochs: int = 3, **options: Any) -> Any:
    """Return a small SVD."""
    return surprise.SVD(n_factors=4, n_epochs=n_epochs, random_state=0, **options)


def diverging() -> Any:
    """Return an SVD whose factors become NaN."""
    return model(20, lr_all=5)


def about(messages: Sequence[str], pattern: str) -> list[str]:
    """Return the messages that match."""
    return [one for one in messages if re.search(pattern, one)]


@pytest.fixture(name="split", scope="module")
def _split() -> tuple[Any, Any]:
    found: tuple[Any, Any] = train_test_split(dataset(), test_size=0.3, random_state=0)
    return found


@pytest.fixture(name="fitted", scope="module")
def _fitted(split: tuple[Any, Any]) -> Any:
    return model().fit(split[0])


# the wrong rating scale


DOUBLED = TABLE.assign(rating=TABLE["rating"] * 2)
TOO_HIGH = int((DOUBLED["rating"] > 5).sum())


def on_doubled(name: str) -> Any:
    """Do one thing to ratings of 1 to 10 that were read as 1 to 5."""
    data = dataset(DOUBLED, (1, 5))
    trainset = data.build_full_trainset()
    testset = trainset.build_testset()
    grid = {"n_factors": [2], "n_epochs": [1], "random_state": [0, 1]}
    acts: dict[str, Callable[[], Any]] = {
        "cross_validate": lambda: cross_validate(model(), data, ["ndcg@5"], cv=FOLDS),
        "rmse alone": lambda: cross_validate(model(), data, ["rmse"], cv=FOLDS),
        "n_jobs=2": lambda: cross_validate(model(), data, ["rmse"], cv=FOLDS, n_jobs=2),
        "grid": lambda: GridSearchCV(surprise.SVD, grid, ["ndcg@5"], cv=FOLDS).fit(data),
        "randomized": lambda: RandomizedSearchCV(
            surprise.SVD, grid, 2, ["ndcg@5:catalogue"], cv=FOLDS, random_state=0
        ).fit(data),
        "rank_catalogue": lambda: rank_catalogue(model().fit(trainset), trainset, clip=True),
        "evaluate_catalogue": lambda: evaluate_catalogue(model().fit(trainset), trainset, testset),
    }
    return acts[name]()


@pytest.mark.parametrize(
    "name",
    ["cross_validate", "rmse alone", "n_jobs=2", "grid", "randomized", "rank_catalogue",
     "evaluate_catalogue"],
)  # fmt: skip
def test_ratings_outside_the_scale_are_warned_of_once_with_their_range(name: str) -> None:
    """However many folds and combinations there are, and what to write instead."""
    found = about(said(lambda: on_doubled(name)), "rating_scale")
    assert len(found) == 1
    assert "(1, 5)" in found[0]
    assert "from 1 to 10" in found[0]
    assert "Reader(rating_scale=(1, 10))" in found[0]


def test_the_number_of_ratings_outside_is_right() -> None:
    """Counted in what the model is trained on."""
    trainset = dataset(DOUBLED, (1, 5)).build_full_trainset()
    algo = model().fit(trainset)
    (found,) = about(said(lambda: rank_catalogue(algo, trainset, clip=True)), "rating_scale")
    assert found.startswith(f"{TOO_HIGH} of {len(DOUBLED)} ratings are outside")


def test_a_scale_that_is_too_high_is_warned_of_too() -> None:
    """Ratings below it."""
    trainset = dataset(TABLE, (2, 5)).build_full_trainset()
    algo = model().fit(trainset)
    (found,) = about(said(lambda: rank_catalogue(algo, trainset, clip=True)), "rating_scale")
    assert "from 0.5 to 5" in found


@pytest.mark.parametrize("scale", [(0.5, 5), (0, 5), (0.5, 10)])
def test_a_scale_that_holds_all_ratings_is_not_warned_of(scale: tuple[float, float]) -> None:
    """Also a wider one."""
    data = dataset(TABLE, scale)
    assert not about(said(lambda: cross_validate(model(), data, cv=FOLDS)), ".")


def test_predictions_of_the_wrong_scale_are_warned_of() -> None:
    """From the predictions alone: most stand at the bound, and the ratings run beyond it."""
    trainset, testset = train_test_split(dataset(DOUBLED, (1, 5)), random_state=0)
    found = model().fit(trainset).test(testset)
    for measured in (rn.evaluate, lambda data: accuracy.ndcg(data, verbose=False)):
        (message,) = said(lambda measured=measured: measured(found))  # type: ignore[misc]
        assert re.search("^All 308 estimates are 5: .*rating_scale ends there .*run to 10", message)


# a model that diverged


def test_the_model_of_these_tests_diverges_and_surprise_hides_it(split: tuple[Any, Any]) -> None:
    """NaN is clipped to the top of the scale: nothing can be seen of it in the predictions."""
    algo = diverging().fit(split[0])
    found = algo.test(split[1])
    assert {one.est for one in found} == {5}
    assert math.isnan(algo.predict(*split[1][0][:2], clip=False).est)


@pytest.mark.parametrize("clip", [False, True])
@pytest.mark.parametrize("name", ["rank_catalogue", "evaluate_catalogue", "predict_all"])
def test_a_diverged_model_is_no_model(split: tuple[Any, Any], name: str, clip: bool) -> None:  # noqa: FBT001
    """Whether its NaN would be clipped or not."""
    trainset, testset = split
    algo = diverging().fit(trainset)
    acts: dict[str, Callable[[], Any]] = {
        "rank_catalogue": lambda: rank_catalogue(algo, trainset, clip=clip),
        "evaluate_catalogue": lambda: evaluate_catalogue(algo, trainset, testset, clip=clip),
        "predict_all": lambda: predict_all(algo, clip=clip),
    }
    with rejects("SVD estimates NaN.*diverged.*smaller learning rate", DivergedModelError):
        acts[name]()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("measures", [["rmse"], ["ndcg@5"], ["ndcg@5:catalogue"], ["fcp", "mae"]])
def test_cross_validation_of_a_diverged_model_is_an_error(measures: Any, n_jobs: int) -> None:
    """Whatever is measured: an RMSE of the bound is not the model's either."""
    with rejects("SVD estimates NaN.*diverged", DivergedModelError):
        cross_validate(diverging(), dataset(), measures, cv=FOLDS, n_jobs=n_jobs)


def test_a_diverged_slow_path_is_an_error_too(split: tuple[Any, Any]) -> None:
    """An algorithm of one's own, whose NaN is at a single item."""
    trainset, testset = split
    algo = Constant(of=testset[0][1]).fit(trainset)
    for act in (
        lambda: rank_catalogue(algo, trainset),
        lambda: evaluate_catalogue(algo, trainset, testset),
        lambda: predict_all(algo),
        lambda: cross_validate(Constant(of=testset[0][1]), dataset(), ["ndcg@5"], cv=FOLDS),
    ):
        with rejects("Constant estimates NaN.*diverged", DivergedModelError):
            act()


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinite_estimates_are_an_error_too(split: tuple[Any, Any], value: float) -> None:
    """They come one step before NaN, and nothing can be ranked by them."""
    trainset, testset = split
    algo = Constant(value, of=testset[0][1]).fit(trainset)
    for act in (
        lambda: rank_catalogue(algo, trainset),
        lambda: evaluate_catalogue(algo, trainset, testset),
    ):
        with rejects("Constant estimates"):
            act()


@pytest.mark.parametrize("measure", ["ndcg@5", "ndcg@5:catalogue"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_search_ranks_diverged_combinations_last_and_names_them(
    measure: str, n_jobs: int
) -> None:
    """The diverged one comes first in the grid, so that a NaN that wins would be seen."""
    grid = {"lr_all": [5, 0.005, 6], "n_factors": [4], "n_epochs": [20], "random_state": [0]}
    search = GridSearchCV(
        surprise.SVD, grid, [measure, "rmse"], cv=FOLDS, refit=measure, n_jobs=n_jobs
    )
    (message,) = said(lambda: search.fit(dataset()))
    assert message.startswith("2 of 3 combinations diverged, the first {'lr_all': 5, ")
    assert "SVD estimates NaN" in message
    chosen: dict[str, Any] = search.best_params
    assert chosen[measure]["lr_all"] == 0.005
    assert search.best_index[measure] == 1
    assert chosen["rmse"]["lr_all"] == 0.005
    scores = search.cv_results[f"mean_test_{measure}"]
    assert np.isnan(scores).tolist() == [True, False, True]
    assert search.cv_results[f"rank_test_{measure}"][1] == 1
    assert search.best_score[measure] == scores[1]
    assert not math.isnan(search.predict("u001", "i001", clip=False).est)


def test_a_search_in_which_all_diverge_has_no_best() -> None:
    """And nothing to refit: there is a warning, and an error where one was to be fitted."""
    grid = {"lr_all": [5, 6], "n_factors": [4], "n_epochs": [20], "random_state": [0]}
    search = GridSearchCV(surprise.SVD, grid, ["ndcg@5"], cv=FOLDS)
    messages = said(lambda: search.fit(dataset()))
    assert about(messages, "2 of 2 combinations diverged")
    assert about(messages, "No combination has a score in ndcg@5")
    assert search.best_params == {"ndcg@5": None}
    assert search.best_index == {"ndcg@5": None}
    assert math.isnan(search.best_score["ndcg@5"])


class SometimesNaN(Constant):
    """An algorithm that diverges in the folds where a certain rating is in training."""

    def __init__(self, flag: Any = None) -> None:
        super().__init__(3.0)
        self.flag = flag

    def fit(self, trainset: Any) -> Any:
        """Look for the rating."""
        super().fit(trainset)
        user, item = (self.flag or (None, None))[:2]
        self.value = 3.0
        if user in trainset._raw2inner_id_users:  # noqa: SLF001
            rated = {inner for inner, _ in trainset.ur[trainset.to_inner_uid(user)]}
            if item in {trainset.to_raw_iid(inner) for inner in rated}:
                self.value = math.nan
        return self


class NaNOffTheTable(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that estimates NaN for pairs that nobody rated, if it is wild."""

    def __init__(self, wild: bool = True) -> None:  # noqa: FBT001, FBT002 - a parameter of a grid
        super().__init__()
        self.wild = wild

    def estimate(self, user: Any, item: Any) -> float:
        """Return 3, or NaN for a pair that nobody rated."""
        trainset = self.trainset
        if not (trainset.knows_user(user) and trainset.knows_item(item) and self.wild):
            return 3.0
        pair = trainset.to_raw_uid(user), trainset.to_raw_iid(item)
        return 3.0 if pair in RATED else math.nan


RATED = set(zip(TABLE["user"], TABLE["item"], strict=True))


def test_a_search_names_a_combination_whose_catalogue_alone_has_nan() -> None:
    """Predictions of the testset do not show it."""
    small = TABLE[TABLE["item"].isin(TABLE["item"].unique()[:20])]
    search = GridSearchCV(NaNOffTheTable, {"wild": [True, False]}, ["ndcg@5:catalogue"], cv=FOLDS)
    messages = said(lambda: search.fit(dataset(small)))
    assert about(messages, "1 of 2 combinations diverged.*'wild': True.*NaNOffTheTable estimates")
    assert np.isnan(search.cv_results["mean_test_ndcg@5:catalogue"]).tolist() == [True, False]


def test_the_tables_of_a_search_bear_a_combination_that_diverged_in_some_folds() -> None:
    """One with scores, one without in one of three folds."""
    first = tuple(TABLE.iloc[0])
    how: dict[str, Any] = {"cv": FOLDS, "keep_per_user": True}
    search = GridSearchCV(SometimesNaN, {"flag": [None, first]}, ["ndcg@5", "rmse"], **how)
    messages = said(lambda: search.fit(dataset()))
    assert about(messages, "1 of 2 combinations diverged")
    folds = [f"split{fold}_test_ndcg@5" for fold in range(3)]
    missing = [math.isnan(search.cv_results[fold][1]) for fold in folds]
    assert sorted(missing) == [False, True, True]
    assert search.best_index["ndcg@5"] == 0
    frame = search.to_frame()
    assert len(frame) == 2
    assert not np.isnan(frame["pooled_test_ndcg@5"].to_numpy()[0])
    places = {place[:2] for place in search.per_user["ndcg@5"].dropna().index.tolist()}
    assert {place for place in places if place[0] == 0} == {(0, 1), (0, 2), (0, 3)}
    assert len([place for place in places if place[0] == 1]) == 1


def test_the_tables_of_a_search_bear_a_combination_that_diverged_in_all_folds() -> None:
    """Its pooled score is missing, as its mean is."""
    grid = {"lr_all": [0.005, 5], "n_factors": [4], "n_epochs": [20], "random_state": [0]}
    search = GridSearchCV(surprise.SVD, grid, ["ndcg@5"], cv=FOLDS, keep_per_user=True)
    said(lambda: search.fit(dataset()))
    frame = search.to_frame()
    assert frame["pooled_test_ndcg@5"].isna().tolist() == [False, True]
    assert set(search.per_user.index.get_level_values("combination")) >= {0}
    assert search.per_user["ndcg@5"].notna().any()


# ids of the wrong type


NUMBERED = TABLE.assign(
    user=TABLE["user"].str[1:].astype(int), item=TABLE["item"].str[1:].astype(int)
)


@pytest.fixture(name="numbered", scope="module")
def _numbered() -> tuple[Any, Any]:
    trainset = dataset(NUMBERED).build_full_trainset()
    return model().fit(trainset), trainset


@pytest.mark.parametrize(
    ("act", "column"),
    [
        (lambda algo, train: rank_catalogue(algo, train, users=["1", "2"]), "user"),
        (lambda algo, _: predict_all(algo, users=["1"]), "user"),
        (lambda algo, _: predict_all(algo, items=["1"]), "item"),
        (lambda algo, train: evaluate_catalogue(algo, train, [("1", "10", 4.0)]), "item"),
        (lambda algo, train: evaluate_catalogue(algo, train, [("1", 10, 4.0)]), "user"),
        (lambda algo, train: evaluate_catalogue(algo, train, [(1, "10", 4.0)]), "item"),
    ],
)
def test_ids_of_another_type_are_an_error_that_names_both(
    numbered: tuple[Any, Any], act: Callable[[Any, Any], Any], column: str
) -> None:
    """Surprise takes them for unknown, and estimates the mean of all ratings."""
    assert numbered[0].predict("1", "10").details["was_impossible"] is False
    with rejects(f"^{column}: .*trainset have ids of type number .*of type text .*'[12]"):
        act(*numbered)


def test_numbers_where_the_trainset_has_text_are_an_error(
    fitted: Any, split: tuple[Any, Any]
) -> None:
    """The other way round: load_from_file reads all ids as text."""
    with rejects("user: .*trainset have ids of type text .*of type number"):
        rank_catalogue(fitted, split[0], users=[1, 2])
    with rejects("item: .*trainset have ids of type text .*of type number"):
        evaluate_catalogue(fitted, split[0], [(1, 10, 4.0)])


def test_numbers_of_any_kind_are_the_same_ids(numbered: tuple[Any, Any]) -> None:
    """As they are for a dict: numpy's, and whole floats."""
    algo, trainset = numbered
    user = trainset.to_raw_uid(0)
    tables = [
        rank_catalogue(algo, trainset, users=[one]).drop(columns="user")
        for one in (user, np.int64(user), float(user))
    ]
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0])


def test_some_unknown_ids_of_the_right_type_are_strangers(numbered: tuple[Any, Any]) -> None:
    """No error: a testset has new users and items."""
    algo, trainset = numbered
    known, item = trainset.to_raw_uid(0), trainset.to_raw_iid(0)
    assert predict_all(algo, [known, 10**6], [item]).notna().all(axis=None)
    rated = {trainset.to_raw_iid(inner) for inner, _ in trainset.ur[0]}
    other = next(one for one in map(trainset.to_raw_iid, trainset.all_items()) if one not in rated)
    test = [(known, other, 5.0), (10**6, item, 4.0), (known, 10**6, 4.0)]
    report = evaluate_catalogue(algo, trainset, test, metrics="ndcg@5")
    assert report.per_user.index.tolist() == [known, 10**6]


# lists of one item


@pytest.mark.parametrize("cv", [LeaveOneOut(2, random_state=0), LeaveNOut(1), LeaveLastOut(1)])
@pytest.mark.parametrize("measures", [["ndcg@5"], ["rmse", "rr@5"], ["hit@5", "hit@5:catalogue"]])
def test_one_test_rating_per_user_is_refused_for_rated_lists_before_any_fit(
    cv: Any, measures: list[str]
) -> None:
    """Any order of one item is perfect: the message says how to test instead."""
    timed = surprise.Dataset.load_from_df(TABLE, surprise.Reader(rating_scale=(0.5, 5)))
    timed.raw_ratings = [(*row[:3], place) for place, row in enumerate(timed.raw_ratings)]
    with rejects(r"one predicted item.*LeaveNOut\(5\).*'ndcg@10:catalogue'"):
        cross_validate(NeverFitted(), timed, measures, cv=cv, threshold=4)
    with rejects("one predicted item"):
        GridSearchCV(NeverFitted, {"x": [1]}, measures, cv=cv, threshold=4).fit(timed)


def test_one_test_rating_per_user_is_fine_for_the_catalogue_and_for_errors() -> None:
    """There the item stands among all others."""
    measures = ["rmse", "ndcg@5:catalogue", "hit@5:catalogue"]
    found = cross_validate(
        model(), dataset(), measures, cv=LeaveOneOut(2, random_state=0), threshold=0.5
    )
    assert found.n_users == [60, 60]
    assert (found["test_ndcg@5:catalogue"] < 1).all()
    assert (found["test_hit@5:catalogue"] >= found["test_ndcg@5:catalogue"]).all()
    assert set(found.per_user["hit@5:catalogue"]) == {0.0, 1.0}


# algorithms that truncate


HALVES = [surprise.SlopeOne, surprise.CoClustering]


class OwnSlopeOne(surprise.SlopeOne):  # type: ignore[misc, name-defined]
    """A subclass truncates as well; its parameter is there to be searched."""

    def __init__(self, x: Any = None) -> None:
        super().__init__()
        self.x = x


@pytest.mark.parametrize("kind", [*HALVES, OwnSlopeOne])
@pytest.mark.parametrize("measures", [["rmse"], ["ndcg@5", "ndcg@5:catalogue"]])
def test_an_algorithm_that_truncates_half_stars_is_named_once(
    kind: Any, measures: list[str]
) -> None:
    """In five folds, one warning; with how many ratings there are, and what becomes of one."""
    data, cv = dataset(), KFold(5, random_state=0)
    found = about(said(lambda: cross_validate(kind(), data, measures, cv=cv)), "whole numbers")
    assert len(found) == 1
    assert found[0].startswith(f"{kind.__name__} keeps ratings as whole numbers: ")
    one, floor = re.search(
        r"such as ([\d.]+), are cut to the one below \((\d)\)", found[0]
    ).groups()  # type: ignore[union-attr]
    assert math.floor(float(one)) == int(floor) != float(one)


@pytest.mark.parametrize("kind", [OwnSlopeOne, surprise.CoClustering])
def test_it_is_named_once_in_a_search_and_in_the_catalogue(
    kind: Any, split: tuple[Any, Any]
) -> None:
    """One warning each."""
    trainset, testset = split
    grid = {"random_state" if kind is surprise.CoClustering else "x": [0, 1]}
    algo = kind().fit(trainset)
    for act in (
        lambda: GridSearchCV(kind, grid, ["rmse"], cv=FOLDS).fit(dataset()),
        lambda: rank_catalogue(algo, trainset),
        lambda: evaluate_catalogue(algo, trainset, testset),
    ):
        assert len(about(said(act), f"^{kind.__name__} keeps ratings as whole numbers")) == 1


@pytest.mark.parametrize("kind", HALVES)
def test_whole_ratings_are_not_truncated(kind: Any) -> None:
    """Doubled half stars, as the message advises, are whole."""
    data = dataset(DOUBLED, (1, 10))
    messages = said(lambda: cross_validate(kind(), data, ["rmse", "ndcg@5"], cv=FOLDS))
    assert not about(messages, "whole numbers|rating_scale")


def test_other_algorithms_keep_half_stars() -> None:
    """Nothing to say."""
    assert not said(lambda: cross_validate(model(), dataset(), ["rmse"], cv=FOLDS))
    algo = surprise.KNNBasic(verbose=False)
    assert not said(lambda: cross_validate(algo, dataset(), ["rmse"], cv=FOLDS))


# algorithms and trainsets that do not belong together


def test_an_algorithm_that_is_not_fitted_is_refused(split: tuple[Any, Any]) -> None:
    """It says so, in place of an AttributeError."""
    trainset, testset = split
    for act in (
        lambda: rank_catalogue(model(), trainset),
        lambda: evaluate_catalogue(model(), trainset, testset),
        lambda: predict_all(model()),
    ):
        with rejects(r"SVD is not fitted.*algo.fit\(trainset\)"):
            act()


def test_another_trainset_than_that_of_the_algorithm_is_refused(fitted: Any) -> None:
    """Its inner ids are others, so that every list would be of somebody else."""
    other = dataset(TABLE.iloc[::2]).build_full_trainset()
    for act in (
        lambda: rank_catalogue(fitted, other),
        lambda: evaluate_catalogue(fitted, other, [("u001", "i001", 4.0)]),
    ):
        with rejects(
            rf"another trainset \(\d+ ratings\) than this one \({other.n_ratings} ratings"
        ):
            act()


def test_the_same_ratings_in_another_order_are_another_trainset(split: tuple[Any, Any]) -> None:
    """As many ratings, but other inner ids; the same order is the same trainset."""
    whole = dataset().build_full_trainset()
    algo = model().fit(whole)
    with rejects("another trainset"):
        rank_catalogue(algo, dataset(TABLE.iloc[::-1]).build_full_trainset())
    again = dataset().build_full_trainset()
    assert again is not whole
    pd.testing.assert_frame_equal(rank_catalogue(algo, again), rank_catalogue(algo, whole))
    with rejects("another trainset"):
        rank_catalogue(algo, split[0])


@pytest.mark.parametrize("name", ["rank_catalogue", "evaluate_catalogue"])
def test_a_testset_where_a_trainset_belongs_is_refused(
    fitted: Any, split: tuple[Any, Any], name: str
) -> None:
    """A list is no trainset; nor is the dataset."""
    for wrong in (split[1], dataset(), None, "train"):
        with rejects("[Tt]rainset"):
            if name == "rank_catalogue":
                rank_catalogue(fitted, wrong)
            else:
                evaluate_catalogue(fitted, wrong, split[1])


@pytest.mark.parametrize("wrong", ["test", "Train", True, False, ["i001"], 0])
def test_an_unknown_exclude_is_refused(fitted: Any, split: tuple[Any, Any], wrong: Any) -> None:
    """There are two."""
    for act in (
        lambda: rank_catalogue(fitted, split[0], exclude=wrong),
        lambda: evaluate_catalogue(fitted, *split, exclude=wrong),
    ):
        with rejects("exclude must be 'train' or None, not "):
            act()


@pytest.mark.parametrize("k", [0, -1, 2.5, "10", True])
def test_a_cutoff_is_a_whole_number_of_at_least_1(
    fitted: Any, split: tuple[Any, Any], k: Any
) -> None:
    """In the catalogue as elsewhere."""
    for act in (
        lambda: rank_catalogue(fitted, split[0], k=k),
        lambda: evaluate_catalogue(fitted, *split, k=k),
    ):
        with rejects("k must be a whole number of at least 1, not "):
            act()


@pytest.mark.parametrize("users", [[], (), np.array([]), iter(())])
def test_no_users_are_refused(fitted: Any, split: tuple[Any, Any], users: Any) -> None:
    """An empty selection is a slip; None means all."""
    with rejects("users is empty: give raw ids, or None"):
        rank_catalogue(fitted, split[0], users=users)


@pytest.mark.parametrize("users", ["u001", 5, b"u001"])
def test_users_are_several(fitted: Any, split: tuple[Any, Any], users: Any) -> None:
    """One id is no list of ids."""
    with rejects("users: found .* in place of a column"):
        rank_catalogue(fitted, split[0], users=users)


WRONG_ROWS = [
    ("u001", "i001"),
    ("u001", "i001", 4.0, None),
    {"user": "u001"},
    "u001",
    5,
    None,
    ("u001", "i001", 4.0, 3.9, {}),
]


@pytest.mark.parametrize("row", WRONG_ROWS, ids=range(len(WRONG_ROWS)))
def test_rows_of_a_testset_that_have_another_shape_are_refused(
    fitted: Any, split: tuple[Any, Any], row: Any
) -> None:
    """Predictions, or raw ratings with their timestamps; the row is counted."""
    with rejects(r"Row 2 \(counted from 0\) of the testset .*\(user, item, rating\)"):
        evaluate_catalogue(fitted, split[0], [*split[1][:2], row])


@pytest.mark.parametrize(
    ("rating", "match"),
    [
        ("4.0", "text such as '4.0'"),
        (math.inf, "infinite"),
        (-1.0, "the grade -1"),
        ([4], "rating|true"),
    ],
)
def test_ratings_of_a_testset_that_are_no_grades_are_refused(
    fitted: Any, split: tuple[Any, Any], rating: Any, match: str
) -> None:
    """Text, infinity, and what has no gain."""
    with rejects(match):
        evaluate_catalogue(fitted, split[0], [*split[1][:2], ("u999", "i001", rating)])


@pytest.mark.parametrize("wrong", [5, None])
def test_a_testset_that_is_no_list_is_refused(
    fitted: Any, split: tuple[Any, Any], wrong: Any
) -> None:
    """With what it should be."""
    with rejects("testset"):
        evaluate_catalogue(fitted, split[0], wrong)


def test_an_empty_testset_is_refused(fitted: Any, split: tuple[Any, Any]) -> None:
    """There is nothing to measure, in the catalogue and in a fold."""
    with rejects("[Tt]estset is empty|no rows in the (labels|testset)"):
        evaluate_catalogue(fitted, split[0], [])


class EmptyFold:
    """A split whose testset is empty."""

    n_splits = 1

    def split(self, data: Any) -> Any:
        """Give everything to training."""
        yield data.build_full_trainset(), []

    def get_n_folds(self) -> int:
        """Return how many."""
        return self.n_splits


@pytest.mark.parametrize(
    "measures", [["ndcg@5"], ["ndcg@5:catalogue"], ["rmse"], ["rmse", "ndcg@5"]]
)
def test_an_empty_fold_is_refused(measures: list[str]) -> None:
    """Whatever is measured; by Surprise itself where the measure is its own."""
    with pytest.raises(ValueError, match=r"(?i)empty|no rows|no rating"):
        cross_validate(model(), dataset(), measures, cv=EmptyFold())


def test_a_split_without_folds_is_refused() -> None:
    """A result of nothing is no result."""

    class NoFolds(EmptyFold):
        def split(self, data: Any) -> Any:
            assert data
            return iter(())

    with rejects("(?i)fold|split"):
        cross_validate(model(), dataset(), ["rmse"], cv=NoFolds())
    with rejects("(?i)fold|split"):
        GridSearchCV(surprise.SVD, {"n_factors": [2]}, ["rmse"], cv=NoFolds()).fit(dataset())


def test_a_pair_that_is_twice_in_the_testset_is_refused_or_merged(
    fitted: Any, split: tuple[Any, Any]
) -> None:
    """By the convention's rule."""
    trainset, testset = split
    user, item, rating = testset[0]
    twice = [*testset, (user, item, 0.5)]
    with rejects("the testset: user .* has the item .* twice or more"):
        evaluate_catalogue(fitted, trainset, twice)
    once = evaluate_catalogue(fitted, trainset, testset, metrics="ndcg@5")
    first = evaluate_catalogue(
        fitted, trainset, twice, metrics="ndcg@5", convention=rn.Convention(duplicates="first")
    )
    assert first.mean.tolist() == once.mean.tolist()
    assert first.counts["duplicates"] == 1
    assert rating >= 0.5


def test_a_pair_that_is_twice_in_the_ratings_is_refused_before_any_fit() -> None:
    """Where lists are ranked; Surprise's own measures take them."""
    data = dataset(pd.concat([TABLE, TABLE.iloc[:1]]))
    with rejects("user .* has the item .* twice or more"):
        cross_validate(NeverFitted(), data, ["ndcg@5"], cv=FOLDS)
    seen = "^2 of 1538 test ratings"  # each, where the other is trained on
    with pytest.warns(rn.DataWarning, match=seen):
        assert len(cross_validate(model(), data, ["rmse"], cv=FOLDS)["test_rmse"]) == 3
    measures, first = ["ndcg@5", "ndcg@5:catalogue"], rn.Convention(duplicates="first")
    with pytest.warns(rn.DataWarning, match=seen):
        found = cross_validate(model(), data, measures, cv=FOLDS, convention=first)
    assert not np.isnan(found["test_ndcg@5"]).any()


# estimates that no model made


def test_the_catalogue_counts_what_was_impossible(split: tuple[Any, Any]) -> None:
    """A k-NN without neighbours says so; put last, or dropped, the lists change."""
    trainset, testset = split
    algo = surprise.KNNBasic(min_k=15, verbose=False).fit(trainset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        reports = [
            evaluate_catalogue(
                algo,
                trainset,
                testset,
                metrics="recall@5",
                threshold=4,
                convention=rn.Convention(impossible=rule),
            )
            for rule in ("rank", "last", "drop")
        ]
    flagged = sum(
        algo.predict(user, trainset.to_raw_iid(inner)).details["was_impossible"]
        for user in {one for one, _, _ in testset}
        for inner in trainset.all_items()
        if inner not in {seen for seen, _ in trainset.ur[trainset.to_inner_uid(user)]}
    )
    assert flagged > 0
    assert [report.counts["impossible"] for report in reports] == [flagged] * 3
    assert len({report.mean.iloc[0] for report in reports}) > 1


def test_a_warning_points_at_the_line_that_led_to_it(split: tuple[Any, Any]) -> None:
    """And not into joblib, so that it can be silenced, and found."""
    acts: list[Callable[[], Any]] = [
        lambda: evaluate_catalogue(surprise.SlopeOne().fit(split[0]), *split),
        lambda: GridSearchCV(OwnSlopeOne, {"x": [1]}, ["rmse"], cv=FOLDS).fit(dataset()),
        lambda: cross_validate(surprise.SlopeOne(), dataset(), ["rmse"], cv=FOLDS),
    ]
    for act in acts:
        with pytest.warns(rn.DataWarning, match="SlopeOne keeps") as caught:
            act()
        assert [one.filename for one in caught if "SlopeOne" in str(one.message)] == [__file__]


def test_folds_of_files_are_warned_of_as_well(tmp_path: Any) -> None:
    """Ratings that come in folds are looked at when they are read."""
    for name, part in (("train", DOUBLED.iloc[::2]), ("test", DOUBLED.iloc[1::2])):
        part.to_csv(tmp_path / name, sep=" ", header=False, index=False)
    reader = surprise.Reader(line_format="user item rating", sep=" ", rating_scale=(1, 5))
    files = [(str(tmp_path / "train"), str(tmp_path / "test"))]
    data = surprise.Dataset.load_from_folds(files, reader)
    messages = said(lambda: cross_validate(model(), data, ["rmse"], cv=PredefinedKFold()))
    assert len(about(messages, r"rating_scale \(1, 5\)")) == 1


class SometimesInfinite(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that estimates infinity for one item, if told so."""

    def __init__(self, bad: bool = False) -> None:  # noqa: FBT001, FBT002
        super().__init__()
        self.bad = bad

    def estimate(self, user: Any, item: Any) -> float:
        """Return the sum of the inner ids, or infinity."""
        return -math.inf if self.bad and item == 0 else hash((user, item)) % 97 / 20


def test_a_combination_that_estimates_infinity_does_not_end_a_search() -> None:
    """It ranks last, as one that estimates NaN."""
    data = dataset()
    search = GridSearchCV(
        SometimesInfinite, {"bad": [True, False]}, ["ndcg@10:catalogue"], cv=FOLDS
    )
    with pytest.warns(rn.DataWarning, match="1 of 2 combinations diverged.*'bad': True"):
        search.fit(data)
    assert search.best_params["ndcg@10:catalogue"] == {"bad": False}
    assert search.cv_results["rank_test_ndcg@10:catalogue"].tolist() == [2, 1]


def test_raw_ratings_of_another_form_are_refused_before_any_fit() -> None:
    """Three columns, where Surprise has four."""
    data = dataset()
    data.raw_ratings = [row[:3] for row in data.raw_ratings]
    with rejects("raw_ratings: row 0 .*must be .user, item, rating, timestamp"):
        cross_validate(NeverFitted(), data, ["ndcg@10"], cv=FOLDS)


class Reversed(surprise.BaselineOnly):  # type: ignore[misc, name-defined]
    """An algorithm that estimates least for what it should estimate most for."""

    def estimate(self, *pair: Any) -> float:
        """Return the estimate, mirrored on the scale."""
        return float(5.5 - super().estimate(*pair))


class Unpopular(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that estimates most for what was rated least often."""

    def estimate(self, _: Any, item: Any) -> float:
        """Return a number on the scale."""
        known = self.trainset.knows_item(item)
        return 5 / (1 + len(self.trainset.ir[item])) if known else 5.0


def test_an_algorithm_that_puts_the_best_last_is_told() -> None:
    """By the functions of `accuracy`, and of the whole catalogue."""
    trainset, testset = train_test_split(dataset(), test_size=0.3, random_state=0)
    mirrored, rare = Reversed(verbose=False).fit(trainset), Unpopular().fit(trainset)
    for act in (
        lambda: accuracy.ndcg(mirrored.test(testset), verbose=False),
        lambda: evaluate_catalogue(rare, trainset, testset, metrics="recall@40", threshold=1),
    ):
        assert any("but the same lists in random order score" in one for one in said(act))
