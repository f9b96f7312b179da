"""Distances of two items, and their expected sums over the pairs of the items that a list shows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags, Floats, Positions, compute_offsets, concat_ranges
from recsys_ndcg.background import Background, Feature
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.lazy import Cache, lazy_property

Value = TypeVar("Value")
_CELLS = 2**20  # entries of a table that is made at once
_FEW_KINDS = 1500  # so many different entries have a table of all their distances
_FEW_COLUMNS = 2000  # so many columns have a table of all their products
_FEW_ITEMS = 10_000  # so many items have a table of all their products, in parts
_LONG_LIST = 1000  # longer lists have too many pairs for a deviation
_TABLE_LIST = 200  # longer lists have a table of their distances, in parts
#: The distance by the kind of a column.
BY_COLUMN = {
    "set": "jaccard", "vector": "cosine", "category": "hamming", "number": "hamming",
    "columns": "hamming",
}  # fmt: skip
#: The kinds of columns that have a distance; others have all.
FITTING = {"jaccard": ("set", "category", "vector"), "cosine": ("set", "vector")}
_KNOWN: WeakKeyDictionary[Background, Cache] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Shown:
    """The items that may be among the first k of each list, by user, sure ones first, then by item.

    Parameters
    ----------
    n_users : int
        The number of users.
    user, item : int64 arrays
        The user and the item of each row.
    is_tied : bool array
        Whether only some of the user's tied rows, drawn at random, are among the first k; the
        others are for certain.
    n_drawn : int64 array, shape (n_users,)
        How many of the tied rows are drawn.
    """

    n_users: int
    user: Positions
    item: Positions
    is_tied: Flags
    n_drawn: Positions

    @lazy_property
    def offsets(self) -> Positions:
        """The start of each user's rows, and the end of the last."""
        return compute_offsets(np.bincount(self.user, minlength=self.n_users))

    @lazy_property
    def n_tied(self) -> Positions:
        """The number of tied rows of each user."""
        return np.bincount(self.user[self.is_tied], minlength=self.n_users)

    @lazy_property
    def shares(self) -> tuple[Floats, Floats]:
        """The probability that a tied item is drawn, and that two of them are."""
        one = self.n_drawn / np.maximum(self.n_tied, 1)
        two = one * (self.n_drawn - 1) / np.maximum(self.n_tied - 1, 1)
        return one, two

    @property
    def count(self) -> Floats:
        """The number of items that each list shows."""
        return (np.diff(self.offsets) - self.n_tied + self.n_drawn).astype(np.float64)


@dataclass(frozen=True)
class Spread:
    """The distances of all pairs of n items: their mean, and what the variance of sums needs.

    Parameters
    ----------
    mean : float or float64 array
        The mean distance of a pair.
    squares : float or float64 array
        The sum of (d - mean)² over the pairs.
    row_squares : float or float64 array
        The sum of R² over the items, with R the sum of (d - mean) over the item's pairs.
    """

    mean: Any
    squares: Any
    row_squares: Any

    @classmethod
    def of(cls, n_items: Any, row_sums: Any, total: Any, squares: Any) -> Spread:
        """Return it, given n, Σ R², Σ R and Σ d² over ordered pairs, with R the sums of rows."""
        n = np.asarray(n_items, dtype=np.float64)
        ordered = np.maximum(n * (n - 1), 1.0)
        mean = total / ordered
        centred = squares / 2 - ordered / 2 * mean * mean
        rows = row_sums - np.square(total) / np.maximum(n, 1)
        # equal distances differ by rounding only
        centred = np.where(centred > 1e-13 * squares, centred, 0.0)
        return cls(mean, centred, np.where(rows > 1e-13 * row_sums, rows, 0.0))

    def deviation(self, n_items: Any, n_drawn: Any) -> Floats:
        r"""Return the standard deviation of the sum of the distances of s of n items.

        .. math:: q_2 \frac{(n-s)(n-s-1)}{(n-2)(n-3)} \sum \delta^2
            + q_3 \frac{n-s}{n-3} \sum_i R_i^2

        is its square, with q_2 and q_3 the probabilities that two and three given items are drawn.
        """
        n, s = np.asarray(n_items, dtype=np.float64), np.asarray(n_drawn, dtype=np.float64)
        two = s * (s - 1) / np.maximum(n * (n - 1), 1)
        three = two * np.maximum(s - 2, 0) / np.maximum(n - 2, 1)
        rest = n - s
        of_pairs = np.where(n > 3, rest * (rest - 1) / np.maximum((n - 2) * (n - 3), 1), rest > 0)
        of_items = np.where(n > 3, rest / np.maximum(n - 3, 1), 0.0)
        variance = two * of_pairs * self.squares + three * of_items * self.row_squares
        return np.asarray(np.sqrt(variance))


