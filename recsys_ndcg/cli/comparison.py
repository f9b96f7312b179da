"""compare, and the gates that end a command with exit code 1."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from recsys_ndcg.cli.options import (
    ConventionOptions,
    Flag,
    Integer,
    MetricName,
    MetricOptions,
    Number,
    list_changed_options,
    list_under,
    option,
    parse_metric,
)
from recsys_ndcg.cli.output import OutputOptions, PageOptions, print_message
from recsys_ndcg.cli.sources import (
    File,
    FormatOptions,
    ItemOptions,
    ModelOptions,
    check_files_exist,
    name_models,
    name_with_baseline,
    parse_entry,
)
from recsys_ndcg.errors import InvalidInputError, is_number, quote, suggest
from recsys_ndcg.significance import CORRECTIONS, FAMILIES, TESTS

if TYPE_CHECKING:
    from recsys_ndcg.findings import Gate
    from recsys_ndcg.metrics import Metric

Limits = Annotated[list[str], option("METRIC=NUMBER")]
Kinds = Annotated[list[str], option("KIND[,KIND...]", words="findings:list_kinds")]
Users = Annotated[str, option("all|common")]
Models = Annotated[str, Parameter(name="FILE", required=True)]
_FAILED = 1


class Limit(NamedTuple):
    """The limit of a metric's mean.

    Parameters
    ----------
    metric : Metric
        The metric: its mean fails below the limit, or above it if the metric is an error.
    value : float
        The limit.
    """

    metric: Metric
    value: float

    def check(self, row: Any, model: str | None = None) -> Gate:
        """Return whether a model passes; `row` has its mean and its number of users."""
        from recsys_ndcg.findings import check_mean

        names = {"metric": str(self.metric), "model": model}
        return check_mean(row, self.value, names, is_least=self.metric.greater_is_better)


def _parse_limit(option: str, text: str, k: Sequence[int | None]) -> Limit:
    name, equals, number = text.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not (equals and name.strip() and is_number(value)):
        msg = f"{option}: {text!r} is not of the form METRIC=NUMBER, such as ndcg@10=0.8."
        raise InvalidInputError(msg)
    metric = parse_metric(name, option, k)
    side = "--fail-under" if metric.greater_is_better else "--fail-above"
    if option != side:
        better = "higher" if metric.greater_is_better else "lower"
        msg = f"{option} {text}: {better} {metric} is better. Use {side} {metric}={value:g}."
        raise InvalidInputError(msg)
    if metric.bounded and not 0 <= value <= 1:
        msg = f"{option} {text}: {metric} is between 0 and 1. Give a limit in this range."
        raise InvalidInputError(msg)
    return Limit(metric, value)


@list_under("Pass or fail")
@dataclass(frozen=True)
class FindingOptions:
    """Findings that fail a result.

    Parameters
    ----------
    fail_on : list of str, optional
        Exit with 1 if there is an error, a warning (or an error), or a finding of this KIND, such
        as overlap_of_periods; repeatable.
    accept : list of str, optional
        Kind of finding that --fail-on lets pass; repeatable.
    """

    fail_on: Kinds | None = None
    accept: Kinds | None = None

    def check_kinds(self) -> None:
        """Raise if there is no such kind, before anything is evaluated."""
        from recsys_ndcg.findings import check_findings

        if self.fail_on:
            check_findings([], self.fail_on, self.accept or ())
        elif self.accept:
            msg = "--accept has no effect without --fail-on."
            raise InvalidInputError(msg)

    def judge(self, result: Any) -> list[Gate]:
        """Return the gate of a report, a comparison or a split, if there is one."""
        return [result.gate(self.fail_on, self.accept or ())] if self.fail_on else []


@list_under("Pass or fail")
@dataclass(frozen=True)
class GateOptions(FindingOptions):
    """Limits of means, and a baseline that the other models must not be worse than.

    Parameters
    ----------
    fail_under : list of str, optional
        Exit with 1 if the mean of a metric is below a limit, such as ndcg@10=0.8; repeatable.
    fail_above : list of str, optional
        Exit with 1 if a metric whose lower values are better is above a limit, such as
        rmse=0.95; repeatable.
    fail_if_worse : str, optional
        Exit with 1 unless a test shows that each other model is better than BASELINE (a model's
        name, or a file) or worse by less than --margin. Too few users cannot show it.
    gate_metric : str, optional
        Metric of --fail-if-worse.  [default: the first of --metrics]
    """

    fail_under: Limits | None = None
    fail_above: Limits | None = None
    fail_if_worse: Annotated[str | None, option("BASELINE")] = None
    gate_metric: Annotated[str | None, option("METRIC", words="metrics:METRICS")] = None

    def parse(
        self, margin: float | None, k: Sequence[int | None]
    ) -> tuple[list[Limit], list[Metric]]:
        """Return the limits of means, and the metric of --fail-if-worse if it is given.

        Raises
        ------
        InvalidInputError
            A limit is invalid, the margin is missing, or an option needs --fail-if-worse.
        """
        self.check_kinds()
        given = {"--fail-under": self.fail_under, "--fail-above": self.fail_above}
        limits = [
            _parse_limit(one, text, k) for one, texts in given.items() for text in texts or []
        ]
        others = ("--fail", "--accept")
        late = [name for name in list_changed_options(self) if not name.startswith(others)]
        if self.fail_if_worse is None and late:
            msg = f"{late[0]} has no effect without --fail-if-worse."
            raise InvalidInputError(msg)
        if self.fail_if_worse is not None and margin is None:
            msg = (
                "--fail-if-worse needs --margin, the largest difference that does not matter, such "
                "as --margin 0.005."
            )
            raise InvalidInputError(msg)
        gate = self.gate_metric
        return limits, [] if gate is None else [parse_metric(gate, "--gate-metric", k)]


@dataclass(frozen=True)
class BaselineGateOptions(GateOptions):
    """The gates of one model.

    Parameters
    ----------
    fail_if_worse : str, optional
        Exit with 1 unless a test shows that the model is better than BASELINE (predictions or a
        saved report) or worse by less than --margin. Too few users cannot show it.
    margin : float, optional
        Largest difference that does not matter, such as 0.005.
    alpha : float
        Significance level of the non-inferiority test.
    users : str
        For --fail-if-worse. all: both have the same users; common: test the common ones.
    """

    margin: Number | None = None
    alpha: Number = 0.05
    users: Users = "all"


def print_gates(gates: Iterable[Gate], *, quiet: bool = False) -> int:
    """Print whether each gate passed, and why; return the exit code."""
    gates = list(gates)
    for one in gates:
        if not (quiet and one.passed):
            print_message("passed" if one.passed else "failed", one.reason)
    return 0 if all(gates) else _FAILED


@list_under("Comparison")
@dataclass(frozen=True)
class StatisticsOptions:
    """The options of a comparison.

    Parameters
    ----------
    baseline : str, optional
        Model that the others are compared with, or chance.  [default: the first]
    by : str, optional
        Compare segments of users as well: activity (number of the user's ratings in --train, or
        of labelled items without --train), list_length (listed items), relevant (relevant items),
        cold (whether the user is in --train), or a file with columns user and segment.
    users : str
        all: every model must have the same users; common: compare those that all have.
    test : str
        Significance test: t, randomisation, bootstrap, wilcoxon or sign.
    correction : str, optional
        Correction for several pairs: max-T, holm, bonferroni, bh or none.
        [default: max-T; holm for wilcoxon and sign]
    family : str
        What is corrected together: all pairs in a metric, each model against the baseline (others
        are not tested), or all pairs in all metrics: pairs, baseline or metrics.
    alpha : float
        Significance level.
    margin : float, optional
        Largest difference that does not matter, such as 0.005.
    draws : int, optional
        Number of random draws of resampling tests, or of max-T.
        [default: 10000; 100000 for max-T of the t test]
    seed : int
        Random seed of the draws.
    """

    baseline: Annotated[str | None, option("MODEL")] = None
    by: Annotated[str | None, option("SEGMENTS", words="report:BUILT_IN_GROUPS")] = None
    users: Users = "all"
    test: Annotated[str, option("NAME", words=TESTS)] = "t"
    correction: Annotated[str | None, option("NAME", words=CORRECTIONS)] = None
    family: Annotated[str, option("NAME", words=FAMILIES)] = "pairs"
    alpha: Number = 0.05
    margin: Number | None = None
    draws: Integer | None = None
    seed: Integer = 0

    def check(self, models: Collection[str]) -> None:
        """Raise if an option is invalid, before anything is evaluated."""
        from recsys_ndcg.comparison import check_test_options
        from recsys_ndcg.report import BUILT_IN_GROUPS as GROUPS

        options = asdict(self)
        by = options.pop("by")
        check_test_options(**options, models=models)
        # a name without a folder or an ending is more likely a misspelt group than a missing file
        if by and by not in GROUPS and not (os.sep in by or Path(by).suffix or os.path.exists(by)):  # noqa: PTH110
            msg = f"--by: no built-in group or file is named {quote(by)}. {suggest(by, GROUPS)}"
            raise InvalidInputError(msg)
        if by and by not in GROUPS:
            check_files_exist(Path(by))


@list_under("Output")
@dataclass(frozen=True)
class TableOptions:
    """Further tables, and a file for the comparison.

    Parameters
    ----------
    pairs : bool
        Print a table of all pairs of models.
    save : Path, optional
        Write the comparison as JSON to this file.
    """

    pairs: Flag = False
    save: File | None = None

    def kinds(self, form: str, *, segments: bool) -> list[str]:
        """Return the kinds of tables to print.

        Raises
        ------
        InvalidInputError
            CSV would have two tables.
        """
        more = ["pairs"] * self.pairs + ["segments"] * segments
        if form == "csv" and len(more) > 1:
            msg = "--format csv has one table. Pass --pairs or --by, not both."
            raise InvalidInputError(msg)
        return more if form == "csv" and more else ["leaderboard", *more]


def compare(  # noqa: PLR0913 - one parameter per group of options
    *words: Models,
    source: ModelOptions = ModelOptions(),
    text_format: FormatOptions = FormatOptions(),
    metric_options: MetricOptions = MetricOptions(),
    convention: ConventionOptions = ConventionOptions(),
    items: ItemOptions = ItemOptions(),
    statistics: StatisticsOptions = StatisticsOptions(),
    gate: GateOptions = GateOptions(),
    tables: TableOptions = TableOptions(),
    page: PageOptions = PageOptions(),
    output: OutputOptions = OutputOptions(),
) -> int:
    """Compare models user by user.

    Shows which model is better, for which users, and whether the difference is significant.

    Parameters
    ----------
    words : str
        One file per model: predictions in any format that 'evaluate' reads, or a saved report.
        NAME=FILE gives the model a name.

    Examples
    --------
    recsys-ndcg compare svd.csv knn.csv --threshold 4 --by activity
    recsys-ndcg compare --labels clicks.csv old=a.csv new=b.csv --metrics p@5
    recsys-ndcg compare old.json new.csv --fail-if-worse old --margin 0.005
    recsys-ndcg compare svd.csv knn.csv --html page.html
    """
    from recsys_ndcg import compare as comparison_of

    ks, names = metric_options.read_cutoffs(convention.preset), metric_options.names
    kinds = tables.kinds(output.form, segments=statistics.by is not None)
    files, other = name_with_baseline(words, gate.fail_if_worse)
    limits, worse = gate.parse(statistics.margin, ks)
    statistics.check(files)
    source.check_models(files, convention, text_format)
    page.check(files, save=tables.save)
    gated = [*(one.metric for one in limits), *worse]
    plan = items.add_to(convention.plan(names, ks, gated))
    progress = not output.quiet
    reports = source.evaluate_each(files, text_format, plan, [*map(str, gated)], progress=progress)
    how = asdict(statistics) | {"baseline": statistics.baseline or other, "train": items.train}
    every: Any = names and [*names, *gated]
    comparison = comparison_of(reports, metrics=every, k=ks, **how, progress=progress)
    if tables.save is not None:
        comparison.save(tables.save)
    if not page.write(comparison):
        output.show_comparison(comparison, kinds)
    gated_models = [name for name in files if name != other]
    gates = [
        limit.check(comparison.leaderboards[str(limit.metric)].loc[model], model)
        for limit in limits
        for model in gated_models
    ]
    if other is not None:
        metric = worse[0] if worse else None
        gates += [comparison.not_worse(model, other, metric=metric) for model in gated_models]
    return print_gates(gates + gate.judge(comparison), quiet=output.quiet)


def across(
    *comparisons: Models,
    metric: MetricName | None = None,
    alpha: Number = 0.05,
    page: PageOptions = PageOptions(),
    output: OutputOptions = OutputOptions(),
) -> None:
    """Compare the same models on several data sets.

    Shows on how many data sets each model is better, and the mean standardised difference.

    Parameters
    ----------
    comparisons : str
        One saved comparison per data set: what compare --save wrote. NAME=FILE gives the data set
        a name.
    metric : str, optional
        Metric, such as precision@5.  [default: the first that all have]
    alpha : float
        Significance level of the means over data sets.

    Examples
    --------
    recsys-ndcg across ml-100k=small.json ml-1m=large.json
    recsys-ndcg across ml-100k=small.json ml-1m=large.json --html page.html
    """
    from recsys_ndcg import across as across_of

    files = name_models([parse_entry(one) for one in comparisons])
    check_files_exist(*files.values())
    page.check(files)
    name = None if metric is None else parse_metric(metric, "--metric", [10])
    found = across_of(files, metric=name, alpha=alpha)
    if not page.write(found):
        values = found.to_dict() if output.form == "json" else found.to_frame()
        output.show(found, values)
