"""Factors of covariances, the same to the last bit on any number of threads.

Sums of whole numbers below 2^53 are exact in whatever order a matrix product adds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.arrays import column_lengths

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.significance.columns import PairColumns

_CELLS = 1 << 21
_NOTHING = 1e-12  # of a column's length, squared: what is left of it is rounding


def factor(columns: PairColumns) -> Floats:
    """Return a row of length 1 for each pair, with the pairs' correlations as inner products.

    Parameters
    ----------
    columns : PairColumns
        Centred, none of the pairs' all 0.
    """
    if columns.users <= len(columns):
        rows = np.array([columns.values(one) for one in range(len(columns))])
    else:
        rows = _triangle(columns)
    second = np.where((columns.second >= 0)[:, None], rows[columns.second], 0.0)
    of_pairs = rows[columns.first] - second
    return of_pairs / column_lengths(of_pairs.T)[:, None]


def _triangle(columns: PairColumns) -> Floats:
    """Return a row for each column, with the same inner products (Cholesky)."""
    products, exponents = inner_products(columns)
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


def inner_products(columns: PairColumns) -> tuple[Floats, Floats]:
    """Return the inner products of the columns, each in a unit of its own, two to an exponent."""
    places = range(len(columns))
    largest = np.array([np.abs(columns.values(one)).max(initial=0.0) for one in places])
    exponents = np.frexp(largest)[1]
    digits = (52 - columns.users.bit_length()) // 2
    products = np.zeros((3, len(columns), len(columns)))
    step = max(1, _CELLS // max(len(columns), 1))
    for start in range(0, columns.users, step):
        users = slice(start, start + step)
        block = np.array([columns.values(one, users) for one in places])
        block = np.ldexp(block, (digits - exponents)[:, None])
        coarse = np.rint(block)
        fine = np.rint(np.ldexp(block - coarse, digits))
        products += [coarse @ coarse.T, coarse @ fine.T, fine @ fine.T]
    both, mixed, rest = products
    mixed = mixed + mixed.T
    return both + np.ldexp(mixed, -digits) + np.ldexp(rest, -2 * digits), exponents
