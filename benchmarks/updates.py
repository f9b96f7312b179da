"""Time an epoch batch by batch, with torchmetrics and ours alternately in one process.

    python benchmarks/updates.py [--quick] [--users 10000] [--items 100]

Each gets the same tensors in its own batch format, and computes one result at the end. Builds the
environment of torch (.peers/torch) if it is missing. ``--quick`` takes few users, and without that
environment runs only ours.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from side_by_side.processes import FailedError, find_interpreter
from side_by_side.tables import TIMES, describe_machine, format_range, format_table, format_times

LOOPS = Path(__file__).parent / "side_by_side" / "loops.py"
BATCHES = (32, 256, 2048)
HEAD = ["users", "", *TIMES, "range", "update", "result", "KiB", "diff"]
LEGEND = (
    "users: in a batch; CPU, wall: seconds of all updates and the result; ratio: to our columns,\n"
    "run alternately; range: of the ratios by CPU; update, result: CPU milliseconds of one update\n"
    "and of the result; KiB: memory kept between updates (ours: size of the pickle);\n"
    "diff: largest difference from our means, convention='torchmetrics'"
)
UPDATES, RESULT, HELD, MEANS = range(4)  # positions in a run's list


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
    print(describe_machine())
    print(f"{n_users:,} users with {chosen.items} items each: ndcg@10, precision@10, recall@10")
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
    # of updates and of the result, CPU and wall seconds: shape (n_runs, 2, 2)
    seconds = {name: np.array([run[name][: RESULT + 1] for run in runs]) for name in names}
    base = seconds["columns"].sum(axis=1)
    shown = []
    for name, label in names.items():
        total, is_base = seconds[name].sum(axis=1), name == "columns"
        ratios = total / base
        update, result = 1e3 * np.median(seconds[name][:, :, 0], axis=0)
        off = np.abs(np.subtract(runs[0][name][MEANS], runs[0]["columns"][MEANS])).max()
        shown.append(
            [
                f"{size:,}" if is_base else "",
                label,
                *format_times(np.median(total, axis=0), np.median(ratios, axis=0)),
                "" if is_base else format_range(ratios[:, 0]),
                f"{update / batches:.2f}",
                f"{result:,.1f}",
                f"{runs[0][name][HELD] / 2**10:,.0f}",
                "" if is_base else f"{off:.0e}",
            ]
        )
    return shown


if __name__ == "__main__":
    main()
