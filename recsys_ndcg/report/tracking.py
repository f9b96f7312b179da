"""Scores under names that experiment trackers take."""

from __future__ import annotations

import math
import re
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

#: What is told of each metric; the mean stands under the name alone.
COLUMNS = ("mean", "pooled", "ci_low", "ci_high", "chance", "adjusted", "users")

_REFUSED = re.compile(r"[^\w. -]")  # by MLflow, but for ":" and "/", which other trackers refuse
_LONGEST = 110  # of a model or a metric: MLflow refuses a key of more than 250


def tracker_metrics(tables: Mapping[str, pd.DataFrame], *more: str) -> dict[str, float]:
    """Return one number under each key; what is no finite number is left out.

    Parameters
    ----------
    tables : mapping of str to pandas.DataFrame
        By what stands before the keys, a model or nothing: a row for each metric, the same in all.
    *more : str
        Which columns of them are wanted beside `COLUMNS`.
    """
    columns = [*COLUMNS, *more]
    ends = suffixes(columns)
    models = tracker_keys(tables)
    found: dict[str, float] = {}
    for model, table in tables.items():
        for metric, name in tracker_keys(table.index, ends).items():
            key = f"{models[model]}/{name}" if model else name
            for end, column in zip(ends, columns, strict=True):
                found[f"{key}{end}"] = float(table[column][metric])
    return {key: value for key, value in found.items() if math.isfinite(value)}


def suffixes(columns: Sequence[str]) -> list[str]:
    """Return what the name of a metric ends in for each of the columns."""
    return ["" if one == "mean" else f"_{one}" for one in columns]


def tracker_keys(names: Iterable[str], ends: Sequence[str] = ("",)) -> dict[str, str]:
    """Return a key for each name, in letters, digits, ``_``, ``-``, ``.`` and blanks.

    Where keys would be the same, but for capitals, those that come later are numbered.

    Parameters
    ----------
    names : iterable of str
        Each different.
    ends : sequence of str
        What will be put behind the keys: they stay different with these, too.

    Examples
    --------
    >>> tracker_keys(["ndcg@10", "ndcg@10:catalogue"])
    {'ndcg@10': 'ndcg_at_10', 'ndcg@10:catalogue': 'ndcg_at_10_catalogue'}
    >>> tracker_keys(["lr=0.1", "lr:0.1"])
    {'lr=0.1': 'lr_0.1', 'lr:0.1': 'lr_0.1_2'}
    """
    taken: set[str] = set()
    found = {}
    for name in names:
        plain = _plain(name)
        for number in count(1):
            key = plain if number == 1 else f"{plain}_{number}"
            family = {f"{key}{end}".casefold() for end in ends}
            if taken.isdisjoint(family):
                break
        taken |= family
        found[name] = key
    return found


def _plain(name: str) -> str:
    text = _REFUSED.sub("_", name.replace("@", "_at_")).strip()[:_LONGEST].strip()
    # points in front would make a path that leads elsewhere
    rest = text.lstrip(".")
    return "_" * (len(text) - len(rest)) + rest or "_"
