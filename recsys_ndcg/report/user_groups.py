"""The group of each user: built-in groups, mappings, Series, tables, files and functions."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Ids, Positions
from recsys_ndcg.errors import InvalidInputError, is_encodable, quote, suggest
from recsys_ndcg.files import are_existing_files, is_file_source
from recsys_ndcg.input import (
    EncodedIds,
    Table,
    check_id_types,
    encode_ids,
    format_id,
    is_frame,
    is_row_number_index,
    make_index,
    open_indexed_file,
    split_format,
    tabulate_rows,
    to_column,
    to_python,
)
from recsys_ndcg.ratings import read_interactions

if TYPE_CHECKING:
    from recsys_ndcg.scoring import Scores

#: Groups that are computed from the data.
BUILT_IN_GROUPS = ("activity", "cold", "list_length", "relevant", "training_ratings")
_DEFAULT_NAME = "segment"  # of groups
_TRAIN_FORMS = (
    "Give a table with a column of users, the path of such a file, a trainset of Surprise, or "
    "user ids"
)
_FEWEST = 10  # users in a bin: with fewer, there is no test
#: The first numbers of the bins of training ratings; 0 is a bin of its own.
BIN_STARTS = np.array([first * 10**tens for tens in range(18) for first in (1, 2, 5)])
UNKNOWN_BIN = "0 (unknown)"


def assign_segments(
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
        The scores of the users.
    tables : iterable
        Where to look for the column that `groups` names: the first of these that is a table, or
        the path of one. Others are ignored.
    train : trainset, table, path or ids, optional
        The training data.
    columns : mapping, optional
        ``{"user": ...}``: the name of the column of users in the tables.

    Returns
    -------
    pandas.Series
        Categorical, indexed by user in the order of the scores; NaN for users in no group.
        Categories without users are left out; they are ascending or in the given order.

    Raises
    ------
    InvalidInputError
        `groups` has another form, or does not fit the users.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2), (2, 1)]})
    >>> assign_segments("list_length", report._data.scores).tolist()
    ['2', '3']
    """
    Table.check_columns(columns)
    users, groups = scores.users, tabulate_rows(groups, "user")
    if isinstance(groups, str) and groups in BUILT_IN_GROUPS:
        user_groups = _assign_built_in(groups, scores, train, columns)
    elif isinstance(groups, str):
        user_groups = _find_by_name(groups, tables, columns)
    elif isinstance(groups, pd.Series):
        user_groups = read_series(groups, users)
    elif is_table(groups, columns):
        user_groups = read_table_groups(groups, None, columns)
    elif isinstance(groups, Mapping):
        user_groups = read_mapping(groups, users)
    elif callable(groups):
        name = getattr(groups, "__name__", "")
        user_groups = read_function_result(
            groups(scores.table()), users, name if name.isidentifier() else _DEFAULT_NAME
        )
    else:
        msg = f"groups cannot be {quote(groups)}. {FORMS}."
        raise InvalidInputError(msg)
    return user_groups.align(users)


def _find_by_name(name: str, tables: Iterable[Any], columns: Mapping[str, str] | None) -> Groups:
    """Read the groups from the column or the file of that name."""
    data = [one for one in tables if is_table(one, columns)][:1]
    # os.path also takes text that is too long for a path
    is_path = not name or os.path.isfile(name) or os.sep in name or bool(Path(name).suffix)  # noqa: PTH113
    if data and (has_column(data[0], name, columns) or not is_path):
        return read_table_groups(data[0], name, columns, "data")
    if is_path:
        return read_table_groups(name, None, columns)
    msg = (
        f"No built-in group, column or file is named {quote(name)}. "
        f"{suggest(name, BUILT_IN_GROUPS)} For a column, pass its table as data=. {FORMS}."
    )
    raise InvalidInputError(msg)


