"""Gates for pipelines: what must hold of a score, lest the program ends with 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from recsys_ndcg.cli.data import check_there, check_way, files_of
from recsys_ndcg.cli.models import Entries, Margin, Users, read_entry
from recsys_ndcg.cli.options import METRIC_NAMES, given_options, names_of, plan_of
from recsys_ndcg.cli.process import complain
from recsys_ndcg.errors import InvalidInputError, about, is_number, warn_of_some
from recsys_ndcg.significance import Testing

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recsys_ndcg.cli.data import DataOptions, Written
    from recsys_ndcg.cli.options import Choices
    from recsys_ndcg.comparison import Gate
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Plan

_FAILED = 1

GateMetric = Annotated[
    str | None,
    typer.Option(
        help="In what --fail-if-worse compares.  [default: the first]",
        autocompletion=METRIC_NAMES,
    ),
]


@dataclass(frozen=True)
class Limits:
    """Which means are good enough."""

    fail_under: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with 1 if the mean of a metric is below this: ndcg@10=0.8. May be repeated."
        ),
    ] = None
    fail_over: Annotated[
        list[str] | None,
        typer.Option(
            help="Exit with 1 if the mean of an error is above this: rmse=0.95. May be repeated."
        ),
    ] = None

    def read(self, k: Sequence[int]) -> list[Limit]:
        """Return the limits.

        Raises
        ------
        InvalidInputError
            One is no metric with a number, or is on the wrong side.
        """
        under = [_limit("--fail-under", text, k) for text in self.fail_under or []]
        return [*under, *(_limit("--fail-over", text, k) for text in self.fail_over or [])]


class Limit(NamedTuple):
    """What the mean of a metric may not go beyond.

    Parameters
    ----------
    metric : Metric
        Below its limit it fails, or above it, if it is an error.
    value : float
        The limit.
    """

    metric: Metric
    value: float

    def of_report(self, report: Report) -> Gate:
        """Tell whether a report passes."""
        name = str(self.metric)
        return self.gate(report[name], int(report.summary["users"][name]))

    def gate(self, mean: float, users: int, of: str = "") -> Gate:
        """Tell whether a mean passes."""
        from recsys_ndcg.comparison import Gate

        name = str(self.metric)
        if math.isnan(mean):
            return Gate(passed=False, reason=f"No user has a score in {name}{of}.")
        more = self.metric.greater_is_better
        bad = mean < self.value if more else mean > self.value
        side = f"{'' if bad else 'not '}{'below' if more else 'above'}"
        reason = f"The mean {name}{of} is {mean:.6g} over {users} users, {side} {self.value:g}."
        return Gate(passed=not bad, reason=reason)


def _limit(option: str, text: str, k: Sequence[int]) -> Limit:
    name, equals, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not (equals and name.strip() and is_number(value)):
        msg = f"{option}: {text!r} is not of the form metric=number, such as ndcg@10=0.8."
        raise InvalidInputError(msg)
    metric = metric_of(name, option, k)
    other = "--fail-over" if option == "--fail-under" else "--fail-under"
    if metric.greater_is_better != (option == "--fail-under"):
        better, bad = ("Less", "high") if option == "--fail-under" else ("More", "low")
        msg = (
            f"{option} {text}: {better.lower()} is better in {metric}, so that what is too {bad} "
            f"fails: {other} {metric}={value:g}."
        )
        raise InvalidInputError(msg)
    if metric.bounded and not 0 <= value <= 1:
        msg = f"{option} {text}: {metric} lies between 0 and 1, so that this says nothing."
        raise InvalidInputError(msg)
    return Limit(metric, value)


def metric_of(text: str, option: str, k: Sequence[int]) -> Metric:
    """Return the one metric that a text names.

    Raises
    ------
    InvalidInputError
        It names several.
    """
    from recsys_ndcg.metrics import parse

    found = [one for name in names_of([text]) for one in parse(name, k)]
    if len(found) != 1:
        told = f": {', '.join(map(str, found))}" if found else ""
        msg = f"{option} {text}: that is {len(found)} metrics{told}. Name one, such as ndcg@10."
        raise InvalidInputError(msg)
    return found[0]


@dataclass(frozen=True)
class Gates:
    """Which model the others may not be worse than."""

    fail_if_worse: Annotated[
        str | None,
        typer.Option(
            help="Exit with 1 unless it is shown that the models are not worse than this one by "
            "--margin or more: the name of one, or a file.",
            metavar="BASELINE",
        ),
    ] = None
    metric: GateMetric = None

    def read(self, margin: float | None, k: Sequence[int]) -> Metric | None:
        """Return in what --fail-if-worse compares, None for the first metric, or for nothing.

        Raises
        ------
        InvalidInputError
            The margin is missing, or a metric is named for nothing.
        """
        if self.fail_if_worse is None:
            if self.metric is not None:
                msg = "--metric says in what --fail-if-worse compares; --metrics what is measured."
                raise InvalidInputError(msg)
            return None
        need_margin(margin)
        return None if self.metric is None else metric_of(self.metric, "--metric", k)


def need_margin(margin: float | None) -> None:
    """Refuse --fail-if-worse without a margin.

    Raises
    ------
    InvalidInputError
        It is missing.
    """
    if margin is None:
        msg = (
            "--fail-if-worse needs --margin: from which difference on a model is worse, such as "
            "--margin 0.005."
        )
        raise InvalidInputError(msg)


def gated_plan(
    choices: Choices, names: list[str] | None, k: list[int], gated: Iterable[Metric]
) -> Plan:
    """Return the plan that the options ask for, in which what a gate names is measured, too.

    The usual metrics fall away where nothing tells what is relevant, unless a gate needs that.
    """
    metrics = list(dict.fromkeys(gated))
    wanted = plan_of(choices, None, k).names if names is None else names
    plan = plan_of(choices, [*wanted, *map(str, metrics)], k)
    needed = any(one.needs_threshold for one in metrics)
    return replace(plan, by_default=names is None and not needed)


@dataclass(frozen=True)
class Replacing:
    """What was measured before, and how far behind it one may be."""

    fail_if_worse: Annotated[
        str | None,
        typer.Option(
            help="Exit with 1 unless it is shown that this is not worse than BASELINE, a file of "
            "predictions or a saved report, by --margin or more.",
            metavar="BASELINE",
        ),
    ] = None
    metric: GateMetric = None
    margin: Margin = None
    alpha: Annotated[
        float, typer.Option(help="How often what is worse by the margin may pass.")
    ] = 0.05
    users: Users = "all"

    def read(self, source: DataOptions, written: Written, k: Sequence[int]) -> Older | None:
        """Return what was measured before, if that is asked for.

        Raises
        ------
        InvalidInputError
            An option cannot be used, or has no baseline to be about; or a file is not there.
        """
        if self.fail_if_worse is None:
            late = given_options(self)
            if late:
                msg = f"{late[0]} is about --fail-if-worse, which is not given."
                raise InvalidInputError(msg)
            check_way(files_of(source))
            return None
        from recsys_ndcg.comparison import check_options

        need_margin(self.margin)
        Testing(alpha=self.alpha)
        check_options(users=self.users, margin=self.margin)
        metric = None if self.metric is None else metric_of(self.metric, "--metric", k)
        given = files_of(source)
        check_way(given)
        *_, measured = given.values()
        both = Entries((("", measured), read_entry(self.fail_if_worse)), source, written)
        for path in (*given.values(), *both.files.values()):
            check_there(path)
        (name, _), older = both.files.items()
        return Older(self, metric, name, replace(both, given=(older,)))


@dataclass(frozen=True)
class Older:
    """What was measured before.

    Parameters
    ----------
    options : Replacing
        How it is compared.
    metric : Metric, optional
        In what; the first that is measured by default.
    name : str
        Of what is measured now.
    entries : Entries
        The older one.
    """

    options: Replacing
    metric: Metric | None
    name: str
    entries: Entries

    def report(self, plan: Plan, *, progress: bool = True) -> Report:
        """Return the report of the older one.

        Raises
        ------
        InvalidInputError
            It cannot be read, or has other metrics.
        """
        metric = self.metric or plan.metrics[0]
        part = tuple(one for one in plan.measurements if one.metric == metric)
        (other,) = self.entries.files
        with about("") as said:
            found = self.entries.reports(
                replace(plan, measurements=part), [metric], progress=progress
            )
        warn_of_some({"": [], other: said})
        return found[other]

    def gate(self, report: Report, before: Report) -> Gate:
        """Tell whether it is shown that a report is not worse than the older one."""
        from recsys_ndcg.comparison import compare

        metric = report.metrics[0] if self.metric is None else str(self.metric)
        (other,), options = self.entries.files, self.options
        found = compare(
            {other: before, self.name: report},
            metrics=[metric],
            alpha=options.alpha,
            progress=False,
            users=options.users,
        )
        return found.not_worse(self.name, other, margin=options.margin)


def close(gates: Iterable[Gate], *, quiet: bool = False) -> None:
    """Say of each gate whether it passed and why, and end with 1 if one did not."""
    gates = list(gates)
    for one in gates:
        if not (quiet and one.passed):
            complain("passed" if one.passed else "failed", one.reason)
    if not all(gates):
        raise typer.Exit(_FAILED)
