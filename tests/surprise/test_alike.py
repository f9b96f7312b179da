"""What users of Surprise count on, asked of Surprise and of the plug-in by the same tests."""

from __future__ import annotations

import importlib
import itertools
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from recsys_ndcg.datasets import sample_ratings

pytest.importorskip("surprise")

TABLE = sample_ratings(25, 30)[["user", "item", "rating"]]
MEASURES = ["rmse", "MAE", "fcp"]
#: What a search of either kind is given besides the parameters.
KINDS: dict[str, dict[str, Any]] = {
    "GridSearchCV": {},
    "RandomizedSearchCV": {"n_iter": 4, "random_state": 0},
}


@pytest.fixture(name="lib", scope="module", params=["surprise", "recsys_ndcg.surprise"])
def _lib(request: pytest.FixtureRequest) -> Any:
    library = importlib.import_module(request.param)
    rooms = (library.model_selection, library)
    return SimpleNamespace(**{name: getattr(room, name) for room in rooms for name in dir(room)})


@pytest.fixture(name="data", scope="module")
def _data(lib: Any) -> Any:
    return lib.Dataset.load_from_df(TABLE, lib.Reader(rating_scale=(0.5, 5)))


@pytest.fixture(name="few", scope="module")
def _few(lib: Any) -> Any:
    return lib.Dataset.load_from_df(TABLE.iloc[:10], lib.Reader(rating_scale=(0.5, 5)))


def predicted(*pairs: tuple[float, float], users: str = "") -> list[tuple[Any, ...]]:
    """Return predictions of (true, estimated), of one user unless several are given."""
    owners = users or "u" * len(pairs)
    return [
        (owner, place, true, estimate, {})
        for place, (owner, (true, estimate)) in enumerate(zip(owners, pairs, strict=True))
    ]


# accuracy


@pytest.mark.parametrize(
    ("pairs", "rmse", "mae"),
    [
        ([(3, 3), (5, 5)], 0, 0),
        ([(1, 4), (2, 2)], 4.5**0.5, 1.5),
        ([(1, 0), (1, 3)], 2.5**0.5, 1.5),
    ],
)
def test_errors_are_the_formulas(lib: Any, pairs: Any, rmse: float, mae: float) -> None:
    """By hand, and under any way of saying that nothing is printed."""
    rows = predicted(*pairs)
    assert lib.accuracy.rmse(rows, verbose=False) == pytest.approx(rmse)
    assert lib.accuracy.mse(rows, verbose=0) == pytest.approx(rmse**2)
    assert lib.accuracy.mae(rows, False) == pytest.approx(mae)  # noqa: FBT003 - as scripts do


def test_concordant_pairs_are_the_formula(lib: Any) -> None:
    """All, none, and the share of them over users."""
    up, down = [(1, 2), (2, 3), (3, 4)], [(1, 4), (2, 3), (3, 2)]
    assert lib.accuracy.fcp(predicted(*up), verbose=False) == 1
    assert lib.accuracy.fcp(predicted(*down), verbose=False) == 0
    both = predicted(*up, *down, users="aaabbb")
    assert lib.accuracy.fcp(both, verbose=False) == pytest.approx(1 / 2)


@pytest.mark.parametrize("name", ["rmse", "mae", "mse", "fcp"])
def test_no_predictions_have_no_accuracy(lib: Any, name: str) -> None:
    """A ValueError."""
    with pytest.raises(ValueError, match="empty"):
        getattr(lib.accuracy, name)([])


@pytest.mark.parametrize("users", ["u", "uvw"])
def test_single_predictions_are_not_concordant(lib: Any, users: str) -> None:
    """A ValueError as well."""
    rows = predicted(*[(3, 3)] * len(users), users=users)
    with pytest.raises(ValueError, match="at least two"):
        lib.accuracy.fcp(rows)


