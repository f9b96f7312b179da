"""What depends on the labels alone is computed once per data set; no library is needed."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import recsys_ndcg as rn
from recsys_ndcg import integrations
from tests.integrations.ranking_data import Queries

CALLS: list[int] = []
SETS = [Queries.draw(seed) for seed in range(2)]
SETS.append(replace(SETS[1], grades=SETS[1].grades[::-1]))


def gain(grades: Any) -> Any:
    """Return linear gains, and count the calls."""
    CALLS.append(len(grades))
    return grades


def test_gains_and_ideal_lists_are_kept_between_rounds_of_several_data_sets() -> None:
    """Even if the library reuses the memory of the labels for others; a pickle has no data."""
    metric = integrations.lightgbm_metric("ndcg@5", convention=rn.Convention(gain=gain))
    memory = np.zeros(1000)
    n_calls = []
    for number in range(4):
        for queries in SETS:
            labels = memory[: len(queries.grades)]
            labels[:] = queries.grades
            estimated = queries.features[:, number]
            [(_, mean, _)] = metric(labels, estimated, None, queries.sizes)
            how: dict[str, Any] = {"convention": rn.Convention(gain="linear")}
            assert mean == queries.evaluate(estimated, metrics="ndcg@5", **how)["ndcg@5"]
        n_calls.append(len(CALLS))
    assert len(set(n_calls)) == 1
    assert len(pickle.dumps(metric)) < 5000
    again = pickle.loads(pickle.dumps(metric))  # noqa: S301 - our own
    assert repr(again) == "lightgbm_metric(ndcg@5)"
    assert again(labels, SETS[-1].features[:, 3], None, SETS[-1].sizes) == [("ndcg@5", mean, True)]


def test_data_sets_of_long_ago_are_not_kept() -> None:
    """So other labels in each round do not fill the memory: at most 16 sets are kept."""
    metric = integrations.lightgbm_metric("ndcg@5", convention=rn.Convention(gain=gain))

    def count_calls(number: int) -> int:
        before = len(CALLS)
        metric(np.array([1.0, 2.0 + number]), np.array([2.0, 1.0]), None, np.array([2]))
        return len(CALLS) - before

    assert all(count_calls(number) for number in range(16))
    assert not any(count_calls(number) for number in range(16))
    assert count_calls(16)
    assert count_calls(0)
    assert not count_calls(16)


@pytest.mark.parametrize("make", [integrations.lightgbm_metric, integrations.xgboost_metric])
def test_a_wrong_name_raises_before_training(make: Any) -> None:
    """Not after the first round."""
    with pytest.raises(rn.UnknownMetricError, match="ndcg"):
        make("ndgc@10")
