"""evaluate: score lists."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recsys_ndcg.cli.gates import Limits, Replacing, close, gated_plan
from recsys_ndcg.cli.options import Choices, MetricOptions, Style
from recsys_ndcg.cli.output import Files, err, out, show_document, with_signatures
from recsys_ndcg.cli.reading import (
    DataOptions,
    Scale,
    Written,
    check_there,
    evaluate_files,
    evaluate_models,
    named,
    read_entry,
)
from recsys_ndcg.errors import about, warn

if TYPE_CHECKING:
    from pathlib import Path

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
    ks, progress = measured.ks, not style.quiet
    means, metric = limits.read(ks), replacing.read(replacing.margin, ks)
    models = _models(source, replacing)
    older = dict([*models.items()][1:])
    gate = zip(["--fail-if-worse"], older.values(), strict=False)
    files.check({**source.files, **scale.files, **dict(gate)}, style.form)
    plan = gated_plan(choices, measured.names, ks, [*(one.metric for one in means), *metric])
    if models:
        metric = metric or plan.metrics[:1]
        part = tuple(one for one in plan.measurements if one.metric in metric)
        gated = replace(plan, measurements=part)
        with about("") as said:
            reports = evaluate_models(older, source, written, gated, metric, progress=progress)
        warn({"": [], **dict.fromkeys(older, said)})
    report = evaluate_files(source, written, plan, scale, per_user=files.users, progress=progress)
    gates = [one.gate(report.summary.loc[str(one.metric)]) for one in means]
    if models:
        from recsys_ndcg.comparison import compare

        name, other = models
        found = compare(
            reports | {name: report},
            metrics=metric,
            alpha=replacing.alpha,
            users=replacing.users,
            progress=False,
        )
        gates.append(found.not_worse(name, other, margin=replacing.margin))
    show_report(report, style, err if files.pipes else out)
    files.write(report)
    close(gates, quiet=style.quiet)


def _models(source: DataOptions, replacing: Replacing) -> dict[str, Path]:
    """Return what is measured and what was before, by their names; nothing without a gate."""
    if replacing.fail_if_worse is None:
        return {}
    from recsys_ndcg.comparison import check_options

    check_options(users=replacing.users, margin=replacing.margin, alpha=replacing.alpha)
    source.check()
    *_, path = source.files.values()
    models = named([("", path), read_entry(replacing.fail_if_worse)])
    for one in (*source.files.values(), *models.values()):
        check_there(one)
    return models


def show_report(report: Report, style: Style, to: Console = out) -> None:
    """Print a report."""
    values = with_signatures(report.summary.rename_axis("metric"), report, style)
    show_document(report.document(), values, style, to=to)
