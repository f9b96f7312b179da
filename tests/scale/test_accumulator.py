"""Batches of whole users add up to what `evaluate` says of all of them."""

from __future__ import annotations

import copy
import gc
import pickle
import tracemalloc
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.scale import accumulator
from recsys_ndcg.scale.accumulator import MOST, are_seen, with_smallest
from tests import strategies
from tests.errors import rejects
from tests.profiles import examples
from tests.scale.alike import check_alike
from tests.scale.cases import CASES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.scale.cases import Case
    from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
Rows = list[tuple[float, float | None]]
Settings = dict[str, Any]
NAMES = sorted(METRICS)

pairs = st.tuples(
    st.sampled_from(strategies.ESTIMATES), st.none() | st.sampled_from(strategies.GRADES)
)
batches_of = st.lists(st.lists(st.lists(pairs, min_size=1, max_size=4), min_size=1, max_size=3),
                      min_size=1, max_size=4)  # fmt: skip
# an ap_over whose denominator depends on the order has no expectation
chosen_of = strategies.choices.map(
    lambda one: replace(one, ap_over="capped") if one.ap_over in {"hits", "k"} else one
)


def frames(batches: Sequence[Sequence[Rows]]) -> list[pd.DataFrame]:
    """Return a table for each batch, the users numbered through, their rows mixed."""
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


def updated(scores: rn.Accumulator, table: pd.DataFrame) -> rn.Accumulator:
    """Give an accumulator a table."""
    return scores.update(table["user"], table["estimated"], table["true"], table["item"])


def accumulated(tables: Sequence[pd.DataFrame], **how: Any) -> rn.Accumulator:
    """Give an accumulator one table after the other."""
    scores = rn.Accumulator(**how)
    for table in tables:
        updated(scores, table)
    return scores


def said(tables: Sequence[pd.DataFrame], **how: Any) -> rn.Report | str:
    """Return the report of all rows together, or why there is none."""
    try:
        return rn.evaluate(pd.concat(tables), **how)
    except rn.InvalidInputError as error:
        return str(error)


def check_same(report: rn.Report, whole: rn.Report, *, per_user: bool) -> None:
    """Compare everything that a report tells; what has to see all at once may be unknown."""
    own, expected = report.summary, whole.summary
    if not per_user:
        assert own.pop("median").isna().all()
        expected = expected.drop(columns="median")
    close(own, expected)
    audit, told = report.audit, whole.audit
    top, known = audit.pop("unlabelled_top"), told.pop("unlabelled_top")
    close(audit, told)
    close(top.dropna(), known[top.notna()])
    assert report.counts == whole.counts
    assert {name: one.text for name, one in report.signatures.items()} == {
        name: one.text for name, one in whole.signatures.items()
    }
    close(report.intervals(0.9), whole.intervals(0.9))
    if per_user:
        assert report == whole
        pd.testing.assert_frame_equal(report.per_user, whole.per_user)


@pytest.mark.parametrize(
    ("batches", "kind"),
    [
        ([np.array([1, 2]), np.array([3.0, 4.0])], np.int64),
        ([np.array([2**60 + 1, 2]), np.array([3.0, 4.0])], np.int64),
        ([np.array([1, 2]), np.array([3, 4], dtype=np.uint64)], np.int64),
        ([np.array([1, 2]), np.array([3.0, 4.5])], object),
    ],
    ids=["floats", "long", "without a sign", "halves"],
)
def test_ids_of_several_kinds_become_one(batches: list[Any], kind: type) -> None:
    """Whole numbers are such whichever way they come, and none is rounded."""
    scores = rn.Accumulator("ndcg@2", per_user=True)
    for users in batches:
        scores.update(users, np.ones(2), np.arange(2.0))
    index = scores.report().per_user.index
    assert index.tolist() == sorted(one for users in batches for one in users.tolist())
    assert index.dtype == kind


def close(one: Any, other: Any) -> None:
    """Compare numbers up to the last digits of their sums."""
    assert [*one.index] == [*other.index]
    np.testing.assert_allclose(one.to_numpy(float), other.to_numpy(float), rtol=1e-12, atol=1e-12)


