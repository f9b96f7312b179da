"""Run each library alternately with ours, so that both meet the same state of the machine."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from evaluate import THRESHOLD

import recsys_ndcg as rn
from side_by_side.contestants import OURS
from side_by_side.processes import FailedError, Process
from side_by_side.tables import format_range, format_ratio, format_seconds, format_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

    from side_by_side.contestants import Contestant

HEAD = ["", "CPU", "ours", "ratio", "range", "wall", "ours", "ratio", "MiB", "diff"]
LEGEND = (
    "CPU: seconds of all threads of the process, user and system; wall: seconds that pass;\n"
    "ours: our seconds, run alternately with the library; ratio: seconds / ours, median;\n"
    "range: of the ratios by CPU; MiB: peak memory added;\n"
    "diff: largest difference from our means under the library's convention"
)
_MIB = 2**20
#: how many pairs are run, if one run takes fewer seconds than this
_TIMES = {1.0: 7, 3.0: 5, 10.0: 3, math.inf: 1}
#: seconds until a library's idle threads stop spinning
_SETTLED = 0.25


@dataclass(frozen=True)
class Result:
    """The measurements of a library.

    Parameters
    ----------
    one : Contestant
        The library.
    version : str
        Its version.
    pairs : float64 array, shape (n_pairs, 2, 2)
        By pair of runs, and in it for ours and for the library: CPU and wall seconds. Our own
        result has itself as the pair.
    memory : int
        Peak memory added, in bytes.
    means : dict
        The mean by metric.
    difference : float
        The largest difference from our means.
    """

    one: Contestant
    version: str
    pairs: NDArray[np.float64]
    memory: int
    means: dict[str, float]
    difference: float

    @property
    def wall(self) -> float:
        """The median of the library's wall seconds."""
        return float(np.median(self.pairs[:, 1, 1]))

    @property
    def ratios(self) -> NDArray[np.float64]:
        """The ratios by CPU and by wall: shape (n_pairs, 2)."""
        ratios: NDArray[np.float64] = self.pairs[:, 1] / self.pairs[:, 0]
        return ratios

    def cells(self) -> list[str]:
        """Return the row of the table."""
        is_ours = not self.one.environment
        ours, theirs = np.median(self.pairs, axis=0)
        shown = zip(theirs, ours, np.median(self.ratios, axis=0), strict=True)
        cpu, wall = (
            [
                format_seconds(seconds),
                "" if is_ours else format_seconds(base),
                format_ratio(ratio),
            ]
            for seconds, base, ratio in shown
        )
        return [
            f"{self.one.name} {self.version}",
            *cpu,
            "" if is_ours else format_range(self.ratios[:, 0]),
            *wall,
            f"{self.memory / _MIB:,.0f}",
            "" if is_ours else f"{self.difference:.0e}",
        ]


@dataclass(frozen=True)
class Frame:
    """The frame of a race.

    Parameters
    ----------
    rows : DataFrame
        The frame itself.
    small, folder : Path
        The folders from which workers read a small frame for warm-up, and this frame.
    """

    rows: pd.DataFrame
    small: Path
    folder: Path

    @property
    def size(self) -> int:
        """The size of the columns in bytes."""
        return int(self.rows.memory_usage(index=False).sum())

    def start(self, process: Process) -> dict[str, Any]:
        """Warm a process up on the small frame, and run it once on this one."""
        process.read(self.small)
        process.run()
        process.read(self.folder)
        return process.run(watch=True)

    def expected(self, one: Contestant, metrics: Sequence[str]) -> pd.Series[float]:
        """Return our means under a library's convention."""
        rows, threshold = self.rows, THRESHOLD
        if one.whole:
            rows, threshold = rows.assign(true=2 * rows["true"]), 2 * threshold
        how: dict[str, Any] = {"metrics": [*metrics], "threshold": threshold}
        return rn.evaluate(rows, convention=one.preset, **how).mean


def race(
    frame: Frame,
    peers: Sequence[Contestant],
    skipped: Mapping[str, str],
    most: int,
    ours: Contestant = OURS,
) -> Iterator[tuple[Contestant, Result | str]]:
    """Yield the result of each library, or why it did not run; ours comes last.

    Parameters
    ----------
    frame : Frame
        The frame for all libraries.
    peers : sequence of Contestant
        The libraries, in the order of the runs.
    skipped : mapping
        The reason by name, for libraries that must not run.
    most : int
        The largest number of pairs.
    ours : Contestant, optional
        What each library alternates with.
    """
    with Process(ours) as own:
        first = frame.start(own)
        taken = [first["seconds"]]
        for one in peers:
            if one.name in skipped:
                yield one, skipped[one.name]
                continue
            try:
                with Process(one) as theirs:
                    result = _compare(frame, own, one, theirs, most)
            except FailedError as error:
                yield one, f"failed: {error}"
                continue
            taken += [*result.pairs[:, 0]]
            yield one, result
        pairs = np.tile(np.median(taken, axis=0), (1, 2, 1))
        yield ours, Result(ours, own.version, pairs, first["memory"], first["means"], 0.0)


def _compare(frame: Frame, ours: Process, one: Contestant, theirs: Process, most: int) -> Result:
    """Run ours and theirs alternately, slow libraries fewer times."""
    first = frame.start(theirs)
    times = min(most, next(n for limit, n in _TIMES.items() if first["seconds"][1] < limit))
    pairs = []
    for _ in range(times):
        base = _run_after_pause(ours)
        pairs.append([base, _run_after_pause(theirs) if times > 1 else first["seconds"]])
    means: dict[str, float] = first["means"]
    expected = frame.expected(one, [*means])
    difference = max(abs(expected[name] - value) for name, value in means.items())
    return Result(one, theirs.version, np.array(pairs), first["memory"], means, float(difference))


def _run_after_pause(process: Process) -> list[float]:
    """Return the CPU and wall seconds of a run that starts when both processes are idle."""
    time.sleep(_SETTLED)
    seconds: list[float] = process.run()["seconds"]
    return seconds


def format_results(found: Mapping[Contestant, Result | str]) -> str:
    """Return the table, the smallest ratio by CPU first; below it, why others did not run."""
    ran = [one for one in found.values() if isinstance(one, Result)]
    rows = [one.cells() for one in sorted(ran, key=lambda one: np.median(one.ratios[:, 0]))]
    reasons = [f"{one.name}: {why}" for one, why in found.items() if isinstance(why, str)]
    return "\n".join([format_table(HEAD, rows), *reasons])
