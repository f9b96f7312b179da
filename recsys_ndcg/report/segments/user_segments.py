"""Segments: groups of users, built in or as somebody says who is in which."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids, Positions
from recsys_ndcg.errors import InvalidInputError, nearest, shown
from recsys_ndcg.input import Coded, checked_columns, encode, in_common, objects
from recsys_ndcg.report.segments.user_groups import (
    FORMS,
    UserGroups,
    has_column,
    in_mapping,
    in_series,
    in_table,
    is_table,
    returned,
    users_in,
)

if TYPE_CHECKING:
    from recsys_ndcg.scoring import ListCounts

#: Segments that need nobody to say who is in them.
BUILT_IN = ("activity", "cold", "list_length", "relevant")
_TRAIN_FORMS = (
    "Give a table with a column of users, the path of such a file, a trainset of Surprise, or the "
    "ids of the users"
)
_TRAINSET = ("to_raw_uid", "all_users", "ur")


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
        found = _built_in(groups, users, counts, train, columns)
    elif isinstance(groups, str):
        found = _called(groups, data, columns)
    elif isinstance(groups, pd.Series):
        found = in_series(groups, users)
    elif is_table(groups, columns):
        found = in_table(groups, None, columns)
    elif isinstance(groups, Mapping):
        found = in_mapping(groups, users)
    elif callable(groups):
        found = returned(groups(per_user()), users, _name_of(groups))
    else:
        msg = f"groups: {shown(groups)} does not say which user is in which group. {FORMS}."
        raise InvalidInputError(msg)
    return found.among(users)


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


def _called(name: str, data: Any, columns: Mapping[str, str] | None) -> UserGroups:
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


def _built_in(
    name: str, users: Ids, counts: ListCounts, train: Any, columns: Mapping[str, str] | None
) -> UserGroups:
    """Return the segments of a name.

    Parameters
    ----------
    name : str
        One of `BUILT_IN`.
    users : array
        The ids.
    counts : ListCounts
        Of the same users.
    train : optional
        What the model was trained on.
    columns : mapping, optional
        ``{"user": ...}`` says what a table calls its users.

    Raises
    ------
    InvalidInputError
        What they follow from is not known.
    """
    if name == "cold":
        known = _trained_on(train, users, columns, rows=False) > 0
        return UserGroups(users, np.where(known, "known", "unknown").astype(object), name)
    if name == "list_length":
        return _in_quarters(counts.n_items, users, name)
    if name == "relevant":
        if np.isnan(counts.n_relevant).any():
            msg = (
                "'relevant' needs to know which items are relevant: evaluate with threshold=4.0 "
                "(--threshold 4), for instance, so that items with a true value of at least 4.0 "
                "are."
            )
            raise InvalidInputError(msg)
        return _in_quarters(counts.n_relevant, users, name, apart=0)
    if train is not None:
        return _in_quarters(_trained_on(train, users, columns, rows=True), users, name)
    return _in_quarters(counts.activity, users, name)


def _in_quarters(
    numbers: Floats | Positions, users: Ids, name: str, apart: int | None = None
) -> UserGroups:
    """Return users in four parts by a whole number, cut between different ones only.

    A part is called by the least and the highest number in it; users whose number is `apart` are
    one of their own.
    """
    numbers = np.asarray(numbers, dtype=np.int64)
    among = numbers != apart
    quarters, some = (0.25, 0.5, 0.75), numbers[among]
    cuts = np.quantile(some, quarters, method="inverted_cdf") if len(some) else []
    place = np.searchsorted(np.unique(cuts), numbers) + 1
    parts, codes = np.unique(np.where(among, place, 0), return_inverse=True)
    labels = [_range(numbers[codes == code]) for code in range(len(parts))]
    return UserGroups(users, np.array(labels, dtype=object)[codes], name, labels)


def _range(numbers: Positions) -> str:
    low, high = int(numbers.min()), int(numbers.max())
    return str(low) if low == high else f"{low}–{high}"


def _trained_on(
    train: Any, users: Ids, columns: Mapping[str, str] | None, *, rows: bool
) -> Positions:
    """Return how many rows each user has in what the model was trained on.

    Parameters
    ----------
    train : table, path, trainset of Surprise, or ids
        A row per rating; where `rows` are not asked for, each user once will do.
    users : array
        The ids.
    columns : mapping, optional
        ``{"user": ...}`` says what a table calls them.
    rows : bool
        Whether the number of rows is asked for.

    Raises
    ------
    InvalidInputError
        There is nothing of this, or its ids are of another type.
    """
    if train is None:
        msg = f"'cold' needs train=, what the model was trained on. {_TRAIN_FORMS}."
        raise InvalidInputError(msg)
    if rows and isinstance(train, AbstractSet | Mapping) and not is_table(train, columns):
        msg = (
            "'activity' counts ratings, and train has each user once. "
            f"{_TRAIN_FORMS}, one per rating."
        )
        raise InvalidInputError(msg)
    found, by_writing = _rows_of(train, users, columns)
    if not len(found):
        msg = f"train has no rows, so that nobody is known. {_TRAIN_FORMS}."
        raise InvalidInputError(msg)
    ids, codes = encode(found, "user")
    if not by_writing:
        in_common(users, ids, "user", ("the users evaluated", "those of train"))
    n_rows = dict(zip(ids.tolist(), np.bincount(codes, minlength=len(ids)).tolist(), strict=True))
    return np.array([n_rows.get(user, 0) for user in users.tolist()], dtype=np.int64)


def _rows_of(train: Any, users: Ids, columns: Mapping[str, str] | None) -> tuple[Ids | Coded, bool]:
    """Return the user of every row, and whether the ids are those of a text."""
    if all(hasattr(train, name) for name in _TRAINSET):
        inner = list(train.all_users())
        raw = np.fromiter(map(train.to_raw_uid, inner), dtype=object, count=len(inner))
        # get, because reading a missing key of Surprise's defaultdict would add it
        sizes = [len(train.ur.get(one, ())) for one in inner]
        return Coded(raw, np.repeat(np.arange(len(raw), dtype=np.int32), sizes)), False
    if is_table(train, columns):
        found = users_in(train, columns, "train")
        return found.like(users), found.by_writing
    if isinstance(train, str | bytes) or not isinstance(train, Iterable):
        msg = f"train: {shown(train)} has no users. {_TRAIN_FORMS}."
        raise InvalidInputError(msg)
    ids = train.to_numpy() if isinstance(train, pd.Series | pd.Index) else list(train)
    return objects(ids, "user"), False
