"""What the numbers of a report say, and what a reader should know before trusting them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import visible
from recsys_ndcg.rendering import count, first_few, number
from recsys_ndcg.report.tables import TIES_MATTER

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report

#: The audit, a row by the name of each metric.
Audited = dict[Hashable, dict[Hashable, Any]]

_HIGH = 0.5  # a chance level that a reader would not expect
_MANY = 0.1  # so many users who say nothing blur a mean
_LINES = 3  # about the same thing in different metrics
_SURE = 2.0  # standard deviations of random order
_FEW = 0.01  # fewer users than this do not move a mean


def remarks(report: Report) -> list[str]:
    """Return one sentence for each thing that makes the numbers say less than they seem to."""
    audit: Audited = report.audit.to_dict("index")
    parts = _levels(report, audit), _users(report, audit), _ties(audit), _labels(report, audit)
    lines = [line for part in parts for line in part]
    return [visible(line) for line in lines]


def _levels(report: Report, audit: Audited) -> list[str]:
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
    lines += _few(
        f"{order} would already score {number(row['chance'])} in {name}"
        f" (the worst order {number(row['worst'])})."
        for name, row in audit.items()
        if row["chance"] >= _HIGH and bounded[name]
    )
    unsure = [
        str(name) for name, row in audit.items() if abs(row["z"]) < _SURE
    ]  # never without a z
    worse = [str(name) for name, row in audit.items() if row["adjusted"] < 0]
    if worse:
        lines.append(f"Worse than random order: {', '.join(first_few(worse, _LINES))}.")
    if unsure:
        names = ", ".join(first_few(unsure, _LINES))
        lines.append(f"The distance from random order may be chance (z within 2): {names}.")
    return lines


def _users(report: Report, audit: Audited) -> list[str]:
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
    lines += _few(
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
    return _few(
        f"Ties decide {name} for {row['decided_by_ties']:.1%} of the users: "
        f"it lies between {number(row['tie_low'])} and {number(row['tie_high'])}."
        for name, row in audit.items()
        if row["tie_high"] - row["tie_low"] >= TIES_MATTER
    )


def _labels(report: Report, audit: Audited) -> list[str]:
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


def _few(lines: Iterable[str]) -> list[str]:
    """Return the first few lines, and of how many metrics the same could be said."""
    return first_few(lines, _LINES, "… and so for {} more (report.audit).")


def verdict(report: Report) -> str:
    """Return what a report says of the order, in its first metric that tells an order from chance.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> print(verdict(rn.evaluate({"ann": [(4.5, 5), (3.0, 2), (2.0, 4)]}, k=2)))
    In ndcg@2 this order cannot be told from chance (0.6583): it scores 0.8129 for 1 user. One
    user is no evidence.
    """
    audit, summary = report.audit, report.summary
    ordered = audit["chance"].notna() & (summary["users"] > 0).to_numpy()
    name = next(iter(audit.index[ordered]), report.metrics[0])
    both = pd.concat([summary.loc[name], audit.loc[name]])
    row: dict[str, Any] = {str(what): value for what, value in both.items()}
    say = _nobody if not row["users"] else _plainly if not ordered.any() else _of_an_order
    return visible(f"{say(name, row)}{_beaten(report, name, row)}")


def _nobody(name: str, _: dict[str, Any]) -> str:
    return f"Nobody has a score in {name}, so there is nothing to judge."


def _plainly(name: str, row: dict[str, Any]) -> str:
    return f"The mean of {name} is {_score(row)}. It knows no order, and so no chance to beat."


def _of_an_order(name: str, row: dict[str, Any]) -> str:
    chance, best, far = row["chance"], row["best"], row["adjusted"]
    if np.isnan(far):
        return (
            f"In {name} every order of these lists scores the same, {_score(row)}: nothing can be "
            "told of the model."
        )
    score = _score(row)
    if far < 0 and not abs(row["z"]) < _SURE:
        return f"In {name} this order is worse than chance ({number(chance)}): it scores {score}."
    if abs(row["z"]) < _SURE or (np.isnan(row["z"]) and row["ci_low"] <= chance):
        return (
            f"In {name} this order cannot be told from chance ({number(chance)}): it scores "
            f"{score}."
        )
    return (
        f"In {name} this order goes {far:.0%} of the way from chance ({number(chance)}) to the "
        f"best order of the same lists ({number(best)}): it scores {score}."
    ).replace("%", " %", 1)


def _score(row: dict[str, Any]) -> str:
    low, high, users = row["ci_low"], row["ci_high"], int(row["users"])
    people = count(users)
    if np.isnan(low) or np.isnan(high):
        alone = ". One user is no evidence" if users == 1 else ""
        return f"{number(row['mean'])} for {people}{alone}"
    ends = f"(95 % interval {number(low)} to {number(high)})"
    return f"{number(row['mean'])} {ends} over {people}"


def _beaten(report: Report, name: str, row: dict[str, Any]) -> str:
    """Return which model that needs no training is as good."""
    others = report.baselines.drop("chance")[name]
    better = [str(model) for model, mean in others.items() if mean >= row["mean"]]
    return f" {better[0]} is as good or better ({number(others[better[0]])})." if better else ""