def test_accuracy_prints_unless_told_not_to(lib: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """In the form that one knows."""
    rows = predicted((1, 2), (2, 4), (4, 5))
    for name in ("rmse", "mae", "mse", "fcp"):
        getattr(lib.accuracy, name)(rows)
    assert capsys.readouterr().out == "RMSE: 1.4142\nMAE:  1.3333\nMSE: 2.0000\nFCP:  1.0000\n"


# splits


def drawn_by(cv: Any, data: Any) -> list[list[Any]]:
    """Return the testsets of a split."""
    return [testset for _, testset in cv.split(data)]


def test_folds_part_the_ratings(lib: Any, few: Any) -> None:
    """Each is tested once; the data stays in order, and unshuffled folds are in it."""
    before = list(few.raw_ratings)
    rows = [row[:3] for row in before]
    folds = drawn_by(lib.KFold(n_splits=4), few)
    assert [len(one) for one in folds] == [3, 3, 2, 2]
    assert Counter(itertools.chain(*folds)) == Counter(rows)
    whole = drawn_by(lib.KFold(n_splits=10, shuffle=False), few)
    assert list(itertools.chain(*whole)) == rows
    assert few.raw_ratings == before


@pytest.mark.parametrize("n_splits", [1, 0, 11])
def test_folds_are_two_at_least_and_as_many_as_ratings_at_most(
    lib: Any, few: Any, n_splits: int
) -> None:
    """A ValueError, when they are drawn."""
    with pytest.raises(ValueError, match="n_splits"):
        next(lib.KFold(n_splits).split(few))


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("KFold", {"n_splits": 3}),
        ("ShuffleSplit", {"n_splits": 3}),
        ("RepeatedKFold", {"n_splits": 2, "n_repeats": 2}),
        ("LeaveOneOut", {"n_splits": 3}),
    ],
)
def test_a_seed_gives_the_same_splits(lib: Any, data: Any, name: str, how: Any) -> None:
    """None another each time, a generator the next."""
    kind = getattr(lib, name)
    seeded = kind(**how, random_state=5)
    assert drawn_by(seeded, data) == drawn_by(seeded, data)
    assert drawn_by(kind(**how), data) != drawn_by(kind(**how), data)
    draw = np.random.RandomState(5)
    going_on = kind(**how, random_state=draw)
    first = drawn_by(going_on, data)
    assert first == drawn_by(seeded, data)
    assert drawn_by(going_on, data) != first


@pytest.mark.parametrize(
    ("how", "n_train", "n_test"),
    [
        ({}, 8, 2),
        ({"test_size": 3}, 7, 3),
        ({"test_size": 0.35}, 6, 4),
        ({"test_size": None, "train_size": 0.35}, 3, 7),
        ({"test_size": None, "train_size": 8}, 8, 2),
        ({"test_size": 2, "train_size": 5}, 5, 2),
        ({"shuffle": False}, 8, 2),
    ],
)
def test_one_split_has_the_sizes_asked_for(
    lib: Any, few: Any, how: dict[str, Any], n_train: int, n_test: int
) -> None:
    """As a share or as a number; by the function and by the iterator."""
    trainset, testset = lib.train_test_split(few, **how)
    assert (trainset.n_ratings, len(testset)) == (n_train, n_test)
    for trainset, testset in lib.ShuffleSplit(3, **how).split(few):
        assert (trainset.n_ratings, len(testset)) == (n_train, n_test)


@pytest.mark.parametrize(
    "how",
    [
        {"n_splits": 0},
        {"test_size": 10},
        {"train_size": 10},
        {"test_size": 8, "train_size": 3},
        {"test_size": 0.0},
        {"train_size": -1},
    ],
)
def test_sizes_that_cannot_be_are_refused(lib: Any, few: Any, how: dict[str, Any]) -> None:
    """A ValueError, at the latest when they are drawn."""
    with pytest.raises(ValueError, match="should be"):
        next(lib.ShuffleSplit(**how).split(few))


