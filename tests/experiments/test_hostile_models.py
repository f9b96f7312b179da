"""Models that change their arguments, exit or raise: the other models are not affected."""

from __future__ import annotations

import dataclasses
import datetime as dt
import functools
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("surprise")

from surprise import AlgoBase, BaselineOnly, Dataset, Prediction, Reader
from surprise.model_selection import PredefinedKFold

import recsys_ndcg as rn
from recsys_ndcg.surprise import TimeSplit
from tests.errors import assert_rejected
from tests.experiments.made import JOBS, QUICK, item_means, models, ratings, run, run_once, with_top


class EmptiesTrain(BaselineOnly):  # type: ignore[misc] # surprise has no types
    """A model that changes its trainset."""

    def fit(self, trainset: Any) -> Any:
        """Delete ratings."""
        for user in list(trainset.ur):
            del trainset.ur[user][1:]
        for item in list(trainset.ir):
            trainset.ir[item] = []
        trainset.ur.pop(0)
        return super().fit(trainset)


class Elsewhere(BaselineOnly):  # type: ignore[misc] # surprise has no types
    """A model that omits the first pair and adds an unknown one."""

    def test(self, testset: list[Any], verbose: bool = False) -> list[Any]:  # noqa: FBT001, FBT002
        """Predict other pairs."""
        first, *others = super().test(testset, verbose)
        return [*others, first._replace(uid="a stranger")]


class Raising(AlgoBase):  # type: ignore[misc] # surprise has no types
    """A model that raises an error in `fit`, if the error can be copied."""

    def __init__(self, error: Any) -> None:
        AlgoBase.__init__(self)
        self.error = error

    def fit(self, _: Any) -> Any:
        """Raise it."""
        raise self.error


class OwnError(BaseException):
    """An error that is no Exception."""


class UnprintableError(Exception):
    """An error whose message fails."""

    def __str__(self) -> str:
        """Fail."""
        raise RuntimeError


def test_a_model_may_change_its_trainset() -> None:
    """Other models get the original."""
    with pytest.warns(rn.DataWarning, match="spoils estimates the same") as caught:
        found = run({"spoils": EmptiesTrain(), **models()})
    assert len(caught) == 1
    wanted = run_once().per_user
    pd.testing.assert_frame_equal(found.per_user[wanted.columns], wanted)


def test_a_model_that_predicts_other_pairs_fails() -> None:
    """The others are evaluated on all of the testset."""
    match = "bad failed in 2 of 2 .* other pairs than requested: [0-9]+ of .*[(]'u"
    with pytest.warns(rn.DataWarning, match=match):
        found = run({"bad": Elsewhere(), **models()})
    pd.testing.assert_frame_equal(found.per_user, run_once().per_user)


@pytest.mark.parametrize("n_jobs", JOBS)
@pytest.mark.parametrize(
    ("error", "fault"),
    [
        (SystemExit(3), "SystemExit: 3"), (UnprintableError(), "UnprintableError"),
        (ValueError("\ud800\x1b[31m"), r"ValueError: .ud800"), (OwnError("here"), "OwnError: here"),
        (ValueError("x" * 10_000), "ValueError: x{300} "), (threading.Lock(), "pickle"),
    ],
    ids=range(6),
)  # fmt: skip
def test_one_failing_model_does_not_stop_the_others(
    error: Any, fault: str, n_jobs: int, tmp_path: Path
) -> None:
    """However it fails; its error is saved in the folder."""
    how: dict[str, Any] = {"n_jobs": n_jobs, "folder": tmp_path, "fingerprint": {"bad": "1"}}
    with pytest.warns(rn.DataWarning, match=f"bad failed in 2 of 2 folds.*{fault}"):
        found = run({"bad": Raising(error), **models()}, **how, **QUICK)
    assert found.models == [*models()]
    assert len(list(tmp_path.glob("models/bad/*.failed.txt"))) == 2


