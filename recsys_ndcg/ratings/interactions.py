"""Interactions: rows of users and items that are no predictions, and their one reader."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from numbers import Integral
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Positions,
    ReadOnlyArrays,
    compute_offsets,
    concat_ranges,
)
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.files import are_existing_files, is_file_source
from recsys_ndcg.input import (
    EncodedIds,
    Table,
    encode_ids,
    format_id,
    is_frame,
    make_index,
    match_columns,
    raise_for_rows,
    read_rows,
    reject_text_lists,
    split_format,
    to_column,
    to_ids,
)
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.parallel import map_in_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class GroupedRows(ReadOnlyArrays):
    """Rows by user, or by item, as compressed sparse rows.

    Parameters
    ----------
    offsets : int64 array, shape (n + 1,)
        The start of each user's (or item's) rows, and the end of the last.
    codes : int array
        The item (or user) of every row.
    values : array, optional
        A value of every row, such as its rating.
    """

    offsets: Positions
    codes: Any
    values: Any = None

    @classmethod
    def from_lists(cls, lists: Mapping[int, Sequence[tuple[int, float]]], n: int) -> GroupedRows:
        """Read a trainset's lists of the first n users (or items): pairs of a code and a rating."""
        # get, because reading a missing key of a defaultdict would add it
        rows = [lists.get(inner, ()) for inner in range(n)]
        sizes, pairs = np.fromiter(map(len, rows), np.int64, n), list(chain.from_iterable(rows))
        # a list takes half as long as fromiter
        codes, values = (list(map(itemgetter(part), pairs)) for part in (0, 1))
        return cls(compute_offsets(sizes), np.array(codes, np.int32), np.array(values, np.float64))

    @property
    def sizes(self) -> Positions:
        """The number of rows of each user."""
        return np.diff(self.offsets)

    @property
    def owners(self) -> Positions:
        """The user of every row."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.sizes)

    def count(self, users: Positions) -> Positions:
        """Return the number of rows of some users; -1 has none."""
        return np.append(self.sizes, 0)[users]

    def find_rows(self, users: Positions) -> tuple[Positions, Positions]:
        """Return, for each row of some users, its user's place in `users`, and its position.

        A user at position -1 has no rows.
        """
        known = np.flatnonzero(users >= 0)
        sizes = self.sizes[users[known]]
        return np.repeat(known, sizes), concat_ranges(self.offsets[users[known]], sizes)

    def of_users(self, users: Positions) -> tuple[Positions, Any]:
        """Return each row's place in `users`, and its code."""
        places, rows = self.find_rows(users)
        return places, self.codes[rows]

    def to_matrix(self, n_others: int) -> csr_array:
        """Return the number of rows of each user (or item) for each item (or user)."""
        from scipy.sparse import csr_array  # noqa: PLC0415 - every worker would import it

        shape = (len(self.offsets) - 1, n_others)
        return csr_array((np.ones(len(self.codes)), self.codes, self.offsets), shape=shape)


