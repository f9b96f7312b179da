"""What is corrected together: all pairs, each model against the baseline, or all metrics."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.significance import Testing, compare_pairs
from tests.comparison.models import models
from tests.errors import assert_rejected
from tests.profiles import slow

METRICS = ["ndcg@5", "precision@3", "rmse"]
DATA = models(80, fair=2.0, good=1.6, poor=2.4, like=1.7)


def _compare(**how: Any) -> rn.Comparison:
    return rn.compare(DATA, metrics=METRICS, threshold=4, **how)


ALL = _compare()


def test_against_a_baseline_only_its_pairs_are_tested() -> None:
    """All at once: p is larger than that of one pair, and smaller than among all pairs."""
    found = _compare(family="baseline", baseline="good")
    for metric, pairs in found.pairwise.groupby("metric", sort=False):
        assert pairs[["a", "b"]].to_numpy().tolist() == [
            ["fair", "good"], ["good", "poor"], ["good", "like"],
        ]  # fmt: skip
        scores = found.per_user[metric] * (-1 if metric == "rmse" else 1)
        expected = compare_pairs(scores, [(0, 1), (1, 2), (1, 3)], Testing())
        np.testing.assert_array_equal(pairs["p_corrected"], expected.p_corrected)
        among_all = ALL.pairwise.set_index(["metric", "a", "b"]).loc[metric]["p_corrected"]
        among_all = among_all.loc[[*map(tuple, pairs[["a", "b"]].to_numpy())]]
        assert (pairs["p_corrected"].to_numpy() <= among_all.to_numpy() + 1e-3).all()
        assert (pairs["p"] <= pairs["p_corrected"]).all()
    assert found._data.tested_by == "paired t test, max-T over 3 models against good, alpha 0.05"
    assert found.leaderboard["letters"].eq("").all()  # they would be of all pairs
    heading = str(found).splitlines()[2]
    assert "corrected p" in heading
    assert not {"letters", "rank"} & {*heading.split()}


@pytest.mark.parametrize("test", ["t", *slow("bootstrap")])
def test_results_do_not_depend_on_the_order_of_the_models_nor_on_chance(test: str) -> None:
    """To the last bit; nor on the models' names, nor on the order of each model's users."""
    names = {"like": "A", "poor": "B", "fair": "C", "good": "D"}
    turned = {names[one]: DATA[one][::-1] for one in ("like", "good", "poor")}
    given: dict[str, Any] = {"metrics": METRICS[:2], "threshold": 4, "margin": 0.05, "test": test}
    found = [
        rn.compare({names[one]: DATA[one] for one in names}, **given),
        rn.compare({names[one]: DATA[one] for one in names}, **given, baseline="chance"),
        rn.compare({**turned, "C": DATA["fair"]}, **given),
    ]
    columns = ["p_corrected", "pooled_p_corrected", "p_equivalent", "probability_equivalent"]
    tables = []
    for one in found:
        pairs = one.pairwise[(one.pairwise[["a", "b"]] != "chance").all(axis=1)]
        key = pairs["metric"] + pairs[["a", "b"]].apply(sorted, axis=1).str.join("")
        tables.append(pairs.set_index(key)[columns].sort_index())
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0], other, check_exact=True)


def test_the_leaderboard_has_the_difference_from_the_baseline() -> None:
    """With its interval and p, as in the pairs; the baseline has none."""
    for found in (ALL, _compare(family="baseline", baseline="like", margin=0.1)):
        pairs = found.pairwise.set_index(["metric", "a", "b"])
        for metric, board in found.leaderboards.items():
            assert (
                board.loc[found._data.baseline, ["difference", "p_corrected", "won"]].isna().all()
            )
            for model in set(board.index) - {found._data.baseline}:
                is_first = (metric, model, found._data.baseline) in pairs.index
                key = (model, found._data.baseline) if is_first else (found._data.baseline, model)
                pair, row = pairs.loc[(metric, *key)], board.loc[model]
                sign = 1 if is_first else -1
                assert row["difference"] == sign * pair["difference"]
                ends = sorted([sign * pair["ci_low"], sign * pair["ci_high"]])
                assert row[["difference_low", "difference_high"]].tolist() == ends
                assert row["p_corrected"] == pair["p_corrected"]
                counts = [pair[one] for one in ("wins", "ties", "losses")]
                assert row[["won", "tied", "lost"]].tolist() == counts[::sign]


def test_all_metrics_can_be_one_family() -> None:
    """Every p is at least as large as in its own metric, and one draw decides for all."""
    found = _compare(family="metrics")
    assert found._data.tested_by == "paired t test, max-T over all pairs in all metrics, alpha 0.05"
    own, together = ALL.pairwise, found.pairwise
    same = ["metric", "a", "b", "difference", "p", "wins", "d_z"]
    pd.testing.assert_frame_equal(own[same], together[same])
    assert (together["p_corrected"] >= own["p_corrected"] - 0.01).all()
    assert (together["p_corrected"] > own["p_corrected"] + 0.01).any()
    scores = np.hstack([found.per_user[one] * (-1 if one == "rmse" else 1) for one in METRICS])
    pairs = [(4 * n + a, 4 * n + b) for n in range(3) for a, b in combinations(range(4), 2)]
    expected = compare_pairs(scores, pairs, Testing()).p_corrected
    np.testing.assert_array_equal(together["p_corrected"], expected)


@pytest.mark.parametrize("how", [{}, {"correction": "holm"}, {"test": "randomisation"}])
def test_chance_changes_nothing_about_other_pairs(how: dict[str, Any]) -> None:
    """It is a family of its own, and no model's rank counts it."""
    data, how = models(50, one=1.0, two=1.3, bad=5.0), {"draws": 999, **how}
    without = rn.compare(data, metrics="ndcg@5", **how)
    found = rn.compare(data, metrics="ndcg@5", baseline="chance", **how)
    pairs = found.pairwise[(found.pairwise[["a", "b"]] != "chance").all(axis=1)]
    pd.testing.assert_frame_equal(pairs.reset_index(drop=True), without.pairwise)
    columns = ["mean", "rank_low", "rank_high", "tier"]
    board = found.leaderboard.loc[without.leaderboard.index]
    pd.testing.assert_frame_equal(board[columns], without.leaderboard[columns])
    assert found.verdict.startswith(without.verdict)
    assert found.verdict.endswith("better than chance.")
    better = (found.pairwise["better"].notna() & (found.pairwise["a"] == "chance")).sum()
    assert found.leaderboard.loc["chance", "tier"] == 1 + better
    alone = rn.compare({"one": data["one"]}, metrics="ndcg@5", baseline="chance", **how)
    assert alone.verdict.startswith("one is better than chance in ndcg@5 (rated items). It is")


