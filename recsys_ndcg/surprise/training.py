"""What a trainset or an algorithm silently gets wrong, said before anybody trusts a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surprise import CoClustering, SlopeOne

from recsys_ndcg.errors import warn

if TYPE_CHECKING:
    from recsys_ndcg.convention import Floats

_TRUNCATING = (SlopeOne, CoClustering)


def warn_of_training(kind: type, values: Floats, scale: tuple[float, float]) -> None:
    """Warn of ratings outside the rating scale, and of an algorithm that truncates them.

    Parameters
    ----------
    kind : class
        Of the algorithm that is trained.
    values : float64 array
        The ratings that it is trained on.
    scale : pair of numbers
        Their rating scale.

    Warns
    -----
    DataWarning
        Once for each.
    """
    low, high = scale
    least, most = float(values.min()), float(values.max())
    outside = int(((values < low) | (values > high)).sum())
    if outside:
        msg = (
            f"{outside} of {len(values)} ratings are outside the rating_scale ({low}, {high}); "
            f"they run from {least:g} to {most:g}. Predictions are cut to the scale, which ties "
            f"them: give Reader(rating_scale=({least:g}, {most:g}))."
        )
        warn(msg)
    fractions = int((values % 1 != 0).sum())
    if fractions and issubclass(kind, _TRUNCATING):
        first = float(values[values % 1 != 0][0])
        msg = (
            f"{kind.__name__} keeps ratings as whole numbers: {fractions} of {len(values)}, "
            f"such as {first:g}, are cut to the one below ({int(first)}). Double the ratings and "
            "the rating_scale, or take another algorithm."
        )
        warn(msg)
