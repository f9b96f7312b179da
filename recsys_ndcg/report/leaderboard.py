"""The users whose lists are ranked best, or worst."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, check_whole, nearest, shown
from recsys_ndcg.input import index_of

if TYPE_CHECKING:
    from recsys_ndcg.scoring import Scores

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
    if not isinstance(by, str) or by not in BY:
        msg = f"by must be 'score', 'adjusted' or 'z', not {shown(by)}. {nearest(str(by), BY)}"
        raise InvalidInputError(msg)
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
