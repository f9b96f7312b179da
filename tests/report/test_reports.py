"""What a report says in numbers, and how sure it is of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import recsys_ndcg as rn

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
SUMMARY = [
    "mean", "ci_low", "ci_high", "pooled", "median", "users", "undefined", "chance", "adjusted",
    "tie_low", "tie_high",
]  # fmt: skip
EXPLAINED = [
    "item", "estimated", "true", "relevant", "gain", "discount", "discounted_gain", "dcg",
    "ideal_item", "ideal_gain", "ideal_dcg", "ndcg",
]  # fmt: skip
ROWS: list[tuple[Any, Any, float, float | None]] = [
    ("ann", "a", 4.0, 3), ("ann", "b", 3.0, 1), ("ann", "c", 3.0, 2),
    ("bob", "a", 2.0, 0), ("bob", "b", 1.0, 2),
    ("cy", "d", 5.0, 1), ("cy", "e", 4.0, None),
]  # fmt: skip
LOG3 = math.log2(3)


def drawn_lists(n_users: int, seed: int) -> pd.DataFrame:
    """Return lists of very different lengths."""
    draw = np.random.default_rng(seed)
    user = np.repeat(np.arange(n_users), draw.integers(1, 30, n_users))
    quality = draw.normal(0, 1, len(user))
    true = np.clip(np.round(3 + quality), 1, 5)
    estimated = quality + draw.normal(0, 1, len(user))
    return pd.DataFrame(
        {"user": user, "item": np.arange(len(user)), "estimated": estimated, "true": true}
    )


@pytest.fixture(name="report")
def _report() -> rn.Report:
    return rn.evaluate(ROWS, metrics=["ndcg", "precision", "recall", "rmse"], k=2, threshold=2)


def test_a_small_case_is_what_the_hand_computes(report: rn.Report) -> None:
    """Ann's b and c are tied, so each of their ranks gains (1 + 3) / 2."""
    ann = (7 + 2 / LOG3) / (7 + 3 / LOG3)
    bob = (3 / LOG3) / 3
    expected = pd.DataFrame(
        {
            "n_items": [3, 2, 2],
            "n_relevant": [2, 1, 0],
            "ndcg@2": [ann, bob, 1.0],
            "precision@2": [1.5 / 2, 1 / 2, 0],
            "recall@2": [1.5 / 2, 1, math.nan],
            "rmse": [math.sqrt((1 + 4 + 1) / 3), math.sqrt((4 + 1) / 2), 4.0],
        },
        index=pd.Index(["ann", "bob", "cy"], name="user"),
    )
    pd.testing.assert_frame_equal(report.per_user, expected, check_index_type=False)
    pooled = [
        (7 + 2 / LOG3 + 3 / LOG3 + 1) / (7 + 3 / LOG3 + 3 + 1), 2.5 / 6, 2.5 / 3,
        math.sqrt((1 + 4 + 1 + 4 + 1 + 16) / 6),
    ]  # fmt: skip
    assert report.pooled.tolist() == pytest.approx(pooled)
    assert report.mean.tolist() == pytest.approx(expected.mean()[report.metrics].tolist())


def test_the_summary_has_a_row_per_metric_and_the_columns_of_the_contract(
    report: rn.Report,
) -> None:
    """In this order; programs rely on it."""
    summary = report.summary
    assert summary.columns.tolist() == SUMMARY
    assert summary.index.tolist() == report.metrics == report.mean.index.tolist()
    assert summary["users"].tolist() == [3, 3, 2, 3]
    assert summary["undefined"].tolist() == [0, 0, 1, 0]
    assert summary["median"].tolist() == pytest.approx(
        report.per_user[report.metrics].median().tolist()
    )
    pd.testing.assert_series_equal(summary["mean"], report.mean, check_names=False)
    pd.testing.assert_series_equal(summary["pooled"], report.pooled, check_names=False)


def test_chance_and_adjusted_are_those_of_random_order(report: rn.Report) -> None:
    """Worked out for recall: Ann finds 4/3 of 2, Bob 1 of 1 in the top 2."""
    chance = (2 / 3 + 1) / 2
    found = report.summary.to_dict("index")["recall@2"]
    assert found["chance"] == pytest.approx(chance)
    assert found["adjusted"] == pytest.approx((found["mean"] - chance) / (1 - chance))
    errors = report.summary.to_dict("index")["rmse"]
    assert math.isnan(errors["chance"])
    assert math.isnan(errors["adjusted"])


def test_the_tie_range_runs_from_the_worst_to_the_best_order(report: rn.Report) -> None:
    """Of Ann's b and c."""
    found = report.summary.to_dict("index")["precision@2"]
    assert found["tie_low"] == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)
    assert found["tie_high"] == pytest.approx((2 / 2 + 1 / 2 + 0) / 3)


def test_counts_are_plain_whole_numbers(report: rn.Report) -> None:
    """So that JSON, a log or a person can take them."""
    expected = {
        "users": 3, "ratings": 7, "short": 0, "trivial": 0, "tied": 1, "unlabelled": 1,
        "missing": 0, "duplicates": 0, "undefined ndcg@2": 0, "undefined precision@2": 0,
        "undefined recall@2": 1, "undefined rmse": 0,
    }  # fmt: skip
    assert {name: report.counts[name] for name in expected} == expected
    assert {type(value) for value in report.counts.values()} == {int}


