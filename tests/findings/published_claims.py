"""What findings about a published number claim, checked against its table."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from recsys_ndcg.results import NumberExplanation
from tests.findings.claims import check_claims, claim


def check_number(found: NumberExplanation) -> list[str]:
    """Check each finding, and return their kinds."""
    for finding, row in zip(found._verdicts, found.table.to_dict("records"), strict=True):
        assert finding.names["protocol"] == row["protocol"]
        assert finding.severity in ({"fact"} if not row["stated"] else {"error", "warning", "fact"})
    return check_claims([*found._verdicts, *found._remarks], found)


def _read_ends(found: NumberExplanation) -> tuple[float, float]:
    """Return the lowest and the highest number that is rounded to the value."""
    match = re.search(r"[\s:=]\d*\.?(\d*)\s*(%?)", found.text)
    assert match
    half = 0.5 * 10.0 ** -len(match[1]) / (100 if match[2] else 1)
    return found.value - half, found.value + half


@claim(
    *("possible_number", "undefined_number", "number_above_best", "number_below_worst"),
    *("number_below_chance", "number_at_chance"),
)
def _(found: NumberExplanation, metric: str, protocol: str, value: float, **numbers: Any) -> bool:
    row: Any = found.table.set_index("protocol").loc[protocol]
    assert (metric, value) == (found.metric, found.value)
    given = np.array([*numbers.values()], dtype=float)  # None is NaN
    np.testing.assert_array_equal(given, row[[*numbers]].to_numpy(float))
    return bool(row["verdict"] == _judge(found, row))


def _judge(found: NumberExplanation, row: Any) -> str:
    low, high = _read_ends(found)
    is_open = "unknown_relevant_items" in found.findings["kind"].tolist()
    if math.isnan(row["best"]):
        return "no score"
    if low > row["best"]:
        return "impossible: above the best"
    if high < row["worst"] and not is_open:
        return "impossible: below the worst"
    is_chance = low <= row["chance"] <= high
    worse = "possible, but worse than chance" if high < row["chance"] else "possible"
    return "possible: chance" if is_chance else worse


@claim("unknown_relevant_items")
def _(found: NumberExplanation, metric: str, relevant: int, is_possible: bool) -> bool:  # noqa: FBT001 - by name
    assert metric == found.metric
    assert is_possible == (not found.table["verdict"].str.startswith("impossible").all())
    return relevant > 0 and not re.search("leave|loo|relevant", found.text)


@claim("implied_ranks")
def _(found: NumberExplanation, metric: str, protocol: str, catalogue: int, **ends: float) -> bool:
    row = found.table.set_index("protocol").loc[protocol]
    assert metric == found.metric
    assert not row["verdict"].startswith("impossible")
    assert 1 < row["items"] < catalogue
    assert 0 <= ends["hit_low"] <= ends["hit_high"] <= 1
    return 1 <= ends["median_low"] <= ends["median_high"] <= catalogue >= ends["same_rank"]


@claim("unknown_catalogue")
def _(found: NumberExplanation, metric: str) -> bool:
    every = found.table.set_index("protocol")["items"]
    return metric == found.metric and math.isnan(every.get("all items", math.nan))


@claim("number_above_one")
def _(found: NumberExplanation, metric: str, value: float) -> bool:
    return metric == found.metric and value == found.value > 1
