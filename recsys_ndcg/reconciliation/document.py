"""What people read of a reconciliation: presets with the same number stand together."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from recsys_ndcg.convention import PRESETS, Convention
from recsys_ndcg.rendering import Code, Document, Section, Sentences, ShownTable, number, signed

_YOURS, _CHANGED = "(yours)", "(yours, changed)"
_MOST = 10  # rows that are told when a reported number is looked for
_NUMERIC = ("value", "difference", "gap")
_LEAD = "The metric as each library computes it, and which choices make the difference."


def reconciliation_document(
    table: pd.DataFrame, reported: float | None, conventions: Iterable[Convention]
) -> Document:
    """Return what `reconcile` says, a section for each metric.

    Parameters
    ----------
    table : pandas.DataFrame
        As `reconcile` returns it.
    reported : float, optional
        The number that was looked for.
    conventions : iterable of Convention
        Those that the presets are held against.
    """
    goal = "" if reported is None else f", reported {reported}"
    sections = []
    for name, rows in table.groupby("metric", sort=False):
        title = f"{name}: yours {number(rows['yours'].iloc[0])}{goal}"
        cells = _grouped(rows, reported)
        shown = ShownTable(str(name), cells, note=title, numeric=_NUMERIC)
        sections.append(Section(str(name), title, _LEAD, [shown, Sentences(_notes(rows))]))
    known = list(dict.fromkeys(conventions))
    full = [f"yours: {one.signature}" for one in known]
    how = Code("The convention", full, [f"yours: {_short(one)}" for one in known])
    return Document(
        facts=f"{len(sections)} metrics under {len(PRESETS)} presets",
        sections=[*sections, Section("how", "How this was computed", _LEAD, [how])],
    )


def in_one_table(table: pd.DataFrame, reported: float | None) -> Document:
    """Return the same of all metrics as one table, for programs that read tables."""
    found = {name: _grouped(rows, reported) for name, rows in table.groupby("metric", sort=False)}
    cells = pd.concat(found, names=["metric"]).reset_index("metric")
    shown = ShownTable("The metrics under every preset", cells)
    return Document(facts="", sections=[Section("presets", "Presets", _LEAD, [shown])])


def _short(convention: Convention) -> str:
    """Return the choices that are not the usual ones, as a signature has them."""
    usual = Convention.default_texts()
    told = [f"{name}:{text}" for name, text in convention.texts.items() if text != usual[name]]
    return "|".join([*told, f"defaults:{Convention.default_digest()}"])


def _grouped(rows: pd.DataFrame, reported: float | None = None) -> pd.DataFrame:
    """Return the rows of one metric as text, one for each number and what leads to it.

    The highest value comes first, or what is closest to the reported number. A library that has
    no such metric stands in brackets.
    """
    metric = rows["metric"].iloc[0]
    names = [
        _named(preset, metric) if isinstance(preset, str) else _CHANGED if causes else _YOURS
        for preset, causes in zip(rows["preset"], rows["causes"], strict=True)
    ]
    rows = rows.assign(preset=names)
    if reported is None:
        yours = rows["yours"].iloc[0]
        own = {"preset": _YOURS, "value": yours, "difference": yours - yours, "changes": ""}
        rows = pd.concat([rows, pd.DataFrame([own])], ignore_index=True)
        rows = rows.sort_values("value", ascending=False, kind="stable")
    cells = pd.DataFrame(
        {
            "value": [number(value) for value in rows["value"]],
            "difference": [signed(value) for value in rows["difference"]],
            **({} if reported is None else {"gap": [signed(value) for value in rows["gap"]]}),
            "what moves yours there": rows["changes"],
        }
    )
    keys = [*cells]
    cells.insert(len(keys) - 1, "computed by", rows["preset"])
    found = cells.groupby(keys, sort=False)["computed by"].agg(", ".join).reset_index()
    return found[[*cells]].head(len(found) if reported is None else _MOST)


def _notes(rows: pd.DataFrame) -> list[str]:
    """Return what is to be known of some presets, those with the same reason together."""
    metric = rows["metric"].iloc[0]
    presets: dict[str, list[str]] = {}
    for preset, value, note in zip(rows["preset"], rows["value"], rows["note"], strict=True):
        if isinstance(preset, str):
            reason = note if np.isnan(value) else PRESETS[preset].note(metric)
            presets.setdefault(reason, []).append(preset)
    lines = [f"{', '.join(names)}: {reason}" for reason, names in presets.items() if reason]
    if not all(PRESETS[preset].has(metric) for preset in rows["preset"].dropna()):
        lines.append(
            f"in brackets: libraries without {metric}, whose other choices make this of it"
        )
    return lines


def _named(preset: str, metric: str) -> str:
    return preset if PRESETS[preset].has(metric) else f"[{preset}]"
