"""A label's weight multiplies its gain and its relevance, in every order of the ties."""

from __future__ import annotations

from itertools import pairwise, permutations
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.commands import json_of
from tests.drawn_reports import have_same_labels
from tests.errors import rejects

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")  # of small, tied lists
THRESHOLD = 4
METRICS = ["ndcg@3", "dcg@3", "cg@3", "recall@3", "precision@3", "rprecision", "rbp(p=0.5)@3"]
HOW: Any = {"metrics": [*METRICS, "rmse", "mae", "mse"], "threshold": THRESHOLD}
WEIGHTS = st.sampled_from([0.0, 0.25, 1.0, 1.0, 3.5, 1e6])
ROW = st.tuples(st.integers(0, 2), st.integers(1, 5), WEIGHTS)
TRAIN = [(user, item) for item in range(6) for user in range(2 ** (6 - item) - 1)]

Row = Any  # estimated, true, weight


def gain(true: float) -> float:
    """Return the exponential gain."""
    return 2**true - 1


def score(metric: str, ranked: list[Row], labels: list[Row]) -> float:
    """Return a user's score for one order of the list, by the formulas."""
    liked = [weight * (true >= THRESHOLD) for _, true, weight in ranked]
    weights = [weight for _, true, weight in labels if true >= THRESHOLD]
    gains = [weight * gain(true) for _, true, weight in ranked]
    ideal = sorted((weight * gain(true) for _, true, weight in labels), reverse=True)
    n_relevant = sum(true >= THRESHOLD for _, true, _ in labels)

    def discounted(values: list[float]) -> float:
        return sum(value / log2(rank + 2) for rank, value in enumerate(values[:3]))

    patience = sum(value * 0.5**rank for rank, value in enumerate(liked[:3]))
    parts = {
        "ndcg@3": (discounted(gains), discounted(ideal)),
        "dcg@3": (discounted(gains), 1),
        "cg@3": (sum(gains[:3]), 1),
        "recall@3": (sum(liked[:3]), sum(weights)),
        "precision@3": (sum(liked[:3]), 3),
        "rprecision": (sum(liked[:n_relevant]), sum(weights)),
        "rbp(p=0.5)@3": (0.5 * patience, 1),
    }
    numerator, denominator = parts[metric]
    return numerator / denominator if denominator else np.nan


def mean_over_orders(metric: str, rows: list[Row], unlisted: list[Row], *, tied: bool) -> float:
    """Return the mean score over all orders of the ties, or of the whole list."""
    orders = [
        order
        for order in permutations(rows)
        if tied or all(a[0] >= b[0] for a, b in pairwise(order))
    ]
    return float(np.mean([score(metric, [*order], [*rows, *unlisted]) for order in orders]))


@given(st.lists(st.lists(ROW, min_size=1, max_size=4), min_size=1, max_size=3), st.data())
def test_scores_equal_the_formulas_over_all_orders_of_ties(
    users: list[list[Any]], data: st.DataObject
) -> None:
    """With labels in no list, and chance over all orders of the list."""
    extra = [data.draw(st.lists(ROW, max_size=2)) for _ in users]
    table = pd.DataFrame(
        [
            (user, item, estimated, float(true), weight, item < len(users[user]))
            for user in range(len(users))
            for item, (estimated, true, weight) in enumerate([*users[user], *extra[user]])
        ],
        columns=["user", "item", "estimated", "true", "weight", "listed"],
    )
    labels, results = table.drop(columns=["estimated", "listed"]), table[table["listed"]]
    lists = {"labels": labels, "results": results[["user", "item", "estimated"]]}
    report = rn.evaluate(lists, metrics=METRICS, threshold=THRESHOLD)
    for metric in METRICS:
        audit = report.per_user_audit(metric)
        for user, (rows, more) in enumerate(zip(users, extra, strict=True)):
            for column, tied in (("score", False), ("chance", True)):
                expected = mean_over_orders(metric, rows, more, tied=tied)
                found = audit.loc[user, column]
                assert found == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def test_best_and_worst_orders_sort_by_weighted_gain() -> None:
    """A tie of a light and a heavy relevant item has a range."""
    rows = pd.DataFrame({"user": 1, "item": [1, 2, 3], "estimated": 1.0, "true": [5, 5, 1]})
    report = rn.evaluate(rows.assign(weight=[1, 3, 1]), metrics=["recall@1"], threshold=4)
    audit: Any = report.audit.loc["recall@1"]
    assert audit[["worst", "tie_low"]].tolist() == [0, 0]
    assert audit[["best", "tie_high"]].tolist() == [0.75, 0.75]
    assert report.mean["recall@1"] == pytest.approx((0.25 + 0.75) / 3)


