"""Gains and discounts by a user's function, and the advice of messages about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import PRESETS, compute_weights, parse_metric_name, resolve_alias
from recsys_ndcg.convention.gains import compute_gains, find_faulty_grades
from tests.errors import assert_rejected


def _record_sizes(sizes: list[int]) -> Callable[[Floats], Any]:
    return lambda values: [sizes.append(len(values)), values < 3][1]  # type: ignore[func-returns-value]


@pytest.mark.parametrize(("depth", "parts"), [(1, []), (2, [1]), (7, [1, 3, 6]), (8, [1, 4, 7])])
def test_weights_are_computed_again_for_fewer_ranks(depth: int, parts: list[int]) -> None:
    """For one rank, half of them, and all but one; weights may end in zeros."""
    sizes: list[int] = []
    assert compute_weights(_record_sizes(sizes), depth, "it").tolist()[2:] == [0] * (depth - 2)
    assert (sizes[0], sorted(sizes[1:])) == (depth, parts)


@pytest.mark.parametrize(("n", "singles"), [(1, 1), (5, 5), (39, 39), (45, 23)])
def test_gains_are_computed_again_for_single_grades(n: int, singles: int) -> None:
    """All twice in an array, and about twenty alone; then once more for the gains."""
    sizes: list[int] = []
    assert find_faulty_grades(np.arange(1.0, n + 1), _record_sizes(sizes), None, None) is None
    assert sizes == [n, 2 * n, *[1] * singles, n]


@pytest.mark.parametrize("unit", [1.0, 1e-12])
def test_a_gain_may_depend_on_the_other_grades_in_the_last_digits_only(unit: float) -> None:
    """A vectorised function may differ by 1e-12 of the gain, however small the gain is."""
    grades = np.array([1.0, 2.0])
    for error in (1e-14, 1e-9):
        found = grades, lambda t, e=error: t * unit * (1 + e * (len(t) > 1)), None, None
        if error < 1e-12:
            assert find_faulty_grades(*found) is None
        else:
            assert_rejected("independent", find_faulty_grades, *found)


def test_gains_of_whole_grades_are_exact() -> None:
    """`expm1`, which small grades need, would be off in the last digit."""
    gains = [2.0**t - 1 for t in range(40)]
    assert compute_gains(np.arange(40.0), "exponential", None).tolist() == gains


SHIFT = "shift the grades so that the lowest is 0, or map each grade to a gain"
COLUMN = "if they are times or item ids, give the ratings instead"
LARGE, SCALE = "a gain too large to be added up", "rescale the grades"
LINEAR = ", or pass `convention=Convention(gain='linear')`"


@pytest.mark.parametrize(
    ("grade", "rule", "problem", "advice"),
    [
        (-1.0, "linear", "a negative gain, so that NDCG has no bounds", SHIFT),
        (1e300, "linear", LARGE, f"{SCALE}; {COLUMN}"),
        (1e4, "exponential", LARGE, f"{SCALE}{LINEAR}; {COLUMN}"),
        (6.0, "linear", "more gain than `max_grade=5.5`", "pass the real top of the scale"),
    ],
)
def test_a_grade_without_a_usable_gain_comes_with_advice(
    grade: float, rule: Any, problem: str, advice: str
) -> None:
    """The grade, the problem, and what to do."""
    found = find_faulty_grades(np.array([3.0, grade]), rule, None, 5.5 if grade == 6 else None)
    assert found is not None
    assert (found[0].tolist(), *found[1:]) == ([grade], problem, advice)


def test_names_and_explanations_have_only_what_applies() -> None:
    """Names that are no metrics stay, as do options; rounding needs a tie tolerance."""
    assert parse_metric_name("Mine(p=2)@5") == "mine"
    assert [resolve_alias(f"{one}(p=2)@5") for one in ("Mine", "MAP")] == [
        "Mine(p=2)@5",
        "ap(p=2)@5",
    ]
    explained = [
        rn.Convention(recommend_from=3, tie_tolerance=step).explain() for step in (0.0, 0.5)
    ]
    assert ["after rounding" in text for text in explained] == [False, True]
    assert PRESETS["sklearn"].format_note("ndcg") == ""
    assert len(rn.Convention.digest_defaults()) == 8
