"""cross_validate: the scores of Surprise to the last bit, and ranking measures next to them."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable, Iterator
from functools import partial
from numbers import Real
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import surprise
from surprise import model_selection
from surprise.model_selection import KFold, LeaveOneOut, RepeatedKFold, ShuffleSplit

import recsys_ndcg as rn
from recsys_ndcg.surprise import (
    GridSearchCV,
    RandomizedSearchCV,
    cross_validate,
    evaluate_catalogue,
    make_measure,
)
from tests.errors import assert_rejected, rejects
from tests.surprise import samples
from tests.surprise.samples import DATA, TABLE, THREE, TWO, assert_same_scores, dataset, svd

TIMED = dataset()
TIMED.raw_ratings = list(samples.RATINGS.itertuples(index=False, name=None))
OWN = ["rmse", "mae", "mse", "fcp"]
FOLDS = list(TWO.split(DATA))
TOLERANT = rn.Convention(tie_tolerance=1e-9)


# Surprise's measures


ALGORITHMS: dict[str, Callable[[], Any]] = {
    "SVD not seeded": lambda: surprise.SVD(n_factors=3, n_epochs=2),
    "NormalPredictor": surprise.NormalPredictor,
    "KNNBaseline": lambda: surprise.KNNBaseline(bsl_options={"n_epochs": 2}, verbose=False),
    "CoClustering": lambda: surprise.CoClustering(n_epochs=2),
}


def cross_validate_both(seed: int, make: Callable[[], Any], *given: Any, **options: Any) -> Any:
    """Return the results of our function and of Surprise's, from the same random state."""
    found = []
    for function in (cross_validate, model_selection.cross_validate):
        np.random.seed(seed)  # noqa: NPY002 - the generator of Surprise
        found.append(function(make(), *given, **options))
    return found


def assert_same_searches(data: Any, measures: Any, cv: Any) -> None:
    """Compare a grid search with Surprise's."""
    given = surprise.SVD, samples.GRID, measures, cv
    ours, theirs = samples.search_by_both("GridSearchCV", *given, data=data)
    assert_same_scores(ours.cv_results, theirs.cv_results)


@pytest.mark.parametrize("train", [False, True], ids=["test", "train"])
@pytest.mark.parametrize("name", ALGORITHMS)
def test_surprises_measures_have_surprises_scores(name: str, train: Any) -> None:
    """Equal to the last bit, also for random algorithms: we draw nothing from its generator."""
    whole = dataset(TABLE.assign(rating=TABLE["rating"].round().clip(1)), (1, 5))
    how = {"cv": TWO, "return_train_measures": train}
    ours, theirs = cross_validate_both(7, ALGORITHMS[name], whole, OWN, **how)
    assert_same_scores(ours, theirs)
    assert len(ours) == (10 if train else 6)
    assert [type(ours[f"{one}_time"]) for one in ("fit", "test")] == [tuple, tuple]


@pytest.mark.parametrize(
    ("name", "ranking"), [("NormalPredictor", "ndcg@5"), ("SVD not seeded", "ndcg@5:catalogue")]
)
def test_an_added_ranking_measure_changes_no_other_score(name: str, ranking: str) -> None:
    """A random algorithm predicts only once, and our checks use a generator of their own."""
    found = []
    for measures in (["rmse", "mae", ranking], ["rmse", "mae"]):
        np.random.seed(7)  # noqa: NPY002 - the generator of Surprise
        found.append(cross_validate(ALGORITHMS[name](), DATA, measures, cv=TWO))
    for key in ("test_rmse", "test_mae"):
        assert np.array_equal(found[0][key], found[1][key])


