"""The input of recommender libraries: the ten best items of each user, in pandas."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

K, THRESHOLD = 10, 4.0


def best_ten(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the ten best items of each user, best first, ties in input order."""
    ordered = frame.sort_values("estimated", ascending=False, kind="stable")
    return ordered.groupby("user", sort=False).head(K)


def liked(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of relevant items."""
    return frame[frame["true"] >= THRESHOLD]
