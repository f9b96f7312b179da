"""Silent failures of other libraries (CONVENTIONS, E) do not happen here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.accuracy import METRICS
from tests.commands import run_python
from tests.errors import rejects

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
Rows = list[tuple[Any, Any, float, float]]
EVERY = ["ndcg", "dcg", "cg", "precision", "recall", "f1", "hit", "ap", "rr", "rprecision", "rbp"]


def shuffled(rows: list[Any], seed: int = 0) -> list[Any]:
    """Return rows in another order."""
    return [rows[place] for place in np.random.default_rng(seed).permutation(len(rows))]


def test_users_are_matched_by_id_and_not_by_position() -> None:
    """1: ranx pairs the users of two dicts by their order."""
    qrels = {"ann": {"x": 1, "y": 0}, "bob": {"x": 0, "y": 1}}
    run = {"bob": {"x": 0.1, "y": 0.9}, "ann": {"x": 0.9, "y": 0.1}}
    report = rn.evaluate(rn.RankedLists.from_trec(qrels, run), metrics=["ndcg@1", "precision@1"])
    assert report.mean.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("ties", ["expected", "input", "best", "worst", "item_asc", "item_desc"])
def test_tied_ranks_never_score_above_1(ties: Any) -> None:
    """5 and 6: evidently gives precision@1 = 2.0, RecTools NDCG 1.23 where items share a rank."""
    labels = pd.DataFrame({"user": 1, "item": [1, 2, 3], "true": [1, 1, 0]})
    lists = rn.RankedLists.from_labels(labels, labels[["user", "item"]].assign(rank=1))
    names = [name for name in EVERY if METRICS[name].bounded]
    report = rn.evaluate(lists, metrics=names, k=[1, 2, 50], convention=rn.Convention(ties=ties))
    assert report.mean.between(0, 1).all()


@pytest.mark.parametrize("k", [1, 2])
def test_an_item_recommended_twice_raises_or_is_merged(k: int) -> None:
    """6: recommenders reaches a recall of 1.33, RecTools an NDCG of 1.41."""
    labels = pd.DataFrame({"user": 1, "item": [1, 2], "true": [1, 0]})
    results = pd.DataFrame({"user": 1, "item": [1, 1, 1], "rank": [1, 2, 3]})
    with rejects("results: user 1 has the item 1 twice or more"):
        rn.RankedLists.from_labels(labels, results)
    for rule in ("first", "last", "max", "mean"):
        lists = rn.RankedLists.from_labels(labels, results, duplicates=rule)
        report = rn.evaluate(lists, k=k, threshold=1, convention=rn.Convention(duplicates=rule))
        assert report.mean.tolist() == [1.0, 1 / k, 1.0]
        assert report.counts["duplicates"] == 2


def test_a_cutoff_of_one_metric_does_not_cut_another() -> None:
    """7: in cornac the ranks behind NDCG's cutoff are unsorted when RR is computed."""
    lists = {"ann": [(float(-rank), float(rank == 40)) for rank in range(1, 61)]}
    names = ["ndcg@10", "rr", "ap@5", "ap"]
    together = rn.evaluate({"ann": shuffled(lists["ann"])}, metrics=names, k=None)
    assert together.mean["rr"] == pytest.approx(1 / 40)
    for name in together.metrics:
        alone = rn.evaluate(lists, metrics=[name], k=None).mean[name]
        assert together.mean[name] == pytest.approx(alone, abs=1e-15)


def test_several_cutoffs_score_as_each_alone() -> None:
    """7: a documented list of cutoffs raises in cornac; ir_measures answers by the hash seed."""
    lists = {"ann": shuffled([(float(-rank), float(rank % 4)) for rank in range(30)])}
    names = [*(name for name in EVERY if name != "rprecision"), "rprecision"]
    several = rn.evaluate(lists, metrics=names, k=[1, 7, 20], threshold=2)
    for name in several.metrics:
        assert several.mean[name] == rn.evaluate(lists, metrics=name, threshold=2).mean[name]


