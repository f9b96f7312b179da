"""What a model was trained on, as far as it tells how much is known of each user."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import Coded, encode, in_common
from recsys_ndcg.input.rows import objects
from recsys_ndcg.report.segments.user_columns import is_table, users_in

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Ids, Positions

_FORMS = (
    "Give a table with a column of users, the path of such a file, a trainset of Surprise, or the "
    "ids of the users"
)
_TRAINSET = ("to_raw_uid", "all_users", "ur")


def trained_on(
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
        msg = f"'cold' needs train=, what the model was trained on. {_FORMS}."
        raise InvalidInputError(msg)
    if rows and isinstance(train, AbstractSet | Mapping) and not is_table(train, columns):
        msg = f"'activity' counts ratings, and train has each user once. {_FORMS}, one per rating."
        raise InvalidInputError(msg)
    found, by_writing = _rows_of(train, users, columns)
    if not len(found):
        msg = f"train has no rows, so that nobody is known. {_FORMS}."
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
        msg = f"train: {shown(train)} has no users. {_FORMS}."
        raise InvalidInputError(msg)
    ids = train.to_numpy() if isinstance(train, pd.Series | pd.Index) else list(train)
    return objects(ids, "user"), False