def test_z_uses_the_variance_over_all_orders() -> None:
    """Of the weighted numerator, enumerated."""
    rows = pd.DataFrame({"user": 1, "item": range(4), "estimated": [4.0, 3, 2, 1]})
    rows = rows.assign(true=[5, 1, 4, 2], weight=[1.0, 2, 5, 0.5])
    report = rn.evaluate(rows, metrics=["recall@2", "dcg@2"], threshold=4)
    for metric in ("recall@2", "dcg@2"):
        numbers = [
            score(metric.replace("2", "3"), [*order][:2], [*order])
            for order in permutations(rows[["estimated", "true", "weight"]].itertuples(index=False))
        ]
        z = (report.mean[metric] - np.mean(numbers)) / np.std(numbers)
        assert report.audit.loc[metric, "z"] == pytest.approx(z, rel=1e-12)


@given(st.lists(ROW, min_size=1, max_size=6))
def test_errors_are_weighted_means(rows: list[Any]) -> None:
    """Schnabel et al. (2016), self-normalised."""
    table = pd.DataFrame(rows, columns=["estimated", "true", "weight"]).assign(user=1)
    table["item"] = range(len(table))
    report = rn.evaluate(table, metrics=["rmse", "mae", "mse"])
    total = table["weight"].sum()
    error = table["estimated"] - table["true"]
    for metric, power, root in (("mse", 2, 1), ("mae", 1, 1), ("rmse", 2, 0.5)):
        expected = (
            ((error.abs() ** power * table["weight"]).sum() / total) ** root if total else None
        )
        found = report.per_user.loc[1, metric]
        assert found == pytest.approx(np.nan if expected is None else expected, nan_ok=True)


def make_lists(seed: int = 0) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return predictions with integers as estimates, and how to weight them."""
    rng = np.random.default_rng(seed)
    pairs = [(user, item) for user in range(40) for item in range(6) if rng.random() < 0.6]
    table = pd.DataFrame(pairs, columns=["user", "item"]).assign(
        true=rng.integers(1, 6, len(pairs))
    )
    return table.assign(estimated=rng.integers(0, 3, len(pairs)).astype(float)), HOW


def test_a_weight_of_one_changes_no_number() -> None:
    """To the last bit, but for the remark and the signature."""
    table, how = make_lists()
    plain, weighted = rn.evaluate(table, **how), rn.evaluate(table.assign(weight=1.0), **how)
    pd.testing.assert_frame_equal(plain.per_user, weighted.per_user, check_exact=True)
    columns = plain.audit.columns.difference(["unlabelled_top", "unlabelled_zero"])
    pd.testing.assert_frame_equal(plain.audit[columns], weighted.audit[columns], rtol=1e-12)


@given(st.floats(-1, 4))
def test_a_propensity_equals_a_column_of_its_weights(gamma: float) -> None:
    """P = (n / max n)^((gamma + 1) / 2), with the counts of training."""
    table, how = make_lists()
    counts = pd.DataFrame(TRAIN, columns=["user", "item"])["item"].value_counts()
    column = table["item"].map((counts / counts.max()) ** (-(gamma + 1) / 2))
    by_column = rn.evaluate(table.assign(weight=column), **how)
    by_item = rn.evaluate(table, weights=rn.propensity(TRAIN, gamma=gamma), **how)
    pd.testing.assert_frame_equal(by_column.per_user, by_item.per_user, rtol=1e-12)
    assert f"(gamma={gamma + 0.0:g})" in by_item.signature("ndcg@3")
    assert "weights:column" in by_column.signature("ndcg@3")
    assert by_item.signature("ndcg@3") != by_column.signature("ndcg@3")


def test_published_estimators_are_the_metrics_there_are() -> None:
    """Steck's recall, SNIPS of recall, and propensity-scored precision, in plain Python."""
    table, _ = make_lists()
    count = {item: sum(each == item for _, each in TRAIN) for item in range(6)}
    most, gamma = max(count.values()), 1.5
    propensity = {item: (n / most) ** ((gamma + 1) / 2) for item, n in count.items()}
    table["estimated"] += table["item"] / 10  # no ties
    how: Any = {"metrics": ["recall@3", "precision@3"], "threshold": THRESHOLD}
    report = rn.evaluate(table, weights=rn.propensity(TRAIN, gamma=gamma), **how)
    for user, rows in table.groupby("user"):
        liked = rows[rows["true"] >= THRESHOLD]["item"]
        top = rows.sort_values("estimated", ascending=False)["item"].head(3)
        hits = [item for item in top if item in {*liked}]
        snips = sum(1 / propensity[item] for item in hits)
        steck = sum(count[item] ** -1.25 for item in hits)
        total = sum(1 / propensity[item] for item in liked)
        found = report.per_user.loc[user]
        assert found["precision@3"] == pytest.approx(snips / 3, rel=1e-12)
        if total:
            assert found["recall@3"] == pytest.approx(snips / total, rel=1e-12)
            beta = sum(count[item] ** -1.25 for item in liked)
            assert found["recall@3"] == pytest.approx(steck / beta, rel=1e-12)


