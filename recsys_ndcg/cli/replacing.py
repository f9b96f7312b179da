"""Whether what is measured may replace something older."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli.entries import Entries, check_there, read_entry
from recsys_ndcg.cli.gates import GateMetric, metric_of, need_margin
from recsys_ndcg.cli.source import check_way, files_of
from recsys_ndcg.cli.testing import Margin, Users, check_users
from recsys_ndcg.errors import InvalidInputError, about, warn_of_some
from recsys_ndcg.significance.testing import Testing

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from recsys_ndcg.cli.parameters import Source, Written
    from recsys_ndcg.comparison.gate import Gate
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.report.report import Report
    from recsys_ndcg.scoring.plan import Plan


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

    def read(self, source: Source, written: Written, k: Sequence[int]) -> Older:
        """Return what was measured before, or nothing.

        Raises
        ------
        InvalidInputError
            An option cannot be used, or has no baseline to be about; or a file is not there.
        """
        metric = None
        if self.fail_if_worse is None:
            given = [one.name for one in fields(self) if getattr(self, one.name) != one.default]
            if given:
                msg = f"--{given[0]} is about --fail-if-worse, which is not given."
                raise InvalidInputError(msg)
        else:
            need_margin(self.margin)
            Testing(alpha=self.alpha)
            check_users(self.users)
            metric = None if self.metric is None else metric_of(self.metric, "--metric", k)
        return Older(self, metric, _entries(source, written, self.fail_if_worse))


@dataclass(frozen=True)
class Older:
    """What was measured before, if that is asked for.

    Parameters
    ----------
    options : Replacing
        How it is compared.
    metric : Metric, optional
        In what; the first that is measured by default.
    entries : Entries
        What is measured now, and the older one.
    """

    options: Replacing
    metric: Metric | None
    entries: Entries

    @property
    def metrics(self) -> list[Metric]:
        """What must be measured for it."""
        return [] if self.metric is None else [self.metric]

    @property
    def files(self) -> dict[str, Path]:
        """What is read for it, by the option that names it."""
        _, *others = self.entries.files.values()
        return dict(zip(("--fail-if-worse",), others, strict=False))

    def reports(self, plan: Plan, *, progress: bool = True) -> dict[str, Report]:
        """Return the report of the older one by its name, if there is one.

        Raises
        ------
        InvalidInputError
            It cannot be read, or has other metrics.
        """
        _, *others = self.entries.files.items()
        metric = self.metric or plan.metrics[0]
        part = tuple(one for one in plan.measurements if one.metric == metric)
        older = replace(self.entries, given=tuple(others))
        with about("") as said:
            found = older.reports(replace(plan, measurements=part), [metric], progress=progress)
        warn_of_some({"": [], **dict.fromkeys(found, said)})
        return found

    def gates(self, report: Report, others: Mapping[str, Report]) -> Iterator[Gate]:
        """Tell whether it is shown that a report is not worse than the older one."""
        metric = report.metrics[0] if self.metric is None else str(self.metric)
        options, name = self.options, next(iter(self.entries.files))
        for other, before in others.items():
            from recsys_ndcg.comparison.reading_models import compare

            found = compare(
                {other: before, name: report},
                metrics=[metric],
                alpha=options.alpha,
                progress=False,
                users=options.users,
            )
            yield found.not_worse(name, other, margin=options.margin)


def _entries(source: Source, written: Written, other: str | None) -> Entries:
    """Return the file that is measured, and the older one if there is one."""
    read = files_of(source)
    check_way(read)
    *_, measured = read.values()
    if other is None:
        return Entries((("", measured),), source, written)
    entries = Entries((("", measured), read_entry(other)), source, written)
    for path in (*read.values(), *entries.files.values()):
        check_there(path)
    return entries
