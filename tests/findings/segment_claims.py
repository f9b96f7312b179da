"""What the findings of segments claim, checked against their public tables."""

from __future__ import annotations

from typing import Any

from tests.findings.claims import claim


def _get(segments: Any, metric: str) -> Any:
    """Return the rows of a metric, by the segments' names."""
    table = segments.summary.xs(metric, level="metric")
    return table.set_axis(table.index.map(str))


@claim("users_outside_segments")
def _(segments: Any, outside: int, users: int) -> bool:
    inside = sum(report.counts["users"] for report in segments.values())
    return bool(0 < outside == users - inside == segments.counts[None])


@claim("single_segment")
def _(segments: Any, by: str, segment: str) -> bool:
    return [*map(str, segments)] == [segment] and by == segments.name


@claim("small_segments")
def _(known: Any, enough: int, sizes: list[int], segments: list[str]) -> bool:
    counts = {str(name): report.counts["users"] for name, report in known.items()}
    small = {name: count for name, count in counts.items() if count < enough == 10}
    tested = known.summary["p"].dropna().index.get_level_values("segment").map(str)
    assert small.keys().isdisjoint(tested)
    return dict(zip(segments, sizes, strict=True)) == small


@claim("different_chance")
def _(
    segments: Any, metric: str, by: str, low: float, high: float, lowest: str, highest: str
) -> bool:
    chance = _get(segments, metric)["chance"]
    assert (chance[lowest], chance[highest]) == (chance.min(), chance.max()) == (low, high)
    return high - low >= 0.05 and by == segments.name


@claim("different_segments")
def _(known: Any, metric: str, **numbers: Any) -> bool:
    table = _get(known, metric)
    due = table["difference"][table["p_corrected"] <= 0.05].sort_values(key=lambda size: -abs(size))
    return numbers == {
        "count": len(due),
        "total": len(table),
        "differences": due.tolist(),
        "segments": [*due.index],
        "minus_chance": metric in known.metrics_minus_chance,
    }


@claim("reversed_pooled_order")
def _(segments: Any, metric: str, by: str, segment: str, other: str, **numbers: float) -> bool:
    mean, pooled = (_get(segments, metric)[name] for name in ("mean", "pooled"))
    assert mean[segment] > mean[other]
    assert pooled[segment] < pooled[other]
    ends = [mean[segment], mean[other], pooled[segment], pooled[other]]
    return [*numbers.values()] == ends and by == segments.name
