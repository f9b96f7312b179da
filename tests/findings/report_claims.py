"""What the findings of a report claim, checked against its public tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import skew

import recsys_ndcg as rn
from tests.findings.claims import claim

_OF_ALL = ("coverage", "gini", "personalization")
_OF_ITEMS = (*_OF_ALL, "novelty", "seen")
_NORMALISED = ("ndcg", "recall")
_UNBOUNDED = ("dcg", "rmse", "novelty")


def select(report: rn.Report, *families: str, among: bool) -> list[str]:
    """Return the metrics of some families, or of all others."""
    return [name for name in report.metrics if (name.split("@")[0] in families) == among]


def list_relevant(report: rn.Report) -> list[str]:
    """Return the metrics that compare the order with labels."""
    return select(report, *_OF_ITEMS, among=False)


def list_bounded(report: rn.Report) -> list[str]:
    """Return the metrics that are always between 0 and 1; weights change sums over labels."""
    if report.label_weights is not None:
        return select(report, *_NORMALISED, among=True)
    return select(report, *_UNBOUNDED, among=False)


def list_kinds_due(report: rn.Report) -> set[str]:
    """Return the kinds that the report's tables ask for, of those that are easy to count."""
    audit, summary, counts = report.audit, report.summary, report.counts
    ranges = audit["tie_high"] - audit["tie_low"]
    few = 0.01 * counts["users"]
    due = {
        "decisive_ties": (ranges >= 0.001).any(),
        "users_without_list": counts["missing"] > few,
        "users_left_out": counts["left_out"] > few,
        "like_random": (audit["z"][list_relevant(report)].abs() < 2).any(),
        "metrics_without_scores": (summary["users"][list_relevant(report)] == 0).any(),
        "undefined_metrics": (summary["users"][select(report, *_OF_ALL, among=True)] == 0).any(),
        "one_user": summary["users"].eq(1).all() and audit["chance"].notna().any(),
    }
    rows = {"merged_rows": "duplicates", "cold_items": "cold", "seen_items": "seen"}
    due |= {kind: counts.get(key) for kind, key in rows.items()}
    return {kind for kind, is_due in due.items() if is_due}


@claim("nothing_to_judge")
def _(report: rn.Report, metric: str, ranked: str) -> bool:  # noqa: ARG001 - of all verdicts
    return bool(report.summary["users"][metric] == 0)


@claim("no_chance_level", "equal_orders", "worse_than_chance", "like_chance", "better_than_chance")
def check_verdict(report: rn.Report, metric: str, ranked: str, **numbers: float) -> bool:
    """Check the numbers of a verdict, and that no other one fits them."""
    row = {**report.summary.loc[metric], **report.audit.loc[metric]}
    for name, value in numbers.items():
        assert np.array_equal(value, row[name], equal_nan=True), name
    z, is_above = row["z"], row["ci_low"] > row["chance"]
    kind = "better_than_chance" if z >= 2 or (np.isnan(z) and is_above) else "like_chance"
    below = [each.names["metrics"] for each in report._data.remarks if each.kind == "below_random"]
    if below and metric in below[0]:
        kind = "worse_than_chance"
    if np.isnan(row["adjusted"]):
        kind = "no_chance_level" if np.isnan(row["chance"]) else "equal_orders"
    protocol = str(report.signature(metric).fields["protocol"])
    assert ranked == "whole catalogue" or ranked.split(maxsplit=1)[0] == protocol
    return str(report.findings["kind"][0]) == kind


@claim("one_user")
def _(report: rn.Report) -> bool:
    return 1 in {*report.summary["users"]}


@claim("better_baseline")
def _(report: rn.Report, metric: str, baseline: str, mean: float) -> bool:
    return bool(mean == report.baselines[metric][baseline] >= report[metric])


@claim("strong_baseline")
def _(report: rn.Report, baseline: str, metrics: list[str]) -> bool:
    means = report.baselines.loc[baseline]
    return metrics == [name for name in list_relevant(report) if means[name] >= report[name]]


@claim("high_chance")
def _(
    report: rn.Report, metrics: list[str], chance: list[float], worst: list[float], **sizes: int
) -> bool:
    table = report.audit.loc[list_relevant(report), ["chance", "worst"]]
    high = table[(table["chance"] >= 0.5) & table.index.isin(list_bounded(report))]
    assert (high["chance"].tolist(), high["worst"].tolist()) == (chance, worst)
    counts = report.counts
    assert sizes == {name: counts[name] for name in ("candidates", "recommended") if name in counts}
    return metrics == [*high.index]


@claim("sampled_lists", "unnamed_sampling")
def _(report: rn.Report, items: int | None) -> bool:
    table = report.per_user[["n_items", "n_relevant"]].drop_duplicates().to_numpy().tolist()
    is_named = report.signature(report.metrics[0]).fields["protocol"] == "sampled"
    if not is_named:
        assert items is not None
        assert items >= 50
    return table != [[table[0][0], 1]] if items is None else table == [[items, 1]]


