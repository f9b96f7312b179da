"""A progress bar is shown to a person who watches a long job, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg import progress
from recsys_ndcg.progress import ProgressLine, Steps, iterate_with_progress, progress_bar
from tests.commands import run_python
from tests.errors import rejects
from tests.profiles import slow

JOB = """
import sys, time
from recsys_ndcg.progress import progress_bar
with progress_bar(enabled=True, delay=0) as show:
    show("[b]Fitting[/b]", 0.25)
    time.sleep(0.5)
print("done")
"""


class RecordedBar:
    """A bar that records what it is asked to show."""

    def __init__(self) -> None:
        self.shown: list[list[ProgressLine]] = []
        self.entered = self.left = 0
        self.drawn = threading.Event()

    def _show(self, lines: Sequence[ProgressLine]) -> None:
        self.shown.append(list(lines))
        self.drawn.set()

    @contextmanager
    def bar(self) -> Iterator[Callable[[Sequence[ProgressLine]], None]]:
        """Count, and keep."""
        self.entered += 1
        try:
            yield self._show
        finally:
            self.left += 1


@pytest.fixture(name="seen")
def _seen(monkeypatch: pytest.MonkeyPatch) -> RecordedBar:
    found = RecordedBar()
    monkeypatch.setattr(progress, "choose_bar", found.bar)
    return found


def test_a_long_job_has_a_bar_that_is_removed_at_its_end(seen: RecordedBar) -> None:
    """Whichever thread reports the progress, and even after an error."""
    with pytest.raises(KeyboardInterrupt), progress_bar(enabled=True, delay=0) as show:  # noqa: PT012
        other = threading.Thread(target=show, args=("Fitting", 0.5))
        other.start()
        other.join()
        assert seen.drawn.wait(20)
        raise KeyboardInterrupt
    ((line,), *_) = seen.shown
    assert (line.what, line.share) == ("Fitting", 0.5)
    assert (seen.entered, seen.left) == (1, 1)
    threads = threading.active_count()
    with progress_bar(enabled=True, delay=0) as show:  # there is one again
        show("Fitting", 0.5)
        assert threading.active_count() == threads + 1
    assert threading.active_count() == threads


def test_a_short_job_shows_nothing(seen: RecordedBar) -> None:
    """Whatever it reports."""
    with progress_bar(enabled=True) as show:
        show("Fitting", 0.5)
    assert seen.entered == 0


UNSHOWN = [
    ValueError("I/O operation on closed file"), OSError(5, "Input/output error"),
    ImportError("No module named 'rich'"),
]  # fmt: skip


@pytest.mark.parametrize("error", UNSHOWN, ids=lambda error: type(error).__name__)
def test_a_job_goes_on_if_its_bar_cannot_be_shown(
    error: Exception, seen: RecordedBar, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For instance on a terminal that was closed; nothing is printed about it."""
    printed: list[object] = []
    monkeypatch.setattr(threading, "excepthook", printed.append)

    def fail(_: Sequence[ProgressLine]) -> None:
        seen.drawn.set()
        raise error

    monkeypatch.setattr(seen, "_show", fail)
    with progress_bar(enabled=True, delay=0) as show:
        show("Fitting", 0.5)
        assert seen.drawn.wait(20)
    assert (seen.left, printed) == (1, [])


def test_a_disabled_bar_is_not_shown(seen: RecordedBar) -> None:
    """And it does not replace another bar."""
    with progress_bar(enabled=False, delay=0) as show:
        show("Fitting", 0.5)
        with progress_bar(enabled=True, delay=0) as inner:
            inner("Ranking", 0.5)
            assert seen.drawn.wait(20)
    assert {line.what for lines in seen.shown for line in lines} == {"Ranking"}


@pytest.mark.parametrize("progress", [pd.NA, None, 1, "no"])
def test_progress_is_true_or_false(progress: Any) -> None:
    """Anything else might mean either."""
    rows = {user: [(4.0, 5), (3.0, 2)] for user in "abcd"}
    resample = partial(rn.evaluate(rows).intervals, method="percentile")
    for act in (resample, partial(rn.compare, {"A": rows, "B": dict(rows)})):
        with rejects("progress must be True or False, not"):
            act(progress=progress)


def test_a_part_of_a_job_has_no_bar_of_its_own(seen: RecordedBar) -> None:
    """Only the whole is shown."""
    with progress_bar(enabled=True, delay=0) as show, progress_bar(enabled=True, delay=0) as inner:
        inner("Ranking", 0.1)
        show("Fitting", 0.5)
        assert seen.drawn.wait(20)
    assert seen.entered == 1
    assert {line.what for lines in seen.shown for line in lines} == {"Fitting"}


def test_a_worker_shows_nothing(seen: RecordedBar, monkeypatch: pytest.MonkeyPatch) -> None:
    """The process that started it does."""
    monkeypatch.setattr("multiprocessing.process.parent_process", object)
    with progress_bar(enabled=True, delay=0) as show:
        show("Fitting", 0.5)
        time.sleep(0.05)
    assert seen.entered == 0


