"""The dataset's scores, one row per metric."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import check_choice, check_level
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.scoring.totals import scored
from recsys_ndcg.significance.intervals import (
    BOOTSTRAPS,
    mean_interval,
    ratio_bootstrap,
    ratio_interval,
)

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.scoring.scores import Scores
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
        The level is not between 0 and 1, or too close to one of them.
    """
    check_level("level", level, such_as=0.95)
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
    pooled = [scored(totals.measurements, np.array([one[end] for one in ratios])) for end in (0, 1)]
    return _table(totals.names, *zip(*means, strict=True), *pooled)


def resampled(  # noqa: PLR0913 - all that it hangs on
    scores: Scores, level: float, method: str, draws: int, seed: int, *, progress: bool = True
) -> pd.DataFrame:
    """Return the same intervals from resampled users, by bootstrap percentiles or BCa.

    Raises
    ------
    InvalidInputError
        The level, the method or a number of them is none.
    """
    check_choice("method", method, ("t", *BOOTSTRAPS))
    values, defined = scores.per_user, scores.defined
    own = ~np.isnan(values)
    top = np.hstack([np.where(own, values, 0.0), np.where(defined, scores.numerator, 0.0)])
    bottom = np.hstack([own, np.where(defined, scores.denominator, 0.0)])
    options: dict[str, Any] = {"level": level, "method": method, "draws": draws, "seed": seed}
    with progress_bar(wanted=progress) as show:
        ends = ratio_bootstrap(top, bottom, **options, show=partial(show, "Resampling users"))
    (low, ratio_low), (high, ratio_high) = (np.split(end, 2) for end in ends)
    pooled = [scored(scores.measurements, ratio) for ratio in (ratio_low, ratio_high)]
    return _table(scores.names, low, high, *pooled)


def _table(names: list[str], *ends: Any) -> pd.DataFrame:
    columns = ["mean_low", "mean_high", "pooled_low", "pooled_high"]
    return pd.DataFrame(dict(zip(columns, ends, strict=True)), index=names)
