"""For whom which of two models is better."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.rendering.plots import vega
from recsys_ndcg.rendering.wording import count

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Flags, Floats

SHORT = 24  # characters of a name that stands beside another
#: Of the first, equal and the second: light and dark in grey, too.
LOOKS = (vega.ACCENT, "#BBBBBB", "#E69F00")
_LEAST = 1e-12  # of the largest difference: less is the last digits of a sum


def settled(differences: Floats) -> Floats:
    """Return differences in which those of the last digits are none."""
    least = _LEAST * vega.highest(differences)
    return np.where(np.abs(differences) <= least, 0.0, differences)


def outcomes(gains: Floats, first: str, second: str) -> dict[str, Flags]:
    """Return for whom each of the two is better, by what is said of how many they are."""
    words = {f"{first} better": gains > 0, "equal": gains == 0, f"{second} better": gains < 0}
    return {
        f"{what}: {count(int(some.sum()))} ({some.mean():.1%})": some
        for what, some in words.items()
    }