def test_a_metric_without_chance_has_no_verdict_on_chance() -> None:
    """Chance has no score there, and so no rank; the other models have theirs."""
    data = models(50, one=1.0, two=1.3, bad=5.0)
    without = rn.compare(data, metrics="rmse")
    found = rn.compare(data, metrics=["rmse", "ndcg@5"], baseline="chance")
    assert found.verdict == without.verdict
    board = found.leaderboard
    assert board.index[-1] == "chance"
    assert board.loc["chance", ["mean", "rank_low", "rank_high", "tier"]].isna().all()
    assert board["letters"].tolist() == [*without.leaderboard["letters"], ""]
    line = next(line for line in str(found).splitlines() if "chance" in line.split()[:2])
    assert line.split()[0] == "-"


def test_intervals_hold_for_the_family() -> None:
    """Of one pair alone, or of all metrics together."""
    data = models(60, one=1.0, two=1.3)
    for family, expected in (("pairs", "simultaneous"), ("metrics", "per pair")):
        found = rn.compare(data, metrics=METRICS, threshold=4, family=family, correction="holm")
        assert found.pairwise["interval"].eq(expected).all()
    found = rn.compare(data, metrics=METRICS, threshold=4, family="metrics")
    assert found.pairwise["interval"].eq("simultaneous").all()
    assert "simultaneous for all pairs in all metrics" in found.to_markdown(pairs=True)
    with_chance = rn.compare(data, metrics="ndcg@5", baseline="chance", correction="holm")
    pairs = with_chance.pairwise.set_index(["a", "b"])["interval"]
    assert pairs.pop(("one", "two")) == "simultaneous"  # the only pair without chance
    assert pairs.eq("per pair").all()


@pytest.mark.parametrize(
    ("how", "is_drawn"),
    [
        ({}, True),
        ({"correction": "bonferroni"}, True),
        ({"correction": "none"}, True),
        ({"correction": "holm"}, False),
        ({"correction": "bh"}, False),
        ({"test": "sign"}, False),
    ],
)
@pytest.mark.filterwarnings("ignore:test=")
def test_bars_of_differences_say_what_is_significant(
    how: dict[str, Any], *, is_drawn: bool
) -> None:
    """They are not drawn, and not described, if the interval of a pair does not."""
    found = rn.compare(DATA, metrics="ndcg@5", **how)
    chart = found.plot().to_dict()
    (bars,) = (layer["data"] for layer in chart["layer"] if layer["mark"]["type"] == "bar")
    assert bool(chart["datasets"].get(bars.get("name"))) == is_drawn
    assert ("a wide bar" in found._document().sections[0].lead) == is_drawn


@pytest.mark.parametrize(
    ("how", "most"),
    [
        ({}, 3),
        ({"baseline": "chance"}, 3),  # three pairs without it, three with it
        ({"family": "baseline"}, 2),
        ({"family": "baseline", "baseline": "chance"}, 3),
        ({"family": "metrics"}, 6),
    ],
)
def test_there_are_enough_draws_for_the_largest_family(how: dict[str, Any], most: int) -> None:
    """Bonferroni's p can be as small as (the number of pairs) / (draws + 1)."""
    data = models(30, one=1.0, two=1.3, bad=5.0)
    how |= {"metrics": ["ndcg@5", "ndcg@2"], "correction": "bonferroni", "test": "bootstrap"}
    rn.compare(data, draws=20 * most - 1, **how)
    assert_rejected(f"number of pairs: {most}", rn.compare, data, draws=20 * most - 2, **how)


def test_a_family_is_checked_and_saved(tmp_path: Path) -> None:
    """Numbers of all lists are tested by swaps, metric by metric."""
    found = _compare(family="metrics", draws=500)
    found.save(tmp_path / "c.json")
    loaded = rn.Comparison.load(tmp_path / "c.json")
    pd.testing.assert_frame_equal(loaded.pairwise, found.pairwise)
    assert_rejected("family must be one of 'pairs'.*not 'pair'", _compare, family="pair")
    labels = [(user, item, true) for user, item, _, true in DATA["good"]]
    lists = {
        name: {"labels": labels, "results": [(user, item, est) for user, item, est, _ in rows]}
        for name, rows in DATA.items()
    }
    options: dict[str, Any] = {
        "metrics": ["ndcg@2", "coverage@2"],
        "catalogue": [f"i{n}" for n in range(40)],
    }
    how: dict[str, Any] = {"test": "randomisation", "family": "metrics"}
    assert_rejected("not possible with test='randomisation'", rn.compare, lists, **options, **how)
    assert "coverage@2" in rn.compare(lists, family="metrics", **options).metrics
