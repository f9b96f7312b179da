"""Threads: as many as are allowed, the same numbers, and nobody waits for ever."""

from __future__ import annotations

import multiprocessing
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg import parallel
from recsys_ndcg.parallel import (
    count_threads,
    limit_threads,
    map_in_threads,
    raise_if_cancelled,
    split_rows,
    split_users,
)
from recsys_ndcg.scoring import Plan
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CALLERS = 32
pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Ratings of 100 users, of whom most have ties."""
    draw = np.random.default_rng(0)
    user = np.repeat(np.arange(100), draw.integers(1, 40, 100))
    item = np.concatenate([draw.permutation(60)[:n] for n in np.bincount(user)])
    true = draw.integers(1, 6, len(user)).astype(float)
    estimated = (true + draw.normal(0, 1, len(user))).round(1)
    true[draw.random(len(user)) < 0.1] = np.nan
    frame = pd.DataFrame({"user": user, "item": item, "estimated": estimated, "true": true})
    return frame.sample(frac=1, random_state=0)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut so small that there is work for many threads, on as many cores."""
    monkeypatch.setattr(parallel, "_MAX_ROWS", 200)
    monkeypatch.setattr(parallel, "_MIN_ROWS", 50)
    monkeypatch.setattr(parallel, "_FEW_ROWS", 0)
    monkeypatch.setattr(parallel, "_count_cores", lambda: 4)


def measured(frame: pd.DataFrame, n_jobs: int | None = None) -> tuple[Any, ...]:
    """Return all that a report says, as something that is equal or not, to the last bit."""
    report = rn.evaluate(frame, metrics=["ndcg", "rr"], k=None, threshold=4, n_jobs=n_jobs)
    tables = report.per_user, report.summary, report.audit
    return tuple(one.to_numpy(dtype=np.float64).tobytes() for one in tables)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_jobs", [2, 3, 100, -1, None])
def test_no_number_depends_on_the_threads(frame: pd.DataFrame, n_jobs: int | None) -> None:
    """Not in the last bit."""
    assert measured(frame, n_jobs) == measured(frame, 1)


@pytest.mark.usefixtures("small_blocks")
def test_many_callers_at_once(frame: pd.DataFrame) -> None:
    """Their numbers are right, and no thread is left."""
    expected = measured(frame, 1)
    with ThreadPoolExecutor(CALLERS) as callers:
        found = list(callers.map(lambda _: measured(frame), range(CALLERS)))
    assert found == [expected] * CALLERS
    assert not _ours()


@pytest.mark.usefixtures("small_blocks")
def test_one_thread_is_one_also_for_what_is_asked_later(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the report, of a part of it, of other cutoffs, and of a file of it."""
    monkeypatch.setattr(parallel, "ThreadPoolExecutor", None)  # fails when it is called
    report = rn.evaluate(frame, metrics=["ndcg@10"], threshold=4, n_jobs=1)
    audited = report.audited
    later: list[Callable[[], Any]] = [
        lambda: report.audit,
        lambda: report.by("activity").summary,
        lambda: audited.measured_by(Plan.of(["ndcg@5"]).measurements).full_scores,
        lambda: report.save(tmp_path / "report.json"),
    ]
    for ask in later:
        ask()


@pytest.mark.usefixtures("small_blocks")
def test_where_no_thread_can_be_started_the_work_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process may have no more of them, when some work already, or from the first on."""
    start = threading.Thread.start

    def work(item: int) -> int:
        time.sleep(0.001)
        return item

    for most in range(3):
        left = iter(range(most))

        def rarely(thread: threading.Thread, left: Iterator[int] = left) -> None:
            if next(left, None) is None:
                msg = "can't start new thread"
                raise RuntimeError(msg)
            start(thread)

        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", rarely)
            for _ in range(20):
                found = map_in_threads(work, range(30))
                assert found == [*range(30)]


def _ours() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name.startswith("recsys_ndcg")]


def _in_a_child(frame: pd.DataFrame, there: Any) -> None:
    there.send(measured(frame))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # of Python 3.12
