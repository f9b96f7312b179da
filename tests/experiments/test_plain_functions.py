"""Experiments of plain functions, which need no Surprise."""

from __future__ import annotations

import json
from typing import Any

import pytest

from recsys_ndcg.experiments.ratings import build_dataset
from recsys_ndcg.folds import LeaveLastOut, LeaveNOut, TimeSplit, UserKFold
from tests.commands import run_python
from tests.experiments.made import digest, item_means, ratings, run

SCRIPT = """
import json, sys
folder = sys.argv[1]
import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.folds import LeaveLastOut, LeaveNOut, TimeSplit, UserKFold

def item_means(train):
    means = train.groupby("item")["rating"].mean()
    return lambda pairs: pairs["item"].map(means).fillna(0.0)

def noise(train, pairs, seed):
    import numpy as np
    return np.random.default_rng(seed).random(len(pairs))

def share_above(predictions):
    return sum(one.est >= 4 for one in predictions) / len(predictions)

table = sample_ratings(n_users=40, n_items=50)
functions = {"means": item_means, "noise": noise}
measures = ["ndcg@5", "recall@5", "rmse", "mae", "mse", "fcp", share_above]
asked = {"metrics": measures, "threshold": 4, "progress": False}
found = [
    rn.experiment(table, functions, splits=2, folder=folder, **asked),
    rn.experiment(table, functions, splits=UserKFold(3, random_state=5), n_jobs=2, **asked),
    rn.experiment(table, functions, splits=LeaveNOut(n=2, n_splits=2), seeds=[1, 2], **asked),
    rn.experiment(table, functions, splits=LeaveLastOut(n=2), **asked),
    rn.experiment(table, functions, splits=TimeSplit(), **asked),
    rn.experiment(table, {"means": item_means}, splits=2, protocol="both", **asked),
]
numbers = []
for one in found:
    runs = one.runs.drop(columns=one.runs.filter(regex="seconds|memory"))
    scores = one.per_user.map(float.hex).reset_index().to_numpy().tolist()
    numbers.append([runs.map(float).map(float.hex).reset_index().to_numpy().tolist(), scores])
assert rn.load_runs(folder).table["done"].tolist() == [2, 2]
print(json.dumps(["surprise" in sys.modules, numbers]))
"""


@pytest.mark.slow
def test_functions_need_no_surprise(tmp_path: Any) -> None:
    """Neither to split, train, measure, save nor load; and all numbers are the same without it."""
    found = {}
    for way in ("missing", "there"):
        (tmp_path / way).mkdir()
        if way == "missing":  # also for workers
            (tmp_path / way / "surprise.py").write_text("raise ImportError", encoding="utf-8")
        done = run_python("-c", SCRIPT, tmp_path / way / "run", paths=[tmp_path / way])
        found[way] = json.loads(done.stdout)
    imported, _ = found["there"]
    assert not imported
    assert found["missing"] == found["there"]


SPLITS = [
    UserKFold(3, 5), LeaveNOut(2, random_state=1), LeaveLastOut(2), TimeSplit(known_users=False),
]  # fmt: skip


@pytest.mark.parametrize("splitter", SPLITS, ids=lambda one: type(one).__name__)
def test_folds_equal_those_of_surprise(splitter: Any) -> None:
    """Rating by rating, in the same order, with the same digest."""
    pytest.importorskip("surprise")
    ours, theirs = (
        [
            (digest(train, test), test, [*train.all_ratings()], train.ur)
            for train, test in splitter.split(build_dataset(ratings(), plain=plain))
        ]
        for plain in (True, False)
    )
    assert ours == theirs


def test_a_function_has_the_same_scores_next_to_an_algorithm() -> None:
    """Surprise's trainset gives the same numbers as a plain one."""
    pytest.importorskip("surprise")
    from surprise import BaselineOnly  # noqa: PLC0415 - for this alone

    both = {"metrics": ["ndcg@5:catalogue", "fcp"]}
    plain = run({"means": item_means, "also": item_means}, **both)
    mixed = run({"means": item_means, "biases": BaselineOnly()}, **both)
    for name in both["metrics"]:
        scores = [one.runs.xs("means")[name].tolist() for one in (plain, mixed)]
        assert scores[0] == scores[1]


def test_several_measures_may_be_one_text() -> None:
    """With commas, as at the command line, each with a protocol of its own."""
    found = run({"f": item_means}, metrics="ndcg@2:catalogue, rmse,ndcg@3")
    assert found.metrics == ["ndcg@2:catalogue", "ndcg@3", "rmse"]
