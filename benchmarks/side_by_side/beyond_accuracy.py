"""Measures beyond accuracy: ten recommendations for each user, and training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import recsys_ndcg as rn
from recsys_ndcg.background import Background
from recsys_ndcg.lists import add_background
from side_by_side.contestants import Contestant
from side_by_side.libraries.recommendations import N_ITEMS, split_rows
from side_by_side.measuring import time_call
from side_by_side.races import Frame
from side_by_side.tables import TIMES, format_table, format_times

if TYPE_CHECKING:
    from collections.abc import Sequence

OURS_BEYOND = Contestant("recsys_ndcg", "ours_beyond", "", computes="all of these")
BEYOND_PEERS = (
    Contestant(
        "RecTools",
        "rectools_beyond",
        "frames",
        "rectools",
        computes="popularity, novelty and coverage",
    ),
    Contestant(
        "RePlay", "replay_beyond", "frames", "replay", computes="novelty, coverage and new items"
    ),
    Contestant("LensKit", "lenskit_beyond", "torch", "lenskit", computes="popularity and Gini"),
)
PER_USER, TRAINING_ROWS = 10, 20


def draw_rows(n_users: int) -> pd.DataFrame:
    """Draw training rows, which have no estimate, and recommendations, which have no true value.

    Popular items are in many rows; no user has an item twice among either.
    """
    draw = np.random.default_rng(0)
    every = np.arange(n_users)

    def draw_items(per_user: int, skew: float) -> pd.DataFrame:
        item = (N_ITEMS * draw.random((n_users, 2 * per_user)) ** skew).astype(np.int64)
        user = np.repeat(every, 2 * per_user)
        rows = pd.DataFrame({"user": user, "item": item.ravel()}).drop_duplicates()
        return rows.groupby("user").head(per_user)

    training = draw_items(TRAINING_ROWS, 3.0).assign(estimated=np.nan, true=1.0)
    lists = draw_items(PER_USER, 2.0).assign(true=np.nan)
    lists["estimated"] = -lists.groupby("user").cumcount().to_numpy(dtype=np.float64)
    return pd.concat([training, lists], ignore_index=True)[["user", "item", "estimated", "true"]]


class Recommendations(Frame):
    """Training rows and recommendations, in one frame."""

    def expected(self, one: Contestant, metrics: Sequence[str]) -> pd.Series[float]:
        """Return our means under a library's convention."""
        training, lists = split_rows(self.rows)
        data = {"labels": None, "results": lists}
        given: dict[str, Any] = {"train": training, "catalogue": range(N_ITEMS)}
        presets = [rn.Convention.preset(str(one.preset), metric) for metric in metrics]
        means = [
            rn.evaluate(data, metrics=metric, convention=preset, **given).mean
            for metric, preset in zip(metrics, presets, strict=True)
        ]
        return pd.concat(means)


#: Our measures whose cost is compared with NDCG's.
COSTS = {
    "ndcg@10": ["ndcg@10"],
    "popularity@10": ["popularity@10"],
    "six of items": [
        f"{name}@10" for name in ("popularity", "novelty", "tail", "cold", "seen", "unseen")
    ],
    "coverage@10 and gini@10": ["coverage@10", "gini@10"],
    "personalization@10": ["personalization@10"],
}


def format_costs(rows: pd.DataFrame, times: int) -> str:
    """Return how long our measures take on lists that have been read, relative to NDCG."""
    training, lists = split_rows(rows)
    labels = lists[["user", "item"]].iloc[::4].assign(true=1.0)
    given: dict[str, Any] = {"train": training, "catalogue": range(N_ITEMS)}
    known = Background.of(**given)
    ready = rn.RankedLists.from_labels(labels, lists)._data
    ready = rn.RankedLists(add_background(ready, known))
    taken = [
        [
            time_call(lambda metrics=metrics: rn.evaluate(ready, metrics=metrics, threshold=1).mean)  # type: ignore[misc]
            for metrics in COSTS.values()
        ]
        for _ in range(times)
    ]
    fastest = np.min(taken, axis=0)
    costs = zip(COSTS, fastest, fastest / fastest[0], strict=True)
    cells = [[name, *format_times(seconds, ratios)] for name, seconds, ratios in costs]
    return format_table(["", *TIMES], cells)
