"""The compare command, and the gates that make a program exit with 1."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from recsys_ndcg.cli.options import Choices, MetricOptions, given_options, metric_of, option
from recsys_ndcg.cli.output import Page, Style, complain
from recsys_ndcg.cli.reading import Models, Written, check_there
from recsys_ndcg.errors import InvalidInputError, is_number
from recsys_ndcg.significance import CORRECTIONS, TESTS

if TYPE_CHECKING:
    from recsys_ndcg.comparison import Gate
    from recsys_ndcg.metrics import Metric

_USERS = "all: different users are refused; common: those that all models have are compared."
_MARGIN = "Up to which a difference does not matter, such as 0.005."
_FAILED = 1


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

    def gate(self, row: Any, of: str = "") -> Gate:
        """Tell whether a model passes, by its row in a table of means and users."""
        from recsys_ndcg.comparison import Gate

        name, mean = str(self.metric), row["mean"]
        if math.isnan(mean):
            return Gate(passed=False, reason=f"No user has a score in {name}{of}.")
        more = self.metric.greater_is_better
        bad = mean < self.value if more else mean > self.value
        side = f"{'' if bad else 'not '}{'below' if more else 'above'}"
        reason = (
            f"The mean {name}{of} is {mean:.6g} over {row['users']:.0f} users, {side} "
            f"{self.value:g}."
        )
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
    side = "--fail-under" if metric.greater_is_better else "--fail-over"
    if option != side:
        better = "more" if metric.greater_is_better else "less"
        msg = f"{option} {text}: {better} is better in {metric}, so give {side} {metric}={value:g}."
        raise InvalidInputError(msg)
    if metric.bounded and not 0 <= value <= 1:
        msg = f"{option} {text}: {metric} lies between 0 and 1, so that this says nothing."
        raise InvalidInputError(msg)
    return Limit(metric, value)


@dataclass(frozen=True)
class Gates:
    """Which means are good enough, and which model the others may not be worse than."""

    fail_under: list[str] | None = option(
        "Exit with 1 if the mean of a metric is below this: ndcg@10=0.8. May be repeated."
    )
    fail_over: list[str] | None = option(
        "Exit with 1 if the mean of an error is above this: rmse=0.95. May be repeated."
    )
    fail_if_worse: str | None = option(
        "Exit with 1 unless it is shown that the models are not worse than this one by "
        "--margin or more: the name of one, or a file.",
        metavar="BASELINE",
    )
    metric: str | None = option(
        "In what --fail-if-worse compares.  [default: the first]", words="metric"
    )

    def read(self, margin: float | None, k: Sequence[int]) -> tuple[list[Limit], list[Metric]]:
        """Return the limits of means, and in what --fail-if-worse compares.

        That is nothing for the first metric, or without a baseline.

        Raises
        ------
        InvalidInputError
            A limit is no metric with a number, or is on the wrong side; the margin is missing, or
            an option has no baseline to be about.
        """
        given = {"--fail-under": self.fail_under, "--fail-over": self.fail_over}
        limits = [_limit(one, text, k) for one, texts in given.items() for text in texts or []]
        late = [one for one in given_options(self) if not one.startswith("--fail")]
        if self.fail_if_worse is None and late:
            msg = f"{late[0]} is about --fail-if-worse, which is not given."
            raise InvalidInputError(msg)
        if self.fail_if_worse is not None and margin is None:
            msg = (
                "--fail-if-worse needs --margin: from which difference on a model is worse, such "
                "as --margin 0.005."
            )
            raise InvalidInputError(msg)
        return limits, [] if self.metric is None else [metric_of(self.metric, "--metric", k)]


@dataclass(frozen=True)
class Replacing(Gates):
    """What was measured before, and how far behind it one may be."""

    fail_if_worse: str | None = option(
        "Exit with 1 unless it is shown that this is not worse than BASELINE, a file of "
        "predictions or a saved report, by --margin or more.",
        metavar="BASELINE",
    )
    margin: float | None = option(_MARGIN)
    alpha: float = option("How often what is worse by the margin may pass.", default=0.05)
    users: str = option(_USERS, default="all", words="users")

    def check(self) -> None:
        """Refuse what cannot be used, before anything is measured."""
        from recsys_ndcg.comparison import check_options

        check_options(users=self.users, margin=self.margin, alpha=self.alpha)


def close(gates: Iterable[Gate], *, quiet: bool = False) -> None:
    """Say of each gate whether it passed and why, and end with 1 if one did not."""
    gates = list(gates)
    for one in gates:
        if not (quiet and one.passed):
            complain("passed" if one.passed else "failed", one.reason)
    if not all(gates):
        raise typer.Exit(_FAILED)


@dataclass(frozen=True)
class Statistics:
    """The options of a comparison."""

    baseline: str | None = option(
        "Against which model users are won and lost, or chance.  [default: the first]"
    )
    by: str | None = option(
        "Also for segments of the users: a file of user, segment, or activity, "
        "list_length, relevant, cold.",
        words="segments",
    )
    train: Path | None = option("What the models were trained on, for --by activity and --by cold.")
    users: str = option(_USERS, default="all", words="users")
    test: str = option(f"{', '.join(TESTS)}.", default="t", words="test")
    correction: str | None = option(
        f"For many pairs: {', '.join(CORRECTIONS)}.  [default: max-T, or holm]", words="correction"
    )
    alpha: float = option("How often equal models may be called different.", default=0.05)
    margin: float | None = option(_MARGIN)
    draws: int = option("Of signs, of users, and of what max-T needs.", default=10_000)
    seed: int = option("Of the draws.", default=0)

    def check(self, models: Collection[str]) -> None:
        """Refuse what cannot be used, before anything is measured."""
        from recsys_ndcg.comparison import check_options
        from recsys_ndcg.report import Report

        options = asdict(self)
        by, train = options.pop("by"), options.pop("train")
        check_options(models, **options)
        named = (None if by in Report.SEGMENTS else by, train)
        check_there(*(Path(path) for path in named if path is not None))


@dataclass(frozen=True)
class TableOptions:
    """What else is shown, and written."""

    pairs: bool = option("The pairs of models, too.", "--pairs", default=False)
    save: Path | None = option("Write the comparison to this file, as JSON.")

    def kinds(self, form: str, *, segments: bool) -> list[str]:
        """Return which tables are shown; CSV holds one.

        Raises
        ------
        InvalidInputError
            It would hold two.
        """
        more = ["pairs"] * self.pairs + ["segments"] * segments
        if form == "csv" and len(more) > 1:
            msg = "--format csv holds one table: the one of --pairs, or that of --by. Leave one."
            raise InvalidInputError(msg)
        return more if form == "csv" and more else ["leaderboard", *more]


def compare(  # noqa: PLR0913 - one parameter per option
    *,
    models: Models,
    written: Written,
    measured: MetricOptions,
    choices: Choices,
    statistics: Statistics,
    gate: Gates,
    tables: TableOptions,
    page: Page,
    style: Style,
) -> None:
    """Compare models user by user.

    Which is better, for whom, and how sure that is.

    Examples
    --------
    recsys-ndcg compare svd.csv knn.csv --threshold 4 --by activity
    recsys-ndcg compare --labels clicks.csv old=a.csv new=b.csv --metrics p@5
    recsys-ndcg compare old.json new.csv --fail-if-worse old --margin 0.005
    recsys-ndcg compare svd.csv knn.csv --html page.html
    """
    from recsys_ndcg.comparison import compare as comparison_of

    ks, names = measured.ks, measured.names
    kinds = tables.kinds(style.form, segments=statistics.by is not None)
    files, other = models.files(gate.fail_if_worse)
    limits, worse = gate.read(statistics.margin, ks)
    statistics.check(files)
    models.check(files, choices, models.source, written)
    page.check(files, save=tables.save)
    gated = [*(one.metric for one in limits), *worse]
    plan = choices.plan(names, ks, gated)
    progress = not style.quiet
    reports = models.source.evaluate_each(files, written, plan, gated, progress=progress)
    how = asdict(statistics) | {"baseline": statistics.baseline or other, "progress": progress}
    found = comparison_of(reports, metrics=names and [*names, *gated], k=ks, **how)
    if tables.save is not None:
        found.save(tables.save)
    if not page.write(found):
        style.show_comparison(found, kinds)
    judged = [name for name in files if name != other]
    gates = [
        limit.gate(found.leaderboards[str(limit.metric)].loc[model], f" of {model}")
        for limit in limits
        for model in judged
    ]
    if other is not None:
        metric = worse[0] if worse else None
        gates += [found.not_worse(model, other, metric=metric) for model in judged]
    close(gates, quiet=style.quiet)
