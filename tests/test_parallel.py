"""Threads: within the limit, with the same numbers, and without deadlocks."""

from __future__ import annotations

import _thread
import multiprocessing
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg import parallel
from recsys_ndcg.parallel import count_threads, limit_threads, map_in_threads
from recsys_ndcg.scoring import Plan
from tests.errors import rejects
from tests.scale.cases import predictions
from tests.test_interrupts import within

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """Ratings of 100 users, of whom most have ties."""
    rows = predictions(0, n_users=100).round(1)
    return rows.assign(true=rows["true"].where(rows.index % 10 > 0))


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut so small that there is work for many threads, on as many cores."""
    for name, rows in (("_MAX_ROWS", 200), ("_MIN_ROWS", 50), ("_FEW_ROWS", 0)):
        monkeypatch.setattr(parallel, name, rows)
    monkeypatch.setattr(parallel, "_count_cores", lambda: 4)


def evaluate_bits(frame: pd.DataFrame, n_jobs: int | None = None) -> tuple[Any, ...]:
    """Return a report's tables as bytes."""
    report = rn.evaluate(frame, metrics=["ndcg", "rr"], k=None, threshold=4, n_jobs=n_jobs)
    tables = report.per_user, report.summary, report.audit
    return tuple(one.to_numpy(dtype=np.float64).tobytes() for one in tables)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("n_jobs", [2, 3, 100, -1, None])
def test_no_number_depends_on_the_threads(frame: pd.DataFrame, n_jobs: int | None) -> None:
    """Not in the last bit."""
    assert evaluate_bits(frame, n_jobs) == evaluate_bits(frame, 1)


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_many_callers_at_once(frame: pd.DataFrame) -> None:
    """Their numbers are right, and no thread is left."""
    expected, before = evaluate_bits(frame, 1), _thread._count()
    with ThreadPoolExecutor(32) as callers:
        assert {*callers.map(lambda _: evaluate_bits(frame), range(32))} == {expected}
    assert within(5, lambda: _thread._count() == before)


