"""What an engine reports beside what is reported in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    import recsys_ndcg as rn

#: What two ways to add up the same scores may differ by.
CLOSE: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12, "check_dtype": False}


def check_alike(found: rn.Report, per_user: pd.DataFrame, expected: rn.Report) -> None:
    """Compare all that a report says of all users, and the scores of each.

    Parameters
    ----------
    found : Report
        Of some engine.
    per_user : DataFrame
        What it has of each user, indexed by user in any order.
    expected : Report
        Measured in memory.
    """
    assert {name: str(one) for name, one in found.signatures.items()} == {
        name: str(one) for name, one in expected.signatures.items()
    }
    assert found.counts == expected.counts
    for name in ("summary", "audit", "baselines"):
        pd.testing.assert_frame_equal(getattr(found, name), getattr(expected, name), **CLOSE)
    for name in ("mean", "pooled"):
        pd.testing.assert_series_equal(getattr(found, name), getattr(expected, name), **CLOSE)
    pd.testing.assert_frame_equal(found.intervals(0.9), expected.intervals(0.9), **CLOSE)
    check_users(per_user, expected.per_user)


def check_users(found: pd.DataFrame, expected: pd.DataFrame) -> None:
    """Compare the scores of each user, to the last bit."""
    assert list(found.columns) == list(expected.columns)
    assert found.index.is_unique
    assert sorted(found.index.tolist()) == sorted(expected.index.tolist())
    ours = found.loc[expected.index].to_numpy(dtype=np.float64)
    np.testing.assert_array_equal(ours, expected.to_numpy(dtype=np.float64))
