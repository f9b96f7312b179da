"""evaluate, explain, reconcile: commands for one model."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.cli.comparison import BaselineGateOptions, exit_if_failed
from recsys_ndcg.cli.options import (
    REQUIRED,
    ConventionOptions,
    MetricOptions,
    option,
    parse_metric_names,
)
from recsys_ndcg.cli.output import FileOptions, OutputOptions, build_table_document, err, out
from recsys_ndcg.cli.sources import (
    DataOptions,
    FormatOptions,
    ItemOptionsWithTrain,
    ScaleOptions,
    escape_surrogates,
)
from recsys_ndcg.errors import emit_labelled_warnings, label_messages

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.rendering import Document
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Signature

#: Columns of an explanation whose numbers have as few digits as possible.
_SHORT_NUMBERS = ("estimated", "true", "gain", "discounted_gain", "dcg", "ideal_gain", "ideal_dcg")


def evaluate(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    scale: ScaleOptions,
    text_format: FormatOptions,
    metric_options: MetricOptions,
    convention: ConventionOptions,
    items: ItemOptionsWithTrain,
    files: FileOptions,
    gate: BaselineGateOptions,
    output: OutputOptions,
) -> None:
    """Evaluate predictions.

    FILE has the columns user, item, estimated and true.

    Examples
    --------
    recsys-ndcg evaluate predictions.csv -k 5,10 --threshold 4
    recsys-ndcg evaluate --labels clicks.csv --results top.csv.gz --metrics p@5
    zcat p.csv.gz | recsys-ndcg evaluate - --json - > report.json
    recsys-ndcg evaluate parts/*.parquet --memory-limit 2GB
    recsys-ndcg evaluate new.csv --fail-under ndcg@10=0.8
    recsys-ndcg evaluate new.csv --fail-if-worse old.json --margin 0.005
    """
    ks, progress = metric_options.read_cutoffs(convention.preset), not output.quiet
    means, metric = gate.parse(gate.margin, ks)
    models: dict[str, Path] = {}
    read = {**source.files, **scale.files}
    if gate.fail_if_worse is not None:
        gate.check()
        models = source.name_with_baseline(gate.fail_if_worse)
        name, other = models
        read["--fail-if-worse"] = models[other]
    files.check(read, output.form)
    plan = convention.plan(metric_options.names, ks, [*(one.metric for one in means), *metric])
    plan = items.add_to(plan)
    if models:
        gated = [*map(str, metric)] or plan.names[:1]
        part = tuple(each for each in plan.measurements if str(each) in gated)
        older = {other: models[other]}
        with label_messages("") as messages:
            how = text_format, replace(plan, measurements=part), gated
            reports = source.evaluate_each(older, *how, progress=progress)
        emit_labelled_warnings({"": [], other: messages})
    report = source.evaluate(text_format, plan, scale, per_user=files.users_file, progress=progress)
    gates = [one.check(report.summary.loc[str(one.metric)]) for one in means]
    if models:
        from recsys_ndcg.comparison import compare

        reports[name] = report
        comparison = compare(
            reports, metrics=gated, alpha=gate.alpha, users=gate.users, progress=False
        )
        gates.append(comparison.not_worse(name, other, margin=gate.margin))
    output.show_report(report, err if files.uses_stdout else out)
    files.write(report)
    exit_if_failed(gates, quiet=output.quiet)


def build_explanation_document(table: pd.DataFrame, signature: Signature) -> Document:
    """Return the table of `Report.explain` as a document; stars mark relevant items."""
    from recsys_ndcg.report import format_cells

    cells = format_cells(table.drop(columns="relevant"), brief=_SHORT_NUMBERS)
    stars = table["relevant"].fillna(value=False).map({True: "*", False: ""})
    cells["true"] += stars.to_numpy()
    cells = cells.rename(columns={"estimated": "est."})
    notes = ["*: relevant"] if stars.any() else []
    if signature.fields["ties"] == "expected" and table["estimated"].dropna().duplicated().any():
        notes.append("Items with the same estimate share the mean of their gains.")
    return build_table_document("Rank by rank", cells, notes, signature, n_left_aligned=2)


def explain(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    text_format: FormatOptions,
    user: str = option("Id of the user.", default=REQUIRED, show_default=False, metavar="ID"),
    k: int = option("Number of ranks.", "-k", "--k", default=10, metavar="K"),
    convention: ConventionOptions,
    output: OutputOptions,
) -> None:
    """Show rank by rank how a user's NDCG is computed.

    Examples
    --------
    recsys-ndcg explain predictions.csv --user 42 -k 5
    recsys-ndcg explain --qrels qrels.txt --run run.txt --user 301 --format csv
    """
    report = source.evaluate(text_format, convention.plan([f"ndcg@{k}"], [k]))
    table = report.explain(_find_user_id(report, user), k)
    for name in ("item", "ideal_item"):
        table[name] = escape_surrogates(table[name])
    (signature,) = report.signatures.values()
    output.show(build_explanation_document(table, signature), table.reset_index(), tables_only=True)


def _find_user_id(report: Report, user: str) -> Any:
    """Return the user's id, which may be a number."""
    ids = {str(one): one for one in report.users.tolist()}
    # in a locale of ASCII, Python decodes other characters as surrogates
    typed = os.fsencode(user).decode(errors="surrogateescape")
    return ids.get(user, ids.get(typed, user))


def reconcile(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    text_format: FormatOptions,
    metric: list[str] = option(
        "Metric, such as precision@10; repeatable.",
        "--metric",
        "--metrics",
        default=REQUIRED,
        show_default=False,
        completion="metric",
        metavar="METRIC[,METRIC...]",
    ),
    convention: ConventionOptions,
    items: ItemOptionsWithTrain,
    reported: float | None = option(
        "A published number to explain by the ten nearest values.", metavar="NUMBER"
    ),
    output: OutputOptions,
) -> None:
    """Compute a metric as each library does.

    Shows which options explain the differences from your number. --preset and --convention set
    how your number is computed. With --reported, your number is also computed with one or two
    choices changed, and only the ten values nearest to the reported one are shown.

    Examples
    --------
    recsys-ndcg reconcile predictions.csv --metric precision@10 --threshold 4
    recsys-ndcg reconcile p.parquet --metric ndcg@10 --reported 0.591
    """
    from recsys_ndcg.evaluation import read_lists
    from recsys_ndcg.reconciliation import build_one_table, reconcile_lists

    names = parse_metric_names(metric)
    plan = items.add_to(convention.plan(names, "default"))
    lists = read_lists(
        source.data(text_format), plan, **text_format.to_keywords(), n_items=source.n_items
    )
    lists = plan.add_background(lists)
    with err.status("Computing the metric as each library does"):
        table = reconcile_lists(lists, plan, reported, names)
    document = table.build_document() if output.form == "text" else build_one_table(table)
    output.show(document, table.drop(columns="causes"), tables_only=True)
