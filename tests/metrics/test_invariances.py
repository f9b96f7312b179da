"""Changes of the data that must not change a score, on drawn data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from tests import strategies
from tests.drawn_reports import (
    ANY_ROWS,
    RANKING,
    Cutoffs,
    chosen_of,
    cutoffs,
    data_of,
    evaluated,
    rated_of,
    same,
    usual,
)  # fmt: skip

if TYPE_CHECKING:
    import pandas as pd

    from tests.strategies import Sample
    from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


@usual
@given(
    data=data_of, chosen=chosen_of, k=cutoffs, ties=st.sampled_from(ANY_ROWS), seed=st.integers()
)
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
@given(data=data_of, chosen=chosen_of, k=cutoffs, text=st.booleans())
def test_a_score_does_not_depend_on_the_ids(
    data: Sample, chosen: Choices, k: Cutoffs, *, text: bool
) -> None:
    """If their order stays, which breaks ties by item; as text they have another."""
    assume(not chosen.ties.startswith("text"))

    def renamed(table: pd.DataFrame) -> pd.DataFrame:
        if text:
            return table.assign(
                **{one: table[one].map("{:07d}".format) for one in ("user", "item")}
            )
        return table.assign(user=table["user"] * 3.5 - 7, item=table["item"] * 10**15 + 1)

    plain, other = evaluated(data, chosen, k), evaluated(data, chosen, k, renamed)
    same(plain.per_user.reset_index(drop=True), other.per_user.reset_index(drop=True))
    same(plain.summary, other.summary)


@usual
@given(data=data_of, chosen=chosen_of, k=cutoffs)
def test_a_score_does_not_depend_on_the_scale_of_the_estimates(
    data: Sample, chosen: Choices, k: Cutoffs
) -> None:
    """Only on their order."""

    def stretched(table: pd.DataFrame) -> pd.DataFrame:
        if "estimated" not in table:
            return table
        return table.assign(estimated=np.exp(table["estimated"] * 3) - 1e3)

    chosen = replace(chosen, tie_tolerance=0.0, recommend_from=None)
    plain, other = evaluated(data, chosen, k), evaluated(data, chosen, k, stretched)
    same(plain.per_user, other.per_user)
    same(plain.summary, other.summary)


@usual
@given(data=rated_of, chosen=chosen_of, k=cutoffs)
def test_a_user_does_not_change_the_score_of_another(
    data: Sample, chosen: Choices, k: Cutoffs
) -> None:
    """Neither through blocks nor through item codes."""
    report = evaluated(data, chosen, k)
    user = report.users[0]
    own = data.frame[data.frame["user"] == user]
    assume(own["true"].notna().any())
    alone = rn.evaluate(
        own,
        metrics=RANKING,
        k=k,
        threshold=chosen.threshold,
        convention=strategies.to_convention(chosen),
    )
    same(report.per_user.iloc[:1], alone.per_user)
