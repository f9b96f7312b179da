"""Exact sums over users, the same on any number of threads, and columns for the sums of pairs.

Sums of whole numbers below 2^53 are exact, in whatever order a matrix product adds them. Each block
of draws has its own stream of random numbers.

If every model has a score of every user, a pair's sum of differences is the difference of two
models' sums: 50 columns of models replace 1225 of pairs. A pair has a column of its own if this
would leave too few digits, or if its models score different users.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, column_norms
from recsys_ndcg.parallel import map_in_threads, raise_if_cancelled

if TYPE_CHECKING:
    from recsys_ndcg.significance.paired_scores import PairedScores

_WILD = 1024  # times the median model's size: too large to share a unit with others
_FINE = 2.0**-31  # of the models' size: the least mean difference per user
_NOTHING = 1e-12  # of a column's squared length: a smaller rest is rounding
_SIGNS, _WEIGHTS = 128, 64  # draws from one stream
_USERS = 1 << 13  # unpacked at once, a multiple of eight
_CELLS = 1 << 22
_COLUMNS, _PIECE = 64, 1 << 18  # multiplications
_MOST = 64  # of a hundred users or a million, no resample repeats one so often


class PairColumns:
    """Columns of differences, from which the sums of some pairs are made.

    Parameters
    ----------
    scores : PairedScores
        The scores.
    pairs : int64 array, shape (n_pairs,)
        The pairs.
    centred : bool
        Whether each column's mean is subtracted.

    Attributes
    ----------
    users : int
        The length of each column.
    first, second : int64 arrays, shape (n_pairs,)
        A pair's sum is its first column's sum minus its second column's; -1 is no second column.
    turn : float64 array, shape (n_pairs,)
        -1 for a pair whose own column is of the second model's scores minus the first's, else 1:
        a column does not depend on which model of the pair is the first.
    """

    def __init__(self, scores: PairedScores, pairs: Positions, *, centred: bool) -> None:
        self._scores, self.users = scores, int(scores.table.shape[1])
        self._mean = scores.mean if centred else np.zeros(len(scores.mean))
        size = scores.deviation * scores.users if centred else scores.absolute
        self._median = _compute_median(scores, pairs)
        self._models, shared = self._find_shared(pairs, size[pairs])
        self._own, named = pairs[~shared], scores.pairs[pairs]
        self.turn = np.where(shared | (named[:, 0] < named[:, 1]), 1.0, -1.0)
        self._turn_own = self.turn[~shared]
        self._model_means = [
            float(self._get_model_column(one).sum() / max(self.users, 1)) if centred else 0.0
            for one in self._models
        ]
        place = np.searchsorted(self._models, named)
        own = len(self._models) + np.cumsum(~shared) - 1
        self.first = np.where(shared, place[:, 0], own)
        self.second = np.where(shared, place[:, 1], -1)

    def __len__(self) -> int:
        """Return the number of columns."""
        return len(self._models) + len(self._own)

    def get_column(self, column: int, users: slice = slice(None)) -> Floats:
        """Return a column's entries, 0 for users without a difference."""
        if column < len(self._models):
            return self._get_model_column(self._models[column], users) - self._model_means[column]
        own = column - len(self._models)
        pair, turn = self._own[own], self._turn_own[own]
        of_pair: Floats = turn * (self._scores.get_aligned(pair, users) - self._mean[pair])
        of_pair[np.isnan(of_pair)] = 0.0
        return of_pair

    def iterate_parts(self) -> Iterator[tuple[range, Positions]]:
        """Yield ranges of columns, and the places of the pairs whose sums they make."""
        models = len(self._models)
        if models:
            yield range(models), np.flatnonzero(self.second >= 0)
        step = max(1, 2 * _CELLS // max(self.users, 1))
        for start in range(models, len(self), step):
            columns = range(start, min(start + step, len(self)))
            own = (self.second < 0) & (self.first >= start) & (self.first < columns.stop)
            yield columns, np.flatnonzero(own)

    def _find_shared(self, pairs: Positions, size: Floats) -> tuple[Positions, Flags]:
        """Return the models that have a column, and whether pairs are the difference of two."""
        named = self._scores.pairs[pairs]
        models, shared = np.unique(named), np.zeros(len(pairs), dtype=np.bool_)
        if self._median is not None:
            sizes = np.array([np.abs(self._get_model_column(one)).sum() for one in models])
            tame = sizes <= _WILD * np.median(sizes[sizes > 0])
            fine = size >= _FINE * self.users * sizes[tame].max()
            some = np.isin(named, models[tame]).all(axis=1) & fine
            models = np.unique(named[some])
            if some.sum() > len(models):
                return models, some
        return models[:0], shared

    def _get_model_column(self, model: int, users: slice = slice(None)) -> Floats:
        """Return a model's scores minus each user's median over the models."""
        assert self._median is not None  # noqa: S101 - without it, no model has a column
        return self._scores.table[model, users] - self._median[users]


def _compute_median(scores: PairedScores, pairs: Positions) -> Floats | None:
    """Return each user's median score; None if columns of models are impossible or save nothing."""
    if not scores.is_complete or len(pairs) <= len(np.unique(scores.pairs[pairs])):
        return None
    return np.median(scores.table, axis=0)


def compute_correlation_rows(columns: PairColumns) -> Floats:
    """Return a row of length 1 for each pair, with the pairs' correlations as inner products.

    Parameters
    ----------
    columns : PairColumns
        Centred; no pair's differences are all 0.
    """
    if columns.users <= len(columns):
        rows = np.array([columns.get_column(one) for one in range(len(columns))])
    else:
        rows = _factorise(columns)
    second = np.where((columns.second >= 0)[:, None], rows[columns.second], 0.0)
    of_pairs = rows[columns.first] - second
    return of_pairs * (columns.turn / column_norms(of_pairs.T))[:, None]


def _factorise(columns: PairColumns) -> Floats:
    """Return a row for each column, with the same inner products (Cholesky)."""
    products, exponents = compute_inner_products(columns)
    length = np.sqrt(np.diag(products))
    length = np.where(length > 0, length, 1.0)
    left = products / length[:, None] / length
    rows = np.zeros(left.shape)
    for place in range(len(left)):
        pivot = left[place, place]
        if pivot > _NOTHING:
            rows[place:, place] = left[place:, place] / np.sqrt(pivot)
            column = rows[place:, place]
            left[place:, place:] -= column[:, None] * column
    most = exponents.max(initial=0)
    scaled: Floats = np.ldexp(rows * length[:, None], (exponents - most)[:, None])
    return scaled


def compute_inner_products(columns: PairColumns) -> tuple[Floats, Floats]:
    """Return the inner products of the columns, and the exponent of each column's unit."""
    places = range(len(columns))
    largest = np.array([np.abs(columns.get_column(one)).max(initial=0.0) for one in places])
    exponents = np.frexp(largest)[1]
    digits = (52 - columns.users.bit_length()) // 2
    products = np.zeros((3, len(columns), len(columns)))
    step = max(1, _CELLS // max(len(columns), 1))
    for start in range(0, columns.users, step):
        users = slice(start, start + step)
        block = np.array([columns.get_column(one, users) for one in places])
        block = np.ldexp(block, (digits - exponents)[:, None])
        coarse = np.rint(block)
        fine = np.rint(np.ldexp(block - coarse, digits))
        products += [coarse @ coarse.T, coarse @ fine.T, fine @ fine.T]
    both, mixed, rest = products
    mixed = mixed + mixed.T
    return both + np.ldexp(mixed, -digits) + np.ldexp(rest, -2 * digits), exponents


def to_whole_numbers(table: Floats, *, alike: bool) -> tuple[Floats, Floats]:
    """Round columns to whole numbers of a unit, so that weighted sums are exact; return both.

    Parameters
    ----------
    table : float64 array, shape (n_columns, n_users)
        The columns; overwritten.
    alike : bool
        Whether all get the same unit, so that their sums can be subtracted.

    Examples
    --------
    >>> whole, unit = to_whole_numbers(np.array([[0.5, 0.25]]), alike=True)
    >>> (whole * unit[:, None]).tolist()
    [[0.5, 0.25]]
    """
    repeated = min(table.shape[1], _MOST).bit_length()
    _, above = np.frexp(np.array([np.abs(one).sum() for one in table]))
    shift = 51 - repeated - above
    if alike and len(shift):
        shift[:] = shift.min()
    np.rint(np.ldexp(table, shift[:, None], out=table), out=table)
    return table, np.ldexp(1.0, -shift)


def draw_sums(
    whole: Floats,
    draws: int,
    seed: int,
    show: Callable[[float], None] | None = None,
    *,
    signs: bool = False,
) -> Floats:
    """Return sums of columns over users drawn with replacement, or with random signs.

    Parameters
    ----------
    whole : float64 array, shape (n_columns, n_users)
        Whole numbers from `to_whole_numbers`.
    draws, seed : int
        Number of draws, and their seed.
    show : callable, optional
        Called with the share of draws that are done.
    signs : bool
        Whether each user is taken once with a random sign, instead of resampling.

    Returns
    -------
    float64 array, shape (n_draws, n_columns)
    """
    block, size = (_sum_with_signs, _SIGNS) if signs else (_sum_resampled, _WEIGHTS)
    blocks = map_in_threads(partial(block, whole.T, seed), range(-(-draws // size)), show=show)
    return np.concatenate(blocks)[:draws]


def sum_with_all_signs(whole: Floats) -> Floats:
    """Return the sums of columns under all signs of the users but the first: none changed.

    Parameters
    ----------
    whole : float64 array, shape (n_columns, n_users)
        Whole numbers from `to_whole_numbers`.

    Returns
    -------
    float64 array, shape (2^n_users - 1, n_columns)

    Examples
    --------
    >>> sum_with_all_signs(np.array([[1.0, 2.0]])).ravel().tolist()
    [1.0, -1.0, -3.0]
    """
    sums: Floats = whole.sum(axis=1) - 2 * (list_changes(whole.shape[1]) @ whole.T)
    return sums


def list_changes(users: int) -> Flags:
    """Return all choices of users but the empty one: shape (2^n_users - 1, n_users).

    Examples
    --------
    >>> list_changes(2).astype(int).tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    return np.asarray(np.arange(1, 2**users)[:, None] >> np.arange(users) & 1, dtype=bool)


def make_generator(seed: int, block: int) -> np.random.Generator:
    """Return the stream of random numbers of a block of draws."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))


def _sum_with_signs(whole: Floats, seed: int, block: int) -> Floats:
    users = len(whole)
    drawn = make_generator(seed, block).bytes(_SIGNS * -(-users // 8))
    packed = np.frombuffer(drawn, dtype=np.uint8).reshape(_SIGNS, -1)
    sums = np.zeros((_SIGNS, whole.shape[1]))
    for start in range(0, users, _USERS):
        raise_if_cancelled()
        some = whole[start : start + _USERS]
        bits = np.unpackbits(packed[:, start // 8 :], axis=1, count=len(some))
        sums += multiply(bits.astype(np.float64), some)
    signed: Floats = whole.sum(axis=0) - 2 * sums
    return signed


def _sum_resampled(whole: Floats, seed: int, block: int) -> Floats:
    generator, users = make_generator(seed, block), len(whole)
    sums = np.empty((_WEIGHTS, whole.shape[1]))
    step = max(1, min(_WEIGHTS, _CELLS // users))
    weights = np.empty((step, users))
    for start in range(0, _WEIGHTS, step):
        some = weights[: _WEIGHTS - start]
        for row in some:
            raise_if_cancelled()
            row[:] = np.bincount(generator.integers(0, users, users), minlength=users)
        sums[start : start + step] = multiply(some, whole)
    return sums


def multiply(weights: Floats, whole: Floats) -> Floats:
    """Return the matrix product of two tables, in pieces; of whole numbers it is exact.

    The pieces are so small that BLAS starts no threads, for which our own threads would wait.

    Examples
    --------
    >>> multiply(np.array([[1.0, 2.0, 0.0]]), np.array([[3.0], [4.0], [5.0]]))
    array([[11.]])
    """
    rows, users = weights.shape
    result = np.zeros((rows, whole.shape[1]))
    for first in range(0, whole.shape[1], _COLUMNS):
        columns = whole[:, first : first + _COLUMNS]
        depth = max(1, _PIECE // (rows * columns.shape[1]))
        for start in range(0, users, _USERS):
            left, right = weights[:, start : start + _USERS], columns[start : start + _USERS]
            pieces = len(right) // depth
            some = pieces * depth
            sums = result[:, first : first + _COLUMNS]
            sums += left[:, some:] @ right[some:]
            left = left[:, :some].reshape(rows, pieces, depth).swapaxes(0, 1)
            sums += (left @ right[:some].reshape(pieces, depth, columns.shape[1])).sum(axis=0)
    return result
