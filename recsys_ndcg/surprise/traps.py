"""What Surprise silently gets wrong in training, said before anybody trusts a number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surprise import CoClustering, SlopeOne

from recsys_ndcg.catalogue import Ratings
from recsys_ndcg.errors import warn
from recsys_ndcg.folds import warn_of_scale

if TYPE_CHECKING:
    from collections.abc import Callable

_TRUNCATING = (SlopeOne, CoClustering)


def warn_of_training(kind: type, ratings: Ratings, scale: tuple[float, float] | None) -> None:
    """Warn of ratings outside the rating scale, and of an algorithm that truncates them.

    Parameters
    ----------
    kind : class
        Of the algorithm that is trained.
    ratings : Ratings
        What it is trained on.
    scale : pair of numbers, optional
        Their rating scale; without it, it is not looked at.

    Warns
    -----
    DataWarning
        Once for each.
    """
    if scale is not None:
        warn_of_scale(ratings.values, scale)
    if not issubclass(kind, _TRUNCATING):
        return
    values = ratings.values
    fractions = values[values % 1 != 0]
    if len(fractions):
        msg = (
            f"{kind.__name__} keeps ratings as whole numbers: {len(fractions)} of {len(values)}, "
            f"such as {fractions[0]:g}, are cut to the one below ({int(fractions[0])}). Double "
            "the ratings and the rating_scale, or take another algorithm."
        )
        warn(msg)


def first_look(kind: Any) -> Callable[[Any], None]:
    """Return what warns of the first trainset of a kind of algorithm."""

    def look(trainset: Any) -> None:
        if isinstance(kind, type):  # a search may be given a function that makes algorithms
            ratings = Ratings(trainset.ur, trainset.n_users)
            warn_of_training(kind, ratings, trainset.rating_scale)

    return look