@claim("chance_of_lists")
def _(report: rn.Report) -> bool:
    return bool(report.signature(report.metrics[0]).fields["protocol"] == "supplied")


@claim("below_random")
def _(report: rn.Report, metrics: list[str], z: list[float]) -> bool:
    table = report.audit.loc[metrics]
    assert np.array_equal(table["z"], z, equal_nan=True)
    return bool((table["adjusted"] < 0).all() and not (table["z"].abs() < 2).any())


@claim("like_random")
def _(report: rn.Report, metrics: list[str], z: list[float]) -> bool:
    known = report.audit["z"][list_relevant(report)]
    unsure = known[known.abs() < 2]
    return (metrics, z) == ([*unsure.index], unsure.tolist())


def _claim_count(kind: str, key: str) -> None:
    """Check that a finding has one of the report's counts."""

    @claim(kind)
    def _(report: rn.Report, count: int, users: int | None = None) -> bool:
        return 0 < count == report.counts[key] and users in {None, report.counts["users"]}


for _kind, _key in {
    "users_without_list": "missing",
    "users_left_out": "left_out",
    "unlabelled_items": "unlabelled",
    "unlisted_labels": "unlisted",
    "seen_items": "seen",
    "impossible_predictions": "impossible",
    "merged_rows": "duplicates",
    "cold_items": "cold",
    "items_outside_catalogue": "outside",
}.items():
    _claim_count(_kind, _key)


@claim("equal_scores", "extreme_scores", result=rn.Report)
def _(report: rn.Report, metric: str, users: int, mean: float) -> bool:
    scores = report.per_user[metric].dropna()
    assert len(scores) == users
    assert mean == report[metric]
    assert np.isnan(report.summary["ci_low"][metric]) or abs(mean - 0.5) == 0.5
    return bool(np.ptp(scores) <= 1e-12 * max(1, abs(mean)))


@claim("few_different_scores", result=rn.Report)
def _(report: rn.Report, metric: str, few: int, users: int, usual: int) -> bool:
    scores = report.per_user[metric].dropna()
    assert (~np.isclose(scores, usual, rtol=0, atol=1e-14)).sum() == few
    return len(scores) == users > 2 * few


@claim("skewed_scores", result=rn.Report)
def _(report: rn.Report, metric: str, users: int, skewness: float, needed: int) -> bool:
    scores = report.per_user[metric].dropna().to_numpy()
    assert math.isclose(skew(scores / np.abs(scores).max()), skewness, rel_tol=1e-6)
    assert metric not in list_bounded(report)
    return bool(len(scores) == users < needed == math.ceil(25 * skewness**2))


@claim("metrics_without_scores", "undefined_metrics")
def _(report: rn.Report, metrics: list[str]) -> bool:
    return bool(metrics) and not report.summary["users"][metrics].any()


@claim("decisive_ties")
def _(
    report: rn.Report,
    metrics: list[str],
    low: list[float],
    high: list[float],
    tied: int,
    users: int,
) -> bool:
    summary, audit = report.summary.loc[metrics], report.audit.loc[metrics]
    assert (summary["tie_low"].tolist(), summary["tie_high"].tolist()) == (low, high)
    assert ((summary["tie_high"] - summary["tie_low"]) >= 0.001).all()
    counts = (audit["decided_by_ties"] * summary["users"]).round()
    return bool(tied == counts.max() and users == summary["users"].iloc[counts.argmax()])


@claim("zero_weights", "weighted_labels")
def _(report: rn.Report, **numbers: float) -> bool:
    weights: Any = report.label_weights
    return numbers == ({"labels": weights["labels"]} if weights["effective"] == 0 else {**weights})


@claim("weighted_sums")
def _(report: rn.Report, metrics: list[str]) -> bool:
    sums = select(report, *_OF_ITEMS, *_UNBOUNDED, *_NORMALISED, among=False)
    return report.label_weights is not None and metrics == sums


@claim("unlabelled_range")
def _(
    report: rn.Report, metric: str, k: int | None, labelled: float, zero: float, top: float
) -> bool:
    row = report.audit.loc[metric]
    assert metric == metric.split("@", maxsplit=1)[0] + (f"@{k}" if k else "")
    ends = pd.Series({"judged": labelled, "unlabelled_zero": zero, "unlabelled_top": top})
    return bool(labelled < 1 and (row[ends.index] == ends).all())


@claim("reversed_order", "reversed_estimates")
def _(report: rn.Report, metric: str, mean: float, chance: float) -> bool:
    row = report.summary.loc[metric]
    return (mean, chance) == (row["mean"], row["chance"]) and mean < chance
