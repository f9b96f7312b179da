"""Who is in which group, as somebody says it: in a mapping, a Series, a table, by a function."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, Ids, Positions
from recsys_ndcg.errors import InvalidInputError, is_encodable, quote, suggest
from recsys_ndcg.files import is_place
from recsys_ndcg.input import (
    Coded,
    Table,
    check_same_ids,
    encode,
    index_of,
    objects,
    read_file,
    written,
)

if TYPE_CHECKING:
    from recsys_ndcg.scoring import Scores

#: Segments that need nobody to say who is in them.
BUILT_IN = ("activity", "cold", "list_length", "relevant")
_TRAIN_FORMS = (
    "Give a table with a column of users, the path of such a file, a trainset of Surprise, or the "
    "ids of the users"
)
_TRAINSET = ("to_raw_uid", "all_users", "ur")


def segments_of(
    groups: Any,
    scores: Scores,
    *,
    tables: Iterable[Any] = (),
    train: Any = None,
    columns: Mapping[str, str] | None = None,
) -> pd.Series[Any]:
    """Return the segment of each user of a report.

    Parameters
    ----------
    groups : str, mapping, Series, table, path or callable
        As in `recsys_ndcg.Report.by`.
    scores : Scores
        Of the users.
    tables : iterable
        What may be a table, or the path of one: the first has the column that `groups` names.
    train : trainset, table, path or ids, optional
        What the model was trained on.
    columns : mapping, optional
        ``{"user": ...}`` says what the tables call their users.

    Returns
    -------
    pandas.Series
        Categorical, indexed by user in the order of the scores: the categories are those that
        somebody has, in ascending order or in their own; NaN for users in no group.

    Raises
    ------
    InvalidInputError
        `groups` is nothing of this, or does not fit the users.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2), (2, 1)]})
    >>> segments_of("list_length", report.scores).tolist()
    ['2', '3']
    """
    Table.check_columns(columns)
    users = scores.users
    if isinstance(groups, str) and groups in BUILT_IN:
        found = _built_in(groups, scores, train, columns)
    elif isinstance(groups, str):
        found = _called(groups, tables, columns)
    elif isinstance(groups, pd.Series):
        found = in_series(groups, users)
    elif is_table(groups, columns):
        found = in_table(groups, None, columns)
    elif isinstance(groups, Mapping):
        found = in_mapping(groups, users)
    elif callable(groups):
        name = getattr(groups, "__name__", "")
        found = returned(groups(scores.table()), users, name if name.isidentifier() else _NAME)
    else:
        msg = f"groups: {quote(groups)} does not say which user is in which group. {FORMS}."
        raise InvalidInputError(msg)
    return found.among(users)


def _called(name: str, tables: Iterable[Any], columns: Mapping[str, str] | None) -> UserGroups:
    """Read the column of that name, or the file."""
    may_be_path, data = _may_be_path(name), [one for one in tables if is_table(one, columns)][:1]
    if data and (has_column(data[0], name) or not may_be_path):
        return in_table(data[0], name, columns, "data")
    if may_be_path:
        return in_table(name, None, columns)
    msg = (
        f"There are no segments {quote(name)}. {suggest(name, BUILT_IN)} If it is a column, say of "
        f"which table: data=table; if it is a file, there is none of that name here. {FORMS}."
    )
    raise InvalidInputError(msg)


def _may_be_path(text: str) -> bool:
    """Tell what looks like the path of a file from a name."""
    with suppress(OSError):  # too long for one
        if Path(text).is_file():
            return True
    return not text or os.sep in text or bool(Path(text).suffix)


def _built_in(
    name: str, scores: Scores, train: Any, columns: Mapping[str, str] | None
) -> UserGroups:
    """Return the segments of a name.

    Parameters
    ----------
    name : str
        One of `BUILT_IN`.
    scores : Scores
        Of the users.
    train : optional
        What the model was trained on.
    columns : mapping, optional
        ``{"user": ...}`` says what a table calls its users.

    Raises
    ------
    InvalidInputError
        What they follow from is not known.
    """
    users, counts = scores.users, scores.counts
    if name == "cold":
        known = _trained_on(train, users, columns, rows=False) > 0
        return UserGroups(users, np.where(known, "known", "unknown").astype(object), name)
    if name == "list_length":
        return _in_quarters(counts.n_items, users, name)
    if name == "activity":
        numbers: Floats | Positions = counts.activity
        if train is not None:
            numbers = _trained_on(train, users, columns, rows=True)
        return _in_quarters(numbers, users, name)
    if np.isnan(counts.n_relevant).any():
        msg = (
            "'relevant' needs to know which items are relevant: evaluate with threshold=4.0 "
            "(--threshold 4), for instance, so that items with a true value of at least 4.0 are."
        )
        raise InvalidInputError(msg)
    return _in_quarters(counts.n_relevant, users, name, apart=0)


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
    _, codes = np.unique(np.where(among, place, 0), return_inverse=True)
    spans = pd.Series(numbers).groupby(codes).agg(["min", "max"]).itertuples(index=False)
    labels = [str(low) if low == high else f"{low}–{high}" for low, high in spans]
    return UserGroups(users, np.array(labels, dtype=object)[codes], name, labels)


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
    by_writing = False
    if all(hasattr(train, name) for name in _TRAINSET):
        # get, because reading a missing key of Surprise's defaultdict would add it
        n_rows = {train.to_raw_uid(one): len(train.ur.get(one, ())) for one in train.all_users()}
        ids, _ = encode(labels_from([*n_rows]), "user")
    else:
        found, by_writing = _rows_of(train, users, columns)
        ids, codes = encode(found, "user")
        counts = np.bincount(codes, minlength=len(ids)).tolist()
        n_rows = dict(zip(ids.tolist(), counts, strict=True))
    if not any(n_rows.values()):
        msg = f"train has no rows, so that nobody is known. {_TRAIN_FORMS}."
        raise InvalidInputError(msg)
    if not by_writing:
        check_same_ids(users, ids, "user", ("the users evaluated", "those of train"))
    return np.array([n_rows.get(user, 0) for user in users.tolist()], dtype=np.int64)


def _rows_of(train: Any, users: Ids, columns: Mapping[str, str] | None) -> tuple[Ids, bool]:
    """Return the user of every row, and whether the ids are those of a text."""
    if is_table(train, columns):
        found = users_in(train, columns, "train")
        return found.like(users), found.by_writing
    if isinstance(train, str | bytes) or not isinstance(train, Iterable):
        msg = f"train: {quote(train)} has no users. {_TRAIN_FORMS}."
        raise InvalidInputError(msg)
    ids = train.to_numpy() if isinstance(train, pd.Series | pd.Index) else list(train)
    return objects(ids, "user"), False


#: What groups may be, beside the built-in ones; for messages.
FORMS = (
    "Give {user: group}, {group: [users]}, a Series indexed by user, a table of users and their "
    "groups or the path of such a file, or a function of per_user"
)
_NAME = "segment"
_TABLES = ("the users evaluated", "those of the groups")
#: No column is read as one of ours, whatever it is called: ids and labels of a text stay text.
_NO_ROLES: dict[str, Any] = dict.fromkeys(Table.ROLES)


@dataclass(frozen=True)
class UserGroups:
    """Rows of a user and the group that the user is in.

    Parameters
    ----------
    user : array
        The ids, one per row; a user may stand in several rows.
    group : array of objects
        What the group is called; None or NaN is no group.
    name : str
        What all groups together are called.
    order : sequence, optional
        Labels in an order of their own, those that nobody has among them.
    by_writing : bool
        Whether the ids are text that stands for ids of any type, as in CSV.
    """

    user: Ids
    group: Ids
    name: str = _NAME
    order: Sequence[Any] | None = None
    by_writing: bool = False

    @classmethod
    def of(cls, users: Ids, groups: Any, name: str = _NAME) -> UserGroups:
        """Return the group of each of some users; categories of pandas keep their order."""
        values = groups.to_numpy() if isinstance(groups, pd.Series) else groups
        labels = labels_from(objects(values, "groups").tolist())
        return cls(users, labels, name, categories_of(groups))

    def among(self, users: Ids) -> pd.Series[Any]:
        """Return the group of each user: categories in order, NaN for none.

        Numbers, text and other labels ascend, or stand in an order of their own; those that nobody
        has are left out.

        Raises
        ------
        InvalidInputError
            None of them is in a group, or one is in two. Two labels are written alike, or one
            cannot be written.
        """
        if not len(self.user):
            msg = "The groups have no rows. Check the filter or the file that they came from."
            raise InvalidInputError(msg)
        ids, rows = encode(self.like(users), "user")
        known = users.tolist()
        if self.by_writing:
            n_common = len({*ids.tolist()} & {*known})
        else:  # ids with types of their own may be of some that never meet
            n_common = check_same_ids(users, ids, "user", _TABLES)
        if not n_common:
            msg = (
                f"No user of the groups is among the {len(users)} that were evaluated: the groups "
                f"have {_some(ids)}, and evaluated were {_some(users)}. Give both the same ids."
            )
            raise InvalidInputError(msg)
        try:
            group = Coded.factorize(self.group)
        except TypeError as error:
            msg = f"groups: a label is not hashable ({error}); use text or numbers."
            raise InvalidInputError(msg) from None
        labels = labels_from(group.ids.tolist())
        pairs = pd.DataFrame({"user": rows, "group": group.codes})[group.codes >= 0]
        pairs = pairs.drop_duplicates()
        again = pairs["user"][pairs["user"].duplicated()]
        if len(again):
            one, other = labels[pairs["group"][pairs["user"] == again.min()]][:2]
            msg = (
                f"User {quote(ids[again.min()])} is in two groups of {self.name!r}, {quote(one)} "
                f"and {quote(other)}. Give each user one; what differs by row is none."
            )
            raise InvalidInputError(msg)
        group_of = dict(zip(ids[pairs["user"]].tolist(), pairs["group"].tolist(), strict=True))
        found = np.array([group_of.get(user, -1) for user in known], dtype=np.int64)
        if (found < 0).all():
            msg = "Nobody evaluated is in a group: every label is missing (None, NaN or blank)."
            raise InvalidInputError(msg)
        labels, places = self._in_order(labels)
        places = places[np.isin(places, found)]
        rank = np.full(len(labels) + 1, -1)  # the last one is that of no group
        rank[places] = np.arange(len(places))
        values = pd.Categorical.from_codes(rank[found], categories=index_of(labels[places]))
        return pd.Series(values, index=index_of(users, "user"), name=self.name)

    def like(self, users: Ids) -> Ids:
        """Return the ids as those of some users, where a text says no more than their writing."""
        if not self.by_writing:
            return self.user
        known = users.tolist()
        ids = {str(one): one for one in known} | {written(one): one for one in known}
        return labels_from([ids.get(one, one) for one in self.user.tolist()])

    def _in_order(self, labels: Ids) -> tuple[Ids, Positions]:
        """Return distinct labels as they are called, and their places in order."""
        places = np.argsort(encode(labels, "groups")[1])
        for one in (self.name, *labels.tolist()):
            if isinstance(one, str) and not is_encodable(one):
                msg = f"groups: {quote(one)} has a lone surrogate. Call it something else."
                raise InvalidInputError(msg)
        if self.order is None:
            return labels, places
        place_of = {label: place for place, label in enumerate(self.order)}
        in_order = [place_of[label] for label in labels.tolist()]
        # as the categories have them: 1 where a column with gaps has 1.0
        return labels_from([self.order[place] for place in in_order]), np.argsort(in_order)


def in_series(groups: pd.Series[Any], users: Ids) -> UserGroups:
    """Read groups by user, from a Series whose index has the users.

    Raises
    ------
    InvalidInputError
        The index counts rows: the Series is a column of a table.
    """
    index = groups.index
    if _counts_rows(index) and set(index) != set(users.tolist()):
        msg = (
            f"The Series of groups is indexed by the numbers of rows, 0 to {len(index) - 1}, and "
            "not by user: take it from the table after set_index('user'). If these are the ids of "
            "users, say so: groups.rename_axis('user')."
        )
        raise InvalidInputError(msg)
    name = _NAME if groups.name is None else str(groups.name)
    return UserGroups.of(objects(index.to_numpy(), "user"), groups, name)


def in_mapping(groups: Mapping[Any, Any], users: Ids) -> UserGroups:
    """Read {user: group} or {group: users}.

    Raises
    ------
    InvalidInputError
        It is now one, now the other, or a group names none of the users.
    """
    ids = set(users.tolist())
    several = [_is_several(one, ids, is_user=key in ids) for key, one in groups.items()]
    if not any(several):
        return UserGroups(objects(list(groups), "user"), labels_from(list(groups.values())))
    if not all(several):
        key = list(groups)[several.index(False)]
        msg = (
            f"Some groups have lists, but {quote(key)} has {quote(groups[key])}. Give "
            "{group: [users]} or {user: group}, alike for all."
        )
        raise InvalidInputError(msg)
    members = {label: objects(list(one), "user").tolist() for label, one in groups.items()}
    user = labels_from([*chain(*members.values())])
    encode(user, "user")  # what is no id is refused
    nobody = [label for label, some in members.items() if ids.isdisjoint(some)]
    if 0 < len(nobody) < len(members):
        msg = (
            f"The group {quote(nobody[0])} names nobody who was evaluated. Leave it out, or "
            "correct the ids."
        )
        raise InvalidInputError(msg)
    lengths = [*map(len, members.values())]
    return UserGroups(user, np.repeat(labels_from(list(members)), lengths))


def returned(found: Any, users: Ids, name: str) -> UserGroups:
    """Read what a function of `per_user` returned: a group for each user, by index or in order.

    Raises
    ------
    InvalidInputError
        It is something else.
    """
    in_rows = _counts_rows(getattr(found, "index", None)) and len(found) == len(users)
    if isinstance(found, pd.Series) and not in_rows:
        return in_series(found if found.name is not None else found.rename(name), users)
    is_list = isinstance(found, Iterable) and getattr(found, "ndim", 1) == 1
    is_list = is_list and not isinstance(found, str | bytes | Mapping | AbstractSet)
    groups = UserGroups.of(users, found, name) if is_list else None
    if groups is None or len(groups.group) != len(users):
        what = quote(found) if groups is None else f"{len(groups.group)} groups"
        msg = (
            f"The function of per_user returned {what}. Let it return a Series, a list or an array "
            f"with a group for each of {len(users)} users, in the order of the rows."
        )
        raise InvalidInputError(msg)
    return groups


def in_table(
    data: Any, column: Any = None, columns: Mapping[str, str] | None = None, what: str = "groups"
) -> UserGroups:
    """Read a column of a table or of a file, by default the first one that is not the users'.

    Parameters
    ----------
    data : table, or path of a file
        With a column of users.
    column : str, optional
        What the table calls the groups.
    columns : mapping, optional
        ``{"user": ...}`` says what it calls the users.
    what : str
        What messages call the table.

    Raises
    ------
    InvalidInputError
        There is no such column, or nothing tells which has the users.
    """
    data, said, by_writing = _opened(data, columns)
    known = said if column is None or column in said.values() else {**said, "item": column}
    table = Table(data, known)
    user = table.column_of_users(what)
    others = [one for one in table.names if one != user]
    if column is None:
        column = next(iter(sorted(others, key=Table.is_beside)), None)  # times are the last choice
    if column not in others:
        hint = suggest(str(column), map(str, others)) if others else "There is none beside it."
        fault = "no column of groups" if column in (None, user) else f"no column {column!r}"
        msg = f"Beside {user!r}, the column of the users, {what} has {fault}. {hint}"
        raise InvalidInputError(msg)
    table = Table(data, {"user": user, "item": column})
    group, order = labels_from(table.ids("item").tolist()), _order_in(data, column)
    if by_writing:
        group, order = _as_written(group)
    ids = _ids(table, by_writing=by_writing)
    return UserGroups(ids, group, str(column), order, by_writing=by_writing)


def users_in(data: Any, columns: Mapping[str, str] | None, what: str) -> UserGroups:
    """Return the user of each row of a table or of a file, in a group of his own."""
    data, said, by_writing = _opened(data, columns)
    name = Table(data, said).column_of_users(what)
    ids = _ids(Table(data, {"user": name}), by_writing=by_writing)
    return UserGroups(ids, ids, by_writing=by_writing)


def has_column(data: Any, name: str) -> bool:
    """Tell whether something is a table, or the path of one, with a column of that name."""
    if isinstance(data, Mapping):
        return name in data
    with suppress(InvalidInputError):  # such as of pickled predictions
        return is_table(data, None) and name in Table(_opened(data)[0], {"item": name}).names
    return False


def is_table(data: Any, columns: Mapping[str, str] | None) -> bool:
    """Tell a table of any library, a path, and a dict of columns, one of them that of the users.

    A dict is one if it has a column called user, or said to be, and {group: [users]} if not.
    """
    if not isinstance(data, Mapping):
        # by its class: a lazy table would have to resolve its columns
        return is_place(data) or any(hasattr(type(data), name) for name in ("columns", "schema"))
    if (columns or {}).get("user", "user") not in data:
        return False
    several = [hasattr(one, "__len__") and not isinstance(one, str) for one in data.values()]
    return all(several) and len({*map(len, data.values())}) == 1


def _opened(
    data: Any, columns: Mapping[str, str] | None = None
) -> tuple[Any, dict[str, str], bool]:
    """Return a table or that in a file, what is said of its users, and whether it is all text."""
    said = {ours: name for ours, name in Table.check_columns(columns).items() if ours == "user"}
    if not is_place(data):
        return data, said, False
    table = read_file(data, _NO_ROLES)
    return table, said, isinstance(table, pd.DataFrame)


def _ids(table: Table, *, by_writing: bool) -> Ids:
    ids = table.ids("user")
    if not by_writing:
        return ids
    # a blank id is a missing one, which `encode` refuses
    return np.array([one if one.strip() else None for one in ids.tolist()], dtype=object)


def _as_written(group: Ids) -> tuple[Ids, list[Any] | None]:
    """Return groups of a text without the blank ones, and their order if all are numbers.

    Whole numbers become such, if nothing of their writing is lost.
    """
    named = np.array([bool(one.strip()) for one in group.tolist()], dtype=bool)
    labels = pd.Series(pd.unique(group[named]), dtype=object)
    numbers = pd.to_numeric(labels, errors="coerce")
    is_whole = numbers.dtype.kind in "iu" and bool((numbers.astype(str) == labels).all())
    values = dict(zip(labels, numbers.tolist() if is_whole else labels, strict=True))
    found = labels_from([values.get(one) for one in group.tolist()])
    if is_whole or numbers.isna().any():
        return found, None
    return found, labels[numbers.argsort(kind="stable")].tolist()


def _order_in(data: Any, column: Any) -> list[Any] | None:
    """Return the categories of a column in their own order, where they have one."""
    if isinstance(data, Mapping | pd.DataFrame):
        return categories_of(data.get(column))
    import narwhals as nw  # noqa: PLC0415 - costs as much as the whole package

    kind = nw.from_native(data).collect_schema()[column]
    return list(kind.categories) if isinstance(kind, nw.Enum) else None


def labels_from(values: list[Any]) -> Ids:
    """Return labels as objects of Python."""
    return np.fromiter(map(_plain, values), dtype=object, count=len(values))


def categories_of(values: Any) -> list[Any] | None:
    """Return the categories of pandas in their own order."""
    kind = getattr(values, "dtype", None)
    return kind.categories.tolist() if isinstance(kind, pd.CategoricalDtype) else None


def _plain(one: Any) -> Any:
    if isinstance(one, np.datetime64 | np.timedelta64):  # item() may give nanoseconds as a number
        return pd.Timestamp(one) if isinstance(one, np.datetime64) else pd.Timedelta(one)
    return one.item() if isinstance(one, np.generic) else one


def _counts_rows(index: Any) -> bool:
    """Tell the index that pandas gives to what has none."""
    return isinstance(index, pd.RangeIndex) and index.name is None and index[:1].tolist() == [0]


def _is_several(one: Any, ids: AbstractSet[Any], *, is_user: bool) -> bool:
    """Tell a collection of users from a label, which may be a tuple where the key is a user."""
    if isinstance(one, str | bytes):
        return False
    if isinstance(one, tuple | frozenset) and is_user:
        return all(user in ids for user in one)
    return isinstance(one, Iterable) and getattr(one, "ndim", 1) == 1


def _some(ids: Ids) -> str:
    """Return the first and the last id."""
    return quote(ids[0]) if len(ids) == 1 else f"{quote(ids[0])} to {quote(ids[-1])}"