@pytest.mark.parametrize("ideal", ["global", "local"])
def test_capped_recall_divides_by_the_heaviest_labels(ideal: str) -> None:
    """Of all labels, in the list or not, whatever the ideal of NDCG is."""
    lists = {"labels": {"ann": {"a", "b", "c"}}, "results": {"ann": ["a", "d", "b"]}}
    weights = {"a": 1.0, "b": 2.0, "c": 5.0, "d": 9.0}
    convention = rn.Convention(recall_over="capped", ideal=ideal)  # type: ignore[arg-type]
    how: Any = {"weights": weights, "convention": convention}
    report = rn.evaluate(lists, metrics=["recall@2", "recall@9"], **how)
    assert report.mean.tolist() == pytest.approx([1 / 7, 3 / 8])


def test_other_weights_are_other_labels() -> None:
    """Models that were measured with them cannot be compared."""
    table, how = make_lists()
    one, two = (rn.evaluate(table.assign(weight=one), **how) for one in (1.0, table["item"]))
    assert not have_same_labels(one, two)
    with rejects("different"):
        rn.compare({"one": one, "two": two})
    again = rn.compare(
        {"one": table, "two": table.assign(estimated=1)},
        weights=rn.propensity(TRAIN, gamma=1),
        **how,
    )
    assert "gamma=1" in again.signatures["ndcg@3"]


def test_chance_in_a_catalogue_draws_the_labels_with_their_weights() -> None:
    """Recall of a list of 2 of 5 items, drawn at random: 2/5 of the weight."""
    lists = {"labels": {"ann": {"a", "b", "c"}}, "results": {"ann": ["a", "d"]}}
    weights = pd.Series({"a": 1.0, "b": 2.0, "c": 5.0, "d": 9.0, "e": 9.0})
    report = rn.evaluate(
        lists, metrics=["recall@2", "ndcg@2"], weights=weights, catalogue=[*"abcde"]
    )
    assert report.mean["recall@2"] == 1 / 8
    assert report.audit.loc["recall@2", "chance"] == pytest.approx(2 / 5)
    assert report.audit.loc["recall@2", "best"] == pytest.approx(7 / 8)
    discounted = (1 + 1 / log2(3)) * 8 / 5 / (5 + 2 / log2(3))
    assert report.audit.loc["ndcg@2", "chance"] == pytest.approx(discounted)


