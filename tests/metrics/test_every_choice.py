"""Every value of every choice, on lists made to show it, equals the textbook."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS, parse
from tests import drawn, textbook
from tests.drawn import Drawn
from tests.textbook import Choices, Row

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
CUTOFFS = (None, 1, 3)
USERS = {
    # between two others, three of equal estimates, two of them relevant, that the cutoffs split
    1: [Row(4, 0.5, 8), Row(3, 5.0, 11), Row(1, 2.0, 9), Row(3, 1.0, 10), Row(3, 3.5, 12)],
    2: [Row(2.0, 3.5, 10), Row(0.2, None, 9)],  # shorter than most cutoffs
    4: [Row(1.0, 0.5, 9), Row(1.0, None, 10), Row(0.0, 0.0, 8)],  # nothing is relevant
    # four of equal estimates, the relevant ones among them behind one that is not
    5: [Row(2, 0.5, 11), Row(1, 5.0, 9), Row(1, 0.0, 10), Row(1, 5.0, 8), Row(1, 0.0, 12)],
    # equal in single precision, or to a step
    6: [Row(2.0, 1.0, 8), Row(2.0 + 1e-9, 5.0, 9), Row(2.2, None, 10), Row(0.25, 3.5, 11)],
    7: [Row(3.0, None, 9), Row(2.0, None, 8)],  # nothing is labelled
}
#: Relevant items that no list has, of users who have one and of one who has none.
UNLISTED = {2: [0.5, 5.0, 3.5], 3: [5.0, 1.0], 5: [1.0]}
CHOICES: dict[str, tuple[Any, ...]] = {
    "gain": ("linear", "binary", "exponential_above", drawn.MAPPED, drawn.root),
    "discount": ("ln", "log2_max", "reciprocal", drawn.stairs),
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
    f"{name}={value}": replace(USUAL, **{name: value})
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
    tied = chosen.ties in drawn.ANY_ORDER
    refused = {"k": {"ap"}, "hits": {name for name in names if tied and name.startswith("ap")}}
    return [name for name in names if name not in refused.get(chosen.ap_over, ())]


def _agree(data: Drawn, chosen: Choices, names: list[str]) -> None:
    options: dict[str, Any] = {"threshold": chosen.threshold, "k": None}
    convention = drawn.convention_of(chosen)
    report = rn.evaluate(data.lists, metrics=names, convention=convention, **options)
    for name in names:
        metric = parse(name)[0]
        how = (metric.name, metric.k, data.users, data.unlisted, chosen)
        expected = textbook.table(*how)
        assert report.per_user[name].to_dict() == pytest.approx(expected, abs=1e-12, nan_ok=True)
        for ours, theirs in ((report.mean, textbook.mean), (report.pooled, textbook.pooled)):
            assert ours[name] == pytest.approx(theirs(*how), abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("chosen", ONE_CHANGED.values(), ids=ONE_CHANGED)
def test_one_choice_agrees_with_the_textbook(chosen: Choices) -> None:
    """Of labels and results: with labels outside the lists, and users without one."""
    rows = sum(map(len, USERS.values()))
    data = Drawn(USERS, UNLISTED, [*range(rows)], joined=True)
    by_order = {name: kind for name, kind in METRICS.items() if kind.orders}
    _agree(data, chosen, _names(chosen, by_order))


@pytest.mark.parametrize("chosen", SEVERAL_CHANGED.values(), ids=SEVERAL_CHANGED)
@pytest.mark.parametrize("threshold", [1.0, 3.0])
def test_choices_that_meet_agree_with_the_textbook(chosen: Choices, threshold: float) -> None:
    """Of predictions of ratings, the rows of the users mixed."""
    rows = sum(map(len, USERS.values()))
    mixed = sorted(range(rows), key=lambda place: place * 7 % rows)
    data = Drawn(USERS, {}, mixed, joined=False)
    chosen = replace(chosen, threshold=threshold)
    _agree(data, chosen, _names(chosen, METRICS))


def test_every_choice_is_among_them() -> None:
    """A new one has to be added."""
    convention = rn.Convention()
    beside = {"impossible", "duplicates", "max_grade"}
    assert {*convention.names(), "threshold"} == {*CHOICES, *beside}
    for name, known in rn.convention.CHOICES.items():
        if name not in beside:
            usual = {getattr(convention, name), "raise"}
            assert {one for one in known if one not in usual} <= {*map(_hashable, CHOICES[name])}


def _hashable(value: Any) -> Any:
    return math.nan if isinstance(value, dict) else value
