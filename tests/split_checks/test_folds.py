"""Experiments and cross-validations check their splits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings

pytest.importorskip("surprise")

from surprise import BaselineOnly, Dataset, Reader

from recsys_ndcg.surprise import cross_validate

LATER = "later rows of the same user in training"


def popular(train: pd.DataFrame) -> Any:
    """Return a function that estimates pairs by the item's number of ratings."""
    counts = train.groupby("item").size()
    return lambda pairs: pairs["item"].map(counts).fillna(0)


def test_an_experiment_keeps_the_checks_of_its_folds(tmp_path: Path) -> None:
    """As check_split finds them, and in the folder."""
    ratings = sample_ratings(n_users=60)
    how: Any = {"splits": 2, "folder": tmp_path, "progress": False}
    comparison = rn.experiment(ratings, {"popular": popular}, **how)
    found = comparison.split_checks
    remark = "check_split finds warnings in 2 of 2 folds: "
    assert [one for one in comparison.remarks if one.startswith(remark) and LATER in one]
    assert found is not None
    assert found.index.names == ["seed", "fold", "check"]
    assert found.index.unique("fold").tolist() == [1, 2]
    seed = found.index[0][0]
    for fold in (1, 2):
        saved = json.loads((tmp_path / "splits" / f"seed{seed}-fold{fold}.json").read_text())[
            "report"
        ]
        table: Any = found.loc[(seed, fold)]
        assert saved["verdict"] == "warning"
        for one in saved["findings"]:
            assert table.loc[one["check"], "sentence"] == one["sentence"]
        assert table.loc[LATER, "verdict"] == "warning"
        assert table.loc["pairs in both parts", "count"] == 0


class ByTime:
    """Test the last fifth of the ratings, which are in order of time."""

    n_splits = 1

    def split(self, data: Any) -> Any:
        """Yield one split."""
        rows = data.raw_ratings
        cut = len(rows) * 4 // 5
        yield data.construct_trainset(rows[:cut]), data.construct_testset(rows[cut:])


def test_a_cross_validation_keeps_the_checks_of_its_folds() -> None:
    """In time, no row of a user is later in training; the numbers are those of check_split."""
    ratings = sample_ratings(n_users=60)
    data = Dataset.load_from_df(ratings[["user", "item", "rating"]], Reader(rating_scale=(0.5, 5)))
    data.raw_ratings = list(ratings.itertuples(index=False, name=None))
    found = cross_validate(BaselineOnly(verbose=False), data, ["rmse"], ByTime())
    cut = len(ratings) * 4 // 5
    expected = rn.check_split(ratings[:cut], ratings[cut:])
    checks: Any = found.split_checks.loc[1]
    assert checks.loc[LATER, "count"] == 0
    described = expected.checks["sentence"].drop("what this split can tell apart")  # of one fold
    assert checks["sentence"].to_dict() == described.to_dict()


@pytest.mark.parametrize("odd", [(7, "7"), (None, "x"), (float("nan"), "x")])
def test_ids_that_cannot_be_compared_stop_no_training(odd: tuple[Any, Any]) -> None:
    """Surprise takes any ids."""
    ratings = sample_ratings(n_users=30)[["user", "item", "rating"]]
    data = Dataset.load_from_df(ratings, Reader(rating_scale=(0.5, 5)))
    users = dict(zip(["u001", "u002"], odd, strict=True))
    data.raw_ratings = [(users.get(one[0], one[0]), *one[1:]) for one in data.raw_ratings]
    found = cross_validate(BaselineOnly(verbose=False), data, ["rmse"], 2)
    assert len(found["test_rmse"]) == 2
    assert found.split_checks.empty
    text = str(found.split_reports[0])
    assert "This split could not be checked." in text
    assert "ids that can be compared (testset: user: " in text


def test_training_rows_in_a_testset_are_an_error() -> None:
    """Beside the warning."""
    ratings = sample_ratings(n_users=30)[["user", "item", "rating"]]
    data = Dataset.load_from_df(ratings, Reader(rating_scale=(0.5, 5)))

    class Leaking:
        """Test the rows that are trained on."""

        n_splits = 1

        def split(self, data: Any) -> Any:
            """Yield one split."""
            yield data.build_full_trainset(), data.build_full_trainset().build_testset()[:50]

    with pytest.warns(rn.DataWarning, match="All 50 test ratings"):
        found = cross_validate(BaselineOnly(verbose=False), data, ["rmse"], Leaking())
    checks: Any = found.split_checks.loc[1]
    assert checks.index[0] == "pairs in both parts"
    assert checks.iloc[0]["verdict"] == "error"
