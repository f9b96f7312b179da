"""Time each step of a real evaluation, with clocks around its function."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import numpy as np
from evaluate import METRICS, THRESHOLD

import recsys_ndcg as rn
from recsys_ndcg.lists import grouping, ranked_lists
from recsys_ndcg.report import report as reports
from recsys_ndcg.scoring.audit import Audit
from recsys_ndcg.scoring.plan import Plan
from side_by_side.measuring import read_clocks, time_call
from side_by_side.tables import format_table

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd
    from numpy.typing import NDArray

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
REST = "the rest"
STEPS = (
    *("read", "ids to codes", "grouping", "repeats", "scan", "metrics", "ties", "warnings"),
    *("report", REST),
)
#: the step whose function calls another step's; a call in any other step is a part of that step
CALLERS = {"grouping": "repeats"}


class Clock:
    """Adds up the CPU and wall seconds that each step takes without the steps inside it.

    Threads that are in the same step at the same time count once.
    """

    def __init__(self) -> None:
        self.taken: dict[str, NDArray[np.float64]] = defaultdict(lambda: np.zeros(2))
        self._active: list[str] = []
        self._last = read_clocks()
        self._lock = threading.Lock()

    def wrap(self, work: Callable[..., Any], step: str) -> Callable[..., Any]:
        """Return the same function, with a clock."""

        def clocked(*args: Any, **options: Any) -> Any:
            if self._active and self._active[-1] not in {REST, step, CALLERS.get(step)}:
                return work(*args, **options)
            self._switch(self._active.append, step)
            result = work(*args, **options)
            if isinstance(result, Iterator):  # it runs only when it is consumed
                result = [*result]
            self._switch(self._active.remove, step)
            return result

        return clocked

    def _switch(self, change: Callable[[str], None], step: str) -> None:
        """Count the time since the last switch for the step that began last; begin or end one."""
        with self._lock:
            now = read_clocks()
            if self._active:
                self.taken[self._active[-1]] += now - self._last
            self._last = now
            change(step)


def profile(frame: pd.DataFrame) -> tuple[pd.Series[float], dict[str, NDArray[np.float64]]]:
    """Evaluate once; return the means, and the CPU and wall seconds of each step."""
    clock = Clock()

    def evaluate() -> rn.Report:
        report = rn.evaluate(frame, metrics=METRICS, threshold=THRESHOLD)
        clock.wrap(_read_report, "report")(report)
        return report

    with ExitStack() as patches:
        for place, name, step in PLACES:
            clocked = clock.wrap(getattr(place, name), step)
            patches.enter_context(patch.object(place, name, clocked))
        report = clock.wrap(evaluate, REST)()
    # the same lists without the extreme orders of ties
    source, steps = report._data.audit.source, clock.taken
    without = time_call(lambda: source.plan.measure(source.lists))
    steps["ties"] = np.maximum(steps["metrics"] - without, 0.0)
    steps["metrics"] = steps["metrics"] - steps["ties"]
    return report.mean, {step: steps[step] for step in STEPS}


def _read_report(report: rn.Report) -> None:
    """Compute the tables of the report."""
    report.per_user, report.mean  # noqa: B018 - computed when first read


def format_profile(frame: pd.DataFrame, times: int) -> str:
    """Return a table of the steps, with the median times of several runs."""
    runs = [[*profile(frame)[1].values()] for _ in range(times)]
    seconds = np.median(runs, axis=0)
    seconds = np.vstack([seconds, seconds.sum(axis=0)])
    rows = [
        [name, f"{1000 * cpu:.1f}", f"{cpu_share:.0%}", f"{1000 * wall:.1f}", f"{wall_share:.0%}"]
        for name, (cpu, wall), (cpu_share, wall_share) in zip(
            (*STEPS, "all"), seconds, seconds / seconds[-1], strict=True
        )
    ]
    return format_table(["", "CPU ms", "share", "wall ms", "share"], rows)
