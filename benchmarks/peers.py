"""The same frame, the same metrics: every library beside ours, in turn, in one run.

    python benchmarks/peers.py [--quick] [--rows 100000 1000000 10000000] [--patience 60]

Builds the libraries' environments (.peers/) where they are missing, and prints what ndcg@10,
precision@10 and recall@10 of one frame cost: by library, by the form of the data, by step.
``--quick`` takes small frames, and the libraries that CI builds alone.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from evaluate import METRICS, drawn_with_ties, peak_over_input
from side_by_side.contestants import ABSENT, PEERS
from side_by_side.doors import compared
from side_by_side.processes import environments, save
from side_by_side.races import LEGEND, Frame, Result, race, shown
from side_by_side.steps import profiled

import recsys_ndcg as rn

if TYPE_CHECKING:
    from side_by_side.contestants import Contestant

SMALL = 2_000  # rows to begin with: whatever is compiled is compiled for these
QUICK, FULL = (20_000, 100_000), (100_000, 1_000_000, 10_000_000)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small frames, what CI builds")
    parser.add_argument("--rows", type=int, nargs="+", help="sizes of the frame, ascending")
    parser.add_argument("--patience", type=float, default=60, help="seconds of one run, at most")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", rn.DataWarning)
    sizes = chosen.rows or (QUICK if chosen.quick else FULL)
    versions = f"NumPy {np.__version__}, pandas {pd.__version__}"
    print(f"{platform.machine()}, Python {platform.python_version()}, {versions}")
    print(f"{', '.join(METRICS)}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(LEGEND)
    live = {name for name, one in environments().items() if one["live"]}
    with tempfile.TemporaryDirectory() as folder:
        skipped = {
            one.name: "not run: --quick"
            for one in PEERS
            if chosen.quick and one.environment not in live
        }
        most = 3 if chosen.quick else 7
        races(sizes, Path(folder), skipped, chosen.patience, most)
        told()
        # the form of the data and the steps at the middle size, 1 million rows
        middle = drawn_with_ties(sizes[min(1, len(sizes) - 1)])
        print(f"\n{len(middle):,} rows by the form in which they come, in turn with integers")
        print(compared(middle, Path(folder), most), flush=True)
    print(f"\n{len(middle):,} rows by step")
    print(profiled(middle, 5 if chosen.quick else 15))


def races(
    sizes: tuple[int, ...], folder: Path, skipped: dict[str, str], patience: float, most: int
) -> None:
    """Print a table for each size; who was too slow at one does not run at those above it."""
    small, out = save(drawn_with_ties(SMALL), folder / "small"), dict(skipped)
    for place, size in enumerate(sizes):
        rows = drawn_with_ties(size)
        frame = Frame(rows, small, save(rows, folder / str(size)))
        users = rows["user"].nunique()
        tied = rows.duplicated(["user", "estimated"]).groupby(rows["user"]).any().mean()
        print(
            f"\n{size:,} rows, {users:,} users, {tied:.0%} of them with ties; "
            f"{frame.size / 2**20:,.0f} MiB of columns"
        )
        found: dict[Contestant, Result | str] = dict(race(frame, PEERS, out, most))
        print(shown(frame, found))
        print(f"traced peak of ours: {peak_over_input(rows):.1f} x the input columns", flush=True)
        for one, result in found.items():
            above = sizes[place + 1 :]
            if isinstance(result, Result) and above:
                growth = above[0] / size
                if result.seconds * growth > patience:
                    out[one.name] = f"not run: {size:,} rows took {result.seconds:.1f} s"


def told() -> None:
    """Print what each library leaves out, and which are not here at all."""
    print("\nLeft out, and not in the seconds")
    for one in PEERS:
        print(f"{one.name}: {one.leaves_out}")
    print("\nNot timed, having no function that takes predictions for these metrics")
    for name, why in ABSENT.items():
        print(f"{name}: {why}")


if __name__ == "__main__":
    main()
