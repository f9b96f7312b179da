"""Time Spark against evaluation in memory, step by step, and extrapolate to a billion users.

    python benchmarks/spark.py [--rows 10000000] [--text] [--repeats 3]

Draws rows as evaluate.py does, writes them to Parquet, and evaluates them in memory and with Spark
on this machine. Measures elapsed seconds, and processor seconds, which do not depend on other
processes. Needs PySpark and Java.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.parquet as pq
from evaluate import draw_ratings
from polling import poll
from pyspark.sql import SparkSession

import recsys_ndcg as rn
from recsys_ndcg.scale import spark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

OPTIONS = {"threshold": 4.0}
EXECUTORS, CORES = 20, 4
_TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """Elapsed seconds, and processor seconds over all cores."""

    clock: float
    processors: float


def main() -> None:
    """Measure each step, and print the costs."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--text", action="store_true", help="use text ids")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        users = write_rows(Path(folder) / "rows", chosen.rows, text=chosen.text)
        local = measure_best(lambda: evaluate_in_memory(Path(folder) / "rows"), chosen.repeats)
        print(f"{chosen.rows} rows of {users} users, {'text' if chosen.text else 'numeric'} ids")
        print_cost("in memory, with reading and summary", local)
        steps, shuffled, peak = measure_spark(Path(folder), chosen.repeats)
    for name, cost in steps.items():
        print_cost(name, cost)
    total = steps["evaluate"]
    print(f"{'evaluate / in memory':40} {total.clock / local.clock:7.1f}")
    print(f"{'shuffled bytes per row':40} {shuffled / chosen.rows:7.1f}")
    print(f"{'peak memory of a worker, MB':40} {peak / 1e6:7.0f}")
    for rows_each in (20, 150):
        extrapolate(rows_each, total.processors / chosen.rows, shuffled / chosen.rows)


def write_rows(folder: Path, rows: int, *, text: bool) -> int:
    """Write rows to eight files, and return the number of users."""
    frame = draw_ratings(rows)
    if text:
        letters = {"user": "u", "item": "i"}
        texts = {name: letter + frame[name].astype(str) for name, letter in letters.items()}
        frame = frame.assign(**texts)
    folder.mkdir()
    for part in range(8):
        some = frame.iloc[part * rows // 8 : (part + 1) * rows // 8]
        some.to_parquet(folder / f"{part}.parquet", index=False)
    return int(frame["user"].nunique())


def evaluate_in_memory(folder: Path) -> pd.DataFrame:
    """Read the rows, evaluate them, and return the summary, as with Spark."""
    return rn.evaluate(pq.read_table(folder), **OPTIONS).summary


def measure_spark(folder: Path, repeats: int) -> tuple[dict[str, Cost], int, int]:
    """Return the cost of each step, the shuffled bytes, and the peak memory of a worker."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder: Any = SparkSession.builder.master("local[2]").config("spark.driver.memory", "3g")
    builder = builder.config("spark.local.dir", str(folder / "local"))
    session = builder.config("spark.ui.enabled", "false").getOrCreate()
    frame = session.read.parquet(str(folder / "rows"))
    count = max(1, -(-frame.count() // (1 << 21)))

    def empty(batches: Iterator[Any]) -> Iterator[Any]:
        yield from (batch.slice(0, 0) for batch in batches)

    moved = frame.repartition(count, "user")
    steps: dict[str, Callable[[], Any]] = {
        "one pass over the values": frame.selectExpr("min(`true`)", "max(estimated)").collect,
        "rows to Python, without a shuffle": frame.mapInArrow(empty, frame.schema).count,
        "rows shuffled, then to Python": moved.mapInArrow(empty, frame.schema).count,
        "the same, with a sort": moved.sortWithinPartitions("user")
        .mapInArrow(empty, frame.schema)
        .count,
    }
    found = {name: measure_best(step, repeats) for name, step in steps.items()}
    watch = Watch(folder)
    with poll(watch.look, 0.05):
        found["evaluate"] = measure_best(
            lambda: spark.evaluate(frame, **OPTIONS).unpersist(), repeats
        )
    session.stop()
    return found, sum(watch.shuffled.values()) // (repeats + 1), watch.most


def measure_best(step: Callable[[], Any], repeats: int) -> Cost:
    """Return the lowest cost of a step after a warm-up run."""
    step()
    costs = []
    for _ in range(repeats):
        clock, processors = time.perf_counter(), count_processor_seconds()
        step()
        costs.append(Cost(time.perf_counter() - clock, count_processor_seconds() - processors))
    return Cost(min(one.clock for one in costs), min(one.processors for one in costs))


def count_processor_seconds() -> float:
    """Return the processor seconds of this process and its descendants."""
    ticks = 0
    for one in list_processes():
        fields = Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def list_processes() -> list[int]:
    """Return the ids of this process and its descendants."""
    found = [os.getpid()]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, task.read_text(encoding="utf-8").split())
    return found


class Watch:
    """Records the peak memory of the workers, and the sizes of the shuffled files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before = set(folder.rglob("shuffle_*.data"))
        self.shuffled: dict[Path, int] = {}
        self.most = 0

    def look(self) -> None:
        """Record the current sizes."""
        page = os.sysconf("SC_PAGE_SIZE")
        for file in set(self.folder.rglob("shuffle_*.data")) - self.before:
            with suppress(OSError):  # Spark may have removed it
                self.shuffled[file] = file.stat().st_size
        for one in list_processes()[1:]:
            with suppress(OSError):  # the process has ended
                name = Path(f"/proc/{one}/comm").read_text(encoding="utf-8")
                pages = Path(f"/proc/{one}/statm").read_text(encoding="utf-8").split()[1]
                if name.startswith("python"):
                    self.most = max(self.most, int(pages) * page)


def print_cost(name: str, cost: Cost) -> None:
    """Print the cost of a step."""
    print(f"{name:40} {cost.clock:7.2f} s elapsed {cost.processors:7.2f} processor seconds")


def extrapolate(rows_each: int, seconds: float, shuffled: float) -> None:
    """Print the cost of a billion users, extrapolated linearly."""
    rows = 1_000_000_000 * rows_each
    hours = rows * seconds / (EXECUTORS * CORES) / 3600
    print(
        f"a billion users with {rows_each} rows each: {rows * shuffled / 1e12:.2f} TB shuffled, "
        f"{-(-rows // (1 << 21))} partitions, {hours:.1f} h on {EXECUTORS} executors of "
        f"{CORES} cores"
    )


if __name__ == "__main__":
    main()
