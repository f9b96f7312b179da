"""What charts that count users share: bins of equal width, bars on them, and who is better."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import count

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Flags, Floats, Positions
    from recsys_ndcg.rendering.plots.vega import Spec


_MOST = 25  # bins that a reader sees apart
_DISTINCT = range(8, 42)  # so many steps from the lowest to the highest are a bin each
_ROUND = (1.0, 2.0, 2.5, 5.0, 10.0)
_LAST_DIGITS = 1e-9  # of a bin
_NOTHING = 1e-200
_FEW = 5  # users at most in a bin: an axis would write the same number twice
SHORT = 24  # characters of a name that stands beside another
#: Of the first, equal and the second: light and dark in grey, too.
LOOKS = (vega.ACCENT, "#BBBBBB", "#E69F00")
_LEAST = 1e-12  # of the largest difference: less is the last digits of a sum


@dataclass(frozen=True)
class Bins:
    """Bins beside each other; each has its lower end, the last one its upper end, too.

    Parameters
    ----------
    first, width : float
        Where the lowest begins, and how wide each is.
    n : int
        How many there are.
    """

    first: float
    width: float
    n: int

    @classmethod
    def of(cls, *columns: Floats, around_zero: bool = False) -> Bins:
        """Return bins for the numbers of all columns; those of few steps stand in the middle.

        Parameters
        ----------
        columns : float64 arrays
            Finite, at least one number in all; those of the first may go in steps.
        around_zero : bool
            Whether 0 stands in the middle of a bin.

        Examples
        --------
        >>> Bins.of(np.array([0.03, 0.97])).edges[:3].tolist()
        [0.0, 0.05, 0.1]
        """
        low = min(float(one.min()) for one in columns if len(one))
        high = max(float(one.max()) for one in columns if len(one))
        if around_zero:
            low, high = min(low, 0.0), max(high, 0.0)
        if math.isclose(low, high, rel_tol=_LAST_DIGITS, abs_tol=_NOTHING):
            width = 10 ** math.floor(math.log10(abs(low))) / 10 if abs(low) > _NOTHING else 0.1
            return cls(low - width / 2, width, 1)
        step = _step(columns[0], low, high)
        width = step or _round_width((high - low) / _MOST)
        middle = around_zero or bool(step)
        origin = low if step and not around_zero else 0.0
        shift = 0.5 if middle else 0.0
        below = math.floor((low - origin) / width + shift + _LAST_DIGITS)
        above = math.ceil((high - origin) / width + shift - _LAST_DIGITS)
        return cls(origin + (below - shift) * width, width, max(above - below, 1))

    @property
    def edges(self) -> Floats:
        """The ends of all bins: one more than there are."""
        found = self.first + self.width * np.arange(self.n + 1)
        digits = 12 - math.floor(math.log10(max(abs(found[0]), abs(found[-1]))))
        return np.asarray(np.round(found, digits)) + 0.0

    def places(self, values: Floats) -> Positions:
        """Return in which bin each number stands."""
        found = np.floor((values - self.first) / self.width + _LAST_DIGITS).astype(np.int64)
        return np.clip(found, 0, self.n - 1)

    def counts(self, values: Floats) -> Positions:
        """Return how many of the numbers stand in each bin."""
        return np.bincount(self.places(values), minlength=self.n)


def _round_width(least: float) -> float:
    """Return the next round number."""
    power = 10.0 ** math.floor(math.log10(least))
    return power * next(one for one in _ROUND if one * power >= least * (1 - _LAST_DIGITS))


def _step(values: Floats, low: float, high: float) -> float:
    """Return the step in which all numbers go, 0 if they go in none, or in too many or too few."""
    distinct = np.unique(np.round((values - low) / (high - low), 9))
    if not 1 < len(distinct) <= _DISTINCT.stop:
        return 0.0
    step = float(np.diff(distinct).min())
    whole = distinct / step
    if round(1 / step) not in _DISTINCT or np.abs(whole - np.round(whole)).max() > 1e-6:
        return 0.0
    return (high - low) / round(1 / step)


def across(bins: Bins, what: str, *, title: str) -> Spec:
    """Return the channel of the number by which users are counted."""
    ends = bins.edges[[0, -1]].tolist()
    scale = {"domain": ends, "nice": False, "zero": False}
    ticks = vega.axis(vega.highest(ends), title=title, grid=False, tickCount=8)
    return vega.number("place", what, scale=scale, axis=ticks)


def upward(most: int) -> Spec:
    """Return the channel of how many users there are, up to so many."""
    ticks: Spec = {"values": [*range(most + 1)]} if most <= _FEW else {}
    scale = {"domainMin": 0, "domainMax": most} if most <= _FEW else {}
    return vega.number(
        "users", "number of users", scale=scale, axis=vega.axis(format=",d", **ticks)
    )


def bars(data: list[Spec], x: Spec, y: Spec, style: Spec, **more: Any) -> Spec:
    """Return bars from low to high, and from base to top."""
    ends = {"x": x | {"field": "low"}, "x2": {"field": "high"}, "y2": {"field": "base"}}
    shape = {"stroke": "white", "strokeWidth": 0.5, **style}
    return vega.layer(data, "rect", shape, **ends, y=y | {"field": "top"}, **more)


def over_all(mark: str, data: list[Spec], style: Spec, **channels: Any) -> Spec:
    """Return rules or areas over the whole height of a chart."""
    height = {"y": vega.fixed(0), "y2": vega.fixed(vega.HEIGHT)}
    return vega.layer(data, mark, style, **height, **channels)


def settled(differences: Floats) -> Floats:
    """Return differences in which those of the last digits are none."""
    least = _LEAST * vega.highest(differences)
    return np.where(np.abs(differences) <= least, 0.0, differences)


def outcomes(gains: Floats, first: str, second: str) -> dict[str, Flags]:
    """Return for whom each of the two is better, by what is said of how many they are."""
    words = {f"{first} better": gains > 0, "equal": gains == 0, f"{second} better": gains < 0}
    return {
        f"{what}: {count(int(some.sum()))} ({some.mean():.1%})": some
        for what, some in words.items()
    }
