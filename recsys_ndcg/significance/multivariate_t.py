"""The largest of many t statistics, if no difference is true: by Gaussian draws.

Pairs of unlike numbers of users are compared on a normal scale (Wallace 1959), so that the wide
tails of one with few users do not decide about all others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions

_AT_ONCE = 512  # draws of random numbers
_ROW, _NORMAL = 2.0**23, 2.0**20  # whole numbers, whose products add up to less than 2^53


def normal_scale(t: Floats, freedom: Floats | Positions) -> Floats:
    """Return what a normal deviate would be that is as unlikely as t, with t's sign.

    References
    ----------
    Wallace (1959), Annals of Mathematical Statistics 30(4)

    Examples
    --------
    >>> normal_scale(np.array([3.182, -1.96]), np.array([3, 10000])).round(2)
    array([ 1.95, -1.96])
    """
    stretch = (8 * freedom + 1) / (8 * freedom + 3)
    with np.errstate(over="ignore"):
        size = np.log1p(t * (t / freedom))
    scaled: Floats = np.sign(t) * stretch * np.sqrt(freedom * size)
    return scaled


def of_normal_scale(value: Floats, freedom: Floats | Positions) -> Floats:
    """Return the t that a value from 0 on stands for.

    Examples
    --------
    >>> of_normal_scale(normal_scale(np.array([3.0]), np.array([5])), np.array([5])).round(9)
    array([3.])
    """
    inside = value * (8 * freedom + 3) / (8 * freedom + 1)
    with np.errstate(over="ignore"):
        t: Floats = np.sqrt(freedom * np.expm1(inside * (inside / freedom)))
    return t


def largest_drawn(rows: Floats, freedom: Positions, draws: int, seed: int) -> Floats:
    """Return the largest absolute t of each draw on the normal scale, in ascending order.

    Parameters
    ----------
    rows : float64 array, shape (n_pairs, n)
        Of length 1; their inner products are the correlations of the pairs.
    freedom : int64 array, shape (n_pairs,)
        The degrees of freedom.
    draws, seed : int
        How many draws, of which seed.
    """
    order = np.argsort(freedom, kind="stable")
    known, first = np.unique(freedom[order], return_index=True)
    whole = np.rint(rows[order] * _ROW)
    stream = np.random.default_rng(seed)
    blocks = [_drawn(whole, known, first, stream) for _ in range(0, draws, _AT_ONCE)]
    return np.sort(np.concatenate(blocks)[:draws])


def _drawn(
    rows: Floats, freedom: Positions, first: Positions, stream: np.random.Generator
) -> Floats:
    """Return the largest values of a block of draws.

    The chi-squares of fewer degrees of freedom are part of those of more, as are their users.
    """
    normal = np.rint(stream.standard_normal((_AT_ONCE, rows.shape[1])) * _NORMAL)
    added = np.diff(freedom, prepend=0)
    squares = np.cumsum(stream.chisquare(added, (_AT_ONCE, len(added))), axis=1)
    sums = np.abs(normal @ rows.T) / (_ROW * _NORMAL)
    largest = np.maximum.reduceat(sums, first, axis=1)
    t = largest * np.sqrt(freedom / squares)
    return np.asarray(normal_scale(t, freedom).max(axis=1))
