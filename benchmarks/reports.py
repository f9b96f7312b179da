"""Measure the time and memory of a report's audit, leaderboard and file.

``python benchmarks/reports.py [USERS]``: a million users with one to nine ratings by default.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import recsys_ndcg as rn

if TYPE_CHECKING:
    from collections.abc import Callable

_MIB = 2**20


def draw_ratings(n_users: int) -> pd.DataFrame:
    """Return few whole grades per user, in random order."""
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(n_users), rng.integers(1, 10, n_users))
    return pd.DataFrame(
        {
            "user": user,
            "item": np.arange(len(user)),
            "estimated": rng.normal(size=len(user)),
            "true": rng.integers(1, 6, len(user)).astype(float),
        }
    )


def measure(name: str, work: Callable[[], Any]) -> Any:
    """Call a function, print its time and its peak memory, and return its result."""
    start, base = time.perf_counter(), _resident_memory()
    samples, done = [base], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            samples.append(_resident_memory())

    watcher = threading.Thread(target=watch)
    watcher.start()
    result = work()
    done.set()
    watcher.join()
    seconds, rise = time.perf_counter() - start, (max(samples) - base) / _MIB
    print(f"{name:32}{seconds:8.2f} s   {f'+{rise:.0f}':>6} MiB at peak")
    return result


def _resident_memory() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def main() -> None:
    """Measure evaluate, audit, leaderboard, save and load."""
    n_users = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    data = draw_ratings(n_users)
    print(f"{n_users:,} users, {len(data):,} ratings: ndcg@10, precision@10, recall@10")
    report = measure("evaluate", lambda: rn.evaluate(data, threshold=4))
    measure("audit", lambda: report.audit)
    measure("leaderboard by z", lambda: report.leaderboard("ndcg@10", by="z"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        measure("save", lambda: report.save(path))
        print(f"{'file':32}{path.stat().st_size / 1e6:8.1f} MB")
        loaded = measure("load", lambda: rn.Report.load(path))
    print("loaded report is equal:", loaded == report)
    print("digests of the ratings are equal:", loaded.same_ratings(report))


if __name__ == "__main__":
    main()
