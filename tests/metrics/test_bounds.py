"""The bounds that every score keeps, and the chance level between them."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests import strategies
from tests.drawn_reports import (
    BOUNDED,
    RANKING,
    Cutoffs,
    chosen_of,
    cutoffs,
    data_of,
    evaluated,
    linear,
    rated_of,
    usual,
)  # fmt: skip
from tests.textbook import Choices

if TYPE_CHECKING:
    from tests.strategies import Sample

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


@usual
@given(data=data_of, chosen=chosen_of, k=cutoffs)
def test_scores_with_bounds_keep_them(data: Sample, chosen: Choices, k: Cutoffs) -> None:
    """To the last digit: a score of 1.0000000000000002 breaks whoever plots or logs it."""
    report = evaluated(data, chosen, k, metrics=BOUNDED)
    for values in (report.per_user[report.metrics], report.pooled, report.mean):
        found = np.asarray(values, dtype=float)
        assert ((found >= 0) & (found <= 1) | np.isnan(found)).all()


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("k", [5, None])
def test_a_list_of_top_grades_scores_exactly_1_under_every_ideal(gain: str, k: int | None) -> None:
    """The ideal is then the list itself, so both sums must be the same sum."""
    lists = {n: [(-place, 4.5) for place in range(n)] for n in range(k or 1, 60)}
    for ideal in ("global", "local", "max"):
        convention = rn.Convention(gain=gain, ideal=ideal, max_grade=4.5)
        report = rn.evaluate({**lists, 0: [(1, 2)]}, metrics="ndcg", k=k, convention=convention)
        scores = report.per_user.iloc[1:, -1]
        assert scores[scores != 1].index.tolist() == []


def test_no_last_digit_lifts_a_score_above_its_bound() -> None:
    """Means over ties and sums over ranks are rounded, each in its own way."""
    draw, above = np.random.default_rng(0), set()
    for convention in (
        rn.Convention(),
        rn.Convention(recall_over="capped", ap_over="capped", short_list="n"),
        rn.Convention(ideal="max", max_grade=4.5, discount="ln"),
    ):
        for n_items in (*range(2, 12), 25, 40, 57):
            user = np.repeat(np.arange(60), n_items)
            true = draw.choice([0, 1, 4.5], len(user))
            true[user < 20] = 4.5
            columns = {"user": user, "item": np.arange(len(user)), "true": true}
            cuts: Cutoffs = (1, 3, 10, n_items, None)
            report = rn.evaluate(
                columns | {"estimated": draw.integers(0, 3, len(user))},
                metrics=BOUNDED,
                k=cuts,
                threshold=1,
                convention=convention,
            )
            summary = report.summary[["mean", "pooled", "chance", "tie_low", "tie_high"]]
            for values in (report.per_user[report.metrics], summary):
                high = values.max()
                above |= set(high[high > 1].index)
    assert sorted(above) == []


@usual
@given(data=rated_of, chosen=chosen_of, k=cutoffs)
def test_the_ideal_order_scores_exactly_1(data: Sample, chosen: Choices, k: Cutoffs) -> None:
    """Also with a tie between items of the same gain."""
    chosen = replace(
        chosen, gain="exponential", ideal="global", tie_tolerance=0.0, short_list="k",
        undefined="skip", mean_over="all",
    )  # fmt: skip
    perfect = data.frame.assign(estimated=data.frame["true"].fillna(0))
    convention = strategies.to_convention(chosen)
    report = rn.evaluate(perfect, metrics="ndcg", k=k, convention=convention)
    scores = report.per_user[report.metrics].to_numpy()
    assert (scores[~np.isnan(scores)] == 1.0).all()


@usual
@given(data=data_of, chosen=chosen_of, k=cutoffs)
def test_every_order_of_ties_lies_between_the_worst_and_the_best(
    data: Sample, chosen: Choices, k: Cutoffs
) -> None:
    """For every metric and user, and for the means."""
    by_rule = {
        ties: evaluated(data, replace(chosen, ties=ties), k)
        for ties in ("worst", "expected", "input", "item_asc", "item_desc", "best")
    }
    worst, best = by_rule["worst"], by_rule["best"]
    for report in by_rule.values():
        for low, middle, high in (
            (worst.per_user, report.per_user, best.per_user),
            (worst.mean, report.mean, best.mean),
            (report.summary["tie_low"], report.mean, report.summary["tie_high"]),
        ):
            assert not np.asarray((low > middle + 1e-12) | (middle > high + 1e-12)).any()


pairs = st.lists(
    st.tuples(st.sampled_from(strategies.ESTIMATES), st.sampled_from((0.0, 1.0, 3.5, None))),
    min_size=1,
    max_size=5,
)


@usual
@given(pairs=pairs, chosen=chosen_of, k=cutoffs)
@example(pairs=[(1.0, 1.0), (1.0, 0.0), (0.0, 3.5)], chosen=Choices(threshold=1.0), k=(1, 2))
def test_chance_is_the_mean_over_all_orders(
    pairs: list[tuple[float, float | None]], chosen: Choices, k: Cutoffs
) -> None:
    """Every order becomes a user of its own, and their mean is taken."""
    trues = [true for _, true in pairs]
    assume(any(true is not None for true in trues))
    chosen = linear(chosen)
    options: dict[str, Any] = {
        "metrics": RANKING, "k": k, "threshold": chosen.threshold,
        "convention": strategies.to_convention(chosen),
    }  # fmt: skip
    orders = {
        number: [(-place, true) for place, true in enumerate(order)]
        for number, order in enumerate(permutations(trues))
    }
    assume(len(set(trues)) > 1 or len(trues) == 1)
    report, every = rn.evaluate({"ann": pairs}, **options), rn.evaluate(orders, **options)
    expected = every.mean.to_numpy()
    np.testing.assert_allclose(report.summary["chance"], expected, rtol=1e-11, atol=1e-12)
