"""What a trainset or an algorithm silently gets wrong, said before anybody trusts a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surprise import CoClustering, SlopeOne

from recsys_ndcg.errors import warn

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.surprise.trainsets import Ratings

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
        _warn_of_scale(ratings.values, *scale)
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


def _warn_of_scale(values: Floats, low: float, high: float) -> None:
    outside = int(((values < low) | (values > high)).sum())
    if outside:
        least, most = float(values.min()), float(values.max())
        msg = (
            f"{outside} of {len(values)} ratings are outside the rating_scale ({low}, {high}); "
            f"they run from {least:g} to {most:g}. predict() cuts estimates to the scale, and ties "
            f"them: give Reader(rating_scale=({least:g}, {most:g}))."
        )
        warn(msg)
