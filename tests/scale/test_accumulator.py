"""Batches of whole users give the report that `evaluate` gives of all of them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.scale import accumulator
from recsys_ndcg.scale.accumulator import MAX_REMEMBERED, find_seen, merge_smallest
from tests import strategies
from tests.accuracy import METRICS
from tests.drawn_reports import chosen_of
from tests.errors import assert_rejected, rejects
from tests.profiles import examples
from tests.scale.alike import check_alike
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
Rows = list[tuple[float, float | None]]
Settings = dict[str, Any]

grades = st.none() | st.sampled_from(strategies.GRADES)
pairs = st.tuples(st.sampled_from(strategies.ESTIMATES), grades)
users_of = st.lists(pairs, min_size=1, max_size=4)
batches_of = st.lists(st.lists(users_of, min_size=1, max_size=3), min_size=1, max_size=4)
modes = st.sampled_from([sorted(METRICS), None, "recall"])


def tables_of(batches: Sequence[Sequence[Rows]]) -> list[pd.DataFrame]:
    """Return a table for each batch: users numbered downwards, their rows mixed."""
    tables, number = [], 100
    for batch in batches:
        rows = []
        for one in batch:
            number -= 1  # the report has them in ascending order
            rows += [(number, (7 * place) % 11, *pair) for place, pair in enumerate(one)]
        rows.sort(key=lambda row: row[1])
        table = pd.DataFrame(rows, columns=["user", "item", "estimated", "true"])
        tables.append(table.astype({"true": float}))
    return tables


@examples(0.8)
@given(batches_of, chosen_of, modes, st.tuples(st.booleans(), st.booleans()), st.data())
def test_batches_add_up_to_the_whole(
    batches: list[list[Rows]], chosen: Choices, metrics: Any, flags: Any, data: st.DataObject
) -> None:
    """Under every option, in one to three accumulators that are merged; errors are the same.

    Without a threshold it is 1 if all grades are 0 or 1; a batch that contradicts this raises.
    """
    has_threshold, per_user = flags
    options: Settings = {"metrics": metrics, "k": [1, 3]}
    options["threshold"] = chosen.threshold if has_threshold else None
    options["convention"] = strategies.to_convention(chosen)
    tables = tables_of(batches)
    whole: rn.Report | str
    try:
        whole = rn.evaluate(pd.concat(tables), **options)
    except rn.InvalidInputError as error:
        whole = str(error)
    several = data.draw(st.integers(1, 3))
    owner = [data.draw(st.integers(0, several - 1)) for _ in tables]
    first, *others = (rn.Accumulator(**options, per_user=per_user) for _ in range(several))
    try:
        for place, table in zip(owner, tables, strict=True):
            owned = [first, *others][place]
            owned.update(table["user"], table["estimated"], table["true"], table["item"])
        for other in others:
            first.merge(other)
        report = first.report()
    except rn.InvalidInputError as error:
        strange = set(pd.concat(tables)["true"].dropna()) - {0, 1}
        contradicted = not has_threshold and strange and "1 counted as relevant" in str(error)
        # batches suggest a threshold of their own scale
        mine, theirs = (str(text).partition("pass threshold=")[0] for text in (whole, error))
        assert contradicted or mine == theirs, error  # noqa: PT017 - compared with the other
        return
    assert isinstance(whole, rn.Report)
    assert len(first) == whole.counts["users"]
    check_alike(report, None, whole)
    top, known = (one.audit["unlabelled_top"].to_numpy() for one in (report, whole))
    np.testing.assert_allclose(top[~np.isnan(top)], known[~np.isnan(top)], rtol=1e-12)
    if per_user:
        assert report == whole
        pd.testing.assert_frame_equal(report.per_user, whole.per_user)
        np.testing.assert_array_equal(report.summary["median"], whole.summary["median"])


def test_ids_of_several_types_become_one() -> None:
    """Floats that are whole numbers are the same ids, and none is rounded."""
    cases: list[tuple[Any, Any, type]] = [
        (np.array([2**60 + 1, 2]), np.array([3.0, 4.0]), np.int64),
        (np.array([1, 2]), np.array([3, 4], dtype=np.uint64), np.int64),
        (np.array([1, 2]), np.array([3.0, 4.5]), object),
    ]
    for one, other, kind in cases:
        scores = rn.Accumulator("ndcg@2", per_user=True)
        scores.update(one, [1, 1], [0, 1]).update(other, [1, 1], [0, 1])
        index = scores.report().per_user.index
        assert index.tolist() == sorted([*one.tolist(), *other.tolist()])
        assert index.dtype == kind


def test_grades_that_contradict_the_threshold_raise() -> None:
    """Once 1 was relevant by default; the message has the fix, and nothing is added."""
    scores = rn.Accumulator().update([1, 1], [2, 1], [0, 1])
    assert "threshold 1.0" in repr(scores)
    with rejects("so 1 counted as relevant, but this batch has others.*3.0.*metrics='ndcg@1"):
        scores.update([2, 2], [2, 1], [0, 3])
    for grades, such in (([1, 3], "3.0"), ([2, 3], "2.0")):
        with rejects(f"this batch has others such as {such}"):
            scores.update([2, 2], [2, 1], grades)
    assert len(scores) == 1
    assert scores.update([2], [2], [1]).report().counts["users"] == 2
    graded = rn.Accumulator().update([1, 1], [2, 1], [0, 3])
    assert graded.update([2, 2], [2, 1], [0, 1]).report().metrics == ["ndcg@10"]
    with rejects("All true values of the one accumulator were 0 or 1"):
        rn.Accumulator().update([3, 3], [2, 1], [0, 1]).merge(graded)
    with rejects("recall@10 needs to know which items are relevant"):
        rn.Accumulator("recall").update([1], [2], [3])


ANN, BOB = ([7, 7], [2.0, 1.0], [5.0, np.nan]), ([8, 8], [2.0, 1.0], [2.0, np.nan])


def test_the_top_grade_is_that_of_all_batches_or_unknown() -> None:
    """A later batch with a higher grade leaves the bound of unlabelled items unknown."""
    whole = rn.evaluate([(7, 1, 2, 5), (7, 2, 1, None), (8, 1, 2, 2), (8, 2, 1, None)])
    known = whole.audit["unlabelled_top"].to_numpy()

    def top(*batches: Any, **options: Any) -> Any:
        scores = rn.Accumulator("ndcg@10", **options)
        for one in batches:
            scores.update(*one)
        return scores.report().audit["unlabelled_top"].to_numpy()

    highest = rn.Convention(max_grade=5)
    for found in (top(ANN, BOB), top(BOB, ANN, convention=highest), top(BOB, ANN, threshold=5)):
        np.testing.assert_allclose(found, known, rtol=1e-12)
    assert np.isnan([*top(BOB, ANN), *top(BOB, ANN, threshold=4)]).all()


def state(scores: rn.Accumulator) -> list[str]:
    """Return all that can be known of an accumulator."""
    report = scores.report()
    texts = [repr(scores), str(report.counts), str(report.signatures)]
    numbers = [report.summary, report.audit, report.intervals()]
    return [*texts, *(one.to_csv(float_format="%r") for one in numbers)]


def test_a_user_in_two_batches_raises() -> None:
    """Most likely its rows were split; the batch is not added."""
    scores = rn.Accumulator(["ndcg@2"]).update(["ann", "bob"], [2, 1], [5, 1])
    before = state(scores)
    with rejects("1 user came in an earlier batch, such as 'bob'. Give all rows"):
        scores.update(["bob", "cy"], [2, 1], [5, 1])
    other = rn.Accumulator(["ndcg@2"]).update(["bob"], [2], [5])
    assert_rejected(r"1 user came in both accumulators.*repeated='count'", scores.merge, other)
    assert state(scores) == before
    scores.merge(rn.Accumulator(["ndcg@2"]).update(["dee"], [2], [5]))
    for user in ("ann", "dee"):  # of both
        assert_rejected(f"in an earlier batch, such as '{user}'", scores.update, [user], [2], [5])
    users = np.arange(MAX_REMEMBERED)  # all of so many are remembered
    scores = rn.Accumulator("ndcg@2").update(users, users, users % 5)
    for number in (0, 777.0, MAX_REMEMBERED - 1):
        assert_rejected("in an earlier batch", scores.update, [number], [1], [1])


def test_repeated_users_may_count_each_time() -> None:
    """As users of their own, if `repeated` is "count"."""
    scores = rn.Accumulator(["ndcg@2"], repeated="count")
    for _ in range(3):
        scores.update(["ann", "ann"], [2, 1], [1, 5])
    assert len(scores) == scores.report().counts["users"] == 3
    assert len(scores | copy.copy(scores)) == 6
    with rejects("give each time an id of its own"):
        rn.Accumulator(repeated="count", per_user=True)


BAD: dict[str, tuple[Any, ...]] = {
    "an infinite estimate": ([9], [np.inf], [1]),
    "an item twice": ([9, 9], [1, 2], [1, 2], [4, 4]),
    "a user again": ([9, 1], [1, 2], [1, 2], [4, 4]),
    "other ids": (["a"], [2], [1], [4]),
    "undefined": ([9], [2], [0], [4]),
}


@pytest.mark.parametrize("per_user", [False, True])
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_batch_that_raises_adds_nothing(bad: tuple[Any, ...], per_user: bool) -> None:  # noqa: FBT001
    """Neither to the totals nor to the users who were seen."""
    how: Settings = {"convention": rn.Convention(undefined="raise"), "threshold": 1}
    scores = rn.Accumulator(["ndcg", "recall"], **how, per_user=per_user)
    scores.update([1, 1, 2], [1, 2, 3], [1, 2, 3], [4, 5, 4])
    before = state(scores)
    with pytest.raises(rn.InvalidInputError):
        scores.update(*bad)
    assert state(scores) == before
    assert scores.update([9], [2], [1], [4]).report().counts["users"] == 3
    with pytest.raises(rn.InvalidInputError):
        scores.reset().update(None, [[np.nan, 1.0]], [[0, 1]])
    scores.update([9], [2], [1], [4])  # the users of the batch before were numbered


def test_arguments_come_in_the_order_of_evaluate() -> None:
    """Metrics, k, threshold and convention; a preset is a convention."""
    scores = rn.Accumulator(["ndcg", "ap"], [1, 2], 4, "torchmetrics")
    assert scores.update([1, 1], [2.0, 1.0], [3, 5]) is scores
    assert "ndcg@1, ndcg@2, ap@1, ap@2, threshold 4.0" in repr(scores)
    assert scores.report().signature("ap@2").fields["ap_over"] == "hits"


@pytest.mark.parametrize("per_user", [False, True])
def test_reports_and_copies_do_not_change(per_user: bool) -> None:  # noqa: FBT001
    """When their accumulator gets more users, is merged or is reset."""
    scores = rn.Accumulator("ndcg@2", per_user=per_user).update([1, 1], [2, 1], [1, 3])
    first, before = scores.report(), state(scores)
    for one in (copy.copy(scores), copy.deepcopy(scores), pickle.loads(pickle.dumps(scores))):  # noqa: S301 - our own
        assert state(one) == before
        one.update([2], [1], [4])
        assert (len(one), len(scores)) == (2, 1)
    summary = first.summary
    other = rn.Accumulator("ndcg@2", per_user=per_user).update([5], [1], [4])
    both = scores | other
    assert (len(both), len(scores), len(other)) == (2, 1, 1)
    empty = rn.Accumulator("ndcg@2", per_user=per_user)
    assert len((empty | both) | empty) == 2
    (empty | both).update([9], [1], [1])
    assert len(both) == 2
    assert state(scores) == before
    scores.update([2, 2], [2, 1], [4, 1])
    pd.testing.assert_frame_equal(first.summary, summary)
    assert len(scores.reset()) == 0
    assert_rejected("There are no users yet", scores.report)
    assert state(scores.update([1, 1], [2, 1], [1, 3])) == before
    with pytest.raises(TypeError):
        _ = scores | 3  # type: ignore[operator]


def test_a_report_without_users_says_how_to_keep_them() -> None:
    """The message names the argument."""
    report = rn.Accumulator("ndcg@2").update([1, 1, 2], [2, 1, 1], [1, 3, 4]).report()
    fix = r"To keep them: Accumulator\(\.\.\., per_user=True\)"
    assert_rejected(f"has only the totals of 2 users.*{fix}", lambda: report.per_user)


def shard(first: int) -> rn.Accumulator:
    """Measure fifty users."""
    draw = np.random.default_rng(first)
    users = np.repeat([f"u{first + number}" for number in range(50)], 10)
    scores = rn.Accumulator(threshold=4)
    return scores.update(users, draw.normal(size=500), draw.integers(1, 6, 500))


@pytest.mark.slow
def test_accumulators_of_other_processes_are_merged() -> None:
    """A user in two processes is recognised."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        far = pool.submit(shard, 50).result(timeout=120)
    assert state(shard(0).merge(far)) == state(shard(0).merge(shard(50)))
    assert_rejected("50 users came in both accumulators", shard(50).merge, far)


