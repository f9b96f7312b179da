"""What no score may depend on, and the bounds that every score keeps, on drawn data."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS
from tests import drawn
from tests.textbook import Choices

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.drawn import Drawn

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
RANKING = [name for name, kind in METRICS.items() if kind.orders]
BOUNDED = [name for name in RANKING if METRICS[name].bounded]
ANY_ROWS = ("expected", "best", "worst", "item_asc", "item_desc")
Cutoffs = tuple[Any, ...]
usual = settings(max_examples=25, deadline=None)
# an ap_over whose denominator depends on the order has no expectation
chosen_of = drawn.choices.map(drawn.fitting).filter(lambda one: one.ap_over not in ("hits", "k"))
data_of = drawn.data().filter(drawn.usable)
cutoffs = st.sampled_from([(1, 2), (2, None), (3, 50)])


def tables(data: Drawn) -> list[pd.DataFrame]:
    """Return the predictions, or the labels and the results."""
    rows = data.frame
    if not data.joined:
        return [rows]
    extra = [
        (user, 1000 + place, true)
        for user, trues in data.unlisted.items()
        for place, true in enumerate(trues)
    ]
    columns = ["user", "item", "true"]
    unlisted = pd.DataFrame(extra, columns=columns).astype({"true": float})
    labels = pd.concat([part for part in (rows.dropna()[columns], unlisted) if len(part)])
    return [labels, rows[["user", "item", "estimated"]]]


def evaluated(
    data: Drawn,
    chosen: Choices,
    k: Cutoffs,
    change: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table,
    **options: Any,
) -> rn.Report:
    """Evaluate the data, each table changed first."""
    changed = [change(table) for table in tables(data)]
    make = rn.RankedLists.from_labels if data.joined else rn.RankedLists.from_frame
    convention = drawn.convention_of(chosen)
    wanted = {"metrics": RANKING, "k": k, "threshold": chosen.threshold} | options
    return rn.evaluate(make(*changed), convention=convention, **wanted)


def same(left: pd.DataFrame, right: pd.DataFrame) -> None:
    """Compare tables up to the last digits of their sums."""
    pd.testing.assert_frame_equal(left, right, rtol=1e-11, atol=1e-11, check_index_type=False)


def increasing(estimates: pd.Series[float]) -> pd.Series[float]:
    """Return what keeps the order and the ties, and nothing else."""
    return estimates.map(lambda one: np.exp(one * 3) - 1e3)


@usual
@given(
    data=data_of, chosen=chosen_of, k=cutoffs, ties=st.sampled_from(ANY_ROWS), seed=st.integers()
)
def test_a_score_does_not_depend_on_the_order_of_the_rows(
    data: Drawn, chosen: Choices, k: Cutoffs, ties: str, seed: int
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
    data: Drawn, chosen: Choices, k: Cutoffs, *, text: bool
) -> None:
    """As long as their order stays, which settles ties by item."""

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
    data: Drawn, chosen: Choices, k: Cutoffs
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
@given(data=data_of, chosen=chosen_of, k=cutoffs)
def test_a_user_does_not_change_the_score_of_another(
    data: Drawn, chosen: Choices, k: Cutoffs
) -> None:
    """Neither through blocks nor through item codes."""
    assume(not data.joined)
    report = evaluated(data, chosen, k)
    user = report.users[0]
    own = data.frame[data.frame["user"] == user]
    assume(own["true"].notna().any())
    alone = rn.evaluate(
        own,
        metrics=RANKING,
        k=k,
        threshold=chosen.threshold,
        convention=drawn.convention_of(chosen),
    )
    same(report.per_user.iloc[:1], alone.per_user)


@usual
@given(data=data_of, chosen=chosen_of, k=cutoffs)
def test_scores_with_bounds_keep_them(data: Drawn, chosen: Choices, k: Cutoffs) -> None:
    """To the last digit: a score of 1.0000000000000002 breaks whoever plots or logs it."""
    report = evaluated(data, chosen, k, metrics=BOUNDED)
    for values in (report.per_user[report.metrics], report.pooled, report.mean):
        found = np.asarray(values, dtype=float)
        assert ((found >= 0) & (found <= 1) | np.isnan(found)).all()


@usual
@given(data=data_of, chosen=chosen_of, k=cutoffs)
def test_the_ideal_order_scores_exactly_1(data: Drawn, chosen: Choices, k: Cutoffs) -> None:
    """Also with a tie between items of the same gain."""
    assume(not data.joined)
    chosen = replace(
        chosen, gain="exponential", ideal="global", tie_tolerance=0.0, short_list="k",
        undefined="skip",
    )  # fmt: skip
    perfect = data.frame.assign(estimated=data.frame["true"].fillna(0))
    convention = drawn.convention_of(chosen)
    report = rn.evaluate(perfect, metrics="ndcg", k=k, convention=convention)
    scores = report.per_user[report.metrics].to_numpy()
    assert (scores[~np.isnan(scores)] == 1.0).all()


@usual
@given(data=data_of, chosen=chosen_of, k=cutoffs)
def test_every_order_of_ties_lies_between_the_worst_and_the_best(
    data: Drawn, chosen: Choices, k: Cutoffs
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


@usual
@given(data=data_of, chosen=chosen_of)
def test_a_cutoff_beyond_the_list_changes_nothing(data: Drawn, chosen: Choices) -> None:
    """Except where the number of places is counted: precision, and the ideal of top grades."""
    chosen = replace(chosen, ideal="global", short_list="k")
    names = ["ndcg", "dcg", "cg", "recall", "ap", "rr", "hit", "rbp"]
    for k in (9, 10, 1000):  # more than any list drawn, with its labels
        cut = evaluated(data, chosen, (k,), metrics=[f"{name}@{k}" for name in names])
        whole = evaluated(data, chosen, (None,), metrics=names)
        same(cut.per_user.set_axis(whole.per_user.columns, axis=1), whole.per_user)


def linear(chosen: Choices) -> Choices:
    """Return choices for pairs without items, under which a better order scores no less."""
    return replace(
        chosen,
        ties="expected",
        recommend_from=None,
        tie_tolerance=0.0,
        gain="linear",
        max_grade=5.0,
    )


pairs = st.lists(
    st.tuples(st.sampled_from(drawn.ESTIMATES), st.sampled_from((0.0, 1.0, 3.5, None))),
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
        "convention": drawn.convention_of(chosen),
    }  # fmt: skip
    orders = {
        number: [(-place, true) for place, true in enumerate(order)]
        for number, order in enumerate(permutations(trues))
    }
    assume(len(set(trues)) > 1 or len(trues) == 1)
    report, every = rn.evaluate({"ann": pairs}, **options), rn.evaluate(orders, **options)
    expected = every.mean.to_numpy()
    np.testing.assert_allclose(report.summary["chance"], expected, rtol=1e-11, atol=1e-12)


@usual
@given(
    grades=st.lists(st.sampled_from(drawn.GRADES), min_size=2, max_size=5, unique=True),
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
            convention=drawn.convention_of(chosen),
        ).mean
        for two in ((low, high), (high, low))
    )
    assert not (before > after + 1e-12).any()
