"""A training loop's epoch, batch by batch: torchmetrics beside ours, in turn, in one process.

    python benchmarks/updates.py [--quick] [--users 10000] [--items 100]

Each is handed the same tensors under its own way to take batches, and asked for a result once.
Builds the environment of torch (.peers/torch) if it is missing. ``--quick`` takes few users, and
where that environment is not there, ours alone.
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
from side_by_side.processes import FailedError, interpreter
from side_by_side.tables import ratio, seconds, spread, table

LOOPS = Path(__file__).parent / "side_by_side" / "loops.py"
BATCHES = (32, 256, 2048)
HEAD = [
    "users in a batch",
    "",
    "seconds",
    "ratio",
    "of pairs",
    "a batch",
    "result",
    "held",
    "off by",
]
LEGEND = (
    "seconds: an epoch of updates, and a result; ratio: to ours, by columns, in turn; a batch,\n"
    "result: of these, an update, and the result at the end; held: what is kept for it meanwhile,\n"
    "ours pickled; off by: the means, at most, from ours under convention='torchmetrics'"
)
UPDATES, RESULT, HELD, MEANS, SECONDS = range(5)  # of what a line tells of a run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few users, and what is built already")
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--items", type=int, default=100, help="in the list of each")
    chosen = parser.parse_args()
    n_users = 500 if chosen.quick else chosen.users
    sizes = [size for size in BATCHES if size <= n_users]
    python, why = found(quick=chosen.quick)
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"{n_users:,} users with {chosen.items} items each: ndcg@10, precision@10, recall@10")
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    if why:
        print(f"torchmetrics: {why}")
    print(f"{LEGEND}\n")
    asked = [n_users, chosen.items, 2 if chosen.quick else 5, *sizes]
    said = subprocess.run(  # noqa: S603 - our own
        [python, LOOPS, *map(str, asked)], check=True, text=True, stdout=subprocess.PIPE
    )
    rows: list[list[str]] = []
    for line in said.stdout.splitlines():
        one = json.loads(line)
        rows += cells(one["size"], -(-n_users // one["size"]), one["peer"], one["runs"])
    print(table(HEAD, rows))


def found(*, quick: bool) -> tuple[Path, str]:
    """Return the interpreter that has torchmetrics, or this one, and why it is this one."""
    root = Path(__file__).resolve().parents[1]
    if quick and not (root / ".peers" / "torch" / "requirements.txt").exists():
        return Path(sys.executable), "not run: --quick"
    try:
        return interpreter("torch"), ""
    except FailedError as error:
        return Path(sys.executable), f"not run: {error}"


def cells(size: int, batches: int, peer: str | None, runs: list[dict[str, Any]]) -> list[list[str]]:
    """Return the rows of the table for batches of some size."""
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
                seconds(median(run[name][SECONDS] for run in runs)),
                ratio(median(pairs)),
                "" if own else spread(pairs),
                f"{median(run[name][UPDATES] for run in runs) / batches * 1e3:.2f} ms",
                f"{median(run[name][RESULT] for run in runs) * 1e3:,.1f} ms",
                f"{runs[0][name][HELD] / 2**10:,.0f} KiB",
                "" if own else f"{off:.0e}",
            ]
        )
    return shown


if __name__ == "__main__":
    main()
