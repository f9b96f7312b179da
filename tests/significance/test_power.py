"""Sample size, detectable difference and power."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recsys_ndcg.significance import power, student
from recsys_ndcg.significance.student import find_root
from tests.errors import rejects
from tests.profiles import examples

ratios = st.sampled_from([0.02, 0.1, 0.3, 1.0, 3.0])
alphas = st.sampled_from([0.001, 0.05, 0.3])
wishes = st.sampled_from([0.3, 0.5, 0.8, 0.95])


def _textbook(ratio: float, users: int, alpha: float) -> float:
    """Return the power, from SciPy's noncentral t."""
    beyond, shift = stats.t.isf(alpha / 2, users - 1), ratio * users**0.5
    with np.errstate(all="ignore"):
        above = stats.nct.sf(beyond, users - 1, shift)
        return float(above + stats.nct.cdf(-beyond, users - 1, shift))


@given(ratios, st.integers(2, 2000), alphas, st.integers(1, 20))
@examples(1)
def test_power_is_scipys(ratio: float, users: int, alpha: float, pairs: int) -> None:
    """The chance that a noncentral t exceeds the critical value of as many pairs."""
    found = power(-2 * ratio, deviation=2.0, users=users, power=None, alpha=alpha, pairs=pairs)
    expected = _textbook(ratio, users, alpha / pairs)
    if not np.isnan(expected):  # SciPy's is, of few users and a large difference
        assert found == pytest.approx(expected, abs=2e-4)  # SciPy's F was less exact before 1.15


@given(ratios, wishes, alphas, st.integers(1, 20))
@examples(1)
def test_no_fewer_users_are_enough(ratio: float, wish: float, alpha: float, pairs: int) -> None:
    """By the power of so many, and of one fewer."""
    users = power(ratio, deviation=1.0, power=wish, alpha=alpha, pairs=pairs)
    assert isinstance(users, int)
    options = {"deviation": 1.0, "power": None, "alpha": alpha, "pairs": pairs}
    assert power(ratio, users=users, **options) >= wish  # type: ignore[arg-type]
    if users > 2:
        assert power(ratio, users=users - 1, **options) < wish  # type: ignore[arg-type]


@given(st.integers(2, 3000), wishes, alphas)
@examples(1)
def test_the_detectable_difference_has_the_power(users: int, wish: float, alpha: float) -> None:
    """If it is put back in."""
    difference = power(deviation=0.5, users=users, power=wish, alpha=alpha)
    again = power(difference, deviation=0.5, users=users, power=None, alpha=alpha)
    if difference:
        assert again == pytest.approx(wish, abs=1e-6)
    else:
        assert again >= wish


def test_textbook_numbers() -> None:
    """Half a standard deviation takes 34 pairs (Cohen 1988), whatever its sign."""
    assert power(0.5, deviation=1.0) == power(-0.5, deviation=1.0) == 34
    assert power(0.0001, deviation=0.1) == pytest.approx(7_848_863, rel=1e-5)
    assert power(0.5, deviation=0.0) == 2
    assert power(deviation=0.0, users=5) == 0
    assert power(0.5, deviation=0.0, users=5, power=None) == 1
    assert power(0.0, deviation=1.0, users=5, power=None) == pytest.approx(0.05)
    assert power(1.0, deviation=1.0, alpha=0.9) == 2


def test_the_normal_replaces_a_failing_t(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same three digits."""
    asked = [(2.8, 30, 2.04), (0.5, 200, 1.97), (4.0, 5000, 1.96)]
    exact = [student.compute_power(*one) for one in asked]
    monkeypatch.setattr("scipy.special.ncfdtr", lambda *_: float("nan"))
    assert [student.compute_power(*one) for one in asked] == pytest.approx(exact, abs=0.003)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "the third is computed. Here difference=None, users=None, power=0.8"),
        ({"difference": 0.1, "users": 9}, "Pass two of difference, users and power"),
        ({"difference": 0.0}, "difference must be a number other than 0, such as 0.005, not 0.0"),
        ({"difference": float("nan"), "users": 5, "power": None}, "difference must be a number,"),
        ({"difference": 0.1, "deviation": -1}, "deviation must be a number of at least 0, not -1"),
        ({"users": 1}, "users must be a whole number from 2 to 9007199254740992, not 1"),
        ({"difference": 0.1, "power": 80}, "power must be between 0 and 1, such as 0.8, not 80"),
        ({"difference": 0.1, "alpha": 0}, "alpha must be between 0 and 1"),
        ({"difference": 0.1, "pairs": 10**400}, "pairs must be a whole number from 1"),
        ({"difference": 1e-12}, "A difference of 1e-12 is too small for any number of users"),
    ],
)
def test_unsolvable_questions_raise(options: dict[str, Any], match: str) -> None:
    """With what to pass instead."""
    with rejects(match):
        power(**{"deviation": 1.0} | options)


@pytest.mark.parametrize("unit", [1e-300, 1e-200, 1.0, 1e200])
@pytest.mark.parametrize("power", [1, 3, 9])
def test_roots_are_found_in_any_unit(unit: float, power: int) -> None:
    """Also if products of two values are 0, and if the function is flat at its root."""
    root = find_root(lambda x: unit * (x - 0.3) ** power, 0.0, 2.0)
    assert root == pytest.approx(0.3, abs=1e-12 ** (1 / power))