class Distances:
    """The distances of items, given by their positions among all items."""

    #: The largest distance minus the smallest; 0 if unknown.
    scale: float = 0.0

    def measure(self, first: Positions, second: Positions) -> Floats:
        """Return the distance of each pair of items."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        """The number of table entries for a pair."""
        return 1

    def sum_expected(self, shown: Shown) -> Floats:
        """Return the expected sum over the pairs of the items that each list shows."""
        one, two = shown.shares
        same, other = self._sum_rows(shown)
        weight = np.where(shown.is_tied, two[shown.user], 1.0)
        by_row = weight * same + one[shown.user] * other
        return np.bincount(shown.user, by_row, shown.n_users).astype(np.float64)

    def _sum_rows(self, shown: Shown) -> Floats:
        """Return each row's sums over later rows of the user that are tied as it is, or are not."""
        sums = np.zeros((2, len(shown.user)))
        for rows, row, partner in iterate_pairs(shown.offsets, self.width, later=True):
            distance = self.measure(shown.item[row], shown.item[partner])
            is_other = shown.is_tied[row] != shown.is_tied[partner]
            index = (row - rows.start) + (rows.stop - rows.start) * is_other
            n_cells = 2 * (rows.stop - rows.start)
            sums[:, rows] = np.bincount(index, distance, n_cells).reshape(2, -1)
        return sums

    def spread_of_lists(self, offsets: Positions, item: Positions) -> Spread:
        """Return the spread of the distances in each list; NaN for very long lists."""
        sizes = np.diff(offsets)
        is_long = sizes > _LONG_LIST
        kept = ~np.repeat(is_long, sizes)
        item, offsets = item[kept], compute_offsets(np.where(is_long, 0, sizes))
        sums = np.zeros((2, len(item)))
        for rows, row, partner in iterate_pairs(offsets, self.width, later=False):
            distance = self.measure(item[row], item[partner])
            distance = np.where(row == partner, 0.0, distance)
            for place, each in enumerate((distance, distance * distance)):
                sums[place, rows] = np.bincount(row - rows.start, each, rows.stop - rows.start)
        user = np.repeat(np.arange(len(sizes)), np.diff(offsets))
        total, squares, row_squares = (
            np.bincount(user, each, len(sizes)) for each in (*sums, sums[0] * sums[0])
        )
        squares = np.where(is_long, np.nan, squares)
        return Spread.of(sizes, row_squares, total, squares)

    def spread_of(self, items: Positions) -> Spread:
        """Return the spread of the distances of some items."""
        raise NotImplementedError

    def sum_by_item(self, items: Positions) -> Floats:
        """Return the sum of each item's distances to the other ones."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Products(Distances):
    """Distances c - <x, y> of vectors, so that sums over pairs follow from sums of vectors.

    Parameters
    ----------
    vectors : sparse array, shape (n_items, n_columns)
        The vectors.
    scale : float
        c, the distance of items that have nothing in common.
    """

    vectors: Any
    scale: float = 1.0

    @lazy_property
    def _norms(self) -> Floats:
        """The squared length of each vector."""
        return _sum_by_row(self.vectors, self.vectors.data**2)

    @lazy_property
    def _dense(self) -> Floats | None:
        """The vectors as a table, if it is small: a product is then much faster."""
        n_items, n_columns = self.vectors.shape
        return self.vectors.toarray() if n_items * n_columns <= 8 * _CELLS else None

    @property
    def width(self) -> int:
        """The number of columns, or of those that are not 0."""
        n_items, n_columns = self.vectors.shape
        n_entries = n_columns if self._dense is not None else self.vectors.nnz // n_items
        return int(n_entries) + 1

    def measure(self, first: Positions, second: Positions) -> Floats:
        """Return the distance of each pair of items."""
        if self._dense is not None:
            products = np.einsum("ij,ij->i", self._dense[first], self._dense[second])
        else:
            products = self.vectors[first].multiply(self.vectors[second]).sum(axis=1)
        return self.scale - np.asarray(products)

    def sum_expected(self, shown: Shown) -> Floats:
        """Return the expected sum over the pairs, in time of the rows, not of the pairs."""
        one, two = shown.shares
        sizes = np.diff(self.vectors.indptr).astype(np.int64)[shown.item]
        cost = np.append(0, np.cumsum(sizes))[shown.offsets]
        similarity = np.zeros(shown.n_users)
        for users in _split(np.diff(cost), _CELLS):
            rows = slice(shown.offsets[users.start], shown.offsets[users.stop])
            user, item = shown.user[rows] - users.start, shown.item[rows]
            is_tied = shown.is_tied[rows]
            n_users = users.stop - users.start
            sure, tied = (
                self._add_up(user[part], item[part], n_users) for part in (~is_tied, is_tied)
            )
            both = sure[0].multiply(tied[0]).tocsr()
            similarity[users] = (
                sure[1] + one[users] * _sum_by_row(both, both.data) + two[users] * tied[1]
            )
        count = shown.count
        total = self.scale * count * (count - 1) / 2 - similarity
        # vectors of length 1 are so up to rounding
        return np.where(np.abs(total) < 1e-14 * self.scale * count * count, 0.0, total)

    def _add_up(self, user: Positions, item: Positions, n_users: int) -> tuple[Any, Floats]:
        """Return the sum of the vectors of each user, and the sum of the products of pairs."""
        offsets = compute_offsets(np.bincount(user, minlength=n_users))
        chosen = _make_sparse(np.ones(len(item)), item, offsets, self.vectors.shape[0])
        total = (chosen @ self.vectors).tocsr()
        total.sort_indices()  # so that the order of the additions is that of the columns
        own = np.bincount(user, self._norms[item], n_users)
        return total, (_sum_by_row(total, total.data**2) - own) / 2

    def spread_of_lists(self, offsets: Positions, item: Positions) -> Spread:
        """Return the spread of the distances in each list; NaN for very long lists."""
        table = self._dense
        if table is None:
            return super().spread_of_lists(offsets, item)
        sizes, n_columns = np.diff(offsets), table.shape[1]
        sums = np.zeros((3, len(sizes)))
        sums[2, np.minimum(sizes, n_columns) > _LONG_LIST] = np.nan
        for n in np.unique(sizes[(sizes > 1) & ~np.isnan(sums[2])]).tolist():
            users = np.flatnonzero(sizes == n)
            for part in _split(np.full(len(users), n * n_columns), _CELLS):
                x = table[item[offsets[users[part], None] + np.arange(n)]]
                turned = x.transpose(0, 2, 1)
                gram = x @ turned if n < n_columns else turned @ x
                norms = (x * x).sum(axis=2)
                by_row = (x @ x.sum(axis=1)[:, :, None])[:, :, 0] - norms
                squares = (gram * gram).sum(axis=2).sum(axis=1) - (norms * norms).sum(axis=1)
                rows = self.scale * (n - 1) - by_row
                sums[:, users[part]] = (rows * rows).sum(axis=1), by_row.sum(axis=1), squares
        return self._to_spread(sizes, *sums)

    def _to_spread(self, n: Any, row_squares: Any, total: Any, products: Any) -> Spread:
        """Return the spread, given Σ R², and the sums of <x, y> and <x, y>² of ordered pairs."""
        c, ordered = self.scale, n * (n - 1.0)
        squares = c * c * ordered - 2 * c * total + products
        return Spread.of(n, row_squares, c * ordered - total, squares)

    def spread_of(self, items: Positions) -> Spread:
        """Return the spread of the distances of some items; NaN if there are too many pairs."""
        n, x, norms = len(items), self.vectors[items], self._norms[items]
        rows = self.sum_by_item(items)
        if x.shape[1] <= _FEW_COLUMNS:
            products = float(((x.T @ x).toarray() ** 2).sum())
        elif n <= _FEW_ITEMS:
            parts = _split(np.full(n, n), _CELLS)
            products = sum(float(((x[rows] @ x.T).data ** 2).sum()) for rows in parts)
        else:
            products = np.nan
        products -= float((norms**2).sum())
        total = self.scale * n * (n - 1) - float(rows.sum())
        return self._to_spread(n, float((rows**2).sum()), total, products)

    def sum_by_item(self, items: Positions) -> Floats:
        """Return the sum of each item's distances to the other ones."""
        x = self.vectors[items]
        similar = x @ np.asarray(x.sum(axis=0)).ravel() - self._norms[items]
        return np.asarray(self.scale * (len(items) - 1) - similar)


