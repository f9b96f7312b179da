"""What other libraries return, and how each number is asked for here: a table per family."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ask:
    """How to ask for a library's number.

    Parameters
    ----------
    metric : str
        Our metric, without the cutoff.
    choices : dict
        Changes of the library's preset, for an option of the library.
    read : {'mean', 'pooled', 'sum', 'gap'}
        Whether the library's number is the mean over users, pooled, a sum over users, or the mean
        absolute difference of the groups of users.
    k : int, optional
        Another cutoff than the input's; 0 for none.
    train : {'train', 'test'}
        The part of the input that is given as training rows.
    """

    metric: str
    choices: dict[str, Any] = field(default_factory=dict)
    read: str = "mean"
    k: int | None = None
    train: str = "train"


@cache
def read_file() -> Any:
    """Return the file of inputs and outputs, None if it is not there."""
    folder = os.environ.get("RECSYS_NDCG_DATA")
    path = Path(folder) / "beyond_accuracy.json" if folder else None
    return json.loads(path.read_text()) if path is not None and path.exists() else None
