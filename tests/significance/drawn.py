"""Drawn tables of scores: few users and models, ties, last digits and gaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from recsys_ndcg.arrays import Floats
from recsys_ndcg.significance import TESTS, PairResults, Testing, compare_pairs
from tests.significance.textbook import all_pairs

AGREEING = tuple(name for name, kind in TESTS.items() if kind.is_test_of_mean)
GRID = [0.0, 0.1, 0.1 + 0.2, 0.3, 0.5, 0.7, 0.1 * 7, 1.0, -0.4]


@st.composite
def tables(
    draw: Callable[[Any], Any], least: int = 0, most: int = 9, *, gaps: bool = True, models: int = 4
) -> Floats:
    """Draw a table with a row per user, of two models or more."""
    score = st.one_of(st.sampled_from(GRID), st.integers(-999, 999).map(lambda one: one / 997))
    if gaps:
        score = st.one_of(score, score, score, st.just(float("nan")))
    width = draw(st.integers(2, models))
    row = st.lists(score, min_size=width, max_size=width)
    rows = draw(st.lists(row, min_size=least, max_size=most))
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


def compare_all(table: Floats, how: Testing, **more: Any) -> PairResults:
    """Compare every two models."""
    return compare_pairs(table, all_pairs(table.shape[1]), how, **more)


def made(users: int, models: int, seed: int, *, apart: float = 0.02) -> Floats:
    """Return scores that go with the user, and a little with the model."""
    stream = np.random.default_rng(seed)
    own = stream.random((users, models)) * 0.2
    table: Floats = stream.random((users, 1)) + own + apart * np.arange(models)
    return table
