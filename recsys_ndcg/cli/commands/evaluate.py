"""evaluate: score lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli import options
from recsys_ndcg.cli.gates import Limits, close, gated_plan
from recsys_ndcg.cli.output import Files, show_document, signatures_by_metric
from recsys_ndcg.cli.parameters import (
    METRIC_NAMES,
    Choices,
    Cutoffs,
    Source,
    Style,
    Written,
    checked_form,
)
from recsys_ndcg.cli.process import err, out, told
from recsys_ndcg.cli.replacing import Replacing
from recsys_ndcg.cli.scale import Scale
from recsys_ndcg.cli.source import files_of

if TYPE_CHECKING:
    from rich.console import Console

    from recsys_ndcg.report.report import Report


def evaluate(  # noqa: PLR0913 - one parameter per option
    *,
    source: Source,
    scale: Scale,
    written: Written,
    k: Cutoffs = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            help="Such as ndcg,precision@5,rr; may be repeated. 'recsys-ndcg metrics' lists them.",
            autocompletion=METRIC_NAMES,
        ),
    ] = None,
    choices: Choices,
    files: Files,
    limits: Limits,
    replacing: Replacing,
    style: Style,
) -> None:
    """Score the lists in a file of user, item, estimated, true."""
    with told(quiet=style.quiet):
        form = checked_form(style.form)
        names, ks = options.names_of(metrics) if metrics else None, options.cutoffs(k or ["10"])
        means, older = limits.read(ks), replacing.read(source, written, ks)
        files.check({**files_of(source), **scale.files, **older.files}, form)
        plan = gated_plan(choices, names, ks, [*(one.metric for one in means), *older.metrics])
        before = older.reports(plan, progress=not style.quiet)
        report, files = scale.measured(source, written, plan, files, quiet=style.quiet)
        gates = [*(one.of_report(report) for one in means), *older.gates(report, before)]
        show_report(report, form, style, err if files.pipes else out)
        files.write(report)
        close(gates, quiet=style.quiet)


def show_report(report: Report, form: str, style: Style, to: Console = out) -> None:
    """Print a report in a form."""
    from recsys_ndcg.report.document import report_document

    signed = signatures_by_metric(report, full=style.full_signature)
    values = report.summary.rename_axis("metric").reset_index()
    values["signature"] = values["metric"].map(signed)
    show_document(report_document(report), values, form, style, to=to)
