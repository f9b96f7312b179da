"""Plots of a report show what evaluating at each cutoff gives, and what each user scored."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.errors import rejects
from tests.rendering.drawings import Layer, drawn, layers, marked

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("altair")
pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


def ratings(users: int = 40) -> pd.DataFrame:
    """Return predictions, some of them tied, of lists of one to twelve items."""
    rng = np.random.default_rng(0)
    rows = [
        (f"u{user}", f"i{item}", int(rng.integers(1, 6)), float(rng.integers(1, 30)))
        for user in range(users)
        for item in range(int(rng.integers(1, 13)))
    ]
    return pd.DataFrame(rows, columns=["user", "item", "true", "estimated"])


def points(report: rn.Report, metric: str | None = None) -> list[Layer]:
    """Return the means of each panel."""
    return marked(report.plot("k", metric), "point")


@pytest.mark.parametrize(
    ("metrics", "k", "ks"),
    [
        (["ndcg", "precision", "recall", "ap"], 10, [1, 2, 5, 10]),
        (["dcg"], 4, [1, 2, 3, 4]),
        (["ndcg"], 1, [1]),
        (["ndcg", "hit"], 100, [1, 2, 5, 10, 20, 50, 100]),
    ],
)
def test_one_cutoff_is_measured_at_smaller_ones(metrics: list[str], k: int, ks: list[int]) -> None:
    """With the numbers that evaluating at each of them gives."""
    report = rn.evaluate(ratings(), metrics=metrics, k=k, threshold=4)
    whole = rn.evaluate(ratings(), metrics=metrics, k=ks, threshold=4)
    found = points(report)
    assert len(found) == len(metrics)
    for metric, panel in zip(metrics, found, strict=True):
        assert [one["k"] for one in panel.rows] == ks
        for one in panel.rows:
            name = f"{metric}@{one['k']}"
            expected = whole.summary.loc[[name], ["mean", "ci_low", "ci_high", "chance"]]
            got = [one[what] for what in ("mean", "low", "high", "chance")]
            assert got == pytest.approx(expected.to_numpy()[0], rel=1e-12)


@pytest.mark.parametrize(
    "choices",
    [
        {"convention": "catboost", "metrics": ["ndcg", "precision"]},
        {"convention": rn.Convention(short_list="drop"), "metrics": ["ndcg", "precision"]},
        {"convention": rn.Convention(ap_over="hits", ties="item_asc"), "metrics": ["ap"]},
    ],
)
def test_smaller_cutoffs_are_measured_by_the_same_choices(choices: dict[str, Any]) -> None:
    """Of each metric its own."""
    data = ratings()
    report = rn.evaluate(data, k=5, threshold=4, **choices)
    for metric, panel in zip(choices["metrics"], points(report), strict=True):
        for one in panel.rows:
            alone = rn.evaluate(data, threshold=4, **choices | {"metrics": f"{metric}@{one['k']}"})
            assert one["mean"] == pytest.approx(alone.mean.iloc[0], rel=1e-12)


def test_the_cutoffs_of_the_report_are_those_of_the_plot() -> None:
    """Where there are several; in any order, of any way to say which metric is meant."""
    report = rn.evaluate(ratings(), metrics=["rr", "ndcg@7", "recall@5", "ndcg@3"], threshold=4)
    both = points(report)
    assert [[one["k"] for one in panel.rows] for panel in both] == [[3, 7], [1, 2, 3, 4, 5]]
    for metric in ("ndcg", "ndcg@7", "NDCG", "NDCG@3"):
        (panel,) = points(report, metric)
        assert panel.rows == both[0].rows
    (panel,) = marked(report.plot("k", rn.NDCG(3)), "point")
    assert panel.rows == both[0].rows
    (panel,) = points(rn.evaluate(ratings(), metrics="rbp(p=0.5)@2", threshold=4), "rbp(0.5)")
    assert [one["k"] for one in panel.rows] == [1, 2]


def test_a_report_from_a_file_has_the_cutoffs_that_it_has(tmp_path: Path) -> None:
    """No lists, no others; the rest is the same."""
    report = rn.evaluate(ratings(), metrics=["ndcg@10", "recall@5"], threshold=4)
    report.save(tmp_path / "r.json")
    loaded = rn.Report.load(tmp_path / "r.json")
    assert [[one["k"] for one in panel.rows] for panel in points(loaded)] == [[10], [5]]
    for metric in report.metrics:
        assert loaded.plot("users", metric).to_dict() == report.plot("users", metric).to_dict()
    drawn(loaded.plot())


def test_a_metric_of_somebodys_own_has_plots() -> None:
    """At smaller cutoffs, too."""

    @rn.metric(name="halving")
    def halving(ranks: Any) -> Any:
        return 0.5**ranks

    report = rn.evaluate(ratings(), metrics="halving@5", threshold=4)
    (panel,) = points(report)
    for one in panel.rows:
        alone = rn.evaluate(ratings(), metrics=f"halving@{one['k']}", threshold=4)
        assert one["mean"] == alone.mean.iloc[0]
        assert one["chance"] == pytest.approx(alone.audit["chance"].iloc[0])


def test_what_is_undefined_at_a_smaller_cutoff_is_left_out() -> None:
    """Also where it must not be undefined at that of the report."""
    rows = {"ann": [(4, 1), (3, 5)], "bob": [(4, 5), (3, 1)]}
    convention = rn.Convention(ap_over="hits", undefined="raise", ties="input")
    report = rn.evaluate(rows, metrics="ap@2", threshold=4, convention=convention)
    (panel,) = points(report)
    assert [(one["k"], one["mean"]) for one in panel.rows] == [(1, 1.0), (2, 0.75)]


def test_users_are_those_with_a_score() -> None:
    """By default of the first metric; a part of a report is plotted as the whole is."""
    report = rn.evaluate(ratings(), metrics=["recall@5", "ndcg@5"], threshold=4)
    for some in (report, report.take(report.users[:9])):
        for metric in (None, "ndcg@5", rn.NDCG(5)):
            name = str(metric or "recall@5")
            (bars,) = marked(some.plot("users", metric), "rect")
            assert sum(one["top"] for one in bars.rows) == some.per_user[name].count()
            (means,) = marked(some.plot("users", metric), "rule")
            expected = [some.mean[name], some.audit.loc[name, "chance"]]
            assert [one["place"] for one in means.rows] == pytest.approx(expected)


def test_a_metric_without_chance_is_plotted_alone() -> None:
    """An error has no order."""
    report = rn.evaluate(ratings(), metrics=["rmse", "ndcg@2"])
    assert [len(one.rows) for one in marked(report.plot("users"), "rule")] == [1]
    assert len(points(report)) == 1


def test_lists_from_a_catalogue_have_its_chance() -> None:
    """A draw of the candidates, at each cutoff."""
    labels = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": [1, 2, 3], "true": [5, 4, 5]})
    results = pd.DataFrame(
        {"user": ["ann"] * 3 + ["bob"] * 3, "item": [1, 7, 2, 9, 3, 8], "rank": [1, 2, 3] * 2}
    )
    lists = rn.RankedLists.from_labels(labels, results, n_items=20)
    (panel,) = points(rn.evaluate(lists, metrics="recall@3", threshold=4))
    assert [one["k"] for one in panel.rows] == [1, 2, 3]
    assert [one["chance"] for one in panel.rows] == pytest.approx([k / 20 for k in (1, 2, 3)])
    assert [one["mean"] for one in panel.rows] == pytest.approx([0.25, 0.75, 1.0])


def test_a_plot_changes_nothing_and_comes_out_the_same() -> None:
    """Whatever was plotted before, and in whatever order the rows came."""
    report, data = rn.evaluate(ratings(), threshold=4), ratings()
    charts = [report.plot(), report.plot("users")]
    turned = rn.evaluate(data[::-1].sort_values("user", kind="stable"), threshold=4)
    assert report == rn.evaluate(data, threshold=4)
    for kind, chart in zip(("k", "users"), charts, strict=True):
        assert report.plot(kind).to_json() == chart.to_json()
        assert len(layers(turned.plot(kind))) == len(layers(chart))


@pytest.mark.parametrize("kind", ["cutoff", "", None, 3, ["k"]])
def test_a_kind_that_is_none_is_refused(kind: Any) -> None:
    """With those that there are."""
    with rejects("kind must be one of 'k', 'users', not "):
        rn.evaluate(ratings()).plot(kind)


def test_a_metric_that_cannot_be_plotted_is_refused() -> None:
    """One that the report has not, or that has no cutoff."""
    report = rn.evaluate(ratings(), metrics=["rr", "ndcg@2"], threshold=4)
    for kind in ("k", "users"):
        with rejects(r"This report has no metric 'recall'; it has rr, ndcg@2\."):
            report.plot(kind, "recall")
    with rejects(r"rr has no cutoff to be plotted against: evaluate .* or plot\('users'\)\."):
        report.plot("k", "rr")
    with rejects("No metric of this report has a cutoff to be plotted against"):
        rn.evaluate(ratings(), metrics=["rr", "auc"], threshold=4).plot()


def test_scores_that_nobody_has_are_refused() -> None:
    """And no plot of another metric is given in their place; beside another, they are left out."""
    rows = {"ann": [(3, 1), (2, 2)], "bob": [(1, 1)]}
    report = rn.evaluate(rows, metrics=["recall@2", "ndcg@2"], threshold=4)
    assert math.isnan(report.mean["recall@2"])
    for kind in ("k", "users"):
        with rejects(r"Nobody has a score in recall@2: there is nothing to plot\."):
            report.plot(kind, "recall@2")
    assert len(points(report)) == 1
