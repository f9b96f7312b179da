"""Parts by stratum of items add up, and the order of models is known over a range of gamma."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.report.label_weights import _replace_weights
from tests.errors import rejects

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
METRICS = ["ndcg@2", "dcg@2", "recall@2", "precision@2", "rprecision", "cg@3", "rbp@3"]
HOW: Any = {"metrics": METRICS, "threshold": 3}
TRAIN = [(user, item) for item in range(6) for user in range((0, 1, 2, 4, 7, 30)[item])]


def draw_rows(seed: int, n_users: int = 30) -> pd.DataFrame:
    """Return predictions with ties, of five of eight items each."""
    rng = np.random.default_rng(seed)
    rows = [(user, item) for user in range(n_users) for item in rng.permutation(8)[:5]]
    table = pd.DataFrame(rows, columns=["user", "item"])
    return table.assign(true=rng.integers(0, 5, len(rows)), estimated=rng.integers(0, 4, len(rows)))


@given(
    st.integers(0, 99), st.booleans(), st.dictionaries(st.integers(0, 7), st.sampled_from("abc"))
)
def test_parts_of_all_strata_add_up_to_the_mean(
    seed: int,
    is_weighted: bool,  # noqa: FBT001 - drawn
    strata: dict[int, str],
) -> None:
    """By popularity, and by any mapping, also of weighted labels."""
    table = draw_rows(seed)
    rows = table.assign(weight=1.0 + table["item"]) if is_weighted else table
    report = rn.evaluate(rows, train=TRAIN, **HOW)
    for parts in [report.by_items()] + ([report.by_items(strata)] if strata else []):
        total = parts.groupby(level="metric", sort=False)["part"].sum()
        assert total.to_dict() == pytest.approx(report.mean.to_dict(), rel=1e-12, abs=1e-12)
        n_labels = parts["labels"].groupby(level="metric").sum()
        assert n_labels["ndcg@2"] == len(rows)
        assert n_labels["recall@2"] == report.per_user["n_relevant"].sum()
        assert (parts["part"][parts["labels"] == 0] == 0).all()
        share = parts.groupby(level="metric")["share"].sum()
        assert share.to_numpy() == pytest.approx(1)


def test_a_part_is_the_sum_over_the_labels_of_its_items() -> None:
    """Recall and precision in plain Python, and the intervals of a mean over users."""
    table = draw_rows(3).assign(estimated=lambda rows: rows["estimated"] + rows["item"] / 10)
    parts = rn.evaluate(table, train=TRAIN, **HOW).by_items()
    count = Counter(item for _, item in TRAIN)
    names = {0: "0 (unknown)", 1: "1", 2: "2–4", 4: "2–4", 7: "5–9", 30: "20–49"}
    recalls: dict[str, list[float]] = {name: [] for name in names.values()}
    alone: dict[str, list[float]] = {name: [] for name in names.values()}
    for _, rows in table.groupby("user"):
        liked = [*rows.loc[rows["true"] >= 3, "item"]]
        top = {*rows.nlargest(2, "estimated")["item"]}
        for name in recalls:
            inside = [item for item in liked if names[count[item]] == name]
            hits = len([item for item in inside if item in top])
            recalls[name] += [hits / len(liked)] if liked else []
            alone[name] += [hits / len(inside)] if inside else []
    for name, shares in recalls.items():
        found: Any = parts.loc[("recall@2", name)]
        values = np.array(shares)
        assert found["part"] == pytest.approx(values.mean())
        assert found["ci_low"] <= values.mean() <= found["ci_high"]
        assert found["score"] == pytest.approx(np.mean(alone[name]))
        assert found["users"] == len(alone[name])
        assert found["items"] == sum(names[count[item]] == name for item in range(8))


def test_strata_that_cannot_be_found_are_rejected(tmp_path: Path) -> None:
    """With what to give."""
    report = rn.evaluate(draw_rows(0), **HOW)
    with rejects("Popularity is the number of training rows: pass train="):
        report.by_items()
    with rejects("None of the 8 evaluated items has a group: the strata have items 99, the report"):
        report.by_items({99: 1})
    with rejects("strata: the item 1 is there twice"):
        report.by_items(pd.Series(["a", "b"], index=[1, 1]))
    with rejects("Strata of items are 'popularity', or a mapping"):
        report.by_items("genre")
    with rejects("not sums over labels"):
        rn.evaluate(draw_rows(0), metrics=["rr", "rmse"], threshold=3).by_items(train=TRAIN)
    with rejects("need to know the items"):
        rn.evaluate({"ann": [(1, 2)]}, **HOW).by_items(train=TRAIN)
    with rejects("mapping, Series or table of items to strata, not {}"):
        report.by_items({})
    with rejects("7 items have no stratum, and would be in 'other', which is the name of one"):
        report.by_items({1: "other"})
    with rejects("strata: a label is not hashable .*. Use text or numbers"):
        report.by_items({1: ["a"]})
    items = pd.Series([*range(8), None], dtype=object)  # as after a merge
    halves = report.by_items(pd.DataFrame({"item": items, "half": [*"aaaabbbb", "c"]}))
    assert halves.index.unique(-1).tolist() == ["a", "b"]
    with rejects("a Series whose index has row numbers, no items"):
        report.by_items(pd.Series(["a", "b"]))
    for choice in (rn.Convention(ties="best"), rn.Convention(undefined=1.0)):
        with rejects("parts of recall@2 do not add up"):
            rn.evaluate(
                draw_rows(0), metrics=["recall@2"], threshold=3, convention=choice
            ).by_items({1: 1})
    with rejects("ideal='max' has no weighted form"):
        rn.evaluate(
            draw_rows(0), metrics=["ndcg@2"], convention=rn.Convention(ideal="max", max_grade=5)
        ).by_items({1: 1})
    report.save(tmp_path / "saved.json")
    with rejects("This report has no lists"):
        rn.Report.load(tmp_path / "saved.json").by_items(train=TRAIN)


def test_strata_keep_their_order() -> None:
    """Of ordered categories; items without a stratum come last, and numbers stay whole."""
    report = rn.evaluate(draw_rows(0), **HOW)
    ages = pd.Categorical(["low", "high", "low"], ["low", "high"], ordered=True)
    parts = report.by_items(pd.Series(ages, pd.Index([1, 2, 3], name="item")))
    assert [*parts.loc["recall@2"].index] == ["low", "high", "other"]
    assert [*report.by_items({1: 10, 2: 9}).loc["recall@2"].index] == [9, 10, "other"]
    table = pd.DataFrame({"item": [1, 2, 3], "age": ages})
    pd.testing.assert_frame_equal(report.by_items(table), parts)


def compare_labels() -> pd.DataFrame:
    """Return three relevant items of each user."""
    return draw_rows(1).assign(true=1).groupby("user").head(3)[["user", "item", "true"]]


def compare_results() -> dict[str, pd.DataFrame]:
    """Return lists of a model that ranks popular items first, and of one that does not."""
    table = draw_rows(1)[["user", "item"]]
    scores = {"popular": table["item"] * 1.0, "rare": -table["item"] * 1.0}
    return {name: table.assign(estimated=one) for name, one in scores.items()}


def compare_popular_and_rare(metric: str = "ndcg@2") -> tuple[Any, Any]:
    """Return the reports of both models."""
    how: Any = {"metrics": [metric], "weights": rn.propensity(TRAIN, gamma=0)}
    popular, rare = (
        rn.evaluate({"labels": compare_labels(), "results": one}, **how)
        for one in compare_results().values()
    )
    return popular, rare


@pytest.mark.parametrize("metric", ["ndcg@2", "recall@2", "dcg@3", "precision@1"])
def test_models_have_equal_means_where_they_change_places(metric: str) -> None:
    """By evaluating again with that gamma, and on both sides of it."""
    popular, rare = compare_popular_and_rare(metric)
    found = popular.sensitivity("gamma", {"rare": rare}, metric, ends=(-1, 6))
    assert found.means.loc[0.0].to_dict() == pytest.approx(
        {"this report": popular.mean[metric], "rare": rare.mean[metric]}, rel=1e-12
    )
    gap = found.means["this report"] - found.means["rare"]
    n_changes = int((np.sign(gap).diff().dropna() != 0).sum())
    assert len(found.swaps) == n_changes
    for swap in found.swaps.itertuples():
        at = rn.propensity(TRAIN, gamma=swap.gamma)
        again = [
            rn.evaluate(
                _replace_weights(report._data.audit.lists, *weights_of(report, at)), metrics=metric
            )
            for report in (popular, rare)
        ]
        assert again[0].mean[metric] == pytest.approx(again[1].mean[metric], rel=1e-9)
        assert (gap[gap.index < swap.gamma].iloc[-1] > 0) == (swap.below == "this report")
    low, high = found.holds
    assert low <= 0 <= high
    assert f"holds for gamma from {low:.3g} to {high:.3g}" in str(found)


def weights_of(report: rn.Report, propensity: Any) -> list[Any]:
    """Return the weights of the rows and of the unlisted labels of a report."""
    lists = report._data.audit.lists
    assert lists is not None
    ids, weight = np.asarray(lists.item_ids), propensity.weights
    by_item = np.array([weight.get(item, weight.max()) for item in ids])
    return [by_item[part["item"]] for part in (lists.columns, lists.unlisted)]


def test_sensitivity_of_other_things_is_rejected() -> None:
    """Of other parameters, of metrics that are no sums, of columns of weights."""
    popular, rare = compare_popular_and_rare()
    with rejects("parameter must be one of 'gamma', not 'beta'"):
        popular.sensitivity("beta")
    for ends in ((1, 1), (-2, 1), (0,), (0, "1"), (-1, 1000), None):
        with rejects("ends of gamma must be two numbers"):
            popular.sensitivity("gamma", {"rare": rare}, ends=ends)
    report = rn.evaluate(draw_rows(0).assign(weight=1), metrics=["ndcg@2"])
    with rejects("have a column 'weight', which has no gamma"):
        report.sensitivity("gamma", train=TRAIN)
    with rejects("rr: not sums over labels"):
        rn.evaluate(draw_rows(0), metrics=["rr"], threshold=3).sensitivity(train=TRAIN)
    other = rn.evaluate(draw_rows(0), metrics=["rr"], threshold=3)
    with rejects("The report 'x' has no metric 'ndcg@2'"):
        popular.sensitivity("gamma", {"x": other})
    with rejects("labels of 0 differ between the reports, and those of 29 more of 30"):
        popular.sensitivity("gamma", {"x": rn.evaluate(draw_rows(0), metrics=["ndcg@2"])})
    for others in ({"this report": rare}, rare, [rare]):
        with rejects("others must be .*the name 'this report' is taken"):
            popular.sensitivity("gamma", others)
    labels, results = {0: [1, 2], 1: [2]}, {0: [1, 3], 1: [2]}
    linear, exponential = (
        rn.evaluate(
            {"labels": labels, "results": results},
            metrics=["ndcg@2"],
            convention=rn.Convention(gain=name),
        )
        for name in ("linear", "exponential")
    )
    with rejects("'x' has another convention or threshold of ndcg@2"):
        linear.sensitivity("gamma", {"x": exponential}, train=TRAIN)


def test_sensitivity_counts_users_of_all_reports() -> None:
    """Of one model alone it says the ends; a gamma outside the range is at its end."""
    popular, rare = compare_popular_and_rare()
    both = popular.sensitivity("gamma", {"rare": rare})
    labels, results = compare_labels(), compare_results()["rare"]
    few = rn.evaluate(
        {"labels": labels[labels["user"] < 9], "results": results[results["user"] < 9]},
        metrics=["ndcg@2"],
        weights=rn.propensity(TRAIN, gamma=0),
    )
    some = popular.sensitivity("gamma", {"rare": few})
    users = popular.per_user.index[:9]
    assert some.means.loc[0.0, "this report"] == pytest.approx(
        popular.per_user.loc[users, "ndcg@2"].mean()
    )
    assert some.means.loc[0.0, "rare"] == pytest.approx(few.mean["ndcg@2"])
    assert str(popular.sensitivity()).startswith("ndcg@2 is 0.")
    assert both.holds[0] <= 0 <= both.holds[1]
    for weights in (None, rn.propensity(TRAIN, gamma=2)):  # which are varied
        again = rn.evaluate(
            {"labels": compare_labels(), "results": compare_results()["rare"]},
            metrics=["ndcg@2"],
            weights=weights,
        )
        found = popular.sensitivity("gamma", {"rare": again}, train=TRAIN)
        pd.testing.assert_frame_equal(found.means, both.means)
    outside = popular.sensitivity("gamma", {"rare": rare}, ends=(1, 5))
    assert outside.holds[0] == 1