@examples(0.4)
@given(batches=batches_of, chosen=chosen_of, per_user=st.booleans(), data=st.data())
def test_batches_add_up_to_the_whole(
    batches: list[list[Rows]],
    chosen: Choices,
    per_user: bool,  # noqa: FBT001
    data: st.DataObject,
) -> None:
    """Under every option, in several accumulators, merged; what is refused is refused by both."""
    how: Settings = {
        "metrics": NAMES,
        "k": [1, 3],
        "threshold": chosen.threshold,
        "convention": strategies.to_convention(chosen),
    }
    tables = frames(batches)
    whole = said(tables, **how)
    several = data.draw(st.integers(1, 3))
    owner = [data.draw(st.integers(0, several - 1)) for _ in tables]
    made = [rn.Accumulator(**how, per_user=per_user) for _ in range(several)]
    try:
        for place, table in zip(owner, tables, strict=True):
            updated(made[place], table)
        first, *others = made
        for other in others:
            first.merge(other)
        report = first.report()
    except rn.InvalidInputError as error:
        assert whole == str(error), error  # noqa: PT017 - of which the other is the same
        return
    assert isinstance(whole, rn.Report)
    assert len(first) == whole.counts["users"]
    check_same(report, whole, per_user=per_user)


WHOLE = [one for one in CASES if isinstance(one.data, pd.DataFrame)]


@pytest.mark.parametrize("per_user", [True, False])
@pytest.mark.parametrize("case", WHOLE, ids=str)
def test_what_every_engine_measures_is_measured_of_batches(case: Case, per_user: bool) -> None:  # noqa: FBT001
    """The cases of predictions, about a fifth of the users at a time; labels apart have no form."""
    options = dict(case.options)
    frame = pd.DataFrame(case.data)
    frame = frame.rename(
        columns={theirs: ours for ours, theirs in options.pop("columns", {}).items()}
    )
    batch = pd.factorize(frame["user"])[0] % (case.parts or 5)
    tables = [some for _, some in frame.groupby(batch)]
    report = accumulated(tables, **options, per_user=per_user).report()
    expected = case.local()
    check_same(report, expected, per_user=per_user)
    if per_user:
        check_alike(report, report.per_user, expected)


@examples(0.4)
@given(
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    grades=st.sampled_from([(0.0, 1.0), (0.0, 2.0, 5.0), (1.0, None)]),
    metrics=st.sampled_from([None, "ndcg", "recall"]),
    data=st.data(),
)
def test_the_threshold_is_that_of_all_grades(
    sizes: list[int], grades: tuple[Any, ...], metrics: Any, data: st.DataObject
) -> None:
    """Without one, 0/1 means 1, as of the whole; or an update is refused, and says what to do."""
    row = st.tuples(st.sampled_from(strategies.ESTIMATES), st.sampled_from(grades))
    lists = st.lists(row, min_size=1, max_size=3)
    tables = frames([[data.draw(lists) for _ in range(size)] for size in sizes])
    whole = said(tables, metrics=metrics)
    try:
        report = accumulated(tables, metrics=metrics).report()
    except rn.InvalidInputError as error:
        contradicted = "so that 1 was relevant" in str(error)
        assert str(error) == whole or (contradicted and 5.0 in grades), error  # noqa: PT017
        return
    assert isinstance(whole, rn.Report)
    check_same(report, whole, per_user=False)


def test_grades_that_contradict_the_threshold_are_refused() -> None:
    """Once 1 was made use of; with what to do, and nothing is added."""
    scores = rn.Accumulator().update([1, 1], [2, 1], [0, 1])
    assert "threshold 1.0" in repr(scores)
    with rejects("so that 1 was relevant, but this batch has others such as 3.0"):
        scores.update([2, 2], [2, 1], [0, 3])
    with rejects("or name metrics that do not need it, such as metrics='ndcg@10'"):
        scores.update([2, 2], [2, 1], [0, 3])
    assert len(scores) == 1
    assert scores.update([2], [2], [1]).report().counts["users"] == 2
    assert rn.Accumulator("ndcg").update([1], [2], [1]).update([2], [1], [3]).report()
    with rejects("recall@10 needs to know which items are relevant"):
        rn.Accumulator("recall").update([1], [2], [3])


