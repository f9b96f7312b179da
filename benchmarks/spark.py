"""What Spark takes beside memory, where it goes, and what a billion users would take.

    python benchmarks/spark.py [--rows 10000000] [--text] [--repeats 3]

Draws rows as evaluate.py does, writes them to Parquet, and measures them in memory and by Spark on
this machine: seconds, and seconds of all processors together, which do not hang on what else runs.
Needs PySpark and Java.
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
from evaluate import drawn
from pyspark.sql import SparkSession
from watched import watched

import recsys_ndcg as rn
from recsys_ndcg.scale import spark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

OPTIONS = {"threshold": 4.0}
EXECUTORS, CORES = 20, 4
_TICKS = os.sysconf("SC_CLK_TCK")


class Cost(NamedTuple):
    """What something took: seconds by the clock, and of all processors together."""

    clock: float
    processors: float


def main() -> None:
    """Measure, and print."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--text", action="store_true", help="ids of text")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        users = write(Path(folder) / "rows", asked.rows, text=asked.text)
        local = best(lambda: in_memory(Path(folder) / "rows"), asked.repeats)
        print(f"{asked.rows} rows of {users} users, ids of {'text' if asked.text else 'numbers'}")
        show("in memory, file and summary with it", local)
        steps, shuffled, peak = on_spark(Path(folder), asked.repeats)
    for name, cost in steps.items():
        show(name, cost)
    total = steps["evaluate"]
    print(f"{'evaluate over memory':40} {total.clock / local.clock:7.1f}")
    print(f"{'shuffled, bytes a row':40} {shuffled / asked.rows:7.1f}")
    print(f"{'most memory of a worker, MB':40} {peak / 1e6:7.0f}")
    for rows_each in (20, 150):
        paper(rows_each, total.processors / asked.rows, shuffled / asked.rows)


def write(folder: Path, rows: int, *, text: bool) -> int:
    """Write rows to eight files, and return how many users they have."""
    frame = drawn(rows)
    if text:
        names = {"user": "u", "item": "i"}
        frame = frame.assign(**{one: a + frame[one].astype(str) for one, a in names.items()})
    folder.mkdir()
    for part in range(8):
        some = frame.iloc[part * rows // 8 : (part + 1) * rows // 8]
        some.to_parquet(folder / f"{part}.parquet", index=False)
    return int(frame["user"].nunique())


def in_memory(folder: Path) -> pd.DataFrame:
    """Read, evaluate and sum up, as Spark does."""
    return rn.evaluate(pq.read_table(folder), **OPTIONS).summary


def on_spark(folder: Path, repeats: int) -> tuple[dict[str, Cost], int, int]:
    """Return what each step takes, the bytes that are shuffled, and the memory of a worker."""
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
        "one pass for the facts": frame.selectExpr("min(`true`)", "max(estimated)").collect,
        "rows to Python, not shuffled": frame.mapInArrow(empty, frame.schema).count,
        "rows shuffled, and to Python": moved.mapInArrow(empty, frame.schema).count,
        "the same, and sorted": moved.sortWithinPartitions("user")
        .mapInArrow(empty, frame.schema)
        .count,
    }
    found = {name: best(step, repeats) for name, step in steps.items()}
    watch = Watch(folder)
    with watched(watch.look, 0.05):
        found["evaluate"] = best(lambda: spark.evaluate(frame, **OPTIONS).unpersist(), repeats)
    session.stop()
    return found, sum(watch.shuffled.values()) // (repeats + 1), watch.most


def best(step: Callable[[], Any], repeats: int) -> Cost:
    """Return the least that something takes, once it is warm."""
    step()
    costs = []
    for _ in range(repeats):
        clock, processors = time.perf_counter(), used()
        step()
        costs.append(Cost(time.perf_counter() - clock, used() - processors))
    return Cost(min(one.clock for one in costs), min(one.processors for one in costs))


def used() -> float:
    """Return the seconds that this process and all below it have had."""
    ticks = 0
    for one in family():
        fields = Path(f"/proc/{one}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / _TICKS


def family() -> list[int]:
    """Return this process and all below it."""
    found = [os.getpid()]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, task.read_text(encoding="utf-8").split())
    return found


class Watch:
    """Looks at the memory of the workers, and at the files that are shuffled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.before = set(folder.rglob("shuffle_*.data"))
        self.shuffled: dict[Path, int] = {}
        self.most = 0

    def look(self) -> None:
        """Look once."""
        page = os.sysconf("SC_PAGE_SIZE")
        for file in set(self.folder.rglob("shuffle_*.data")) - self.before:
            with suppress(OSError):  # Spark removes them when it likes
                self.shuffled[file] = file.stat().st_size
        for one in family()[1:]:
            with suppress(OSError):  # it has ended
                name = Path(f"/proc/{one}/comm").read_text(encoding="utf-8")
                pages = Path(f"/proc/{one}/statm").read_text(encoding="utf-8").split()[1]
                if name.startswith("python"):
                    self.most = max(self.most, int(pages) * page)


def show(name: str, cost: Cost) -> None:
    """Print a line."""
    print(f"{name:40} {cost.clock:7.2f} s {cost.processors:7.2f} s of all processors")


def paper(rows_each: int, seconds: float, shuffled: float) -> None:
    """Print what a billion users would take, if it grows as the rows do."""
    rows = 1_000_000_000 * rows_each
    hours = rows * seconds / (EXECUTORS * CORES) / 3600
    print(
        f"a billion users of {rows_each} rows: {rows * shuffled / 1e12:.2f} TB shuffled, "
        f"{-(-rows // (1 << 21))} partitions, {hours:.1f} h on {EXECUTORS} executors of "
        f"{CORES} cores"
    )


if __name__ == "__main__":
    main()
