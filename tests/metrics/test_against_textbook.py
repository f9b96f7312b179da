"""Every metric under every choice equals a plain-Python textbook that shares no code with it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from recsys_ndcg.metrics import parse_metrics
from recsys_ndcg.scoring import Measurement, Plan
from recsys_ndcg.scoring.measuring import map_blocks
from tests import sample_lists, strategies, textbook
from tests.accuracy import FIELDS, METRICS
from tests.profiles import examples
from tests.textbook import Choices

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
CUTOFFS, BLOCKS = st.sampled_from([None, 1, 2, 3, 7]), st.sampled_from([1, 3, 1 << 16])


def _near(expected: Any) -> Any:
    """Return a number, or numbers by user, with a tolerance for rounding."""
    return pytest.approx(expected, abs=1e-12, nan_ok=True)


def _names(k: int | None, data: strategies.Sample, chosen: Choices) -> list[str]:
    """Return all metrics at a cutoff, without the ones that the library rejects there."""
    names = []
    for name, kind in METRICS.items():
        no_cutoff = kind.cutoff == "none" and k is not None
        limited = name in {"precision", "recall", "f1"} and chosen.recommend_from is not None
        no_ratings = (name in {"rmse", "mse", "mae"} or limited) and data.joined
        hits = name == "ap" and chosen.ap_over == "hits" and chosen.ties in strategies.ANY_ORDER
        no_k = name == "ap" and chosen.ap_over == "k" and k is None
        if not (no_cutoff or no_ratings or hits or no_k):
            names.append(name if k is None else f"{name}@{k}")
    return names


def _report(names: list[str], data: strategies.Sample, chosen: Choices) -> rn.Report:
    options: dict[str, Any] = {"metrics": names, "k": None, "threshold": chosen.threshold}
    return rn.evaluate(data.lists, convention=strategies.to_convention(chosen), **options)


def _by_textbook(function: Any, name: str, data: strategies.Sample, chosen: Choices) -> Any:
    """Return what a function of the textbook computes for a metric."""
    metric = parse_metrics(name)[0]
    return function(metric.name, metric.k, data.users, data.unlisted, chosen)


def _assert_agrees(names: list[str], data: strategies.Sample, chosen: Choices) -> None:
    """Compare with the textbook per user, averaged and pooled."""
    report = _report(names, data, chosen)
    for name in names:
        expected = _by_textbook(textbook.table, name, data, chosen)
        assert report.per_user[name].to_dict() == _near(expected), name
        assert report.mean[name] == _near(_by_textbook(textbook.mean, name, data, chosen)), name
        assert report.pooled[name] == _near(_by_textbook(textbook.pooled, name, data, chosen)), name


@examples(4)
@given(data=strategies.datasets(), chosen=strategies.choices, k=CUTOFFS, rows=BLOCKS)
def test_scores_equal_the_textbook(data: strategies.Sample, chosen: Any, k: Any, rows: int) -> None:
    """With blocks of any size."""
    assume(strategies.is_usable(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        patch.setattr(parallel, "_MAX_CELLS", rows // 2)
        _assert_agrees(_names(k, data, chosen), data, chosen)


@examples(1.5)
@given(data=strategies.datasets(most=4), chosen=strategies.choices, k=CUTOFFS)
def test_chance_and_ties_equal_the_textbook(data: strategies.Sample, chosen: Any, k: Any) -> None:
    """Chance is the mean over all orders, the tie range goes from the worst to the best order.

    Users are trivial if they have one score in every order.
    """
    assume(strategies.is_usable(data))
    usual = {"missing_user": "zero", "mean_over": "all", "short_list": "k", "ap_over": "relevant"}
    chosen = replace(chosen, **usual)
    names = [name for name in _names(k, data, chosen) if name not in {"rmse", "mse", "mae"}]
    report = _report(names, data, chosen)
    users = [
        (data.users.get(user, []), data.unlisted.get(user, []))
        for user in {**data.users, **data.unlisted}
    ]
    for name in names:
        metric = parse_metrics(name)[0]
        chances = []
        for rows, extra in users:
            parts = textbook.chance(metric.name, metric.k, rows, extra, chosen)
            chances.append(textbook.value(metric.name, *parts, chosen))
        defined = [value for value in chances if not math.isnan(value)]
        row = report.summary.loc[name].to_dict()
        mean = math.fsum(defined) / len(defined) if defined else math.nan
        assert row["chance"] == _near(mean), name
        for ties, column in (("worst", "tie_low"), ("best", "tie_high")):
            extreme = _by_textbook(textbook.mean, name, data, replace(chosen, ties=ties))
            assert row[column] == _near(extreme), f"{column} of {name}"
    trivial = 0
    for rows, extra in users:
        tied = [row._replace(estimated=0.0) for row in rows]
        low, high = (
            textbook.parts("ndcg", 2, tied, extra, replace(chosen, ties=ties))
            for ties in ("worst", "best")
        )
        value = textbook.value("ndcg", *high, chosen)
        trivial += not math.isnan(value) and math.isclose(low[0], high[0], abs_tol=1e-12)
    usual = replace(chosen, ties="expected")
    assert _report(["ndcg@2"], data, usual).counts["trivial"] == trivial


@examples(1)
@given(strategies.datasets(), strategies.choices, st.integers(0, 2), st.integers(1, 7))
def test_the_last_row_of_explain_equals_the_textbook(
    data: strategies.Sample, chosen: Choices, user: int, k: int
) -> None:
    """The last row of the table is the user's DCG and NDCG."""
    assume(strategies.is_usable(data))
    chosen = replace(chosen, undefined="skip", short_list="k")
    one = sorted({**data.users, **data.unlisted})[user % len({**data.users, **data.unlisted})]
    report = _report([f"ndcg@{k}"], data, chosen)
    table = report.explain(one, k)
    rows, extra = data.users.get(one, []), data.unlisted.get(one, [])
    dcg, ideal = textbook.parts("ndcg", k, rows, extra, chosen)
    last = table.iloc[-1] if len(table) else {"dcg": 0.0, "ideal_dcg": 0.0, "ndcg": np.nan}
    assert last["dcg"] == _near(dcg)
    assert last["ideal_dcg"] == _near(ideal)
    assert last["ndcg"] == _near(textbook.value("ndcg", dcg, ideal, chosen))