def _assign_built_in(
    name: str, scores: Scores, train: Any, columns: Mapping[str, str] | None
) -> Groups:
    """Return the users' groups by one of the names in `BUILT_IN_GROUPS`.

    Raises
    ------
    InvalidInputError
        The group needs training data or a threshold, and there is none.
    """
    users, counts = scores.users, scores.counts
    of_lists = {"list_length": counts.n_items, "relevant": counts.n_relevant}
    of_lists |= {"activity": counts.activity} if train is None else {}
    if name == "relevant" and np.isnan(counts.n_relevant).any():
        msg = (
            "'relevant' needs a threshold: evaluate with `threshold=`, the lowest true value of a "
            "relevant item."
        )
        raise InvalidInputError(msg)
    if name in of_lists:
        numbers = of_lists[name].astype(np.int64)
    else:
        numbers = _count_training_rows(train, users, columns, name)
    if name == "cold":
        codes, labels = (numbers == 0).astype(np.int64), ["known", "unknown"]
    elif name == "training_ratings":
        codes, labels = bin_training_counts(numbers)
    else:
        codes, labels = _cut_at_quartiles(numbers, 0 if name == "relevant" else None)
    return Groups(users, np.array(labels, dtype=object)[codes], name, labels)


def _cut_at_quartiles(numbers: Positions, own_group_for: int | None) -> tuple[Positions, list[str]]:
    """Return the code of each number in one of at most four groups, and the groups' names.

    Numbers are cut at their quartiles. A group is named after its lowest and highest number.
    Numbers equal to `own_group_for` are not cut, but form one more group.
    """
    to_cut, quarters = numbers[numbers != own_group_for], (0.25, 0.5, 0.75)
    cuts = np.quantile(to_cut, quarters, method="inverted_cdf") if len(to_cut) else []
    intervals = np.searchsorted(np.unique(cuts), numbers) + 1
    _, codes = np.unique(np.where(numbers == own_group_for, 0, intervals), return_inverse=True)
    spans = pd.Series(numbers).groupby(codes).agg(["min", "max"]).itertuples(index=False)
    return codes, [name_range(low, high) for low, high in spans]


def name_range(low: int, high: int) -> str:
    """Return the name of whole numbers from low to high, both included."""
    return f"{low}" if low == high else f"{low}–{high}"


def bin_training_counts(counts: Positions) -> tuple[Positions, list[str]]:
    """Put numbers of training ratings into the bins 0, 1, 2–4, 5–9, 10–19, 20–49 and so on.

    A bin of fewer than ten is merged with the next ones; 0 is always a bin of its own.

    Returns
    -------
    codes : int array
        The bin of each number.
    labels : list of str
        The names of the bins.

    Examples
    --------
    >>> codes, labels = bin_training_counts(np.array([0] + 10 * [1] + 9 * [3] + 3 * [40]))
    >>> labels, np.bincount(codes).tolist()
    (['0 (unknown)', '1', '2–49'], [1, 10, 12])
    """
    narrow = np.searchsorted(BIN_STARTS, counts, side="right")
    spans, size = list[tuple[int, int]](), _FEWEST
    for place, more in enumerate(np.bincount(narrow)[1:].tolist()):
        if more:
            is_next = size >= _FEWEST
            low = BIN_STARTS[place] if is_next else spans.pop()[0]
            spans.append((low, BIN_STARTS[place + 1] - 1))
            size = more if is_next else size + more
    if size < _FEWEST and len(spans) > 1:
        _, high = spans.pop()
        spans.append((spans.pop()[0], high))
    labels = [name_range(low, high) for low, high in spans]
    codes = np.searchsorted([low for low, _ in spans], counts, side="right")
    if (counts == 0).any():
        return codes, [UNKNOWN_BIN, *labels]
    return codes - 1, labels


def _count_training_rows(
    train: Any, users: Ids, columns: Mapping[str, str] | None, group: str
) -> Positions:
    """Return the number of training rows of each user.

    Parameters
    ----------
    train : table, path, trainset of Surprise, or ids
        A row per rating; for ``"cold"``, one row per user is enough.
    users : array
        The user ids.
    columns : mapping, optional
        ``{"user": ...}``: the name of the column of users.
    group : str
        The built-in group that needs the numbers.

    Raises
    ------
    InvalidInputError
        `train` is missing, empty or of another form, or its ids are of another type.
    """
    if train is None:
        msg = f"{group!r} needs `train=`, the training data of the model. {_TRAIN_FORMS}."
        raise InvalidInputError(msg)
    if isinstance(train, AbstractSet) and group != "cold":
        msg = (
            f"{group!r} counts ratings, but train has each user once. "
            f"{_TRAIN_FORMS}, one per rating."
        )
        raise InvalidInputError(msg)
    found, is_file = None, is_file_source(split_format(train)[0])
    train = list(train) if isinstance(train, Iterator) and not is_file else train
    if columns and "user" in columns:
        with suppress(InvalidInputError):  # the name may belong to another table
            found = read_interactions(train, "train", {"user": columns["user"]}, "users").user
    found = found or read_interactions(train, "train", kind="users").user
    ids = found.ids
    if are_existing_files(split_format(train)[0]):
        ids = _find_equal_ids(ids, users)
    else:
        check_id_types(users, ids, "user", ("the users evaluated", "the users of train"))
    places = EncodedIds(users, np.arange(len(users), dtype=np.int32)).find(ids)
    return np.bincount(places[found.codes] + 1, minlength=len(users) + 1)[1:]