@dataclass(frozen=True, eq=False)
class OfEntries(Distances):
    """Distances that a function computes from two arrays of entries.

    Parameters
    ----------
    entries : array, one entry per kind of item
        The different entries of the features.
    kind : int64 array, shape (n_items,)
        The position of each item's entry.
    function : callable
        Returns the distances of two arrays of entries.
    """

    entries: NDArray[Any]
    kind: Positions
    function: Callable[[NDArray[Any], NDArray[Any]], Floats]

    @property
    def width(self) -> int:
        """The number of table entries for a pair."""
        n_kinds = len(self.entries)
        return 1 if n_kinds <= _FEW_KINDS else max(self.entries[:1].size, 1)

    @lazy_property
    def _table(self) -> Floats | None:
        """The distances of all kinds, if they are few."""
        n_kinds = len(self.entries)
        if n_kinds > _FEW_KINDS:
            return None
        kinds = np.arange(n_kinds)
        width = max(self.entries[:1].size, 1)
        parts = _split(np.full(n_kinds, n_kinds * width), 4 * _CELLS)
        return np.concatenate([self._compute(kinds[rows], kinds) for rows in parts])

    def measure(self, first: Positions, second: Positions) -> Floats:
        """Return the distance of each pair of items."""
        first, second = self.kind[first], self.kind[second]
        if self._table is not None:
            return self._table[first, second]
        return self.function(self.entries[first], self.entries[second])

    def _sum_rows(self, shown: Shown) -> Floats:
        """Return the sums of `Distances`; long lists have a table."""
        sizes = np.diff(shown.offsets)
        is_short = np.repeat(sizes <= _TABLE_LIST, sizes)
        short = replace(
            shown, user=shown.user[is_short], item=shown.item[is_short],
            is_tied=shown.is_tied[is_short],
        )  # fmt: skip
        sums = np.zeros((2, len(shown.user)))
        sums[:, is_short] = super()._sum_rows(short)
        for user in np.flatnonzero(sizes > _TABLE_LIST):  # each has thousands of pairs
            start, size = int(shown.offsets[user]), int(sizes[user])
            kinds = self.kind[shown.item[start : start + size]]
            is_tied = shown.is_tied[start : start + size]
            for rows in self._split(size):
                distance = np.triu(self._tabulate(kinds[rows], kinds), rows.start + 1)
                is_other = is_tied[rows, None] != is_tied
                part = slice(start + rows.start, start + rows.stop)
                sums[0, part] = np.where(is_other, 0.0, distance).sum(axis=1)
                sums[1, part] = np.where(is_other, distance, 0.0).sum(axis=1)
        return sums

    def _split(self, n_kinds: int) -> Iterator[slice]:
        """Yield the rows of parts of a table of some kinds."""
        is_product = self._table is not None or self.function is measure_jaccard
        width = 1 if is_product else max(self.entries[:1].size, 1)
        return _split(np.full(n_kinds, n_kinds * width), _CELLS)

    def _tabulate(self, first: Positions, second: Positions) -> Floats:
        """Return a table of the distances of kinds."""
        if self._table is not None:
            return self._table[first[:, None], second]
        return self._compute(first, second)

    def _compute(self, first: Positions, second: Positions) -> Floats:
        if self.function is measure_jaccard:
            return _tabulate_jaccard(self.entries[first], self.entries[second])
        pairs = np.repeat(first, len(second)), np.tile(second, len(first))
        table = self.function(self.entries[pairs[0]], self.entries[pairs[1]])
        return table.reshape(len(first), len(second))

    def spread_of(self, items: Positions) -> Spread:
        """Return the spread of the distances of some items, in time of their different entries."""
        kinds, count = np.unique(self.kind[items], return_counts=True)
        sums, squares = np.zeros(len(kinds)), np.zeros(len(kinds))
        for rows in self._split(len(kinds)):
            part = self._tabulate(kinds[rows], kinds)
            own = part[np.arange(len(part)), np.arange(rows.start, rows.stop)]
            sums[rows] = (part * count).sum(axis=1) - own
            squares[rows] = (part * part * count).sum(axis=1) - own * own
        row_squares, total, all_squares = (
            float((count * one).sum()) for one in (sums * sums, sums, squares)
        )
        return Spread.of(len(items), row_squares, total, all_squares)

    def sum_by_item(self, items: Positions) -> Floats:
        """Return the sum of each item's distances to the other ones."""
        kinds, place, count = np.unique(self.kind[items], return_inverse=True, return_counts=True)
        sums = np.zeros(len(kinds))
        for rows in self._split(len(kinds)):
            part = self._tabulate(kinds[rows], kinds)
            own = part[np.arange(len(part)), np.arange(rows.start, rows.stop)]
            sums[rows] = (part * count).sum(axis=1) - own
        return sums[place]


