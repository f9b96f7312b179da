"""For whom a model is better, against counting by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import recsys_ndcg as rn
from recsys_ndcg.significance import compare_groups
from tests.comparison.models import models
from tests.errors import assert_rejected
from tests.significance.textbook import holm, list_contrasts, mean_apart


def test_each_segment_is_the_comparison_of_its_users() -> None:
    """Means, intervals, chance, differences; p corrected by Holm for segments and models."""
    data = models(users=90)
    groups = {user: "even" if int(user[1:]) % 2 == 0 else "odd" for user, *_ in data["good"]}
    table: Any = rn.compare(data, metrics=["ndcg@3"], by=groups).segments.loc["ndcg@3"]
    assert table.index.get_level_values("segment").unique().tolist() == ["even", "odd"]
    p = []
    for name in ("even", "odd"):
        own = {model: [row for row in data[model] if groups[row[0]] == name] for model in data}
        part = rn.compare(own, metrics=["ndcg@3"], correction="none")
        scores: Any = part.per_user["ndcg@3"]
        columns = ["users", "mean", "ci_low", "ci_high", "pooled", "chance"]
        for model in data:
            row = table.loc[(name, model)]
            expected = part.leaderboard.loc[[model], columns].to_numpy()[0]
            assert row[columns].tolist() == pytest.approx(expected)
            if model != "good":
                p.append(stats.ttest_rel(scores[model], scores["good"]).pvalue)
                difference = (scores[model] - scores["good"]).mean()
                assert row["difference"] == pytest.approx(difference)
        assert np.isnan(table.loc[(name, "good"), "difference"])
    tested = table.drop("good", level="model")
    assert tested["p"].tolist() == pytest.approx(p, rel=1e-6)
    assert tested["p_corrected"].tolist() == pytest.approx(holm(p), rel=1e-6)


def test_interactions_are_differences_of_differences() -> None:
    """Of users' differences from the baseline, in all segments and models as one family."""
    data = models(users=90)
    groups = {user: "abc"[int(user[1:]) % 3] for user, *_ in data["good"] if user > "u0005"}
    found = rn.compare(data, metrics=["ndcg@3", "rmse"], by=groups)
    codes = ["abc".find(groups.get(user, "none")) for user in found.users]
    for metric, table in found.segments.groupby(level="metric"):
        scores: Any = found.per_user[metric]
        apart = scores[["fair", "poor"]].sub(scores["good"], axis=0).to_numpy()
        how: dict[str, Any] = {"one_family": True, "both_bounded": str(metric) != "rmse"}
        expected = compare_groups(apart, codes, 3, **how)
        for model, column in (("fair", 0), ("poor", 1)):
            rows = table.droplevel("metric").xs(model, level="model")
            sides = list_contrasts(3, pairwise=False)
            for code, by_hand in enumerate(rows["difference_from_others"]):
                hand = mean_apart(apart[:, column].tolist(), codes, sides[code])
                assert by_hand == pytest.approx(hand, abs=1e-12)
            assert rows["p_interaction"].tolist() == expected.p_corrected[:, column].tolist()
        baseline = table.xs("good", level="model")
        assert np.isnan(baseline[["difference_from_others", "p_interaction"]].to_numpy()).all()
    assert "p: differs from others" in str(found._document(kinds=["segments"]))


def test_a_few_users_who_do_not_change_are_no_interaction() -> None:
    """None of ten users changes, so up to 31 % of such users could gain 1."""
    items = range(20)
    labels = {user: {*items} for user in range(100)}
    gains = {user: 1 + (user % 3 > 0) for user in range(90)}
    lists = {
        name: {
            user: [*range(10 + hits.get(user, 0)), *range(30 + hits.get(user, 0), 40)]
            for user in labels
        }
        for name, hits in (("old", {}), ("new", gains))
    }
    reports = {
        name: rn.evaluate({"labels": labels, "results": one}, metrics="precision@20")
        for name, one in lists.items()
    }
    groups = {user: "few" if user >= 90 else "many" for user in labels}
    table: Any = rn.compare(reports, by=groups).segments.loc["precision@20"]
    few, many = (table.loc[name].loc["new"] for name in ("few", "many"))
    assert (few["difference"], many["difference"]) == (0, pytest.approx(1 / 12))
    assert few["p_interaction"] == many["p_interaction"] > 0.05


def test_differences_of_errors_are_in_the_metrics_units() -> None:
    """The poorer model has larger ones."""
    table = rn.compare(models(), metrics=["rmse"], by="list_length").segments.loc["rmse"]
    rows = table.xs("poor", level="model")
    assert (rows["difference"] > 0).all()
    low, high = rows["difference_low"], rows["difference_high"]
    assert rows["difference"].between(low, high, inclusive="neither").all()


def test_labels_of_saved_reports_may_be_anything(tmp_path: Path) -> None:
    """Also tuples; built-in segments need no data."""
    paths = {name: tmp_path / f"{name}.json" for name in models()}
    for name, rows in models().items():
        rn.evaluate(rows).save(paths[name])
    assert rn.compare(paths, by="activity").segments["users"].sum() == 3 * 60
    labels = {f"u{user:04}": (1, "a") if user < 30 else (2, "b") for user in range(60)}
    table = rn.compare(paths, by=labels).segments
    assert table.index.get_level_values("segment").unique().tolist() == [(1, "a"), (2, "b")]
    assert_rejected("cold", rn.compare, models(), by="cold")
