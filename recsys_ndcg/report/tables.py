"""What a report shows, as tables: the summary, the audit, the counts, the scores of each user."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats, quotient
from recsys_ndcg.errors import (
    InvalidInputError,
    check_choice,
    check_level,
    check_whole,
)
from recsys_ndcg.input import index_of
from recsys_ndcg.significance import (
    BOOTSTRAPS,
    mean_interval,
    ratio_interval,
    resampled_intervals,
)

if TYPE_CHECKING:
    from recsys_ndcg.scoring import Audit, Scores, Totals

BY = ("score", "adjusted", "z")


def per_user_audit(scores: Scores, place: int) -> pd.DataFrame:
    """Return each user's score in one metric, and what it is to be read against.

    Parameters
    ----------
    scores : Scores
        With the other orders of the lists.
    place : int
        Which metric.
    """
    counts, roles = scores.counts, scores.roles
    known = not np.isnan(counts.n_relevant).any()
    columns = {
        "items": counts.n_items,
        "relevant": counts.n_relevant.astype(int if known else float),
        "score": scores.per_user[:, place],
        "chance": roles["chance"][:, place],
        "worst": roles["worst"][:, place],
        "best": roles["best"][:, place],
        "adjusted": scores.adjusted[:, place],
        "z": scores.z[:, place],
    }
    return pd.DataFrame(columns, index=index_of(scores.users, "user"), copy=True)


def ranked(scores: Scores, place: int, n: int, by: str, *, ascending: bool) -> pd.DataFrame:
    """Return the first n users, trivial ones left out.

    Raises
    ------
    InvalidInputError
        `n` is no number of users, `by` none of the columns, or the metric has no such number.
    """
    check_whole("n", n, 1)
    check_choice("by", by, BY)
    table = per_user_audit(scores, place)
    trivial = scores.trivial[:, place]
    some = table[table[by].notna() & ~trivial]
    needed = {"adjusted": scores.roles["best"], "z": scores.roles["deviation"]}
    if by in needed and np.isnan(needed[by][:, place]).all():
        name = scores.names[place]
        msg = f"{name} has no {by} for any user: rank them by='score'."
        raise InvalidInputError(msg)
    keys = list(dict.fromkeys([by, "z"]))
    order = [*([ascending] * len(keys)), False]
    told = some[[*keys, "items"]].apply(_to_twelve_digits)
    told = told.sort_values([*keys, "items"], ascending=order, kind="stable").head(n)
    some = some.loc[told.index]
    new = (told[keys].diff().ne(0) & told[keys].notna()).any(axis=1).to_numpy()
    rank = np.maximum.accumulate(np.where(new, np.arange(1, len(some) + 1), 1))
    board = some.drop(columns=["worst", "best"])
    board.insert(0, "rank", rank)
    board.attrs["trivial"] = int(trivial.sum())
    return board


def _to_twelve_digits(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return numbers that are the same where they differ by the last digits of a sum alone."""
    values = column.to_numpy(dtype=np.float64)
    mantissa, exponent = np.frexp(values)
    return pd.Series(np.ldexp(np.round(mantissa, 12), exponent), index=column.index)


TIES_MATTER = 0.001  # a range this wide changes the third decimal

#: The columns of the audit that stand in the summary, too.
_IN_SUMMARY = ("chance", "adjusted", "tie_low", "tie_high")


def summary_table(totals: Totals, median: Floats) -> pd.DataFrame:
    """Return mean, interval, pooled, median and counts, and what they are to be read against.

    Parameters
    ----------
    totals : Totals
        Of all users, with the orders of their lists.
    median : float64 array, shape (n_metrics,)
        Which totals do not have: it needs the users.
    """
    ends, audit = intervals(totals), audit_table(totals)
    columns = {
        "mean": totals.mean,
        "ci_low": ends["mean_low"].to_numpy(),
        "ci_high": ends["mean_high"].to_numpy(),
        "pooled": totals.pooled,
        "median": median,
        "users": totals.n_scored,
        "undefined": totals.undefined,
        **{name: audit[name].to_numpy() for name in _IN_SUMMARY},
    }
    return pd.DataFrame(columns, index=pd.Index(totals.names, name="metric"))


