"""Compare the report of an engine with the report of `evaluate`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import recsys_ndcg as rn

#: How much two ways to add up the same scores may differ.
CLOSE: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12, "check_dtype": False}


def check_alike(found: rn.Report, per_user: pd.DataFrame | None, expected: rn.Report) -> None:
    """Compare the tables of two reports, and the scores of each user.

    Parameters
    ----------
    found : Report
        Of some engine.
    per_user : DataFrame, optional
        Its scores of each user, indexed by user in any order. Without them, what needs all users
        at once is not compared.
    expected : Report
        Evaluated in memory.
    """
    assert {name: str(one) for name, one in found.signatures.items()} == {
        name: str(one) for name, one in expected.signatures.items()
    }
    assert found.counts == expected.counts
    unknown = ["median", "unlabelled_top"] if per_user is None else []
    is_over_lists = expected._data.audit.totals.is_over_lists
    intervals = expected.intervals(0.9)
    summary = expected.summary
    if found._data.audit.by_user is None:  # users are left out in turn for these intervals
        intervals[is_over_lists] = np.nan
        summary.loc[is_over_lists, ["ci_low", "ci_high"]] = np.nan
    tables = {"summary": summary, "audit": expected.audit, "baselines": expected.baselines}
    for name, known in tables.items():
        own, other = (
            one.drop(columns=unknown, errors="ignore") for one in (getattr(found, name), known)
        )
        pd.testing.assert_frame_equal(own, other, **CLOSE)
    for name in ("mean", "pooled"):
        pd.testing.assert_series_equal(getattr(found, name), getattr(expected, name), **CLOSE)
    pd.testing.assert_frame_equal(found.intervals(0.9), intervals, **CLOSE)
    if per_user is None:
        return
    users = expected.per_user
    assert list(per_user.columns) == list(users.columns)
    assert per_user.index.is_unique
    assert sorted(per_user.index.tolist()) == sorted(users.index.tolist())
    ours = per_user.loc[users.index].to_numpy(dtype=np.float64)
    np.testing.assert_array_equal(ours, users.to_numpy(dtype=np.float64))
