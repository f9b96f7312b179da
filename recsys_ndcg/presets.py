"""How other libraries compute their numbers, as choices of a Convention.

Each is proved against the library itself, or worked by hand from its formula, in tests/peers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recsys_ndcg.errors import InvalidInputError, nearest, shown

Choices = Mapping[str, Any]


@dataclass(frozen=True)
class Preset:
    """The choices of one library.

    Parameters
    ----------
    reproduces : str
        The library, its version and what of it.
    choices : mapping
        Where the library differs from our defaults.
    by_metric : mapping, optional
        Further choices of single metrics, by the name without a cutoff.
    not_reproduced : mapping, optional
        What our number does not equal and why, by metric.
    """

    reproduces: str
    choices: Choices
    by_metric: Mapping[str, Choices] = field(default_factory=dict)
    not_reproduced: Mapping[str, str] = field(default_factory=dict)


def choices(name: str, metric: str | None = None) -> dict[str, Any]:
    """Return the choices of a preset, for one of its metrics or for NDCG.

    Raises
    ------
    InvalidInputError
        There is no such preset; the nearest name is given.

    Examples
    --------
    >>> choices("evaluation_for_ir")
    {'gain': 'linear'}
    """
    one = PRESETS.get(name) if isinstance(name, str) else None
    if one is None:
        msg = f"No preset is named {shown(name)}. {nearest(str(name), PRESETS)}"
        raise InvalidInputError(msg)
    bare = "ndcg" if metric is None else str(metric).lower().split("@")[0].split("(")[0].strip()
    return {**one.choices, **one.by_metric.get(bare, {})}


# the users and items of a truth table are the relevant ones, and all others do not exist in it
_TRUTH = {"gain": "binary", "mean_over": "relevant"}
_TREC = {
    "gain": "linear",
    "ties": "item_desc",
    "tie_tolerance": "float32",
    "undefined": 0.0,
    "mean_over": "labelled",
}
# graders of given lists: what is not in a list, or has no list, does not exist
_GIVEN_LISTS = {"ideal": "local", "missing_user": "skip"}

PRESETS: dict[str, Preset] = {
    "trec_eval": Preset("trec_eval 9", {**_TREC, "missing_user": "skip"}),
}
