"""Loaded and resumed runs: the same numbers, warnings and names as in the first run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("surprise")

from surprise import BaselineOnly

import recsys_ndcg as rn
from recsys_ndcg.files import Archive
from recsys_ndcg.folds import FoldRun
from recsys_ndcg.surprise import MostPopular
from tests.commands import run as run_command
from tests.experiments.failing import Failing
from tests.experiments.made import models, ratings, run


def _warnings(**options: Any) -> list[str]:
    with pytest.warns(rn.DataWarning) as caught:
        run(**options)
    return [str(one.message) for one in caught]


def test_a_resumed_run_repeats_the_warnings(tmp_path: Path) -> None:
    """About models, and about the data of a fold."""
    same = {"same": lambda _: lambda pairs: np.ones(len(pairs)), "top": MostPopular()}
    doubled = pd.concat([ratings(), ratings().iloc[:40]])
    convention = rn.Convention(duplicates="last")
    options: dict[str, Any] = {"given": same, "data": doubled, "convention": convention}
    first = _warnings(folder=tmp_path, **options)
    assert any("are in the trainset of their split" in one for one in first)
    assert any("same estimates the same for every item" in one for one in first)
    assert _warnings(folder=tmp_path, on_result=pytest.fail, **options) == first


def test_incomplete_models_are_not_compared(tmp_path: Path) -> None:
    """Without a fold, or with none; the means of the others equal the comparison's."""
    Failing.forget()
    given = {"bad": Failing(fold=2), "none": _estimates_one, **models()}
    with pytest.warns(rn.DataWarning, match="failed in") as caught:
        found = run(given, folder=tmp_path, seeds=[7], metrics=["ndcg@5", "rmse"], splits=3)
    assert len(caught) == 2
    runs = rn.load_runs(tmp_path)
    assert [*runs.model_scores] == sorted(models())
    assert rn.compare(runs, metrics=["ndcg@5"]).models == sorted(models())
    table = runs.table.droplevel("run")
    assert table.loc[["none"], ["done", "failed"]].to_numpy().tolist() == [[0, 3]]
    assert table.loc[["none"], "ndcg@5"].isna().all()
    means = found.to_frame()["mean"].loc["ndcg@5"].to_dict()
    assert table.loc[[*means], "ndcg@5"].to_dict() == pytest.approx(means)
    assert runs.sort_by("rmse")["rmse"].dropna().is_monotonic_increasing
    assert runs.sort_by("ndcg@5")["ndcg@5"].dropna().is_monotonic_decreasing


def _estimates_one(_: pd.DataFrame) -> Any:
    return lambda pairs: pairs.iloc[:1].assign(estimated=1.0)


def test_equal_names_of_two_runs_get_a_prefix(tmp_path: Path) -> None:
    """Other names stay."""
    one, two = tmp_path / "one", tmp_path / "two"
    run({"SVD": BaselineOnly(), "top": MostPopular()}, folder=one)
    run({"SVD": BaselineOnly(), "mine": MostPopular()}, folder=two)
    found = rn.load_runs(one, two).model_scores
    assert {*found} == {f"{one}: SVD", f"{two}: SVD", "top", "mine"}


@pytest.mark.parametrize("name", ["../top/seed0-fold1.rated.json", "/etc/passwd", ""])
def test_a_path_in_a_saved_fold_is_an_error(name: str, tmp_path: Path) -> None:
    """Scores are read only from the fold's own file."""
    run(models("SVD"), folder=tmp_path)
    fold = tmp_path / "models" / "SVD" / "seed0-fold1.json"
    rated = json.loads(fold.read_text())["reports"]["rated"]
    with Archive.open(fold, "fold 5") as (stored, _):
        Archive({**stored, "reports": {"rated": rated | {"file": name}}}, {}).write(fold, "fold 5")
    with pytest.raises(rn.InvalidInputError, match="seed0-fold1"):
        rn.load_runs(tmp_path).table  # noqa: B018


def test_trackers_get_only_finite_numbers() -> None:
    """Some of them reject NaN."""
    scores = {"ndcg@5": 0.5, "rr": float("nan"), "rmse": float("inf")}
    metrics = FoldRun(test=scores, fit_time=1.0, test_time=2.0).to_metrics()
    assert metrics == {"ndcg_at_5": 0.5, "fit_seconds": 1.0, "predict_seconds": 2.0}


def test_a_folder_whose_name_is_not_utf_8_is_shown(tmp_path: Path) -> None:
    """With escapes, in the table, in remarks and on a terminal."""
    folder = tmp_path / os.fsdecode(b"odd\xff")
    with pytest.warns(rn.DataWarning, match=r"odd.udcff.*failed\.txt"):
        run({"none": _estimates_one, **models()}, folder=folder)
    runs = rn.load_runs(folder)
    names = runs.table.index.get_level_values("run")
    for shown in (*runs.remarks, *names, run_command("leaderboard", folder).stdout):
        assert "odd\\udcff" in shown
        shown.encode()
