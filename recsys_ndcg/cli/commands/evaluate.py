"""evaluate: score lists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recsys_ndcg.cli.data import DataOptions, Scale, Written, files_of
from recsys_ndcg.cli.gates import Limits, Replacing, close, gated_plan
from recsys_ndcg.cli.options import Choices, MetricOptions, Style
from recsys_ndcg.cli.output import Files, show_document, signatures_by_metric
from recsys_ndcg.cli.process import err, out

if TYPE_CHECKING:
    from rich.console import Console

    from recsys_ndcg.report import Report


def evaluate(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    scale: Scale,
    written: Written,
    measured: MetricOptions,
    choices: Choices,
    files: Files,
    limits: Limits,
    replacing: Replacing,
    style: Style,
) -> None:
    """Score the lists in a file of user, item, estimated, true."""
    ks = measured.ks
    means, older = limits.read(ks), replacing.read(source, written, ks)
    read = {**files_of(source), **scale.files}
    gated = [one.metric for one in means]
    if older is not None:
        read |= zip(["--fail-if-worse"], older.entries.files.values(), strict=True)
        gated += [] if older.metric is None else [older.metric]
    files.check(read, style.form)
    plan = gated_plan(choices, measured.names, ks, gated)
    before = None if older is None else older.report(plan, progress=not style.quiet)
    report, streamed = scale.measured(source, written, plan, files.per_user, quiet=style.quiet)
    files = replace(files, per_user=None) if streamed else files
    gates = [one.of_report(report) for one in means]
    if older is not None and before is not None:
        gates.append(older.gate(report, before))
    show_report(report, style, err if files.pipes else out)
    files.write(report)
    close(gates, quiet=style.quiet)


def show_report(report: Report, style: Style, to: Console = out) -> None:
    """Print a report."""
    signed = signatures_by_metric(report, full=style.full_signature)
    values = report.summary.rename_axis("metric").reset_index()
    values["signature"] = values["metric"].map(signed)
    show_document(report.document(), values, style, to=to)
