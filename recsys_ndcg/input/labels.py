"""Labels and results: two tables that are joined on user and item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, warn
from recsys_ndcg.input.column_names import column_list, may_be_grade
from recsys_ndcg.input.ids import Coded, refuse_alike, refuse_rows, type_names
from recsys_ndcg.input.rows import Rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.arrays import Floats, Ids
    from recsys_ndcg.input.frames import Table


def labels_from(table: Table) -> Rows:
    """Read the columns user, item and true; without the last one, every row counts as 1.

    Warns
    -----
    DataWarning
        A column is left that may have been meant.
    """
    further = table.further_columns()
    table.collect("user", "item", "true", *further)
    user, item = table.coded_ids()
    graded = table.may_have("true")
    true = table.numbers("true") if graded else np.ones(len(user))
    columns = {"user": user, "item": item, "true": true}
    labels = Rows(columns | {one: table.numbers(one) for one in further}, "labels")
    if not graded:
        warn_ungraded(table)
    table.say_names()
    return labels


def warn_ungraded(table: Table) -> None:
    """Warn of labels without a grade if a column that is not read may hold it, by its name.

    Warns
    -----
    DataWarning
        There is such a column.
    """
    possible = [one for one in table.unread if may_be_grade(one)]
    if possible:
        ids = [one for one in table.names if one not in table.unread]
        msg = (
            f"The labels have no column 'true', so that every row counts as 1. Unused: "
            f"{column_list(possible)}. If one of them is the grade, say "
            f"{table.naming('true')}; if none is, give users and items alone: labels[{ids}]."
        )
        warn(msg)


def score_column(table: Table) -> str:
    """Return which column of results tells their order: rank, or estimated.

    Raises
    ------
    InvalidInputError
        There is neither.
    """
    if "rank" in table:
        return "rank"
    if not table.may_have("estimated"):
        msg = (
            f"The results have neither a column 'rank' nor 'estimated'; they have "
            f"{column_list(table.names)}. Say what it is called: "
            f"{table.naming('estimated')}, or rank in its place."
        )
        raise InvalidInputError(msg)
    return "estimated"


def results_from(table: Table) -> Rows:
    """Read the columns user, item and rank or estimated.

    Raises
    ------
    InvalidInputError
        A rank is none: scores in its place would turn every list upside down.

    Warns
    -----
    DataWarning
        No list has a first rank.
    """
    name = score_column(table)
    ranked = name == "rank"
    further = table.further_columns()
    table.collect("user", "item", name, *further)
    numbers = table.numbers(name)
    if ranked:
        _check_ranks(numbers)
    scores = -numbers if ranked else numbers
    user, item = table.coded_ids()
    columns = {"user": user, "item": item, "estimated": scores}
    columns |= {one: table.numbers(one) for one in further}
    results = Rows(columns, "results", order_only=ranked, score=name)
    table.say_names()
    return results


_SCORES = "if these are scores, where the highest is best, say columns={'estimated': 'rank'}"
#: What to do where a rank is none.
RANKS = f"ranks are 1 for the best item, 2, 3, …; {_SCORES}"


def _check_ranks(ranks: Floats) -> None:
    """Refuse what is no rank; those of ties may be halves, their mean."""
    bad = (ranks < 0) | (ranks * 2 % 1 > 0)
    if bad.any():
        refuse_rows(bad, "rank", f"{ranks[bad][0]:g}, which is no rank,", RANKS)
    check_first_rank(np.fmin.reduce(ranks, initial=np.inf))


def check_first_rank(lowest: float) -> None:
    """Warn where no list has a first rank, given the least of all.

    Warns
    -----
    DataWarning
        None has.
    """
    if 2 < lowest < np.inf:  # those of three that share the first are 2, their mean
        warn(f"rank: no list has a first rank, the least of all is {lowest:g}; {_SCORES}.")


def check_same_ids(columns: Mapping[str, tuple[Any, Any]], names: tuple[str, str]) -> None:
    """Refuse ids of two tables that can never meet, warn where they do not.

    Parameters
    ----------
    columns : mapping
        ``{"user": (ids of the first, ids of the second)}``, and the same for the items.
    names : pair of text
        What the tables are called.

    Raises
    ------
    InvalidInputError
        One table writes its ids as text and the other as numbers.
    """
    for column, (known, found) in columns.items():
        if not in_common(known, found, column, names):
            msg = (
                f"No {column} of {names[1]} is among {names[0]}, so every score is 0. Were the ids "
                "numbered anew? Give both those of the same numbering."
            )
            warn(msg)


def in_common(known: Ids | Coded, found: Ids | Coded, column: str, names: tuple[str, str]) -> int:
    """Return how many distinct ids two columns share; refuse types that can never meet."""
    numbers = [one for one in (known, found) if isinstance(one, np.ndarray) and len(one)]
    if [one.dtype for one in numbers] == [np.int64, np.int64]:
        return len(np.intersect1d(pd.unique(numbers[0]), pd.unique(numbers[1])))
    ours, theirs = _distinct(known), _distinct(found)
    if all(isinstance(one, Coded) and one.ascending for one in (known, found)):  # text, all of it
        return len(ours & theirs)
    kinds, other = type_names(ours), type_names(theirs)
    if kinds.isdisjoint(other):
        msg = (
            f"{column}: {names[0]} have ids of type {'/'.join(sorted(kinds))} (such as "
            f"{next(iter(ours))!r}), {names[1]} of type {'/'.join(sorted(other))} (such as "
            f"{next(iter(theirs))!r}). Make them the same type, or nothing will match."
        )
        raise InvalidInputError(msg)
    if len(kinds | other) > 1:
        refuse_alike(np.fromiter(sorted(ours | theirs, key=str), dtype=object), column)
    return len(ours & theirs)


def _distinct(ids: Ids | Coded) -> set[Any]:
    if isinstance(ids, Coded):
        return set(ids.ids.tolist())
    if ids.dtype.kind in "iu":
        ids = pd.unique(ids)
    return set(np.unique(ids).tolist() if ids.dtype != object else ids.tolist())
