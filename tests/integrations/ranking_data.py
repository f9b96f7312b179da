"""Queries with graded items to train on, and the scores that the tests compare with."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recsys_ndcg as rn


@dataclass(frozen=True)
class Queries:
    """Rows of features, each with a grade from 0 to 3, together by query.

    Parameters
    ----------
    features : float64 array, shape (n_rows, 4)
        The first two decide the grade, with noise.
    grades : int64 array, shape (n_rows,)
        All 0 in the first query, which is undefined.
    sizes : int64 array
        The number of rows of each query: they differ, and one is 1.
    """

    features: NDArray[np.float64]
    grades: NDArray[np.int64]
    sizes: NDArray[np.int64]

    @classmethod
    def draw(cls, seed: int, n_queries: int = 20) -> Queries:
        """Draw queries of 1 to 30 rows."""
        rng = np.random.default_rng(seed)
        sizes = np.append([5, 1], rng.integers(2, 30, n_queries - 2))
        features = rng.normal(size=(sizes.sum(), 4))
        noise = rng.normal(size=len(features))
        grades = np.clip(np.round(features[:, 0] + features[:, 1] + noise), 0, 3).astype(int)
        grades[: sizes[0]], grades[sizes[0]] = 0, 1
        return cls(features, grades, sizes)

    @property
    def users(self) -> NDArray[np.int64]:
        """The query of each row."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def evaluate(self, estimated: Any, **options: Any) -> rn.Report:
        """Return the report of `recsys_ndcg.evaluate`, without its warnings of ties."""
        lists = rn.RankedLists.from_arrays(self.users, None, estimated, self.grades)
        with warnings.catch_warnings(action="ignore", category=rn.DataWarning):
            return rn.evaluate(lists, **options)