def measure_jaccard(first: Flags, second: Flags) -> Floats:
    """Return 1 minus the share of common members of two sets, 0 if both are empty.

    Examples
    --------
    >>> measure_jaccard(np.array([[True, True]]), np.array([[True, False]]))
    array([0.5])
    """
    common = (first & second).sum(axis=1).astype(np.float64)
    either = (first | second).sum(axis=1).astype(np.float64)
    return np.where(either > 0, 1 - common / np.maximum(either, 1), 0.0)


def _tabulate_jaccard(first: Flags, second: Flags) -> Floats:
    common = (first.astype(np.float32) @ second.astype(np.float32).T).astype(np.float64)
    either = first.sum(axis=1)[:, None] + second.sum(axis=1) - common
    return np.where(either > 0, 1 - common / np.maximum(either, 1), 0.0)


def find_distances(known: Background, column: str, convention: Convention) -> Distances:
    """Return the distances of all items, computed once.

    Parameters
    ----------
    known : Background
        With features that fit the distance, or training rows for co-occurrence.
    column : str
        The name of a column, or "" for all together.
    convention : Convention
        Its `distance`, and `popularity_of` for co-occurrence.
    """
    key = column, convention.distance, convention.popularity_of
    return _compute_once(known, key, lambda: _find(known, column, convention))


