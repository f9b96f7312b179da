"""evaluate, explain, reconcile: what measures the lists of one model."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.cli.comparing import Replacing, close
from recsys_ndcg.cli.options import REQUIRED, Choices, MetricOptions, names_of, option
from recsys_ndcg.cli.output import Files, Style, err, out, table_document
from recsys_ndcg.cli.reading import DataOptions, Scale, Written, escape_surrogates
from recsys_ndcg.errors import emit_labelled_warnings, label_messages

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.rendering import Document
    from recsys_ndcg.report import Report
    from recsys_ndcg.scoring import Signature

#: What an explanation has in as few digits as it takes.
_BRIEF = ("estimated", "true", "gain", "discounted_gain", "dcg", "ideal_gain", "ideal_dcg")


def evaluate(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    scale: Scale,
    written: Written,
    measured: MetricOptions,
    choices: Choices,
    files: Files,
    replacing: Replacing,
    style: Style,
) -> None:
    """Score the lists in a file of user, item, estimated, true.

    Examples
    --------
    recsys-ndcg evaluate predictions.csv -k 5,10 --threshold 4
    recsys-ndcg evaluate --labels clicks.csv --results top.csv.gz --metrics p@5
    zcat p.csv.gz | recsys-ndcg evaluate - --json - > report.json
    recsys-ndcg evaluate parts/*.parquet --memory-limit 2GB
    recsys-ndcg evaluate new.csv --fail-under ndcg@10=0.8
    recsys-ndcg evaluate new.csv --fail-if-worse old.json --margin 0.005
    """
    ks, progress = measured.ks, not style.quiet
    means, metric = replacing.read(replacing.margin, ks)
    models: dict[str, Path] = {}
    read = {**source.files, **scale.files}
    if replacing.fail_if_worse is not None:
        replacing.check()
        models = source.with_baseline(replacing.fail_if_worse)
        name, other = models
        read["--fail-if-worse"] = models[other]
    files.check(read, style.form)
    plan = choices.plan(measured.names, ks, [*(one.metric for one in means), *metric])
    if models:
        metric = metric or plan.metrics[:1]
        part = tuple(one for one in plan.measurements if one.metric in metric)
        gated = replace(plan, measurements=part)
        older = {other: models[other]}
        with label_messages("") as said:
            reports = source.evaluate_each(older, written, gated, metric, progress=progress)
        emit_labelled_warnings({"": [], other: said})
    report = source.evaluate(written, plan, scale, per_user=files.users, progress=progress)
    gates = [one.gate(report.summary.loc[str(one.metric)]) for one in means]
    if models:
        from recsys_ndcg.comparison import compare

        found = compare(
            reports | {name: report},
            metrics=metric,
            alpha=replacing.alpha,
            users=replacing.users,
            progress=False,
        )
        gates.append(found.not_worse(name, other, margin=replacing.margin))
    style.show_report(report, err if files.pipes else out)
    files.write(report)
    close(gates, quiet=style.quiet)


def explanation_document(table: pd.DataFrame, signature: Signature) -> Document:
    """Return what `Report.explain` says of a user's list, relevant items marked with a star."""
    from recsys_ndcg.report import format_cells

    cells = format_cells(table.drop(columns="relevant"), brief=_BRIEF)
    stars = table["relevant"].fillna(value=False).map({True: "*", False: ""})
    cells["true"] += stars.to_numpy()
    cells = cells.rename(columns={"estimated": "est."})
    return table_document("Rank by rank", cells, signature=signature, left=2)


def explain(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    written: Written,
    user: str = option("The user's id.", default=REQUIRED, show_default=False),
    k: int = option("How many ranks.", "-k", default=10),
    choices: Choices,
    style: Style,
) -> None:
    """Show rank by rank where a user's NDCG comes from.

    Examples
    --------
    recsys-ndcg explain predictions.csv --user 42 -k 5
    recsys-ndcg explain --qrels qrels.txt --run run.txt --user 301 --format csv
    """
    report = source.evaluate(written, choices.plan([f"ndcg@{k}"], [k]))
    table = report.explain(_id_as_in(report, user), k)
    for name in ("item", "ideal_item"):
        table[name] = escape_surrogates(table[name])
    (signature,) = report.signatures.values()
    document = explanation_document(table, signature)
    style.show(document, table.reset_index(), tables_only=True)


def _id_as_in(report: Report, user: str) -> Any:
    """Return the id that is written like this; the command line knows only text."""
    ids = {str(one): one for one in report.users.tolist()}
    # where the locale knows ASCII alone, Python could not read what was typed
    typed = os.fsencode(user).decode(errors="surrogateescape")
    return ids.get(user, ids.get(typed, user))


def reconcile(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    written: Written,
    metric: list[str] = option(
        "Such as precision@10; may be repeated.",
        default=REQUIRED,
        show_default=False,
        words="metric",
    ),
    choices: Choices,
    reported: float | None = option("A number somebody published, to be explained."),
    style: Style,
) -> None:
    """Compute a metric as every library does.

    And tell which choices make the difference.

    Examples
    --------
    recsys-ndcg reconcile predictions.csv --metric precision@10 --threshold 4
    recsys-ndcg reconcile p.parquet --metric ndcg@10 --reported 0.591
    """
    from recsys_ndcg.evaluation import lists_of
    from recsys_ndcg.reconciliation import in_one_table, reconciled, reconciliation_document

    plan = choices.plan(names_of(metric), [10])
    lists = lists_of(source.data(), plan, **written.form(), n_items=source.n_items)
    with err.status("Computing it as every library does"):
        table = reconciled(lists, plan, reported)
    if style.form == "text":
        conventions = [one.convention for one in plan.measurements]
        document = reconciliation_document(table, reported, conventions)
    else:
        document = in_one_table(table)
    values = table.drop(columns="causes")
    style.show(document, values, tables_only=True)
