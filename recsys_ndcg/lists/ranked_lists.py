"""RankedLists: the value between data and metrics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input import read, read_labels, read_results
from recsys_ndcg.input.pickles import read_pickle
from recsys_ndcg.input.rows import Rows, floats, objects
from recsys_ndcg.input.trec import Judgements, read_qrels, read_run
from recsys_ndcg.input.tuples import read_predictions, read_tuples
from recsys_ndcg.lists.assembly import group, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Codes, Floats, Ids, Positions


@dataclass(frozen=True, eq=False)
class RankedLists:
    """One list of items per user, in columns grouped by user.

    Make it with one of the ``from_...`` methods. Users stand in ascending order of their ids;
    within a user the rows keep the order of the input.

    Parameters
    ----------
    users : array, shape (n_users,)
        The user ids.
    offsets : int64 array, shape (n_users + 1,)
        The rows of user number u are ``offsets[u]`` to ``offsets[u + 1]``.
    estimated, true : float64 arrays, one entry per row
        The recommender's score, and the user's grade (NaN: unlabelled).
    item_ids, item_codes : arrays, optional
        The distinct items in ascending order, and each row's place among them.
    unlisted_offsets, unlisted_true : arrays
        The same for labelled items that are not in the user's list: the grades alone.
    missing : bool array, shape (n_users,)
        Users with labels but without a list.
    protocol : {'rated', 'catalogue'}
        Whether the lists hold the user's test ratings only, or whatever was recommended.
    order_only : bool
        Whether the estimates stand for an order alone: they were ranks.
    duplicates, merged
        By which rule repeated (user, item) rows were merged, and how many that removed.
    impossible : bool array, one entry per row, optional
        Predictions that the model could not make; None where there are none.

    Examples
    --------
    >>> rows = [("ann", "a", 4.5, 5), ("bob", "a", 3, 2), ("ann", "b", 2, 1)]
    >>> lists = RankedLists.from_tuples(rows)
    >>> lists.users.tolist(), lists.offsets.tolist(), lists.items.tolist()
    (['ann', 'bob'], [0, 2, 3], ['a', 'b', 'a'])
    """

    users: Ids
    offsets: Positions
    estimated: Floats
    true: Floats
    item_ids: Ids | None
    item_codes: Codes | None
    unlisted_offsets: Positions
    unlisted_true: Floats
    missing: NDArray[np.bool_]
    protocol: str = "rated"
    order_only: bool = False
    duplicates: str = "raise"
    merged: int = 0
    impossible: NDArray[np.bool_] | None = None

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

        Examples
        --------
        >>> len(RankedLists.from_arrays([1, 1, 2], None, [3.5, 4.0, 2.0], [4, 5, 1]))
        2
        """
        rows = Rows(
            objects(user, "user"),
            None if item is None else objects(item, "item"),
            floats(estimated, "estimated"),
            floats(true, "true"),
        )
        return cls(**group(rows, duplicates))

    @classmethod
    def from_tuples(cls, data: Any, *, duplicates: str = "raise") -> RankedLists:
        """Make lists from rows (user, item, estimated, true) or {user: [(estimated, true), ...]}.

        A mapping may also hold grades alone, in ranked order: {user: [3, 1, 2]}.

        Examples
        --------
        >>> RankedLists.from_tuples({"ann": [(4.5, 5), (2.0, 1)]}).true.tolist()
        [5.0, 1.0]
        """
        return cls(**group(read_tuples(data), duplicates))

    @classmethod
    def from_surprise(
        cls, predictions: Iterable[Any] | str | Path, *, duplicates: str = "raise"
    ) -> RankedLists:
        """Make lists from what ``algo.test(testset)`` of scikit-surprise returns, or its pickle.

        Examples
        --------
        >>> RankedLists.from_surprise([("ann", "a", 5.0, 4.5, {})]).estimated.tolist()
        [4.5]
        """
        if isinstance(predictions, str | Path):
            predictions = read_pickle(predictions)
        return cls(**group(read_predictions(predictions), duplicates))

    @classmethod
    def of(
        cls,
        data: Any,
        *,
        columns: Mapping[str, str] | None = None,
        duplicates: str = "raise",
    ) -> RankedLists:
        """Make lists from predictions in any of the forms below, told apart by their looks.

        Examples
        --------
        >>> len(RankedLists.of({"ann": [(4.5, 5), (2.0, 1)]}))
        1
        """
        if isinstance(data, cls):
            if columns:
                msg = "columns= names the columns of a table, but the data is RankedLists already."
                raise InvalidInputError(msg)
            return data
        return cls(**group(read(data, columns), duplicates))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        columns: Mapping[str, str] | None = None,
        duplicates: str = "raise",
    ) -> RankedLists:
        """Make lists from a pandas, polars or pyarrow table with one row per (user, item).

        Parameters
        ----------
        frame : table
            With the columns user, item, estimated and true.
        columns : mapping, optional
            Our name to the table's name, where they differ.
        duplicates : {'raise', 'first', 'last', 'max', 'mean'}
            As in `Convention`.

        Examples
        --------
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"user": [7], "item": [1], "est": [3.5], "true": [4]})
        >>> RankedLists.from_frame(frame, columns={"estimated": "est"}).users.tolist()
        [7]
        """
        return cls.of(frame, columns=columns, duplicates=duplicates)

    @classmethod
    def from_file(
        cls,
        path: Any,
        *,
        columns: Mapping[str, str] | None = None,
        duplicates: str = "raise",
    ) -> RankedLists:
        """Make lists from a CSV file with a heading, Parquet, or pickled Surprise predictions."""
        return cls.of(path, columns=columns, duplicates=duplicates)

    @classmethod
    def from_labels(
        cls,
        labels: Any,
        results: Any,
        *,
        columns: Mapping[str, str] | None = None,
        duplicates: str = "raise",
    ) -> RankedLists:
        """Join what is known of the items with what was recommended, on user and item.

        Parameters
        ----------
        labels : table, or predictions of the test ratings
            Columns user, item, true.
        results : table, or predictions
            Columns user, item and either ``rank`` (1 is best) or ``estimated``; a rank counts
            where both stand. Ranks are an order: gaps close up, equal ones are ties. The table's
            own true values, if any, are not used.
        columns : mapping, optional
            Our names to those of both tables.
        duplicates : {'raise', 'first', 'last', 'max', 'mean'}
            As in `Convention`; for each table by itself.

        Returns
        -------
        RankedLists
            Under the protocol ``catalogue``. Labels that were not recommended still count for
            recall and the global ideal; results without a label are unlabelled; a user with
            labels alone is missing.

        Examples
        --------
        >>> import pandas as pd
        >>> labels = pd.DataFrame({"user": [1, 1], "item": [10, 11], "true": [5, 3]})
        >>> results = pd.DataFrame({"user": [1, 1], "item": [10, 12], "rank": [1, 2]})
        >>> lists = RankedLists.from_labels(labels, results)
        >>> lists.true.tolist(), lists.unlisted_true.tolist()
        ([5.0, nan], [3.0])
        """
        tables = read_labels(labels, columns), read_results(results, columns)
        return cls(**join(*tables, duplicates))

    @classmethod
    def from_trec(
        cls, qrels: Judgements, run: Judgements, *, duplicates: str = "raise"
    ) -> RankedLists:
        """Make lists from TREC qrels and run: files, or {topic: {document: number}}.

        Topics are users, documents are items. A negative grade is unlabelled and the run's rank
        column is ignored, both as in trec_eval.

        Examples
        --------
        >>> lists = RankedLists.from_trec({"t": {"a": 1, "b": 2}}, {"t": {"b": 0.5}})
        >>> lists.true.tolist(), lists.unlisted_true.tolist()
        ([2.0], [1.0])
        """
        return cls(**join(read_qrels(qrels), read_run(run), duplicates))

    def __len__(self) -> int:
        """Return the number of users."""
        return len(self.users)

    @property
    def items(self) -> Ids | None:
        """The item id of every row, or None where the data has no items."""
        if self.item_ids is None or self.item_codes is None:
            return None
        return self.item_ids[self.item_codes]

    @property
    def n_items(self) -> Positions:
        """How many items each user's list has."""
        return np.diff(self.offsets)

    @property
    def n_unlisted(self) -> Positions:
        """How many labelled items of each user are not in the list."""
        return np.diff(self.unlisted_offsets)

    @property
    def n_unlabelled(self) -> int:
        """How many listed items have no true value."""
        return int(np.isnan(self.true).sum())

    @property
    def n_impossible(self) -> int:
        """How many predictions the model could not make."""
        return 0 if self.impossible is None else int(self.impossible.sum())

    def whole(self, place: int) -> RankedLists:
        """Return the list of one user, every item of it."""
        return self.between(place, place + 1)

    def labelled_as(self, grade: float) -> RankedLists:
        """Return the lists as they were if all unlabelled items had this grade."""
        return replace(self, true=np.where(np.isnan(self.true), grade, self.true))

    def labelled_only(self) -> RankedLists:
        """Return the lists without their unlabelled items."""
        return self.only(~np.isnan(self.true))

    def only(self, kept: NDArray[np.bool_]) -> RankedLists:
        """Return the lists with some of the rows."""
        before = np.concatenate([[0], np.cumsum(kept)])
        codes, impossible = self.item_codes, self.impossible
        return replace(
            self,
            offsets=before[self.offsets],
            estimated=self.estimated[kept],
            true=self.true[kept],
            item_codes=None if codes is None else codes[kept],
            impossible=None if impossible is None else impossible[kept],
        )

    def between(self, first: int, last: int) -> Self:
        """Return the users number `first` to `last`, sharing memory."""
        rows = slice(self.offsets[first], self.offsets[last])
        extra = slice(self.unlisted_offsets[first], self.unlisted_offsets[last])
        codes, impossible = self.item_codes, self.impossible
        return replace(
            self,
            users=self.users[first:last],
            offsets=self.offsets[first : last + 1] - self.offsets[first],
            estimated=self.estimated[rows],
            true=self.true[rows],
            item_codes=None if codes is None else codes[rows],
            unlisted_offsets=self.unlisted_offsets[first : last + 1] - self.unlisted_offsets[first],
            unlisted_true=self.unlisted_true[extra],
            missing=self.missing[first:last],
            impossible=None if impossible is None else impossible[rows],
        )
