"""Parameters of a model as plain values, by which models of a search are told apart."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from recsys_ndcg.errors.visible import visible

Parameter = str | int | float | bool | None
_LARGEST = 2**53  # beyond, a whole number is not the same in all readers of JSON


def parameters_of(given: Mapping[Any, Any], within: str = "") -> dict[str, Parameter]:
    """Return parameters as numbers and texts; those of a mapping stand under both names.

    Examples
    --------
    >>> parameters_of({"n_factors": 20, "sim_options": {"name": "msd"}, "init": (0, 1)})
    {'n_factors': 20, 'sim_options.name': 'msd', 'init': '(0, 1)'}
    """
    found: dict[str, Parameter] = {}
    for name, value in given.items():
        told = f"{within}{visible(str(name))}"
        if isinstance(value, Mapping):
            found |= parameters_of(value, f"{told}.")
        else:
            found[told] = _plain(value)
    return found


def _plain(value: Any) -> Parameter:
    value = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, int) and abs(value) <= _LARGEST:
        return int(value)
    return visible(value if isinstance(value, str) else repr(value))
