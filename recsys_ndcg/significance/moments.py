"""Moments of scores: mergeable sums, from which intervals of means and of ratios are computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Positions,
    add_fields,
    column_counts,
    column_norms,
    column_sums,
    concat_along,
    divide,
)
from recsys_ndcg.parallel import map_in_threads
from recsys_ndcg.significance.intervals import adjusted_interval, ratio_interval, scores_vary

_FEW_ROWS = 1000
_ALMOST = 1 - 1e-12  # a larger score is 1, but for rounding


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments of two columns, x and y, for each measurement: arrays of shape (n_measurements,).

    The centred values of both columns are kept as the triangle of their QR decomposition: nothing
    is squared, so nothing overflows, and if y is nearly a multiple of x, the small remainder is not
    lost in the difference of two large numbers.

    Parameters
    ----------
    count : int64 array
        The number of values in each column.
    sum_x, sum_y : float64 arrays
        The sums of the columns.
    x_length, y_along_x, y_rest : float64 arrays
        The Euclidean length of the centred x; of the centred y, the component along x, and the
        length of the rest.
    n_nonzero, n_below : int64 arrays
        The numbers of values of y / x that are not 0, and that are below 1.
    """

    _axes: ClassVar = {"metrics": "*"}

    count: Positions
    sum_x: Floats
    sum_y: Floats
    x_length: Floats
    y_along_x: Floats
    y_rest: Floats
    n_nonzero: Positions
    n_below: Positions

    @classmethod
    def of(cls, x: Floats | None, y: Floats, mask: Flags) -> Moments:
        """Return the moments of two tables (n_users, n_measurements), where `mask` is true.

        If x is None, all of it is 1: the ratio is then the mean of y.
        """
        if y.shape[1] > 1 and len(y) > _FEW_ROWS:  # one column after the other is faster

            def measure(i: int) -> Moments:
                return cls.of(None if x is None else x[:, [i]], y[:, [i]], mask[:, [i]])

            return concat_along(map_in_threads(measure, range(y.shape[1]), y.size), "metrics")
        count = column_counts(mask)
        sum_y, centred_y = _centre(y, mask, count)
        n_nonzero = column_counts(mask & (y != 0))
        n_below = column_counts(mask & (y < _ALMOST * (1.0 if x is None else x)))
        if x is None:
            nothing = np.zeros(len(count))
            lengths = (nothing, nothing, column_norms(centred_y))
            return cls(count, count.astype(np.float64), sum_y, *lengths, n_nonzero, n_below)
        sum_x, centred_x = _centre(x, mask, count)
        return cls(count, sum_x, sum_y, *_triangle(centred_x, centred_y), n_nonzero, n_below)

    def __add__(self, other: Moments) -> Moments:
        """Return the moments of both sets of values (Chan, Golub & LeVeque 1983)."""
        count = self.count + other.count
        mine, theirs = np.maximum(self.count, 1), np.maximum(other.count, 1)
        has_both = np.where((self.count > 0) & (other.count > 0), 1.0, 0.0)
        weight = has_both * np.sqrt(mine / np.maximum(count, 1)) * np.sqrt(theirs)
        zeros = np.zeros(len(count))
        difference_x = weight * (self.sum_x / mine - other.sum_x / theirs)
        difference_y = weight * (self.sum_y / mine - other.sum_y / theirs)
        x = np.array([self.x_length, zeros, other.x_length, zeros, difference_x])
        y = np.array([self.y_along_x, self.y_rest, other.y_along_x, other.y_rest, difference_y])
        sides = dict(zip(("x_length", "y_along_x", "y_rest"), _triangle(x, y), strict=True))
        return add_fields(self, other, **sides)

    @property
    def mean_x(self) -> Floats:
        """The mean of x, NaN without values."""
        return divide(self.sum_x, self.count)

    @property
    def ratio(self) -> Floats:
        """The sum of y over the sum of x, NaN if that is 0."""
        return divide(self.sum_y, self.sum_x)

    @property
    def residual(self) -> Floats:
        """The length of y - ratio · x over all values."""
        return np.hypot(self.y_along_x - self.ratio * self.x_length, self.y_rest)

    @property
    def is_constant(self) -> Flags:
        """Whether all values of y / x, of at least two users, are the same."""
        varies = scores_vary(self.count, self.ratio * self.mean_x, self.residual)
        return np.asarray((self.count > 1) & ~varies)

    def find_interval(self, level: float, **kinds: Any) -> tuple[Floats, Floats]:
        """Return the interval of each ratio; `kinds`: bounded, nonnegative (`ratio_interval`)."""
        alike = ~scores_vary(self.count, self.mean_x, self.x_length)
        options = {"alike": alike, "n_nonzero": self.n_nonzero, "n_below": self.n_below, **kinds}
        return ratio_interval(self.count, self.ratio, self.mean_x, self.residual, level, **options)


def find_adjusted_interval(
    room: Moments, scores: Moments, adjusted: Floats, best: Floats, **options: Any
) -> tuple[Floats, Floats]:
    """Return the interval of each adjusted score (`adjusted_interval`).

    Parameters
    ----------
    room, scores : Moments
        Of best - chance (x) and score - chance (y) of the users for whom all are known, and of all
        scores: without an interval if chance is unknown for some users with a score.
    adjusted, best : float64 arrays
        The adjusted scores, and the mean scores of the best order.
    **options
        `level` and `bounded`.
    """
    known = np.where(room.count == scores.count, room.count, 0)
    options["n_nonzero"] = scores.n_nonzero
    return adjusted_interval(known, adjusted, room.mean_x, room.residual, best, **options)


def measure_skewness(scores: Floats) -> float:
    """Return the skewness of scores that vary; NaN counts as none.

    Examples
    --------
    >>> round(measure_skewness(np.array([0.0, 0.0, 0.0, 1.0, np.nan])), 3)
    1.155
    """
    apart = scores[~np.isnan(scores)]
    apart = apart - apart.mean()
    apart /= np.abs(apart).max()  # so that the powers do not overflow
    return float((apart**3).mean() / (apart**2).mean() ** 1.5)


def _centre(table: Floats, mask: Flags, count: Positions) -> tuple[Floats, Floats]:
    """Return the sums of the columns, and the table minus their means; 0 outside the mask."""
    kept = table if mask.all() else np.where(mask, table, 0.0)
    sums = column_sums(kept)
    return sums, np.where(mask, kept - sums / np.maximum(count, 1), 0.0)


def _triangle(x: Floats, y: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the triangle of the QR decomposition of [x, y], column by column.

    Both are of shape (n, n_measurements); modified Gram-Schmidt.
    """
    x_length = column_norms(x)
    unit = np.divide(x, x_length, where=x_length != 0, out=np.zeros_like(x))
    y_along_x = column_sums(unit * y)
    return x_length, y_along_x, column_norms(y - unit * y_along_x)
