"""The dataset's scores, one row per metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.significance import mean_interval, ratio_interval

if TYPE_CHECKING:
    from recsys_ndcg.scoring.measuring import Scores


def summarised(scores: Scores, levels: pd.DataFrame) -> pd.DataFrame:
    """Return mean, interval, pooled, median and counts, with the levels beside them.

    Parameters
    ----------
    scores : Scores
        Of every user.
    levels : pandas.DataFrame
        The columns chance, lift, tie_low and tie_high, a row per metric.
    """
    names = scores.names
    by_user = pd.DataFrame(scores.per_user, columns=names)
    ends = intervals(scores)
    return pd.DataFrame(
        {
            "mean": scores.mean,
            "ci_low": ends["mean_low"],
            "ci_high": ends["mean_high"],
            "pooled": scores.pooled,
            "median": by_user.median(),
            "users": by_user.notna().sum(),
            "undefined": scores.undefined.sum(axis=0),
            **levels,
        },
        index=pd.Index(names, name="metric"),
    )


def intervals(scores: Scores, level: float = 0.95) -> pd.DataFrame:
    """Return intervals for the mean, by Student's t, and the pooled score, by the delta method.

    Raises
    ------
    InvalidInputError
        The level is not between 0 and 1.
    """
    if not is_number(level) or not 0 < level < 1:
        msg = f"level must be between 0 and 1, such as 0.95, not {shown(level)}."
        raise InvalidInputError(msg)
    rows = []
    per_user, defined = scores.per_user, scores.defined
    for column, metric in enumerate(scores.metrics):
        own = per_user[:, column]
        kept = defined[:, column]
        n, d = scores.numerator[kept, column], scores.denominator[kept, column]
        pooled = metric.score(np.array(ratio_interval(n, d, level)))
        rows.append((*mean_interval(own[~np.isnan(own)], level), *pooled.tolist()))
    names = ["mean_low", "mean_high", "pooled_low", "pooled_high"]
    return pd.DataFrame(rows, columns=names, index=scores.names)