CVS: list[Any] = [
    None, np.int64(3), KFold(2, shuffle=False), ShuffleSplit(2, test_size=0.3),
    RepeatedKFold(2, 2, random_state=0), LeaveOneOut(2, random_state=0),
    rn.surprise.UserKFold(2, random_state=0), rn.surprise.LeaveLastOut(3),
    rn.surprise.LeaveNOut(3, n_splits=2, random_state=0),
    rn.surprise.TimeSplit(0.2, known_users=False),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*users of the testset are not in the trainset")
@pytest.mark.parametrize("cv", CVS, ids=lambda cv: type(cv).__name__)
def test_every_cv_gives_the_same_splits_as_in_surprise(cv: Any, capsys: Any) -> None:
    """Also ours, and one that draws from numpy's generator."""
    assert_same_scores(*cross_validate_both(3, svd, TIMED, ["rmse", "mae"], cv, verbose=True))
    ours, _ = re.findall(r"on (\d) split", capsys.readouterr().out)
    ranked = cross_validate(svd(), TIMED, ["ndcg@10:catalogue"], cv=cv)
    n_folds = cv.get_n_folds() if hasattr(cv, "get_n_folds") else int(ours)
    assert int(ours) == n_folds == len(ranked["fit_time"])
    assert not np.isnan(ranked["test_ndcg@10:catalogue"]).any()


class SplitterClass:
    """A class that splits without an object."""

    n_splits = 2
    get_n_folds = staticmethod(lambda: 2)
    split = staticmethod(TWO.split)


SPLITTERS: list[Any] = [
    samples.FixedSplits(lambda: (iter(one) for one in FOLDS)),
    samples.FixedSplits(lambda: ((one, iter(rows)) for one, rows in FOLDS)),
    samples.FixedSplits(lambda: [(one, list(map(list, rows))) for one, rows in FOLDS]),
    samples.FixedSplits(lambda: [(one, np.array(rows, dtype=object)) for one, rows in FOLDS]),
    SimpleNamespace(split=TWO.split, get_n_folds=lambda: 1 / 0),
    SplitterClass,
]


@pytest.mark.parametrize("cv", SPLITTERS, ids=range(len(SPLITTERS)))
def test_a_splitter_may_return_what_surprise_accepts(cv: Any) -> None:
    """In cross-validation and in a search, which gives all combinations the same folds."""
    assert_same_scores(*cross_validate_both(0, svd, DATA, ["rmse", "fcp"], cv))
    names = ["ndcg@5", "ndcg@5:catalogue"]
    assert_same_scores(*(cross_validate(svd(), DATA, names, one) for one in (cv, TWO)))
    searches = (
        samples.fit_search(GridSearchCV, surprise.SVD, samples.GRID, ["rmse"], one)
        for one in (cv, TWO)
    )
    assert_same_scores(*(one.cv_results for one in searches))


def test_a_users_own_splitter_takes_any_data() -> None:
    """We pass the data on unseen, as Surprise does."""
    cv = samples.FixedSplits(lambda: FOLDS)
    for data in (None, "ratings.csv"):
        assert_same_scores(*cross_validate_both(0, svd, data, ["rmse"], cv))
        assert_same_scores(*(cross_validate(svd(), one, ["ndcg@5"], cv) for one in (data, DATA)))


TRAINSET, TESTSET = FOLDS[0]
WRONG_SPLITS: list[tuple[Any, str]] = [
    ([(TRAINSET, TESTSET, 1)], "Split 1 of cv is .*, not"),
    ([FOLDS[0], FOLDS[1][::-1]], "Split 2 of cv is .*, not"),
    ([(TRAINSET, 5)], "Split 1 of cv is .*, not"),
    ([(TRAINSET, [])], "Split 1 of cv has an empty testset"),
    ([(TRAINSET, DATA.raw_ratings)], "not .user, item, rating"),
    ([(TRAINSET, [1, 2])], "has 1 in its testset"),
    ([(TRAINSET, [("a", "b", "4")])], "rating.*'4'"),
]
WRONG_CVS: list[tuple[Any, str]] = [
    (FOLDS, "cv must be None, .* split.data. returns them"),
    (b"5", "cv must be None, a number of folds, or have a method split, not "),
    (2.5, "cv must be None"), (KFold, "cv must be None"), (1, "cv=1, but .* between 2 and"),
    (True, "cv=True, but"), (10**9, "cv=1000000000, but"),
    (KFold(10**9), "cv cannot split the data: Incorrect value"),
    *((samples.FixedSplits(partial(iter, splits)), match) for splits, match in WRONG_SPLITS),
    (samples.FixedSplits(lambda: None), "returns None, not pairs of trainset and testset"),
    (samples.FixedSplits(list), "cv returns no splits"),
]  # fmt: skip


@pytest.mark.parametrize(("cv", "match"), WRONG_CVS, ids=range(len(WRONG_CVS)))
def test_a_wrong_cv_is_rejected(cv: Any, match: str) -> None:
    """Surprise fails too; all three functions have the same message."""
    with pytest.raises((AttributeError, TypeError, ValueError)):
        model_selection.cross_validate(svd(), DATA, ["rmse"], cv)
    reject_by_all(match, ["rmse"], kinds=(svd, surprise.SVD), cv=cv, whole=False)


@pytest.mark.parametrize("name", ["cross_validate", "GridSearchCV", "RandomizedSearchCV"])
def test_a_signature_begins_like_surprises(name: str) -> None:
    """Positional arguments have the same places; our options are keywords."""
    ours, theirs = (
        dict(inspect.signature(getattr(library, name)).parameters)
        for library in (rn.surprise.model_selection, model_selection)
    )
    assert list(ours)[: len(theirs)] == list(theirs)
    kept = [] if name == "cross_validate" else ["keep_per_user"]
    assert list(ours)[len(theirs) :] == ["threshold", "convention", *kept, "features", "progress"]
    assert all(one.kind.name == "KEYWORD_ONLY" for one in [*ours.values()][len(theirs) :])
    for one, parameter in theirs.items():
        default = ours[one].default
        assert (list(default) if one == "measures" else default) == parameter.default


def dataset_of_files(path: Path) -> Any:
    """Write two folds to files, and return the dataset of them."""
    files = [(str(path / f"train{fold}"), str(path / f"test{fold}")) for fold in (0, 1)]
    for fold, names in enumerate(files):
        for name, half in zip(names, (1 - fold, fold), strict=True):
            TABLE[TABLE.index % 2 == half].to_csv(name, sep="\t", header=False, index=False)
    reader = surprise.Reader(line_format="user item rating", sep="\t", rating_scale=(0.5, 5))
    return surprise.Dataset.load_from_folds(files, reader)


def test_folds_from_files_are_accepted(tmp_path: Path) -> None:
    """The scores are Surprise's; wrong options are found before any algorithm is fitted."""
    data, cv = dataset_of_files(tmp_path), model_selection.PredefinedKFold()
    assert_same_scores(*cross_validate_both(0, svd, data, ["rmse", "mae"], cv=cv))
    assert_same_searches(data, ["rmse", "fcp"], cv)
    reject_by_all("pass threshold", ["recall@5"], data, cv=cv)
    with rejects("refit needs all ratings"):
        GridSearchCV(samples.NeverFitted, {"x": [1]}, ["ndcg@5"], cv=cv, refit=True).fit(data)


# the caller's algorithm


class Counting(surprise.AlgoBase):  # type: ignore[misc]
    """An algorithm that estimates how often it was fitted, and fails at a certain time."""

    def __init__(self, fails_at: int = 10**6) -> None:
        super().__init__()
        self.fits, self.fails_at = 0, fails_at

    def fit(self, trainset: Any) -> Any:
        """Count."""
        self.fits += 1
        if self.fits == self.fails_at:
            raise InterruptedError
        return super().fit(trainset)

    def estimate(self, *_: Any) -> int:
        """Return the count."""
        return self.fits


@pytest.mark.parametrize("measures", [["rmse"], ["rmse", "ndcg@5", "ndcg@5:catalogue"]])
@pytest.mark.parametrize("n_jobs", [1, None])
def test_the_callers_algorithm_stays_fitted_on_the_last_fold(measures: Any, n_jobs: Any) -> None:
    """As in Surprise, so that a script can predict with it."""
    ours, theirs = svd(), svd()
    cross_validate(ours, DATA, measures, cv=TWO, n_jobs=n_jobs)
    model_selection.cross_validate(theirs, DATA, ["rmse"], cv=TWO, n_jobs=n_jobs)
    trainset, testset = FOLDS[-1]
    assert ours.test(testset) == theirs.test(testset) == svd().fit(trainset).test(testset)


class Printing(surprise.AlgoBase):  # type: ignore[misc]
    """An algorithm that prints its estimates, half of which are above the scale."""

    def __init__(self, x: int = 0) -> None:  # noqa: ARG002 - a parameter to search
        super().__init__()

    def estimate(self, user: Any, item: Any) -> Any:
        """Print and return an estimate."""
        print(user, item)  # noqa: T201 - as a user's own algorithm may
        return 9.0 if str(item)[-1] in "13579" else (2.0, {})


@pytest.mark.parametrize("act", [0, 1])
def test_estimate_is_called_as_often_as_by_surprise(act: int, capsys: Any) -> None:
    """Not again to look for models that diverged: it may print or count."""
    printed = []
    for library in (rn.surprise.model_selection, model_selection):
        np.random.seed(0)  # noqa: NPY002
        if act:
            library.GridSearchCV(Printing, {"x": [1, 2]}, ["rmse"], cv=TWO).fit(DATA)
        else:
            library.cross_validate(Printing(), DATA, ["rmse"], cv=TWO, return_train_measures=True)
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != ""


def test_one_algorithm_is_fitted_on_every_fold_as_in_surprise() -> None:
    """It keeps its own state between folds, also if one of them fails."""
    assert_same_scores(*cross_validate_both(0, Counting, DATA, ["rmse"], cv=THREE))
    left = []
    for function in (cross_validate, model_selection.cross_validate):
        algo = Counting(fails_at=3)
        with pytest.raises(InterruptedError):
            function(algo, DATA, ["rmse"], cv=THREE)
        left.append((algo.fits, algo.trainset.ur))
    assert left[0] == left[1]


# ranking measures


RANKING = ["ndcg@10", "recall@10:catalogue"]
NAMES = [*RANKING, "rmse", "precision@3"]


@pytest.fixture(name="validated", scope="module")
def _validated() -> Any:
    return cross_validate(svd(), DATA, NAMES, cv=THREE, threshold=4)


def fitted_folds() -> Iterator[tuple[Any, Any, Any]]:
    """Fit an algorithm on each of the same folds."""
    for trainset, testset in THREE.split(DATA):
        yield svd().fit(trainset), trainset, testset


@pytest.mark.parametrize("convention", [None, rn.Convention(gain="linear", short_list="drop")])
def test_scores_of_folds_and_users_are_those_of_evaluate(validated: Any, convention: Any) -> None:
    """Rated measures equal `evaluate`, catalogue measures `evaluate_catalogue`, in a search too."""
    names, how = [*NAMES, "ndcg@10:catalogue"], {"threshold": 4, "convention": convention}
    found = cross_validate(svd(), DATA, names, cv=THREE, **how)
    grid = {"n_factors": [3], "n_epochs": [3], "random_state": [0]}
    search = samples.fit_search(GridSearchCV, surprise.SVD, grid, names, cv=THREE, **how)
    same = found["test_ndcg@10"] == validated["test_ndcg@10"]
    assert same.tolist() == [convention is None] * 3
    assert found.per_user.index.names == ["fold", "user"]
    assert set(found.per_user) == set(names)
    tolerant = (convention or rn.Convention()).replace(tie_tolerance=1e-9)
    rated, ranked = ["ndcg@10", "precision@3", "rmse"], ["ndcg@10", "recall@10"]
    for fold, (algo, trainset, testset) in enumerate(fitted_folds()):
        report = rn.evaluate(algo.test(testset), metrics=rated, threshold=4, convention=tolerant)
        whole = evaluate_catalogue(algo, trainset, testset, metrics=ranked, **how)
        expected = {name: report.mean[name] for name in rated[:2]}
        expected |= {f"{name}:catalogue": whole.mean[name] for name in ranked}
        for name, mean in expected.items():
            assert found[f"test_{name}"][fold] == mean
            assert search.cv_results[f"split{fold}_test_{name}"] == [mean]
        users = pd.DataFrame(found.per_user.loc[fold + 1])
        pd.testing.assert_frame_equal(users[rated], report.per_user[rated])
        assert users["rmse"].isna().any() == (convention is not None)
        in_catalogue = users.filter(like=":").rename(columns=lambda name: name.partition(":")[0])
        pd.testing.assert_frame_equal(in_catalogue[ranked], whole.per_user[ranked])


def test_errors_by_user_are_kept_only_with_rated_lists() -> None:
    """Without any ranking measure the table is empty."""
    found = cross_validate(svd(), DATA, ["rmse", "mae"], cv=TWO)
    assert found.per_user.empty
    assert found.pooled.empty
    assert "pooled" in found.to_frame().index
    only = cross_validate(svd(), DATA, ["rmse", "ndcg@5:catalogue"], cv=TWO)
    assert only.per_user.columns.tolist() == ["ndcg@5:catalogue"]
    both = cross_validate(svd(), DATA, ["mae", "ndcg@5", "rmse", "fcp"], cv=TWO)
    assert set(both.per_user.columns) == {"ndcg@5", "mae", "rmse"}


def test_pooled_scores_are_sums_over_all_folds(validated: Any) -> None:
    """As if the users of different folds were different users of one evaluation."""
    rows, hits, relevant = [], 0.0, 0.0
    for fold, (algo, trainset, testset) in enumerate(fitted_folds()):
        rows += [one._replace(uid=(fold, one.uid)) for one in algo.test(testset)]
        whole = evaluate_catalogue(algo, trainset, testset, metrics="recall@10", threshold=4)
        hits += (whole.per_user["recall@10"] * whole.per_user["n_relevant"]).sum()
        relevant += whole.per_user["n_relevant"].sum()
    rated = ["ndcg@10", "rmse", "precision@3"]
    report = rn.evaluate(rows, metrics=rated, threshold=4, convention=TOLERANT)
    assert validated.pooled[rated].tolist() == pytest.approx(report.pooled.tolist(), abs=1e-12)
    assert validated.pooled[RANKING[1]] == pytest.approx(hits / relevant, abs=1e-12)


def test_the_result_is_surprises_dict_and_a_table(validated: Any) -> None:
    """The table has the folds, their mean and deviation, pooled scores and numbers of users."""
    names = [f"test_{name}" for name in NAMES]
    assert issubclass(type(validated), dict)
    assert list(validated) == [*names, "fit_time", "test_time"]
    assert all(validated[name].dtype == np.float64 for name in names)
    table = validated.to_frame()
    assert table.index.tolist() == ["fold 1", "fold 2", "fold 3", "mean", "std", "pooled"]
    assert table.columns.tolist() == [*names, "fit_time", "test_time", "test_users"]
    for name in names:
        assert table[name].tolist()[:3] == validated[name].tolist()
        assert table[name]["mean"] == pytest.approx(validated[name].mean())
        assert table[name]["std"] == pytest.approx(validated[name].std())
        assert table[name]["pooled"] == validated.pooled[name.removeprefix("test_")]
    users = [len({row[0] for row in testset}) for _, testset in THREE.split(DATA)]
    assert table["test_users"].tolist()[:3] == validated.n_users == users
    again = pickle.loads(pickle.dumps(validated))  # noqa: S301 - our own
    assert_same_scores(again, validated)
    pd.testing.assert_frame_equal(again.per_user, validated.per_user)


def test_train_measures_are_those_of_the_training_ratings() -> None:
    """They follow the test measures, as in Surprise."""
    found = cross_validate(svd(), DATA, ["ndcg@5", "rmse"], cv=THREE, return_train_measures=True)
    assert list(found)[:4] == ["test_ndcg@5", "train_ndcg@5", "test_rmse", "train_rmse"]
    for fold, (algo, trainset, _) in enumerate(fitted_folds()):
        predictions = algo.test(trainset.build_testset())
        expected = rn.surprise.accuracy.ndcg(predictions, 5, verbose=False)
        assert found["train_ndcg@5"][fold] == expected


def offset(base: float, step: float) -> Any:
    """Return an algorithm whose estimates begin at a base and grow from item to item."""
    return samples.Formula(lambda train, _, i: base + (step * i if train.knows_item(i) else 0))


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")  # of tied estimates
def test_a_catalogue_is_ranked_by_unclipped_estimates_with_a_tolerance() -> None:
    """Clipped, these estimates would be tied; differences by rounding are ties."""
    names = ["ndcg@5", "ndcg@5:catalogue"]
    found = cross_validate(offset(9, 1), DATA, names, cv=TWO)["test_ndcg@5:catalogue"]
    for fold, split in enumerate(FOLDS):
        algo = offset(9, 1).fit(split[0])
        plain, clipped = (
            evaluate_catalogue(algo, *split, metrics="ndcg@5", clip=clip)["ndcg@5"]
            for clip in (False, True)
        )
        assert found[fold] == plain != clipped
    rounded, tied, apart = (
        cross_validate(offset(3, step), DATA, names, cv=TWO) for step in (1e-14, 0, 1e-6)
    )
    assert_same_scores(rounded, tied)
    for name in names:
        assert (rounded[f"test_{name}"] != apart[f"test_{name}"]).all()


def test_ratings_of_0_and_1_need_no_threshold_and_negative_ones_a_gain() -> None:
    """Jester's ratings go from -10 to 10; a binary gain, or a binary metric, takes them."""
    data = dataset(TABLE.assign(rating=(TABLE["rating"] >= 4).astype(float)), (0, 1))
    names = ["recall@5", "precision@5:catalogue"]
    found = [cross_validate(svd(), data, names, TWO, threshold=given) for given in (None, 1)]
    assert_same_scores(*found)
    data = dataset(TABLE.assign(rating=TABLE["rating"] * 4 - 10), (-10, 10))
    for names in (["ndcg@5"], ["rmse", "ndcg@5:catalogue"]):
        reject_by_all("the grade -", names, data)
    how: dict[str, Any] = {"threshold": 0, "convention": rn.Convention(gain="binary")}
    jester = cross_validate(svd(), data, ["rmse", "recall@5", "ndcg@5"], cv=TWO, **how)
    assert (jester["test_ndcg@5"] <= 1).all()


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_a_library_name_measures_each_metric_as_that_library_does() -> None:
    """Rated and in the catalogue; other measures next to a metric do not change it."""
    names = ["ndcg@5", "ap@5", "ndcg@5:catalogue", "ap@5:catalogue"]
    how: dict[str, Any] = {"cv": TWO, "threshold": 4.5, "convention": "catboost"}
    found = cross_validate(svd(), DATA, names, **how)
    for name in names:
        preset = rn.Convention.preset("catboost", name.partition(":")[0])
        for convention in ("catboost", preset):
            other = cross_validate(svd(), DATA, [name], **{**how, "convention": convention})
            np.testing.assert_array_equal(found[f"test_{name}"], other[f"test_{name}"])
    how["convention"] = rn.Convention.preset("catboost")
    with rejects("but catboost measures ap@5 under undefined=0.0"):
        cross_validate(samples.NeverFitted(), DATA, names, **how)
    how["convention"] = "ir_measures"
    with rejects("rank the catalogue under different choices"):
        cross_validate(samples.NeverFitted(), DATA, ["ndcg@5:catalogue", "rr@5:catalogue"], **how)


# measures


MEASURES: list[tuple[Any, list[str]]] = [
    ("NDCG@10", ["ndcg@10"]), (["  Recall@5:Catalogue "], ["recall@5:catalogue"]),
    (("RMSE", "Fcp"), ["rmse", "fcp"]), (samples.mean_error, ["mean_error"]),
    (make_measure(samples.mean_error, "My Error"), ["my error"]),
    ("rbp(0.5)@5", ["rbp(p=0.5)@5"]),
    (["ndcg@5", "hit@5", "NDCG@5:rated", " Hit@5"], ["ndcg@5", "hit@5"]),
    ([samples.mean_error, "RMSE", make_measure(samples.mean_error)], ["mean_error", "rmse"]),
    ([make_measure(samples.mean_error, times=one) for one in (2, 2)], ["mean_error"]),
]  # fmt: skip


@pytest.mark.parametrize(("given", "names"), MEASURES, ids=range(len(MEASURES)))
def test_measures_can_be_given_in_many_forms(given: Any, names: list[str]) -> None:
    """The names are in lower case, as in Surprise; repeated measures count once."""
    found = cross_validate(svd(1), DATA, given, cv=TWO, threshold=4)
    assert list(found) == [*(f"test_{name}" for name in names), "fit_time", "test_time"]
    search = GridSearchCV(surprise.SVD, samples.GRID, given, threshold=4, refit=True)
    assert (search.measures, search.refit) == (names, names[0])


def test_without_measures_only_the_times_are_left() -> None:
    """As in Surprise."""
    ours, theirs = cross_validate_both(0, svd, DATA, [], TWO)
    assert_same_scores(ours, theirs)
    assert len(ours.to_frame()) == 5
    assert_same_searches(DATA, [], TWO)


def test_a_function_gets_the_predictions_and_its_keywords() -> None:
    """As issue 166 of Surprise proposes it; Surprise's own functions are possible."""
    seen = []

    def counted(predictions: Any, least: float, most: float = 9) -> int:
        seen.append(predictions)
        return sum(least <= one.est <= most for one in predictions)

    measure = make_measure(counted, "counted", True, least=2, most=4)  # noqa: FBT003
    found = cross_validate(offset(3, 0), DATA, [measure], cv=TWO, return_train_measures=True)
    sizes = [len(testset) for _, testset in FOLDS]
    assert found["test_counted"].tolist() == sizes
    assert found["train_counted"].tolist() == sizes[::-1]
    assert all(type(one).__name__ == "Prediction" for one in seen[0])
    rmse = make_measure(surprise.accuracy.rmse, "again", greater_is_better=False, verbose=False)
    found = cross_validate(svd(), DATA, ["rmse", rmse], cv=TWO)
    assert np.array_equal(found["test_rmse"], found["test_again"])


def test_a_measure_must_return_a_number() -> None:
    """Any real number of Python or numpy; else the message has the measure's name."""
    for value in (1, True, np.float32(0.5), np.int64(3), None, "0.5", [0.5], 1j):
        own: Any = make_measure(lambda _, value=value: value, "own")
        if isinstance(value, Real):
            found = cross_validate(svd(1), DATA, own, cv=TWO)
            assert found["test_own"].tolist() == [value, value]
        else:
            match = "The measure 'own' must return a number, not "
            assert_rejected(match, cross_validate, svd(1), DATA, own, cv=TWO)


def test_make_measure_rejects_what_is_no_function() -> None:
    """The name must be text."""
    assert_rejected("a function of predictions, not from 'rmse'", make_measure, "rmse")
    for name in ("", 5):
        assert_rejected("name of a measure must be text", make_measure, min, name)


NEVER = (samples.NeverFitted, samples.NeverFitted)


def reject_by_all(
    match: str, measures: Any, data: Any = DATA, *, kinds: Any = NEVER, **how: Any
) -> None:
    """Expect an error from cross_validate and from both searches, by default before any fit."""
    (make, kind), grid = kinds, {"random_state": [1, 2]}
    expected = {name: how.pop(name) for name in ("kind", "whole") if name in how}
    options = {"cv": TWO, **how}
    for act in (
        lambda: cross_validate(make(), data, measures, **options),
        lambda: GridSearchCV(kind, grid, measures, **options).fit(data),
        lambda: RandomizedSearchCV(kind, grid, 1, measures, **options).fit(data),
    ):
        with rejects(match, **expected):
            act()


TWICE = [make_measure(samples.mean_error, "a", times=one) for one in (1.0, 2.0)]
CATALOGUE_OF_TRAINING = "ndcg@5:catalogue leaves out the items that a user rated in training"
UNKNOWN = {"kind": rn.UnknownMetricError}
WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (["ndcg"], {}, "ndcg needs a cutoff here. Write 'ndcg@10'"),
    (["ndcg@0"], {}, "k must be a whole number"),
    (["ndcg@10:catalog"], {}, "after the colon.*Did you mean 'catalogue'"),
    (["rmse:catalogue"], {}, "rmse compares ratings and ranks nothing"),
    (["rmse@5"], {}, "rmse has no cutoff"),
    (["rmse", make_measure(samples.mean_error, "rmse")], {}, "measures has two .* named 'rmse'"),
    (TWICE, {}, "measures has two .* named 'a'"), ([5], {}, "A measure is a name .*not 5"),
    (None, {}, "(?i)measure"), ([rn.NDCG], {}, "(?i)NDCG"),
    (["ndcg@10000:catalogue"], {}, "k=10000, but the catalogue has"),
    (["rmse", "ndgc@10"], UNKNOWN, "No measure is named 'ndgc@10'.*'ndcg'"),
    (["rsme"], UNKNOWN, "'rsme'. Did you mean 'rmse'"),
    (["precison@5:catalogue"], UNKNOWN, "Did you mean 'precision'"), ([""], UNKNOWN, "There are"),
    (["recall@5"], {"threshold": None}, "needs to know which items are relevant: pass threshold"),
    (["ndcg@5"], {"threshold": None, "convention": rn.Convention(gain="binary")}, "threshold"),
    (["rmse"], {"convention": ["linear"]}, "convention must be a Convention"),
    (["rmse"], {"n_jobs": 0}, "n_jobs must be a whole number"),
    (["rmse", "ndcg@5:catalogue"], {"return_train_measures": True}, CATALOGUE_OF_TRAINING),
]  # fmt: skip