LINEAR, ROOT = rn.Convention(gain="linear", ties="input"), rn.Convention(gain=strategies.root)
OTHER: dict[str, Settings] = {
    "metrics is ndcg@2 and the default": {"metrics": None},
    "threshold is None and 4.0": {"threshold": 4},
    "gain is exponential and linear; ties is expected and input": {"convention": LINEAR},
    "gain is exponential and callable": {"convention": ROOT},
    "repeated is 'raise' and 'count'": {"repeated": "count"},
}


@pytest.mark.parametrize("message", OTHER)
def test_accumulators_with_other_settings_are_not_merged(message: str) -> None:
    """Also if they have no users; the settings that differ are named."""
    usual: Settings = {"metrics": "ndcg@2"}
    one, other = (rn.Accumulator(**usual | some) for some in ({}, OTHER[message]))
    assert_rejected(f"cannot be merged: .*{message}", one.merge, other, whole=False)


def test_wrong_settings_raise_at_once() -> None:
    """Before there is any data; an accumulator is not merged with itself."""
    scores = rn.Accumulator("ndcg@2")
    for other in (scores, 3):
        assert_rejected("Merge with another accumulator", scores.merge, other)
    assert_rejected("repeated must be one of 'raise', 'count'", rn.Accumulator, repeated="ignore")
    assert_rejected("per_user must be True or False, not 1", rn.Accumulator, per_user=1)
    assert_rejected("threshold must be a finite number", rn.Accumulator, threshold="4")


