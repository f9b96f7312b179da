"""What evaluating takes, against a Python loop; what is beside it; and a row by size.

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
TIED = 0.00063  # between estimates: of two thirds of the users two of the 150 are alike
SIXTEEN = [
    f"{name}@{k}"
    for name in ("ndcg", "dcg", "precision", "recall", "f1", "ap", "rr", "hit")
    for k in (5, 10)
]


class Prediction(NamedTuple):
    """What Surprise calls a prediction."""

    uid: int
    iid: int
    r_ui: float
    est: float
    details: dict[str, bool]


def drawn(rows: int) -> pd.DataFrame:
    """Draw ratings: integer ids, half stars, random row order, no (user, item) twice."""
    draw = np.random.default_rng(0)
    users, items = max(rows // 150, 1), 20_000
    # each user's items are a walk through the catalogue in steps that never meet themselves
    user = np.repeat(np.arange(users), -(-rows // users))[:rows]
    step = np.concatenate([np.arange(count) for count in np.bincount(user)])
    item = (draw.integers(0, items, users)[user] + step * 7_919) % items
    true = draw.integers(1, 11, rows) / 2
    frame = {"user": user, "item": item, "estimated": true + draw.normal(0, 1, rows), "true": true}
    return pd.DataFrame(frame).iloc[draw.permutation(rows)].reset_index(drop=True)


def drawn_with_ties(rows: int) -> pd.DataFrame:
    """Draw the same ratings with estimates rounded so that 66 % of the users have a tie."""
    frame = drawn(rows)
    frame["estimated"] = (frame["estimated"] / TIED).round() * TIED
    return frame


def evaluated(data: Any, convention: rn.Convention | None = None) -> pd.Series[float]:
    """Score per user and on average, ties by expectation unless a convention says otherwise."""
    report = rn.evaluate(data, metrics=METRICS, threshold=THRESHOLD, convention=convention)
    report.per_user  # noqa: B018 - made when first read
    return report.mean


def audited(frame: pd.DataFrame) -> pd.DataFrame:
    """Score by sixteen metrics, with all that stands beside them."""
    return rn.evaluate(frame, metrics=SIXTEEN, threshold=THRESHOLD).audit


def reconciled(frame: pd.DataFrame) -> pd.DataFrame:
    """Compute one metric under every preset, and what makes the differences."""
    return rn.reconcile(frame, "ndcg@10", threshold=THRESHOLD)


def looped(frame: pd.DataFrame) -> pd.Series[float]:
    """Score with a dict of lists, sorted per user: what one writes by hand."""
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


def fastest(work: Callable[[], Any], times: int) -> float:
    """Return the shortest of several runs, in seconds."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return min(taken)


def grouped(frame: pd.DataFrame) -> tuple[float, float]:
    """Return the seconds from a list of Surprise predictions to ranked lists.

    And those of only looking at the four fields of each, below which no reader gets.
    """
    predictions = [
        Prediction(user, item, true, estimated, {"was_impossible": False})
        for user, item, estimated, true in frame.itertuples(index=False)
    ]
    looks = [itemgetter(place) for place in range(4)]
    alone = fastest(lambda: [list(map(look, predictions)) for look in looks], 9)
    return fastest(lambda: rn.RankedLists.from_surprise(predictions), 9), alone


def peak_over_input(frame: pd.DataFrame) -> float:
    """Return the most memory held at once, as a multiple of the input columns."""
    tracemalloc.start()
    evaluated(frame)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(peak / frame.memory_usage(index=False).sum())


def import_time(statement: str, times: int = 11) -> float:
    """Return the seconds that an import takes after pandas, the least of several."""
    code = (
        "import time, pandas; start = time.perf_counter(); "
        f"{statement}; print(time.perf_counter() - start)"
    )
    command = [sys.executable, "-c", code]
    run = [subprocess.run(command, check=True, capture_output=True) for _ in range(times)]  # noqa: S603
    return min(float(done.stdout) for done in run)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--sizes", type=int, nargs="*", default=[100_000, 1_000_000, 10_000_000])
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", rn.DataWarning)
    frame = drawn(chosen.rows)
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    # first, while memory is in order
    surprise, looks = grouped(frame)
    print(f"{len(frame):,} rows, {frame['user'].nunique():,} users: {', '.join(METRICS)}\n")

    ours = fastest(lambda: evaluated(frame), 7)
    lines = [("recsys_ndcg", ours)]
    tied = frame.assign(estimated=frame["estimated"].round(1))
    lines.append(("recsys_ndcg, estimates rounded to 0.1", fastest(lambda: evaluated(tied), 5)))
    lines.append(("sixteen metrics with their audit", fastest(lambda: audited(frame), 3)))
    lines.append(("ndcg@10 under 28 presets, with causes", fastest(lambda: reconciled(frame), 2)))
    loop = fastest(lambda: looped(frame), 2)
    lines.append(("Python loop, a dict of lists", loop))
    difference = float((evaluated(frame) - looped(frame)).abs().max())
    for name, seconds in lines:
        print(f"{name:40s}{seconds:9.3f} s {seconds / ours:8.1f} x")
    print(f"largest difference from the loop: {difference:.1e}")

    print(f"\n{len(frame):,} Surprise predictions to RankedLists: {surprise:.3f} s")
    print(f"{surprise / looks:.1f} x as long as making lists of their four fields")
    for statement in ("import recsys_ndcg", "from recsys_ndcg import evaluate"):
        print(f"{statement}, after pandas: {1000 * import_time(statement):.0f} ms")
    print("\nby size, memory over that of the input columns")
    for size in chosen.sizes:
        rows = drawn(size)
        seconds = fastest(lambda rows=rows: evaluated(rows), 5)  # type: ignore[misc]
        each, memory = 1e9 * seconds / size, peak_over_input(rows)
        print(f"{size:>12,} rows:{seconds:8.3f} s,{each:5.0f} ns each, {memory:.1f} x in memory")


if __name__ == "__main__":
    main()