def test_graded_batches_leave_ndcg_alone_by_default() -> None:
    """As evaluate does; an accumulator that saw 0 and 1 alone cannot be merged then."""
    graded = rn.Accumulator().update([1, 1], [2, 1], [0, 3])
    assert graded.update([2, 2], [2, 1], [0, 1]).report().metrics == ["ndcg@10"]
    with rejects("No true value of the one was other than 0 or 1"):
        rn.Accumulator().update([3, 3], [2, 1], [0, 1]).merge(graded)


def state(scores: rn.Accumulator) -> list[Any]:
    """Return all that can be known of an accumulator."""
    report = scores.report()
    numbers = [report.summary, report.audit, report.intervals()]
    told = [repr(scores), report.counts, [one.text for one in report.signatures.values()]]
    return [*told, *(one.to_csv(float_format="%r") for one in numbers)]


ANN, BOB = ([7, 7], [2.0, 1.0], [5.0, np.nan]), ([8, 8], [2.0, 1.0], [2.0, np.nan])


def test_the_top_grade_is_that_of_all_batches_or_unknown() -> None:
    """What unlabelled items could score hangs on it: a later one that is higher leaves it open."""
    whole = rn.evaluate([(7, 1, 2, 5), (7, 2, 1, None), (8, 1, 2, 2), (8, 2, 1, None)])
    known = whole.audit["unlabelled_top"].to_numpy()

    def top(*batches: Any, **how: Any) -> Any:
        scores = rn.Accumulator("ndcg@10", **how)
        for one in batches:
            scores.update(*one)
        return scores.report().audit["unlabelled_top"].to_numpy()

    np.testing.assert_allclose(top(ANN, BOB), known, rtol=1e-12)
    assert np.isnan(top(BOB, ANN)).all()
    assert np.isnan(top(BOB, ANN, ([9], [1], [5]))).all()
    np.testing.assert_allclose(top(BOB, ANN, convention=rn.Convention(max_grade=5)), known)
    np.testing.assert_allclose(top(BOB, ANN, threshold=5), known)
    assert np.isnan(top(BOB, ANN, threshold=4)).all()
    nobody = ([9, 9], [2.0, 1.0], [np.nan, np.nan])
    assert np.isnan(top(nobody, ANN, threshold=5)).all()
    assert not np.isnan(top(ANN, nobody, threshold=5)).any()
    one, other = (rn.Accumulator("ndcg@10").update(*batch) for batch in (BOB, ANN))
    assert (one | other).report().audit["unlabelled_top"].isna().all()


def test_a_user_in_two_batches_is_refused() -> None:
    """Most likely it was cut in two: the error says what to do; the batch is not added."""
    scores = rn.Accumulator(["ndcg@2"]).update(["ann", "bob"], [2, 1], [5, 1])
    before = state(scores)
    with rejects("1 user came in an earlier batch, such as 'bob'. Give all rows"):
        scores.update(["bob", "cy"], [2, 1], [5, 1])
    assert state(scores) == before
    other = rn.Accumulator(["ndcg@2"]).update(["bob"], [2], [5])
    with rejects(r"1 user came in both accumulators.*repeated='count'"):
        scores.merge(other)
    assert state(scores) == before
    scores.merge(rn.Accumulator(["ndcg@2"]).update(["dee"], [2], [5]))
    for user in ("ann", "dee"):  # of both
        with rejects(f"in an earlier batch, such as '{user}'"):
            scores.update([user], [2], [5])
    with rejects("in an earlier batch"):
        rn.Accumulator(["ndcg@2"]).update([1], [2], [5]).update([1.0], [2], [5])


def test_or_counts_each_time() -> None:
    """As a user of its own, as asked."""
    scores = rn.Accumulator(["ndcg@2"], repeated="count")
    for _ in range(3):
        scores.update(["ann", "ann"], [2, 1], [1, 5])
    assert len(scores) == scores.report().counts["users"] == 3
    assert len(scores | copy.copy(scores)) == 6
    with rejects("give each time an id of its own"):
        rn.Accumulator(repeated="count", per_user=True)