def test_repeated_folds_are_drawn_anew(lib: Any, few: Any) -> None:
    """Each repetition parts the ratings."""
    folds = drawn_by(lib.RepeatedKFold(n_splits=5, n_repeats=3, random_state=0), few)
    assert len(folds) == 15
    rows = Counter(row[:3] for row in few.raw_ratings)
    thirds = [folds[:5], folds[5:10], folds[10:]]
    assert all(Counter(itertools.chain(*one)) == rows for one in thirds)
    assert thirds[0] != thirds[1]


def test_one_of_each_user_is_left_out(lib: Any, data: Any) -> None:
    """Of those who have more than the least number; the others are left out altogether."""
    for trainset, testset in lib.LeaveOneOut(2, random_state=0, min_n_ratings=8).split(data):
        assert set(Counter(user for user, _, _ in testset).values()) == {1}
        assert min(map(len, trainset.ur.values())) >= 8
        assert len(testset) == trainset.n_users
    with pytest.raises(ValueError, match="min_n_ratings"):
        next(lib.LeaveOneOut(min_n_ratings=10**6).split(data))


# cross-validation


@pytest.mark.parametrize(("cv", "n"), [(None, 5), (2, 2), ("KFold", 5), ("ShuffleSplit", 5)])
def test_cross_validation_has_a_value_for_each_fold(lib: Any, data: Any, cv: Any, n: int) -> None:
    """Of the measures asked for, in lower case, and of the times; of training if asked for."""
    how = {"cv": getattr(lib, cv)() if isinstance(cv, str) else cv}
    algo = lib.NormalPredictor()
    found = lib.cross_validate(algo, data, ["RMSE", "mae"], **how)
    assert list(found) == ["test_rmse", "test_mae", "fit_time", "test_time"]
    found = lib.cross_validate(algo, data, ["fcp"], return_train_measures=True, n_jobs=2, **how)
    assert list(found) == ["test_fcp", "train_fcp", "fit_time", "test_time"]
    assert {len(values) for values in found.values()} == {n}


@pytest.mark.parametrize("cv", ["5", 2.5, object()])
def test_what_does_not_split_is_no_cv(lib: Any, data: Any, cv: Any) -> None:
    """A ValueError."""
    with pytest.raises(ValueError, match=r"(?i)cv"):
        lib.cross_validate(lib.NormalPredictor(), data, cv=cv)


# searches


def searched(lib: Any, kind: str, data: Any, parameters: Any = None, **how: Any) -> Any:
    """Return a small search after its fit."""
    values = {"n_factors": [2], "n_epochs": [1, 3], "reg_all": [0.1, 0.4], "random_state": [0]}
    how = {"measures": MEASURES, "cv": lib.KFold(3, random_state=0), **KINDS[kind], **how}
    search = getattr(lib, kind)(lib.SVD, parameters or values, **how)
    search.fit(data)
    return search