def test_rbp_takes_its_persistence_from_its_name() -> None:
    """The option in brackets reaches the formula."""
    rows = [textbook.Row(3, 5.0), textbook.Row(2, 1.0), textbook.Row(1, 4.0)]
    pairs = {"ann": [(row.estimated, row.true) for row in rows]}
    report = rn.evaluate(pairs, metrics=["rbp(0.3)@3"], threshold=4.0)
    parts = textbook.parts("rbp", 3, rows, [], Choices(threshold=4.0), p=0.3)
    assert report.mean["rbp(p=0.3)@3"] == _near(parts[0])


# every value of every choice, on lists made to show it


CHOICES: dict[str, tuple[Any, ...]] = {
    "gain": ("linear", "binary", "exponential_above", strategies.MAPPED, strategies.root),
    "discount": ("ln", "log2_max", "reciprocal", strategies.stairs), "ideal": ("local", "max"),
    "unlabelled": ("filter",), "unlisted": ("ignore",),
    "ties": ("input", "best", "worst", "item_asc", "item_desc", "text_asc", "text_desc"),
    "tie_tolerance": (0.5, 1e-8, "float32"), "short_list": ("n", "drop"),
    "recall_over": ("capped",), "ap_over": ("capped", "k", "hits"), "undefined": (0.0, 1.0),
    "missing_user": ("skip",), "mean_over": ("labelled", "relevant"),
    "recommend_from": (0.2, 2.0, 3.5, "threshold"), "threshold": (0.0, 2.0, 5.0),
}  # fmt: skip
USUAL = Choices(threshold=3.0, max_grade=5.0)
CHANGES = [{name: value} for name, values in CHOICES.items() for value in values]
ONE_CHANGED = [replace(USUAL, **change) for change in CHANGES]
#: Choices that meet.
SEVERAL_CHANGED = [
    replace(USUAL, ties="best", tie_tolerance="float32"),
    replace(USUAL, ties="worst", recommend_from=1.0),
    replace(USUAL, gain="binary", ideal="max"),
    replace(USUAL, ideal="local", unlabelled="filter"),
    replace(USUAL, recall_over="capped", ap_over="capped", short_list="n"),
    replace(USUAL, gain="binary", threshold=1.0),
    replace(USUAL, gain="exponential_above", threshold=1.0),
    replace(USUAL, ap_over="hits", ties="text_desc"),
]


