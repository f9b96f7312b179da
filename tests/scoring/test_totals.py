"""Totals merge in any order and grouping, and everything that is summed up comes from them."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.scoring import Plan, Scores, Totals
from recsys_ndcg.scoring.audit import Audit
from recsys_ndcg.scoring.scores import ORDERS
from recsys_ndcg.scoring.totals import LABELS, LEVELS, TIES
from tests.profiles import examples

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
NAMES = ["dcg@3", "ndcg@3", "recall@3", "cg", "ap"]


def _scores(grades: list[list[float]], threshold: float = 2) -> Scores:
    """Score lists in ranked order."""
    rows = [
        (user, place, -float(place), grade)
        for user, one in enumerate(grades)
        for place, grade in enumerate(one)
    ]
    lists = rn.RankedLists.from_tuples(rows)
    convention = rn.Convention(gain="linear")
    plan = Plan.of(NAMES, threshold=threshold, convention=convention)
    return plan.scores_of(lists)


grade = st.sampled_from([0.0, 0.5, 1.0, 3.0, 4.5, 1e30, 1e150, 1e290])
lists_of_grades = st.lists(st.lists(grade, min_size=1, max_size=4), min_size=2, max_size=8).filter(
    lambda lists: len({one for each in lists for one in each}) > 1
)


def _intervals(totals: Totals) -> Any:
    return rn.Report(Audit({}, totals=totals)).intervals().to_numpy()


def _same(one: Any, other: Any) -> None:
    np.testing.assert_allclose(one, other, rtol=1e-9, atol=0, equal_nan=True)


@examples(1.5)
@given(grades=lists_of_grades, data=st.data())
def test_parts_merge_to_the_whole_in_any_order_and_grouping(
    grades: list[list[float]], data: st.DataObject
) -> None:
    """With gains of 1 beside gains of 1e290: no overflow, and nothing cancelled away."""
    scores = _scores(grades)
    whole = Totals.of(scores)
    order = np.array(data.draw(st.permutations(range(len(grades)))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(grades) - 1), max_size=3)))
    pieces = [Totals.of(scores.take(part)) for part in np.split(order, cuts)]
    while len(pieces) > 1:
        first = pieces.pop(data.draw(st.integers(0, len(pieces) - 1)))
        second = pieces.pop(data.draw(st.integers(0, len(pieces) - 1)))
        pieces.append(first + second)
    (merged,) = pieces
    assert merged.n_scored.tolist() == whole.n_scored.tolist()
    assert merged.undefined.tolist() == whole.undefined.tolist()
    assert merged.counts == whole.counts
    _same(merged.mean, whole.mean)
    _same(merged.pooled, whole.pooled)
    ends, expected = _intervals(merged), _intervals(whole)
    assert (np.isnan(ends) == np.isnan(expected)).all()
    assert not np.isinf(ends).any()
    scale = np.maximum(np.abs(expected), np.abs(np.nan_to_num(whole.mean))[:, None])
    differs = np.abs(ends - expected) > 1e-9 * scale
    assert not differs.any()


def test_a_part_in_which_nobody_has_a_score_adds_nothing() -> None:
    """In either order: not to means, and not to their intervals."""
    scores = _scores([[1.0], [3.0, 0.5], [4.5, 3.0], [0.0, 3.0]])
    nobody = Totals.of(_scores([[0.0], [0.0, 0.0], [0.0, 0.5]]).take([0, 1]))
    whole = Totals.of(scores)
    place = NAMES.index("ndcg@3")
    assert nobody.n_scored[place] == 0
    for merged in (whole + nobody, nobody + whole):
        assert merged.mean[place] == whole.mean[place]
        assert merged.pooled[place] == whole.pooled[place]
        ends, expected = (_intervals(one)[place] for one in (merged, whole))
        _same(ends, expected)


def test_a_list_is_short_of_the_cutoffs_beyond_its_length() -> None:
    """And not of its own length."""
    lists = {"one": [(1, 2)], "two": [(2, 1), (1, 2)], "three": [(3, 1), (2, 2), (1, 3)]}
    report = rn.evaluate(lists, metrics="ndcg", k=[1, 2, 3])
    assert report.counts["short"] == 2
    assert Totals.of(report.scores).short_of.tolist() == [0, 1, 2]


def _exact_length(values: list[Fraction]) -> float:
    mean = sum(values, Fraction(0)) / len(values)
    most = max(abs(one - mean) for one in values) or Fraction(1)
    return math.sqrt(sum(((one - mean) / most) ** 2 for one in values)) * float(most)


@examples(1)
@given(grades=lists_of_grades)
def test_moments_are_those_of_exact_fractions(grades: list[list[float]]) -> None:
    """The length of the centred scores, and of what the pooled ratio leaves open."""
    scores = _scores(grades)
    totals = sum((Totals.of(scores.take([place])) for place in range(1, len(grades))),
                 start=Totals.of(scores.take([0])))  # fmt: skip
    for column in (0, 2):
        own = scores.per_user[:, column]
        exact = [Fraction(value) for value in own[~np.isnan(own)].tolist()]
        if exact:
            size = float(max(map(abs, exact)))
            length = pytest.approx(_exact_length(exact), rel=1e-9, abs=1e-13 * size)
            assert float(totals.scores.length[column]) == length
        kept = scores.defined[:, column]
        top = [Fraction(one) for one in scores.numerator[kept, column].tolist()]
        bottom = [Fraction(one) for one in scores.denominator[kept, column].tolist()]
        if sum(bottom):
            ratio = sum(top, Fraction(0)) / sum(bottom, Fraction(0))
            left = [n - ratio * d for n, d in zip(top, bottom, strict=True)]
            size = max(map(float, (*map(abs, top), *map(abs, bottom))))
            found = float(totals.parts.residual[column])
            assert found == pytest.approx(_exact_length(left), rel=1e-9, abs=1e-13 * size)


def test_a_nearly_perfect_ratio_keeps_its_small_variance() -> None:
    """A difference of sums of squares would be all rounding here."""
    rng = np.random.default_rng(0)
    bottom = rng.uniform(1e6, 2e6, (500, 1))
    noise = rng.normal(0, 1e-6, (500, 1))
    from recsys_ndcg.scoring.totals import Moments  # noqa: PLC0415 - the one test that needs it

    there = np.ones((500, 1), dtype=bool)
    parts = [Moments.of(bottom[i::5], bottom[i::5] + noise[i::5], there[i::5]) for i in range(5)]
    whole = parts[0] + (parts[1] + parts[2]) + (parts[3] + parts[4])
    exact = (
        [Fraction(float(n)) for n in (bottom + noise)[:, 0]],
        [Fraction(float(d)) for d in bottom[:, 0]],
    )
    ratio = sum(exact[0], Fraction(0)) / sum(exact[1], Fraction(0))
    left = [n - ratio * d for n, d in zip(*exact, strict=True)]
    assert float(whole.residual[0]) == pytest.approx(_exact_length(left), rel=1e-3)


def test_the_report_is_summed_up_from_totals() -> None:
    """Mean, pooled, interval and counts; only the median needs the users."""
    grades = [[5.0, 1.0], [2.0], [0.5, 0.5, 4.0], [1.0, 1.0]]
    rows = [
        (user, place, -float(place), true)
        for user, one in enumerate(grades)
        for place, true in enumerate(one)
    ]
    report = rn.evaluate(rows, metrics=NAMES, threshold=2)
    totals = report.audited.totals
    np.testing.assert_array_equal(report.mean, totals.mean)
    np.testing.assert_array_equal(report.pooled, totals.pooled)
    assert report.counts["ratings"] == totals.counts["ratings"] == 8
    assert not hasattr(totals, "median")
    assert report.summary.loc["ndcg@3", "median"] == report.per_user["ndcg@3"].median()
    assert "median" in str(Totals.__doc__)


def test_scores_are_cut_and_joined() -> None:
    """What is cut and joined again is what it was; a segment is its users' own scores."""
    scores = _scores([[5.0, 1.0], [2.0, 3.0], [0.5, 4.0], [1.0, 1.0]])
    parts = [scores.take(slice(0, 1)), scores.take([1, 2]), scores.take(np.arange(4) == 3)]
    again = Scores.concat(parts)
    np.testing.assert_array_equal(again.per_user, scores.per_user)
    assert again.users.tolist() == scores.users.tolist()
    assert again.counts.ratings.tolist() == [2, 2, 2, 2]
    _same(Totals.of(scores.take([1, 2])).mean, np.nanmean(scores.per_user[1:3], axis=0))


