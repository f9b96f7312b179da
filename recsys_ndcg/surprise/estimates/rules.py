"""What a rule is: an algorithm's estimates for some of its users and items at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats

Inner = NDArray[np.intp]
Mask = NDArray[np.bool_]
Items = NDArray[np.intp] | slice


class Rule(Protocol):
    """An algorithm's formula over arrays, for users and items of the trainset."""

    def block(self, users: Inner, items: Items) -> tuple[Floats, Mask | None]:
        """Return the estimates in a new array, and where predict says they were impossible.

        Parameters
        ----------
        users : int array
            Inner ids, none of them unknown.
        items : int array or slice
            Inner ids.
        """