def _assert_agrees_at_both_cutoffs(data: strategies.Sample, chosen: Choices) -> None:
    """Compare the metrics without a cutoff, where no list is short, and at 2."""
    for k in (None, 2):
        _assert_agrees(_names(k, data, chosen), data, chosen)


@pytest.mark.parametrize("chosen", ONE_CHANGED, ids=range(len(ONE_CHANGED)))
def test_one_choice_agrees_with_the_textbook(chosen: Choices) -> None:
    """Labels and results, with labels outside the lists, and users without a list."""
    limited = chosen.recommend_from is not None  # on the rating scale
    data = sample_lists.rated_data() if limited else sample_lists.joined_data()
    _assert_agrees_at_both_cutoffs(data, chosen)


@pytest.mark.parametrize("threshold", [1.0, 3.0])
@pytest.mark.parametrize("chosen", SEVERAL_CHANGED, ids=range(len(SEVERAL_CHANGED)))
def test_choices_that_meet_agree_with_the_textbook(chosen: Choices, threshold: float) -> None:
    """Predictions of ratings."""
    _assert_agrees_at_both_cutoffs(sample_lists.rated_data(), replace(chosen, threshold=threshold))


def _predictions() -> rn.RankedLists:
    """Return the same lists as Surprise's predictions, some of which the model could not make."""
    return rn.RankedLists.from_surprise(
        [
            (user, row.item, row.true, row.estimated, {"was_impossible": row.item == 9})
            for user, rows in sample_lists.USERS.items()
            for row in rows
        ]
    )


@pytest.mark.parametrize("impossible", [None, "last", "drop"])
def test_no_choice_changes_the_column_of_another(impossible: str | None) -> None:
    """Measuring all of them in one pass gives the same as measuring each alone."""
    lists = _predictions() if impossible else sample_lists.lists(joined=True)
    groups = []
    for chosen in [*ONE_CHANGED, *SEVERAL_CHANGED]:
        convention = strategies.to_convention(chosen).replace(impossible=impossible or "rank")
        one = Measurement(rn.NDCG(2), convention, chosen.threshold, short_below=2)
        kinds = [replace(one, metric=rn.CG(2)), replace(one, metric=rn.AP())]
        kinds += [replace(each, all_tied=True) for each in kinds]
        kinds += [one, replace(one, metric=rn.Judged(2)), replace(one, metric=rn.Recall(1))]
        kinds += [replace(each, unlabelled_as=5.0) for each in kinds]
        plan = Plan(tuple(kinds))
        groups.append(plan.with_reasons_for_no_score(plan.facts_of(lists._data)).measurements)
    together = _measured(lists, tuple(one for group in groups for one in group))
    alone = [_measured(lists, group) for group in groups]
    np.testing.assert_array_equal(together, np.concatenate(alone, axis=2))


def _measured(lists: rn.RankedLists, measurements: tuple[Measurement, ...]) -> Any:
    """Return scores, and standard deviations under random order."""
    (deviations,) = map_blocks(
        lists._data, measurements, lambda one: one.compute_deviations(measurements)
    )
    return np.stack([Plan(measurements).measure(lists._data).per_user, deviations])


def test_every_choice_is_among_them() -> None:
    """A new one has to be added."""
    convention = rn.Convention()
    others = {"impossible", "duplicates", "max_grade"}
    assert {*FIELDS, "threshold"} == {*CHOICES, *others}
    for name, known in rn.Convention.CHOICES.items():
        if name in CHOICES:
            usual = {getattr(convention, name), "raise", "lists", "train"}  # of tests/beyond
            assert {one for one in known if one not in usual} <= {*map(_hashable, CHOICES[name])}


def _hashable(value: Any) -> Any:
    return math.nan if isinstance(value, dict) else value
