"""Where the time goes: a clock around each function of a real evaluation, which is not copied."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from statistics import median
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from evaluate import METRICS, THRESHOLD

import recsys_ndcg as rn
from recsys_ndcg.lists import grouping, ranked_lists
from recsys_ndcg.report.report import Report
from recsys_ndcg.scoring.audit import Audit
from recsys_ndcg.scoring.plan import Plan
from side_by_side.tables import table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

#: where a function is looked up, its name, and what it is called here
PLACES: list[tuple[Any, str, str]] = [
    (ranked_lists, "read", "read"),
    (ranked_lists, "encode", "ids to codes"),
    (grouping, "by_user", "grouping"),
    (ranked_lists, "distinct_by_user", "repeats"),
    (Plan, "facts_of", "facts"),
    (Audit, "of", "measuring"),
    (Report, "__init__", "report"),
]
#: steps that run inside others
WITHIN = {"repeats": "grouping", "measuring": "ties"}


class Clock:
    """When functions began and ended, in threads too."""

    def __init__(self) -> None:
        self.spans: dict[str, list[tuple[float, float]]] = {}
        self.given: dict[str, tuple[Any, ...]] = {}

    def around(self, work: Callable[..., Any], step: str) -> Callable[..., Any]:
        """Return the same function, with a clock."""

        def clocked(*args: Any, **options: Any) -> Any:
            self.given[step] = args
            start = time.perf_counter()
            found = work(*args, **options)
            if isinstance(found, Iterator):  # which works when it is gone through
                found = [*found]
            self.spans.setdefault(step, []).append((start, time.perf_counter()))
            return found

        return clocked

    def seconds(self, step: str) -> float:
        """Return how long at least one thread was there."""
        total, reached = 0.0, 0.0
        for start, end in sorted(self.spans.get(step, [])):
            total += max(end - max(start, reached), 0.0)
            reached = max(reached, end)
        return total


def profile(frame: pd.DataFrame) -> tuple[pd.Series[float], dict[str, float]]:
    """Evaluate once; return the means, and the seconds of each step."""
    clock = Clock()

    def evaluated() -> pd.Series[float]:
        report = rn.evaluate(frame, metrics=METRICS, threshold=THRESHOLD)
        means: pd.Series[float] = clock.around(_told, "report")(report)
        return means

    with ExitStack() as patches:
        for place, name, step in PLACES:
            clocked = clock.around(getattr(place, name), step)
            patches.enter_context(patch.object(place, name, clocked))
        means = clock.around(evaluated, "all")()
    lists, plan, _ = clock.given["measuring"]
    # the same lists without the extreme orders of ties
    clock.around(plan.measure, "without ties")(lists)
    steps = {step: clock.seconds(step) for _, _, step in PLACES}
    steps["ties"] = max(steps["measuring"] - clock.seconds("without ties"), 0.0)
    for outer, inner in WITHIN.items():
        steps[outer] -= steps[inner]
    order = "read", "ids to codes", "grouping", "repeats", "facts", "measuring", "ties"
    found = {step: steps[step] for step in (*order, "report")}
    return means, found | {"the rest": clock.seconds("all") - sum(found.values())}


def _told(report: rn.Report) -> pd.Series[float]:
    """Read what a report makes when it is first read."""
    report.per_user  # noqa: B018 - made when first read
    return report.mean


def profiled(frame: pd.DataFrame, times: int) -> str:
    """Return a table of the steps, each the median of some runs."""
    runs = [profile(frame)[1] for _ in range(times)]
    steps = {step: median(run[step] for run in runs) for step in runs[0]}
    total = sum(steps.values())
    rows = [[step, f"{1000 * took:.1f}", f"{took / total:.0%}"] for step, took in steps.items()]
    return table(["", "ms", "share"], [*rows, ["all", f"{1000 * total:.1f}", ""]])
