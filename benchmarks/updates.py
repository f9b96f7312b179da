"""Time an epoch batch by batch, with torchmetrics and ours alternately in one process.

    python benchmarks/updates.py [--quick] [--users 10000] [--items 100]

Each gets the same tensors in its own batch format, and computes one result at the end. Builds the
environment of torch (.peers/torch) if it is missing. ``--quick`` takes few users, and without that
environment runs only ours.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from side_by_side.processes import FailedError, find_interpreter
from side_by_side.tables import format_range, format_ratio, format_seconds, format_table

LOOPS = Path(__file__).parent / "side_by_side" / "loops.py"
BATCHES = (32, 256, 2048)
HEAD = [
    "users per batch",
    "",
    "seconds",
    "ratio",
    "range",
    "update",
    "result",
    "held",
    "max diff",
]
LEGEND = (
    "seconds: all updates and the result; ratio: to our column form, run alternately, with range;\n"
    "update: one update; result: the final result; held: memory kept between updates (ours: size\n"
    "of the pickle); max diff: largest difference from our means, convention='torchmetrics'"
)
UPDATES, RESULT, HELD, MEANS, SECONDS = range(5)  # positions in a run's list


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick",
        action="store_true",
        help="few users; torchmetrics only if its environment exists",
    )
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=100, help="per user")
    chosen = parser.parse_args()
    n_users = 500 if chosen.quick else chosen.users
    sizes = [size for size in BATCHES if size <= n_users]
    python, why = choose_interpreter(quick=chosen.quick)
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"{n_users:,} users with {chosen.items} items each: ndcg@10, precision@10, recall@10")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if why:
        print(f"torchmetrics: {why}")
    print(f"{LEGEND}\n")
    arguments = [n_users, chosen.items, 2 if chosen.quick else 5, *sizes]
    done = subprocess.run(  # noqa: S603 - our own
        [python, LOOPS, *map(str, arguments)], check=True, text=True, stdout=subprocess.PIPE
    )
    rows: list[list[str]] = []
    for line in done.stdout.splitlines():
        one = json.loads(line)
        rows += format_rows(one["size"], -(-n_users // one["size"]), one["peer"], one["runs"])
    print(format_table(HEAD, rows))


def choose_interpreter(*, quick: bool) -> tuple[Path, str]:
    """Return the interpreter that has torchmetrics, or this one and the reason."""
    root = Path(__file__).resolve().parents[1]
    if quick and not (root / ".peers" / "torch" / "requirements.txt").exists():
        return Path(sys.executable), "not run: --quick"
    try:
        return find_interpreter("torch"), ""
    except FailedError as error:
        return Path(sys.executable), f"not run: {error}"


def format_rows(
    size: int, batches: int, peer: str | None, runs: list[dict[str, Any]]
) -> list[list[str]]:
    """Return the rows of the table for one batch size."""
    names = {"columns": "recsys_ndcg, columns", "tables": "recsys_ndcg, tables"}
    names |= {"theirs": f"torchmetrics {peer}"} if peer else {}
    shown = []
    for name, label in names.items():
        pairs = [run[name][SECONDS] / run["columns"][SECONDS] for run in runs]
        own = name == "columns"
        expected = runs[0]["columns"][MEANS]
        off = max(abs(a - b) for a, b in zip(runs[0][name][MEANS], expected, strict=True))
        shown.append(
            [
                f"{size:,}" if own else "",
                label,
                format_seconds(median(run[name][SECONDS] for run in runs)),
                format_ratio(median(pairs)),
                "" if own else format_range(pairs),
                f"{median(run[name][UPDATES] for run in runs) / batches * 1e3:.2f} ms",
                f"{median(run[name][RESULT] for run in runs) * 1e3:,.1f} ms",
                f"{runs[0][name][HELD] / 2**10:,.0f} KiB",
                "" if own else f"{off:.0e}",
            ]
        )
    return shown


if __name__ == "__main__":
    main()
