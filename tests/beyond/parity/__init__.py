"""What other libraries return, and how each number is asked for here: a table per family."""

from __future__ import annotations

import json
import os
import warnings
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import recsys_ndcg as rn


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


def evaluate_input(name: str, ask: Ask, preset: str | None = None) -> rn.Report:
    """Evaluate one of the inputs as a library does."""
    given = read_file()["inputs"][name]
    k = given["k"] if ask.k is None else ask.k
    metric = f"{ask.metric}@{k}" if k else ask.metric
    convention = rn.Convention() if preset is None else rn.Convention.preset(preset, metric)
    features = pd.DataFrame(given["item_features"]).T
    features.index = features.index.astype(int)
    features.columns = ["f0", "f1", "f2"]
    topics = features.apply(lambda row: {name for name, has in row.items() if has}, axis=1)
    table = features.assign(
        topics=topics,
        category=[f"c{given['item_category'][str(item)]}" for item in features.index],
        group=[f"g{given['item_group'][str(item)]}" for item in features.index],
    )
    test = [(int(user), item, 1.0) for user, items in given["test"].items() for item in items]
    lists = [
        (int(user), item, score)
        for user, rows in given["recommendations"].items()
        for item, score in rows
    ]
    base = [
        (int(user), item, -float(rank))
        for user, items in given["base"].items()
        for rank, item in enumerate(items)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rn.DataWarning)
        return rn.evaluate(
            {
                "labels": pd.DataFrame(test, columns=["user", "item", "true"]),
                "results": pd.DataFrame(lists, columns=["user", "item", "estimated"]),
            },
            metrics=metric,
            threshold=1,
            train=[tuple(row) for row in given["train"]] if ask.train == "train" else test,
            catalogue=given["catalogue"],
            features=table,
            base=pd.DataFrame(base, columns=["user", "item", "estimated"]),
            groups={int(user): f"u{group}" for user, group in given["user_group"].items()},
            convention=convention.replace(**ask.choices),
        )
