"""Sums over users under random signs, and over resampled users.

A sum is the same to the last bit on any number of threads: columns are whole numbers, so that
however a matrix product adds them up, it is exact. Each block of draws has a stream of random
numbers of its own, whatever thread it runs on.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.parallel import heed, in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from recsys_ndcg.arrays import Floats

_SIGNS, _WEIGHTS = 128, 64  # draws from one stream
_USERS = 1 << 13  # whose signs are unpacked at once, a multiple of eight
_CELLS = 1 << 22
_COLUMNS, _PIECE = 64, 1 << 18  # multiplications
_MOST = 64  # of a hundred users or a million, no resample holds one so often


def exact(table: Floats, *, alike: bool) -> tuple[Floats, Floats]:
    """Make columns whole numbers, whose weighted sums are exact; return them, and what 1 is.

    Parameters
    ----------
    table : float64 array, shape (n_columns, n_users)
        The columns; written over.
    alike : bool
        Whether all have the same unit, so that their sums may be subtracted.

    Examples
    --------
    >>> whole, unit = exact(np.array([[0.5, 0.25]]), alike=True)
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


def under_signs(
    whole: Floats, draws: int, seed: int, show: Callable[[float], None] | None = None
) -> Floats:
    """Return the sums of columns whose entries have random signs: shape (n_draws, n_columns).

    Parameters
    ----------
    whole : float64 array, shape (n_columns, n_users)
        Of whole numbers, as `exact` returns them.
    draws, seed : int
        How many draws, of which seed.
    show : callable, optional
        Is told which share of them is done.
    """
    return _drawn(_signs, _SIGNS, whole, draws, seed, show)


def of_resamples(
    whole: Floats, draws: int, seed: int, show: Callable[[float], None] | None = None
) -> Floats:
    """Return the sums of columns over as many users, drawn with replacement.

    Parameters
    ----------
    whole : float64 array, shape (n_columns, n_users)
        Of whole numbers, as `exact` returns them.
    draws, seed : int
        How many draws, of which seed.
    show : callable, optional
        Is told which share of them is done.

    Returns
    -------
    float64 array, shape (n_draws, n_columns)
    """
    return _drawn(_weights, _WEIGHTS, whole, draws, seed, show)


def _drawn(  # noqa: PLR0913, PLR0917 - all that the blocks hang on
    block: Callable[[Floats, int, int], Floats],
    size: int,
    whole: Floats,
    draws: int,
    seed: int,
    show: Callable[[float], None] | None,
) -> Floats:
    blocks = in_threads(partial(block, whole.T, seed), range(-(-draws // size)), show=show)
    return np.concatenate(blocks)[:draws]


def _stream(seed: int, block: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))


def _signs(whole: Floats, seed: int, block: int) -> Floats:
    users = len(whole)
    packed = np.frombuffer(_stream(seed, block).bytes(_SIGNS * -(-users // 8)), dtype=np.uint8)
    packed = packed.reshape(_SIGNS, -1)
    sums = np.zeros((_SIGNS, whole.shape[1]))
    for start in range(0, users, _USERS):
        heed()
        some = whole[start : start + _USERS]
        bits = np.unpackbits(packed[:, start // 8 :], axis=1, count=len(some))
        sums += product(bits.astype(np.float64), some)
    under: Floats = whole.sum(axis=0) - 2 * sums
    return under


def _weights(whole: Floats, seed: int, block: int) -> Floats:
    stream, users = _stream(seed, block), len(whole)
    sums = np.empty((_WEIGHTS, whole.shape[1]))
    step = max(1, min(_WEIGHTS, _CELLS // users))
    weights = np.empty((step, users))
    for start in range(0, _WEIGHTS, step):
        some = weights[: _WEIGHTS - start]
        for row in some:
            heed()
            row[:] = np.bincount(stream.integers(0, users, users), minlength=users)
        sums[start : start + step] = product(some, whole)
    return sums


def product(weights: Floats, whole: Floats) -> Floats:
    """Return the matrix product of two tables of whole numbers, in pieces.

    So small are these that a BLAS starts no threads for them: ours would wait for each other's.

    Examples
    --------
    >>> product(np.array([[1.0, 2.0, 0.0]]), np.array([[3.0], [4.0], [5.0]]))
    array([[11.]])
    """
    rows, users = weights.shape
    found = np.zeros((rows, whole.shape[1]))
    for first in range(0, whole.shape[1], _COLUMNS):
        columns = whole[:, first : first + _COLUMNS]
        depth = max(1, _PIECE // (rows * columns.shape[1]))
        for start in range(0, users, _USERS):
            left, right = weights[:, start : start + _USERS], columns[start : start + _USERS]
            pieces = len(right) // depth
            some = pieces * depth
            sums = found[:, first : first + _COLUMNS]
            sums += left[:, some:] @ right[some:]
            left = left[:, :some].reshape(rows, pieces, depth).swapaxes(0, 1)
            sums += (left @ right[:some].reshape(pieces, depth, columns.shape[1])).sum(axis=0)
    return found
