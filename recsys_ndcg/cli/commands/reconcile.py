"""reconcile: a metric as every library computes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from recsys_ndcg.cli.data import Source, Written, lists_of
from recsys_ndcg.cli.options import METRIC_NAMES, Choices, Style, checked_form, names_of, plan_of
from recsys_ndcg.cli.process import emit, err, say, show, told

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.convention.convention import Convention


def reconcile(  # noqa: PLR0913 - one parameter per option
    *,
    source: Source,
    written: Written,
    metric: Annotated[
        list[str],
        typer.Option(
            help="Such as precision@10; may be repeated.",
            show_default=False,
            autocompletion=METRIC_NAMES,
        ),
    ],
    choices: Choices,
    reported: Annotated[
        float | None, typer.Option(help="A number somebody published, to be explained.")
    ] = None,
    style: Style,
) -> None:
    """Compute a metric as every library does.

    And tell which choices make the difference.
    """
    from recsys_ndcg.reconciliation import reconciled

    with told(quiet=style.quiet):
        form = checked_form(style.form)
        plan = plan_of(choices, names_of(metric), [10])
        lists = lists_of(source, written, plan.duplicates)
        with err.status("Computing it as every library does"):
            table = reconciled(lists, plan, None, reported)
        _show(table, form, reported, quiet=style.quiet)
        conventions = dict.fromkeys(one.convention for one in plan.measurements)
        for one in () if style.quiet or form != "text" else conventions:
            say(f"yours: {one.signature if style.full_signature else _short(one)}", "dim")


def _show(table: pd.DataFrame, form: str, reported: float | None, *, quiet: bool) -> None:
    """Print what was found of each metric in a form."""
    import pandas as pd

    from recsys_ndcg.rendering import terminal
    from recsys_ndcg.rendering.formats import table_as
    from recsys_ndcg.rendering.reconciled import grouped, notes

    parts = dict(iter(table.groupby("metric", sort=False)))
    if form != "text":
        found = {name: grouped(rows, reported) for name, rows in parts.items()}
        cells = pd.concat(found, names=["metric"]).reset_index("metric")
        emit(table_as(form, cells, table.drop(columns="causes")))
        return
    for rows in parts.values():
        show(terminal.reconciled(rows, reported))
        for line in () if quiet else notes(rows):
            say(f"- {line}", wrap=True)


def _short(convention: Convention) -> str:
    """Return the choices that are not the usual ones, as `--convention` reads them back."""
    from recsys_ndcg.convention.convention import Convention

    usual = Convention.default_texts()
    told = [f"{name}:{text}" for name, text in convention.texts.items() if text != usual[name]]
    return "|".join([*told, f"defaults:{Convention.default_digest()}"])
