"""Models that change what they get, leave, or are something else than others: no other suffers."""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import sys
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from surprise import AlgoBase, BaselineOnly, Dataset, Prediction, Reader
from surprise.model_selection import PredefinedKFold

import recsys_ndcg as rn
from recsys_ndcg.surprise import MostPopular, TimeSplit
from tests.experiments.made import item_means, models, ratings, run

if TYPE_CHECKING:
    from pathlib import Path


class EmptiesTrain(BaselineOnly):  # type: ignore[misc] # surprise has no types
    """A model that spoils the trainset."""

    def fit(self, trainset: Any) -> Any:
        """Leave one rating to each user, and none to items."""
        for user in list(trainset.ur):
            del trainset.ur[user][1:]
        for item in list(trainset.ir):
            trainset.ir[item] = []
        trainset.ur.pop(0)
        return super().fit(trainset)


class EmptiesTest(BaselineOnly):  # type: ignore[misc] # surprise has no types
    """A model that shortens the testset."""

    def test(self, testset: list[Any], verbose: bool = False) -> list[Any]:  # noqa: FBT001, FBT002
        """Predict the first three alone."""
        del testset[3:]
        found: list[Any] = super().test(testset, verbose)
        return found


class Dull(AlgoBase):  # type: ignore[misc] # surprise has no types
    """A model that does in `fit` what it is told, and holds what cannot be copied."""

    def __init__(self, does: Any, held: Any = None) -> None:
        AlgoBase.__init__(self)
        self.does, self.held = does, held

    def fit(self, _: Any) -> Any:
        """Do it."""
        self.does()