def audit_table(totals: Totals) -> pd.DataFrame:
    """Return what each mean is to be read against, a row per metric; NaN is not measured."""
    chance, best = totals.mean_of("chance"), totals.mean_of("best")
    zero, top = totals.mean_of("zero"), totals.mean_of("top")
    counts = totals.counts
    if not counts["unlabelled"] and "zero" in totals.roles:
        zero = top = totals.mean
    columns: dict[str, Any] = {
        "chance": chance,
        "adjusted": totals.adjusted,
        "z": totals.z,
        "worst": totals.mean_of("worst"),
        "best": best,
        "trivial": quotient(totals.trivial, np.where(np.isnan(best), 0, totals.n_scored)),
        "tie_low": totals.mean_of("lowest"),
        "tie_high": totals.mean_of("highest"),
        "decided_by_ties": totals.mean_of("moved"),
        "short": totals.short_of / counts["users"],
        "skipped": 1 - totals.n_scored / counts["users"],
        "unlabelled": counts["unlabelled"] / max(counts["ratings"], 1),
        "judged": totals.mean_of("judged"),
        "unlabelled_zero": zero,
        "unlabelled_top": top,
    }
    return pd.DataFrame(columns, index=totals.names)


def counts_of(audit: Audit) -> dict[str, int]:
    """Return how many users and rows there are, and how many need a second look."""
    totals = audit.order_totals
    counts, rows = totals.counts, ("users", "ratings", "candidates")
    by_metric = {"undefined": totals.undefined, "trivial": totals.trivial}
    return {
        "users": counts["users"],
        **_rows(counts, audit.protocol),
        **{name: count for name, count in counts.items() if name not in rows},
        **{
            f"{what} {metric}": number
            for what, numbers in by_metric.items()
            for metric, number in zip(totals.names, numbers.tolist(), strict=True)
        },
    }


def _rows(counts: Mapping[str, int], protocol: str) -> dict[str, int]:
    """Return how many rows there are, by what they are under the protocol."""
    ratings, candidates = counts["ratings"], counts["candidates"]
    if protocol == "rated":
        return {"ratings": ratings}
    if protocol == "supplied":
        return {"recommended": ratings}
    recommended = {"recommended": ratings} if ratings < candidates else {}
    return recommended | {"candidates": candidates}


def intervals(totals: Totals, level: float = 0.95) -> pd.DataFrame:
    """Return intervals for the mean, by Student's t, and the pooled score, by the delta method.

    Raises
    ------
    InvalidInputError
        The level is not between 0 and 1, or too close to one of them.
    """
    check_level("level", level, such_as=0.95)
    own, parts = totals.scores, totals.parts
    means = mean_interval(own.count, own.mean_x, own.length, level)
    ratios = ratio_interval(parts.count, parts.ratio, parts.mean_x, parts.residual, level)
    return _table(totals.names, *means, *(totals.scored(end) for end in ratios))


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
    parts = (np.where(scores.defined, one, 0.0) for one in (scores.numerator, scores.denominator))
    options: dict[str, Any] = {"level": level, "method": method, "draws": draws, "seed": seed}
    low, high, *ratios = resampled_intervals(scores.per_user, *parts, **options, progress=progress)
    pooled = [scores.scored(end) for end in ratios]
    return _table(scores.names, low, high, *pooled)


def _table(names: list[str], *ends: Any) -> pd.DataFrame:
    columns = ["mean_low", "mean_high", "pooled_low", "pooled_high"]
    return pd.DataFrame(dict(zip(columns, ends, strict=True)), index=names)
