"""Random sample ratings for the demo, the tests and the documentation."""

from __future__ import annotations

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError

_YEAR = 365 * 24 * 3600
_START = 1_400_000_000


def sample_ratings(n_users: int = 300, n_items: int = 400, seed: int = 0) -> pd.DataFrame:
    """Draw ratings with user tastes, popular items, and few ratings from most users.

    Parameters
    ----------
    n_users, n_items : int
        The number of users, and of items; items without a rating are left out.
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
        There are fewer than 2 users or 20 items.

    Examples
    --------
    >>> sample_ratings(seed=0).head(2)
       user  item  rating   timestamp
    0  u148  i054     3.0  1400318381
    1  u295  i251     5.0  1400346587
    """
    if n_users < 2 or n_items < 20:
        msg = f"n_users must be at least 2 and n_items at least 20, not {n_users} and {n_items}."
        raise InvalidInputError(msg)
    rng = np.random.default_rng(seed)
    activity = np.clip(rng.lognormal(3.2, 0.9, n_users).astype(int), 5, n_items // 2)
    popularity = 1 / (np.arange(n_items) + 5) ** 0.7
    # a weighted sample without replacement: the smallest exponential variables
    nearest = np.argsort(rng.exponential(size=(n_users, n_items)) / popularity, axis=1)
    item = nearest[np.arange(n_items) < activity[:, None]]
    user = np.repeat(np.arange(n_users), activity)

    generosity, quality = rng.normal(0, 0.4, n_users), rng.normal(0, 0.45, n_items)
    taste, content = rng.normal(0, 0.5, (n_users, 6)), rng.normal(0, 0.5, (n_items, 6))
    match = (taste[user] * content[item]).sum(axis=1)
    rating = 3.4 + generosity[user] + quality[item] + match + rng.normal(0, 0.6, len(user))
    joined = rng.integers(0, 3 * _YEAR, n_users)
    timestamp = _START + joined[user] + rng.exponential(30 * 24 * 3600, len(user)).astype(int)
    columns = {
        "user": [f"u{number:03d}" for number in user],
        "item": [f"i{number:03d}" for number in item],
        "rating": np.clip(np.round(rating * 2) / 2, 0.5, 5.0),
        "timestamp": timestamp,
    }
    return pd.DataFrame(columns).sort_values(["timestamp", "user", "item"], ignore_index=True)