@pytest.mark.slow
def test_scores_do_not_depend_on_the_hash_seed() -> None:
    """ir_measures 0.4.3 answers two nDCGs in one call differently by PYTHONHASHSEED."""
    code = (
        "import recsys_ndcg as rn\n"
        "rows = [(str(i % 3), str(i), i * 7 % 10, i % 4) for i in range(30)]\n"
        "c = rn.Convention(ties='item_asc')\n"
        "print(rn.evaluate(rows, metrics=['ndcg', 'ap', 'dcg'], k=(3, 5), threshold=2, "
        "convention=c).to_dict())"
    )
    printed = {run_python("-c", code, PYTHONHASHSEED=seed).stdout for seed in ("0", "1")}
    assert len(printed) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_a_score_of_a_run_that_is_no_number_raises(value: float) -> None:
    """8: pytrec_eval ranks NaN first, CatBoost gives it 1.0."""
    with rejects("row 1 "):
        rn.RankedLists.from_trec({"t": {"x": 1}}, {"t": {"x": 1.0, "y": value}})


@pytest.mark.parametrize("name", ["ndcg", "recall", "ap", "rr", "hit", "rprecision"])
def test_a_user_with_nothing_relevant_is_undefined_and_counted(name: str) -> None:
    """10: CatBoost scores such a user 1, scikit-learn 0, and neither reports it."""
    lists = {"ann": [(2, 1), (1, 0)], "bob": [(2, 0), (1, 0)]}
    report = rn.evaluate(lists, metrics=name, k=2)
    only = report.metrics[0]
    assert report.per_user[only].isna().tolist() == [False, True]
    assert report.mean.iloc[0] == report.per_user[only].iloc[0]
    assert report.counts[f"undefined {only}"] == 1
    assert report.summary[["users", "undefined"]].to_numpy().tolist()[0] == [1, 1]
    for value in (0.0, 1.0):
        scored = rn.evaluate(lists, metrics=name, k=2, convention=rn.Convention(undefined=value))
        assert scored.per_user[only].iloc[1] == value
        assert f"undefined:{value}" in scored.signature(only)


def test_a_recommended_item_without_a_rating_gains_nothing() -> None:
    """14: joined with the test ratings, the filled-in grades of such rows are ignored."""
    test: list[Any] = [("ann", "x", 4.0, 3.0, {})]
    anti: list[Any] = [("ann", "x", 2.95, 1.0, {}), ("ann", "y", 2.95, 5.0, {})]
    lists = rn.RankedLists.from_labels(test, anti)
    report = rn.evaluate(lists, metrics=["dcg@1", "dcg@2"])
    assert report.mean.tolist() == pytest.approx([0.0, 15 / np.log2(3)])
    assert report.counts["unlabelled"] == 1


def test_a_constant_predictor_on_rows_sorted_by_rating_does_not_score_1() -> None:
    """A stable sort of equal estimates keeps the best order, if the rows came in it."""
    rows: Rows = [(1, item, 3.5, 5.0 - item) for item in range(5)]
    report = rn.evaluate(rows, metrics=["ndcg@5", "ap@2"], threshold=4)
    assert (report.mean < 0.99).all()
    assert report.summary["adjusted"].tolist() == pytest.approx([0, 0])
    other = rn.evaluate(shuffled(rows, 1), metrics=report.metrics, threshold=4)
    assert other.mean.tolist() == pytest.approx(report.mean.tolist())


def test_an_id_with_leading_zeros_stays_text(tmp_path: Path) -> None:
    """A reader that turns "0042" into 42 changes the order of ties by id, and merges users."""
    rows = "0042,9,3,1\n0042,10,3,0\n42,9,3,1\n42,10,3,0\n"
    (tmp_path / "p.csv").write_text("user,item,estimated,true\n" + rows)
    report = rn.evaluate(tmp_path / "p.csv", convention=rn.Convention(ties="item_asc"))
    assert report.users.tolist() == ["0042", "42"]
    assert report.explain("42")["item"].tolist() == [9, 10]  # numbers, so not "10" before "9"