BAD: dict[str, tuple[Any, ...]] = {
    "an infinite estimate": ([9], [np.inf], [1]),
    "text": ([9], ["a"], [1]),
    "lengths": ([9], [1, 2], [1]),
    "no rows": ([], [], []),
    "an item twice": ([9, 9], [1, 2], [1, 2], [4, 4]),
    "a user again": ([9, 1], [1, 2], [1, 2], [4, 4]),
    "no items": ([9], [2], [1]),
    "other ids": (["a"], [2], [1], [4]),
    "undefined": ([9], [2], [0], [4]),
    "a negative gain": ([9], [2], [-1], [4]),
}


@pytest.mark.parametrize("per_user", [False, True])
@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_what_is_refused_adds_nothing(bad: tuple[Any, ...], per_user: bool) -> None:  # noqa: FBT001
    """Not to the totals, not to the users who were seen."""
    how: Settings = {"convention": rn.Convention(undefined="raise"), "threshold": 1}
    scores = rn.Accumulator(["ndcg", "recall"], **how, per_user=per_user)
    scores.update([1, 1, 2], [1, 2, 3], [1, 2, 3], [4, 5, 4])
    before = state(scores)
    with pytest.raises(rn.InvalidInputError):
        scores.update(*bad)
    assert state(scores) == before
    report = scores.update([9], [2], [1], [4]).report()
    assert report.counts["users"] == 3


def test_the_first_batch_decides_nothing_if_it_is_refused() -> None:
    """Whether users are numbered, and from which grade on they are relevant."""
    scores = rn.Accumulator()
    with rejects("NaN in the cell"):
        scores.update(None, [[np.nan, 1.0]], [[0, 1]])
    assert scores.update([1, 1], [2, 1], [3, 1]).report().metrics == ["ndcg@10"]


def test_it_is_called_as_the_contract_says() -> None:
    """Metrics, k, threshold and convention by their places; an update gives the accumulator."""
    convention = rn.Convention(gain="linear")
    scores = rn.Accumulator(["ndcg", "rr"], [1, 2], 4, convention)
    assert scores.update([1, 1], [2.0, 1.0], [3, 5]) is scores
    assert "ndcg@1, ndcg@2, rr, threshold 4.0" in repr(scores)
    expected = rn.evaluate(
        [(1, 1, 2.0, 3), (1, 2, 1.0, 5)],
        metrics=["ndcg", "rr"],
        k=[1, 2],
        threshold=4,
        convention=convention,
    )
    assert dict(scores.report()) == dict(expected)
    preset = rn.Accumulator("ap@2", threshold=4, convention="torchmetrics")
    signature = preset.update([1, 1], [2.0, 1.0], [3, 5]).report().signature("ap@2")
    assert signature.fields["ap_over"] == "hits"


def test_a_report_is_a_value() -> None:
    """Later batches do not change it; reset begins anew."""
    for per_user in (False, True):
        scores = rn.Accumulator("ndcg@2", per_user=per_user).update([1, 1], [2, 1], [1, 3])
        first = scores.report()
        summary, audit = first.summary, first.audit
        scores.update([2, 2], [2, 1], [4, 1])
        pd.testing.assert_frame_equal(first.summary, summary)
        pd.testing.assert_frame_equal(first.audit, audit)
        assert first.counts["users"] == 1
        assert len(scores.reset()) == 0
        with rejects("There are no users yet"):
            scores.report()
        again = scores.update([1, 1], [2, 1], [1, 3]).report()
        pd.testing.assert_frame_equal(again.summary, summary)


def test_what_needs_every_user_says_how_to_have_them() -> None:
    """Of a report that sums them up."""
    report = rn.Accumulator("ndcg@2").update([1, 1, 2], [2, 1, 1], [1, 3, 4]).report()
    with rejects(r"sums up 2 users.*Ask for it: Accumulator\(\.\.\., per_user=True\)"):
        _ = report.per_user