def test_a_model_that_estimates_nan_fails() -> None:
    """As in cross_validate."""

    class Diverges(AlgoBase):  # type: ignore[misc] # surprise has no types
        def estimate(self, *_: Any) -> float:
            return float("nan")

    with pytest.warns(rn.DataWarning, match="nan failed in 2 of 2 folds"):
        found = run({"nan": Diverges(), **models()}, baseline="nan", **QUICK)
    assert found.models == [*models()]


def test_predictions_may_come_in_any_order() -> None:
    """They are matched by user and item."""

    class Reversed(BaselineOnly):  # type: ignore[misc] # surprise has no types
        def test(self, testset: Any, verbose: bool = False) -> Any:  # noqa: FBT001, FBT002
            return super().test(testset, verbose)[::-1]

    found = run({"there": BaselineOnly(), "back": Reversed()}).per_user["ndcg@5"]
    assert found["there"].tolist() == found["back"].tolist()


class Counts(BaselineOnly):  # type: ignore[misc] # surprise has no types
    """A model that can be trained once."""

    seen: tuple[int, ...] = ()

    def fit(self, trainset: Any) -> Any:
        """Count."""
        assert not self.seen
        self.seen = (1,)
        return super().fit(trainset)


@dataclasses.dataclass
class Called:
    """A function that can be trained once."""

    seen: list[int] = dataclasses.field(default_factory=list)

    def __call__(self, train: pd.DataFrame) -> Any:
        """Count."""
        assert not self.seen
        self.seen.append(1)
        return item_means(train)


def test_every_fold_trains_a_copy_of_the_model() -> None:
    """A deep copy; of callable objects, too."""
    given = {"algo": Counts(), "called": Called(), "method": Called().__call__}
    assert run(given, **QUICK).models == [*given]


def test_a_class_without_trainset_ranks_the_catalogue() -> None:
    """It needs only fit, test and predict."""

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


def test_a_function_keeps_a_seed_of_its_own() -> None:
    """Unless there are several seeds; as algorithms do."""
    seen = []

    def seeded(train: pd.DataFrame, seed: int) -> Any:
        seen.append(seed)
        return item_means(train)

    given = with_top(functools.partial(seeded, seed=42))
    run(given, **QUICK)
    run(given, seeds=[5, 6], **QUICK)
    assert seen == [42, 42, 5, 5, 6, 6]


@pytest.mark.parametrize("ids", [[(one,) for one in "abcdef"], [b"a", b"b"]])
def test_users_that_json_cannot_hold_are_an_error(ids: list[Any], tmp_path: Path) -> None:
    """Before anything is trained; without a folder there is no error."""
    table = pd.DataFrame(
        [(user, f"i{item}", 1 + (item + place) % 4) for place, user in enumerate(ids)
         for item in range(8)],
        columns=["user", "item", "rating"],
    ).astype({"user": object})  # fmt: skip
    never = with_top(pytest.fail)
    with pytest.raises(rn.InvalidInputError, match=r"The user id .* cannot be saved"):
        run(never, data=table, folder=tmp_path)


def test_times_may_be_dates() -> None:
    """In a table or as text."""
    table = ratings()
    cut = float(table["timestamp"].quantile(0.8))
    by_number = run(models("top"), splits=TimeSplit(at=cut))
    times = [dt.datetime.fromtimestamp(one, dt.UTC) for one in table["timestamp"]]
    given: list[Any] = [
        times,
        np.array([one.replace(tzinfo=None) for one in times], dtype="datetime64[s]"),
        [one.isoformat() for one in times],
    ]
    at = dt.datetime.fromtimestamp(cut, dt.UTC)
    for dates in given:
        found = run(models("top"), data=table.assign(timestamp=dates), splits=TimeSplit(at=at))
        pd.testing.assert_frame_equal(found.per_user, by_number.per_user)
    assert_rejected("timestamp: text such as 'soon'", run, data=table.assign(timestamp="soon"))


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
    again = run(folder=tmp_path / "run", on_result=pytest.fail, **options)
    pd.testing.assert_frame_equal(found.per_user, again.per_user)
    files[1].write_text(files[0].read_text())
    assert_rejected("ratings_digest: ", run, folder=tmp_path / "run", **options)
