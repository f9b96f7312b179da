"""Overlap of two systems' lists, against its definition in plain Python."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.profiles import examples

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")

Lists = dict[str, dict[str, float]]

HALF = [
    (["x", "y"], ["x", "z"], 3 / 4),  # agreement 1, then 1/2 for ever
    (["x"], ["y", "x"], 1 / 4),  # 0, then 1/2
    (["x", "y"], ["x", "z", "y"], 5 / 6),  # 1, 1/2, then (2 + 1/2) / 3
    (["x"], ["y", "z"], 0.0),
]


@pytest.mark.parametrize(("first", "second", "expected"), HALF)
def test_hand_worked_overlaps(first: list[str], second: list[str], expected: float) -> None:
    """With p = 1/2, each depth counts half as much as the one before; both ways round."""
    a, b = {"ann": first}, {"ann": second}
    assert rn.rbo(a, b, 0.5).tolist() == pytest.approx([expected], abs=1e-15)
    assert rn.rbo(b, a, 0.5).tolist() == pytest.approx([expected], abs=1e-15)


def _in_order(estimates: dict[str, float], k: int | None) -> list[str]:
    """Return the first k items; equal estimates count in order of item id."""
    return sorted(estimates, key=lambda item: (-estimates[item], item))[:k]


def _overlap(first: list[str], second: list[str], p: float) -> float:
    """Return (1 - p) Σ p^(d-1) A_d, depth by depth, to where no further depth is felt.

    Below the end of the shorter list, its agreement is taken to go on.
    """
    shorter, longer = sorted((first, second), key=len)
    if not shorter:
        return 0.0
    going_on = len({*shorter} & {*longer[: len(shorter)]}) / len(shorter)
    total, agreement = 0.0, 0.0
    for d in range(1, 2000):
        if d <= len(longer):
            unseen = max(d - len(shorter), 0)
            agreement = (len({*shorter[:d]} & {*longer[:d]}) + going_on * unseen) / d
        total += (1 - p) * p ** (d - 1) * agreement
    return total


estimates = st.dictionaries(
    st.sampled_from("abcdefgh"), st.sampled_from((0.0, 1.0, 2.5)), min_size=1, max_size=8
)
systems = st.dictionaries(st.sampled_from(("ann", "bob", "cid")), estimates, min_size=1)


def _rows(lists: Lists) -> list[tuple[str, str, float, float]]:
    return [(user, item, est, 0.0) for user, one in lists.items() for item, est in one.items()]


@examples(1.5)
@given(
    a=systems,
    b=systems,
    p=st.sampled_from((0.1, 0.5, 0.9, 0.98)),
    k=st.sampled_from((None, 1, 2, 5, 100)),
)
def test_overlaps_are_those_of_the_definition(a: Lists, b: Lists, p: float, k: int | None) -> None:
    """With ties, short and unequal lists, and users with one list; other users change no bit."""
    rbo, jaccard = rn.rbo(_rows(a), _rows(b), p, k=k), rn.jaccard_at_k(_rows(a), _rows(b), k)
    assert [*rbo.index] == [*jaccard.index] == sorted({*a, *b})
    for user in rbo.index:
        first, second = (_in_order(one.get(user, {}), k) for one in (a, b))
        shared = len({*first} & {*second}) / len({*first} | {*second})
        assert jaccard[user] == pytest.approx(shared, abs=1e-15)
        assert rbo[user] == pytest.approx(_overlap(first, second, p), abs=1e-12)
        if first and second:
            mine, theirs = (_rows({user: one[user]}) for one in (a, b))
            assert rn.rbo(mine, theirs, p, k=k).tolist() == [rbo[user]]


def _one_long_list(rows: int) -> list[dict[str, Any]]:
    """Return two systems' lists: one user with half of the rows, all others with one each."""
    draw, half = np.random.default_rng(0), rows // 2
    user = np.concatenate([np.zeros(half, int), np.arange(1, half + 1)])
    item = np.concatenate([np.arange(half), np.zeros(half, int)])
    shared = {"user": user, "item": item, "true": item % 3}
    return [shared | {"estimated": draw.random(rows)} for _ in range(2)]


def _of_two(a: Any, b: Any) -> Callable[[], Any]:
    return lambda: rn.rbo(a, b)


def _of_a_comparison(a: Any, b: Any) -> Callable[[], Any]:
    found = rn.compare({"a": a, "b": b}, metrics=["rr"], threshold=1)
    return lambda: found.overlap(None, per_user=True)["a", "b", "rbo"]


@pytest.mark.parametrize("door", [_of_two, _of_a_comparison])
def test_one_long_list_does_not_make_all_others_long(door: Callable[..., Any]) -> None:
    """A table of all users and the longest list would have 400 million cells."""
    rows = 40_000
    work = door(*_one_long_list(rows))
    tracemalloc.start()
    try:
        found, (_, peak) = work(), tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2_000 * rows
    assert 0 < found[0] < 0.1
    assert (found[1:] == 1.0).all()


def test_a_persistence_is_checked_and_read_alike_at_every_door() -> None:
    """The comparison took 2.0, and any text failed in NumPy."""
    rows = {"a": [("ann", "x", 2, 1), ("ann", "y", 1, 0)]}
    rows["b"] = [("ann", "x", 1, 1), ("ann", "y", 2, 0)]
    found = rn.compare(rows, metrics=["rr"])
    bad: list[Any] = [2.0, "x", True, None, 0]
    for p in bad:
        with pytest.raises(rn.InvalidInputError, match="p must be between 0 and 1"):
            found.overlap(p=p)
    good: list[Any] = [Fraction(9, 10), np.float32(0.9)]
    for p in good:
        assert found.overlap(p=p).loc[("a", "b"), "rbo"] == found.overlap(p=0.9)["rbo"].iloc[0]