def test_a_segment_scores_what_its_rows_alone_do() -> None:
    """Cutting scores and cutting the data are the same."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "user": np.repeat(np.arange(30), 8),
            "item": np.tile(np.arange(8), 30),
            "estimated": rng.integers(0, 4, 240) / 3,
            "true": rng.integers(1, 11, 240) / 2,
        }
    )
    plan = Plan.of(NAMES, threshold=3)
    lists = rn.RankedLists.from_frame(frame)
    scores = plan.scores_of(lists)
    some = frame[frame["user"] % 3 == 0]
    own = rn.evaluate(some, metrics=NAMES, threshold=3)
    cut = scores.take(np.arange(30) % 3 == 0)
    np.testing.assert_array_equal(cut.per_user, own.per_user[own.metrics])
    assert Totals.of(cut).counts["tied"] == own.counts["tied"]


def _audit(users: range) -> Audit:
    rows = {user: [(user % 3, user % 5), (1, 3), (user % 2, 5)] for user in users}
    lists = rn.RankedLists.from_tuples(rows)
    return Audit.of(lists, Plan.of(["ndcg@2", "rr", "rmse"], threshold=4), highest=5.0)


def test_scores_come_back_from_their_columns_in_every_role() -> None:
    """Files hold columns, and know of no roles."""
    scores = _audit(range(7)).kept_scores
    again = Scores.from_columns(scores.measurements, scores.columns())
    assert again.same_as(scores)
    assert again.roles.keys() == scores.roles.keys() == {*ORDERS}
    for role, table in scores.roles.items():
        np.testing.assert_array_equal(again.roles[role], table)
    np.testing.assert_array_equal(again.z, scores.z)
    np.testing.assert_array_equal(again.truth, scores.truth)


def test_totals_of_parts_are_those_of_the_whole_in_every_role() -> None:
    """Chance and extreme orders, ties, labels: whoever sums up users keeps their means."""
    whole = _audit(range(9)).full_totals
    parts = [_audit(range(first, first + 3)).full_totals for first in (0, 3, 6)]
    merged = reduce(add, parts)
    assert merged.roles.keys() == whole.roles.keys() == {*LEVELS, *TIES, *LABELS, "moved"}
    for role in whole.roles:
        np.testing.assert_allclose(merged.mean_of(role), whole.mean_of(role), rtol=1e-14)
    np.testing.assert_allclose(merged.z, whole.z, rtol=1e-12)
    assert merged.trivial.tolist() == whole.trivial.tolist()
    assert np.isnan(Totals.of(_scores([[5.0, 1.0]])).mean_of("chance")).all()