def test_the_effective_number_of_labels_is_in_the_report(tmp_path: Path) -> None:
    """Of relevant ones; also after saving, of some users, and in a remark."""
    rows = pd.DataFrame({"user": [1] * 3 + [2] * 2, "item": [1, 2, 3, 1, 2], "estimated": 1.0})
    rows = rows.assign(true=[5, 4, 1, 5, 1], weight=[1.0, 3, 90, 1, 90])
    report = rn.evaluate(rows.assign(estimated=range(5)), metrics=["recall@2"], threshold=4)
    expected = {"labels": 3.0, "effective": 25 / 11, "top_share": 3 / 5}
    assert report.label_weights is not None
    assert report.label_weights.to_dict() == pytest.approx(expected)
    report.save(tmp_path / "report.json")
    loaded = rn.Report.load(tmp_path / "report.json")
    assert loaded.label_weights is not None
    assert loaded.label_weights.to_dict() == pytest.approx(expected)
    assert loaded == report
    some = report.take([2]).label_weights
    assert some is not None
    assert some.to_dict() == {"labels": 1, "effective": 1, "top_share": 1}
    sentence = "3 relevant labels, worth 2 of equal weight; the heaviest 1 % hold 60 % of"
    assert sentence in str(report)
    assert rn.evaluate(rows.drop(columns="weight")).label_weights is None


def test_weighted_sums_are_not_bounded_by_one(tmp_path: Path) -> None:
    """Precision can be above 1, also after saving; recall cannot."""
    rows = pd.DataFrame({"user": [1, 2], "item": 1, "estimated": 1.0, "true": 1, "weight": [7, 2]})
    report = rn.evaluate(rows, metrics=["precision@1", "recall@1"])
    assert report.mean.to_dict() == {"precision@1": 4.5, "recall@1": 1}
    assert report._data.audit.totals.kinds["bounded"].tolist() == [False, True]
    report.save(tmp_path / "report.json")
    loaded = rn.Report.load(tmp_path / "report.json")
    assert loaded._data.audit.totals.kinds["bounded"].tolist() == [False, True]
    pd.testing.assert_frame_equal(loaded.summary, report.summary)


def test_data_on_disk_gives_the_same_numbers(tmp_path: Path) -> None:
    """In batches sorted by DuckDB: by a column, and by item."""
    pytest.importorskip("duckdb")
    table, how = make_lists()
    weighted = table.assign(weight=1.0 + table["item"])
    by_item: Any = {"weights": rn.propensity(TRAIN, gamma=1)}
    for name, rows, more in (("column", weighted, {}), ("item", table, by_item)):
        rows.to_csv(tmp_path / f"{name}.csv", index=False)
        inside = rn.evaluate(rows, **how, **more)
        outside = rn.evaluate(tmp_path / f"{name}.csv", memory_limit="2GB", **how, **more)
        pd.testing.assert_frame_equal(inside.summary, outside.summary, rtol=1e-12)
        assert inside.signatures == outside.signatures
        assert outside.label_weights is not None
        assert inside.label_weights is not None
        assert inside.label_weights.to_dict() == pytest.approx(outside.label_weights.to_dict())
    weighted.loc[3, "weight"] = -1
    weighted.to_csv(tmp_path / "wrong.csv", index=False)
    with rejects("weight: -1 at user 1 item 2"):
        rn.evaluate(tmp_path / "wrong.csv", memory_limit="2GB")


