"""Totals merge in any order and grouping; scores are cut, joined, saved and loaded."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import reduce
from itertools import chain
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.lists import to_lists
from recsys_ndcg.report import ReportData
from recsys_ndcg.scoring import Audit, Plan, Scores, Totals
from recsys_ndcg.scoring.scores import ORDER_ROLES, ORDER_TABLES
from recsys_ndcg.scoring.totals import LABEL_ROLES, TIE_ROLES
from recsys_ndcg.significance import Moments
from tests.profiles import examples

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
NAMES = ["dcg@3", "ndcg@3", "recall@3", "cg", "ap"]
grade = st.sampled_from([0.0, 0.5, 1.0, 3.0, 4.5, 1e30, 1e150, 1e290])
lists_of_grades = st.lists(st.lists(grade, min_size=1, max_size=4), min_size=2, max_size=8)
lists_of_grades = lists_of_grades.filter(lambda lists: len({*chain(*lists)}) > 1)


def _score(grades: list[list[float]]) -> Scores:
    """Score lists of grades in ranked order."""
    plan = Plan.of(NAMES, threshold=2, convention=rn.Convention(gain="linear"))
    return plan.resolve_and_measure(to_lists(dict(enumerate(grades))))


def _intervals(totals: Totals) -> Any:
    return rn.Report(ReportData(Audit({}, totals=totals))).intervals().to_numpy()


@examples(1.5)
@given(grades=lists_of_grades, data=st.data())
def test_totals_merge_in_any_order_and_grouping(grades: list[list[float]], data: Any) -> None:
    """With gains from 1 to 1e290: nothing overflows, and nothing cancels."""
    scores = _score(grades)
    whole = Totals.of(scores)
    order = np.array(data.draw(st.permutations(range(len(grades)))))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(grades) - 1), max_size=3)))
    pieces = [Totals.of(scores.take(part)) for part in np.split(order, cuts)]
    while len(pieces) > 1:
        first = pieces.pop(data.draw(st.integers(0, len(pieces) - 1)))
        second = pieces.pop(data.draw(st.integers(0, len(pieces) - 1)))
        pieces.append(first + second)
    (merged,) = pieces
    for name in ("n_scored", "n_undefined", "mean", "pooled"):
        rtol = 1e-9 if name in {"mean", "pooled"} else 0
        np.testing.assert_allclose(getattr(merged, name), getattr(whole, name), rtol=rtol)
    assert merged.counts == whole.counts
    ends, expected = _intervals(merged), _intervals(whole)
    assert (np.isnan(ends) == np.isnan(expected)).all()
    assert not np.isinf(ends).any()
    scale = np.maximum(np.abs(expected), np.abs(np.nan_to_num(whole.mean))[:, None])
    assert not (np.abs(ends - expected) > 1e-9 * scale).any()


def test_a_list_is_short_of_the_cutoffs_beyond_its_length() -> None:
    """And not of its own length."""
    lists = {"one": [(1, 2)], "two": [(2, 1), (1, 2)], "three": [(3, 1), (2, 2), (1, 3)]}
    report = rn.evaluate(lists, metrics="ndcg", k=[1, 2, 3])
    assert report.counts["short"] == 2
    assert Totals.of(report._data.scores).n_short.tolist() == [0, 1, 2]


def _exact_length(values: list[Fraction]) -> float:
    """Return the Euclidean length of the centred values."""
    mean = sum(values, Fraction(0)) / len(values)
    most = max(abs(one - mean) for one in values) or Fraction(1)
    return math.sqrt(sum(((one - mean) / most) ** 2 for one in values)) * float(most)


def _exact_residual(top: Any, bottom: Any) -> float:
    """Return the length of the numerators less the pooled ratio times the denominators."""
    tops, bottoms = ([Fraction(float(one)) for one in values] for values in (top, bottom))
    ratio = sum(tops, Fraction(0)) / sum(bottoms, Fraction(0))
    return _exact_length([n - ratio * d for n, d in zip(tops, bottoms, strict=True)])


@examples(1)
@given(grades=lists_of_grades)
def test_moments_agree_with_exact_fractions(grades: list[list[float]]) -> None:
    """The length of the centred scores, and of the residuals of the pooled ratio."""
    scores = _score(grades)
    totals = reduce(add, (Totals.of(scores.take([place])) for place in range(len(grades))))
    for column in (0, 2):
        own = scores.per_user[:, column]
        exact = [Fraction(value) for value in own[~np.isnan(own)].tolist()]
        if exact:
            size = float(max(map(abs, exact)))
            length = pytest.approx(_exact_length(exact), rel=1e-9, abs=1e-13 * size)
            assert float(totals.score_moments.residual[column]) == length
        kept = scores.is_defined[:, column]
        top, bottom = scores.numerator[kept, column], scores.denominator[kept, column]
        if bottom.any():
            expected, size = _exact_residual(top, bottom), max(np.abs([*top, *bottom]))
            found = float(totals.ratio_moments.residual[column])
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-13 * size)


def test_a_nearly_perfect_ratio_keeps_its_small_variance() -> None:
    """As a difference of sums of squares it would be rounding errors only."""
    rng = np.random.default_rng(0)
    bottom = rng.uniform(1e6, 2e6, (500, 1))
    top = bottom + rng.normal(0, 1e-6, (500, 1))
    there = np.ones((500, 1), dtype=bool)
    parts = [Moments.of(bottom[i::5], top[i::5], there[i::5]) for i in range(5)]
    whole = parts[0] + (parts[1] + parts[2]) + (parts[3] + parts[4])
    expected = _exact_residual(top[:, 0], bottom[:, 0])
    assert float(whole.residual[0]) == pytest.approx(expected, rel=1e-3)


def test_scores_are_cut_and_joined() -> None:
    """By a slice, by places and by flags."""
    scores = _score([[5.0, 1.0], [2.0, 3.0], [0.5, 4.0], [1.0, 1.0]])
    parts = [scores.take(slice(0, 1)), scores.take([1, 2]), scores.take(np.arange(4) == 3)]
    joined = Scores.concat(parts)
    assert joined.equals(scores)
    assert joined.users.tolist() == scores.users.tolist()
    assert joined.counts.ratings.tolist() == [2, 2, 2, 2]


def _audit(users: range) -> Audit:
    rows = {user: [(user % 3, user % 5), (1, 3), (user % 2, 5)] for user in users}
    lists = rn.RankedLists.from_tuples(rows)
    return Audit.of(lists._data, Plan.of(["ndcg@2", "rr", "rmse"], threshold=4), highest_grade=5.0)


def test_scores_come_back_from_their_columns_in_every_role() -> None:
    """Files hold columns, and know of no roles."""
    scores = _audit(range(7)).scores_to_save
    again = Scores.from_columns(scores.measurements, scores.columns())
    assert again.equals(scores)
    assert again.roles.keys() == scores.roles.keys() == {*ORDER_TABLES}
    for role, table in scores.roles.items():
        np.testing.assert_array_equal(again.roles[role], table)
    np.testing.assert_array_equal(again.z, scores.z)
    np.testing.assert_array_equal(again.label_digests, scores.label_digests)


def test_totals_of_parts_have_the_means_of_the_whole_in_every_role() -> None:
    """Chance and extreme orders, ties, labels."""
    whole, *parts = (
        _audit(users).totals_with_all_roles
        for users in (range(9), range(3), range(3, 6), range(6, 9))
    )
    merged = reduce(add, parts)
    roles = {*ORDER_ROLES, *TIE_ROLES, *LABEL_ROLES, "decided_by_ties"}
    assert merged.roles.keys() == whole.roles.keys() == roles
    for role in whole.roles:
        np.testing.assert_allclose(merged.mean_of(role), whole.mean_of(role), rtol=1e-14)
    np.testing.assert_allclose(merged.z, whole.z, rtol=1e-12)
    assert merged.trivial.tolist() == whole.trivial.tolist()
    assert np.isnan(Totals.of(_score([[5.0, 1.0]])).mean_of("chance")).all()
