"""Plots of a report: the means by cutoff, and the users' scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.errors import assert_rejected
from tests.rendering.drawings import Layer, drawn, marked

pytest.importorskip("altair")
pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


def _ratings() -> pd.DataFrame:
    """Return predictions, some of them tied, of lists of one to twelve items."""
    rng = np.random.default_rng(0)
    rows = [
        (f"u{user}", f"i{item}", int(rng.integers(1, 6)), float(rng.integers(1, 30)))
        for user in range(40)
        for item in range(int(rng.integers(1, 13)))
    ]
    return pd.DataFrame(rows, columns=["user", "item", "true", "estimated"])


RATINGS = _ratings()


def _points(report: rn.Report, metric: Any = None) -> list[Layer]:
    """Return the means of each panel."""
    return marked(report.plot("k", metric), "point")


def halving(ranks: Any) -> Any:
    """Halve the weight with every rank."""
    return 0.5**ranks


CUTOFFS: list[tuple[list[str], list[int], str | None]] = [
    (["ndcg", "precision", "recall", "ap"], [1, 2, 5, 10], None),
    (["dcg", "halving", "hit"], [1, 2, 3, 4], None),
    (["ndcg", "precision"], [1, 2, 5, 10, 20, 50, 100], "catboost"),
]


@pytest.mark.parametrize(("metrics", "ks", "preset"), CUTOFFS)
def test_a_single_cutoff_is_measured_at_smaller_ones(metrics: Any, ks: Any, preset: Any) -> None:
    """By the same convention, with the numbers that evaluate gives for each of them."""
    rn.metric(name="halving")(halving)
    how = {"metrics": metrics, "threshold": 4, "convention": preset}
    panels = _points(rn.evaluate(RATINGS, k=ks[-1], **how))
    expected = rn.evaluate(RATINGS, k=ks, **how).summary
    for metric, panel in zip(metrics, panels, strict=True):
        assert [one["k"] for one in panel.rows] == ks
        for one in panel.rows:
            row = expected.loc[f"{metric}@{one['k']}", ["mean", "ci_low", "ci_high", "chance"]]
            found = [one[what] for what in ("mean", "low", "high", "chance")]
            assert found == pytest.approx([*row], rel=1e-12, nan_ok=True)


def test_several_cutoffs_of_a_report_are_plotted_as_they_are() -> None:
    """In ascending order; the metric can be named in any way."""
    report = rn.evaluate(RATINGS, metrics=["rr", "ndcg@7", "recall@5", "ndcg@3"], threshold=4)
    both = _points(report)
    assert [[one["k"] for one in panel.rows] for panel in both] == [[3, 7], [1, 2, 3, 4, 5]]
    for metric in ("ndcg", "NDCG@3", rn.NDCG(3)):
        (panel,) = _points(report, metric)
        assert panel.rows == both[0].rows
    (panel,) = _points(rn.evaluate(RATINGS, metrics="rbp(p=0.5)@2", threshold=4), "rbp(0.5)")
    assert [one["k"] for one in panel.rows] == [1, 2]


def test_a_loaded_report_has_no_smaller_cutoffs(tmp_path: Path) -> None:
    """A file has no lists; the users are the same."""
    report = rn.evaluate(RATINGS, metrics=["ndcg@10", "recall@5"], threshold=4)
    report.save(tmp_path / "r.json")
    loaded = rn.Report.load(tmp_path / "r.json")
    assert [[one["k"] for one in panel.rows] for panel in _points(loaded)] == [[10], [5]]
    for metric in report.metrics:
        assert loaded.plot("users", metric).to_dict() == report.plot("users", metric).to_dict()
    drawn(loaded.plot())


def test_undefined_means_at_smaller_cutoffs_are_left_out() -> None:
    """Even if the convention raises an error for them at the cutoff of the report."""
    rows = {"ann": [(4, 1), (3, 5)], "bob": [(4, 5), (3, 1)]}
    convention = rn.Convention(ap_over="hits", undefined="raise", ties="input")
    report = rn.evaluate(rows, metrics="ap@2", threshold=4, convention=convention)
    (panel,) = _points(report)
    assert [(one["k"], one["mean"]) for one in panel.rows] == [(1, 1.0), (2, 0.75)]


def test_users_with_a_score_are_plotted() -> None:
    """By default in the first metric; errors have no chance."""
    report = rn.evaluate(RATINGS, metrics=["recall@5", "ndcg@5", "rmse"], threshold=4)
    for some in (report, report.take(report.users[:9])):
        for metric in (None, rn.NDCG(5)):
            name = str(metric or "recall@5")
            (bars,) = marked(some.plot("users", metric), "rect")
            assert sum(one["top"] for one in bars.rows) == some.per_user[name].count()
            (means,) = marked(some.plot("users", metric), "rule")
            expected = [some.mean[name], some.audit.loc[name, "chance"]]
            assert [one["place"] for one in means.rows] == pytest.approx(expected)
    assert [len(one.rows) for one in marked(report.plot("users", "rmse"), "rule")] == [1]


def test_lists_of_a_catalogue_have_its_chance() -> None:
    """A draw of the candidates, at each cutoff."""
    labels = pd.DataFrame({"user": ["ann", "ann", "bob"], "item": [1, 2, 3], "true": [5, 4, 5]})
    results = {"ann": [1, 7, 2], "bob": [9, 3, 8]}
    lists = rn.RankedLists.from_labels(labels, results, n_items=20)
    (panel,) = _points(rn.evaluate(lists, metrics="recall@3", threshold=4))
    assert [one["chance"] for one in panel.rows] == pytest.approx([k / 20 for k in (1, 2, 3)])
    assert [one["mean"] for one in panel.rows] == pytest.approx([0.25, 0.75, 1.0])


def test_unusable_arguments_of_plot_are_rejected() -> None:
    """Kinds, metrics, and scores that no user has."""
    plot = rn.evaluate(RATINGS, metrics=["rr", "ndcg@2"], threshold=4).plot
    for odd in ("cutoff", None, ["k"]):
        assert_rejected("kind must be one of 'k', 'users', not ", plot, odd)
    no_cutoff = r"rr has no cutoff to be plotted against: evaluate .* or plot\('users'\)\."
    assert_rejected(no_cutoff, plot, "k", "rr")
    no_cutoffs = rn.evaluate(RATINGS, metrics=["rr", "auc"], threshold=4)
    assert_rejected("No metric of this report has a cutoff to be plotted against", no_cutoffs.plot)
    rows = {"ann": [(3, 1), (2, 2)], "bob": [(1, 1)]}
    undefined = rn.evaluate(rows, metrics=["recall@2", "ndcg@2"], threshold=4)
    unknown = r"This report has no metric 'recall'; it has rr, ndcg@2\."
    no_score = r"No user has a score in recall@2: there is nothing to plot\."
    for kind in ("k", "users"):
        assert_rejected(unknown, plot, kind, "recall")
        assert_rejected(no_score, undefined.plot, kind, "recall@2")
    assert len(_points(undefined)) == 1