@dataclass(frozen=True, eq=False)
class Interactions:
    """Rows of users and items that are no predictions: ratings, a history, a part of a split.

    Parameters
    ----------
    user, item : EncodedIds
        The ids of each row.
    rating, time : float64 arrays, optional
        The ratings, and the times as numbers; dates are seconds since 1970. NaN if one is missing.
    names : mapping of str to str
        Our names of the columns to the table's, if they differ.
    others : mapping
        Further columns of a table in memory, by its names.
    """

    user: EncodedIds
    item: EncodedIds
    rating: Floats | None = None
    time: Floats | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    others: Mapping[Any, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, user: Any, item: Any, rating: Floats | None = None, time: Floats | None = None
    ) -> Interactions:
        """Encode the ids of rows.

        Raises
        ------
        InvalidInputError
            An id is missing, or a rating is infinite.
        """
        if rating is not None:
            raise_for_rows(np.isinf(rating), "rating", "an infinite value", "correct it")
        columns = [(to_ids(user, "user"), "user"), (to_ids(item, "item"), "item")]
        encoded = map_in_threads(lambda one: encode_ids(*one), columns, len(columns[0][0]))
        users, items = (EncodedIds(*one) for one in encoded)
        return cls(users, items, rating, time)

    @classmethod
    def from_trainset(cls, trainset: Any) -> Interactions:
        """Read a trainset of Surprise, or an object with its attributes; codes are inner ids."""
        rows = GroupedRows.from_lists(trainset.ur, trainset.n_users)
        users, items = (
            EncodedIds(np.fromiter(map(to_raw, range(n)), dtype=object), codes.astype(np.int32))
            for to_raw, n, codes in (
                (trainset.to_raw_uid, trainset.n_users, rows.owners),
                (trainset.to_raw_iid, trainset.n_items, rows.codes),
            )
        )
        return cls(users, items, rows.values)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.user)

    @lazy_property
    def by_user(self) -> GroupedRows:
        """The items and ratings of each user, in the order of the rows."""
        order = np.argsort(self.user.codes, kind="stable")
        values = None if self.rating is None else self.rating[order]
        return GroupedRows(compute_offsets(self.user.counts), self.item.codes[order], values)

    def to_frame(self) -> pd.DataFrame:
        """Return the columns user, item and, if they are known, rating and timestamp."""
        users, items = make_index(self.user[:]), make_index(self.item[:])
        numbers = {"rating": self.rating, "timestamp": self.time}
        known = {name: one for name, one in numbers.items() if one is not None}
        return pd.DataFrame({"user": users, "item": items, **known})

    @property
    def rated(self) -> Floats:
        """The ratings, without missing ones."""
        return np.zeros(0) if self.rating is None else self.rating[~np.isnan(self.rating)]

    @property
    def period(self) -> tuple[float, float]:
        """The first and the last time, NaN if there is none."""
        if self.time is None or np.isnan(self.time).all():
            return np.nan, np.nan
        return float(np.nanmin(self.time)), float(np.nanmax(self.time))

    def name_rows(self, rows: Flags) -> tuple[str, ...]:
        """Return the user and item of the first three of some rows."""
        first = np.flatnonzero(rows)[:3]
        users, items = (one.ids[one.codes[first]].tolist() for one in (self.user, self.item))
        pairs = zip(users, items, strict=True)
        return tuple(f"user {quote(user)} item {quote(item)}" for user, item in pairs)

    def with_text_ids(self, column: str) -> Interactions:
        """Return the rows with the ids of a column as text."""
        encoded = getattr(self, column)
        text = np.array([*map(format_id, encoded.ids.tolist())], dtype=object)
        ids = encode_ids(EncodedIds(text, encoded.codes), column)
        changed: dict[str, Any] = {column: EncodedIds(*ids)}
        return replace(self, **changed)

    @lazy_property
    def _pairs(self) -> pd.Index[int]:
        """A whole number for the user and item of each row."""
        users, n_items = self.user.codes.astype(np.int64), len(self.item.ids)
        pairs: pd.Index[int] = pd.Index(users * n_items + self.item.codes)
        return pairs

    @lazy_property
    def is_repeated(self) -> Flags:
        """Whether the pair of user and item of each row was there before."""
        return self._pairs.duplicated()

    @lazy_property
    def _first_rows(self) -> pd.Series[int]:
        """The first row of each pair of user and item."""
        rows = np.flatnonzero(~self.is_repeated)
        return pd.Series(rows, self._pairs[rows])

    def find_rows(self, other: Interactions) -> Positions:
        """Return the first row here with the pair of each row of another part, -1 if none has."""
        user = self.user.find(other.user.ids)[other.user.codes]
        item = self.item.find(other.item.ids)[other.item.codes]
        pairs = np.where((user >= 0) & (item >= 0), user * len(self.item.ids) + item, -1)
        places = self._first_rows.index.get_indexer(pd.Index(pairs))
        return np.append(self._first_rows.to_numpy(), -1)[places]

    def contains(self, other: Interactions) -> Flags:
        """Return whether the pair of each row of another part is here."""
        return self.find_rows(other) >= 0


