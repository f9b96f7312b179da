"""Every metric under every choice equals a plain-Python textbook that shares no code with it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg import parallel
from recsys_ndcg.metrics import METRICS, parse
from tests import strategies, textbook
from tests.profiles import examples
from tests.textbook import Choices, Labels, Lists

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.strategies import Sample

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
Answer = TypeVar("Answer")
CUTOFFS = st.sampled_from([None, 1, 2, 3, 7])


def _near(expected: Any) -> Any:
    """Return what equals a number, or numbers by user, but for rounding."""
    return pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


def _names(k: int | None, data: Sample, chosen: Choices) -> list[str]:
    """Return all metrics at a cutoff, but those that the library refuses there."""
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


def _report(names: list[str], data: Sample, chosen: Choices) -> rn.Report:
    convention = strategies.to_convention(chosen)
    threshold = chosen.threshold
    return rn.evaluate(
        data.lists, metrics=names, k=None, threshold=threshold, convention=convention
    )


def _by_textbook(
    what: Callable[[str, int | None, Lists, Labels, Choices], Answer],
    name: str,
    data: Sample,
    chosen: Choices,
) -> Answer:
    metric = parse(name)[0]
    return what(metric.name, metric.k, data.users, data.unlisted, chosen)


@examples(4)
@given(
    data=strategies.datasets(),
    chosen=strategies.choices,
    k=CUTOFFS,
    rows=st.sampled_from([1, 3, 1 << 16]),
)
def test_agrees_with_the_textbook(data: Sample, chosen: Choices, k: int | None, rows: int) -> None:
    """Per user, averaged and pooled, with blocks of any size."""
    assume(strategies.is_usable(data))
    names = _names(k, data, chosen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "_MAX_ROWS", rows)
        patch.setattr(parallel, "_MAX_CELLS", rows)
        report = _report(names, data, chosen)
    for name in names:
        expected = _by_textbook(textbook.table, name, data, chosen)
        assert report.per_user[name].to_dict() == _near(expected), name
        assert report.mean[name] == _near(_by_textbook(textbook.mean, name, data, chosen)), name
        assert report.pooled[name] == _near(_by_textbook(textbook.pooled, name, data, chosen)), name


@examples(1)
@given(data=strategies.datasets(most=4), chosen=strategies.choices, k=CUTOFFS)
def test_chance_and_tie_range_agree_with_the_textbook(
    data: Sample, chosen: Choices, k: int | None
) -> None:
    """The chance level is the mean over all orders, the tie range that of the extreme orders."""
    assume(strategies.is_usable(data))
    chosen = replace(
        chosen, missing_user="zero", mean_over="all", short_list="k", ap_over="relevant"
    )
    names = [name for name in _names(k, data, chosen) if name not in {"rmse", "mse", "mae"}]
    report = _report(names, data, chosen)
    for name in names:
        metric = parse(name)[0]
        chances = []
        for user in {**data.users, **data.unlisted}:
            rows, extra = data.users.get(user, []), data.unlisted.get(user, [])
            parts = textbook.chance(metric.name, metric.k, rows, extra, chosen)
            chances.append(textbook.value(metric.name, *parts, chosen))
        defined = [value for value in chances if not math.isnan(value)]
        row = report.summary.loc[name].to_dict()
        mean = math.fsum(defined) / len(defined) if defined else math.nan
        assert row["chance"] == _near(mean), name
        for ties, column in (("worst", "tie_low"), ("best", "tie_high")):
            extreme = _by_textbook(textbook.mean, name, data, replace(chosen, ties=ties))
            assert row[column] == _near(extreme), f"{column} of {name}"


@examples(1.5)
@given(data=strategies.datasets(), chosen=strategies.choices)
def test_users_called_trivial_have_one_score_in_every_order(data: Sample, chosen: Choices) -> None:
    """The count equals the textbook's, by trying all orders."""
    assume(strategies.is_usable(data))
    chosen = replace(chosen, ties="expected", short_list="k", missing_user="zero", mean_over="all")
    report = _report(["ndcg@2"], data, chosen)
    trivial = 0
    for user in {**data.users, **data.unlisted}:
        rows = [row._replace(estimated=0.0) for row in data.users.get(user, [])]
        low, high = (
            textbook.parts("ndcg", 2, rows, data.unlisted.get(user, []), replace(chosen, ties=ties))
            for ties in ("worst", "best")
        )
        value = textbook.value("ndcg", *high, chosen)
        trivial += not math.isnan(value) and math.isclose(low[0], high[0], abs_tol=1e-12)
    assert report.counts["trivial"] == trivial


@examples(1)
@given(
    data=strategies.datasets(),
    chosen=strategies.choices,
    user=st.integers(0, 2),
    k=st.integers(1, 7),
)
def test_the_last_row_of_explain_equals_the_textbook(
    data: Sample, chosen: Choices, user: int, k: int
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
