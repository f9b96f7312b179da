"""Every value of every choice, on lists made to show it, equals the textbook."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS, parse
from recsys_ndcg.scoring import Measurement, Plan
from recsys_ndcg.scoring.measuring import map_blocks
from tests import sample_lists, strategies, textbook
from tests.textbook import Choices

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.strategies import Sample

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
CUTOFFS = (None, 2)
CHOICES: dict[str, tuple[Any, ...]] = {
    "gain": ("linear", "binary", "exponential_above", strategies.MAPPED, strategies.root),
    "discount": ("ln", "log2_max", "reciprocal", strategies.stairs),
    "ideal": ("local", "max"),
    "unlabelled": ("filter",),
    "unlisted": ("ignore",),
    "ties": ("input", "best", "worst", "item_asc", "item_desc", "text_asc", "text_desc"),
    "tie_tolerance": (0.5, 1e-8, "float32"),
    "short_list": ("n", "drop"),
    "recall_over": ("capped",),
    "ap_over": ("capped", "k", "hits"),
    "undefined": (0.0, 1.0),
    "missing_user": ("skip",),
    "mean_over": ("labelled", "relevant"),
    "recommend_from": (0.2, 2.0, 3.5, "threshold"),
    "threshold": (0.0, 2.0, 5.0),
}
USUAL = Choices(threshold=3.0, max_grade=5.0)
ONE_CHANGED = {
    f"{name}={getattr(value, '__name__', value)}": replace(USUAL, **{name: value})
    for name, values in CHOICES.items()
    for value in values
}
#: Choices that meet.
SEVERAL_CHANGED = {
    "best of single precision": replace(USUAL, ties="best", tie_tolerance="float32"),
    "worst of those recommended": replace(USUAL, ties="worst", recommend_from=1.0),
    "binary max": replace(USUAL, gain="binary", ideal="max"),
    "local without unlabelled": replace(USUAL, ideal="local", unlabelled="filter"),
    "capped by k": replace(USUAL, recall_over="capped", ap_over="capped", short_list="n"),
    "binary of a lower threshold": replace(USUAL, gain="binary", threshold=1.0),
    "above a lower threshold": replace(USUAL, gain="exponential_above", threshold=1.0),
    "in one order over hits": replace(USUAL, ap_over="hits", ties="text_desc"),
}


def _names(chosen: Choices, among: Mapping[str, Any]) -> list[str]:
    """Return the metrics at every cutoff, but those that these choices leave open."""
    names = [
        name if k is None else f"{name}@{k}"
        for name, kind in among.items()
        for k in (CUTOFFS if kind.cutoff != "none" else (None,))
        if k or chosen.short_list != "drop"  # without a cutoff, no list is short by itself
    ]
    tied = chosen.ties in strategies.ANY_ORDER
    refused = {"k": {"ap"}, "hits": {name for name in names if tied and name.startswith("ap")}}
    return [name for name in names if name not in refused.get(chosen.ap_over, ())]


def _agree(data: Sample, chosen: Choices, names: list[str]) -> None:
    options: dict[str, Any] = {"threshold": chosen.threshold, "k": None}
    convention = strategies.to_convention(chosen)
    lists = sample_lists.lists(joined=data.joined)
    report = rn.evaluate(lists, metrics=names, convention=convention, **options)
    per_user, mean, pooled = report.per_user, report.mean, report.pooled
    for name in names:
        metric = parse(name)[0]
        how = (metric.name, metric.k, data.users, data.unlisted, chosen)
        expected = textbook.table(*how)
        assert per_user[name].to_dict() == pytest.approx(expected, abs=1e-12, nan_ok=True)
        scores = [score for score in expected.values() if not math.isnan(score)]
        assert mean[name] == pytest.approx(math.fsum(scores) / len(scores), abs=1e-12)
        assert pooled[name] == pytest.approx(textbook.pooled(*how), abs=1e-12)


@pytest.mark.parametrize("chosen", ONE_CHANGED.values(), ids=ONE_CHANGED)
def test_one_choice_agrees_with_the_textbook(chosen: Choices) -> None:
    """Of labels and results: with labels outside the lists, and users without one."""
    by_order = {name: kind for name, kind in METRICS.items() if kind.orders}
    limited = chosen.recommend_from is not None  # on a scale that is known
    data = sample_lists.rated_data() if limited else sample_lists.joined_data()
    _agree(data, chosen, _names(chosen, by_order))


@pytest.mark.parametrize("chosen", SEVERAL_CHANGED.values(), ids=SEVERAL_CHANGED)
@pytest.mark.parametrize("threshold", [1.0, 3.0])
def test_choices_that_meet_agree_with_the_textbook(chosen: Choices, threshold: float) -> None:
    """Of predictions of ratings."""
    chosen = replace(chosen, threshold=threshold)
    _agree(sample_lists.rated_data(), chosen, _names(chosen, METRICS))


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
    """All of them measured of the same lists in one pass, or each by itself."""
    lists = _predictions() if impossible else sample_lists.lists(joined=True)
    groups = []
    for chosen in [*ONE_CHANGED.values(), *SEVERAL_CHANGED.values()]:
        convention = strategies.to_convention(chosen).replace(impossible=impossible or "rank")
        one = Measurement(rn.NDCG(2), convention, chosen.threshold, short_below=2)
        kinds = [replace(one, metric=rn.CG(2)), replace(one, metric=rn.AP())]
        kinds += [replace(each, all_tied=True) for each in kinds]
        kinds += [one, replace(one, metric=rn.Judged(2)), replace(one, metric=rn.Recall(1))]
        kinds += [replace(each, unlabelled_as=5.0) for each in kinds]
        plan = Plan(tuple(kinds))
        groups.append(plan.with_reasons(plan.facts_of(lists)).measurements)
    together = _measured(lists, tuple(one for group in groups for one in group))
    alone = [_measured(lists, group) for group in groups]
    np.testing.assert_array_equal(together, np.concatenate(alone, axis=2))


def _measured(lists: rn.RankedLists, measurements: tuple[Measurement, ...]) -> Any:
    """Return scores, and standard deviations under random order."""
    (deviations,) = map_blocks(
        lists, measurements, lambda block: block.compute_deviations(measurements)
    )
    return np.stack([Plan(measurements).measure(lists).per_user, deviations])


def test_every_choice_is_among_them() -> None:
    """A new one has to be added."""
    convention = rn.Convention()
    beside = {"impossible", "duplicates", "max_grade"}
    assert {*convention.names(), "threshold"} == {*CHOICES, *beside}
    for name, known in rn.Convention.CHOICES.items():
        if name not in beside:
            usual = {getattr(convention, name), "raise"}
            assert {one for one in known if one not in usual} <= {*map(_hashable, CHOICES[name])}


def _hashable(value: Any) -> Any:
    return math.nan if isinstance(value, dict) else value
