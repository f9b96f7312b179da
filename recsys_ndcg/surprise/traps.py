"""Errors that Surprise hides: truncated ratings, and models that diverged.

Clipping turns the NaN of a model that diverged into the top rating.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from surprise import CoClustering, SlopeOne

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.errors import DivergedModelError, quote, warn


def warn_of_truncation(kind: Any, ratings: Floats) -> None:
    """Warn if an algorithm truncates its training ratings.

    Parameters
    ----------
    kind : class or function
        The algorithm's class, or a function that makes algorithms.
    ratings : array
        The training ratings.
    """
    fractions = ratings[ratings % 1 != 0]
    if isinstance(kind, type) and issubclass(kind, SlopeOne | CoClustering) and len(fractions):
        warn(
            f"{kind.__name__} keeps ratings as whole numbers: {len(fractions)} of {len(ratings)}, "
            f"such as {fractions[0]:g}, are rounded down ({int(fractions[0])}). Double the ratings "
            "and the rating_scale, or use another algorithm."
        )


def check_finite(name: str, users: Ids, values: Floats) -> None:
    """Raise if a table of estimates with a row per user has NaN or infinity.

    Raises
    ------
    DivergedModelError
        The message has the first such user.
    """
    bad = ~np.isfinite(values)
    if bad.any():
        raise make_diverged_error(name, users[int(bad.any(axis=1).argmax())])


def make_diverged_error(name: str, user: Any) -> DivergedModelError:
    """Return the error of a model whose estimates for a user are NaN or infinite."""
    return DivergedModelError(
        f"{name} estimates NaN or infinity (first for user {quote(user)}): the model diverged. "
        "predict() hides this, because clipping turns NaN into the top rating. "
        "Train it with a smaller learning rate or more regularisation."
    )