@pytest.mark.parametrize("per_user", [True, False])
@pytest.mark.parametrize(("decimals", "tied"), [(0, True), (1, False)])
def test_warnings_are_those_of_evaluate(*, per_user: bool, decimals: int, tied: bool) -> None:
    """Of ties that leave the score open, of reversed lists, of a threshold above every grade."""
    draw = np.random.default_rng(0)
    true = draw.integers(1, 6, (60, 8))
    estimated = (draw.normal(0, 1, true.shape) - true).round(decimals)
    options: Settings = {"metrics": ["ndcg@5", "precision@5"], "threshold": 6}
    scores = rn.Accumulator(**options, per_user=per_user)
    for first in range(0, 60, 7):
        scores.update(None, estimated[first : first + 7], true[first : first + 7])
    with pytest.warns(rn.DataWarning) as found:
        scores.report()
    rows = (np.repeat(np.arange(60), 8), None, estimated.ravel(), true.ravel())
    with pytest.warns(rn.DataWarning) as expected:
        rn.evaluate(rn.RankedLists.from_arrays(*rows), **options)
    messages = [str(one.message) for one in found]
    assert messages == [str(one.message) for one in expected]
    assert len(messages) == 2 + tied
    assert any("Ties" in one for one in messages) == tied


@pytest.mark.slow
def test_memory_does_not_grow_with_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the hashes of the first few; with the scores of each, by some hundred bytes a user."""
    monkeypatch.setattr(accumulator, "MAX_REMEMBERED", 16)
    modes: list[Settings] = [{}, {"repeated": "count"}, {"per_user": True}]
    for how, most in zip(modes, (100, 100, 100 * 400), strict=True):
        scores = rn.Accumulator(["ndcg@2", "rr"], threshold=4, **how)
        sizes = []
        for user in range(120):
            scores.update([user] * 2, [2.0, 1.0], [4.0, user % 3])
            sizes.append(len(pickle.dumps(scores)))
        assert sizes[119] - sizes[19] < most
        assert len(scores) == 120


hashes = st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=60)


@given(parts=st.lists(hashes, min_size=1, max_size=8), most=st.sampled_from([4, 16, None]))
def test_the_smallest_hashes_are_remembered(parts: list[list[int]], most: int | None) -> None:
    """All if they are few; the same in whichever order they come, and none that did not come."""
    whole, halves = set[int](), [np.zeros(0, dtype=np.uint64)] * 2
    for place, part in enumerate(parts):
        new = np.array(sorted(set(part) - whole), dtype=np.uint64)
        whole |= set(part)
        halves[place % 2] = merge_smallest(halves[place % 2], new, most)
    both = merge_smallest(halves[0], halves[1], most)
    assert both.tolist() == sorted(whole)[:most]
    queries = np.array([*whole, 5, 2**63], dtype=np.uint64)
    kept = set(both.tolist())
    assert find_seen(both, queries).tolist() == [int(one) in kept for one in queries]
    assert not find_seen(halves[0], halves[1]).any()