def test_a_user_whose_every_order_scores_the_same_is_trivial() -> None:
    """One item, equal grades, or nothing relevant at all in a binary metric."""
    lists = {"one": [(1, 3)], "equal": [(1, 2), (2, 2)], "open": [(1, 3), (2, 1)]}
    assert rn.evaluate(lists, k=2).counts["trivial"] == 2
    assert rn.evaluate(lists, metrics="ndcg@5").counts["short"] == 3


def test_a_signature_is_complete_and_tells_conventions_apart(report: rn.Report) -> None:
    """Every field of the convention, the threshold, the protocol, the users and the version."""
    parts = report.signature("NDCG@2").split("|")
    assert parts[0] == "ndcg@2"
    fields = dict(part.split(":", 1) for part in parts[1:])
    assert list(fields)[-4:] == ["threshold", "protocol", "users", "version"]
    assert fields["threshold"] == "2.0"
    assert fields["users"] == "3"
    assert report.signature("recall@2").split("|users:")[1][0] == "2"
    for changed in (
        {"gain": "linear"},
        {"ties": "input"},
        {"undefined": 0.0},
        {"recall_over": "c"},
    ):
        convention = rn.Convention().replace(
            **{key: "capped" if value == "c" else value for key, value in changed.items()}
        )
        other = rn.evaluate(ROWS, k=2, threshold=2, convention=convention)
        assert other.signature("ndcg@2").text != report.signature("ndcg@2").text
        read = not {"recall_over"} & changed.keys()
        assert (other.signature("ndcg@2") != report.signature("ndcg@2")) == read
        assert (
            fields.keys()
            == dict(p.split(":", 1) for p in other.signature("ndcg@2").split("|")[1:]).keys()
        )


def test_a_leaderboard_is_sorted_and_leaves_undefined_scores_out(report: rn.Report) -> None:
    """The best first, or the worst; and those whose every order scores the same."""
    assert report.leaderboard("ndcg@2").index.tolist() == ["cy", "ann", "bob"]
    lists = {"short": [(1, 3)], "long": [(3, 3), (2, 2), (1, 1)], "two": [(3, 3), (2, 2)]}
    board = rn.evaluate(lists).leaderboard("ndcg@10")
    assert board.index.tolist() == ["long", "two"]  # equal scores stand by z
    assert board.attrs == {"trivial": 1}
    assert report.leaderboard("NDCG@2", n=1, ascending=True).index.tolist() == ["bob"]
    assert report.leaderboard("recall@2").index.tolist() == ["ann"]
    assert report.leaderboard("rmse").index.tolist() == ["cy", "bob", "ann"]
    columns = ["rank", "items", "relevant", "score", "chance", "adjusted", "z"]
    assert report.leaderboard("ndcg@2", n=100).columns.tolist() == columns


def test_an_explanation_adds_up_to_the_score(report: rn.Report) -> None:
    """Rank by rank, to the number in the table."""
    for user in report.users:
        table = report.explain(user, 2)
        assert table.columns.tolist() == EXPLAINED
        assert table.index.tolist() == [1, 2]
        assert table["dcg"].tolist() == pytest.approx(table["discounted_gain"].cumsum().tolist())
        score = report.per_user["ndcg@2"].to_dict()[user]
        assert table["ndcg"].iloc[-1] == pytest.approx(score)
    assert report.explain("ann", None)["item"].tolist() == ["a", "b", "c"]
    assert report.explain("ann", 2)["gain"].tolist() == [7.0, 2.0]
    assert math.isnan(report.explain("cy")["true"].iloc[1])


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_the_interval_of_a_mean_is_students(level: float) -> None:
    """As SciPy computes it, over the users who have a score."""
    report = rn.evaluate(drawn_lists(60, 0), k=5, threshold=4)
    intervals = report.intervals(level)
    for name in report.metrics:
        values = report.per_user[name].dropna()
        low, high = stats.t.interval(level, len(values) - 1, values.mean(), stats.sem(values))
        found = intervals.to_dict("index")[name]
        assert [found["mean_low"], found["mean_high"]] == pytest.approx([low, high])
        if level == 0.95:
            row = report.summary.to_dict("index")[name]
            assert [row["ci_low"], row["ci_high"]] == pytest.approx([low, high])


def test_the_interval_of_a_pooled_score_is_that_of_a_bootstrap_over_users() -> None:
    """Within a twentieth of its width, on lists of very different lengths."""
    report = rn.evaluate(
        drawn_lists(3000, 1), metrics=["ndcg@5", "precision@5", "recall@5", "ap@5", "rmse"],
        threshold=4, convention=rn.Convention(short_list="n"),
    )  # fmt: skip
    draw = np.random.default_rng(2)
    stored = report.to_dict()
    for name, found in report.intervals().to_dict("index").items():
        top, bottom = (np.array(stored[part][name]) for part in ("numerator", "denominator"))
        picked = draw.integers(0, len(top), (2000, len(top)))
        ratio = top[picked].sum(axis=1) / bottom[picked].sum(axis=1)
        scores = np.sqrt(ratio) if name == "rmse" else ratio
        low, high = np.quantile(scores, [0.025, 0.975])
        ours = [found["pooled_low"], found["pooled_high"]]
        assert ours == pytest.approx([low, high], abs=(high - low) / 20)


def test_one_user_has_no_interval() -> None:
    """Neither an error, nor a width of 0."""
    report = rn.evaluate({"ann": [(2, 3), (1, 1)]})
    assert report.summary[["ci_low", "ci_high"]].isna().all(axis=None)
    assert report.intervals().isna().all(axis=None)
