"""Cross-validation and search: Surprise's own numbers, and ranking measures beside them."""

from __future__ import annotations

import contextlib
import copy
import inspect
import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from tests.errors import rejects

surprise = pytest.importorskip("surprise")

import joblib  # noqa: E402
from scipy import stats  # noqa: E402
from surprise import model_selection  # noqa: E402
from surprise.model_selection import (  # noqa: E402
    KFold,
    LeaveOneOut,
    PredefinedKFold,
    RepeatedKFold,
    ShuffleSplit,
)

from recsys_ndcg.folds import folds  # noqa: E402
from recsys_ndcg.surprise import (  # noqa: E402
    GridSearchCV,
    LeaveLastOut,
    LeaveNOut,
    RandomizedSearchCV,
    TimeSplit,
    UserKFold,
    accuracy,
    cross_validate,
    evaluate_catalogue,
    make_measure,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

RATINGS = sample_ratings(40, 60)
TABLE = RATINGS[["user", "item", "rating"]]
READER = surprise.Reader(rating_scale=(0.5, 5))
DATA = surprise.Dataset.load_from_df(TABLE, READER)
TIMED = surprise.Dataset.load_from_df(TABLE, READER)
TIMED.raw_ratings = list(RATINGS.itertuples(index=False, name=None))
WHOLE = surprise.Dataset.load_from_df(
    TABLE.assign(rating=TABLE["rating"].round().clip(1)), surprise.Reader(rating_scale=(1, 5))
)
OWN = ["rmse", "mae", "mse", "fcp"]
FOLDS = KFold(3, random_state=0)
TWO = KFold(2, random_state=0)
GRID = {"n_factors": [2, 6], "n_epochs": [2, 12], "random_state": [0]}
RANKING = ["ndcg@10", "recall@10:catalogue"]


class NeverFitted(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that shows whether anything was trained."""

    def __init__(self, x: Any = None) -> None:
        super().__init__()
        self.x = x

    def fit(self, _: Any) -> Any:
        """Fail the test: pytest's failure is no Exception that anything might catch."""
        pytest.fail("an algorithm was fitted")


class Says(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that estimates a constant: measures of it can be steered."""

    def __init__(self, value: float = 3.0) -> None:
        super().__init__()
        self.value = value

    def estimate(self, *_: Any) -> float:
        """Return the value."""
        return self.value


def svd(**options: Any) -> Any:
    """Return a small SVD."""
    return surprise.SVD(n_factors=4, n_epochs=3, random_state=0, **options)


def knn() -> Any:
    """Return a k-NN that computes similarities."""
    return surprise.KNNBaseline(
        sim_options={"name": "cosine"}, bsl_options={"n_epochs": 2}, verbose=False
    )


def same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Assert the same keys in order, and of all but the times the same values of the same type."""
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        assert type(ours[name]) is type(value), name
        if isinstance(value, np.ndarray):
            assert ours[name].dtype == value.dtype, name
            assert ours[name].shape == value.shape, name
        if not name.endswith("_time"):
            assert np.array_equal(ours[name], value), name
        else:
            assert np.shape(ours[name]) == np.shape(value), name


def equal(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """Assert the same results, also where there is NaN."""
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        if not name.endswith("_time") and name != "params":
            np.testing.assert_array_equal(ours[name], value, err_msg=name, strict=True)


# cross_validate, against Surprise's


ALGORITHMS: dict[str, Callable[[], Any]] = {
    "SVD": svd,
    "SVD not seeded": lambda: surprise.SVD(n_factors=3, n_epochs=2),
    "NMF": lambda: surprise.NMF(n_factors=3, n_epochs=3),
    "NormalPredictor": surprise.NormalPredictor,
    "BaselineOnly": lambda: surprise.BaselineOnly(verbose=False),
    "KNNBaseline": knn,
    "SlopeOne": surprise.SlopeOne,
    "CoClustering": lambda: surprise.CoClustering(n_epochs=2),
}


@pytest.mark.parametrize("train", [False, True], ids=["test", "train"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_surprises_measures_are_surprises_numbers(name: str, train: bool) -> None:  # noqa: FBT001
    """Bit by bit, random algorithms included: nothing else draws from numpy's generator."""
    found = []
    for function in (cross_validate, model_selection.cross_validate):
        np.random.seed(7)  # noqa: NPY002 - what Surprise draws from
        algo = ALGORITHMS[name]()
        found.append(function(algo, WHOLE, measures=OWN, cv=TWO, return_train_measures=train))
    same(*found)
    assert len(found[0]) == (10 if train else 6)


@pytest.mark.parametrize("name", ["SVD not seeded", "NormalPredictor", "NMF"])
def test_a_ranking_measure_beside_them_changes_no_number(name: str) -> None:
    """The ratings are ranked without asking a random algorithm a second time."""
    found = []
    for measures in (["rmse", "mae", "ndcg@5", "recall@5"], ["rmse", "mae"]):
        np.random.seed(7)  # noqa: NPY002 - what Surprise draws from
        found.append(cross_validate(ALGORITHMS[name](), DATA, measures, cv=TWO, threshold=4))
    for key in ("test_rmse", "test_mae"):
        assert np.array_equal(found[0][key], found[1][key])


def test_a_catalogue_beside_them_changes_no_number_of_a_model_that_is_fitted_at_random() -> None:
    """Its pairs for the self-check are not drawn from the generator of Surprise."""
    found = []
    for measures in (["rmse", "ndcg@5:catalogue"], ["rmse"]):
        np.random.seed(7)  # noqa: NPY002 - what Surprise draws from
        found.append(cross_validate(surprise.SVD(n_factors=3, n_epochs=2), DATA, measures, cv=TWO))
    assert np.array_equal(found[0]["test_rmse"], found[1]["test_rmse"])


CVS: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "int": lambda: 3,
    "numpy int": lambda: np.int64(2),
    "KFold": lambda: KFold(3, random_state=0),
    "KFold not shuffled": lambda: KFold(2, shuffle=False),
    "ShuffleSplit": lambda: ShuffleSplit(2, test_size=0.3, random_state=0),
    "RepeatedKFold": lambda: RepeatedKFold(2, 2, random_state=0),
    "LeaveOneOut": lambda: LeaveOneOut(2, random_state=0),
}


@pytest.mark.parametrize("name", CVS)
def test_every_cv_of_surprise_splits_as_it_does_there(name: str) -> None:
    """Also where it draws from numpy's generator."""
    found = []
    for function in (cross_validate, model_selection.cross_validate):
        np.random.seed(3)  # noqa: NPY002 - what Surprise draws from
        found.append(function(svd(), DATA, measures=["rmse", "mae"], cv=CVS[name]()))
    same(*found)


def test_the_signatures_begin_as_surprises() -> None:
    """Positional arguments stand in the same places; what is new goes by name."""
    pairs: list[tuple[Any, Any]] = [
        (cross_validate, model_selection.cross_validate),
        (GridSearchCV.__init__, model_selection.GridSearchCV.__init__),
        (RandomizedSearchCV.__init__, model_selection.RandomizedSearchCV.__init__),
    ]
    for ours, theirs in pairs:
        mine, yours = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
        assert list(mine)[: len(yours)] == list(yours)
        kept = [] if ours is cross_validate else ["keep_per_user"]
        more = ["threshold", "convention", *kept, "progress"]
        assert list(mine)[len(yours) :] == more
        for name, parameter in yours.items():
            default = mine[name].default
            assert (list(default) if name == "measures" else default) == parameter.default
        assert all(one.kind.name == "KEYWORD_ONLY" for one in list(mine.values())[len(yours) :])


def folds_of(path: Path, n: int = 2) -> Any:
    """Write folds as files, and return the dataset of them."""
    files = []
    for fold in range(n):
        names = [str(path / f"{part}{fold}") for part in ("train", "test")]
        parts = [TABLE[TABLE.index % n != fold], TABLE[TABLE.index % n == fold]]
        for name, part in zip(names, parts, strict=True):
            part.to_csv(name, sep="\t", header=False, index=False)
        files.append(tuple(names))
    reader = surprise.Reader(line_format="user item rating", sep="\t", rating_scale=(0.5, 5))
    return surprise.Dataset.load_from_folds(files, reader)


def test_folds_from_files_are_taken(tmp_path: Path) -> None:
    """In both, equal to Surprise; ranking measures too."""
    data, cv = folds_of(tmp_path), PredefinedKFold()
    ours = cross_validate(svd(), data, ["rmse", "mae"], cv=cv)
    same(ours, model_selection.cross_validate(svd(), data, ["rmse", "mae"], cv=cv))
    search = GridSearchCV(surprise.SVD, GRID, ["rmse", "fcp"], cv=cv)
    theirs = model_selection.GridSearchCV(surprise.SVD, GRID, ["rmse", "fcp"], cv=cv)
    search.fit(data)
    theirs.fit(data)
    same(search.cv_results, theirs.cv_results)
    ranked = cross_validate(svd(), data, RANKING, cv=cv, threshold=4)
    (trainset, testset), *_ = cv.split(data)
    algo = svd().fit(trainset)
    by_hand = accuracy.ndcg(algo.test(testset), verbose=False)
    assert ranked["test_ndcg@10"][0] == by_hand
    assert ranked.n_users == [len({row[0] for row in test}) for _, test in cv.split(data)]


def test_a_threshold_is_asked_for_before_any_fit_of_folds_from_files_too(tmp_path: Path) -> None:
    """They are read when they are split, but nothing need be trained for it."""
    with rejects("pass threshold"):
        cross_validate(NeverFitted(), folds_of(tmp_path), ["recall@5"], cv=PredefinedKFold())


def test_refit_of_folds_from_files_is_refused_before_any_fit(tmp_path: Path) -> None:
    """There is no whole to fit on, as in Surprise."""
    search = GridSearchCV(NeverFitted, {"x": [1]}, ["ndcg@5"], cv=PredefinedKFold(), refit=True)
    with rejects("refit needs all ratings"):
        search.fit(folds_of(tmp_path))


@pytest.mark.parametrize("cv", [3.5, "5", [1, 2], object()])
def test_a_cv_that_cannot_split_is_refused(cv: Any) -> None:
    """Text has a method split, and is none either."""
    with rejects("cv must be None, a number of folds, or have a method split, not "):
        cross_validate(NeverFitted(), DATA, ["ndcg@5"], cv=cv)


@pytest.mark.parametrize("measures", [["rmse"], ["rmse", "ndcg@5", "ndcg@5:catalogue"]])
@pytest.mark.parametrize("n_jobs", [1, None])
def test_the_algorithm_of_the_caller_is_left_as_surprise_leaves_it(
    measures: list[str], n_jobs: Any
) -> None:
    """Fitted on the last fold, for a script that predicts with it; whatever was measured."""
    ours, theirs = svd(), svd()
    cross_validate(ours, DATA, measures, cv=TWO, n_jobs=n_jobs)
    model_selection.cross_validate(theirs, DATA, ["rmse"], cv=TWO, n_jobs=n_jobs)
    *_, (trainset, testset) = TWO.split(DATA)
    assert ours.test(testset) == theirs.test(testset) == svd().fit(trainset).test(testset)


def test_with_workers_the_algorithm_of_the_caller_stays_as_it_is() -> None:
    """Neither fitted, nor fitted anew; by processes, by threads, and by those set for all."""
    algo = svd()
    cross_validate(algo, DATA, ["rmse", "ndcg@5"], cv=TWO, n_jobs=2)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        cross_validate(algo, DATA, ["rmse"], cv=TWO, n_jobs=None)  # type: ignore[arg-type]
    assert not hasattr(algo, "trainset")
    assert not hasattr(algo, "pu")


class FailsAtLast(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that cannot be fitted a third time."""

    fits = 0

    def fit(self, trainset: Any) -> Any:
        """Count, and fail."""
        self.fits += 1
        if self.fits == 3:
            message = "the third fit fails"
            raise RuntimeError(message)
        return super().fit(trainset)

    def estimate(self, *_: Any) -> float:
        """Return how often it was fitted."""
        return self.fits


def test_a_failure_in_the_middle_leaves_the_algorithm_as_surprise_does() -> None:
    """On the fold that went well."""
    left = []
    for function in (cross_validate, model_selection.cross_validate):
        algo = FailsAtLast()
        with pytest.raises(RuntimeError, match="the third fit fails"):
            function(algo, DATA, ["rmse"], cv=FOLDS)
        left.append((algo.fits, algo.trainset.ur))
    assert left[0] == left[1]


# ranking measures


@pytest.fixture(name="validated", scope="module")
def _validated() -> Any:
    return cross_validate(svd(), DATA, [*RANKING, "rmse", "precision@3"], cv=FOLDS, threshold=4)


def fitted_folds() -> Iterator[tuple[Any, Any, Any]]:
    """Fit on the same folds by hand."""
    for trainset, testset in FOLDS.split(DATA):
        yield svd().fit(trainset), trainset, testset


def test_a_rated_measure_is_that_of_the_predictions(validated: Any) -> None:
    """As accuracy computes it, and as evaluate does."""
    for fold, (algo, _, testset) in enumerate(fitted_folds()):
        found = algo.test(testset)
        assert validated["test_ndcg@10"][fold] == accuracy.ndcg(found, verbose=False)
        report = rn.evaluate(
            found,
            metrics=["ndcg@10", "precision@3"],
            threshold=4,
            convention=rn.Convention(tie_tolerance=1e-9),
        )
        assert validated["test_ndcg@10"][fold] == report.mean["ndcg@10"]
        assert validated["test_precision@3"][fold] == report.mean["precision@3"]


def test_a_catalogue_measure_is_that_of_evaluate_catalogue(validated: Any) -> None:
    """On the trainset of the fold."""
    for fold, case in enumerate(fitted_folds()):
        report = evaluate_catalogue(*case, metrics="recall@10", threshold=4)
        assert validated["test_recall@10:catalogue"][fold] == report.mean["recall@10"]


def test_the_scores_of_every_user_are_kept(validated: Any) -> None:
    """Indexed by fold and user; their means are the values of the folds."""
    table = validated.per_user
    assert table.index.names == ["fold", "user"]
    assert set(table.columns) == {*RANKING, "precision@3", "rmse"}
    assert table.index.get_level_values("fold").unique().tolist() == [1, 2, 3]
    for fold, (algo, trainset, testset) in enumerate(fitted_folds(), 1):
        found = algo.test(testset)
        names = ["ndcg@10", "precision@3", "rmse"]
        rated = rn.evaluate(
            found, metrics=names, threshold=4, convention=rn.Convention(tie_tolerance=1e-9)
        )
        for name in names:
            pd.testing.assert_series_equal(table.loc[fold][name], rated.per_user[name])
        catalogue = evaluate_catalogue(algo, trainset, testset, metrics="recall@10", threshold=4)
        pd.testing.assert_series_equal(
            table.loc[fold][RANKING[1]], catalogue.per_user["recall@10"], check_names=False
        )
    means = table.groupby(level="fold").mean()
    for name in [*RANKING, "precision@3"]:
        assert means[name].to_numpy() == pytest.approx(validated[f"test_{name}"], abs=1e-15)
    assert means["rmse"].to_numpy() != pytest.approx(validated["test_rmse"])


def test_errors_of_users_stand_beside_rated_lists_alone() -> None:
    """Where nothing is ranked there is no table, and nothing fails."""
    found = cross_validate(svd(), DATA, ["rmse", "mae"], cv=TWO)
    assert found.per_user.empty
    assert found.pooled.empty
    assert "pooled" in found.to_frame().index
    only = cross_validate(svd(), DATA, ["rmse", "ndcg@5:catalogue"], cv=TWO)
    assert only.per_user.columns.tolist() == ["ndcg@5:catalogue"]
    both = cross_validate(svd(), DATA, ["mae", "ndcg@5", "rmse", "fcp"], cv=TWO)
    assert set(both.per_user.columns) == {"ndcg@5", "mae", "rmse"}


def test_errors_leave_out_the_users_that_evaluate_leaves_out() -> None:
    """Under short_list="drop" by the smallest cutoff asked for, wherever it stands."""
    convention = rn.Convention(tie_tolerance=1e-9, short_list="drop")
    names = ["ndcg@10", "rmse", "ndcg@5"]
    ours = cross_validate(svd(), DATA, names, cv=FOLDS, convention=convention).per_user
    for fold, (algo, _, testset) in enumerate(fitted_folds(), 1):
        theirs = rn.evaluate(algo.test(testset), metrics=names, convention=convention).per_user
        pd.testing.assert_frame_equal(pd.DataFrame(ours.loc[fold])[names], theirs[names])
        left_out = theirs[names].isna().sum()
        assert left_out["ndcg@10"] > left_out["ndcg@5"] == left_out["rmse"] > 0


def test_pooled_is_one_sum_over_another_over_all_folds(validated: Any) -> None:
    """By hand: all relevant recommendations over all recommendations, over all relevant items."""
    hits = places = catalogue_hits = relevant = squares = rows = 0.0
    dcg = ideal = 0.0
    for algo, trainset, testset in fitted_folds():
        found = algo.test(testset)
        for user in {one.uid for one in found}:
            own = sorted((one for one in found if one.uid == user), key=lambda one: -one.est)
            hits += sum(one.r_ui >= 4 for one in own[:3])
            places += 3
            gains = [2**one.r_ui - 1 for one in own]
            dcg += sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains[:10]))
            top = sorted(gains, reverse=True)[:10]
            ideal += sum(gain / math.log2(rank + 2) for rank, gain in enumerate(top))
            squares += sum((one.r_ui - one.est) ** 2 for one in own)
            rows += len(own)
            seen = set()
            if trainset.knows_user(user) or user in trainset._raw2inner_id_users:  # noqa: SLF001
                seen = {item for item, _ in trainset.ur[trainset.to_inner_uid(user)]}
            items = [
                trainset.to_raw_iid(inner) for inner in trainset.all_items() if inner not in seen
            ]
            listed = sorted(items, key=lambda item: -algo.predict(user, item, clip=False).est)[:10]
            liked = {one.iid for one in own if one.r_ui >= 4}
            catalogue_hits += len(liked & set(listed))
            relevant += len(liked)
    assert validated.pooled["precision@3"] == pytest.approx(hits / places, abs=1e-12)
    assert validated.pooled["ndcg@10"] == pytest.approx(dcg / ideal, abs=1e-12)
    assert validated.pooled["recall@10:catalogue"] == pytest.approx(
        catalogue_hits / relevant, abs=1e-12
    )
    assert validated.pooled["rmse"] == pytest.approx(math.sqrt(squares / rows), abs=1e-12)


def test_the_table_of_results_has_all_of_them(validated: Any) -> None:
    """Folds, mean, standard deviation and pooled, with how many users were tested."""
    table = validated.to_frame()
    rows = ["fold 1", "fold 2", "fold 3", "mean", "std", "pooled"]
    assert table.index.tolist() == rows
    names = [f"test_{name}" for name in [*RANKING, "rmse", "precision@3"]]
    assert table.columns.tolist() == [*names, "fit_time", "test_time", "test_users"]
    for name in names:
        assert table[name].tolist()[:3] == validated[name].tolist()
        assert table[name]["mean"] == pytest.approx(validated[name].mean())
        assert table[name]["std"] == pytest.approx(validated[name].std())
        assert table[name]["pooled"] == validated.pooled[name.removeprefix("test_")]
    assert table["test_users"].tolist()[:3] == validated.n_users
    expected = [len({row[0] for row in testset}) for _, testset in FOLDS.split(DATA)]
    assert validated.n_users == expected


def test_the_result_is_a_dict_like_surprises(validated: Any) -> None:
    """Arrays of values, tuples of times."""
    assert isinstance(validated, dict)
    names = [f"test_{name}" for name in [*RANKING, "rmse", "precision@3"]]
    assert list(validated) == [*names, "fit_time", "test_time"]
    assert all(validated[name].dtype == np.float64 for name in names)
    assert all(time >= 0 for key in ("fit_time", "test_time") for time in validated[key])


def test_train_measures_of_rated_lists_are_those_of_the_trainset() -> None:
    """As evaluate has them on the training ratings."""
    found = cross_validate(svd(), DATA, ["ndcg@5", "rmse"], cv=FOLDS, return_train_measures=True)
    assert list(found)[:4] == ["test_ndcg@5", "train_ndcg@5", "test_rmse", "train_rmse"]
    for fold, (algo, trainset, _) in enumerate(fitted_folds()):
        predictions = algo.test(trainset.build_testset())
        assert found["train_ndcg@5"][fold] == accuracy.ndcg(predictions, 5, verbose=False)


@pytest.mark.parametrize(
    "options",
    [{"gain": "linear"}, {"ideal": "local"}, {"ties": "input"}, {"discount": "reciprocal"}],
)
def test_a_convention_reaches_the_numbers(options: dict[str, Any]) -> None:
    """Both of rated lists and of the catalogue, and of a search."""
    convention = rn.Convention(**options)
    names = ["ndcg@5", "ndcg@5:catalogue"]
    found = cross_validate(svd(), DATA, names, cv=FOLDS, convention=convention)
    grid = {"n_factors": [4], "n_epochs": [3], "random_state": [0]}
    search = GridSearchCV(surprise.SVD, grid, names, cv=FOLDS, convention=convention)
    search.fit(DATA)
    for fold, (algo, trainset, testset) in enumerate(fitted_folds()):
        rated = rn.evaluate(
            algo.test(testset), metrics="ndcg@5", convention=convention.replace(tie_tolerance=1e-9)
        )
        assert found["test_ndcg@5"][fold] == rated.mean.iloc[0]
        whole = evaluate_catalogue(
            algo, trainset, testset, metrics="ndcg@5", convention=convention
        ).mean.iloc[0]
        assert found["test_ndcg@5:catalogue"][fold] == whole
        assert search.cv_results[f"split{fold}_test_ndcg@5"] == [rated.mean.iloc[0]]


class Offset(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that estimates a base, and a step more for each item than for the one before."""

    def __init__(self, base: float, step: float) -> None:
        super().__init__()
        self.base, self.step = base, step

    def estimate(self, _: Any, item: Any) -> float:
        """Return the base and the steps; unknown items have none."""
        return self.base + (self.step * item if self.trainset.knows_item(item) else 0)


@pytest.mark.filterwarnings("ignore:Tied estimates:recsys_ndcg.DataWarning")
def test_a_catalogue_is_ranked_by_unclipped_estimates() -> None:
    """All of these are above the scale, so that clipped they would be tied."""
    found = cross_validate(Offset(9, 1), DATA, ["ndcg@5:catalogue"], cv=FOLDS)
    for fold, (trainset, testset) in enumerate(FOLDS.split(DATA)):
        algo = Offset(9, 1).fit(trainset)
        values = [
            evaluate_catalogue(algo, trainset, testset, metrics="ndcg@5", clip=clip).mean.iloc[0]
            for clip in (False, True)
        ]
        assert found["test_ndcg@5:catalogue"][fold] == values[0] != values[1]


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")  # of estimates that are all tied
def test_estimates_that_differ_by_rounding_alone_are_tied() -> None:
    """In folds as in accuracy."""
    found = cross_validate(Offset(3, 1e-14), DATA, ["ndcg@5", "ndcg@5:catalogue"], cv=FOLDS)
    tied = cross_validate(Offset(3, 0), DATA, ["ndcg@5", "ndcg@5:catalogue"], cv=FOLDS)
    apart = cross_validate(Offset(3, 1e-6), DATA, ["ndcg@5", "ndcg@5:catalogue"], cv=FOLDS)
    equal(found, tied)
    assert (found["test_ndcg@5"] != apart["test_ndcg@5"]).all()
    assert (found["test_ndcg@5:catalogue"] != apart["test_ndcg@5:catalogue"]).all()


class Growing(surprise.AlgoBase):  # type: ignore[misc, name-defined]
    """An algorithm that keeps what it learned when it is fitted again."""

    fits = 0

    def fit(self, trainset: Any) -> Any:
        """Count."""
        self.fits += 1
        return super().fit(trainset)

    def estimate(self, *_: Any) -> int:
        """Return how often it was fitted."""
        return self.fits


def test_one_algorithm_is_fitted_fold_after_fold_as_in_surprise() -> None:
    """What it keeps between folds is kept here too."""
    ours, theirs = Growing(), Growing()
    found = cross_validate(ours, DATA, ["rmse"], cv=FOLDS)
    same(found, model_selection.cross_validate(theirs, DATA, ["rmse"], cv=FOLDS))
    assert ours.fits == theirs.fits == 3


def test_a_linear_gain_gives_another_number() -> None:
    """Otherwise the test above could not fail."""
    plain, linear = (
        cross_validate(svd(), DATA, ["ndcg@5"], cv=TWO, convention=one)["test_ndcg@5"]
        for one in (None, rn.Convention(gain="linear"))
    )
    assert (plain != linear).all()


@pytest.mark.filterwarnings("ignore:.*users of the testset are not in the trainset")
@pytest.mark.parametrize(
    "cv",
    [
        UserKFold(2, random_state=0),
        LeaveNOut(3, n_splits=2, random_state=0),
        LeaveLastOut(3),
        TimeSplit(0.2),
        TimeSplit(0.2, known_users=False),
    ],
    ids=["UserKFold", "LeaveNOut", "LeaveLastOut", "TimeSplit", "all users"],
)
def test_our_splits_are_taken_with_the_numbers_of_surprise(cv: Any) -> None:
    """In cross_validate and in a search; with ranking measures beside."""
    ours = cross_validate(svd(), TIMED, ["rmse", "mae"], cv=cv)
    same(ours, model_selection.cross_validate(svd(), TIMED, ["rmse", "mae"], cv=cv))
    found = cross_validate(svd(), TIMED, RANKING, cv=cv, threshold=4)
    assert found.n_users == [len({row[0] for row in test}) for _, test in cv.split(TIMED)]
    assert not np.isnan(found["test_ndcg@10"]).any()
    search = GridSearchCV(surprise.SVD, GRID, ["rmse"], cv=cv)
    theirs = model_selection.GridSearchCV(surprise.SVD, GRID, ["rmse"], cv=cv)
    search.fit(TIMED)
    theirs.fit(TIMED)
    same(search.cv_results, theirs.cv_results)


# parallel


MIXED = ["rmse", "fcp", "ndcg@5", "ndcg@5:catalogue", "recall@5:catalogue", "ap@5"]


@pytest.mark.parametrize("make", [svd, knn], ids=["SVD", "KNN"])
def test_jobs_agree_exactly(make: Callable[[], Any]) -> None:
    """One, two processes, and two threads, whose folds do not share an algorithm."""
    how: dict[str, Any] = {"cv": FOLDS, "threshold": 4, "return_train_measures": False}
    one = cross_validate(make(), DATA, MIXED, **how)
    two = cross_validate(make(), DATA, MIXED, n_jobs=2, **how)
    with joblib.parallel_backend("threading", n_jobs=2):
        threads = cross_validate(make(), DATA, MIXED, n_jobs=2, **how)
    for other in (two, threads):
        equal(other, one)
        pd.testing.assert_frame_equal(other.per_user, one.per_user, check_exact=True)
        pd.testing.assert_series_equal(other.pooled, one.pooled, check_exact=True)
        assert other.n_users == one.n_users


def test_jobs_of_a_search_agree_exactly() -> None:
    """With a function and what make_measure returns among the measures, and train measures."""
    results = []
    measures = ["rmse", "ndcg@5", mean_error, make_measure(mean_error, "twice", times=2)]
    for n_jobs, backend in ((1, "loky"), (2, "loky"), (2, "threading")):
        with joblib.parallel_backend(backend):
            search = GridSearchCV(
                surprise.SVD,
                GRID,
                measures,
                cv=TWO,
                n_jobs=n_jobs,
                return_train_measures=True,
                keep_per_user=True,
            )
            search.fit(DATA)
        results.append(search)
    for other in results[1:]:
        equal(other.cv_results, results[0].cv_results)
        assert other.best_params == results[0].best_params
        pd.testing.assert_frame_equal(other.per_user, results[0].per_user, check_exact=True)


@pytest.mark.parametrize("pre_dispatch", ["2*n_jobs", "all", 1, 3])
def test_pre_dispatch_is_heeded(pre_dispatch: Any) -> None:
    """Whatever it is, the folds stay in order."""
    found = cross_validate(svd(), DATA, ["ndcg@5"], cv=FOLDS, n_jobs=2, pre_dispatch=pre_dispatch)
    expected = cross_validate(svd(), DATA, ["ndcg@5"], cv=FOLDS)
    equal(found, expected)


# search, against Surprise's


def searched(ours: Any, theirs: Any, data: Any = DATA) -> None:
    """Fit both, and assert that everything of Surprise is the same in ours."""
    for one in (ours, theirs):
        np.random.seed(5)  # noqa: NPY002 - what Surprise draws from
        one.fit(data)
    same(ours.cv_results, theirs.cv_results)
    for name in ("best_index", "best_params", "best_score"):
        assert getattr(ours, name) == getattr(theirs, name), name
        mine, yours = getattr(ours, name), getattr(theirs, name)
        assert [type(mine[key]) for key in mine] == [type(yours[key]) for key in yours], name
    assert list(ours.best_estimator) == list(theirs.best_estimator)
    for name, estimator in theirs.best_estimator.items():
        assert type(ours.best_estimator[name]) is type(estimator)
        assert hasattr(ours.best_estimator[name], "trainset") == hasattr(estimator, "trainset")


NESTED: dict[str, Any] = {
    "k": [20],
    "sim_options": {"name": ["msd", "cosine"], "user_based": [False, True], "min_support": [2]},
    "bsl_options": {"method": ["als"], "n_epochs": [1]},
    "verbose": [False],
}


@pytest.mark.parametrize("train", [False, True], ids=["test", "train"])
@pytest.mark.parametrize(
    ("kind", "grid", "cv"),
    [
        (surprise.SVD, GRID, TWO),
        (surprise.SVD, GRID, RepeatedKFold(2, 2, random_state=0)),
        (surprise.SVD, GRID, LeaveOneOut(2, random_state=0)),
        (surprise.SVD, GRID, 2),
        (surprise.NormalPredictor, {}, TWO),
        (surprise.KNNBaseline, NESTED, ShuffleSplit(2, random_state=0)),
        (surprise.BaselineOnly, {"bsl_options": {"reg": [1, 5]}, "verbose": [False]}, TWO),
    ],
    ids=["SVD", "repeated", "leave one out", "int", "random", "nested", "baselines"],
)
def test_a_grid_search_is_surprises(kind: Any, grid: Any, cv: Any, train: bool) -> None:  # noqa: FBT001
    """Every value, the ranks, and the best of each of the four measures."""
    measures = OWN if not isinstance(cv, LeaveOneOut) else OWN[:3]
    options = {"measures": measures, "cv": cv, "return_train_measures": train}
    searched(
        GridSearchCV(kind, grid, **options), model_selection.GridSearchCV(kind, grid, **options)
    )


@pytest.mark.parametrize("refit", [True, "rmse", "fcp", "FCP", "mae"])
def test_a_refitted_estimator_is_surprises(refit: Any) -> None:
    """By name, or by the first measure; test and predict are those of the estimator."""
    kwargs: dict[str, Any] = {"measures": ["mae", "rmse", "fcp"], "cv": TWO}
    ours = GridSearchCV(surprise.SVD, GRID, refit=refit, **kwargs)
    theirs = model_selection.GridSearchCV(
        surprise.SVD, GRID, refit=refit if refit is True else refit.lower(), **kwargs
    )
    searched(ours, theirs)
    assert ours.refit == theirs.refit
    testset = DATA.build_full_trainset().build_testset()[:50]
    assert ours.test(testset) == theirs.test(testset)
    assert ours.predict("u001", "i001") == theirs.predict("u001", "i001")
    assert ours.predict("u001", "i001", 4) == theirs.predict("u001", "i001", 4)


def test_predict_takes_keywords() -> None:
    """Which Surprise's does not."""
    search = GridSearchCV(surprise.SVD, GRID, ["ndcg@5"], cv=TWO, refit=True)
    search.fit(TIMED)
    estimator = search.best_estimator["ndcg@5"]
    for options in ({"clip": False}, {"r_ui": 3.0}, {"verbose": False}):
        ours = search.predict("u001", "i001", **options)
        assert ours == estimator.predict("u001", "i001", **options)
    chosen: dict[str, Any] = search.best_params
    assert chosen["ndcg@5"]["n_epochs"] == estimator.n_epochs


@pytest.mark.parametrize("measures", [["rmse", "ndcg@5"], ["ndcg@5:catalogue", "rmse"]])
def test_a_ranking_measure_can_be_refitted_by(measures: list[str]) -> None:
    """Only the estimator asked for is fitted, on all ratings."""
    for refit in (measures[0], measures[1], measures[1].upper(), True):
        search = GridSearchCV(surprise.SVD, GRID, measures, cv=TWO, refit=refit)
        search.fit(DATA)
        name = measures[0] if refit is True else refit.lower()
        assert search.refit == name
        fitted = [one for one in measures if hasattr(search.best_estimator[one], "trainset")]
        assert fitted == [name]
        chosen: dict[str, Any] = search.best_params
        by_hand = surprise.SVD(**chosen[name]).fit(DATA.build_full_trainset())
        assert search.predict("u001", "i001").est == by_hand.predict("u001", "i001").est


def test_without_refit_there_is_nothing_to_predict_with() -> None:
    """It says how to ask for it."""
    search = GridSearchCV(surprise.SVD, GRID, ["ndcg@5"], cv=TWO)
    search.fit(DATA)
    with rejects("refit is False.*refit='ndcg@10'"):
        search.predict("u001", "i001")
    with pytest.raises(ValueError, match="refit is False"):
        search.test([])
    assert not hasattr(search.best_estimator["ndcg@5"], "trainset")


@pytest.mark.parametrize("refit", ["recall@5", "ndgc@5", "", "rsme", make_measure(min, "least")])
@pytest.mark.parametrize("kind", [GridSearchCV, RandomizedSearchCV])
def test_refit_by_what_is_not_measured_is_refused(kind: Any, refit: Any) -> None:
    """When the search is made, not when it is done."""
    options = {"n_iter": 1} if kind is RandomizedSearchCV else {}
    with pytest.raises(rn.RecsysNdcgError, match=r"none of the measures|No measure is named"):
        kind(NeverFitted, {"x": [1]}, measures=["rmse", "ndcg@5"], refit=refit, **options)


MADE = make_measure(lambda _: 1.0, "Error", greater_is_better=False)


@pytest.mark.parametrize(
    ("given", "refit", "name"),
    [
        ("ndcg@5", rn.NDCG(5), "ndcg@5"),
        (rn.NDCG(5), rn.NDCG(5), "ndcg@5"),
        (rn.NDCG(5), "ndcg@5", "ndcg@5"),
        (min, min, "min"),
        (min, "min", "min"),
        (MADE, MADE, "error"),
        (MADE, "error", "error"),
        (MADE, "Error", "error"),
    ],
)
def test_refit_takes_a_measure_in_every_form(given: Any, refit: Any, name: str) -> None:
    """An object, a function, what make_measure returned, its name: never another one silently."""
    search = GridSearchCV(surprise.SVD, GRID, ["rmse", given], cv=TWO, refit=refit)
    assert search.refit == name
    drawn = RandomizedSearchCV(surprise.SVD, GRID, 2, ["rmse", given], cv=TWO, refit=refit)
    assert drawn.refit == name


def test_a_measure_of_ones_own_can_be_refitted_by() -> None:
    """By its name, as any other."""
    measure = make_measure(mean_error, "Own", greater_is_better=False)
    search = GridSearchCV(surprise.SVD, GRID, ["rmse", measure], cv=TWO, refit="own")
    search.fit(DATA)
    assert hasattr(search.best_estimator["own"], "trainset")
    assert search.predict("u001", "i001").est > 0


def test_ours_are_surprises_classes() -> None:
    """So that code that asks for them is content."""
    search = GridSearchCV(surprise.SVD, GRID, ["ndcg@5"])
    drawn = RandomizedSearchCV(surprise.SVD, GRID, 2, ["ndcg@5"])
    assert isinstance(search, model_selection.GridSearchCV)
    assert isinstance(drawn, model_selection.RandomizedSearchCV)
    assert issubclass(GridSearchCV, model_selection.GridSearchCV)
    assert search.measures == ["ndcg@5"]
    assert len(search.param_combinations) == 4


def test_the_grid_of_the_caller_stays_as_it_is() -> None:
    """Surprise expands nested options in place."""
    grid = copy.deepcopy(NESTED)
    before = repr(grid)
    GridSearchCV(surprise.KNNBaseline, grid, ["rmse"])
    assert repr(grid) == before


# the best


@pytest.fixture(name="search", scope="module")
def _search() -> Any:
    found = GridSearchCV(
        surprise.SVD,
        GRID,
        ["rmse", "ndcg@5", "ndcg@5:catalogue", "recall@5", mean_error],
        cv=FOLDS,
        threshold=4,
        keep_per_user=True,
    )
    found.fit(DATA)
    return found


def mean_error(predictions: Sequence[Any], times: float = 1) -> float:
    """Return the mean error: a measure of one's own."""
    return times * float(np.mean([abs(one.r_ui - one.est) for one in predictions]))


def test_the_best_has_the_greatest_mean_unless_less_is_better(search: Any) -> None:
    """By the direction of each measure; ranks go the same way."""
    for name in ("ndcg@5", "ndcg@5:catalogue", "recall@5", "mean_error", "rmse"):
        means = search.cv_results[f"mean_test_{name}"]
        place = means.argmin() if name == "rmse" else means.argmax()
        assert search.best_index[name] == place
        assert search.best_score[name] == means[place]
        assert search.best_params[name] == search.cv_results["params"][place]
        ranks = search.cv_results[f"rank_test_{name}"]
        assert sorted(ranks) == [1, 2, 3, 4]
        assert ranks[place] == 1
        ordered = means[np.argsort(ranks)]
        steps = np.diff(ordered) if name == "rmse" else -np.diff(ordered)
        assert (steps >= 0).all()


def test_the_least_is_the_best_if_the_measure_says_so() -> None:
    """The same function, both ways."""
    measures = [
        make_measure(mean_error, "up"),
        make_measure(mean_error, "down", greater_is_better=False),
    ]
    search = GridSearchCV(surprise.SVD, GRID, measures, cv=TWO)
    search.fit(DATA)
    means = search.cv_results["mean_test_up"]
    assert np.array_equal(means, search.cv_results["mean_test_down"])
    assert (search.best_index["up"], search.best_index["down"]) == (means.argmax(), means.argmin())
    assert search.best_index["up"] != search.best_index["down"]
    total = search.cv_results["rank_test_up"] + search.cv_results["rank_test_down"]
    assert total.tolist() == [5, 5, 5, 5]


def test_the_table_of_a_search_has_a_row_per_combination(search: Any) -> None:
    """What cv_results has, pooled scores, and how many users were tested."""
    table = search.to_frame()
    assert table.index.name == "combination"
    assert len(table) == 4
    for name, values in search.cv_results.items():
        assert table[name].tolist() == list(values)
    assert (table["test_users"] == len(search.per_user.loc[0])).all()
    one = cross_validate(
        surprise.SVD(**search.cv_results["params"][2]), DATA, ["ndcg@5", "recall@5"],
        cv=FOLDS, threshold=4,
    )  # fmt: skip
    assert table["pooled_test_ndcg@5"][2] == one.pooled["ndcg@5"]
    assert table["pooled_test_recall@5"][2] == one.pooled["recall@5"]
    assert table["split1_test_ndcg@5"][2] == one["test_ndcg@5"][1]
    assert table["mean_test_recall@5"][2] == one["test_recall@5"].mean()


def test_the_scores_of_every_user_of_a_search_are_kept(search: Any) -> None:
    """By combination, fold and user."""
    table = search.per_user
    assert table.index.names == ["combination", "fold", "user"]
    assert table.index.get_level_values(0).unique().tolist() == [0, 1, 2, 3]
    means = table["ndcg@5"].groupby(level=["fold", "combination"]).mean()
    for fold in (1, 2, 3):
        expected = search.cv_results[f"split{fold - 1}_test_ndcg@5"]
        assert means[fold].to_numpy() == pytest.approx(expected, abs=1e-15)


def test_nothing_can_be_read_before_the_search() -> None:
    """It says what to call."""
    search = GridSearchCV(surprise.SVD, GRID, ["ndcg@5"])
    with rejects(r"Call fit\(data\) first"):
        search.to_frame()
    with rejects(r"Call fit\(data\) first"):
        assert search.per_user


# scores that are no numbers


def of_table(table: Sequence[float]) -> Callable[[Sequence[Any]], float]:
    """Return a measure that looks up what an estimate of 1, 2, 3 ... is worth."""

    def worth(predictions: Sequence[Any]) -> float:
        return float(table[round(float(predictions[0].est)) - 1])

    return worth


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("table", "greatest", "least"),
    [
        ([NAN, 2, 1], 1, 2),
        ([2, NAN, 1], 0, 2),
        ([1, 2, NAN], 1, 0),
        ([NAN, NAN, 1], 2, 2),
        ([NAN, 1, NAN], 1, 1),
        ([NAN, -1, 0], 2, 1),
        ([NAN, INF, 1], 1, 2),
        ([NAN, -INF, 1], 2, 1),
        ([NAN, -INF, NAN], 1, 1),
        ([NAN, INF, NAN], 1, 1),
        ([NAN, NAN, INF], 2, 2),
        ([NAN, NAN, -INF], 2, 2),
        ([-INF, NAN, INF], 2, 0),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of the deviation of infinities
@pytest.mark.parametrize("greater", [True, False], ids=["greatest", "least"])
def test_no_score_is_worse_than_any(
    table: list[float],
    greatest: int,
    least: int,
    greater: bool,  # noqa: FBT001
) -> None:
    """NaN is last in the ranks and never the best, whatever the direction, infinite or not."""
    measure = make_measure(of_table(table), "worth", greater_is_better=greater)
    search = GridSearchCV(Says, {"value": [1.0, 2.0, 3.0]}, [measure], cv=TWO)
    search.fit(DATA)
    best = greatest if greater else least
    assert search.best_index["worth"] == best
    assert search.best_score["worth"] == table[best]
    ranks = search.cv_results["rank_test_worth"].tolist()
    assert sorted(ranks) == [1, 2, 3]
    assert ranks[best] == 1
    without = [rank for rank, value in zip(ranks, table, strict=True) if math.isnan(value)]
    numbers = [rank for rank, value in zip(ranks, table, strict=True) if not math.isnan(value)]
    assert max(numbers) < min(without)


def test_a_score_that_is_missing_in_one_fold_is_missing() -> None:
    """The mean of the others is not comparable: they are of easier folds."""
    calls = []

    def sometimes(predictions: Sequence[Any]) -> float:
        calls.append(predictions[0].est)
        return NAN if len(calls) == 2 else float(predictions[0].est)

    grid = {"value": [3.0, 2.0, 1.0]}
    search = GridSearchCV(Says, grid, [sometimes], cv=TWO)
    search.fit(DATA)
    assert np.isnan(search.cv_results["mean_test_sometimes"]).tolist() == [True, False, False]
    assert search.best_params["sometimes"] == {"value": 2.0}
    assert search.cv_results["rank_test_sometimes"].tolist() == [3, 1, 2]


@pytest.mark.parametrize("greater", [True, False])
def test_where_nothing_has_a_score_nothing_is_the_best(greater: bool) -> None:  # noqa: FBT001
    """A warning; other measures have their best; refit is an error."""
    measure: Any = make_measure(of_table([NAN] * 3), "worth", greater_is_better=greater)
    for refit in (False, measure, "rmse"):
        search = GridSearchCV(
            Says, {"value": [1.0, 2.0, 3.0]}, ["rmse", measure], cv=TWO, refit=refit
        )
        outcome: Any = contextlib.nullcontext()
        if refit is measure:
            outcome = rejects("No combination has a score in worth, so there is none to refit")
        with outcome, pytest.warns(rn.DataWarning, match="No combination has a score in worth"):
            search.fit(DATA)
        assert search.best_index["worth"] is None
        assert search.best_params["worth"] is None
        assert search.best_estimator["worth"] is None
        assert math.isnan(search.best_score["worth"])
        assert search.best_params["rmse"] == {"value": 3.0}


@pytest.mark.parametrize("value", [None, "0.5", [0.5], np.array([0.5]), {"a": 1}, 1 + 0j])
def test_a_measure_that_returns_no_number_is_refused(value: Any) -> None:
    """By name, with what it returned."""

    def broken(_: Any) -> Any:
        return value

    with rejects("The measure 'broken' must return a number, not "):
        cross_validate(svd(), DATA, ["rmse", broken], cv=TWO)


@pytest.mark.parametrize("value", [1, True, np.float32(0.5), np.int64(3), 0.25])
def test_any_kind_of_number_is_a_number(value: Any) -> None:
    """Python's, and numpy's."""

    def fine(_: Any) -> Any:
        return value

    found = cross_validate(svd(), DATA, [fine], cv=TWO)
    assert found["test_fine"].tolist() == [value, value]


# how measures are asked for


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("NDCG@10", "ndcg@10"),
        ("  Recall@5:Catalogue ", "recall@5:catalogue"),
        ("RMSE", "rmse"),
        ("Fcp", "fcp"),
        ("ndcg@10:rated", "ndcg@10"),
        (rn.NDCG(10), "ndcg@10"),
        ("hit@3", "hit@3"),
        (mean_error, "mean_error"),
        (make_measure(mean_error), "mean_error"),
        (make_measure(mean_error, "My Error"), "my error"),
        ("rbp(0.5)@5", "rbp(p=0.5)@5"),
    ],
)
def test_measures_are_named_in_every_form(given: Any, name: str) -> None:
    """Lower case in the keys, as in Surprise; alone or in a list."""
    for measures in ([given], given, (given,)):
        found = cross_validate(svd(), DATA, measures, cv=TWO, threshold=4)
        assert list(found) == [f"test_{name}", "fit_time", "test_time"]
    search = GridSearchCV(surprise.SVD, GRID, [given], threshold=4)
    assert search.measures == [name]


def test_a_function_of_predictions_is_called_with_them_and_its_keywords() -> None:
    """As issue 166 of Surprise proposes it."""
    seen = []

    def counted(predictions: Any, least: float, most: float = 9) -> int:
        seen.append(predictions)
        return sum(least <= one.est <= most for one in predictions)

    measure = make_measure(counted, "counted", True, least=2, most=4)  # noqa: FBT003
    found = cross_validate(Says(3.0), DATA, [measure], cv=TWO, return_train_measures=True)
    sizes = [len(testset) for _, testset in TWO.split(DATA)]
    assert found["test_counted"].tolist() == sizes
    assert found["train_counted"].tolist() == sizes[::-1]
    assert all(type(one).__name__ == "Prediction" for one in seen[0])


def test_a_functions_own_measure_is_the_same_number_as_surprises() -> None:
    """Surprise's functions among them."""
    measure = make_measure(surprise.accuracy.rmse, "again", greater_is_better=False, verbose=False)
    found = cross_validate(svd(), DATA, ["rmse", measure], cv=TWO)
    assert np.array_equal(found["test_rmse"], found["test_again"])


@pytest.mark.parametrize(
    ("function", "name", "match"),
    [
        ("rmse", None, "made of a function of predictions, not of 'rmse'"),
        (None, None, "made of a function of predictions, not of None"),
        (mean_error, "", "name of a measure is text"),
        (mean_error, 5, "name of a measure is text, not 5"),
    ],
)
def test_a_measure_cannot_be_made_of_anything(function: Any, name: Any, match: str) -> None:
    """A function, and a name."""
    with rejects(match):
        make_measure(function, name)


BAD_MEASURES = [
    (["rmse", "ndgc@10"], rn.UnknownMetricError, "No measure is named 'ndgc@10'.*'ndcg'"),
    (["rsme"], rn.UnknownMetricError, "'rsme'. Did you mean 'rmse'"),
    (["fpc"], rn.UnknownMetricError, "Did you mean 'fcp'"),
    (["precison@5:catalogue"], rn.UnknownMetricError, "Did you mean 'precision'"),
    (["roc"], rn.UnknownMetricError, "'roc'. (There are|Did)"),
    ([""], rn.UnknownMetricError, "There are"),
    (["ndcg"], rn.InvalidInputError, "ndcg needs a cutoff here: write 'ndcg@10'"),
    (["recall:catalogue"], rn.InvalidInputError, "recall needs a cutoff here"),
    (["ndcg@0"], rn.InvalidInputError, "k must be a whole number"),
    (["ndcg@ten"], rn.InvalidInputError, "'ten' is not a number"),
    (["ndcg@10:catalog"], rn.InvalidInputError, "after the colon.*Did you mean 'catalogue'"),
    (["ndcg@10:all"], rn.InvalidInputError, "after the colon.*catalogue"),
    (["ndcg@10:"], rn.InvalidInputError, "after the colon"),
    (["ndcg@10:rated:catalogue"], rn.InvalidInputError, "after the colon"),
    (["rmse:catalogue"], rn.InvalidInputError, "rmse compares ratings and ranks nothing"),
    (["rmse@5"], rn.InvalidInputError, "rmse has no cutoff"),
    (
        ["rmse", make_measure(mean_error, "rmse")],
        rn.InvalidInputError,
        "measures has two that are called 'rmse'",
    ),
    (
        [make_measure(mean_error, "a", times=one) for one in (1.0, 2.0)],
        rn.InvalidInputError,
        "measures has two that are called 'a'",
    ),
    ([5], rn.InvalidInputError, "A measure is a name .*not 5"),
    ([None], rn.InvalidInputError, "A measure is a name .*not None"),
    (5, rn.InvalidInputError, "(?i)measure"),
    (None, rn.InvalidInputError, "(?i)measure"),
    ([rn.NDCG], rn.InvalidInputError, "(?i)NDCG"),
]


@pytest.mark.parametrize(("measures", "kind", "match"), BAD_MEASURES, ids=range(len(BAD_MEASURES)))
def test_what_cannot_be_measured_is_refused_before_any_fit(
    measures: Any, kind: type[rn.RecsysNdcgError], match: str
) -> None:
    """With the nearest name, or what to write; a search refuses it when it is made."""
    with rejects(match, kind):
        cross_validate(NeverFitted(), DATA, measures, cv=TWO, threshold=4)
    for make in (GridSearchCV, RandomizedSearchCV):
        with rejects(match, kind):
            make(NeverFitted, {"x": [1]}, measures=measures, threshold=4)


def refused_before_any_fit(match: str, measures: list[Any], data: Any = DATA, **how: Any) -> None:
    """Expect the same refusal of cross_validate and of both searches, and nothing trained."""
    with rejects(match):
        cross_validate(NeverFitted(), data, measures, cv=TWO, **how)
    with rejects(match):
        GridSearchCV(NeverFitted, {"x": [1, 2]}, measures, cv=TWO, **how).fit(data)
    with rejects(match):
        RandomizedSearchCV(NeverFitted, {"x": [1, 2]}, 1, measures, cv=TWO, **how).fit(data)


@pytest.mark.parametrize("measure", ["recall@5", "precision@5:catalogue", "rr@3", "f1@5", "ap@5"])
def test_a_missing_threshold_is_asked_for_before_any_fit(measure: str) -> None:
    """Half stars do not say what is relevant."""
    refused_before_any_fit("needs to know which items are relevant: pass threshold", [measure])


def test_a_gain_that_needs_a_threshold_asks_for_it_before_any_fit() -> None:
    """The convention may need it where the metric does not."""
    convention = rn.Convention(gain="binary")
    refused_before_any_fit("threshold", ["ndcg@5"], convention=convention)


@pytest.mark.parametrize("threshold", ["4", math.nan, True, [4.0]])
def test_a_threshold_that_is_no_number_is_refused_before_any_fit(threshold: Any) -> None:
    """In every tool."""
    refused_before_any_fit("threshold must be a finite number", ["recall@5"], threshold=threshold)


def test_ratings_of_0_and_1_need_no_threshold() -> None:
    """In every fold, also where a fold has one of the two alone."""
    table = TABLE.assign(rating=(TABLE["rating"] >= 4).astype(float))
    data = surprise.Dataset.load_from_df(table, surprise.Reader(rating_scale=(0, 1)))
    names = ["recall@5", "precision@5:catalogue"]
    found = cross_validate(svd(), data, names, cv=TWO)
    equal(found, cross_validate(svd(), data, names, cv=TWO, threshold=1))


def test_negative_ratings_have_no_gain_before_any_fit() -> None:
    """Jester's scale; a gain that shifts it, or a threshold, makes it work."""
    table = TABLE.assign(rating=TABLE["rating"] * 4 - 10)
    data = surprise.Dataset.load_from_df(table, surprise.Reader(rating_scale=(-10, 10)))
    refused_before_any_fit("the grade -", ["ndcg@5"], data)
    refused_before_any_fit("the grade -", ["rmse", "ndcg@5:catalogue"], data)
    found = cross_validate(svd(), data, ["rmse", "recall@5"], cv=TWO, threshold=0)
    assert (found["test_recall@5"] <= 1).all()
    binary = rn.Convention(gain="binary")
    found = cross_validate(svd(), data, ["ndcg@5"], cv=TWO, threshold=0, convention=binary)
    assert (found["test_ndcg@5"] <= 1).all()


def test_train_measures_of_a_catalogue_are_refused_before_any_fit() -> None:
    """What was rated in training is left out, so that it would be 0."""
    refused_before_any_fit(
        "ndcg@5:catalogue leaves out what a user rated in training",
        ["rmse", "ndcg@5:catalogue"],
        return_train_measures=True,
    )


@pytest.mark.parametrize("convention", [{"gain": "linear"}, 3])
def test_a_convention_that_is_none_is_refused(convention: Any) -> None:
    """Before anything is trained."""
    with rejects("convention must be a Convention"):
        cross_validate(NeverFitted(), DATA, ["rmse"], cv=TWO, convention=convention)


def test_the_names_that_there_are_stand_once_in_the_message() -> None:
    """Surprise's and ours have rmse and mae in common."""
    with pytest.raises(rn.UnknownMetricError) as caught:
        cross_validate(NeverFitted(), DATA, ["xyz"])
    names = str(caught.value).partition("There are: ")[2].rstrip(".").split(", ")
    assert sorted(set(names)) == names
    assert {"fcp", "mae", "ndcg", "rmse"} <= set(names)


# randomized search


LISTS = {"n_factors": [2, 3, 4], "n_epochs": [1, 2, 3], "random_state": [0]}
DISTRIBUTIONS = {
    "n_factors": stats.randint(2, 6),
    "lr_all": stats.uniform(0.001, 0.01),
    "n_epochs": [1, 2],
    "random_state": [0],
}


def drawn(kind: Any, grid: Any, **options: Any) -> Any:
    """Make a randomized search of four combinations."""
    return kind(surprise.SVD, grid, n_iter=4, cv=TWO, **{"random_state": 0, **options})


def test_lists_are_drawn_by_the_seed() -> None:
    """Which Surprise ignores: the same for the same seed, others for others, none twice."""
    draws: list[list[Any]] = []
    for seed in (0, 0, 1, 2):
        np.random.seed(len(draws))  # noqa: NPY002 - it must not matter
        search = drawn(RandomizedSearchCV, LISTS, random_state=seed)
        draws.append([tuple(one.items()) for one in search.param_combinations])
        assert len(set(draws[-1])) == 4
        assert all(one[key] in LISTS[key] for one in search.param_combinations for key in one)
    assert draws[0] == draws[1]
    assert len({tuple(one) for one in draws}) == 3
    state = drawn(RandomizedSearchCV, LISTS, random_state=np.random.RandomState(0))
    assert [tuple(one.items()) for one in state.param_combinations] == draws[0]


def test_the_same_seed_gives_the_same_search() -> None:
    """All of it."""
    first, second = (
        drawn(RandomizedSearchCV, LISTS, measures=["ndcg@5", "rmse"]) for _ in range(2)
    )
    first.fit(DATA)
    second.fit(DATA)
    equal(first.cv_results, second.cv_results)
    assert first.best_params == second.best_params
    assert len(first.to_frame()) == 4


def test_more_combinations_than_there_are_cannot_be_drawn() -> None:
    """It says how many there are."""
    with rejects("n_iter.* 9 combinations"):
        RandomizedSearchCV(surprise.SVD, LISTS, n_iter=10)
    search = RandomizedSearchCV(surprise.SVD, LISTS, n_iter=9)
    assert len({tuple(one.items()) for one in search.param_combinations}) == 9


@pytest.mark.parametrize("train", [False, True], ids=["test", "train"])
def test_distributions_are_drawn_as_surprise_draws_them(train: bool) -> None:  # noqa: FBT001
    """By the same seed the same combinations and numbers."""
    options = {"measures": OWN, "return_train_measures": train, "refit": "fcp"}
    ours = drawn(RandomizedSearchCV, DISTRIBUTIONS, **options)
    theirs = drawn(model_selection.RandomizedSearchCV, DISTRIBUTIONS, **options)
    assert ours.param_combinations == theirs.param_combinations
    searched(ours, theirs)
    assert ours.predict("u001", "i001") == theirs.predict("u001", "i001")


def test_nested_options_are_drawn() -> None:
    """Lists within sim_options."""
    grid = {"k": [5, 10, 20], "sim_options": {"name": ["msd", "cosine"], "user_based": [False]}}
    search = RandomizedSearchCV(
        surprise.KNNBasic, {**grid, "verbose": [False]}, 3, ["rmse"], cv=TWO, random_state=0
    )
    search.fit(DATA)
    assert all(
        one["sim_options"]["name"] in ("msd", "cosine") for one in search.cv_results["params"]
    )


# what is printed, kept and copied


def test_nothing_is_printed_without_verbose(capsys: pytest.CaptureFixture[str]) -> None:
    """By Surprise's functions neither."""
    cross_validate(svd(), DATA, [*OWN, "ndcg@5"], cv=TWO)
    search = GridSearchCV(surprise.SVD, GRID, [*OWN, "ndcg@5"], cv=TWO)
    search.fit(DATA)
    assert capsys.readouterr() == ("", "")


def test_results_can_be_pickled(validated: Any, search: Any) -> None:
    """And are the same afterwards."""
    again = pickle.loads(pickle.dumps(validated))  # noqa: S301 - our own
    equal(again, validated)
    pd.testing.assert_frame_equal(again.per_user, validated.per_user)
    pd.testing.assert_frame_equal(again.to_frame(), validated.to_frame())
    again = pickle.loads(pickle.dumps(search))  # noqa: S301 - our own
    equal(again.cv_results, search.cv_results)
    pd.testing.assert_frame_equal(again.per_user, search.per_user)
    assert again.best_params == search.best_params


def test_a_search_can_be_fitted_again() -> None:
    """On other data, with nothing left of the first."""
    search = GridSearchCV(surprise.SVD, GRID, ["ndcg@5", "rmse"], cv=TWO)
    search.fit(DATA)
    before = search.cv_results["mean_test_rmse"]
    search.fit(WHOLE)
    fresh = GridSearchCV(surprise.SVD, GRID, ["ndcg@5", "rmse"], cv=TWO)
    fresh.fit(WHOLE)
    equal(search.cv_results, fresh.cv_results)
    assert not np.array_equal(before, search.cv_results["mean_test_rmse"])


def test_a_cutoff_beyond_the_catalogue_is_refused_before_any_fit() -> None:
    """No list can be that long."""
    with rejects("k=10000, but the catalogue has"):
        cross_validate(NeverFitted(), DATA, ["ndcg@10000:catalogue"], cv=2)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_backend_without_a_generator_gives_the_same(
    n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of multiprocessing, which joblib refuses to follow: everything comes in the end."""

    def refusing(return_as: str = "list", **options: Any) -> Any:
        if return_as != "list":
            message = f"the backend does not support return_as={return_as}"
            raise ValueError(message)
        return joblib.Parallel(**options)

    alone = cross_validate(svd(), DATA, ["rmse", "ndcg@5"], cv=TWO)
    monkeypatch.setattr(folds, "Parallel", refusing)
    equal(cross_validate(svd(), DATA, ["rmse", "ndcg@5"], cv=TWO, n_jobs=n_jobs), alone)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_a_librarys_name_measures_each_metric_in_its_way() -> None:
    """Rated and in the catalogue; a metric alone gives what it gives beside others."""
    names = ["ndcg@5", "ap@5", "ndcg@5:catalogue", "ap@5:catalogue"]
    how: dict[str, Any] = {"cv": FOLDS, "threshold": 4.5, "convention": "catboost"}
    found = cross_validate(knn(), DATA, names, **how)
    for name in names:
        alone = cross_validate(knn(), DATA, [name], **how)
        np.testing.assert_array_equal(found[f"test_{name}"], alone[f"test_{name}"])
        metric = name.partition(":")[0]
        own = how | {"convention": rn.Convention.preset("catboost", metric)}
        mine = cross_validate(knn(), DATA, [name], **own)
        np.testing.assert_array_equal(found[f"test_{name}"], mine[f"test_{name}"])
    ndcg = how | {"convention": rn.Convention.preset("catboost")}
    with rejects("but catboost measures ap@5 under undefined=0.0"):
        cross_validate(NeverFitted(), DATA, names, **ndcg)
    with rejects("rank the catalogue under different choices"):
        other = how | {"convention": "ir_measures"}
        cross_validate(NeverFitted(), DATA, ["ndcg@5:catalogue", "rr@5:catalogue"], **other)
