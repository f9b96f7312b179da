"""presets, metrics: what there is."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from recsys_ndcg.cli.options import Format, Style
from recsys_ndcg.cli.output import show_document

if TYPE_CHECKING:
    from recsys_ndcg.metrics import Metric


def presets(*, form: Format = "text") -> None:
    """List the libraries whose numbers --preset reproduces."""
    from recsys_ndcg.convention import PRESETS

    rows = [
        {
            "preset": name,
            "as computed by": one.library,
            "metrics": one.metrics.replace(" ", ", "),
            "to be known": one.caveat,
        }
        for name, one in PRESETS.items()
    ]
    _show(rows, "Presets", form)


def metrics(*, form: Format = "text") -> None:
    """List the metrics, and what else they are called."""
    from recsys_ndcg.metrics import METRICS

    rows = [
        {
            "metric": _named(kind),
            "what it is": (vars(kind).get("__doc__") or "").strip().partition("\n")[0],
            "also called": ", ".join(kind.also_called),
        }
        for _, kind in sorted(METRICS.items())
    ]
    _show(rows, "Metrics", form)


def _show(rows: list[dict[str, Any]], title: str, form: str) -> None:
    import pandas as pd

    from recsys_ndcg.rendering import Document, Section, ShownTable

    table = pd.DataFrame(rows)
    shown = ShownTable(title, table, left=len(table.columns), numeric=())
    document = Document(facts=title, sections=[Section("list", title, "", [shown])])
    show_document(document, table, Style(form), tables_only=True)


def _named(kind: type[Metric]) -> str:
    """Return a metric's name as it may be typed, with its options and cutoff."""
    given = ",".join(f"{one.name}={one.default!r}" for one in fields(kind) if one.name != "k")
    return f"{kind.name}{f'({given})' if given else ''}{'' if kind.cutoff == 'none' else '@k'}"
