"""Lists made to show what choices do: ties that cutoffs split, gaps in the labels, empty lists."""

from __future__ import annotations

from functools import cache

import recsys_ndcg as rn
from tests.strategies import Sample
from tests.textbook import Row

USERS = {
    # between two others, three of equal estimates, two of them relevant
    1: [Row(4, 0.5, 8), Row(3, 5.0, 11), Row(1, 2.0, 9), Row(3, 1.0, 10), Row(3, 3.5, 12)],
    2: [Row(2.0, 3.5, 10), Row(0.2, None, 9)],  # shorter than most cutoffs
    4: [Row(1.0, 0.5, 9), Row(1.0, None, 10), Row(0.0, 0.0, 8)],  # nothing is relevant
    # four of equal estimates, two of them relevant, behind one that is not
    5: [Row(2, 0.5, 11), Row(1, 5.0, 9), Row(1, 0.0, 10), Row(1, 5.0, 8), Row(1, 0.0, 12)],
    # equal in single precision, or to a step
    6: [Row(2.0, 1.0, 8), Row(2.0 + 1e-9, 5.0, 9), Row(2.2, None, 10), Row(0.25, 3.5, 11)],
    7: [Row(3.0, None, 9), Row(2.0, None, 8)],  # nothing is labelled
}
#: Labels that no list has, of users who have a list and of one who has none.
UNLISTED = {2: [0.5, 5.0, 3.5], 3: [5.0, 1.0], 5: [1.0]}
_ROWS = sum(map(len, USERS.values()))


def joined_data() -> Sample:
    """Return labels and results."""
    return Sample(USERS, UNLISTED, [*range(_ROWS)], joined=True)


def rated_data() -> Sample:
    """Return predictions of ratings, the rows of the users mixed."""
    mixed = sorted(range(_ROWS), key=lambda place: place * 7 % _ROWS)
    return Sample(USERS, {}, mixed, joined=False)


@cache
def lists(*, joined: bool) -> rn.RankedLists:
    """Return the library's lists of either."""
    return (joined_data() if joined else rated_data()).lists