@pytest.mark.parametrize(("measures", "how", "match"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_measure_or_option_is_rejected(measures: Any, how: Any, match: str) -> None:
    """Before any fit, in all three functions; with the nearest name, or what to write."""
    reject_by_all(match, measures, **{"threshold": 4, **how})


def test_wrong_ratings_are_rejected_before_any_fit() -> None:
    """Rows of three columns, and a pair that is there twice if lists are ranked."""
    data = dataset()
    data.raw_ratings = [row[:3] for row in data.raw_ratings]
    reject_by_all("raw_ratings: row 0 .*must be .user, item, rating, timestamp", [], data)
    twice = dataset(pd.concat([TABLE, TABLE.iloc[:5]]))
    reject_by_all("user .* has the item .* twice or more", ["ndcg@5"], twice)
    seen = rf"^\d+ of {len(TABLE) + 5} test ratings"  # each one is in the other's trainset
    first = rn.Convention(duplicates="first")
    with pytest.warns(rn.DataWarning, match=seen):
        found = cross_validate(svd(), twice, ["ndcg@5", "rmse"], cv=THREE, convention=first)
    assert not np.isnan(found["test_ndcg@5"]).any()


def test_an_algorithm_must_have_fit_and_test() -> None:
    """A class of algorithms is none."""
    for algo in (None, 5, surprise.SVD, "SVD"):
        assert_rejected("algo must be an algorithm", cross_validate, algo, DATA, ["rmse"], TWO)
