"""The colours of models by a parameter: numbers from light to dark, texts apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import count, label, labels

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recsys_ndcg.rendering.plots.vega import Spec

_LOW_TO_HIGH = ("#D9901A", "#D0663F", "#B8476F", "#9A4CB4", "#7065E0")  # seen by night, too
_WIDE = 50  # times the lowest is the highest: colours go by powers
_MISSING = "(not set)"


def coloured(values: Sequence[Any], parameter: str) -> tuple[list[Any], Spec]:
    """Return what stands in the data for each value, and the channel that colours it.

    Parameters
    ----------
    values : sequence
        A number or a text each, None where a model has no such parameter.
    parameter : str
        Its name.
    """
    values = [None if _is_nan(one) else one for one in values]
    known = [one for one in values if one is not None]
    if known and all(map(_is_number, known)):
        return values, _by_number([float(one) for one in known], parameter)
    return _by_name(values, parameter)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _is_number(value: Any) -> bool:
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) < 1e300 and math.isfinite(value)


def _by_number(known: list[float], parameter: str) -> Spec:
    low, high = min(known), max(known)
    wide = low > 0 and high / low >= _WIDE
    ends = [low, high] if low < high else [low, low + (abs(low) or 1.0)]
    scale = {"type": "log" if wide else "linear", "domain": ends, "range": _LOW_TO_HIGH}
    exact = {"values": sorted(set(known))} if len(set(known)) <= 6 else {"tickCount": 5}
    legend = vega.legend(
        title=label(parameter), symbolOpacity=1, direction="horizontal", gradientLength=200
    )
    form = {"format": ".6~g" if vega.highest(known) < 1e5 else "~e"}
    return vega.number("value", scale=scale, legend=legend | exact | form)


def _by_name(values: Sequence[Any], parameter: str) -> tuple[list[Any], Spec]:
    """Colour the values that most models have, the rest are grey."""
    texts = [None if one is None else str(one) for one in values]
    distinct = dict.fromkeys(one for one in texts if one is not None)
    often = sorted(distinct, key=texts.count, reverse=True)[: len(vega.PALETTE)]
    first = [one for one in distinct if one in often]
    shown = dict(zip(first, labels(first), strict=True))
    rest = count(len(distinct) - len(first), "other value")
    found = [_MISSING if one is None else shown.get(one, rest) for one in texts]
    grey = [one for one in (rest, _MISSING) if one in {*found} - {*shown.values()}]
    looks = vega.scale(
        [*shown.values(), *grey], [*vega.PALETTE[: len(first)], *[vega.OTHERS] * len(grey)]
    )
    legend = vega.legend(
        title=label(parameter), symbolOpacity=1, columns=2 if len(shown) > 3 else 1
    )
    return found, vega.name("value", scale=looks, legend=legend)
