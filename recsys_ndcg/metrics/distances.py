"""Distances of two items, and their sums over pairs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Floats, Positions, compute_offsets
from recsys_ndcg.background import Background, Feature
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.metrics.metric import Metric
from recsys_ndcg.metrics.pairs import ShownItems, iterate_pairs, split_costs

#: The weights of pairs of rows.
_Weigh: TypeAlias = Callable[[Positions, Positions], Any]
_CELLS = 2**20  # entries of a table that is made at once
_FEW_KINDS = 1500  # for up to so many different entries, all distances are kept in a table
_MANY_KINDS = 10_000  # for more different entries, sums over all pairs are not computed (NaN)
_ROUNDING = 1e-12  # of the largest distance
_BY_COLUMN = {
    "set": "jaccard", "vector": "cosine", "category": "category", "number": "category",
    "columns": "hamming",
}  # fmt: skip
#: The kinds of columns of which a distance can be computed, and their names in messages.
#: The kinds of columns that have a Jaccard or cosine distance.
FITTING_KINDS = ("set", "category", "vector")
#: Distances of each background; equal ones, as in later batches, share them.
_KNOWN: WeakKeyDictionary[Background, Cache] = WeakKeyDictionary()


class Distances:
    """The distances of items, given by their positions among all items."""

    @property
    def width(self) -> int:
        """The number of table entries for a pair."""
        raise NotImplementedError

    def measure(self, first: Positions, second: Positions) -> Floats:
        """Return the distance of each pair of items."""
        raise NotImplementedError

    def sum_expected(self, shown: ShownItems) -> Floats:
        """Return the expected sum over the pairs of the items that each list shows."""
        chance = np.stack([np.ones(shown.n_users), *shown.shares])  # by the number of tied items

        def weigh(one: Positions, other: Positions) -> Floats:
            n_tied = shown.is_tied[one].astype(np.int64) + shown.is_tied[other]
            return np.asarray(chance[n_tied, shown.user[one]])

        place = np.arange(len(shown.user)) + 1
        count = shown.offsets[shown.user + 1] - place
        by_row = self._sum_rows(shown.item, shown.item, place, count, weigh)
        return np.bincount(shown.user, by_row, shown.n_users).astype(np.float64)

    def sum_from(
        self, user: Positions, item: Positions, offsets: Positions, others: Positions
    ) -> Floats:
        """Return the sum of the distances of each row's item from its user's other items.

        Parameters
        ----------
        user, item : int64 arrays, one entry per row
            The user, in ascending order, and the item.
        offsets : int64 array, shape (n_users + 1,)
            The start of each user's other items, and the end of the last.
        others : int64 array
            The other items.
        """
        first, count = offsets[user], np.diff(offsets)[user]
        return self._sum_rows(item, others, first, count, lambda *_: 1.0)

    def sum_by_item(self, items: Positions) -> Floats:
        """Return the sum of each item's distances from the others."""
        raise NotImplementedError

    def _sum_rows(
        self, item: Positions, others: Positions, first: Positions, count: Positions, weigh: _Weigh
    ) -> Floats:
        """Return the sum of the distances of each row's item from others."""
        sums = np.zeros(len(item))
        for rows, one, other in iterate_pairs(first, count, self._limit):
            terms = weigh(one, other) * self.measure(item[one], others[other])
            sums[rows] = np.bincount(one - rows.start, terms, rows.stop - rows.start)
        return sums

    @property
    def _limit(self) -> int:
        """The number of pairs that are measured at once."""
        return max(_CELLS // self.width, 1)


@dataclass(frozen=True, eq=False)
class ProductDistances(Distances):
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

    @property
    def width(self) -> int:
        """The number of table entries for a pair: of two vectors, and two for their products."""
        return 4 * int(self.vectors.nnz // self.vectors.shape[0] + 1)

    @lazy_property
    def _sizes(self) -> Positions:
        """The number of columns of each item that are not 0."""
        return np.asarray(np.diff(self.vectors.indptr), dtype=np.int64)

    @lazy_property
    def _norms(self) -> Floats:
        """The squared length of each vector."""
        return _sum_by_row(self.vectors, self.vectors.data**2)

    def measure(self, first: Positions, second: Positions) -> Floats:
        """Return the distance of each pair of items."""
        products = self.vectors[first].multiply(self.vectors[second]).sum(axis=1)
        return self.scale - np.asarray(products)

    def sum_expected(self, shown: ShownItems) -> Floats:
        """Return the expected sum over the pairs, in time of the rows, not of the pairs."""
        one, two = shown.shares
        cost = np.append(0, np.cumsum(self._sizes[shown.item]))[shown.offsets]
        similarity = np.zeros(shown.n_users)
        for users in split_costs(np.diff(cost), _CELLS):
            rows = slice(shown.offsets[users.start], shown.offsets[users.stop])
            user, item = shown.user[rows] - users.start, shown.item[rows]
            (sure, of_sure), (tied, of_tied) = (
                self._add_up(user[part], item[part], users.stop - users.start)
                for part in (~shown.is_tied[rows], shown.is_tied[rows])
            )
            both = sure.multiply(tied).tocsr()
            of_both = _sum_by_row(both, both.data)
            similarity[users] = of_sure + one[users] * of_both + two[users] * of_tied
        count = shown.count
        total = self.scale * count * (count - 1) / 2 - similarity
        # vectors of length 1 are so up to rounding
        return np.where(np.abs(total) < _ROUNDING * self.scale * count * count, 0.0, total)

    def _add_up(self, user: Positions, item: Positions, n_users: int) -> tuple[Any, Floats]:
        """Return the sum of the vectors of each user, and the sum of the products of pairs."""
        shape = n_users, self.vectors.shape[0]
        chosen = _make_sparse(np.ones(len(item)), user, item, shape)
        total = (chosen @ self.vectors).tocsr()
        total.sort_indices()  # so that additions are in the order of the columns
        own = np.bincount(user, self._norms[item], n_users)
        return total, (_sum_by_row(total, total.data**2) - own) / 2

    def sum_from(
        self, user: Positions, item: Positions, offsets: Positions, others: Positions
    ) -> Floats:
        """Return the sum of the distances of each row's item from its user's other items."""
        counts = np.diff(offsets)
        owner, products = np.repeat(np.arange(len(counts)), counts), np.zeros(len(item))
        cost = sum(
            np.bincount(whose, self._sizes[which], len(counts)).astype(np.int64)
            for whose, which in ((user, item), (owner, others))
        )
        for users in split_costs(np.asarray(cost), _CELLS):
            near = slice(offsets[users.start], offsets[users.stop])
            n_users = users.stop - users.start
            total = self._add_up(owner[near] - users.start, others[near], n_users)[0]
            rows = slice(*np.searchsorted(user, [users.start, users.stop]).tolist())
            own = self.vectors[item[rows]]
            common = own.multiply(total[user[rows] - users.start]).tocsr()
            products[rows] = _sum_by_row(common, common.data)
        return np.maximum(self.scale * counts[user] - products, 0.0)  # below 0 by rounding

    def sum_by_item(self, items: Positions) -> Floats:
        """Return the sum of each item's distances from the others."""
        x = self.vectors[items]
        similarity = x @ np.asarray(x.sum(axis=0)).ravel() - self._norms[items]
        sums = self.scale * (len(items) - 1) - similarity
        return np.where(np.abs(sums) < _ROUNDING * self.scale * len(items), 0.0, sums)


@dataclass(frozen=True, eq=False)
class FunctionDistances(Distances):
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
        """The number of columns of an entry."""
        return max(self.entries[:1].size, 1)

    @lazy_property
    def _table(self) -> Floats | None:
        """The distances of all kinds, if they are few."""
        n_kinds = len(self.entries)
        if n_kinds > _FEW_KINDS:
            return None
        parts = iterate_pairs(np.zeros(n_kinds, np.int64), np.full(n_kinds, n_kinds), self._limit)
        rows = [self.function(self.entries[one], self.entries[other]) for _, one, other in parts]
        return np.concatenate(rows).reshape(n_kinds, n_kinds)

    def measure(self, first: Positions, second: Positions) -> Floats:
        """Return the distance of each pair of items."""
        first, second = self.kind[first], self.kind[second]
        if self._table is not None:
            return self._table[first, second]
        return self.function(self.entries[first], self.entries[second])

    def sum_by_item(self, items: Positions) -> Floats:
        """Return the sum of each item's distances from the others; NaN for too many kinds."""
        _, first, place, times = np.unique(
            self.kind[items], return_index=True, return_inverse=True, return_counts=True
        )
        one, n_kinds = items[first], len(first)
        if n_kinds > _MANY_KINDS:
            return np.full(len(items), np.nan)
        start, count = np.zeros(n_kinds, np.int64), np.full(n_kinds, n_kinds)
        sums = self._sum_rows(one, one, start, count, lambda a, b: times[b] - (a == b))
        return np.asarray(sums[place])


def measure_jaccard(first: NDArray[Any], second: NDArray[Any]) -> Floats:
    """Return 1 minus the share of common members of two sets, given as bits of whole numbers.

    Two empty sets are equal, so their distance is 0.

    Examples
    --------
    >>> measure_jaccard(np.array([[0b11], [0]]), np.array([[0b10], [0]]))
    array([0.5, 0. ])
    """
    common, either = (
        np.bitwise_count(bits).sum(axis=1, dtype=np.float64)
        for bits in (first & second, first | second)
    )
    return np.where(either > 0, 1 - common / np.maximum(either, 1), 0.0)


def measure_own(first: NDArray[Any], second: NDArray[Any], function: Callable[..., Any]) -> Floats:
    """Return the distances that a user's function returns, checked.

    Raises
    ------
    InvalidInputError
        The function fails, or does not return a finite number for each pair.
    """
    name, n_pairs = getattr(function, "__name__", "distance"), len(first)
    try:
        result = np.asarray(function(first, second), dtype=np.float64)
    except Exception as error:  # a user's function may raise anything
        msg = (
            f"`distance={name}` failed for {n_pairs} pairs of rows: {quote(str(error))}. It gets "
            "two arrays of rows and returns an array of their distances."
        )
        raise InvalidInputError(msg) from error
    found = ""
    if result.shape != (n_pairs,):
        found = f"an array of shape {result.shape} for {n_pairs} pairs of rows"
    elif not np.isfinite(result).all():
        found = f"{result[~np.isfinite(result)][0]}"
    if found:
        msg = f"`distance={name}` returned {found}. Return one finite number for each pair."
        raise InvalidInputError(msg)
    return result


def _get_cache(known: Background) -> Cache:
    """Return what is computed for a background; its entry goes with the first of equal ones."""
    return _KNOWN.setdefault(known, Cache())


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
    return _get_cache(known).get_or_compute(key, lambda: _find(known, column, convention))


def find_distance_warning(metric: Metric, known: Background | None, convention: Convention) -> str:
    """Return a warning if values that nearly every item has for itself are compared as categories.

    Two items then always differ in them; "" if no such column is read.
    """
    reads_features = "distance" in metric.reads and "features" in metric.find_sources(convention)
    if known is None or not reads_features:
        return ""
    rule, kind = convention.distance, known.get_feature(metric.column).kind
    if callable(rule) or (kind == "vector" and rule not in ("hamming", "category")):
        return ""
    columns = [metric.column] if metric.column else known.features
    for one in (known.features[name] for name in columns):
        if one.has_own_values:
            fix = f"Leave the column out: features = features.drop(columns={one.name!r})"
            if one.kind == "number":
                fix = f"Cut it into ranges, {one.code_for_categories}, or leave it out"
            return (
                f"{metric.name} takes the values of the column {one.name!r} for categories, but "
                f"{one.n_values} of {one.is_known.sum()} items have different ones, so nearly any "
                f"two items differ in it. {fix}."
            )
    return ""


def sum_candidates(known: Background, column: str, convention: Convention) -> Floats:
    """Return the sum of each candidate's distances from the others, computed once.

    0 for other items; NaN if there are too many pairs of candidates.
    """

    def compute() -> Floats:
        items, sums = np.flatnonzero(np.asarray(known.is_candidate)), np.zeros(len(known.items))
        sums[items] = find_distances(known, column, convention).sum_by_item(items)
        return sums

    key = "sums", column, convention.distance, convention.popularity_of
    return _get_cache(known).get_or_compute(key, compute)


def average_candidates(
    known: Background, column: str, convention: Convention, left_out: ShownItems
) -> Floats:
    """Return the mean distance of all candidates but those that each list leaves out.

    Parameters
    ----------
    known, column, convention
        As in `find_distances`.
    left_out : ShownItems
        The items to leave out, all candidates.
    """
    sums = sum_candidates(known, column, convention)
    of_left_out = np.bincount(left_out.user, sums[left_out.item], left_out.n_users)
    among_these = find_distances(known, column, convention).sum_expected(left_out)
    total = sums.sum() / 2 - of_left_out + among_these
    n = int(np.asarray(known.is_candidate).sum()) - np.diff(left_out.offsets)
    return np.asarray(np.maximum(total, 0.0) / np.maximum(n * (n - 1) / 2, 1.0))


def _find(known: Background, column: str, convention: Convention) -> Distances:
    rule: Any = convention.distance
    if rule == "cooccurrence":
        return _find_cooccurrence(known, by_row=convention.popularity_of == "rows")
    feature = known.get_feature(column)
    kind, table = feature.kind, feature.memberships
    if callable(rule):
        return _compare_by(rule, feature)
    rule = _BY_COLUMN[kind] if rule == "by_column" else rule
    if rule == "jaccard":
        return _compare(np.packbits(table > 0, axis=1), measure_jaccard)
    if rule == "cosine":
        unit = _to_unit_length(table)
        item, place = np.nonzero(unit)
        return ProductDistances(_make_sparse(unit[item, place], item, place, unit.shape))
    columns = [table]
    if kind == "columns":
        columns = [one.memberships for one in known.features.values()]
    elif rule == "hamming" and kind in ("set", "vector"):
        columns = [*table.T]
    if rule == "category":
        columns = [np.hstack(columns)]
    return _count_equal(columns, len(known.items))


def _compare(entries: NDArray[Any], function: Callable[..., Floats]) -> FunctionDistances:
    different, kind = np.unique(entries, axis=0, return_inverse=True)
    return FunctionDistances(different, kind.ravel().astype(np.int64), function)


def _compare_by(function: Callable[..., Any], feature: Feature) -> FunctionDistances:
    """Return the distances of a user's function, which reads the names of categories."""
    is_category, checked = feature.kind == "category", partial(measure_own, function=function)
    if feature.values.ndim > 1:
        return _compare(feature.vectors, checked)
    found = _compare(np.where(feature.is_known, feature.values, -1 if is_category else 0), checked)
    labels = np.array([*feature.labels, None], dtype=object)
    return replace(found, entries=labels[found.entries.astype(np.int64)]) if is_category else found


def _count_equal(columns: Sequence[Floats], n_items: int) -> ProductDistances:
    """Return the number of columns that differ."""
    codes = [np.unique(column, axis=0, return_inverse=True)[1].ravel() for column in columns]
    first = compute_offsets(np.array([code.max(initial=-1) + 1 for code in codes], np.int64))
    places = [code + start for code, start in zip(codes, first, strict=False)]
    column, item = np.concatenate([[], *places]), np.tile(np.arange(n_items), len(codes))
    shape = n_items, int(first[-1])
    table = _make_sparse(np.ones(len(item)), item, column.astype(np.int64), shape)
    return ProductDistances(table, float(len(codes)))


def _find_cooccurrence(known: Background, *, by_row: bool) -> ProductDistances:
    """Return 1 minus the cosine of the training users of two items."""
    history = known.history
    assert history is not None, "checked by the plan"  # noqa: S101
    count = np.asarray(known.n_rows if by_row else known.n_users_of)[history.codes]
    rows = (history.values if by_row else 1.0) / np.sqrt(count)
    shape = len(known.items), len(history.sizes)
    return ProductDistances(_make_sparse(rows, history.codes, history.owners, shape))


def _to_unit_length(vectors: Floats) -> Floats:
    largest = np.abs(vectors).max(axis=1, initial=0.0)[:, None]
    scaled = np.divide(vectors, largest, where=largest > 0, out=np.zeros_like(vectors))
    norms = np.sqrt((scaled * scaled).sum(axis=1))[:, None]
    unit: Floats = np.divide(scaled, norms, where=norms > 0, out=scaled)
    return unit


def _make_sparse(data: Floats, row: Positions, column: Positions, shape: tuple[int, int]) -> Any:
    from scipy.sparse import csr_array  # noqa: PLC0415 - few metrics need it

    return csr_array((data, (row, column)), shape=shape)


def _sum_by_row(table: Any, data: Floats) -> Floats:
    """Return the sums over the entries of each row of a sparse table, in their order."""
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    return np.bincount(row, data, table.shape[0]).astype(np.float64)