@pytest.mark.usefixtures("small_blocks")
def test_n_jobs_also_limits_later_computations(
    frame: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The audit, segments, other cutoffs, and saving."""
    monkeypatch.setattr(parallel, "start_new_thread", None)  # fails when it is called
    report = rn.evaluate(frame, metrics=["ndcg@10"], threshold=4, n_jobs=1)
    audit_data = report._data.audit
    assert len(report.audit)
    assert len(report.by("activity").summary)
    assert audit_data.measure_others(Plan.of(["ndcg@5"]).measurements).scores_with_orders
    report.save(tmp_path / "report.json")


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
def test_work_is_done_if_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one, or only some; results are in the order of the items, whichever is ready first."""
    start = _thread.start_new_thread

    def work(item: int) -> int:
        time.sleep(0.001 * (item % 3))
        return item

    for most in (0, 1, 2, 4):
        left = iter(range(most))

        def rarely(*call: Any, left: Iterator[int] = left) -> int:
            if next(left, None) is None:
                msg = "can't start new thread"
                raise RuntimeError(msg)
            return start(*call)

        with monkeypatch.context() as patched:
            patched.setattr(parallel, "start_new_thread", rarely)
            for _ in range(20):
                assert map_in_threads(work, range(30)) == [*range(30)]


def _in_a_child(frame: pd.DataFrame, there: Any) -> None:
    there.send(evaluate_bits(frame))


@pytest.mark.slow
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")  # of Python 3.12
def test_a_forked_process_starts_its_own_threads(frame: pd.DataFrame) -> None:
    """Its parent's threads do not exist there: waiting for them would never end."""
    expected, forking = evaluate_bits(frame), multiprocessing.get_context("fork")
    here, there = forking.Pipe()
    child = forking.Process(target=_in_a_child, args=(frame, there))
    child.start()
    assert here.poll(60)
    assert here.recv() == expected
    child.join(30)
    assert child.exitcode == 0


def _count_in_worker(_: int) -> int:
    return count_threads()


@pytest.mark.slow
def test_workers_of_a_pool_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each by itself would start as many threads as there are cores."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(_count_in_worker, range(2)) == [1, 1]


@pytest.mark.slow
def test_workers_of_joblib_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joblib sets the number of threads that libraries may start."""
    joblib = pytest.importorskip("joblib")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = parallel._count_cores()
    work = [joblib.delayed(_count_in_worker)(place) for place in range(4)]
    assert set(joblib.Parallel(n_jobs=max(cores, 2))(work)) == {1}


def test_the_environment_limits_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the variable that BLAS libraries read, and to the number of cores."""
    monkeypatch.setattr(parallel, "_count_cores", lambda: 8)
    for value, expected in (("3", 3), ("20", 8), ("0", 8), ("many", 8), ("", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert count_threads() == expected
    with limit_threads(5), limit_threads(None):
        assert count_threads() == 5
    with limit_threads(2), limit_threads(-1):
        assert count_threads() == 8
    daemon = SimpleNamespace(daemon=True)  # a worker of a pool
    monkeypatch.setattr("multiprocessing.process.current_process", lambda: daemon)
    assert count_threads() == 1


@pytest.mark.usefixtures("small_blocks")
def test_the_error_of_the_first_item_is_raised() -> None:
    """So the message does not depend on chance; items that have not started never start."""
    started = []

    def work(item: int) -> None:
        started.append(item)
        time.sleep(0.01 * (item == 2))
        if item in (2, 3):
            raise ValueError(item)
        time.sleep(0.001)

    for _ in range(10):
        started.clear()
        with pytest.raises(ValueError, match="2"):
            map_in_threads(work, range(1000))
        assert max(started) < 500


@pytest.mark.parametrize("n_rows", [2, None])
def test_an_error_keeps_no_data(n_rows: int | None) -> None:
    """Not until the next collection of garbage, in this thread or in others."""
    items = [np.arange(2), np.arange(2)]
    kept = weakref.ref(items[0])
    with limit_threads(2), pytest.raises(ValueError, match="size 1"):
        map_in_threads(np.ndarray.item, items, n_rows)
    del items
    assert kept() is None


@pytest.mark.usefixtures("small_blocks")
def test_nested_calls_run_in_their_own_thread() -> None:
    """Otherwise they would wait for each other forever."""

    def outer(item: int) -> int:
        return sum(map_in_threads(lambda one: one * item, range(10)))

    assert map_in_threads(outer, range(40)) == [45 * item for item in range(40)]


@pytest.mark.parametrize("n_jobs", [0, -2, 1.0, True, "2"])
def test_an_invalid_number_of_threads_raises(n_jobs: Any, frame: pd.DataFrame) -> None:
    """With the valid values."""
    with rejects("n_jobs must be 1 or more threads, or -1 for all cores"):
        rn.evaluate(frame, n_jobs=n_jobs)


def test_blocks_cover_everything_once() -> None:
    """Also of nothing."""
    assert parallel.split_users(np.array([0])) == []
    size = parallel._MIN_ROWS
    assert parallel.split_users(np.arange(size + 2)) == [(0, size), (size, size + 1)]


def interrupt(_: float) -> None:
    """Do as Ctrl-C does, when a share is shown."""
    raise KeyboardInterrupt


@pytest.mark.usefixtures("small_blocks")
def test_an_interrupt_ends_running_blocks() -> None:
    """The calling thread is interrupted, and another thread's work ends early."""
    started, ended = threading.Event(), threading.Event()

    def work(item: int) -> None:
        if item == 0:
            started.wait(20)
            return
        started.set()
        for _ in range(2000):
            try:
                parallel.raise_if_cancelled()
            except Exception:
                ended.set()
                raise
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(work, range(100), show=interrupt)
    assert ended.is_set()
    parallel.raise_if_cancelled()  # the calling thread itself is never cancelled


@pytest.mark.usefixtures("small_blocks")
def test_after_an_interrupt_no_further_block_starts() -> None:
    """Otherwise the interrupt would wait for all of them."""
    started = []

    def work(item: int) -> None:
        started.append(item)
        time.sleep(0.01 * (item > 0))

    with pytest.raises(KeyboardInterrupt):
        map_in_threads(work, range(1000), show=interrupt)
    assert len(started) < 500


@pytest.mark.usefixtures("small_blocks")
def test_the_share_done_is_reported() -> None:
    """In order, with several threads and with one."""
    shares: list[float] = []
    map_in_threads(abs, range(4), show=shares.append)
    assert shares == [0.25, 0.5, 0.75, 1.0]
    with limit_threads(1):
        map_in_threads(abs, range(4), show=(single := list[float]()).append)
    assert single == [0.25, 0.5, 0.75, 1.0]
