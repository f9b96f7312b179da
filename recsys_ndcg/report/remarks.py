"""What a reader should know before trusting the numbers: a plain sentence each, if it matters."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors.visible import visible
from recsys_ndcg.rendering.table import number
from recsys_ndcg.report.tables import TIES_MATTER

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.rendering.view import Shown

#: The audit, a row by the name of each metric.
Audited = dict[Hashable, dict[Hashable, Any]]

_HIGH = 0.5  # a chance level that a reader would not expect
_MANY = 0.1  # so many users who say nothing blur a mean
_LINES = 3  # about the same thing in different metrics
_SURE = 2.0  # standard deviations of random order
_FEW = 0.01  # fewer users than this do not move a mean


def remarks(report: Shown) -> list[str]:
    """Return one sentence for each thing that makes the numbers say less than they seem to."""
    audit: Audited = report.audit.to_dict("index")
    parts = _levels(report, audit), _users(report, audit), _ties(audit), _labels(report, audit)
    lines = [line for part in parts for line in part]
    return [visible(line) for line in lines]


def _levels(report: Shown, audit: Audited) -> list[str]:
    bounded = report.bounded.to_dict()  # a sum has no scale
    others = report.baselines.drop("chance")
    lines = [
        f"{model} is as good or better in {', '.join(beaten)}."
        for model, row in others.iterrows()
        if (beaten := [name for name in report.metrics if row[name] >= report.mean[name]])
    ]
    counts = report.counts
    order = "A random order of each list" if "recommended" in counts else "Random order"
    if "candidates" in counts:
        order = "A random choice of the candidates"
    lines += _first(
        f"{order} would already score {number(row['chance'])} in {name}"
        f" (the worst order {number(row['worst'])})."
        for name, row in audit.items()
        if row["chance"] >= _HIGH and bounded[name]
    )
    unsure = [name for name, row in audit.items() if abs(row["z"]) < _SURE]  # never without a z
    worse = [name for name, row in audit.items() if row["adjusted"] < 0]
    if worse:
        lines.append(f"Worse than random order: {_named(worse)}.")
    if unsure:
        lines.append(
            f"The distance from random order may be chance (z within 2): {_named(unsure)}."
        )
    return lines


def _users(report: Shown, audit: Audited) -> list[str]:
    counts = report.counts
    said = {
        "short": "have fewer items than the cutoff (short lists)",
        "missing": "have labels but no list",
        "left_out": "are left out of a metric by the convention",
    }
    lines = [
        f"{counts[key]} of {counts['users']} users {words}."
        for key, words in said.items()
        if counts[key] > _FEW * counts["users"]
    ]
    lines += _first(
        f"Any order scores the same in {name} for {row['trivial']:.1%} of users (trivial users)."
        for name, row in audit.items()
        if row["trivial"] > _MANY
    )
    scored = report.summary["users"].to_dict()
    nobody = [name for name, users in scored.items() if not users]
    if nobody:
        lines.append(f"Nobody has a score in {', '.join(map(str, nobody))}.")
    some = [f"{name} over {n}" for name, n in scored.items() if 0 < n < counts["users"]]
    if some:
        means = ", ".join(some)
        lines.append(f"Users without a score are left out of the mean: {means} users.")
    return lines


def _ties(audit: Audited) -> list[str]:
    return _first(
        f"Ties decide {name} for {row['decided_by_ties']:.1%} of the users: "
        f"it lies between {number(row['tie_low'])} and {number(row['tie_high'])}."
        for name, row in audit.items()
        if row["tie_high"] - row["tie_low"] >= TIES_MATTER
    )


def _labels(report: Shown, audit: Audited) -> list[str]:
    counts = report.counts
    rows = {
        "unlabelled": "Items in the lists without a true value",
        "unlisted": "Labelled items in no list",
        "impossible": "Predictions that the model could not make (was_impossible)",
        "duplicates": "Repeated rows that were merged",
    }
    lines = [f"{words}: {counts[key]}." for key, words in rows.items() if counts[key]]
    partly = [
        (name, row)
        for name, row in audit.items()
        if row["judged"] < 1 and not math.isnan(row["unlabelled_top"])
    ]
    if partly:
        name, row = partly[0]
        lines.append(
            f"Of the items that {name} looks at, {row['judged']:.1%} have a true value, on average "
            f"over users: were the others irrelevant it would be {number(row['unlabelled_zero'])}, "
            f"were they of the top grade {number(row['unlabelled_top'])}."
        )
    return lines


def _first(lines: Iterable[str]) -> list[str]:
    """Return the first few lines, and how many metrics could be told the same of."""
    told = list(lines)
    more = len(told) - _LINES
    return told if more < 2 else [*told[:_LINES], f"… and so for {more} more (report.audit)."]


def _named(metrics: list[Hashable]) -> str:
    """Return the first few names, and how many more there are."""
    more = len(metrics) - _LINES
    told = metrics if more < 2 else [*metrics[:_LINES], f"{more} more"]
    return ", ".join(map(str, told))