def test_accumulators_are_copied_and_pickled() -> None:
    """A copy goes its own way; so does what `|` makes."""
    for per_user in (False, True):
        scores = rn.Accumulator("ndcg@2", per_user=per_user).update([1, 1], [2, 1], [1, 3])
        for one in (copy.copy(scores), copy.deepcopy(scores), pickle.loads(pickle.dumps(scores))):  # noqa: S301 - our own
            assert repr(one) == repr(scores)
            one.update([2], [1], [4])
            assert (len(one), len(scores)) == (2, 1)
            assert scores.report().counts["users"] == 1
            assert not per_user or scores.report().users.tolist() == [1]
        other = rn.Accumulator("ndcg@2", per_user=per_user).update([5], [1], [4])
        both = scores | other
        assert (len(both), len(scores), len(other)) == (2, 1, 1)
        empty = rn.Accumulator("ndcg@2", per_user=per_user)
        assert len((empty | both) | rn.Accumulator("ndcg@2", per_user=per_user)) == 2
        (empty | both).update([9], [1], [1])
        assert len(both) == 2
    with pytest.raises(TypeError):
        _ = scores | 3  # type: ignore[operator]


def shard(first: int) -> rn.Accumulator:
    """Measure some users, in whichever process."""
    draw = np.random.default_rng(first)
    users = np.repeat([f"u{first + number}" for number in range(50)], 10)
    scores = rn.Accumulator(threshold=4)
    return scores.update(users, draw.normal(size=500), draw.integers(1, 6, 500))


def test_accumulators_of_other_processes_are_merged() -> None:
    """With users who are seen by their ids in all of them."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        far = pool.submit(shard, 50).result(timeout=120)
    merged = shard(0).merge(far).report()
    here = shard(0).merge(shard(50)).report()
    pd.testing.assert_frame_equal(merged.summary, here.summary)
    with rejects("50 users came in both accumulators"):
        shard(50).merge(far)


OTHER: dict[str, tuple[Settings, str]] = {
    "metrics": ({"metrics": "rr"}, "metrics is ndcg@2 and rr"),
    "no metrics": ({"metrics": None}, "metrics is ndcg@2 and what is measured by default"),
    "k": ({"metrics": ["ndcg"], "k": 3}, "metrics is ndcg@2 and ndcg@3"),
    "threshold": ({"threshold": 4}, "threshold is None and 4.0"),
    "convention": (
        {"convention": rn.Convention(gain="linear", ties="input")},
        "gain is exponential and linear; ties is expected and input",
    ),
    "function": (
        {"convention": rn.Convention(gain=strategies.root)},
        "gain is exponential and callable",
    ),
    "per_user": ({"per_user": True}, "per_user is False and True"),
    "repeated": ({"repeated": "count"}, "repeated is 'raise' and 'count'"),
}


@pytest.mark.parametrize(("change", "told"), OTHER.values(), ids=OTHER.keys())
def test_other_settings_are_named(change: Settings, told: str) -> None:
    """Also of accumulators without users."""
    usual: Settings = {"metrics": "ndcg@2"}
    scores = rn.Accumulator(**usual)
    with rejects(f"cannot be merged: .*{told}", whole=False):
        scores.merge(rn.Accumulator(**usual | change))


def test_only_another_accumulator_can_be_merged() -> None:
    """Neither itself, nor a report."""
    scores = rn.Accumulator("ndcg@2")
    for other in (scores, 3):
        with rejects("Merge with another accumulator"):
            scores.merge(other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"repeated": "ignore"}, "repeated must be one of 'raise', 'count'"),
        ({"per_user": 1}, "per_user must be True or False, not 1"),
        ({"threshold": "4"}, "threshold must be a finite number"),
    ],
)
def test_settings_are_checked_at_once(how: Settings, told: str) -> None:
    """Before there is any data."""
    with rejects(told):
        rn.Accumulator(**how)


def test_a_report_warns_as_evaluate_does() -> None:
    """Of ties, and of a threshold that tells no item from another."""
    scores = rn.Accumulator("precision@1", threshold=6)
    scores.update([1, 1, 2], [2, 2, 1], [1, 5, 3])
    with pytest.warns(rn.DataWarning, match="above every true value"):
        scores.report()
    tied = rn.Accumulator("ndcg@2").update([1, 1], [2, 2], [1, 5])
    with pytest.warns(rn.DataWarning, match="Tied estimates .1 of 1 users. leave ndcg@2 open"):
        tied.report()


@pytest.mark.parametrize("per_user", [True, False])
@pytest.mark.parametrize("decimals", [0, 1])
def test_ties_and_reversed_lists_are_told_of_all_batches(*, per_user: bool, decimals: int) -> None:
    """Ties if they leave more open than the number of users does, as in memory."""
    draw = np.random.default_rng(0)
    true = draw.integers(1, 6, (60, 8))
    estimated = (draw.normal(0, 1, true.shape) - true).round(decimals)
    scores = rn.Accumulator("ndcg@5", per_user=per_user)
    for first in range(0, 60, 7):
        scores.update(None, estimated[first : first + 7], true[first : first + 7])
    with pytest.warns(rn.DataWarning) as found:
        scores.report()
    rows = (np.repeat(np.arange(60), 8), None, estimated.ravel(), true.ravel())
    with pytest.warns(rn.DataWarning) as expected:
        rn.evaluate(rn.RankedLists.from_arrays(*rows), metrics="ndcg@5")
    assert [str(one.message) for one in found] == [str(one.message) for one in expected]
    kinds = [str(one.message).partition(" ")[0] for one in found]
    assert kinds == (["ndcg@5"] if decimals else ["ndcg@5", "Tied"])


@pytest.mark.parametrize(
    ("how", "least", "most"),
    [
        ({}, -1, 1 << 16),
        ({"repeated": "count"}, -1, 1 << 15),
        ({"per_user": True}, 1 << 21, 1 << 26),
    ],
)
def test_memory_does_not_grow_with_the_users(
    how: Settings, least: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beyond the first few, unless the scores of each are asked for."""
    monkeypatch.setattr(accumulator, "MOST", 1 << 12)
    scores = rn.Accumulator(["ndcg@2", "rr"], threshold=4, **how)
    estimated, true = np.tile([2.0, 1.0, 3.0], 10_000), np.tile([1.0, 5.0, 3.0], 10_000)
    held = []
    tracemalloc.start()
    try:
        for batch in range(12):
            users = np.repeat(np.arange(10_000) + 10_000 * batch, 3)
            scores.update(users, estimated, true)
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    assert len(scores) == 120_000
    assert least < max(held[4:]) - held[3] < most  # of 80,000 users more


