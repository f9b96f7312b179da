"""Test ratings that were trained on are counted, and the first of them is named."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from recsys_ndcg.datasets import sample_ratings
from tests.surprise.warned import said

surprise = pytest.importorskip("surprise")

from recsys_ndcg.surprise import (  # noqa: E402
    SVD,
    Dataset,
    GridSearchCV,
    KFold,
    LeaveNOut,
    PredefinedKFold,
    Reader,
    RepeatedKFold,
    UserKFold,
    cross_validate,
    evaluate_catalogue,
    train_test_split,
)

if TYPE_CHECKING:
    from pathlib import Path

TABLE = sample_ratings(40, 60)[["user", "item", "rating"]]
DATA = Dataset.load_from_df(TABLE, Reader(rating_scale=(0.5, 5)))
GRID = {"n_factors": [2, 3], "n_epochs": [1], "random_state": [0]}


class Ready:
    """A splitter with folds that are there already."""

    def __init__(self, *folds: tuple[Any, list[Any]]) -> None:
        self.folds, self.n_splits = folds, len(folds)

    def split(self, _: Any) -> Any:
        """Return them."""
        return iter(self.folds)

    def get_n_folds(self) -> int:
        """Return how many."""
        return self.n_splits


def leaking(n: int) -> tuple[Any, list[Any]]:
    """Return a split, n of whose training ratings are at the end of its testset."""
    trainset, testset = train_test_split(DATA, random_state=0)
    return trainset, [*testset, *trainset.build_testset()[:n]]


def svd() -> Any:
    """Return a small SVD."""
    return SVD(n_factors=2, n_epochs=1, random_state=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("measures", [["rmse"], ["ndcg@5"], ["ndcg@5:catalogue"]])
def test_training_ratings_in_a_testset_are_told_with_the_first(measures: Any, n_jobs: int) -> None:
    """Whatever is measured; once, with how many splits have some."""
    clean, leaky = leaking(0), leaking(30)
    first, rows = leaky[1][-30][:2], len(clean[1]) * 2 + 30
    cv = Ready(clean, leaky)
    (message,) = said(lambda: cross_validate(svd(), DATA, measures, cv, n_jobs=n_jobs))
    start = f"30 of {rows} test ratings, the first {first}, are in the trainset of their split"
    assert message.startswith(f"{start} (1 of 2 splits)")
    assert "seen them, and scores better than on new ratings" in message
    assert "Test on ratings that are not in the trainset" in message


def test_a_search_tells_it_once() -> None:
    """However many combinations there are."""
    search = GridSearchCV(SVD, GRID, ["ndcg@5"], cv=Ready(leaking(7), leaking(5)))
    (message,) = said(lambda: search.fit(DATA))
    assert re.search(r"^12 of \d+ test ratings, .* \(2 of 2 splits\)", message)


def test_the_trainset_as_testset_is_the_score_of_the_training_set() -> None:
    """As trainset.build_testset() gives it."""
    trainset = DATA.build_full_trainset()
    cv = Ready((trainset, trainset.build_testset()))
    (message,) = said(lambda: cross_validate(svd(), DATA, ["ndcg@5"], cv))
    assert message.startswith(f"All {len(TABLE)} test ratings, the first ")
    assert "the score is that of the training set" in message


def test_folds_of_files_that_overlap_are_told(tmp_path: Path) -> None:
    """Where a row stands in the file of both parts."""
    parts = {"train": TABLE.iloc[:-40], "test": TABLE.iloc[-60:]}
    for name, part in parts.items():
        part.to_csv(tmp_path / name, sep="\t", header=False, index=False)
    reader = Reader(line_format="user item rating", sep="\t", rating_scale=(0.5, 5))
    data = Dataset.load_from_folds([(str(tmp_path / "train"), str(tmp_path / "test"))], reader)
    (message,) = said(lambda: cross_validate(svd(), data, ["rmse"], PredefinedKFold()))
    first = tuple(TABLE.iloc[-60][["user", "item"]])
    assert message.startswith(f"20 of 60 test ratings, the first {first}, are in the trainset")


@pytest.mark.parametrize(
    "cv",
    [None, 3, KFold(2), RepeatedKFold(2, 2), UserKFold(2), LeaveNOut(3), Ready(leaking(0))],
    ids=lambda cv: type(cv).__name__,
)
def test_splits_of_distinct_ratings_have_nothing_to_tell(cv: Any) -> None:
    """Also where users or items of the testset are unknown to the trainset."""
    assert not said(lambda: cross_validate(svd(), DATA, ["rmse", "ndcg@5"], cv))


class AllTwice(KFold):  # type: ignore[misc]
    """Folds that are called as those of Surprise, and test on the trainset."""

    def split(self, data: Any) -> Any:
        """Return one."""
        trainset = data.build_full_trainset()
        yield trainset, trainset.build_testset()


@pytest.mark.parametrize("cv", [KFold(4, random_state=0), None, UserKFold(4, random_state=0)])
def test_a_rating_that_is_there_twice_is_told_of_folds_that_part_them(cv: Any) -> None:
    """Under ids that a trainset takes for one, too, as it does 1 and 1.0."""
    rows = [(user, item, float(1 + (user + item) % 5)) for user in range(1, 9) for item in range(9)]
    again: list[Any] = [(float(user), item, 3.0) for user, item, _ in rows]
    data = Dataset.load_from_df(DATA.df, Reader(rating_scale=(1, 5)))
    data.raw_ratings = [(*row, None) for row in [*rows, *again]]
    (message,) = said(lambda: cross_validate(svd(), data, ["rmse"], cv))
    assert re.search(r"^\d+ of \d+ test ratings, the first .* are in the trainset", message)
    data.raw_ratings = data.raw_ratings[:72]
    assert not said(lambda: cross_validate(svd(), data, ["rmse"], cv))


def test_only_the_folds_of_surprise_itself_are_trusted() -> None:
    """Not those that are made of them; nor data that make their own trainsets."""

    class Own(type(DATA)):  # type: ignore[misc]
        def construct_trainset(self, _: Any) -> Any:
            return DATA.build_full_trainset()

    (message,) = said(lambda: cross_validate(svd(), DATA, ["rmse"], AllTwice()))
    assert message.startswith(f"All {len(TABLE)} test ratings")
    own = Own(reader=DATA.reader, df=DATA.df)
    (message,) = said(lambda: cross_validate(svd(), own, ["rmse"], KFold(2)))
    assert message.startswith(f"All {len(TABLE)} test ratings")


def test_the_same_items_of_other_users_are_no_leak() -> None:
    """Pairs are compared, and strangers are of nobody: neither the last user nor the last item."""
    trainset, _ = leaking(0)
    last = trainset.n_items - 1
    raters = {inner for inner, _ in trainset.ir[last]}
    # who comes after one that rated the last item, but has not rated it
    after = next(one + 1 for one in sorted(raters) if one + 1 not in raters)
    user, item = trainset.to_raw_uid(after), trainset.to_raw_iid(last)
    known = [(user, "new", 4.0), ("new", item, 3.0), ("new", "newer", 1.0), (user, "newer", 2.0)]
    assert not said(lambda: cross_validate(svd(), DATA, ["rmse"], Ready((trainset, known))))


@pytest.mark.parametrize(
    ("exclude", "meaning"),
    [("train", "no candidates, and count as missed"), (None, "the model has seen them, and ranks")],
)
def test_the_catalogue_tells_of_test_items_rated_in_training(exclude: Any, meaning: str) -> None:
    """What becomes of them depends on what is left out of the lists."""
    trainset, testset = leaking(4)
    algo = svd().fit(trainset)
    (message,) = said(lambda: evaluate_catalogue(algo, trainset, testset, exclude=exclude))
    first = testset[-4][:2]
    start = f"4 of {len(testset)} test ratings, the first {first}, were rated in training: "
    assert message.startswith(start)
    assert meaning in message
    assert "Test on ratings that are not in the trainset" in message
    clean = leaking(0)[1]
    assert not said(lambda: evaluate_catalogue(algo, trainset, clean, exclude=exclude))


@pytest.mark.parametrize(
    ("exclude", "meaning"),
    [("train", "no list has any of them"), (None, "the score is that of the training set")],
)
def test_the_catalogue_of_the_training_ratings_alone(exclude: Any, meaning: str) -> None:
    """It measures nothing, or the training."""
    trainset = DATA.build_full_trainset()
    algo = svd().fit(trainset)
    rows = trainset.build_testset()
    (message,) = said(lambda: evaluate_catalogue(algo, trainset, rows, exclude=exclude))
    assert message.startswith(f"All {len(rows)} test ratings, the first {rows[0][:2]}, were rated")
    assert meaning in message
