"""What no score may depend on, on drawn data."""

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
    linear,
    rated_of,
    same,
    usual,
)  # fmt: skip

if TYPE_CHECKING:
    import pandas as pd

    from tests.strategies import Sample
    from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


def increasing(estimates: pd.Series[float]) -> pd.Series[float]:
    """Return what keeps the order and the ties, and nothing else."""
    return estimates.map(lambda one: np.exp(one * 3) - 1e3)


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
    assert [plain.signature(one) for one in plain.metrics] == [
        mixed.signature(one) for one in mixed.metrics
    ]


@usual
@given(data=data_of, chosen=chosen_of, k=cutoffs, text=st.booleans())
def test_a_score_does_not_depend_on_what_ids_are_called(
    data: Sample, chosen: Choices, k: Cutoffs, *, text: bool
) -> None:
    """As long as their order stays, which settles ties by item; as text they have another."""
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
        return table.assign(estimated=increasing(table["estimated"]))

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


@usual
@given(data=data_of, chosen=chosen_of)
def test_a_cutoff_beyond_the_list_changes_nothing(data: Sample, chosen: Choices) -> None:
    """Except where the number of places is counted: precision, and the ideal of top grades."""
    chosen = replace(chosen, ideal="global", short_list="k")
    names = ["ndcg", "dcg", "cg", "recall", "ap", "rr", "hit", "rbp"]
    for k in (9, 10, 1000):  # more than any list drawn, with its labels
        cut = evaluated(data, chosen, (k,), metrics=[f"{name}@{k}" for name in names])
        whole = evaluated(data, chosen, (None,), metrics=names)
        same(cut.per_user.set_axis(whole.per_user.columns, axis=1), whole.per_user)


@usual
@given(
    grades=st.lists(st.sampled_from(strategies.GRADES), min_size=2, max_size=5, unique=True),
    chosen=chosen_of,
    place=st.integers(0, 3),
)
def test_a_better_item_moved_up_never_lowers_a_score(
    grades: list[float], chosen: Choices, place: int
) -> None:
    """Whatever the metric and the choices."""
    place %= len(grades) - 1
    low, high = sorted(grades[place : place + 2])
    ahead, behind = grades[:place], grades[place + 2 :]
    chosen = linear(chosen)
    before, after = (
        rn.evaluate(
            {"ann": [(-rank, true) for rank, true in enumerate([*ahead, *two, *behind])]},
            metrics=RANKING,
            k=(1, 3),
            threshold=chosen.threshold,
            convention=strategies.to_convention(chosen),
        ).mean
        for two in ((low, high), (high, low))
    )
    assert not (before > after + 1e-12).any()
