"""What a report says: its document, its verdict and remarks, and the warning of what deceives."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import escape_invisible
from recsys_ndcg.lists import Facts, suspicions
from recsys_ndcg.rendering import Code, Document, Section, ShownTable, count, first_few, number
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scoring import Audit, Plan, Signature, Totals

#: The audit, a row by the name of each metric.
Audited = dict[str, dict[str, Any]]

_SCORES = (
    "The mean over users with the half width of its interval; chance is random order of the same "
    "lists, and adjusted is how far the score goes from there to their best order."
)
_AUDIT = "What each score is to be read against"
_REMARKS = "What makes these numbers say less than they seem to."
_NOTHING = "Nothing was found that makes these numbers say less than they seem to."
_HOW = "What has to be typed for the same numbers, and the complete choices behind each of them."
_HIGH = 0.5  # a chance level that a reader would not expect
_MANY = 0.1  # so many users who say nothing blur a mean
_LINES = 3  # about the same thing in different metrics
_SURE = 2.0  # standard deviations of random order
_TIES_MATTER = 0.001  # a range this wide changes the third decimal
_FEW = 0.01  # fewer users than this do not move a mean
_SOME = 1000  # users who tell whether random order has to be measured of all
_LOWER_IS_BETTER = (
    "Is a lower estimate better, as with ranks, distances or losses? Then give estimates with a "
    "minus, or ranks as the column 'rank' of RankedLists.from_labels(labels, results) (--results, "
    "--columns rank=...)."
)
_REVERSED = (
    "The first item, or that of rank 1, is taken for the best. Is it the worst? Then give each "
    "list in the opposite order, or ranks of which the highest is best as columns={'estimated': "
    "'rank'}."
)


def report_document(report: Report, *, answer: bool = False) -> Document:
    """Return what a report says: the summary, the remarks, the audit, and how it was computed.

    Parameters
    ----------
    report : Report
        Any.
    answer : bool
        Whether a verdict stands above it, for forms with room for one.
    """
    details = [Section.folded("The whole audit", [audit_table(report)])]
    table = ShownTable("The scores, by metric", _summary_cells(report))
    words = {"ratings": "ratings", "recommended": "recommended items", "candidates": "candidates"}
    counts = report.counts
    rows = ", ".join(f"{counts[name]} {what}" for name, what in words.items() if name in counts)
    return Document(
        title="Ranking evaluation",
        verdict=verdict(report) if answer else "",
        facts=f"{counts['users']} users, {rows}",
        sections=[
            Section("scores", "Scores", _SCORES, [table]),
            remarks_section(report.remarks, details),
            signatures_section(map(report.signature, report.metrics)),
        ],
        names=report.metrics,
    )


def _summary_cells(report: Report) -> pd.DataFrame:
    """Return the summary as text, one row per metric."""
    summary = report.summary
    summary["±95%"] = (summary["ci_high"] - summary["ci_low"]) / 2
    baselines = report.baselines.T.rename(columns={"MostPopular": "popular"})  # a name that fits
    first, last = ["mean", "±95%", "pooled", "median"], ["adjusted", "users", "undefined"]
    shown = pd.concat([summary[first], baselines, summary[last]], axis="columns")
    cells = text_cells(shown.rename_axis("metric"))
    return cells.map(escape_invisible).rename(columns=escape_invisible)


def audit_table(report: Report) -> ShownTable:
    """Return the audit, a column per metric."""
    audit = report.audit.T.map(number).rename(columns=escape_invisible).rename_axis("audit")
    return ShownTable(_AUDIT, audit.set_axis(audit.index.str.replace("_", " ")).reset_index())


def remarks_section(remarks: list[str], details: Sequence[Section] = (), more: str = "") -> Section:
    """Return the section of what a reader should know; `more` says where more of it is."""
    lead = f"{_REMARKS if remarks else _NOTHING} {more}".rstrip()
    return Section("audit", "Before you trust it", lead, [remarks, *details])


def signatures_section(
    signatures: Iterable[Signature], typed: str = "", command: str | None = None
) -> Section:
    """Return the section of how each metric was computed.

    Parameters
    ----------
    signatures : iterable of Signature
        One of each metric.
    typed : str
        The lines of Python that compute the same, for a page, which then names the versions, too.
    command : str, optional
        The command line, if the page was made by one.
    """
    every = list(signatures)
    full, short = (
        [escape_invisible(getattr(one, form)) for one in every] for form in ("text", "short")
    )
    parts: list[Code | list[str]] = [Code("The signatures", full, short, alike=True)]
    if typed:
        asked = [] if command is None else [Code("The command", [escape_invisible(command)])]
        python = Code("The same in Python", [escape_invisible(line) for line in typed.splitlines()])
        ours = f"recsys_ndcg {__version__}, Python {platform.python_version()}"
        others = [f"{name} {version(name.lower())}" for name in ("NumPy", "pandas", "SciPy")]
        made = [f"Made with {', '.join([ours, *others])}."]
        parts = [*asked, python, *parts, made]
    return Section("how", "How this was computed", _HOW, parts)


def text_cells(frame: pd.DataFrame, brief: Sequence[str] = ()) -> pd.DataFrame:
    """Return a table of numbers as text, some columns in as few digits as it takes."""
    plain = frame.reset_index()
    return pd.DataFrame(
        {name: [_cell(value, brief=name in brief) for value in plain[name]] for name in plain}
    )


def _cell(value: object, *, brief: bool) -> str:
    if isinstance(value, float):
        return f"{value:.5g}" if brief and not np.isnan(value) else number(value)
    return "-" if value is None else str(value)


# Remarks and the verdict


def remarks(report: Report) -> list[str]:
    """Return one sentence for each thing that makes the numbers say less than they seem to."""
    audit: Any = report.audit.to_dict("index")
    parts = [part(report, audit) for part in (_levels, _users, _ties, _labels)]
    return [escape_invisible(line) for part in parts for line in part]


def _levels(report: Report, audit: Audited) -> Iterator[str]:
    mean, bounded = report.mean, report.bounded  # a sum has no scale
    for model, means in report.baselines.drop("chance").iterrows():
        beaten = [name for name in report.metrics if means[name] >= mean[name]]
        if beaten:
            yield f"{model} is as good or better in {', '.join(beaten)}."
    counts = report.counts
    order = "A random order of each list" if "recommended" in counts else "Random order"
    if "candidates" in counts:
        order = "A random choice of the candidates"
    yield from _few(
        f"{order} would already score {number(row['chance'])} in {name}"
        f" (the worst order {number(row['worst'])})."
        for name, row in audit.items()
        if row["chance"] >= _HIGH and bounded[name]
    )
    worse = [name for name, row in audit.items() if row["adjusted"] < 0]
    unsure = [name for name, row in audit.items() if abs(row["z"]) < _SURE]  # never without a z
    if worse:
        yield f"Worse than random order: {', '.join(first_few(worse, _LINES))}."
    if unsure:
        names = ", ".join(first_few(unsure, _LINES))
        yield f"The distance from random order may be chance (z within 2): {names}."


def _users(report: Report, audit: Audited) -> Iterator[str]:
    counts = report.counts
    users = counts["users"]
    said = {
        "short": "have fewer items than the cutoff (short lists)",
        "missing": "have labels but no list",
        "left_out": "are left out of a metric by the convention",
    }
    for key, words in said.items():
        if counts[key] > _FEW * users:
            yield f"{counts[key]} of {users} users {words}."
    yield from _few(
        f"Any order scores the same in {name} for {row['trivial']:.1%} of users (trivial users)."
        for name, row in audit.items()
        if row["trivial"] > _MANY
    )
    scored: dict[Any, int] = report.summary["users"].to_dict()
    nobody = [name for name, n in scored.items() if not n]
    if nobody:
        yield f"Nobody has a score in {', '.join(nobody)}."
    some = [f"{name} over {n}" for name, n in scored.items() if 0 < n < users]
    if some:
        yield f"Users without a score are left out of the mean: {', '.join(some)} users."


def _ties(_: Report, audit: Audited) -> Iterator[str]:
    yield from _few(
        f"Ties decide {name} for {row['decided_by_ties']:.1%} of the users: "
        f"it lies between {number(row['tie_low'])} and {number(row['tie_high'])}."
        for name, row in audit.items()
        if row["tie_high"] - row["tie_low"] >= _TIES_MATTER
    )


def _labels(report: Report, audit: Audited) -> Iterator[str]:
    counts = report.counts
    rows = {
        "unlabelled": "Items in the lists without a true value",
        "unlisted": "Labelled items in no list",
        "impossible": "Predictions that the model could not make (was_impossible)",
        "duplicates": "Repeated rows that were merged",
    }
    for key, words in rows.items():
        if counts[key]:
            yield f"{words}: {counts[key]}."
    for name, row in audit.items():
        if row["judged"] < 1 and not math.isnan(row["unlabelled_top"]):
            yield (
                f"Of the items that {name} looks at, {row['judged']:.1%} have a true value, on "
                f"average over users: were the others irrelevant it would be "
                f"{number(row['unlabelled_zero'])}, were they of the top grade "
                f"{number(row['unlabelled_top'])}."
            )
            return  # of the first metric


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
    row: dict[str, Any] = {**summary.loc[name], **audit.loc[name]}
    if not row["users"]:
        said = f"Nobody has a score in {name}, so there is nothing to judge."
    elif not ordered.any():
        said = f"The mean of {name} is {_score(row)}. It knows no order, and so no chance to beat."
    else:
        said = _of_an_order(name, row)
    others = report.baselines.drop("chance")[name]
    better = others[others >= row["mean"]]
    if len(better):
        said += f" {better.index[0]} is as good or better ({number(better.iloc[0])})."
    return escape_invisible(said)


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


# The warnings


def warnings_of(report: Report, facts: Facts, plan: Plan) -> Iterator[str]:
    """Give what is legal but deceptive, a sentence each."""
    audit = report.audited
    yield from (*suspicions(facts), *plan.doubts(facts))
    place = _below_chance(audit)
    if place is not None:
        totals = audit.order_totals
        mean, chance = totals.mean[place], totals.mean_of("chance")[place]
        yield (
            f"{totals.names[place]} is {mean:.4f}, but the same lists in random order score "
            f"{chance:.4f}: good items are near the end. "
            f"{_REVERSED if facts.order_only else _LOWER_IS_BETTER}"
        )
    place = None if facts.constant else _widest_tie_range(report)
    if place is not None:
        totals = audit.totals
        low, high = totals.mean_of("lowest")[place], totals.mean_of("highest")[place]
        yield (
            f"Tied estimates ({totals.counts['tied']} of {audit.n_users} users) leave "
            f"{totals.names[place]} open between {low:.4f} and {high:.4f}."
        )


def _widest_tie_range(report: Report) -> int | None:
    """Return the place of the metric that ties leave open furthest, if it matters.

    It does if it changes the third decimal and is wider than half the interval of the mean.
    One user has no interval: the third decimal decides.
    """
    totals = report.audited.totals
    if totals.counts["tied"] < _TIES_MATTER * totals.counts["users"]:
        return None
    width, ends = totals.mean_of("highest") - totals.mean_of("lowest"), report.intervals()
    half = np.nan_to_num((ends["mean_high"] - ends["mean_low"]).to_numpy() / 2)
    bounded = [one.metric.bounded for one in totals.measurements]
    matters = bounded & (width >= _TIES_MATTER) & (width > half)
    return int(np.where(matters, width, 0.0).argmax()) if matters.any() else None


def _below_chance(audit: Audit) -> int | None:
    """Return the place of the metric that is most surely far below random order.

    Where the lists are at hand, random order is measured for all users only if some are below it.
    """
    if audit.lists is not None and audit.n_users > _SOME:
        some = audit.take(np.linspace(0, audit.n_users - 1, _SOME).astype(np.intp))
        if _furthest_below(some.order_totals, far=0, sure=0) is None:
            return None
    return _furthest_below(audit.order_totals)


def _furthest_below(totals: Totals, *, far: float = 0.1, sure: float = 4.0) -> int | None:
    """Return the place of the metric that is most surely far below random order.

    Parameters
    ----------
    totals : Totals
        With the orders of the lists.
    far : float
        The least share of the way from random order to the worst order, all ties being in
        their best order.
    sure : float
        The least distance from random order, in its standard deviations.
    """
    mean, z = totals.mean, totals.z
    chance, worst = totals.mean_of("chance"), totals.mean_of("worst")
    kinds = [one.metric for one in totals.measurements]
    bounded, upward = [one.bounded for one in kinds], [one.greater_is_better for one in kinds]
    best = np.fmax(mean, totals.mean_of("highest"))
    with np.errstate(all="ignore"):
        # no score in [0, 1] varies more than one that is either 0 or 1
        most = np.sqrt(np.where(bounded, chance * (1 - chance), np.nan) / totals.n_scored)
        z = np.where(np.isnan(z), (mean - chance) / most, z)
        below = upward & (chance - best > far * (chance - worst)) & (z <= -sure)
    return int(np.where(below, z, 0.0).argmin()) if below.any() else None
