"""Bins hold every number once, between their ends, which are round numbers."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recsys_ndcg.rendering.plots.users import Bins

NUMBERS = st.one_of(
    st.floats(-1e9, 1e9),
    st.floats(0, 1),
    st.sampled_from([n / 10 for n in range(-10, 11)]),
    st.sampled_from([0.0, 1e-320, -1e-320, 1e300, 1e9, 1e9 + 1e-6]),
)


@given(st.lists(NUMBERS, min_size=1), st.lists(NUMBERS), st.booleans())
def test_each_number_is_in_one_bin(own: list[float], others: list[float], zero: bool) -> None:  # noqa: FBT001
    """Between its ends, up to the last digits; bins are few and of equal width."""
    columns = np.array(own), np.array(others)
    bins = Bins.of(*columns, around_zero=zero)
    edges = bins.edges
    assert len(edges) == bins.n + 1 <= 44
    assert (np.diff(edges) > 0).all()
    assert np.allclose(np.diff(edges), bins.width, rtol=1e-3, atol=0)
    slack = 1e-6 * bins.width + 1e-9 * np.abs(edges).max()
    for column in columns:
        places = bins.places(column)
        assert (edges[places] - slack <= column).all()
        assert (column <= edges[places + 1] + slack).all()
        assert bins.counts(column).sum() == len(column)


@given(st.lists(st.sampled_from(range(11)), min_size=1))
def test_tenths_have_a_bin_each(steps: list[int]) -> None:
    """As the values of precision@10: each in the middle of its bin."""
    values = np.array([0, 10, 3, 4, *steps]) / 10
    bins = Bins.of(values)
    middles = (bins.edges[:-1] + bins.edges[1:]) / 2
    assert middles == pytest.approx(np.arange(11) / 10)
    counted = Counter([0, 10, 3, 4, *steps])
    assert bins.counts(values).tolist() == [counted[step] for step in range(11)]


def test_ends_are_round_and_belong_to_the_next_bin() -> None:
    """0.3 too, which is less than six times 0.05 in floats; zero is in the middle of its bin."""
    steps = [0, 3, 6, 7, 12, 14, 17, 19]
    values = np.array([*(step / 20 for step in steps), 0.011, 1.0])
    bins = Bins.of(values)
    assert bins.edges.tolist() == [round(0.05 * n, 2) for n in range(21)]
    assert bins.places(values).tolist() == [*steps, 0, 19]
    bins = Bins.of(np.random.default_rng(0).normal(size=100), around_zero=True)
    place = bins.places(np.zeros(1))[0]
    assert bins.edges[place] == -bins.edges[place + 1] < 0
