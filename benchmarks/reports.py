"""Measure what a report and a comparison take beyond the evaluation.

``python benchmarks/reports.py [USERS]``: a million users with one to nine ratings by default, then
half of them, and five models of a fifth of them, which have a million ratings each.
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from side_by_side.measuring import read_clocks, read_memory, reset_peak
from side_by_side.tables import TIMES, describe_machine, format_table, format_times

import recsys_ndcg as rn

if TYPE_CHECKING:
    from collections.abc import Callable

_MIB = 2**20


def draw_ratings(n_users: int, seed: int = 0) -> pd.DataFrame:
    """Return few whole grades per user; the seed changes the estimates."""
    rng = np.random.default_rng(0)
    user = np.repeat(np.arange(n_users), rng.integers(1, 10, n_users))
    true = rng.integers(1, 6, len(user)).astype(float)
    estimated = true + np.random.default_rng(seed + 1).normal(0, 2, len(user))
    frame = {"user": user, "item": np.arange(len(user)), "estimated": estimated, "true": true}
    return pd.DataFrame(frame)


def print_costs(heading: str, steps: dict[str, Callable[[Any], Any]]) -> Any:
    """Print what each step costs, relative to the first at its fastest; return the first's result.

    Parameters
    ----------
    heading : str
        The heading of the table.
    steps : dict
        By name, functions that get the result of the first one, which gets None.
    """
    rows, first, base = [], None, np.ones(2)
    for name, work in steps.items():
        before, taken = reset_peak(), []
        for _ in range(1 if rows else 3):  # the other steps are compared with the first
            start, result = read_clocks(), None  # frees the result before
            result = work(first)
            taken.append(read_clocks() - start)
        seconds, rise = np.min(taken, axis=0), read_memory("VmHWM") - before
        if not rows:
            first, base = result, seconds
        rows.append([name, *format_times(seconds, seconds / base), f"{rise / _MIB:,.0f}"])
    print(f"\n{heading}\n{format_table(['', *TIMES, 'MiB'], rows)}", flush=True)
    return first


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore", rn.DataWarning)
    n_users = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    rn.evaluate(draw_ratings(1000), threshold=4)  # imports what is imported late
    print(f"{describe_machine()}\nndcg@10, precision@10, recall@10; MiB: memory added at peak")
    data = draw_ratings(n_users)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        report = print_costs(
            f"{n_users:,} users, {len(data):,} ratings",
            {
                "evaluate": lambda _: rn.evaluate(data, threshold=4),
                "audit": lambda report: report.audit,
                "leaderboard by z": lambda report: report.leaderboard("ndcg@10", by="z"),
                "save, after the audit": lambda report: report.save(path),
                "load": lambda _: rn.Report.load(path),
            },
        )
        loaded = rn.Report.load(path)
        print(f"file: {path.stat().st_size / 1e6:.1f} MB")
        print("loaded report is equal:", loaded == report)
        del report, loaded
        print_costs(
            f"{n_users:,} users, {len(data):,} ratings, saved at once",
            {
                "evaluate": lambda _: rn.evaluate(data, threshold=4),
                "save": lambda report: report.save(path),
            },
        )
    data = draw_ratings(n_users // 2)
    print_costs(
        f"{n_users // 2:,} users, {len(data):,} ratings, groups by quartile of activity",
        {
            "evaluate": lambda _: rn.evaluate(data, threshold=4),
            "by": lambda report: report.by("activity").summary,
            "gaps": lambda report: report.gaps("activity"),
        },
    )
    models = {f"model {seed}": draw_ratings(n_users // 5, seed) for seed in range(5)}
    print_costs(
        f"5 models of {n_users // 5:,} users, {len(models['model 0']):,} ratings each",
        {
            "five times evaluate": lambda _: [
                rn.evaluate(model, threshold=4) for model in models.values()
            ],
            "compare, with its leaderboard": lambda _: rn.compare(models, threshold=4).leaderboard,
        },
    )


if __name__ == "__main__":
    main()
