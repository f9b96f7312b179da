"""reconcile: a metric as every library computes it."""

from __future__ import annotations

from typing import Annotated

import typer

from recsys_ndcg.cli.options import Choices, Style, complete, names_of, option, plan_of
from recsys_ndcg.cli.output import err, show_document
from recsys_ndcg.cli.reading import DataOptions, Written


def reconcile(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    written: Written,
    metric: Annotated[
        list[str],
        typer.Option(
            help="Such as precision@10; may be repeated.",
            show_default=False,
            autocompletion=complete("metric"),
        ),
    ],
    choices: Choices,
    reported: float | None = option("A number somebody published, to be explained."),
    style: Style,
) -> None:
    """Compute a metric as every library does.

    And tell which choices make the difference.
    """
    from recsys_ndcg.evaluation import lists_of
    from recsys_ndcg.reconciliation import in_one_table, reconciled, reconciliation_document

    plan = plan_of(choices, names_of(metric), [10])
    lists = lists_of(source.data(), plan, **written.form(), n_items=source.n_items)
    with err.status("Computing it as every library does"):
        table = reconciled(lists, plan, None, reported)
    if style.form == "text":
        conventions = [one.convention for one in plan.measurements]
        document = reconciliation_document(table, reported, conventions)
    else:
        document = in_one_table(table, reported)
    values = table.drop(columns="causes")
    show_document(document, values, style, tables_only=True)
