"""The input of measures beyond accuracy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

K, N_ITEMS = 10, 20_000


def split_rows(frame: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the training rows and the recommendations, best first."""
    is_training = frame["estimated"].isna()
    return (
        frame.loc[is_training, ["user", "item", "true"]],
        frame.loc[~is_training, ["user", "item", "estimated"]],
    )
