"""Time an evaluation against a Python loop, with more metrics, and by the number of rows.

    python benchmarks/evaluate.py [--rows 1000000] [--sizes 1000 100000 1000000 10000000]

Draws ratings of users with about 150 items each, in random row order, and prints tables. The last
table also has ten users with ten items each, users with five items, and, if numba is installed, a
compiled reference. Other libraries are in peers.py.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import tracemalloc
import warnings
from collections import defaultdict
from importlib.util import find_spec
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from side_by_side.measuring import time_fastest
from side_by_side.tables import (
    TIMES,
    describe_machine,
    format_seconds,
    format_table,
    format_times,
)

import recsys_ndcg as rn

if TYPE_CHECKING:
    from numpy.typing import NDArray

METRICS = ["ndcg@10", "precision@10", "recall@10"]
K, THRESHOLD = 10, 4.0
HAS_NUMBA = find_spec("numba") is not None
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


def draw_ratings(rows: int, per_user: int = 150) -> pd.DataFrame:
    """Draw ratings: integer ids, half stars, random row order, no (user, item) twice."""
    draw = np.random.default_rng(0)
    users, items = max(rows // per_user, 1), 20_000
    # each user's items are equal steps through the catalogue, which never repeat an item
    user = np.repeat(np.arange(users), -(-rows // users))[:rows]
    step = np.concatenate([np.arange(count) for count in np.bincount(user)])
    item = (draw.integers(0, items, users)[user] + step * 7_919) % items
    true = draw.integers(1, 11, rows) / 2
    frame = {"user": user, "item": item, "estimated": true + draw.normal(0, 1, rows), "true": true}
    return pd.DataFrame(frame).iloc[draw.permutation(rows)].reset_index(drop=True)


def draw_ratings_with_ties(rows: int, per_user: int = 150) -> pd.DataFrame:
    """Draw the same ratings with estimates rounded: of long lists, 66 % have a tie."""
    frame = draw_ratings(rows, per_user)
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


def time_surprise_predictions(frame: pd.DataFrame) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the times to turn Surprise predictions into ranked lists, and a lower bound.

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


def time_import(statement: str, times: int = 11) -> NDArray[np.float64]:
    """Return the fewest CPU and wall seconds of several imports, in processes that have pandas."""
    code = (
        "import time, pandas; start = time.process_time(), time.perf_counter(); "
        f"{statement}; print(time.process_time() - start[0], time.perf_counter() - start[1])"
    )
    command = [sys.executable, "-c", code]
    run = [subprocess.run(command, check=True, capture_output=True) for _ in range(times)]  # noqa: S603
    seconds = np.array([done.stdout.split() for done in run], dtype=np.float64)
    fastest: NDArray[np.float64] = seconds.min(axis=0)
    return fastest


def compare_sizes(shapes: list[tuple[int, int]]) -> str:
    """Return a table of evaluations by the number of rows, and by that of rows per user."""
    head = ["rows", "users", "CPU", "wall", "ns/row", "x input"]
    rows = []
    for size, per_user in shapes:
        frame = draw_ratings_with_ties(size, per_user)
        times = min(max(3_000_000 // size, 3), 50)
        took = 1e3 * time_fastest(lambda frame=frame: evaluate(frame), times)  # type: ignore[misc]
        cells = [f"{size:,}", f"{frame['user'].nunique():,}", *map(format_seconds, took)]
        rows.append([*cells, f"{1e6 * took[0] / size:,.0f}", f"{measure_peak(frame):.1f}"])
        if HAS_NUMBA:
            rows[-1] += _compare_with_kernel(frame, took, times)
    if HAS_NUMBA:
        head += ["numba", "ratio", "wall", "ratio", "ns/row", "diff"]
    return format_table(head, rows)


def _compare_with_kernel(frame: pd.DataFrame, ours: NDArray[np.float64], times: int) -> list[str]:
    """Return the cells of the compiled reference, and the largest difference of a score."""
    from numba_kernel import score_users  # noqa: PLC0415 - may be absent

    columns = [frame[name].to_numpy() for name in frame]
    scores = score_users(*columns, THRESHOLD)  # compiles it
    report = rn.evaluate(frame, metrics=METRICS, threshold=THRESHOLD)
    difference = np.nanmax(np.abs(report.per_user[METRICS].sort_index().to_numpy() - scores))
    took = 1e3 * time_fastest(lambda: score_users(*columns, THRESHOLD), times)
    each = f"{1e6 * took[0] / len(frame):,.0f}"
    return [*format_times(took, ours / took), each, f"{difference:.0e}"]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    sizes = [1_000, 100_000, 1_000_000, 10_000_000]
    parser.add_argument("--sizes", type=int, nargs="*", default=sizes)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", rn.DataWarning)
    frame = draw_ratings(chosen.rows)
    print(describe_machine())
    # first, while memory is fresh
    surprise, bound = time_surprise_predictions(frame)
    print(f"{len(frame):,} rows, {frame['user'].nunique():,} users: {', '.join(METRICS)}\n")

    tied = frame.assign(estimated=frame["estimated"].round(1))
    seconds = {
        "recsys_ndcg": time_fastest(lambda: evaluate(frame), 7),
        "recsys_ndcg, estimates rounded to 0.1": time_fastest(lambda: evaluate(tied), 5),
        "sixteen metrics with their audit": time_fastest(lambda: audit(frame), 3),
        "ndcg@10 reconciled with 28 presets": time_fastest(lambda: reconcile(frame), 2),
        "Python loop, a dict of lists": time_fastest(lambda: evaluate_in_a_loop(frame), 2),
    }
    ours = seconds["recsys_ndcg"]
    rows = [[name, *format_times(took, took / ours)] for name, took in seconds.items()]
    print(format_table(["", *TIMES], rows))
    difference = float((evaluate(frame) - evaluate_in_a_loop(frame)).abs().max())
    print(f"largest difference from the loop: {difference:.1e}\n")

    rows = [
        [
            f"{len(frame):,} Surprise predictions to RankedLists",
            *format_times(surprise, surprise / bound),
        ],
        ["only reading their four fields", *format_times(bound, bound / bound)],
    ]
    print(format_table(["", *TIMES], rows))
    for statement in ("import recsys_ndcg", "from recsys_ndcg import evaluate"):
        cpu, wall = 1000 * time_import(statement)
        print(f"{statement}, after pandas: {cpu:.0f} ms CPU, {wall:.0f} ms wall")
    print("\nby size, with ties: milliseconds; ns/row: nanoseconds of CPU for each row;")
    print("x input: peak of Python's memory, as a multiple of the input columns")
    if HAS_NUMBA:
        print("numba: a compiled pass that computes the same, as a reference; ratio: ours to it")
    shapes = [(100, 10), *((size, 150) for size in chosen.sizes), (chosen.rows, 5)]
    print(compare_sizes(shapes))


if __name__ == "__main__":
    main()
