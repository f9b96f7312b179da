"""What a report costs beyond its scores: the audit, the file, the leaderboard.

``python benchmarks/reports.py [USERS]``: a million users of one to nine ratings by default.
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


def ratings(n_users: int) -> pd.DataFrame:
    """Return few whole grades per user, ranked by chance."""
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


def measured(what: str, work: Callable[[], Any]) -> Any:
    """Return what some work gives, and print how long it took and how far memory rose."""
    start, base = time.perf_counter(), _resident()
    highest, done = [base], threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            highest.append(_resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    result = work()
    done.set()
    watcher.join()
    seconds, rise = time.perf_counter() - start, (max(highest) - base) / _MIB
    print(f"{what:32}{seconds:8.2f} s{rise:8.0f} MiB more at most")
    return result


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def main() -> None:
    """Evaluate, audit, save, load."""
    n_users = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    data = ratings(n_users)
    print(f"{n_users:,} users, {len(data):,} ratings: ndcg@10, precision@10, recall@10")
    report = measured("evaluate", lambda: rn.evaluate(data, threshold=4))
    measured("audit", lambda: report.audit)
    measured("leaderboard by z", lambda: report.leaderboard("ndcg@10", by="z"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        measured("save", lambda: report.save(path))
        print(f"{'file':32}{path.stat().st_size / 1e6:8.1f} MB")
        loaded = measured("load", lambda: rn.Report.load(path))
    print("the same after loading:", loaded == report, loaded.same_ratings(report))


if __name__ == "__main__":
    main()