def find_spread(known: Background, column: str, convention: Convention) -> Spread | None:
    """Return the spread of the distances of all candidates, computed once; None if unknown."""
    if known.is_candidate is None:
        return None
    items = np.flatnonzero(known.is_candidate)
    key = "spread", column, convention.distance, convention.popularity_of
    distances = find_distances(known, column, convention)
    return _compute_once(known, key, lambda: distances.spread_of(items))


def average_rest(known: Background, column: str, convention: Convention, left_out: Shown) -> Floats:
    """Return the mean distance of all candidates but those that each list leaves out.

    Parameters
    ----------
    known, column, convention
        As in `find_distances`.
    left_out : Shown
        The items to leave out, all candidates.
    """
    items = np.flatnonzero(np.asarray(known.is_candidate))
    distances = find_distances(known, column, convention)

    def sum_by_item() -> Floats:
        sums = np.zeros(len(known.items))
        sums[items] = distances.sum_by_item(items)
        return sums

    key = "sums", column, convention.distance, convention.popularity_of
    sums = _compute_once(known, key, sum_by_item)
    total = sums[items].sum() / 2 - np.bincount(
        left_out.user, sums[left_out.item], left_out.n_users
    )
    n = len(items) - np.diff(left_out.offsets)
    total = np.maximum(total + distances.sum_expected(left_out), 0.0)
    return np.asarray(total / np.maximum(n * (n - 1) / 2, 1.0))


