"""A plugin of pytest: after all quick tests, the processor time of each folder, and its budget."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import PurePath

import pytest

#: Seconds of both processors of a usual machine, with those of other processes that a test starts.
#: `tests` has the files beside the folders, `recsys_ndcg` the examples of docstrings. Whoever adds
#: much raises a number in the same change, and says why; nothing fails because of time.
BUDGETS = {"tests": 60}
_STARTED = pytest.StashKey[float]()


def _measure() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Note when a test starts."""
    item.stash[_STARTED] = _measure()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Add the seconds of a test to its last report, which a worker sends."""
    yield
    item.user_properties.append(("seconds", _measure() - item.stash[_STARTED]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seconds of each folder if tests of all folders were run."""
    used: Counter[str] = Counter()
    for report in terminalreporter.getreports(""):
        folder, *inside = PurePath(report.nodeid.partition("::")[0]).parts
        is_deep = folder == "tests" and len(inside) > 1
        name = inside[0] if is_deep else folder if folder == "tests" else "recsys_ndcg"
        used[name] += dict(report.user_properties).get("seconds", 0)
    if terminalreporter.config.option.markexpr != "not slow" or not BUDGETS.keys() <= used.keys():
        return
    terminalreporter.section("seconds of the processors, and the budget; ! is over it")
    cells = [
        f"{name:>12} {used[name]:5.0f} of {budget:3}{'!' if used[name] > budget else ' '}"
        for name, budget in {**BUDGETS, "all": sum(BUDGETS.values())}.items()
    ]
    for place in range(0, len(cells), 3):
        terminalreporter.line("".join(cells[place : place + 3]))