def _find_equal_ids(texts: Ids, users: Ids) -> Ids:
    """Return the equal id in `users`, of any type, for each id in a text file, or else the id."""
    equal = {str(user): user for user in users.tolist()}
    equal |= {format_id(user): user for user in users.tolist()}
    missing = pd.isna(texts)
    pairs = zip(texts.tolist(), missing.tolist(), strict=True)
    return to_objects([text if gone else equal.get(format_id(text), text) for text, gone in pairs])


#: The forms of groups other than the built-in ones, for messages.
FORMS = (
    "Give {user: group}, {group: [users]}, a Series indexed by user, a table of users and their "
    "groups, the path of such a file, or a function of per_user"
)


@dataclass(frozen=True)
class Groups:
    """Rows of users, or of items, and their groups.

    Parameters
    ----------
    ids : array
        The id of each row; an id may be in several rows.
    group : array of objects
        The label of each row; None or NaN is no group.
    name : str
        The common name of the groups.
    order : sequence, optional
        All labels in a given order, including labels without users.
    is_text : bool
        Whether the ids are text that represents ids of any type, as in CSV.
    key : {'user', 'item'}
        What the ids are of, in messages.
    """

    ids: Ids
    group: Ids
    name: str = _DEFAULT_NAME
    order: Sequence[Any] | None = None
    is_text: bool = False
    key: str = "user"

    @classmethod
    def from_values(
        cls, ids: Ids, groups: Any, name: str = _DEFAULT_NAME, key: str = "user"
    ) -> Groups:
        """Return ids with their labels; categories of pandas keep their order."""
        values = groups.to_numpy() if isinstance(groups, pd.Series) else groups
        labels = to_objects(to_column(values, "groups").tolist())
        return cls(ids, labels, name, get_categories(groups), key=key)

    def align(self, users: Ids) -> pd.Series[Any]:
        """Return the group of each user as a categorical series, NaN for users without a group.

        Labels are ascending or in the given order; labels without users are left out. If the ids
        are of items, so are `users`.

        Raises
        ------
        InvalidInputError
            No user is in a group, or a user is in two. Two labels look the same as text, or a
            label cannot be encoded.
        """
        key, what = self.key, "groups" if self.key == "user" else self.name
        if not len(self.ids):
            msg = f"The {what} have no rows. Check the filter or the file that they came from."
            raise InvalidInputError(msg)
        ids = _find_equal_ids(self.ids, users) if self.is_text else self.ids
        ids, user_codes = encode_ids(ids, key)
        if not self.is_text:  # ids of different types never match
            check_id_types(users, ids, key, (f"the {key}s evaluated", f"the {key}s of the {what}"))
        places = EncodedIds(ids, user_codes).find(users)
        if (places < 0).all():
            msg = (
                f"None of the {len(users)} evaluated {key}s has a group: the {what} have {key}s "
                f"{_format_id_range(ids)}, the report has {_format_id_range(users)}. Use the same "
                "ids in both."
            )
            raise InvalidInputError(msg)
        try:
            group = EncodedIds.factorize(self.group)
        except TypeError as error:
            msg = f"{what}: a label is not hashable ({error}). Use text or numbers."
            raise InvalidInputError(msg) from None
        labels, rows = group.ids, pd.DataFrame({"id": user_codes, "group": group.codes})
        rows = rows[rows["group"] >= 0].drop_duplicates()
        repeated = rows[rows["id"].duplicated(keep=False)].sort_values("id", kind="stable")
        if len(repeated):
            code, (first, second) = repeated["id"].iloc[0], labels[repeated["group"].iloc[:2]]
            msg = (
                f"{key.capitalize()} {quote(ids[code])} is in two groups of {self.name!r}, "
                f"{quote(first)} and {quote(second)}. Give each {key} one group."
            )
            raise InvalidInputError(msg)
        codes = rows.set_index("id")["group"].reindex(places, fill_value=-1).to_numpy()
        if (codes < 0).all():
            msg = f"No evaluated {key} has a group: every label is missing (None, NaN or blank)."
            raise InvalidInputError(msg)
        labels, order = self._order_labels(labels)
        values = pd.Categorical.from_codes(codes, categories=make_index(labels))
        values = values.reorder_categories(make_index(labels[order])).remove_unused_categories()
        return pd.Series(values, index=make_index(users, key), name=self.name)

    def _order_labels(self, labels: Ids) -> tuple[Ids, Positions]:
        """Return distinct labels, and the positions that sort them."""
        ascending = np.argsort(encode_ids(labels, "groups")[1])
        for text in (self.name, *labels.tolist()):
            if isinstance(text, str) and not is_encodable(text):
                msg = f"groups: {quote(text)} has a lone surrogate. Rename it."
                raise InvalidInputError(msg)
        if self.order is None:
            return labels, ascending
        position_of = {label: position for position, label in enumerate(self.order)}
        positions = [position_of[label] for label in labels.tolist()]
        # take the category's label: a column with missing values has 1.0 for the category 1
        return to_objects([self.order[one] for one in positions]), np.argsort(positions)


