"""A plugin of pytest: after all quick tests, the processor time of each folder, and its budget."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath
from textwrap import fill

import pytest

#: Seconds of both processors of a machine that runs all in 150 s, also of processes that a test
#: starts; a slower machine needs more of each. `tests` has the files outside the folders,
#: `recsys_ndcg` the examples of docstrings. Whoever adds much raises a number in the same change,
#: and explains why; nothing fails because of time.
BUDGETS = {
    "beyond": 32, "cli": 24, "comparison": 17, "convention": 4, "experiments": 37, "files": 5,
    "input": 13, "lists": 3, "metrics": 11, "peers": 10, "ranking": 2, "ratings": 4,
    "rendering": 20, "report": 20, "scale": 15, "scoring": 5, "significance": 10,
    "split_checks": 4, "surprise": 16, "tests": 28, "weights": 4, "recsys_ndcg": 4,
}  # fmt: skip
_STARTED = pytest.StashKey[float]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note when a test starts."""
    item.stash[_STARTED] = sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Add the seconds of a test to its last report, which a worker sends."""
    yield
    item.user_properties.append(("seconds", sum(os.times()[:4]) - item.stash[_STARTED]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seconds of each folder if tests of all folders were run."""
    used: Counter[str] = Counter()
    for report in terminalreporter.getreports(""):
        folder, *inside = PurePath(report.nodeid.partition("::")[0]).parts
        name = (inside[0] if inside[1:] else folder) if folder == "tests" else "recsys_ndcg"
        used[name] += dict(report.user_properties).get("seconds", 0)
    if terminalreporter.config.option.markexpr == "not slow" and BUDGETS.keys() <= used.keys():
        terminalreporter.section("seconds of the processors, of their budget; ! is more")
        used["all"] = used.total()
        parts = [
            f"{name} {used[name]:.0f} of {budget}{'!' * (used[name] > budget)}"
            for name, budget in {**BUDGETS, "all": sum(BUDGETS.values())}.items()
        ]
        terminalreporter.line(fill(", ".join(parts), 100))
