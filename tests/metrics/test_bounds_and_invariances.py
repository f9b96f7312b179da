"""Changes of the data that must not change a score, and the bounds that every score keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests import drawn_reports as drawn
from tests import strategies
from tests.drawn_reports import ANY_ROWS, BOUNDED, RANKING, Cutoffs, evaluated, same, usual
from tests.strategies import Sample
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


@usual
@given(drawn.data_of, drawn.chosen_of, drawn.cutoffs, st.sampled_from(ANY_ROWS), st.integers())
def test_a_score_does_not_depend_on_the_order_of_the_rows(
    data: Sample, chosen: Choices, k: Cutoffs, ties: str, seed: int
) -> None:
    """Or pandas, Parquet and Spark would disagree."""
    chosen = replace(chosen, ties=ties)
    draw = np.random.default_rng(abs(seed))
    plain = evaluated(data, chosen, k)
    mixed = evaluated(data, chosen, k, lambda one: one.iloc[draw.permutation(len(one))])
    same(plain.per_user, mixed.per_user)
    same(plain.summary, mixed.summary)
    assert plain.counts == mixed.counts
    assert plain.signatures == mixed.signatures


@usual
@given(data=drawn.data_of, chosen=drawn.chosen_of, k=drawn.cutoffs, text=st.booleans())
def test_ids_change_no_score(data: Sample, chosen: Choices, k: Cutoffs, *, text: bool) -> None:
    """If the order of the ids stays, which breaks ties by item."""
    assume(not chosen.ties.startswith("text"))

    def renamed(table: pd.DataFrame) -> pd.DataFrame:
        if text:
            return table.assign(**table[["user", "item"]].map("{:07d}".format))
        return table.assign(user=table["user"] * 3.5 - 7, item=table["item"] * 10**15 + 1)

    plain, other = evaluated(data, chosen, k), evaluated(data, chosen, k, renamed)
    same(plain.per_user.reset_index(drop=True), other.per_user.reset_index(drop=True))
    same(plain.summary, other.summary)


@usual
@given(data=drawn.data_of, chosen=drawn.chosen_of, k=drawn.cutoffs)
def test_the_scale_of_estimates_changes_no_score(data: Sample, chosen: Choices, k: Cutoffs) -> None:
    """It depends on their order alone."""

    def stretched(table: pd.DataFrame) -> pd.DataFrame:
        return table.assign(**table.filter(["estimated"]).map(lambda one: np.exp(one * 3) - 1e3))

    chosen = replace(chosen, tie_tolerance=0.0, recommend_from=None)
    plain, other = evaluated(data, chosen, k), evaluated(data, chosen, k, stretched)
    same(plain.per_user, other.per_user)
    same(plain.summary, other.summary)


@usual
@given(data=drawn.rated_of, chosen=drawn.chosen_of, k=drawn.cutoffs)
def test_a_user_does_not_change_the_score_of_another(data: Sample, chosen: Any, k: Cutoffs) -> None:
    """Neither through blocks nor through item codes."""
    report = evaluated(data, chosen, k)
    user = report.users[0]
    own = data.frame[data.frame["user"] == user]
    assume(own["true"].notna().any())
    convention = strategies.to_convention(chosen)
    how: dict[str, Any] = {"metrics": RANKING, "k": k, "threshold": chosen.threshold}
    alone = rn.evaluate(own, convention=convention, **how)
    same(report.per_user.iloc[:1], alone.per_user)


# bounds


@usual
@given(data=drawn.data_of, chosen=drawn.chosen_of, k=drawn.cutoffs)
def test_scores_with_bounds_keep_them(data: Sample, chosen: Choices, k: Cutoffs) -> None:
    """To the last digit: a score of 1.0000000000000002 breaks whoever plots or logs it."""
    report = evaluated(data, chosen, k, metrics=BOUNDED)
    for values in (report.per_user[report.metrics], report.pooled, report.mean):
        found = np.asarray(values, dtype=float)
        assert ((found >= 0) & (found <= 1) | np.isnan(found)).all()


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize("k", [5, None])
def test_a_list_of_top_grades_scores_exactly_1_under_every_ideal(gain: Any, k: int | None) -> None:
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
        for n_items in (2, 3, 5, 7, 8, 11, 25, 57):
            user = np.repeat(np.arange(60), n_items)
            true = draw.choice([0, 1, 4.5], len(user))
            true[user < 20] = 4.5
            columns = {"user": user, "item": np.arange(len(user)), "true": true}
            columns["estimated"] = draw.integers(0, 3, len(user))
            how: dict[str, Any] = {"k": (1, 3, 10, n_items, None), "threshold": 1}
            report = rn.evaluate(columns, metrics=BOUNDED, convention=convention, **how)
            summary = report.summary[["mean", "pooled", "chance", "tie_low", "tie_high"]]
            for values in (report.per_user[report.metrics], summary):
                high = values.max()
                above |= set(high[high > 1].index)
    assert sorted(above) == []


@usual
@given(data=drawn.rated_of, chosen=drawn.chosen_of, k=drawn.cutoffs)
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
