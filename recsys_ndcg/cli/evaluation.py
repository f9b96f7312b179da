"""evaluate, explain, reconcile: commands for one model."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from recsys_ndcg.cli.comparison import BaselineGateOptions, print_gates
from recsys_ndcg.cli.options import (
    ConventionOptions,
    Cutoff,
    MetricNames,
    MetricOptions,
    Number,
    option,
    parse_metric_names,
)
from recsys_ndcg.cli.output import FileOptions, OutputOptions, build_table_document, err, out
from recsys_ndcg.cli.sources import (
    DataOptions,
    FormatOptions,
    ItemOptions,
    ManyFilesOptions,
    Predictions,
    check_files_exist,
    escape_surrogates,
    name_models,
    parse_entry,
)
from recsys_ndcg.errors import emit_labelled_warnings, label_messages

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.rendering import Document
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Signature


def evaluate(  # noqa: PLR0913 - one parameter per group of options
    *files: Predictions,
    source: ManyFilesOptions = ManyFilesOptions(),
    text_format: FormatOptions = FormatOptions(),
    metric_options: MetricOptions = MetricOptions(),
    convention: ConventionOptions = ConventionOptions(),
    items: ItemOptions = ItemOptions(),
    written: FileOptions = FileOptions(),
    gate: BaselineGateOptions = BaselineGateOptions(),
    output: OutputOptions = OutputOptions(),
) -> int:
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
    source = source.take(*files)
    ks, progress = metric_options.read_cutoffs(convention.preset), not output.quiet
    means, metric = gate.parse(gate.margin, ks)
    models: dict[str, Path] = {}
    read = source.all_files
    if gate.fail_if_worse is not None:
        from recsys_ndcg.comparison import check_test_options

        check_test_options(users=gate.users, margin=gate.margin, alpha=gate.alpha)
        source.check()
        models = name_models([("", [*source.files.values()][-1]), parse_entry(gate.fail_if_worse)])
        name, other = models
        check_files_exist(*source.files.values(), models[other])
        read["--fail-if-worse"] = models[other]
    written.check(read, output.form)
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
    report = source.evaluate(text_format, plan, per_user=written.users_file, progress=progress)
    gates = [one.check(report.summary.loc[str(one.metric)]) for one in means]
    if models:
        from recsys_ndcg import compare

        reports[name] = report
        comparison = compare(
            reports, metrics=gated, alpha=gate.alpha, users=gate.users, progress=False
        )
        gates.append(comparison.not_worse(name, other, margin=gate.margin))
    output.show_report(report, err if written.uses_stdout else out)
    written.write(report)
    return print_gates(gates + gate.judge(report), quiet=output.quiet)


def build_explanation_document(table: pd.DataFrame, signature: Signature) -> Document:
    """Return the table of `Report.explain` as a document; stars mark relevant items."""
    from recsys_ndcg.rendering import show_columns

    cells = show_columns(table.drop(columns="relevant").reset_index())
    stars = table["relevant"].fillna(value=False).map({True: "*", False: ""})
    cells["true"] += stars.to_numpy()
    notes = ["*: relevant"] if stars.any() else []
    if signature.fields["ties"] == "expected" and table["estimated"].dropna().duplicated().any():
        notes.append("Items with the same estimate share the mean of their gains.")
    return build_table_document("Rank by rank", cells, notes, signature, n_left_aligned=2)


def explain(  # noqa: PLR0913 - one parameter per group of options
    file: Predictions | None = None,
    /,
    *,
    source: DataOptions = DataOptions(),
    text_format: FormatOptions = FormatOptions(),
    user: Annotated[str, option("ID")],
    k: Cutoff = 10,
    convention: ConventionOptions = ConventionOptions(),
    output: OutputOptions = OutputOptions(),
) -> None:
    """Show rank by rank how a user's NDCG is computed.

    Parameters
    ----------
    user : str
        Id of the user.
    k : int
        Number of ranks.

    Examples
    --------
    recsys-ndcg explain predictions.csv --user 42 -k 5
    recsys-ndcg explain --qrels qrels.txt --run run.txt --user 301 --format csv
    """
    report = source.take(file).evaluate(text_format, convention.plan([f"ndcg@{k}"], [k]))
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


def reconcile(  # noqa: PLR0913 - one parameter per group of options
    file: Predictions | None = None,
    /,
    *,
    source: DataOptions = DataOptions(),
    text_format: FormatOptions = FormatOptions(),
    metric: Annotated[MetricNames, Parameter(name=("--metric", "--metrics"))],
    convention: ConventionOptions = ConventionOptions(),
    items: ItemOptions = ItemOptions(),
    reported: Number | None = None,
    output: OutputOptions = OutputOptions(),
) -> None:
    """Compute a metric as each library does.

    Shows which options explain the differences from your number. --preset and --convention set
    how your number is computed. With --reported, your number is also computed with one or two
    choices changed, and only the ten values nearest to the reported one are shown.

    Parameters
    ----------
    metric : list of str
        Metric, such as precision@10; repeatable.
    reported : float, optional
        A published number to explain by the ten nearest values.

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
        source.take(file).data(text_format),
        plan,
        **text_format.to_keywords(),
        n_items=source.n_items,
    )
    lists = plan.add_background(lists)
    with err.status("Computing the metric as each library does"):
        table = reconcile_lists(lists, plan, reported, names)
    document = table.build_document() if output.form == "text" else build_one_table(table)
    output.show(document, table.drop(columns="causes"), tables_only=True)
