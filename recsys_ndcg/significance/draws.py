"""What drawn statistics say of an observed one: shares of them, and critical values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats


def share_beyond(drawn: Floats, observed: Floats) -> Floats:
    """Return (c + 1) / (draws + 1), with c the drawn values that are at least the observed one.

    Parameters
    ----------
    drawn : float64 array, shape (n_draws,)
        In ascending order.
    observed : float64 array
        A p-value is returned for each; NaN for NaN.

    References
    ----------
    Phipson & Smyth (2010), doi:10.2202/1544-6115.1585

    Examples
    --------
    >>> share_beyond(np.array([1.0, 2.0, 2.0]), np.array([0.5, 2.0, 3.0]))
    array([1.  , 0.75, 0.25])
    """
    count = len(drawn) - np.searchsorted(drawn, observed, side="left")
    share: Floats = np.where(np.isnan(observed), np.nan, (count + 1) / (len(drawn) + 1))
    return share


def critical_rank(draws: int, alpha: float, family: int = 1) -> int:
    """Return which of the drawn values in ascending order an observed one has to exceed.

    Of the counts c = 0, 1, ..., draws of values that are not exceeded, so many have
    min(1, family · (c + 1) / (draws + 1)) <= alpha; the rank, from 0, is draws less this number.
    It is `draws` if nothing is enough.

    Examples
    --------
    >>> critical_rank(99, 0.05), critical_rank(9, 0.05)
    (94, 9)
    """
    p = np.minimum(np.arange(1, draws + 2) / (draws + 1) * family, 1.0)
    return draws - int(np.searchsorted(p, alpha, side="right"))
