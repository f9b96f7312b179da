"""Random order as one of the models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.comparison.contender import Contender

CHANCE = "chance"


def with_chance(found: Mapping[str, Contender]) -> dict[str, Contender]:
    """Return the models with random order of the same lists as the first of them.

    Raises
    ------
    InvalidInputError
        There is no chance level, or each model's lists have their own.
    """
    (name, first), *rest = found.items()
    if np.isnan(first.chance).all():
        msg = (
            f"{name!r} has no chance level, so that chance cannot be the baseline: its metrics do "
            "not depend on the order, or it was averaged from what has none."
        )
        raise InvalidInputError(msg)
    for other, one in rest:
        there = ~np.isnan(first.chance) & ~np.isnan(one.chance)
        if not np.allclose(first.chance[there], one.chance[there], rtol=1e-9):
            msg = (
                f"Chance is not one baseline here: random order of the lists of {name!r} and of "
                f"{other!r} scores differently, for they hold other items. Give n_items= or items= "
                "to RankedLists.from_labels, so that chance is that of the catalogue."
            )
            raise InvalidInputError(msg)
    known = ~np.isnan(first.chance)
    chance = replace(
        first,
        scores=first.chance,
        numerator=np.where(known, first.chance * first.denominator, 0.0),
        denominator=np.where(known, first.denominator, 0.0),
        runs=np.full((1, len(first.names)), np.nan),
        report=None,
    )
    return {CHANCE: chance, **found}
