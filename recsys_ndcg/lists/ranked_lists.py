"""RankedLists: the lists that metrics measure, made from data in any form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Floats, Ids, Positions, count_offsets, sort_by_key
from recsys_ndcg.background import read_catalogue
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files import FileSource
from recsys_ndcg.input import Rows, TextFormat, encode_ids, read_pair, read_rows
from recsys_ndcg.lists.candidates import Sizes, add_candidates
from recsys_ndcg.lists.grouped_lists import GroupedLists
from recsys_ndcg.lists.grouping import Pairs, group_distinct
from recsys_ndcg.parallel import map_in_threads, split_users
from recsys_ndcg.ratings import split_catalogue

_RESULT_COLUMNS = ("estimated", "impossible")


def group_rows(rows: Rows, duplicates: str) -> GroupedLists:
    """Return lists made from one table."""
    rule = Convention().replace(duplicates=duplicates).duplicates
    ids = [(rows.user, "user")] + ([] if rows.item is None else [(rows.item, "item")])
    (users, user), *rest = map_in_threads(lambda column: encode_ids(*column), ids, len(rows.user))
    items, item = rest[0] if rest else (None, None)
    codes = {"user": user} if item is None else {"user": user, "item": item}
    pairs = Pairs({**rows.columns, **codes}, rows.table)
    grouped, offsets, repeats = group_distinct(pairs, users, items, rule)
    columns = grouped.without_user
    return GroupedLists(
        users=users,
        offsets=offsets,
        columns=columns,
        item_ids=items,
        unlisted_offsets=np.zeros(len(users) + 1, dtype=np.int64),
        unlisted={name: columns[name][:0] for name in columns if name not in _RESULT_COLUMNS},
        missing=np.zeros(len(users), dtype=bool),
        order_only=rows.order_only,
        duplicates=rule,
        repeats=repeats,
    )


def join_tables(  # noqa: PLR0913 - two tables and their options
    labels: Rows,
    results: Rows,
    duplicates: str,
    *,
    part: bool = False,
    n_items: Sizes | None = None,
    items: Iterable[Any] | None = None,
) -> GroupedLists:
    """Return lists made from labels and results.

    Parameters
    ----------
    labels, results
        Validated tables.
    duplicates : str
        As in `Convention`.
    part : bool
        Whether the tables are a part of the data, so that one of them may have no rows.
    n_items, items
        The candidates of the results, as in `add_candidates`.

    Raises
    ------
    InvalidInputError
        A table is empty, no id can be in both, a pair occurs twice under ``raise``, or there are
        fewer candidates than different items.
    """
    if not part:
        labels.check_not_empty()
        results.check_not_empty()
    rule = Convention().replace(duplicates=duplicates).duplicates
    (users, user), (item_ids, item) = labels.encode_with(results)
    tables = [
        Pairs({**table.columns, "user": user[place], "item": item[place]}, name)
        for place, (table, name) in enumerate([(labels, "labels"), (results, "results")])
    ]
    (label_pairs, _, label_repeats), (result_pairs, offsets, result_repeats) = (
        group_distinct(pairs, users, item_ids, rule) for pairs in tables
    )
    joined, unlisted = _join_labels(result_pairs, label_pairs, len(users), len(item_ids))
    unlisted_offsets = count_offsets(unlisted.user, len(users))
    lists = GroupedLists(
        users=users,
        offsets=offsets,
        columns=joined | result_pairs.without_user,
        item_ids=item_ids,
        unlisted_offsets=unlisted_offsets,
        unlisted=unlisted.without_user,
        missing=(np.diff(offsets) == 0) & (np.diff(unlisted_offsets) > 0),
        protocol="supplied",
        order_only=results.order_only,
        duplicates=rule,
        repeats=label_repeats + result_repeats,
    )
    return add_candidates(lists, n_items, items)


def _join_labels(
    results: Pairs, labels: Pairs, n_users: int, n_items: int
) -> tuple[dict[str, Floats], Pairs]:
    """Join labels to results on user and item.

    Parameters
    ----------
    results, labels : Pairs
        Grouped by user, without repeated pairs; labels of NaN are ignored.
    n_users, n_items : int
        The numbers of users and items in both tables.

    Returns
    -------
    columns : dict of float64 arrays, one entry per row of the results
        The columns of its label, such as `true`; NaN without a label.
    unlisted : Pairs
        The labels of pairs that are not in the results.
    """
    labels = labels.take(np.flatnonzero(~np.isnan(labels.columns["true"])))
    tables = labels, results
    offsets = [count_offsets(table.user, n_users) for table in tables]
    names = labels.columns.keys() - {"user", "item"}
    joined = {name: np.full(len(results.user), np.nan) for name in names}
    is_listed = np.zeros(len(labels.user), dtype=bool)

    def join_users(users: tuple[int, int]) -> None:
        first, last = users
        parts = [slice(edges[first], edges[last]) for edges in offsets]
        keys = [table.make_keys(n_items, rows) for table, rows in zip(tables, parts, strict=True)]
        order, same = sort_by_key(np.concatenate(keys) - first * n_items, (last - first) * n_items)
        label = parts[0].start + order[:-1][same]
        result = parts[1].start + order[1:][same] - len(keys[0])
        for name, column in joined.items():
            column[result] = labels.columns[name][label]
        is_listed[label] = True

    map_in_threads(join_users, split_users(offsets[0] + offsets[1]))
    return joined, labels.take(np.flatnonzero(~is_listed))


def to_lists(
    data: Any,
    *,
    columns: Mapping[str, Any] | None = None,
    duplicates: str = "raise",
    text: TextFormat | None = None,
) -> GroupedLists:
    """Return the lists of predictions in any form; lists are returned as they are.

    Raises
    ------
    InvalidInputError
        The form is unknown, the data cannot be read, or as for `RankedLists.from_arrays`.

    Examples
    --------
    >>> len(to_lists({"ann": [(4.5, 5), (2.0, 1)]}))
    1
    """
    lists = data._data if isinstance(data, RankedLists) else data
    if not isinstance(lists, GroupedLists):
        return group_rows(read_rows(data, columns, text), duplicates)
    if columns:
        msg = "`columns=` names the columns of a table, but the data is RankedLists already."
        raise InvalidInputError(msg)
    return lists


@dataclass(frozen=True, eq=False, repr=False)
class RankedLists:
    """One list of items per user, in columns grouped by user, made from data in any form.

    Use one of the ``from_...`` methods. Users are in ascending order of their ids; within a user
    the rows keep the order of the input. Lists never change.

    Examples
    --------
    >>> rows = [("ann", "a", 4.5, 5), ("bob", "a", 3, 2), ("ann", "b", 2, 1)]
    >>> lists = RankedLists.from_tuples(rows)
    >>> lists
    RankedLists of 2 users with 3 ratings, 1 to 2 each.
    >>> lists.users.tolist(), lists.offsets.tolist(), lists.items.tolist()
    (['ann', 'bob'], [0, 2, 3], ['a', 'b', 'a'])
    """

    _data: GroupedLists

    def __repr__(self) -> str:
        """Return a sentence with the numbers of users, items and labels."""
        return repr(self._data)

    def _repr_html_(self) -> str:
        return self._data._repr_html_()

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self._data)

    @property
    def users(self) -> Ids:
        """The user ids, in ascending order."""
        return self._data.users

    @property
    def offsets(self) -> Positions:
        """The first row of each user, and the number of rows."""
        return self._data.offsets

    @property
    def items(self) -> Ids | None:
        """The item id of each row; None if the data has no items."""
        return self._data.items

    @property
    def estimated(self) -> Floats:
        """The recommender's score of each row."""
        return self._data.estimated

    @property
    def true(self) -> Floats:
        """The user's grade of each row, NaN if it is unlabelled."""
        return self._data.true

    @property
    def n_items(self) -> Positions:
        """The number of items in each list."""
        return self._data.n_items

    @property
    def unlisted(self) -> Mapping[str, NDArray[Any]]:
        """The columns of the labelled items that are in no list."""
        return self._data.unlisted

    @property
    def protocol(self) -> str:
        """What is ranked."""
        return self._data.protocol

    def as_sampled(self) -> RankedLists:
        """Return the lists under the protocol ``sampled``: relevant items among sampled ones.

        The signature of a score then names it.

        Raises
        ------
        InvalidInputError
            The lists were chosen from a catalogue (`n_items` or `items`).

        Examples
        --------
        >>> lists = RankedLists.from_labels({"ann": {1}}, {"ann": [2, 1, 3]}).as_sampled()
        >>> lists.protocol
        'sampled'
        """
        if self._data.pool.sizes is not None:
            msg = (
                "Lists that were made with `n_items=` or items= come from a catalogue. Leave these "
                "options out if the items were sampled."
            )
            raise InvalidInputError(msg)
        return RankedLists(replace(self._data, protocol="sampled"))

    @classmethod
    def from_arrays(
        cls,
        user: Iterable[Any],
        item: Iterable[Any] | None,
        estimated: Iterable[Any],
        true: Iterable[Any],
        *,
        duplicates: str = "raise",
    ) -> RankedLists:
        """Make lists from four sequences of equal length; `item` may be None.

        Raises
        ------
        InvalidInputError
            The columns have different lengths, are empty or not columns, a number cannot be ranked,
            an id is missing, or a (user, item) occurs twice and `duplicates` is ``raise``.

        Examples
        --------
        >>> len(RankedLists.from_arrays([1, 1, 2], None, [3.5, 4.0, 2.0], [4, 5, 1]))
        2
        """
        return cls(group_rows(Rows.from_arrays(user, item, estimated, true), duplicates))

    @classmethod
    def from_tuples(cls, data: Any, *, duplicates: str = "raise") -> RankedLists:
        """Make lists from rows (user, item, estimated, true) or {user: [(estimated, true), ...]}.

        A mapping may also hold grades alone, in ranked order: {user: [3, 1, 2]}.

        Raises
        ------
        InvalidInputError
            A row or a list has another form, or as for `from_arrays`.

        Examples
        --------
        >>> RankedLists.from_tuples({"ann": [(4.5, 5), (2.0, 1)]}).true.tolist()
        [5.0, 1.0]
        """
        return cls(group_rows(read_rows(data, table="tuples"), duplicates))

    @classmethod
    def from_surprise(
        cls, predictions: Iterable[Any] | str | Path, *, duplicates: str = "raise"
    ) -> RankedLists:
        """Make lists from the result of scikit-surprise's ``algo.test(testset)``, or its pickle.

        Raises
        ------
        InvalidInputError
            A row is not a prediction, the file is not a pickle of predictions, or as for
            `from_arrays`.

        Examples
        --------
        >>> RankedLists.from_surprise([("ann", "a", 5.0, 4.5, {})]).estimated.tolist()
        [4.5]
        """
        return cls(group_rows(read_rows(predictions, table="Surprise"), duplicates))

    @classmethod
    def from_frame(
        cls, frame: Any, *, columns: Mapping[str, Any] | None = None, duplicates: str = "raise"
    ) -> RankedLists:
        """Make lists from a pandas, polars or pyarrow table with one row per (user, item).

        Parameters
        ----------
        frame : table
            With the columns user, item, estimated and true.
        columns : mapping, optional
            Our names to the table's names.
        duplicates : {'raise', 'first', 'last', 'max', 'mean'}
            As in `Convention`.

        Raises
        ------
        InvalidInputError
            A column is missing, or as for `from_arrays`.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"user": [7], "item": [1], "est": [3.5], "true": [4]})
        >>> RankedLists.from_frame(frame, columns={"estimated": "est"}).users.tolist()
        [7]
        """
        return cls(group_rows(read_rows(frame, columns), duplicates))

    @classmethod
    def from_file(
        cls,
        path: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        duplicates: str = "raise",
        text: TextFormat | None = None,
    ) -> RankedLists:
        """Make lists from a file of predictions.

        Parameters
        ----------
        path : path, or stream of bytes
            CSV or another delimited text, or JSON lines (``.jsonl``, ``.ndjson``), perhaps
            compressed (``.gz``, ``.zst``, ``.bz2``, ``.xz``, ``.zip``); ``.parquet``,
            or pickled Surprise predictions.
        columns : mapping, optional
            Our names to the file's names.
        duplicates : {'raise', 'first', 'last', 'max', 'mean'}
            As in `Convention`.
        text : TextFormat, optional
            The text format: separator, decimal sign, encoding, heading.

        Raises
        ------
        InvalidInputError
            The file cannot be read (the message names the line), or as for `from_frame`.
        MissingExtraError
            Parquet and ``.zst`` need pyarrow.
        """
        return cls(group_rows(read_rows(path, columns, text), duplicates))

    @classmethod
    def from_labels(  # noqa: PLR0913 - the contract
        cls,
        labels: Any,
        results: Any,
        *,
        columns: Mapping[str, Any] | None = None,
        list_separator: str | None = None,
        duplicates: str = "raise",
        catalogue: Any = None,
        n_items: Sizes | None = None,
        items: Iterable[Any] | None = None,
        text: TextFormat | None = None,
    ) -> RankedLists:
        """Join labels and recommendations on user and item.

        Parameters
        ----------
        labels : table, rows, lists per user, a sparse matrix, or predictions of the test ratings
            Columns user, item, true; rows (user, item, true); {user: {item: true}}; users × items.
            Without true values every label is 1: rows (user, item), {user: {item, ...}}. None if
            there are no labels: measures such as coverage and novelty need none.
        results : table, rows, lists per user, or predictions
            Columns user, item and either ``rank`` (1 is best) or ``estimated``; of both, ``rank``
            is used. Ranks are only an order: gaps have no meaning, equal ranks are ties. True
            values in this table are ignored. Or rows (user, item, estimated); {user: [item, ...]},
            best first; {user: [(item, estimated), ...]} or {user: {item: estimated}}.
        columns : mapping, optional
            Our names to the names in both tables; of a list the first that a table has.
        list_separator : str, optional
            What separates the ids in a cell of text that has several; "" if each cell is one id.
            By default it is decided by what matches the other table.
        duplicates : {'raise', 'first', 'last', 'max', 'mean'}
            As in `Convention`; applied to each table separately.
        catalogue : int, {user: int}, Series by user, ids, table or path, optional
            What could have been recommended: the number of items, or of each user's, or the items
            themselves; no other can be recommended.
        n_items, items
            Other names of `catalogue`, for numbers and for items.
        text : TextFormat, optional
            The format of text files.

        Returns
        -------
        RankedLists
            The protocol is ``supplied``: chance is a random order of each list. With `catalogue` it
            is ``catalogue``: chance is a list of the same length drawn from the candidates. Labels
            that were not recommended still count for recall and the global ideal; results without a
            label are unlabelled; a user with labels only is missing.

        Raises
        ------
        InvalidInputError
            A column is missing, the ids of the tables have different types, or as for
            `from_arrays`.

        Examples
        --------
        >>> import pandas as pd
        >>> labels = pd.DataFrame({"user": [1, 1], "item": [10, 11], "true": [5, 3]})
        >>> results = pd.DataFrame({"user": [1, 1], "item": [10, 12], "rank": [1, 2]})
        >>> lists = RankedLists.from_labels(labels, results)
        >>> lists.true.tolist(), lists.unlisted["true"].tolist()
        ([5.0, nan], [3.0])
        >>> RankedLists.from_labels({1: {10, 11}}, {1: [10, 12]}).true.tolist()
        [1.0, nan]
        """
        labelled, recommended = read_pair(labels, results, columns, text, list_separator)
        if labelled is None:
            recommended.check_not_empty()
            labelled = recommended.without_labels()
        if catalogue is not None:
            if n_items is not None or items is not None:
                msg = "`catalogue=` replaces `n_items=` and items=. Give `catalogue=` alone."
                raise InvalidInputError(msg)
            items, n_items = split_catalogue(catalogue)
            items = None if items is None else read_catalogue(items)
        how: dict[str, Any] = {"part": labels is None, "n_items": n_items, "items": items}
        return cls(join_tables(labelled, recommended, duplicates, **how))

    @classmethod
    def from_trec(
        cls,
        qrels: FileSource | tuple[FileSource, TextFormat] | Mapping[Any, Mapping[Any, float]],
        run: FileSource | tuple[FileSource, TextFormat] | Mapping[Any, Mapping[Any, float]],
        *,
        duplicates: str = "raise",
        n_items: Sizes | None = None,
        items: Iterable[Any] | None = None,
    ) -> RankedLists:
        """Make lists from TREC qrels and run: files, or {topic: {document: number}}.

        Topics are users, documents are items. A negative grade is unlabelled and the run's rank
        column is ignored, both as in trec_eval. `n_items` and `items`, documents of the collection,
        as in `from_labels`.

        Raises
        ------
        InvalidInputError
            A line or an entry has another form, a file cannot be read, or as for `from_labels`.

        Examples
        --------
        >>> lists = RankedLists.from_trec({"t": {"a": 1, "b": 2}}, {"t": {"b": 0.5}})
        >>> lists.true.tolist(), lists.unlisted["true"].tolist()
        ([2.0], [1.0])
        """
        tables = read_rows(qrels, table="qrels"), read_rows(run, table="run")
        return cls(join_tables(*tables, duplicates, n_items=n_items, items=items))
