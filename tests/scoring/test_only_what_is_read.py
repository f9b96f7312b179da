"""What is measured is what a report reads: few users in random order, tied users in their ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.lists import GroupedLists, to_lists
from recsys_ndcg.scoring import Plan, audit
from recsys_ndcg.scoring.scores import ORDER_TABLES

METRICS = ["ndcg@3", "dcg@3", "precision@3", "recall@3", "ap@3", "rr@3", "auc", "rmse"]


def draw(n_users: int, seed: int, *, share_tied: float = 0.0, sign: float = 1.0) -> pd.DataFrame:
    """Draw lists of 1 to 8 items, whose estimates are the grades with noise."""
    chance = np.random.default_rng(seed)
    sizes = chance.integers(1, 9, n_users)
    user = np.repeat(np.arange(n_users), sizes)
    true = chance.integers(1, 6, len(user)).astype(float)
    estimated = sign * true + chance.normal(size=len(user))
    tied = (chance.random(n_users) < share_tied)[user]
    rows = pd.DataFrame({"user": user, "item": np.arange(len(user)), "true": true})
    return rows.assign(estimated=np.where(tied, estimated.round(), estimated))


def _ranges(lists: GroupedLists, plan: Plan) -> Any:
    return audit._measure_with_tie_range(lists, plan).roles


@pytest.mark.parametrize("share_tied", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("gain", ["exponential", {1: 0.0, 2: 3.0, 3: 1.0, 4: 1.0, 5: 9.0}])
def test_ends_of_ties_are_those_of_all_users(share_tied: float, gain: Any) -> None:
    """To the last bit, although only users with ties are ranked again."""
    lists = to_lists(draw(400, 3, share_tied=share_tied))
    plan = Plan.of(METRICS, threshold=4, convention=rn.Convention(gain=gain))
    ranges = _ranges(lists, plan)
    for role, ties in (("lowest", "worst"), ("highest", "best")):
        whole = plan.map_measurements(lambda one, rule=ties: one.with_ties(rule)).measure(lists)  # type: ignore[misc]
        np.testing.assert_array_equal(ranges[role], whole.per_user)


def _record(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, Sequence[str]]]:
    """Return a list that grows by the number of users and the tables of each measured order."""
    calls: list[tuple[int, Sequence[str]]] = []
    measure = audit.MeasuredLists.measure_order_roles

    def recorded(source: Any, tables: Sequence[str] = ORDER_TABLES) -> Any:
        calls.append((len(source.lists), tables))
        return measure(source, tables)

    monkeypatch.setattr(audit.MeasuredLists, "measure_order_roles", recorded)
    return calls


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize(("n_users", "n_measured"), [(1500, 100), (60, 60)])
def test_a_good_model_needs_random_order_of_few_users(
    n_users: int, n_measured: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the extreme orders nor the other users are measured before they are read."""
    calls = _record(monkeypatch)
    report = rn.evaluate(draw(n_users, 1), metrics=METRICS, threshold=4)
    assert calls == [(n_measured, ("chance",))]
    assert report.summary["chance"].notna().sum() == len(METRICS) - 1  # all but rmse
    assert calls[1:] == [(n_users, ORDER_TABLES)]


@pytest.mark.parametrize("n_users", [60, 1500])
def test_a_model_below_random_order_is_measured_whole(
    n_users: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The samples do not decide, and the warning is that of all users."""
    calls = _record(monkeypatch)
    with pytest.warns(rn.DataWarning, match="is .*, but the same lists in random order score"):
        report = rn.evaluate(draw(n_users, 1, sign=-1.0), metrics=["rmse", "ndcg@3"])
    assert [size for size, _ in calls] == ([60, 60] if n_users == 60 else [100, 1000, 1500])
    assert report["ndcg@3"] < report.summary["chance"]["ndcg@3"]


def test_a_weak_model_takes_the_second_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred users are not clearly above chance, and a thousand are not below it."""
    calls = _record(monkeypatch)
    rows = draw(3000, 5)
    noise = np.random.default_rng(1).normal(size=len(rows))
    rn.evaluate(rows.assign(estimated=noise + 0.05 * rows["true"]), metrics="ndcg@3")
    assert calls == [(100, ("chance",)), (1000, ("chance",))]


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_few_users_with_a_score_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """If one user of a hundred has a relevant item, the next sample, and then all are measured."""
    calls = _record(monkeypatch)
    rows = draw(4000, 2)
    rows.loc[rows["user"] % 100 != 0, "true"] = 1.0
    report = rn.evaluate(rows, metrics="rr", threshold=2)
    assert report.per_user["rr"].notna().sum() < 40
    assert [size for size, _ in calls[:3]] == [100, 1000, 4000]


def test_metrics_without_chance_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random order of a metric that has none is not measured again and again."""
    calls = _record(monkeypatch)
    how: Any = {"threshold": 4, "convention": rn.Convention(ap_over="hits")}
    rn.evaluate(draw(1500, 1), metrics=["ap@3", "ndcg@3"], **how)
    assert calls == [(100, ("chance",))]
