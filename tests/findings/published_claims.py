"""What findings about a published number claim, checked against its table."""

from __future__ import annotations

import math
import re
from typing import Any

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


def _get_row(found: NumberExplanation, metric: str, protocol: str, **numbers: Any) -> Any:
    row: Any = found.table.set_index("protocol").loc[protocol]
    assert (metric, numbers.pop("value")) == (found.metric, found.value)
    for name, number in numbers.items():
        is_missing = number is None or math.isnan(number)
        assert number == row[name] or (is_missing and math.isnan(row[name]))
    return row


@claim("undefined_number")
def _(found: NumberExplanation, **given: Any) -> bool:
    return math.isnan(_get_row(found, **given)["best"])


@claim("number_above_best")
def _(found: NumberExplanation, **given: Any) -> bool:
    return bool(_read_ends(found)[0] > _get_row(found, **given)["best"])


@claim("number_below_worst")
def _(found: NumberExplanation, **given: Any) -> bool:
    return bool(_read_ends(found)[1] < _get_row(found, **given)["worst"])


@claim("number_below_chance")
def _(found: NumberExplanation, **given: Any) -> bool:
    return bool(_read_ends(found)[1] < _get_row(found, **given)["chance"])


@claim("number_at_chance")
def _(found: NumberExplanation, **given: Any) -> bool:
    low, high = _read_ends(found)
    return bool(low <= _get_row(found, **given)["chance"] <= high)


@claim("possible_number")
def _(found: NumberExplanation, **given: Any) -> bool:
    row, low = _get_row(found, **given), _read_ends(found)[0]
    return bool(low <= row["best"] and not low <= row["chance"])


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
