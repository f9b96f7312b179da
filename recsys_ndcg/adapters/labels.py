"""Labels and results: two tables that are joined on user and item."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.adapters.rows import Rows
from recsys_ndcg.errors import DataWarning, InvalidInputError
from recsys_ndcg.grouping import Ids, type_names

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.adapters.frames import Table
    from recsys_ndcg.convention import Floats


@dataclass(frozen=True)
class Labels:
    """What is known: the true grade of a user for an item, NaN where it is not."""

    user: Ids
    item: Ids
    true: Floats


@dataclass(frozen=True)
class Results:
    """What was recommended: a score for a user and an item, higher first."""

    user: Ids
    item: Ids
    estimated: Floats

    def __post_init__(self) -> None:
        """Hold the scores to the same checks as those of predictions."""
        Rows(self.user, self.item, self.estimated, np.zeros(len(self.estimated)))


def labels_from(table: Table) -> Labels:
    """Read the columns user, item and true."""
    return Labels(table.ids("user"), table.ids("item"), table.numbers("true"))


def results_from(table: Table) -> Results:
    """Read the columns user, item and rank or estimated."""
    name = "rank" if "rank" in table else "estimated"
    if name not in table:
        msg = (
            f"The results have neither a column 'rank' nor 'estimated'; they have "
            f"{', '.join(table.names)}. Columns={{'rank': ...}} says what it is called."
        )
        raise InvalidInputError(msg)
    numbers = table.numbers(name)
    return Results(table.ids("user"), table.ids("item"), -numbers if name == "rank" else numbers)


def check_same_ids(labels: Labels, results: Results) -> None:
    """Refuse ids that can never meet, warn where they do not.

    Raises
    ------
    InvalidInputError
        One table writes its ids as text and the other as numbers.
    """
    tables: Mapping[str, tuple[Any, Any]] = {
        "user": (labels.user, results.user),
        "item": (labels.item, results.item),
    }
    for column, (known, found) in tables.items():
        ours, theirs = _distinct(known), _distinct(found)
        kinds, other = type_names(ours), type_names(theirs)
        if kinds.isdisjoint(other):
            msg = (
                f"{column}: the labels have ids of type {'/'.join(sorted(kinds))} (such as "
                f"{next(iter(ours))!r}), the results of type {'/'.join(sorted(other))} (such as "
                f"{next(iter(theirs))!r}). Make them the same type, or nothing will match."
            )
            raise InvalidInputError(msg)
        if ours.isdisjoint(theirs):
            msg = f"No {column} of the results is among the labels, so every score is 0."
            warnings.warn(msg, DataWarning, stacklevel=2)


def _distinct(ids: Ids) -> set[Any]:
    return set(np.unique(ids).tolist() if ids.dtype != object else ids.tolist())