def test_items_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each after its use, and passed on as it is."""
    reported: list[tuple[str, float]] = []
    monkeypatch.setattr(Steps, "set", lambda _, *one: reported.append(one))
    monkeypatch.setattr(progress, "choose_bar", RecordedBar().bar)
    items = iterate_with_progress(iter("abcd"), "Reading", 4, enabled=True)
    assert next(items) == "a"
    assert reported == [("Reading", 0.0)]
    assert [*items] == ["b", "c", "d"]
    assert reported[1:] == [("Reading", done / 4) for done in range(1, 5)]
    reported.clear()
    assert [*iterate_with_progress("ab", "Reading", None, enabled=True)] == ["a", "b"]
    assert {share for _, share in reported} == {-1.0}


ROWS = [(user, item, -item, (user * item) % 3 > 1) for user in range(40) for item in range(5)]
MODELS = {name: rn.evaluate([(u, i, e * sign, t) for u, i, e, t in ROWS], metrics=["ndcg@3"])
          for name, sign in (("a", 1), ("b", -1))}  # fmt: skip
LONG: dict[str, Callable[[], object]] = {
    "Resampling users": lambda: MODELS["a"].intervals(method="bca", draws=99),
    "Permuting users": lambda: MODELS["a"].gaps({user: user % 3 for user in range(40)}, draws=99),
    "Permuting segments": lambda: MODELS["a"].by({user: user % 3 for user in range(40)}).remarks,
    "Evaluating": lambda: rn.compare({"a": ROWS, "b": ROWS[::-1]}),
    "Testing ndcg@3": lambda: rn.compare(MODELS, test="randomisation").pairwise,
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_job_names_its_step_and_counts_to_the_end(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The shares of what is done rise to 1."""
    shares: list[float] = []
    monkeypatch.setattr(
        Steps, "set", lambda _, what, share: shares.append(share) if what == name else None
    )
    monkeypatch.setattr(progress, "choose_bar", RecordedBar().bar)
    LONG[name]()
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_steps_show_how_long_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the pace so far; the time left counts down, and never below 0."""
    now = 100.0
    monkeypatch.setattr("recsys_ndcg.progress.monotonic", lambda: now)
    steps = Steps()
    assert steps.lines(now) == []
    steps.set("Fitting", 0)
    steps.set("Looking", -1)
    now = 130.0
    steps.set("Fitting", 0.25)
    assert steps.lines(130) == [
        ProgressLine("Fitting", 0.25, "0:30, 1:30 left"), ProgressLine("Looking", None, "0:30")
    ]  # fmt: skip
    assert steps.lines(160)[0].times == "1:00, 1:00 left"
    assert steps.lines(500)[0].times == "6:40, 0:00 left"
    steps.set("Fitting", 1.5)
    assert [line.what for line in steps.lines(131)] == ["Looking"]
    steps.set("Looking", 1)
    assert steps.lines(190) == [ProgressLine("Looking", 1, "0:30")]


def test_seconds_are_written_as_on_a_clock() -> None:
    """With hours, if there are any."""
    times = {0: "0:00", 59.6: "1:00", 3599: "59:59", 86_400: "24:00:00"}
    assert {seconds: progress.format_duration(seconds) for seconds in times} == times


@pytest.mark.skipif(os.name != "posix", reason="there are no such terminals")
@pytest.mark.parametrize("rich", [True, False])
def test_a_terminal_shows_the_bar_and_is_clean_in_the_end(*, rich: bool) -> None:
    """Without rich, nothing; standard output is not changed."""
    pytest.importorskip("rich")
    import pty  # noqa: PLC0415 - of POSIX alone

    job = JOB if rich else f"import sys; sys.modules['rich'] = None{JOB}"
    ours, theirs = pty.openpty()
    done = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", job],
        env={**os.environ, "TERM": "xterm"}, stderr=theirs, stdout=subprocess.PIPE, check=True,
    )  # fmt: skip
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # how Linux reports the end
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert done.stdout == b"done\n"
    if rich:
        assert b"[b]Fitting[/b]" in shown
        assert b"25%" in shown
        assert shown.endswith(b"\x1b[2K")  # the line is erased
    else:
        assert shown == b""


@pytest.mark.parametrize("color", [*slow(""), "1"])
def test_a_pipe_gets_no_bar(color: str) -> None:
    """Not even if colours are forced."""
    done = run_python("-c", JOB, FORCE_COLOR=color)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_a_notebook_shows_the_bar_and_is_clean_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without rich and without widgets: one place, whose content is replaced."""
    shown: list[dict[str, str]] = []
    place = SimpleNamespace(update=lambda bundle, **_: shown.append(bundle))

    def display(bundle: dict[str, str], **how: Any) -> object:
        assert how == {"raw": True, "display_id": True}
        shown.append(bundle)
        return place

    ipython, inner = ModuleType("IPython"), ModuleType("IPython.display")
    vars(ipython)["get_ipython"] = lambda: SimpleNamespace(kernel=object())
    vars(inner)["display"] = display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", inner)
    bar = progress.choose_bar()
    assert bar is not None
    with bar as show:
        show([ProgressLine("<b>", 0.25, "0:01, 0:03 left"), ProgressLine("Looking", None, "0:01")])
        show([ProgressLine("Looking", 1.0, "0:02")])
    assert {one["text/plain"] for one in shown} == {""}  # of a program that shows no HTML
    begin, first, second, last = (one["text/html"] for one in shown)
    assert first == (
        '&lt;b&gt; <progress value="0.250"></progress> 25%, 0:01, 0:03 left<br>'
        "Looking <progress></progress> 0:01"
    )
    assert "100%" in second
    assert begin == last == ""
    vars(ipython)["get_ipython"] = SimpleNamespace  # IPython in a terminal
    monkeypatch.setattr("sys.stderr", None)
    assert progress.choose_bar() is None
