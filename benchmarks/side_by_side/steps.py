"""Time each step of a real evaluation, with a clock around its function."""

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
from recsys_ndcg.report import report as reports
from recsys_ndcg.scoring.audit import Audit
from recsys_ndcg.scoring.plan import Plan
from side_by_side.tables import format_table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

#: the module or class of a function, its name, and the name of the step
PLACES: list[tuple[Any, str, str]] = [
    (ranked_lists, "read_rows", "read"),
    (ranked_lists, "encode_ids", "ids to codes"),
    (grouping, "group_by_user", "grouping"),
    (ranked_lists, "group_distinct", "repeats"),
    (Plan, "facts_of", "scan"),
    (Audit, "of", "metrics"),
    (reports, "find_warnings", "warnings"),
    (reports.Report, "__init__", "report"),
]
#: the step that runs inside another step
WITHIN = {"repeats": "grouping", "metrics": "ties"}


class Clock:
    """Records when functions start and end, also in threads."""

    def __init__(self) -> None:
        self.spans: dict[str, list[tuple[float, float]]] = {}
        self.arguments: dict[str, tuple[Any, ...]] = {}

    def wrap(self, work: Callable[..., Any], step: str) -> Callable[..., Any]:
        """Return the same function, with a clock."""

        def clocked(*args: Any, **options: Any) -> Any:
            self.arguments[step] = args
            start = time.perf_counter()
            found = work(*args, **options)
            if isinstance(found, Iterator):  # it runs only when it is consumed
                found = [*found]
            self.spans.setdefault(step, []).append((start, time.perf_counter()))
            return found

        return clocked

    def seconds(self, step: str) -> float:
        """Return for how many seconds at least one thread was in this step."""
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
        means: pd.Series[float] = clock.wrap(_read_report, "report")(report)
        return means

    with ExitStack() as patches:
        for place, name, step in PLACES:
            clocked = clock.wrap(getattr(place, name), step)
            patches.enter_context(patch.object(place, name, clocked))
        means = clock.wrap(evaluated, "all")()
    lists, plan, _ = clock.arguments["metrics"]
    # the same lists without the extreme orders of ties
    clock.wrap(plan.measure, "without ties")(lists)
    steps = {step: clock.seconds(step) for _, _, step in PLACES}
    steps["ties"] = max(steps["metrics"] - clock.seconds("without ties"), 0.0)
    for outer, inner in WITHIN.items():
        steps[outer] -= steps[inner]
    order = "read", "ids to codes", "grouping", "repeats", "scan", "metrics", "ties", "warnings"
    found = {step: steps[step] for step in (*order, "report")}
    return means, found | {"the rest": clock.seconds("all") - sum(found.values())}


def _read_report(report: rn.Report) -> pd.Series[float]:
    """Return the means, and compute the other tables of the report."""
    report.per_user  # noqa: B018 - computed when first read
    return report.mean


def format_profile(frame: pd.DataFrame, times: int) -> str:
    """Return a table of the steps, with the median time of several runs."""
    runs = [profile(frame)[1] for _ in range(times)]
    steps = {step: median(run[step] for run in runs) for step in runs[0]}
    total = sum(steps.values())
    rows = [[step, f"{1000 * took:.1f}", f"{took / total:.0%}"] for step, took in steps.items()]
    return format_table(["", "ms", "share"], [*rows, ["all", f"{1000 * total:.1f}", ""]])