class UnsayableError(Exception):
    """An error that has no message."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError


def _raise(error: BaseException) -> Any:
    raise error


def test_a_model_may_spoil_its_trainset() -> None:
    """Those after it get what was split."""
    with pytest.warns(rn.DataWarning, match="spoils estimates the same") as caught:
        found = run({"spoils": EmptiesTrain(), **models()})
    assert len(caught) == 1
    wanted = run().per_user
    for name in models():
        assert found.per_user["ndcg@5", name].equals(wanted["ndcg@5", name])


def test_a_model_may_not_shorten_its_test() -> None:
    """It is the one that fails, and the others are measured on all of it."""
    with pytest.warns(rn.DataWarning, match="short failed in 2 of 2 .* other pairs than asked"):
        found = run({"short": EmptiesTest(), **models()})
    pd.testing.assert_frame_equal(found.per_user, run().per_user)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    ("model", "fault"),
    [
        (Dull(functools.partial(sys.exit, 3)), "SystemExit: 3"),
        (Dull(functools.partial(_raise, UnsayableError())), "UnsayableError"),
        (Dull(functools.partial(_raise, ValueError("\ud800\x1b[31m"))), r"ValueError: .ud800"),
        (Dull(functools.partial(_raise, ValueError("x" * 10_000))), "ValueError: x{300} "),
        (Dull(int, threading.Lock()), "pickle"),
    ],
    ids=["exits", "unsayable", "surrogate", "long", "lock"],
)
def test_models_fail_alone(model: Any, fault: str, n_jobs: int, tmp_path: Path) -> None:
    """However they do; what they raise is in the folder, whatever it holds."""
    with pytest.warns(rn.DataWarning, match=f"bad failed in 2 of 2 folds.*{fault}"):
        found = run(
            {"bad": model, **models()}, n_jobs=n_jobs, folder=tmp_path, fingerprint={"bad": "1"}
        )
    assert found.models == [*models()]
    assert len(list(tmp_path.glob("cells/bad/*.failed.txt"))) == 2


def test_a_model_that_diverges_fails() -> None:
    """With what to do, as of cross_validate."""

    class Diverges(AlgoBase):  # type: ignore[misc] # surprise has no types
        def estimate(self, *_: Any) -> float:
            return float("nan")

    with pytest.warns(rn.DataWarning, match="nan failed in 2 of 2 folds"):
        found = run({"nan": Diverges(), **models()}, baseline="nan")
    assert found.models == [*models()]


def test_predictions_may_come_in_any_order() -> None:
    """They are known by user and item."""

    class Reversed(BaselineOnly):  # type: ignore[misc] # surprise has no types
        def test(self, testset: Any, verbose: bool = False) -> Any:  # noqa: FBT001, FBT002
            return super().test(testset, verbose)[::-1]

    found = run({"there": BaselineOnly(), "back": Reversed()}).per_user["ndcg@5"]
    assert found["there"].tolist() == found["back"].tolist()


def test_a_model_that_learns_from_others_does_not() -> None:
    """What is given is copied, with all that it holds; objects that can be called, too."""

    class Counts(AlgoBase):  # type: ignore[misc] # surprise has no types
        def __init__(self) -> None:
            AlgoBase.__init__(self)
            self.seen: list[int] = []

        def fit(self, trainset: Any) -> Any:
            assert not self.seen
            self.seen.append(1)
            return super().fit(trainset)

        def estimate(self, user: int, item: int) -> float:
            return float((user + item) % 5)

    @dataclasses.dataclass
    class Called:
        seen: list[int] = dataclasses.field(default_factory=list)

        def __call__(self, train: pd.DataFrame) -> Any:
            assert not self.seen
            self.seen.append(1)
            return item_means(train)

    given = {"algo": Counts(), "called": Called(), "method": Called().__call__}
    assert run(given).models == [*given]


def test_a_class_without_trainset_ranks_the_catalogue() -> None:
    """Fit, test and predict are all that it needs."""

    class Own:
        def fit(self, _: Any) -> None: ...

        def predict(self, user: Any, item: Any, true: Any = None, **_: Any) -> Any:
            return Prediction(user, item, true, float(item[1:]), {"was_impossible": False})

        def test(self, testset: list[Any]) -> list[Any]:
            return [self.predict(*row) for row in testset]

    by_item = {"f": lambda _: lambda pairs: pairs["item"].str[1:].astype(float), "own": Own()}
    found = run(by_item, protocol="both", rating_scale=(0, 1000))
    for name in found.metrics:
        assert found.per_user[name, "f"].tolist() == found.per_user[name, "own"].tolist()


def _power(power: Any) -> Any:
    return lambda train, power=power: lambda pairs: item_means(train)(pairs) * power


class _Called:
    def __init__(self, power: float) -> None:
        self.power = power

    def __call__(self, train: pd.DataFrame) -> Any:
        return _power(self.power)(train)

    def method(self, train: pd.DataFrame) -> Any:
        return _power(self.power)(train)


def _positional(power: Any, train: pd.DataFrame) -> Any:
    return _power(power)(train)


def _enclosing(given: Any) -> Any:
    return lambda train: (given, item_means(train))[1]


def _typed(text: str) -> Any:
    made: dict[str, Any] = {"item_means": item_means}
    exec(f"def typed(train): return {text}", made)  # noqa: S102 - of which there is no source
    return made["typed"]


@pytest.mark.parametrize(
    ("made", "one", "other"),
    [
        (_power, 1.0, -1.0),
        (_Called, 1.0, -1.0),
        (lambda power: _Called(power).method, 1.0, -1.0),
        (lambda power: functools.partial(_positional, power), 1.0, -1.0),
        (_enclosing, np.arange(3), np.arange(3)[::-1]),
        (_enclosing, {1, 2}, {1, 3}),
        (_enclosing, pd.DataFrame({"a": [1]}), pd.DataFrame({"b": [1]})),
        (_enclosing, max, min),
        (_enclosing, float("inf"), float("-inf")),
        (_typed, "item_means(train)", "item_means(-train)"),
    ],
)
def test_what_a_function_holds_is_known(made: Any, one: Any, other: Any, tmp_path: Path) -> None:
    """Defaults, attributes and contents: results of one are not those of the other."""
    run({"f": made(one), "top": MostPopular()}, folder=tmp_path)
    run({"f": made(one), "top": MostPopular()}, folder=tmp_path, on_result=_raise)
    with pytest.raises(rn.InvalidInputError, match=r"different experiment: f: (parameters|code)"):
        run({"f": made(other), "top": MostPopular()}, folder=tmp_path)


def test_a_function_keeps_a_seed_of_its_own() -> None:
    """Unless there are several; as algorithms do."""
    seen = []

    def seeded(train: pd.DataFrame, seed: int) -> Any:
        seen.append(seed)
        return item_means(train)

    given = {"f": functools.partial(seeded, seed=42), "top": MostPopular()}
    run(given)
    run(given, seeds=[5, 6])
    assert seen == [42, 42, 5, 5, 6, 6]


def test_what_a_function_does_to_its_pairs_is_its_own() -> None:
    """They are asked for as they were."""

    def spoils(train: pd.DataFrame) -> Any:
        def predict(pairs: pd.DataFrame) -> Any:
            estimated = item_means(train)(pairs)
            pairs["item"] = "x" + pairs["item"]
            return pairs.assign(estimated=estimated)

        return predict

    with pytest.warns(rn.DataWarning, match="returns other pairs than asked for"):
        run({"spoils": spoils, **models()})


@pytest.mark.parametrize("ids", [[7, *"abcdef"], [(one,) for one in "abcdef"], [10**30, 1]])
def test_users_that_cannot_be_kept_are_refused_first(ids: list[Any], tmp_path: Path) -> None:
    """Not when the first fold is trained; without a folder they will do."""
    table = pd.DataFrame(
        [(user, f"i{item}", 1 + (item + place) % 4) for place, user in enumerate(ids)
         for item in range(8)],
        columns=["user", "item", "rating"],
    ).astype({"user": object})  # fmt: skip
    never = {"f": lambda _: pytest.fail("trained"), "top": MostPopular()}
    with pytest.raises(rn.InvalidInputError, match="Parquet has no column for these ids of users"):
        run(never, data=table, folder=tmp_path)


def test_times_may_be_dates() -> None:
    """Of a table, or as text; also where no split needs them."""
    table = ratings()
    cut = float(table["timestamp"].quantile(0.8))
    by_number = run(splits=TimeSplit(at=cut))
    times = [dt.datetime.fromtimestamp(one, dt.UTC) for one in table["timestamp"]]
    given: list[Any] = [
        times,
        np.array([one.replace(tzinfo=None) for one in times], dtype="datetime64[s]"),
        [one.isoformat() for one in times],
    ]
    at = dt.datetime.fromtimestamp(cut, dt.UTC)
    for dates in given:
        found = run(data=table.assign(timestamp=dates), splits=TimeSplit(at=at))
        pd.testing.assert_frame_equal(found.per_user, by_number.per_user)
    with pytest.raises(rn.InvalidInputError, match="timestamp: text such as 'soon'"):
        run(data=table.assign(timestamp="soon"))


def test_folds_that_are_files(tmp_path: Path) -> None:
    """As Surprise reads them."""
    rows = ratings()[["user", "item", "rating"]].sort_values("item")
    files = tmp_path / "train.csv", tmp_path / "test.csv"
    for path, some in zip(files, (rows.iloc[::2], rows.iloc[1::2]), strict=True):
        some.to_csv(path, index=False, header=False)
    reader = Reader(line_format="user item rating", sep=",", rating_scale=(0.5, 5))
    data = Dataset.load_from_folds([tuple(map(str, files))], reader)
    options: dict[str, Any] = {"data": data, "splits": PredefinedKFold(), "protocol": "both"}
    found = run(folder=tmp_path / "run", **options)
    assert found.runs["users"].unique().tolist() == [rows.iloc[1::2]["user"].nunique()]
    again = run(folder=tmp_path / "run", on_result=_raise, **options)
    pd.testing.assert_frame_equal(found.per_user, again.per_user)
    files[1].write_text(files[0].read_text())
    with pytest.raises(rn.InvalidInputError, match=r"data\.digest \("):
        run(folder=tmp_path / "run", **options)


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        ({"columns": 3}, "columns says what"),
        ({"data": ratings().assign(rating=3.0)}, "Every rating is 3, so that"),
    ],
)
def test_what_else_cannot_be(options: dict[str, Any], fault: str) -> None:
    """In one line."""
    with pytest.raises(rn.InvalidInputError, match=fault):
        run(**options)


def test_a_cutoff_of_numpy() -> None:
    """Is a number like any other."""
    assert run(metrics=["ndcg"], k=np.int64(5)).metrics == ["ndcg@5"]


class OwnError(BaseException):
    """An error that is no Exception."""


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_model_may_raise_whatever_it_likes(n_jobs: int) -> None:
    """Its folds fail, and no other."""
    with pytest.warns(rn.DataWarning, match=r"bad failed in 2 of 2 folds.*OwnError: here"):
        found = run(
            {"bad": Dull(functools.partial(_raise, OwnError("here"))), **models()}, n_jobs=n_jobs
        )
    assert found.models == [*models()]