def test_a_process_that_is_forked_off_starts_threads_of_its_own(frame: pd.DataFrame) -> None:
    """Those of its parent are not there: to wait for them would be for ever."""
    expected = measured(frame)
    forking = multiprocessing.get_context("fork")
    here, there = forking.Pipe()
    child = forking.Process(target=_in_a_child, args=(frame, there))
    child.start()
    assert here.poll(60)
    assert here.recv() == expected
    child.join(30)
    assert child.exitcode == 0


def _allowed_there(_: int) -> int:
    return count_threads()


def test_workers_of_a_pool_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by itself would start as many threads as there are cores."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(_allowed_there, range(2)) == [1, 1]


def test_workers_of_joblib_take_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    """It tells them how many threads the libraries beneath may start."""
    joblib = pytest.importorskip("joblib")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = parallel._count_cores()  # noqa: SLF001
    work = [joblib.delayed(_allowed_there)(place) for place in range(4)]
    assert set(joblib.Parallel(n_jobs=max(cores, 2))(work)) == {1}


def test_as_many_as_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable that the libraries beneath read, and no more than cores."""
    monkeypatch.setattr(parallel, "_count_cores", lambda: 8)
    for told, expected in (("3", 3), ("20", 8), ("0", 8), ("many", 8), ("", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", told)
        assert count_threads() == expected
    with limit_threads(5), limit_threads(None):
        assert count_threads() == 5
    with limit_threads(2), limit_threads(-1):
        assert count_threads() == 8


@pytest.mark.usefixtures("small_blocks")
def test_results_stand_in_the_order_of_the_items() -> None:
    """Whichever is done first."""

    def work(item: int) -> int:
        time.sleep(0.001 * (item % 3))
        return -item

    assert map_in_threads(work, range(30)) == [-item for item in range(30)]


@pytest.mark.usefixtures("small_blocks")
def test_the_first_error_is_raised_and_the_others_are_left_alone() -> None:
    """So that a message does not depend on chance; what has not begun is not begun."""
    begun = []

    def work(item: int) -> None:
        begun.append(item)
        time.sleep(0.01 * (item == 2))
        if item in (2, 3):
            raise ValueError(item)
        time.sleep(0.001)

    for _ in range(10):
        begun.clear()
        with pytest.raises(ValueError, match="2"):
            map_in_threads(work, range(1000))
        assert max(begun) < 500


@pytest.mark.usefixtures("small_blocks")
def test_threads_that_ask_for_threads_do_the_work_themselves() -> None:
    """All of them waiting for each other would be for ever."""

    def outer(item: int) -> int:
        return sum(map_in_threads(lambda one: one * item, range(10)))

    assert map_in_threads(outer, range(40)) == [45 * item for item in range(40)]


@pytest.mark.parametrize("n_jobs", [0, -2, 1.0, True, "2"])
def test_a_number_of_threads_is_refused_that_is_none(n_jobs: Any, frame: pd.DataFrame) -> None:
    """With what to give."""
    with rejects("n_jobs must be a number of threads from 1, or -1 for all cores"):
        rn.evaluate(frame, n_jobs=n_jobs)


def test_blocks_cover_everything_once() -> None:
    """Also of nothing."""
    assert split_rows(0) == []
    assert split_users(np.array([0])) == []
    size = parallel._MIN_ROWS  # noqa: SLF001
    assert split_rows(size + 1) == [slice(0, size), slice(size, size + 1)]


@pytest.mark.usefixtures("small_blocks")
def test_an_interrupt_waits_for_no_block_that_heeds_it() -> None:
    """The calling thread is interrupted, and what another one does ends early."""
    begun, ended = threading.Event(), threading.Event()

    def work(item: int) -> None:
        if item == 0:
            begun.wait(20)
            return
        begun.set()
        for _ in range(2000):
            try:
                raise_if_cancelled()
            except Exception:
                ended.set()
                raise
            time.sleep(0.01)

    def interrupt(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(work, range(100), show=interrupt)
    assert ended.is_set()
    raise_if_cancelled()  # of a thread that called, nothing is asked


@pytest.mark.usefixtures("small_blocks")
def test_the_share_that_is_done_is_told() -> None:
    """In order, with several threads and with one."""
    shares: list[float] = []
    map_in_threads(abs, range(4), show=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]
    with limit_threads(1):
        map_in_threads(abs, range(4), show=(alone := list[float]()).append)
    assert alone == [0.25, 0.5, 0.75, 1.0]