def _compute_once(known: Background, key: Hashable, compute: Callable[[], Value]) -> Value:
    return _KNOWN.setdefault(known, Cache()).get_or_compute(key, compute)


def _find(known: Background, column: str, convention: Convention) -> Distances:
    rule = convention.distance
    if rule == "cooccurrence":
        return _find_cooccurrence(known, by_row=convention.popularity_of == "rows")
    feature = known.get_feature(column)
    if rule == "by_column":
        rule = BY_COLUMN[feature.kind]
    if rule == "jaccard" and feature.kind != "category":
        return _of_entries(feature.vectors != 0, measure_jaccard)
    if rule == "cosine":
        return Products(_to_sparse(_to_unit_length(feature.vectors)))
    if rule == "category":
        return _count_equal(_encode(_fill(feature))[:, None])
    if rule in ("hamming", "jaccard"):
        if feature.kind == "columns":
            codes = [_encode(_fill(one)) for one in known.features.values()]
        elif feature.kind in ("set", "vector"):
            codes = [_encode(one) for one in feature.vectors.T]
        else:
            codes = [_encode(_fill(feature))]
        table = np.array(codes, dtype=np.int64).reshape(len(codes), len(known.items))
        return _count_equal(table.T)
    assert callable(rule), "checked by the convention"  # noqa: S101
    return _of_entries(_fill(feature), OwnDistance(rule), feature)


@dataclass(frozen=True)
class OwnDistance:
    """A user's function of two arrays of rows, with its result checked.

    Parameters
    ----------
    function : callable
        The function.
    """

    function: Callable[..., Any]

    def __call__(self, first: NDArray[Any], second: NDArray[Any]) -> Floats:
        """Return the distances.

        Raises
        ------
        InvalidInputError
            The function fails, or does not return a finite number for each pair.
        """
        name = getattr(self.function, "__name__", "distance")
        try:
            result = np.asarray(self.function(first, second), dtype=np.float64)
        except Exception as error:  # a user's function may raise anything
            msg = (
                f"distance={name} failed for {len(first)} pairs of rows: {quote(str(error))}. "
                "It gets two arrays of rows and returns an array of their distances."
            )
            raise InvalidInputError(msg) from error
        if result.shape != (len(first),) or not np.isfinite(result).all():
            found = (
                f"an array of shape {result.shape} for {len(first)} pairs of rows"
                if result.shape != (len(first),)
                else f"{result[~np.isfinite(result)][0]}"
            )
            msg = f"distance={name} returned {found}. Return one finite number for each pair."
            raise InvalidInputError(msg)
        return result


def _find_cooccurrence(known: Background, *, by_row: bool) -> Products:
    """Return 1 minus the cosine of the training users of two items."""
    history = known.history
    assert history is not None, "checked by the plan"  # noqa: S101
    user = np.repeat(np.arange(len(history.offsets) - 1), np.diff(history.offsets))
    item = history.items
    count = np.asarray(known.n_rows if by_row else known.n_users_of)[item]
    rows = np.asarray(known.history_counts) if by_row else np.ones(len(item))
    order = np.lexsort((user, item))
    offsets = compute_offsets(np.bincount(item, minlength=len(known.items)))
    data = (rows / np.sqrt(count))[order]
    return Products(_make_sparse(data, user[order], offsets, len(history.offsets) - 1))


