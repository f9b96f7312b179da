"""The sections of a comparison that are tables, and the remarks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from recsys_ndcg.comparison.movers import movers as moving
from recsys_ndcg.comparison.page.drawn import drawn
from recsys_ndcg.input.ids import written
from recsys_ndcg.rendering import compared
from recsys_ndcg.rendering.page.names import shortened, told
from recsys_ndcg.rendering.page.parts import Fold, Section, Sentences, Table
from recsys_ndcg.rendering.table import number, signed
from recsys_ndcg.report.page import parts

if TYPE_CHECKING:
    from recsys_ndcg.comparison.models import Field
    from recsys_ndcg.comparison.page.view import Contested
    from recsys_ndcg.rendering.page.parts import Part

_AUDITS = 6  # models, of which each audit is shown,
_ROWS = 1_000_000  # but no more users in all: it takes a second for so many
_OTHERS = 4  # metrics beside the first
_MOVERS = 10
_LEADERBOARD = (
    "Models of one tier cannot be told apart by these users. The dot is the mean over users, the "
    "line its interval; the dashed lines are what needs no model."
)
_AUDITED = "What there is to say of single models is folded below."
_SEGMENTS = "The same comparison among groups of users: a model may be better for some only."
_MOVERS_LEAD = "The users for whom it makes the most difference which of the two models they get."


def leaderboard(comparison: Contested, before: str, after: str) -> Section:
    """Return the section of the models, with the pairs and the other metrics folded."""
    first, *others = comparison.metrics
    folds = [
        Fold(
            f"By {told(name)}",
            [
                Sentences([shortened(comparison.verdict_in(name), _names(comparison))]),
                *_board(comparison, name, before, after),
            ],
        )
        for name in others[:_OTHERS]
    ]
    shown = [*_board(comparison, first, before, after), _pairs(comparison, first), *folds]
    return Section("leaderboard", "Leaderboard", _LEADERBOARD, shown)


def _board(comparison: Contested, metric: str, before: str, after: str) -> list[Part]:
    """Return the models by a metric, and their intervals."""
    found = compared.table(comparison, metric)
    table = Table(
        f"Models by {told(metric)}",
        _by_model(found.cells),
        bold=found.bold,
        note=shortened(found.note, [metric, comparison.baseline]),
    )
    return [table, *drawn(comparison.field, "tiers", before, after, metric)]


def _pairs(comparison: Contested, metric: str) -> Fold:
    pairs = compared.table(comparison, metric, compared.PAIRS)
    table = Table(
        f"Pairs of models by {told(metric)}",
        _short(pairs.cells, ["a", "b"]),
        left=2,
        note=shortened(pairs.note, [metric]),
    )
    return Fold("The pairs", [table])


def _names(comparison: Contested) -> list[str]:
    return [*comparison.models, *comparison.metrics]


def audited(comparison: Contested, names: list[str]) -> Section:
    """Return the section of the remarks, with the audit of each model that has one."""
    folds: list[Part] = []
    most = max(1, min(_AUDITS, _ROWS // len(comparison.users)))
    for model, one in [*comparison.field.contenders.items()][:most]:
        if one.report is not None:
            lines = [shortened(line, names) for line in one.report.remarks]
            said: list[Part] = [Sentences(lines)] if lines else []
            folds.append(
                Fold(f"The audit of {told(model)}", [*said, parts.audit_table(one.report)])
            )
    more = _AUDITED if folds else ""
    return parts.audited(comparison.remarks, names, folds, more)


def segments(comparison: Contested) -> list[Section]:
    """Return the section of the segments, nothing if nobody asked for them."""
    if comparison.field.groups is None:
        return []
    metric = comparison.metrics[0]
    found = compared.table(comparison, metric, compared.SEGMENTS)
    table = Table(
        f"Segments of users by {told(metric)}",
        _short(found.cells, ["segment", "model"]),
        left=2,
        note=shortened(found.note, [metric, comparison.baseline]),
    )
    return [Section("segments", "For whom", _SEGMENTS, [table])]


def movers(field: Field, before: str, after: str) -> list[Section]:
    """Return the section of those who gain and lose most, nothing if nobody does."""
    both, entered = (before, after), field.contenders
    table = moving(both, (entered[before], entered[after]), field.metrics[0], _MOVERS).table
    if table.empty:
        return []
    values = [table.iloc[:, place].tolist() for place in range(5)]
    cells = pd.DataFrame(
        {
            "user": [told(written(one)) for one in table.index.tolist()],
            "items": [f"{one:.0f}" for one in values[0]],
        }
    )
    for name, scores in ((before, values[2]), (after, values[3])):
        told_of = [number(one) for one in scores]
        cells.insert(len(cells.columns), told(name), told_of, allow_duplicates=True)
    cells.insert(len(cells.columns), "gain", [signed(one) for one in values[4]], True)
    lead = f"{_MOVERS_LEAD} The gain is from {told(before)} to {told(after)}."
    caption = "Users who gain and lose most"
    return [Section("movers", "Who gains, who loses", lead, [Table(caption, cells)])]


def _by_model(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a leaderboard with the model first, by which a row is known."""
    order = ["model", *(name for name in cells if name != "model")]
    return _short(cells[order], ["model"])


def _short(cells: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """Return cells in which no name is without end."""
    return cells.assign(**{name: cells[name].map(told) for name in names}).rename(columns=told)