def test_a_grid_has_all_combinations(lib: Any) -> None:
    """Nested ones, too."""
    grid = {
        "k": [10, 20],
        "sim_options": {"name": ["msd", "cosine"], "user_based": [False, True]},
        "bsl_options": {"method": ["als", "sgd"], "reg": [1, 2]},
    }
    found = lib.GridSearchCV(lib.KNNBaseline, grid).param_combinations
    assert len(found) == 32
    assert len({repr(one) for one in found}) == 32
    drawn = lib.RandomizedSearchCV(lib.KNNBaseline, grid, n_iter=9).param_combinations
    assert len(drawn) == 9
    continuous = {"k": stats.randint(2, 9), "min_k": [1, 2]}
    drawn = lib.RandomizedSearchCV(lib.KNNBaseline, continuous, n_iter=9).param_combinations
    assert len(drawn) == 9


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_estimator_has_the_best_score(lib: Any, kind: str, data: Any) -> None:
    """It is not fitted yet; cross-validated, it scores so again."""
    search = searched(lib, kind, data)
    for name in ("rmse", "mae", "fcp"):
        algo = search.best_estimator[name]
        assert not hasattr(algo, "trainset")
        again = lib.cross_validate(algo, data, [name], cv=lib.KFold(3, random_state=0))
        assert np.mean(again[f"test_{name}"]) == search.best_score[name]
        best = max if name == "fcp" else min
        assert search.best_score[name] == best(search.cv_results[f"mean_test_{name}"])
        place = search.best_index[name]
        assert search.best_params[name] == search.cv_results["params"][place]
        assert search.cv_results[f"rank_test_{name}"][place] == 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_all_combinations_see_the_same_folds(lib: Any, kind: str, data: Any, n_jobs: int) -> None:
    """Those that are drawn without a seed, too; the next search has others."""
    same = {"n_epochs": [1], "n_factors": [2], "random_state": [0], "reg_all": [0.1] * 4}
    found = [
        searched(lib, kind, data, same, cv=lib.KFold(2), n_jobs=n_jobs).cv_results["mean_test_rmse"]
        for _ in range(2)
    ]
    assert [len(set(one)) for one in found] == [1, 1]
    assert found[0][0] != found[1][0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_results_of_a_search_are_those_of_its_splits(lib: Any, kind: str, data: Any) -> None:
    """A value for each combination; means and deviations over the splits."""
    search = searched(lib, kind, data, return_train_measures=True)
    results = search.cv_results
    assert results["params"] is search.param_combinations
    for part, name in itertools.product(("test", "train"), ("rmse", "mae", "fcp")):
        each = np.array([results[f"split{split}_{part}_{name}"] for split in range(3)])
        assert each.shape == (3, 4)
        np.testing.assert_allclose(results[f"mean_{part}_{name}"], each.mean(axis=0))
        np.testing.assert_allclose(results[f"std_{part}_{name}"], each.std(axis=0))
    for name in ("mean_fit_time", "std_fit_time", "mean_test_time", "std_test_time"):
        assert results[name].shape == (4,)
    for name in ("n_epochs", "reg_all"):
        chosen = [one[name] for one in search.param_combinations]
        assert list(results[f"param_{name}"]) == chosen


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("refit", [True, "mae", "rmse", "fcp"])
def test_a_search_refits_by_a_measure_and_predicts(
    lib: Any, kind: str, data: Any, refit: Any
) -> None:
    """True is the first; on all ratings."""
    search = searched(lib, kind, data, measures=["mae", "rmse", "fcp"], refit=refit)
    algo = lib.SVD(**search.best_params["mae" if refit is True else refit])
    trainset = data.build_full_trainset()
    rows = trainset.build_testset()
    assert search.test(rows) == algo.fit(trainset).test(rows)
    assert search.predict("u001", "i001") == algo.predict("u001", "i001")


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_refit_a_search_predicts_nothing(lib: Any, kind: str, data: Any) -> None:
    """A ValueError, as for a measure that is not measured."""
    search = searched(lib, kind, data)
    with pytest.raises(ValueError, match="refit"):
        search.predict("u001", "i001")
    with pytest.raises(ValueError, match="refit"):
        search.test([])
    with pytest.raises(ValueError, match="refit"):
        searched(lib, kind, data, measures=["mae"], refit="rmse")


@pytest.mark.parametrize("kind", KINDS)
def test_folds_of_files_are_searched_and_not_refitted(lib: Any, kind: str, tmp_path: Any) -> None:
    """There is no whole of them."""
    names = [str(tmp_path / one) for one in ("train", "test")]
    for name, part in zip(names, (TABLE.iloc[::2], TABLE.iloc[1::2]), strict=True):
        part.to_csv(name, sep="\t", header=False, index=False)
    reader = lib.Reader(line_format="user item rating", sep="\t", rating_scale=(0.5, 5))
    data = lib.Dataset.load_from_folds([tuple(names)], reader)
    search = searched(lib, kind, data, cv=lib.PredefinedKFold())
    assert "split0_test_rmse" in search.cv_results
    with pytest.raises(ValueError, match="refit"):
        searched(lib, kind, data, cv=lib.PredefinedKFold(), refit=True)
