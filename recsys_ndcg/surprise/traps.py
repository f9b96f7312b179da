"""What Surprise silently gets wrong: ratings that are cut, and models that diverged.

The NaN of a model that diverged is hidden, because clipping turns it into the top rating. Every
worker of a search imports this, so that it needs no more than an algorithm does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from surprise import CoClustering, SlopeOne

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.errors import DivergedModelError, quote, warn


def warn_of_truncation(kind: Any, ratings: Floats) -> None:
    """Warn of an algorithm that truncates the ratings that it is trained on.

    Parameters
    ----------
    kind : class or function
        Of the algorithm; a search may be given a function that makes algorithms.
    ratings : array
        What it is trained on.
    """
    fractions = ratings[ratings % 1 != 0]
    if isinstance(kind, type) and issubclass(kind, SlopeOne | CoClustering) and len(fractions):
        msg = (
            f"{kind.__name__} keeps ratings as whole numbers: {len(fractions)} of {len(ratings)}, "
            f"such as {fractions[0]:g}, are cut to the one below ({int(fractions[0])}). Double "
            "the ratings and the rating_scale, or take another algorithm."
        )
        warn(msg)


def refuse_infinite(name: str, users: Ids, values: Floats) -> None:
    """Refuse a table of estimates, a row per user, with NaN or infinity in it.

    Raises
    ------
    DivergedModelError
        The first such user.
    """
    bad = ~np.isfinite(values)
    if bad.any():
        raise diverged_error(name, users[int(bad.any(axis=1).argmax())])


def diverged_error(name: str, user: Any) -> DivergedModelError:
    """Return the error of a model that estimates no number for a user."""
    return DivergedModelError(
        f"{name} estimates NaN or infinity (first for user {quote(user)}): the model diverged, "
        "which predict() hides, because clipping turns NaN into the top rating. "
        "Train it with a smaller learning rate or more regularisation."
    )