def test_wrong_weights_are_rejected() -> None:
    """With the first row, or the item."""
    table, _ = make_lists()
    for wrong, fault in ((-2.0, "-2"), (np.inf, "inf"), (np.nan, "NaN")):
        with rejects(f"weight: {fault} in row 1 .*a finite number of at least 0"):
            rn.evaluate(table.assign(weight=[1.0, wrong, *[1.0] * (len(table) - 2)]))
    with rejects("no weight for the items of 3 labels, the first user 1 item 9"):
        rn.evaluate(
            {"labels": [(1, 9), (1, 8), (2, 9)], "results": [(1, 9, 1.0)]},
            weights=pd.Series({1: 1.0}),
        )
    with rejects("the item 'a' has the weight -1"):
        rn.evaluate({"labels": {1: ["a"]}, "results": {1: ["a"]}}, weights={"a": -1.0})
    with rejects("the item 'a' is there twice"):
        rn.evaluate(table, weights=pd.Series([1.0, 1.0], index=["a", "a"]))
    with rejects("weights must be propensity"):
        rn.evaluate(table, weights=3)
    with rejects("Give weights= or a column 'weight' of the labels, not both"):
        rn.evaluate(table.assign(weight=1.0), weights=rn.propensity(TRAIN, gamma=1))
    for gamma in (-2, np.nan, "1", 500):
        with rejects("gamma must be a number from -1 to 20"):
            rn.propensity(TRAIN, gamma=gamma)  # type: ignore[arg-type]


def test_weights_from_the_test_set_are_refused() -> None:
    """If all labels are among the rows that the propensity was estimated from, in all batches."""
    table, how = make_lists()
    with rejects("estimated from the very labels.*training rows"):
        rn.evaluate(table, weights=rn.propensity(table, gamma=1), **how)
    batches = [rows for _, rows in table.groupby("user")]
    for source, is_refused in ((table, True), (batches[0], False)):
        total = rn.Accumulator(weights=rn.propensity(source, gamma=1), **how)
        for rows in batches:
            total.update(rows["user"], rows["estimated"], rows["true"], items=rows["item"])
        if is_refused:
            with rejects("estimated from the very labels"):
                total.report()
        else:
            assert total.report().label_weights is not None
    some = rn.propensity(table[table["user"] > 0], gamma=1)
    assert len(rn.evaluate(table, weights=some, **how).mean) == len(how["metrics"])


def test_weights_in_batches_are_weights() -> None:
    """The report equals that of all rows, with intervals that can exceed 1, also of groups."""
    table, how = make_lists()
    weights = {item: 1.0 + 9 * item for item in table["item"].unique()}
    whole = rn.evaluate(table, weights=weights, **how)
    total = rn.Accumulator(weights=weights, per_user=True, **how)
    for _, rows in table.groupby("user"):
        total.update(rows["user"], rows["estimated"], rows["true"], items=rows["item"])
    assert whole.summary["ci_high"].max() > 1
    pd.testing.assert_frame_equal(total.report().summary, whole.summary)
    rr = rn.Accumulator("rr", weights=weights, threshold=4)
    with rejects("rr has no weighted form"):
        rr.update(table["user"], table["estimated"], table["true"], items=table["item"])


def test_the_digest_of_a_propensity_is_of_its_rows() -> None:
    """Other test labels, with more items, do not change it; other rows do."""
    table, how = make_lists()
    digests = []
    for labels, train in ((table, TRAIN), (table.assign(item=90), TRAIN), (table, TRAIN[:-1])):
        rows = labels.drop_duplicates(["user", "item"])
        report = rn.evaluate(rows, weights=rn.propensity(train, gamma=1), **how)
        text = str(report.signatures["recall@3"])
        digests.append(next(part for part in text.split("|") if part.startswith("weights:")))
    assert digests[0] == digests[1] != digests[2]


def test_weights_by_item_need_items() -> None:
    """With what to give; row numbers are no items."""
    with rejects("the lists have no item ids"):
        rn.evaluate({"ann": [(1, 2), (2, 3)]}, weights={"a": 1.0})
    labels = {"labels": {"ann": [0, 1]}, "results": {"ann": [0, 2]}}
    with rejects("weights is a Series whose index has row numbers, no items.*rename_axis"):
        rn.evaluate(labels, metrics="recall@1", weights=pd.Series([3.0, 1.0]))
    by_item = pd.Series([3.0, 1.0]).rename_axis("item")
    assert rn.evaluate(labels, metrics="recall@1", weights=by_item).mean["recall@1"] == 0.75