def read_series(groups: pd.Series[Any], users: Ids) -> Groups:
    """Read groups by user, from a Series whose index has the users.

    Raises
    ------
    InvalidInputError
        The index counts rows: the Series is a column of a table.
    """
    index = groups.index
    if is_row_number_index(index) and not np.array_equal(np.sort(index), users):
        msg = (
            f"The Series of groups is indexed by row numbers, 0 to {len(index) - 1}, not by user. "
            "Take it from the table after set_index('user'); if these are user ids, use "
            "groups.rename_axis('user')."
        )
        raise InvalidInputError(msg)
    name = _DEFAULT_NAME if groups.name is None else str(groups.name)
    return Groups.from_values(to_column(index.to_numpy(), "user"), groups, name)


def read_mapping(groups: Mapping[Any, Any], users: Ids) -> Groups:
    """Read {user: group} or {group: users}.

    Raises
    ------
    InvalidInputError
        It mixes both forms, or a group has none of the users.
    """
    ids = set(users.tolist())
    are_collections = [_is_collection(one, ids, is_user=key in ids) for key, one in groups.items()]
    if not any(are_collections):
        return Groups(to_column(list(groups), "user"), to_objects(list(groups.values())))
    if not all(are_collections):
        key = list(groups)[are_collections.index(False)]
        msg = (
            f"Some groups have lists, but {quote(key)} has {quote(groups[key])}. Use either "
            "{group: [users]} or {user: group}."
        )
        raise InvalidInputError(msg)
    members = {label: to_column(list(one), "user").tolist() for label, one in groups.items()}
    user = to_objects([*chain(*members.values())])
    encode_ids(user, "user")  # raises if a value is no id
    empty = [label for label, users_in in members.items() if ids.isdisjoint(users_in)]
    if 0 < len(empty) < len(members):
        msg = (
            f"The group {quote(empty[0])} has none of the evaluated users. Leave it out, or "
            "correct the ids."
        )
        raise InvalidInputError(msg)
    lengths = [*map(len, members.values())]
    return Groups(user, np.repeat(to_objects(list(members)), lengths))


def read_function_result(result: Any, users: Ids, name: str) -> Groups:
    """Read the result of a function of `per_user`: a group per user, by index or in order.

    Raises
    ------
    InvalidInputError
        The result has another form or length.
    """
    is_by_row = is_row_number_index(getattr(result, "index", None)) and len(result) == len(users)
    if isinstance(result, pd.Series) and not is_by_row:
        return read_series(result if result.name is not None else result.rename(name), users)
    is_list = _is_collection(result) and not isinstance(result, Mapping | AbstractSet)
    groups = Groups.from_values(users, result, name) if is_list else None
    if groups is None or len(groups.group) != len(users):
        found = quote(result) if groups is None else f"{len(groups.group)} groups"
        msg = (
            f"The function of per_user returned {found}. Let it return a Series, a list or an "
            f"array with a group for each of {len(users)} users, in the order of the rows."
        )
        raise InvalidInputError(msg)
    return groups