def read_interactions(
    data: Any, name: str, columns: Mapping[str, str] | None = None, kind: str = "interactions"
) -> Interactions:
    """Read users and items, and perhaps ratings, times and further columns.

    Parameters
    ----------
    data : table, path, rows, mapping, matrix, ids, or trainset, testset or dataset of Surprise
        A table may be of any library, also lazy, with other names of columns, or with a row per
        user whose cells are lists. A file may be of any kind, with or without a heading. Rows are
        tuples of two to four fields. A mapping is {user: [items]} or {user: {item: rating}}. Ids
        are enough if only one column is needed.
    name : str
        What the rows are, in messages, such as ``"train="``.
    columns : mapping, optional
        The table's names of user, item, rating and timestamp.
    kind : {'interactions', 'ratings', 'users', 'items'}
        Which of these must be there: users and items; these and ratings; or only one.

    Raises
    ------
    InvalidInputError
        The data has another form, or no rows.

    Examples
    --------
    >>> read_interactions({"ann": ["a", "b"], "bob": ["a"]}, "train=").item.values.tolist()
    ['a', 'b', 'a']
    """
    if isinstance(data, Interactions):
        return data
    if isinstance(data, Iterator) and not is_file_source(data):
        data = list(data)
    try:
        found = _read(data, columns, kind)
    except InvalidInputError as error:
        msg = f"{name}: {error}"
        raise InvalidInputError(msg) from None
    if not len(found):
        msg = f"{name}: there are no rows. Check the filter or the file that they came from."
        raise InvalidInputError(msg)
    return found


def _are_ids(data: Any) -> bool:
    """Return whether data are a column, or another collection, of ids.

    Examples
    --------
    >>> _are_ids(["a", "b"]), _are_ids({1, 2}), _are_ids([("ann", "a")])
    (True, True, False)
    """
    source, text_format = split_format(data)
    is_table = isinstance(data, Mapping) or is_frame(data)
    if is_table or is_file_source(source) or text_format is not None or are_existing_files(data):
        return False
    if not isinstance(data, Iterable) or getattr(data, "ndim", 1) != 1:
        return False
    first = next(iter(data), None)
    return not isinstance(first, Mapping | list | tuple | set | np.ndarray | np.void | os.PathLike)


def is_table_by_item(data: Any) -> bool:
    """Return whether data are a table in memory that has no users."""
    if not is_frame(data):
        return isinstance(data, Mapping) and "item" in data and "user" not in data
    names = getattr(getattr(data, "index", None), "names", [])
    return "user" not in names and not Table(data).has_candidate("user")


def split_catalogue(catalogue: Any) -> tuple[Any, Any]:
    """Return (items, None) or (None, number of items) for what could be recommended.

    Examples
    --------
    >>> split_catalogue(5000), split_catalogue({"ann": 20}), split_catalogue(["a", "b"])
    ((None, 5000), (None, {'ann': 20}), (['a', 'b'], None))
    """
    is_size = isinstance(catalogue, Integral)
    if isinstance(catalogue, Mapping):
        sizes = catalogue.values()
        is_size = len(sizes) > 0 and all(isinstance(one, Integral) for one in sizes)
    elif isinstance(catalogue, pd.Series) and match_columns([catalogue.index.name]).get("item"):
        catalogue = catalogue.index  # of counts of items
    elif isinstance(catalogue, pd.Series):
        # a column of ids has the index of its table
        has_users = catalogue.index.name == "user" or catalogue.index.dtype.kind not in "iu"
        is_size = catalogue.dtype.kind in "iu" and has_users
    return (None, catalogue) if is_size else (catalogue, None)


def read_ratings(data: Any) -> pd.DataFrame:
    """Return ratings in any form as a table.

    Returns
    -------
    pandas.DataFrame
        Columns user, item, rating and, if the data has times, timestamp: seconds since 1970.

    Raises
    ------
    InvalidInputError
        The data cannot be read, or has no ratings.
    """
    return read_interactions(data, "ratings", kind="ratings").to_frame()


def _read(data: Any, columns: Mapping[str, str] | None, kind: str) -> Interactions:
    key = "item" if kind == "items" else "user"
    if kind in {"users", "items"} and _are_ids(data):
        data = Table({key: to_column(data, key)}, kind=kind)
    rows = read_rows(data, columns, table=kind)
    reject_text_lists(rows)
    missing = np.zeros(rows.n_rows, dtype=np.int64)  # only the others count
    ids = [rows.columns.get(one, missing) for one in ("user", "item")]
    numbers = [rows.columns.get(one) for one in ("rating", "timestamp")]
    return replace(Interactions.of(*ids, *numbers), names=rows.names, others=rows.others)
