"""Segments: groups of users, built in or as somebody says who is in which."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from recsys_ndcg.errors import InvalidInputError, nearest, shown
from recsys_ndcg.input.frames import checked_columns
from recsys_ndcg.report.segments.built_in import BUILT_IN, built_in
from recsys_ndcg.report.segments.membership import FORMS, in_mapping, in_series, returned
from recsys_ndcg.report.segments.user_columns import has_column, in_table, is_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from recsys_ndcg.arrays import Ids
    from recsys_ndcg.report.segments.membership import Membership
    from recsys_ndcg.scoring.scores import ListCounts

__all__ = ["BUILT_IN", "refuse_both", "segments_of"]


def segments_of(  # noqa: PLR0913 - what a report has, and what somebody says
    groups: Any,
    users: Ids,
    counts: ListCounts,
    per_user: Callable[[], pd.DataFrame],
    *,
    data: Any = None,
    train: Any = None,
    columns: Mapping[str, str] | None = None,
) -> pd.Series[Any]:
    """Return the segment of each user of a report.

    Parameters
    ----------
    groups : str, mapping, Series, table, path or callable
        As in `recsys_ndcg.Report.by`.
    users : array
        The ids of the report.
    counts : ListCounts
        Of the same users.
    per_user : callable
        Returns the table of their scores; called only for a function of it.
    data : table or path, optional
        Has the column that `groups` names.
    train : trainset, table, path or ids, optional
        What the model was trained on.
    columns : mapping, optional
        ``{"user": ...}`` says what the tables call their users.

    Returns
    -------
    pandas.Series
        Categorical, indexed by user in the order of `users`: the categories are those that
        somebody has, in ascending order or in their own; NaN for users in no group.

    Raises
    ------
    InvalidInputError
        `groups` is nothing of this, or does not fit the users.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2), (2, 1)]})
    >>> counts = report.scores.counts
    >>> segments_of("list_length", report.users, counts, lambda: report.per_user).tolist()
    ['2', '3']
    """
    checked_columns(columns)
    if isinstance(groups, str) and groups in BUILT_IN:
        return built_in(groups, users, counts, train, columns)
    if isinstance(groups, str):
        return _called(groups, data, columns).among(users)
    if isinstance(groups, pd.Series):
        return in_series(groups, users).among(users)
    if is_table(groups, columns):
        return in_table(groups, None, columns).among(users)
    if isinstance(groups, Mapping):
        return in_mapping(groups, users).among(users)
    if callable(groups):
        return returned(groups(per_user()), users, _name_of(groups)).among(users)
    msg = f"groups: {shown(groups)} does not say which user is in which group. {FORMS}."
    raise InvalidInputError(msg)


def refuse_both(groups: Any, data: Any) -> None:
    """Refuse the name of built-in segments that is one of a column, too.

    Raises
    ------
    InvalidInputError
        It is.
    """
    if isinstance(groups, str) and groups in BUILT_IN and has_column(data, groups):
        msg = (
            f"{groups!r} is a column of data, and built in: leave out data for what is built in; "
            f"for the column, give a table of the users and it: data[['user', {groups!r}]]."
        )
        raise InvalidInputError(msg)


def _called(name: str, data: Any, columns: Mapping[str, str] | None) -> Membership:
    """Read the column of that name, or the file."""
    may_be_path = _may_be_path(name)
    if is_table(data, columns) and not (may_be_path and not has_column(data, name)):
        return in_table(data, name, columns, "data")
    if may_be_path:
        return in_table(name, None, columns)
    msg = (
        f"There are no segments {shown(name)}. {nearest(name, BUILT_IN)} If it is a column, say of "
        f"which table: data=table; if it is a file, there is none of that name here. {FORMS}."
    )
    raise InvalidInputError(msg)


def _may_be_path(text: str) -> bool:
    """Tell what looks like the path of a file from a name."""
    with suppress(OSError):  # too long for one
        if Path(text).is_file():
            return True
    return not text or os.sep in text or bool(Path(text).suffix)


def _name_of(function: Callable[..., Any]) -> str:
    name = getattr(function, "__name__", "")
    return name if name.isidentifier() else "segment"
