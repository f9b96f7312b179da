"""Sample ratings, drawn from a seed: for the demo, the tests and the documentation."""

from __future__ import annotations

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError

_YEAR = 365 * 24 * 3600
_START = 1_400_000_000


def sample_ratings(n_users: int = 300, n_items: int = 400, seed: int = 0) -> pd.DataFrame:
    """Draw ratings of the usual shape: tastes, popular items, and few ratings from most users.

    Parameters
    ----------
    n_users, n_items : int
        How many there are at most; an item that nobody rates does not occur.
    seed : int
        The same seed gives the same rows.

    Returns
    -------
    pandas.DataFrame
        Columns user, item (text), rating (half stars from 0.5 to 5) and timestamp (seconds),
        in order of time.

    Raises
    ------
    InvalidInputError
        Fewer than 2 users or 20 items.

    Examples
    --------
    >>> sample_ratings(seed=0).head(2)
       user  item  rating   timestamp
    0  u218  i056     5.0  1400005265
    1  u218  i079     3.0  1400005532
    """
    if n_users < 2 or n_items < 20:  # noqa: PLR2004 - fewer make no test set
        msg = f"n_users must be at least 2 and n_items at least 20, not {n_users} and {n_items}."
        raise InvalidInputError(msg)
    draw = np.random.default_rng(seed)
    most = n_items // 2
    activity = np.clip(draw.lognormal(2.9, 0.9, n_users).astype(int), 5, most)
    popularity = 1 / (np.arange(n_items) + 5) ** 0.7
    quality = draw.normal(0, 0.45, n_items)
    taste_of_user, taste_of_item = draw.normal(0, 0.5, (2, max(n_users, n_items), 6))
    generosity = draw.normal(0, 0.4, n_users)

    user = np.repeat(np.arange(n_users), activity)
    # the items with the smallest exponential waiting times: a sample without replacement
    waiting = draw.exponential(size=(n_users, n_items)) / popularity
    item = np.concatenate(
        [np.argsort(row)[:count] for row, count in zip(waiting, activity, strict=True)]
    )
    match = (taste_of_user[user] * taste_of_item[item]).sum(axis=1)
    rating = 3.4 + generosity[user] + quality[item] + match + draw.normal(0, 0.6, len(user))
    joined = draw.integers(0, 3 * _YEAR, n_users)
    timestamp = _START + joined[user] + draw.exponential(30 * 24 * 3600, len(user)).astype(int)
    return (
        pd.DataFrame(
            {
                "user": [f"u{one:03d}" for one in user],
                "item": [f"i{one:03d}" for one in item],
                "rating": np.clip(np.round(rating * 2) / 2, 0.5, 5.0),
                "timestamp": timestamp,
            }
        )
        .sort_values(["timestamp", "user", "item"])
        .reset_index(drop=True)
    )
