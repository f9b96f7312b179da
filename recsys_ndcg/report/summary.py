"""The dataset's scores, one row per metric."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.scoring.totals import scored
from recsys_ndcg.significance import mean_interval, ratio_interval

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.scoring.totals import Totals


def summarised(totals: Totals, median: Floats, levels: pd.DataFrame) -> pd.DataFrame:
    """Return mean, interval, pooled, median and counts, with the levels beside them.

    Parameters
    ----------
    totals : Totals
        Of the scores of all users.
    median : float64 array, shape (n_metrics,)
        Which totals do not have: it needs the users.
    levels : pandas.DataFrame
        The columns chance, adjusted, tie_low and tie_high, a row per metric.
    """
    ends = intervals(totals)
    columns = {
        "mean": totals.mean,
        "ci_low": ends["mean_low"].to_numpy(),
        "ci_high": ends["mean_high"].to_numpy(),
        "pooled": totals.pooled,
        "median": median,
        "users": totals.n_scored,
        "undefined": totals.undefined,
        **{str(name): levels[name].to_numpy() for name in levels},
    }
    return pd.DataFrame(columns, index=pd.Index(totals.names, name="metric"))


def intervals(totals: Totals, level: float = 0.95) -> pd.DataFrame:
    """Return intervals for the mean, by Student's t, and the pooled score, by the delta method.

    Raises
    ------
    InvalidInputError
        The level is not between 0 and 1.
    """
    if not is_number(level) or not 0 < level < 1:
        msg = f"level must be between 0 and 1, such as 0.95, not {shown(level)}."
        raise InvalidInputError(msg)
    own, parts = totals.scores, totals.parts
    means = [
        mean_interval(int(count), mean, length, level)
        for count, mean, length in zip(own.count, own.mean_x, own.length, strict=True)
    ]
    ratios = [
        ratio_interval(int(count), ratio, mean, residual, level)
        for count, ratio, mean, residual in zip(
            parts.count, parts.ratio, parts.mean_x, parts.residual, strict=True
        )
    ]
    low, high = (
        scored(totals.measurements, np.array([one[end] for one in ratios])) for end in (0, 1)
    )
    lows, highs = zip(*means, strict=True)
    columns = {"mean_low": lows, "mean_high": highs, "pooled_low": low, "pooled_high": high}
    return pd.DataFrame(columns, index=totals.names)