def _fill(feature: Feature) -> NDArray[Any]:
    """Return the entries, with 0, no member or the category -1 where an item has none."""
    if feature.kind in ("set", "vector"):
        return feature.vectors
    return np.where(feature.is_known, feature.values, -1 if feature.kind == "category" else 0)


def _encode(entries: NDArray[Any]) -> Positions:
    """Return a whole number for each entry, equal for equal ones."""
    codes: Positions = np.unique(entries, axis=0, return_inverse=True)[1].ravel()
    return codes


def _count_equal(codes: Positions) -> Products:
    """Return the number of columns that differ."""
    n_items, n_columns = codes.shape
    first = compute_offsets(codes.max(axis=0, initial=-1) + 1)
    places = (codes + first[:-1]).ravel()
    offsets = np.arange(n_items + 1) * n_columns
    ones = np.ones(len(places))
    return Products(_make_sparse(ones, places, offsets, int(first[-1])), scale=float(n_columns))


def _of_entries(
    entries: NDArray[Any], function: Callable[..., Floats], feature: Feature | None = None
) -> OfEntries:
    different, kind = np.unique(entries, axis=0, return_inverse=True)
    if feature is not None and feature.kind == "category":  # a function reads the categories
        labels = np.array([*feature.labels, None], dtype=object)
        different = labels[different.astype(np.int64)]
    return OfEntries(different, kind.ravel().astype(np.int64), function)


def _to_unit_length(vectors: Floats) -> Floats:
    largest = np.abs(vectors).max(axis=1, initial=0.0)[:, None]
    scaled = np.divide(vectors, largest, where=largest > 0, out=np.zeros_like(vectors))
    norms = np.sqrt((scaled * scaled).sum(axis=1))[:, None]
    unit: Floats = np.divide(scaled, norms, where=norms > 0, out=scaled)
    return unit


def _to_sparse(table: Floats) -> Any:
    item, column = np.nonzero(table)
    offsets = compute_offsets(np.bincount(item, minlength=len(table)))
    return _make_sparse(table[item, column], column, offsets, table.shape[1])


def _make_sparse(data: Floats, column: Positions, offsets: Positions, n_columns: int) -> Any:
    from scipy.sparse import csr_array  # noqa: PLC0415 - few metrics need it

    return csr_array((data, column, offsets), shape=(len(offsets) - 1, n_columns))


def _sum_by_row(table: Any, data: Floats) -> Floats:
    """Return the sums over the entries of each row of a sparse table, in their order."""
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    return np.bincount(row, data, table.shape[0]).astype(np.float64)


def _split(cost: Positions, limit: int) -> Iterator[slice]:
    """Yield slices of consecutive entries whose costs are at most a limit, or single entries."""
    total, start = np.cumsum(cost), 0
    while start < len(cost):
        before = total[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(total, before + limit, side="right")))
        yield slice(start, stop)
        start = stop


def iterate_pairs(
    offsets: Positions, width: int, *, later: bool
) -> Iterator[tuple[slice, Positions, Positions]]:
    """Yield some rows, and all their pairs with rows of the same list, in parts of limited size.

    Parameters
    ----------
    offsets : int64 array, shape (n_lists + 1,)
        The start of each list, and the end of the last.
    width : int
        The number of table entries for a pair.
    later : bool
        Whether only pairs with later rows; else with all, the row itself included.

    Examples
    --------
    >>> [(_, row, partner)] = iterate_pairs(np.array([0, 3]), 1, later=True)
    >>> row.tolist(), partner.tolist()
    ([0, 0, 1], [1, 2, 2])
    """
    sizes = np.diff(offsets)
    row = np.arange(int(offsets[-1]))
    first = row + 1 if later else np.repeat(offsets[:-1], sizes)
    count = np.repeat(offsets[1:], sizes) - first
    for rows in _split(count, max(_CELLS // width, 1)):
        yield rows, np.repeat(row[rows], count[rows]), concat_ranges(first[rows], count[rows])
