"""explain: where a user's NDCG comes from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recsys_ndcg.cli.options import Choices, Style, option, plan_of
from recsys_ndcg.cli.output import show_document
from recsys_ndcg.cli.reading import DataOptions, Written, escape_surrogates, evaluate_files

if TYPE_CHECKING:
    from recsys_ndcg.report import Report


def explain(  # noqa: PLR0913 - one parameter per option
    *,
    source: DataOptions,
    written: Written,
    user: Annotated[str, typer.Option(help="The user's id.", show_default=False)],
    k: int = option("How many ranks.", "-k", default=10),
    choices: Choices,
    style: Style,
) -> None:
    """Show rank by rank where a user's NDCG comes from."""
    from recsys_ndcg.report import explanation_document

    plan = plan_of(choices, [f"ndcg@{k}"], [k])
    report = evaluate_files(source, written, plan)
    table = report.explain(_id_as_in(report, user), k)
    for name in ("item", "ideal_item"):
        table[name] = escape_surrogates(table[name])
    (signature,) = report.signatures.values()
    document = explanation_document(table, signature)
    show_document(document, table.reset_index(), style, tables_only=True)


def _id_as_in(report: Report, user: str) -> Any:
    """Return the id that is written like this; the command line knows only text."""
    ids = {str(one): one for one in report.users.tolist()}
    # where the locale knows ASCII alone, Python could not read what was typed
    typed = os.fsencode(user).decode(errors="surrogateescape")
    return ids.get(user, ids.get(typed, user))
