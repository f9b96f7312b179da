"""Time an evaluation against a Python loop, with more metrics, and by the number of rows.

    python benchmarks/evaluate.py [--rows 1000000] [--sizes 100000 1000000 10000000]

Draws ratings of users with about 150 items each, in random row order, and prints tables. Other
libraries are in peers.py.
"""

from __future__ import annotations

import argparse
import math
import platform
import subprocess
import sys
import time
import tracemalloc
import warnings
from collections import defaultdict
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

import recsys_ndcg as rn

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = ["ndcg@10", "precision@10", "recall@10"]
K, THRESHOLD = 10, 4.0
TIED = 0.00063  # rounding step for estimates; with it, two thirds of the users have a tie
SIXTEEN = [
    f"{name}@{k}"
    for name in ("ndcg", "dcg", "precision", "recall", "f1", "ap", "rr", "hit")
    for k in (5, 10)
]


class Prediction(NamedTuple):
    """A prediction of Surprise."""

    uid: int
    iid: int
    r_ui: float
    est: float
    details: dict[str, bool]


def draw_ratings(rows: int) -> pd.DataFrame:
    """Draw ratings: integer ids, half stars, random row order, no (user, item) twice."""
    draw = np.random.default_rng(0)
    users, items = max(rows // 150, 1), 20_000
    # each user's items are equal steps through the catalogue, which never repeat an item
    user = np.repeat(np.arange(users), -(-rows // users))[:rows]
    step = np.concatenate([np.arange(count) for count in np.bincount(user)])
    item = (draw.integers(0, items, users)[user] + step * 7_919) % items
    true = draw.integers(1, 11, rows) / 2
    frame = {"user": user, "item": item, "estimated": true + draw.normal(0, 1, rows), "true": true}
    return pd.DataFrame(frame).iloc[draw.permutation(rows)].reset_index(drop=True)


def draw_ratings_with_ties(rows: int) -> pd.DataFrame:
    """Draw the same ratings with estimates rounded so that 66 % of the users have a tie."""
    frame = draw_ratings(rows)
    frame["estimated"] = (frame["estimated"] / TIED).round() * TIED
    return frame


def evaluate(data: Any, convention: rn.Convention | None = None) -> pd.Series[float]:
    """Compute each user's scores and their means, by default with the exact mean over ties."""
    report = rn.evaluate(data, metrics=METRICS, threshold=THRESHOLD, convention=convention)
    report.per_user  # noqa: B018 - computed when first read
    return report.mean


def audit(frame: pd.DataFrame) -> pd.DataFrame:
    """Compute sixteen metrics, with their audit."""
    return rn.evaluate(frame, metrics=SIXTEEN, threshold=THRESHOLD).audit


def reconcile(frame: pd.DataFrame) -> pd.DataFrame:
    """Compute one metric under every preset, and explain the differences."""
    return rn.reconcile(frame, "ndcg@10", threshold=THRESHOLD)


def evaluate_in_a_loop(frame: pd.DataFrame) -> pd.Series[float]:
    """Compute the means in a handwritten loop, with a dict of lists sorted per user."""
    lists: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for user, estimated, true in zip(frame["user"], frame["estimated"], frame["true"], strict=True):
        lists[user].append((estimated, true))
    scores = []
    for pairs in lists.values():
        pairs.sort(key=lambda pair: pair[0], reverse=True)
        top = [true for _, true in pairs[:K]]
        ideal = sorted((true for _, true in pairs), reverse=True)[:K]
        dcg, best = (
            sum((2**true - 1) / math.log2(rank + 2) for rank, true in enumerate(one))
            for one in (top, ideal)
        )
        hits = sum(true >= THRESHOLD for true in top)
        relevant = sum(true >= THRESHOLD for _, true in pairs)
        scores.append(
            (dcg / best if best else math.nan, hits / K, hits / relevant if relevant else math.nan)
        )
    return pd.DataFrame(scores, columns=METRICS).mean()


def time_fastest(work: Callable[[], Any], times: int) -> float:
    """Return the seconds of the fastest of several runs."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def time_surprise_predictions(frame: pd.DataFrame) -> tuple[float, float]:
    """Return the seconds to turn Surprise predictions into ranked lists, and a lower bound.

    The lower bound is the time to read the four fields of each prediction.
    """
    predictions = [
        Prediction(user, item, true, estimated, {"was_impossible": False})
        for user, item, estimated, true in frame.itertuples(index=False)
    ]
    getters = [itemgetter(place) for place in range(4)]
    bound = time_fastest(lambda: [list(map(get, predictions)) for get in getters], 9)
    return time_fastest(lambda: rn.RankedLists.from_surprise(predictions), 9), bound


def measure_peak(frame: pd.DataFrame) -> float:
    """Return the peak of Python's memory, as a multiple of the input columns."""
    tracemalloc.start()
    evaluate(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak / frame.memory_usage(index=False).sum())


def time_import(statement: str, times: int = 11) -> float:
    """Return the seconds of the fastest of several imports, in processes that have pandas."""
    code = (
        "import time, pandas; start = time.perf_counter(); "
        f"{statement}; print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", code]
    run = [subprocess.run(command, check=True, capture_output=True) for _ in range(times)]  # noqa: S603
    return min(float(done.stdout) for done in run)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", rn.DataWarning)
    frame = draw_ratings(chosen.rows)
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    # first, while memory is fresh
    surprise, bound = time_surprise_predictions(frame)
    print(f"{len(frame):,} rows, {frame['user'].nunique():,} users: {', '.join(METRICS)}\n")

    ours = time_fastest(lambda: evaluate(frame), 7)
    lines = [("recsys_ndcg", ours)]
    tied = frame.assign(estimated=frame["estimated"].round(1))
    lines.append(("recsys_ndcg, estimates rounded to 0.1", time_fastest(lambda: evaluate(tied), 5)))
    lines.append(("sixteen metrics with their audit", time_fastest(lambda: audit(frame), 3)))
    lines.append(("ndcg@10 reconciled with 28 presets", time_fastest(lambda: reconcile(frame), 2)))
    loop = time_fastest(lambda: evaluate_in_a_loop(frame), 2)
    lines.append(("Python loop, a dict of lists", loop))
    difference = float((evaluate(frame) - evaluate_in_a_loop(frame)).abs().max())
    for name, seconds in lines:
        print(f"{name:40s}{seconds:9.3f} s {seconds / ours:8.1f} x")
    print(f"largest difference from the loop: {difference:.1e}")

    print(f"\n{len(frame):,} Surprise predictions to RankedLists: {surprise:.3f} s")
    print(f"{surprise / bound:.1f} x as long as only reading their four fields")
    for statement in ("import recsys_ndcg", "from recsys_ndcg import evaluate"):
        print(f"{statement}, after pandas: {1000 * time_import(statement):.0f} ms")
    print("\nby size; memory as a multiple of the input columns")
    for size in chosen.sizes:
        rows = draw_ratings(size)
        seconds = time_fastest(lambda rows=rows: evaluate(rows), 5)  # type: ignore[misc]
        each, memory = 1e9 * seconds / size, measure_peak(rows)
        print(f"{size:>12,} rows:{seconds:8.3f} s,{each:5.0f} ns each, {memory:.1f} x input")


if __name__ == "__main__":
    main()