@pytest.mark.parametrize("metric", ["rr", "ap@3", "hit@3", "f1@3", "auc"])
def test_metrics_that_are_no_sums_over_labels_are_refused(metric: str) -> None:
    """With what to measure instead."""
    table, _ = make_lists()
    with rejects(f"{metric} has no weighted form.*Measure dcg, ndcg, precision or recall"):
        rn.evaluate(table.assign(weight=2.0), metrics=[metric], threshold=4)


def test_a_column_weight_is_a_grade_unless_true_is_named() -> None:
    """As before: implicit data has how often, or how long."""
    rows = pd.DataFrame({"user": 1, "item": [1, 2], "weight": [3.0, 1.0], "estimated": [1.0, 2.0]})
    with pytest.warns(rn.DataWarning, match="Using weight as true"):
        report = rn.evaluate(rows)
    assert report.label_weights is None
    named = rn.evaluate(
        rows.assign(stars=[5, 1]), columns={"true": "stars", "weight": "weight"}, metrics=["cg@1"]
    )
    assert named.mean["cg@1"] == 1


def test_the_explanation_has_weighted_gains() -> None:
    """And the ideal list is in their order."""
    rows = pd.DataFrame({"user": 1, "item": ["a", "b"], "estimated": [2.0, 1.0], "true": [3, 2]})
    table = rn.evaluate(rows.assign(weight=[1.0, 10.0])).explain(1)
    assert table["gain"].tolist() == [7, 30]
    assert table["ideal_item"].tolist() == ["b", "a"]


def test_catalogues_that_are_ranked_here_are_weighted_like_lists() -> None:
    """By the plug-in: the same scores and chance as of the whole lists, given."""
    pytest.importorskip("surprise")
    from surprise import SVD, Dataset, Reader  # noqa: PLC0415 - an extra

    from recsys_ndcg.surprise import evaluate_catalogue  # noqa: PLC0415

    rng = np.random.default_rng(0)
    rows = [
        (f"u{user}", f"i{item}", 1 + (user * item) % 5) for user in range(9) for item in range(8)
    ]
    rng.shuffle(rows)
    rows = [(user, item, int(true)) for user, item, true in rows]
    reader = Reader(rating_scale=(1, 5))
    data = Dataset.load_from_df(pd.DataFrame(rows[:40]), reader).build_full_trainset()
    algo = SVD(n_factors=2, random_state=0).fit(data)
    how: Any = {"metrics": ["ndcg@3", "recall@3"], "threshold": 4}
    weights = rn.propensity(rows[:40], gamma=1)
    report = evaluate_catalogue(algo, data, rows[40:], weights=weights, **how)
    table = pd.DataFrame(rows[40:], columns=["user", "item", "true"])
    plain = evaluate_catalogue(algo, data, rows[40:], **how)
    assert plain.mean["recall@3"] != report.mean["recall@3"]
    # one user's recall, by hand from the list that is shown
    user = next(user for user in report.users if report.per_user["n_relevant"][user] > 1)
    top = [*report.explain(user, 3)["item"]]
    liked = table[(table["user"] == user) & (table["true"] >= 4)]["item"]
    weight = weights.weights
    hits = sum(weight[item] for item in liked if item in top)
    recall = report.per_user.loc[user, "recall@3"]
    assert recall == pytest.approx(hits / sum(weight.get(item, weight.max()) for item in liked))
    audit = report.per_user_audit("recall@3")
    candidates = 8 - sum(each == user for each, _, _ in rows[:40])
    assert audit.loc[user, "chance"] == pytest.approx(3 / candidates)


def test_the_command_line_takes_weights(tmp_path: Path) -> None:
    """A file with a weight by item."""
    table, how = make_lists()
    weights = rn.propensity(TRAIN, gamma=1).weights
    table.to_csv(tmp_path / "rows.csv", index=False)
    weights.to_csv(tmp_path / "weights.csv")
    words = ("--metrics", ",".join(how["metrics"]), "--threshold", "4", "--format", "json")
    found = json_of(
        "evaluate", tmp_path / "rows.csv", "--weights", tmp_path / "weights.csv", *words
    )
    report = rn.evaluate(table, weights=weights, **how)
    assert {one["metric"]: one["mean"] for one in found["summary"]} == report.mean.to_dict()
