"""Overlap of two systems' lists, against its definition in plain Python."""

from __future__ import annotations

import tracemalloc
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests.errors import assert_rejected
from tests.profiles import examples

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")

Lists = dict[str, dict[str, float]]


def _in_order(estimates: dict[str, float], k: int | None) -> list[str]:
    """Return the first k items; equal estimates count in order of item id."""
    return sorted(estimates, key=lambda item: (-estimates[item], item))[:k]


def _rbo(first: list[str], second: list[str], p: float) -> float:
    """Return (1 - p) Σ p^(d-1) A_d, depth by depth, until further depths change nothing.

    Below the end of the shorter list, its agreement is extrapolated.
    """
    shorter, longer = sorted((first, second), key=len)
    if not shorter:
        return 0.0
    share = len({*shorter} & {*longer[: len(shorter)]}) / len(shorter)
    total, agreement = 0.0, 0.0
    for d in range(1, 2000):
        if d <= len(longer):
            unseen = max(d - len(shorter), 0)
            agreement = (len({*shorter[:d]} & {*longer[:d]}) + share * unseen) / d
        total += (1 - p) * p ** (d - 1) * agreement
    return total


estimates = st.dictionaries(
    st.sampled_from("abcdefgh"), st.sampled_from((0.0, 1.0, 2.5)), min_size=1, max_size=8
)
systems = st.dictionaries(st.sampled_from(("ann", "bob", "cid")), estimates, min_size=1)


def _rows(lists: Lists) -> list[tuple[str, str, float, float]]:
    return [(user, item, est, 0.0) for user, one in lists.items() for item, est in one.items()]


weights = st.sampled_from((0.1, 0.5, 0.9, 0.98))


@examples(1.5)
@given(a=systems, b=systems, p=weights, k=st.sampled_from((None, 1, 2, 5, 100)))
def test_overlaps_follow_the_definition(a: Lists, b: Lists, p: float, k: int | None) -> None:
    """With ties, short and unequal lists, and users with one list; other users change no bit."""
    rbo, jaccard = rn.rbo(_rows(a), _rows(b), p, k=k), rn.jaccard_at_k(_rows(a), _rows(b), k)
    assert [*rbo.index] == [*jaccard.index] == sorted({*a, *b})
    for user in rbo.index:
        first, second = (_in_order(one.get(user, {}), k) for one in (a, b))
        shared = len({*first} & {*second}) / len({*first} | {*second})
        assert jaccard[user] == pytest.approx(shared, abs=1e-15)
        assert rbo[user] == pytest.approx(_rbo(first, second, p), abs=1e-12)
        if first and second:
            mine, theirs = (_rows({user: one[user]}) for one in (a, b))
            assert rn.rbo(mine, theirs, p, k=k).tolist() == [rbo[user]]


def test_one_long_list_does_not_take_memory_for_every_user() -> None:
    """A table of all users and the longest list would have 400 million cells."""
    rows = 40_000
    draw, half = np.random.default_rng(0), rows // 2
    user = np.concatenate([np.zeros(half, int), np.arange(1, half + 1)])
    item = np.concatenate([np.arange(half), np.zeros(half, int)])
    table = {"user": user, "item": item, "true": item % 3}
    both = {name: {**table, "estimated": draw.random(rows)} for name in "ab"}
    compared = rn.compare(both, metrics=["rr"], threshold=1)
    tracemalloc.start()
    overlap = compared.overlap(None, per_user=True)["a", "b", "rbo"]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2_000 * rows
    assert 0 < overlap[0] < 0.1
    assert (overlap[1:] == 1.0).all()


def test_persistence_must_be_a_number_between_0_and_1() -> None:
    """Of any type."""
    a, b = ([("ann", "x", est, 1), ("ann", "y", 3 - est, 0)] for est in (2, 1))
    compared = rn.compare({"a": a, "b": b}, metrics=["rr"])
    wrong: list[Any] = [2.0, "x", True, None, 0]
    for p in wrong:
        assert_rejected("p must be between 0 and 1", compared.overlap, p=p)
    right: list[Any] = [Fraction(9, 10), np.float32(0.9)]
    for p in right:
        assert compared.overlap(p=p)["rbo"].tolist() == compared.overlap(p=0.9)["rbo"].tolist()


def test_ids_may_hold_a_lone_surrogate() -> None:
    """Arrow, in which pandas keeps ids, has no such text."""
    rows = [(user, item, 1.0, 1.0) for user in ("a", "b\ud800") for item in ("x", "y\udcff")]
    assert rn.jaccard_at_k(rows, rows, k=2).tolist() == rn.rbo(rows, rows).tolist() == [1.0, 1.0]
