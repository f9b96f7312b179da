"""Time every library alternately with ours, on the same frame and metrics.

    python benchmarks/peers.py [--quick] [--rows 100000 1000000 10000000] [--patience 60]

Builds missing environments of the libraries (.peers/), and prints the time and memory for ndcg@10,
precision@10 and recall@10 of one frame: by library, by the form of the data, and by step. Then the
same for measures beyond accuracy of recommendations.
``--quick`` takes small frames, and only the libraries that CI builds.
"""

from __future__ import annotations

import argparse
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from evaluate import METRICS, draw_ratings_with_ties, measure_peak
from side_by_side.beyond_accuracy import (
    BEYOND_PEERS,
    OURS_BEYOND,
    Recommendations,
    draw_rows,
    format_costs,
)
from side_by_side.contestants import ABSENT, PEERS
from side_by_side.input_forms import compare_forms
from side_by_side.processes import read_environments, save
from side_by_side.races import LEGEND, Frame, Result, format_results, race
from side_by_side.steps import format_profile
from side_by_side.tables import describe_machine

import recsys_ndcg as rn

if TYPE_CHECKING:
    from side_by_side.contestants import Contestant

SMALL = 2_000  # rows of the warm-up run, which triggers compilation
QUICK, FULL = (20_000, 100_000), (100_000, 1_000_000, 10_000_000)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small frames, and CI's libraries")
    parser.add_argument("--rows", type=int, nargs="+", help="sizes of the frame, ascending")
    parser.add_argument(
        "--patience",
        type=float,
        default=60,
        help="skip sizes for which a library would take more seconds",
    )
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", rn.DataWarning)
    sizes = chosen.rows or (QUICK if chosen.quick else FULL)
    print(f"{describe_machine()}\n{', '.join(METRICS)}\n{LEGEND}")
    live = {name for name, one in read_environments().items() if one["live"]}
    with tempfile.TemporaryDirectory() as folder:
        skipped = {
            one.name: "not run: --quick"
            for one in PEERS
            if chosen.quick and one.environment not in live
        }
        most = 3 if chosen.quick else 7
        print_races(sizes, Path(folder), skipped, chosen.patience, most)
        print_omissions()
        # the form of the data and the steps at the middle size, 1 million rows
        middle = draw_ratings_with_ties(sizes[min(1, len(sizes) - 1)])
        print(f"\n{len(middle):,} rows in other forms, run alternately with integers")
        print(compare_forms(middle, Path(folder), most), flush=True)
        skipped = {name: why for name, why in skipped.items() if name == "LensKit"}
        print_beyond_accuracy(2_000 if chosen.quick else 100_000, Path(folder), skipped, most)
    print(f"\n{len(middle):,} rows by step")
    print(format_profile(middle, 5 if chosen.quick else 15))


def print_races(
    sizes: tuple[int, ...], folder: Path, skipped: dict[str, str], patience: float, most: int
) -> None:
    """Print a table for each size; a library that is too slow for a size skips the larger ones."""
    small, out = save(draw_ratings_with_ties(SMALL), folder / "small"), dict(skipped)
    for place, size in enumerate(sizes):
        rows = draw_ratings_with_ties(size)
        frame = Frame(rows, small, save(rows, folder / str(size)))
        users = rows["user"].nunique()
        tied = rows.duplicated(["user", "estimated"]).groupby(rows["user"]).any().mean()
        print(
            f"\n{size:,} rows, {users:,} users, {tied:.0%} of them with ties; "
            f"{frame.size / 2**20:,.0f} MiB of columns"
        )
        found: dict[Contestant, Result | str] = dict(race(frame, PEERS, out, most))
        print(format_results(found))
        print(
            f"our peak of Python memory (tracemalloc): {measure_peak(rows):.1f} x input", flush=True
        )
        for one, result in found.items():
            above = sizes[place + 1 :]
            if isinstance(result, Result) and above:
                growth = above[0] / size
                if result.wall * growth > patience:
                    out[one.name] = f"not run: {size:,} rows took {result.wall:.1f} s"


def print_beyond_accuracy(n_users: int, folder: Path, skipped: dict[str, str], most: int) -> None:
    """Print a table of measures beyond accuracy: ten recommendations for each user."""
    rows = draw_rows(n_users)
    small = save(draw_rows(200), folder / "few lists")
    frame = Recommendations(rows, small, save(rows, folder / "lists"))
    n_rows = int(rows["estimated"].isna().sum())
    print(
        f"\nBeyond accuracy: {n_users:,} users, 10 recommendations each, {n_rows:,} training rows"
    )
    found = dict(race(frame, BEYOND_PEERS, skipped, most, OURS_BEYOND))
    print(format_results(found))
    for one in BEYOND_PEERS:
        print(f"{one.name} computes {one.computes}")
    print("\nOur measures of these lists, once they are read, relative to NDCG")
    print(format_costs(rows, 3 * most))


def print_omissions() -> None:
    """Print what each library leaves out, and which libraries are not timed."""
    print("\nNot done by the library, so not timed")
    for one in PEERS:
        print(f"{one.name}: {one.leaves_out}")
    print("\nNot timed: no function takes predictions for these metrics")
    for name, why in ABSENT.items():
        print(f"{name}: {why}")


if __name__ == "__main__":
    main()
