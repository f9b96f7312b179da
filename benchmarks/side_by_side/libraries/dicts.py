"""The input of information retrieval libraries: dictionaries of dictionaries, made in pandas."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

Nested = dict[str, dict[str, Any]]


def dicts(frame: pd.DataFrame) -> tuple[Nested, Nested]:
    """Return {user: {item: 2 * grade}}, in whole numbers, and {user: {item: estimate}}."""
    ordered = frame.iloc[np.argsort(frame["user"].to_numpy(), kind="stable")]
    user = ordered["user"].to_numpy()
    starts = np.flatnonzero(np.append(True, user[1:] != user[:-1])).tolist()
    names = list(map(str, user[starts].tolist()))
    items = list(map(str, ordered["item"].tolist()))
    grades = (2 * ordered["true"]).astype(np.int64).tolist()
    estimates = ordered["estimated"].tolist()
    qrels: Nested = {}
    run: Nested = {}
    for name, (first, last) in zip(names, pairwise([*starts, len(items)]), strict=True):
        qrels[name] = dict(zip(items[first:last], grades[first:last], strict=True))
        run[name] = dict(zip(items[first:last], estimates[first:last], strict=True))
    return qrels, run