def read_table_groups(
    data: Any, column: Any = None, columns: Mapping[str, str] | None = None, what: str = "groups"
) -> Groups:
    """Read the groups from a column of a table or a file.

    Parameters
    ----------
    data : table, or path of a file
        A table with a column of users.
    column : str, optional
        The column of groups; by default the first one other than the users, if possible not a
        time or a row number.
    columns : mapping, optional
        ``{"user": ...}``: the name of the column of users.
    what : str
        The name of the table in messages.

    Raises
    ------
    InvalidInputError
        There is no such column, or the column of users is not clear.
    """
    data, is_text = _open_table(data)
    mapping = {"user": columns["user"]} if columns and "user" in columns else {}
    if column is not None and column not in mapping.values():
        mapping["item"] = column  # the groups are read as if they were items
    table = Table(data, mapping)
    user = table.find_user_column(what)
    others = [one for one in table.names if one != user]
    if column is None:
        column = next(iter(sorted(others, key=Table.is_time_or_row_number)), None)
    if column not in others:
        advice = suggest(str(column), map(str, others)) if others else "There are no other columns."
        finding = "no column of groups" if column in (None, user) else f"no column {column!r}"
        msg = f"{what} has {finding} (users: {user!r}). {advice}"
        raise InvalidInputError(msg)
    ids = to_column(table.get_native(user), user)
    groups = Groups.from_values(ids, table.get_native(column), str(column))
    order = _order_numbers(groups.group) if is_text else groups.order
    return replace(groups, order=order, is_text=is_text)


def has_column(data: Any, name: str, columns: Mapping[str, str] | None) -> bool:
    """Return whether an input is a table, or the path of one, with a column of that name."""
    with suppress(InvalidInputError):  # for instance for pickled predictions
        names = Table(_open_table(data)[0], {"item": name}).names if is_table(data, columns) else ()
        return name in names
    return False


def is_table(data: Any, columns: Mapping[str, Any] | None) -> bool:
    """Return whether an input is a table of any library, a path, or a dict of columns.

    A dict without a column of users is not a table: it is {user: group} or {group: [users]}.
    """
    if not isinstance(data, Mapping):
        return is_file_source(split_format(data)[0]) or is_frame(data)
    names = (columns or {}).get("user", "user")
    if not any(name in data for name in (names if isinstance(names, list) else [names])):
        return False
    are_columns = [hasattr(one, "__len__") and not isinstance(one, str) for one in data.values()]
    return all(are_columns) and len({*map(len, data.values())}) == 1


def _open_table(data: Any) -> tuple[Any, bool]:
    """Return a table, which is read if it is a file, and whether it was text."""
    source, text = split_format(data)
    return open_indexed_file(source, text, "user") if is_file_source(source) else (data, False)


def _order_numbers(group: Ids) -> list[Any] | None:
    """Return the labels of a text file in the order of their numbers, None if one is no number."""
    labels = pd.Series(pd.unique(group), dtype=object).dropna()
    numbers = pd.to_numeric(labels, errors="coerce")
    return None if numbers.isna().any() else labels.iloc[numbers.argsort(kind="stable")].tolist()


def to_objects(values: list[Any]) -> Ids:
    """Return ids or labels as an array of Python objects."""
    return np.fromiter(map(to_python, values), dtype=object, count=len(values))


def get_categories(values: Any) -> list[Any] | None:
    """Return the categories of a column, or of an Enum of polars, in order; None if it has none."""
    dtype: Any = getattr(values, "dtype", None)
    has_order = isinstance(dtype, pd.CategoricalDtype) or str(dtype).startswith("Enum(")
    return [*dtype.categories] if has_order else None


def _is_collection(value: Any, ids: Collection[Any] = (), *, is_user: bool = False) -> bool:
    """Return whether a value is a collection of users, or of labels; a tuple may be a label.

    `is_user`: whether its key is a user id, one of `ids`.
    """
    if isinstance(value, str | bytes):
        return False
    if isinstance(value, tuple | frozenset) and is_user:
        return all(user in ids for user in value)
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) == 1


def _format_id_range(ids: Ids) -> str:
    """Return the first and the last id as text."""
    return quote(ids[0]) if len(ids) == 1 else f"{quote(ids[0])} to {quote(ids[-1])}"
