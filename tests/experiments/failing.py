"""A model that fails on request."""

from __future__ import annotations

import os
from typing import Any

from surprise import AlgoBase

_CALLS = "RECSYS_NDCG_TEST_CALLS"


class Failing(AlgoBase):  # type: ignore[misc] # surprise has no types
    """A model that fails in its n-th fold, counted over all its copies.

    The count is in the environment: an attribute would be part of the model's fingerprint.
    """

    def __init__(self, fold: int) -> None:
        AlgoBase.__init__(self)
        self.fold = fold

    def fit(self, trainset: Any) -> Failing:
        """Fail in one fold."""
        calls = int(os.environ.get(_CALLS, "0")) + 1
        os.environ[_CALLS] = str(calls)
        if calls == self.fold:
            msg = "no convergence"
            raise RuntimeError(msg)
        AlgoBase.fit(self, trainset)
        return self

    @staticmethod
    def forget() -> None:
        """Count from zero again."""
        os.environ.pop(_CALLS, None)

    def estimate(self, user: Any, item: Any) -> float:
        """Return an arbitrary number."""
        return float(len(f"{user} {item}") % 5)
