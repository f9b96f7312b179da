"""The page of a comparison: what it holds, in which order, and how each part is to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.comparison.common_users import CHANCE
from recsys_ndcg.comparison.page import tables
from recsys_ndcg.comparison.page.drawn import by_activity, by_best, differences, trade_off
from recsys_ndcg.comparison.page.reproducing import comparing
from recsys_ndcg.comparison.page.users import users_of
from recsys_ndcg.comparison.tables import best_first
from recsys_ndcg.comparison.verdict import verdict
from recsys_ndcg.rendering import compared
from recsys_ndcg.rendering.page.assembling import written
from recsys_ndcg.rendering.page.names import shortened, told
from recsys_ndcg.rendering.page.parts import Page
from recsys_ndcg.report.page.parts import spread
from recsys_ndcg.report.page.signing import signing

if TYPE_CHECKING:
    from pathlib import Path

    from recsys_ndcg.comparison.models import Field
    from recsys_ndcg.comparison.page.view import Contested
    from recsys_ndcg.rendering.page.parts import Section


def write(comparison: Contested, path: str | Path | None, command: str | None = None) -> str:
    """Return the page of a comparison, and write it if a path is given.

    Parameters
    ----------
    comparison : Contested
        Any.
    path : str or Path, optional
        The file.
    command : str, optional
        What was typed to make it, if that was a command line.

    Raises
    ------
    MissingExtraError
        What the extra `report` brings is not installed.
    InvalidInputError
        The file cannot be written.
    """
    return written(page_of(comparison, command), path)


def page_of(comparison: Contested, command: str | None = None) -> Page:
    """Return what the page of a comparison holds."""
    field = comparison.field
    names = [*field.models, *field.metrics]
    ordered = [field.models[place] for place in best_first(field.deciding)]
    best = next(name for name in ordered if name != CHANCE)
    before = field.baseline
    after = next(name for name in ordered if name != before)
    sections = [
        tables.leaderboard(comparison, before, after),
        tables.audited(comparison, names),
        *_spread(field, best),
        *differences(field, before, after),
        *by_best(field, best),
        *by_activity(field, before, after),
        *tables.segments(comparison),
        users_of(field, before, after, best),
        *tables.movers(field, before, after),
        *trade_off(field),
        signing(comparison, names, comparing(field), command),
    ]
    return Page(
        title=f"{len(field.models)} models compared",
        verdict=shortened(verdict(field.deciding), names),
        facts=compared.head(comparison),
        sections=sections,
    )


def _spread(field: Field, best: str) -> list[Section]:
    contest = field.deciding
    place = contest.models.index(best)
    score, chance = contest.scores[:, place], contest.chance[:, place]
    return spread(score, chance, contest.name, f"These are the scores of {told(best)}.")