def test_batches_of_one_user_are_held_together() -> None:
    """A user who is kept takes some hundred bytes, however they came."""
    scores = rn.Accumulator(["ndcg@2", "rr"], threshold=4, per_user=True)
    tracemalloc.start()
    try:
        for user in range(400):
            scores.update([user] * 2, [2.0, 1.0], [4.0, user % 3])
            if user == 40:  # what is loaded late is loaded
                gc.collect()
                before = tracemalloc.get_traced_memory()[0]
        gc.collect()
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held < 360 * 1500
    assert scores.report().users.tolist() == list(range(400))


def test_few_users_are_all_remembered() -> None:
    """As many as it takes 1 MB to remember."""
    users = np.arange(MOST)
    scores = rn.Accumulator("ndcg@2").update(users, users, users % 5)
    for user in (0, 777, MOST - 1):
        with rejects("in an earlier batch"):
            scores.update([user], [1], [1])


hashes = st.lists(st.integers(0, 2**64 - 1), unique=True, max_size=60)


@given(parts=st.lists(hashes, min_size=1, max_size=8), most=st.sampled_from([4, 16, None]))
def test_some_of_many_are_remembered(parts: list[list[int]], most: int | None) -> None:
    """Never one that did not come; all of few; of many the smallest, in whichever order."""
    whole, halves = set[int](), [np.zeros(0, dtype=np.uint64)] * 2
    for place, part in enumerate(parts):
        new = np.array(sorted(set(part) - whole), dtype=np.uint64)
        whole |= set(part)
        halves[place % 2] = with_smallest(halves[place % 2], new, most)
    both = with_smallest(halves[0], halves[1], most)
    assert both.tolist() == sorted(whole)[:most]
    asked = np.array([*whole, 5, 2**63], dtype=np.uint64)
    kept = set(both.tolist())
    assert are_seen(both, asked).tolist() == [int(one) in kept for one in asked]
    assert not are_seen(halves[0], halves[1]).any()
