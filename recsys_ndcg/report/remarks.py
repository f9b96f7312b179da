"""What a reader should know before trusting the numbers: a plain sentence each, if it matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.rendering.table import number
from recsys_ndcg.report.audit import TIES_MATTER
from recsys_ndcg.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.rendering.view import Shown

_HIGH = 0.5  # a chance level that a reader would not expect
_MANY = 0.1  # so many users who say nothing blur a mean
_LINES = 3  # about the same thing in different metrics
_SURE = 2.0  # standard deviations of random order
_FEW = 0.01  # fewer users than this do not move a mean


def remarks(report: Shown) -> list[str]:
    """Return one sentence for each thing that makes the numbers say less than they seem to."""
    lines = [*_levels(report), *_users(report), *_ties(report), *_labels(report)]
    return [visible(line) for line in lines]


def _levels(report: Shown) -> list[str]:
    audit = report.audit
    high = audit[(audit["chance"] >= _HIGH) & report.bounded]  # a sum has no scale
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
        for name, row in high.to_dict("index").items()
    )
    unsure = audit["z"].abs() < _SURE  # never where there is no z
    worse = audit.index[audit["adjusted"] < 0].tolist()
    if worse:
        lines.append(f"Worse than random order: {_named(worse)}.")
    if unsure.any():
        names = _named(audit.index[unsure].tolist())
        lines.append(f"The distance from random order may be chance (z within 2): {names}.")
    return lines


def _users(report: Shown) -> list[str]:
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
    trivial = report.audit["trivial"]
    lines += _first(
        f"Any order scores the same in {name} for {share:.1%} of users (trivial users)."
        for name, share in trivial[trivial > _MANY].items()
    )
    scored = report.summary["users"]
    nobody = scored.index[scored == 0].tolist()
    if nobody:
        lines.append(f"Nobody has a score in {', '.join(nobody)}.")
    some = scored[(scored > 0) & (scored < counts["users"])]
    if len(some):
        means = ", ".join(f"{name} over {users}" for name, users in some.items())
        lines.append(f"Users without a score are left out of the mean: {means} users.")
    return lines


def _ties(report: Shown) -> list[str]:
    audit = report.audit
    open_ones = audit[audit["tie_high"] - audit["tie_low"] >= TIES_MATTER]
    return _first(
        f"Ties decide {name} for {row['decided_by_ties']:.1%} of the users: "
        f"it lies between {number(row['tie_low'])} and {number(row['tie_high'])}."
        for name, row in open_ones.to_dict("index").items()
    )


def _labels(report: Shown) -> list[str]:
    counts, audit = report.counts, report.audit
    rows = {
        "unlabelled": "Items in the lists without a true value",
        "unlisted": "Labelled items in no list",
        "impossible": "Predictions that the model could not make (was_impossible)",
        "duplicates": "Repeated rows that were merged",
    }
    lines = [f"{words}: {counts[key]}." for key, words in rows.items() if counts[key]]
    partly = audit[(audit["judged"] < 1) & audit["unlabelled_top"].notna()]
    if len(partly):
        name, row = next(iter(partly.to_dict("index").items()))
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


def _named(metrics: list[str]) -> str:
    """Return the first few names, and how many more there are."""
    more = len(metrics) - _LINES
    return ", ".join(metrics if more < 2 else [*metrics[:_LINES], f"{more} more"])
