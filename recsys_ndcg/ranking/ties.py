"""What tied estimates expect, of what is not linear in the order (McSherry & Najork 2008)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats, Positions


def hits_so_far(relevant: Floats, size: Positions, ahead: Floats, place: Positions) -> Floats:
    """Return E[rel_r · (relevant items at ranks up to r)] at places of runs of equal estimates.

    At the i-th place of a run of m items, ρ of them relevant, behind H relevant items:
    (ρ/m)·(H + 1 + (i-1)(ρ-1)/(m-1)).

    Parameters
    ----------
    relevant, size, ahead, place : arrays
        ρ, m, H and i - 1.
    """
    share = place * (relevant - 1) / np.maximum(size - 1, 1)
    so_far: Floats = relevant / size * (ahead + 1 + share)
    return so_far


def first_hits(ahead: Positions, size: Positions, relevant: Floats, width: int) -> Floats:
    """Return P(the first relevant item stands at rank r), a row for each list's first hits.

    In the first run with a relevant item, ρ of m: C(m-j, ρ-1)/C(m, ρ) at its j-th place,
    here as ρ/m times a running product of (m-j-ρ+2)/(m-j+1).

    Parameters
    ----------
    ahead, size, relevant : arrays
        How many items stand before that run, m and ρ.
    width : int
        How many ranks.
    """
    place = np.arange(1, width + 1) - ahead[:, None]
    size, relevant = size[:, None], relevant[:, None]
    inside = (place >= 1) & (place <= size)
    left = np.where(inside, size - place + 1, 1)
    factor = np.where(inside & (place > 1), (left - relevant + 1) / left, 1)
    table: Floats = np.where(inside, relevant / size * np.cumprod(factor, axis=1), 0)
    return table
