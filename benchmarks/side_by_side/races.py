"""Run each library alternately with ours, so that both meet the same state of the machine."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluate import THRESHOLD

import recsys_ndcg as rn
from side_by_side.contestants import OURS
from side_by_side.processes import FailedError, Process
from side_by_side.tables import format_range, format_ratio, format_seconds, format_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from side_by_side.contestants import Contestant

HEAD = ["", "seconds", "ours", "ratio", "range", "MiB", "x input", "metrics", "max diff"]
LEGEND = (
    "ours: our seconds, run alternately with the library; ratio: seconds / ours, median, range;\n"
    "MiB: peak memory added; metrics: how many the library computes;\n"
    "max diff: largest difference from our means under the library's convention"
)
_MIB = 2**20
#: how many pairs are run, if one run takes fewer seconds than this
_TIMES = {1.0: 7, 3.0: 5, 10.0: 3, math.inf: 1}
#: seconds until a library's idle threads stop spinning
_SETTLED = 0.25


class Pair(NamedTuple):
    """The seconds of ours, and of another library right after it."""

    ours: float
    theirs: float


@dataclass(frozen=True)
class Result:
    """The measurements of a library.

    Parameters
    ----------
    one : Contestant
        The library.
    version : str
        Its version.
    pairs : list of Pair
        The seconds of each pair of runs; our own result has itself as the pair.
    memory : int
        Peak memory added, in bytes.
    means : dict
        The mean by metric.
    difference : float
        The largest difference from our means.
    """

    one: Contestant
    version: str
    pairs: list[Pair]
    memory: int
    means: dict[str, float]
    difference: float

    @property
    def seconds(self) -> float:
        """The median of the library's seconds."""
        return median(pair.theirs for pair in self.pairs)

    @property
    def ratio(self) -> float:
        """The median ratio of the pairs."""
        return median(self._ratios)

    @property
    def _ratios(self) -> list[float]:
        return [pair.theirs / pair.ours for pair in self.pairs]

    def cells(self, size: int) -> list[str]:
        """Return the row of the table; `size` is the size of the frame in bytes."""
        is_ours = not self.one.environment
        return [
            f"{self.one.name} {self.version}",
            format_seconds(self.seconds),
            "" if is_ours else format_seconds(median(pair.ours for pair in self.pairs)),
            format_ratio(self.ratio),
            "" if is_ours else format_range(self._ratios),
            f"{self.memory / _MIB:,.0f}",
            f"{self.memory / size:.1f}",
            str(len(self.means)),
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
            taken += [pair.ours for pair in result.pairs]
            yield one, result
        middle = median(taken)
        pairs = [Pair(middle, middle)]
        yield ours, Result(ours, own.version, pairs, first["memory"], first["means"], 0.0)


def _compare(frame: Frame, ours: Process, one: Contestant, theirs: Process, most: int) -> Result:
    """Run ours and theirs alternately, slow libraries fewer times."""
    first = frame.start(theirs)
    times = min(most, next(n for limit, n in _TIMES.items() if first["seconds"] < limit))
    pairs = []
    for _ in range(times):
        own = _run_after_pause(ours)
        pairs.append(Pair(own, _run_after_pause(theirs) if times > 1 else first["seconds"]))
    means: dict[str, float] = first["means"]
    expected = frame.expected(one, [*means])
    difference = max(abs(expected[name] - value) for name, value in means.items())
    return Result(one, theirs.version, pairs, first["memory"], means, float(difference))


def _run_after_pause(process: Process) -> float:
    """Return the seconds of a run that starts when both processes are idle."""
    time.sleep(_SETTLED)
    took: float = process.run()["seconds"]
    return took


def format_results(frame: Frame, found: Mapping[Contestant, Result | str]) -> str:
    """Return the table, the smallest ratio first; below it, why other libraries did not run."""
    ran = [one for one in found.values() if isinstance(one, Result)]
    rows = [one.cells(frame.size) for one in sorted(ran, key=lambda one: one.ratio)]
    reasons = [f"{one.name}: {why}" for one, why in found.items() if isinstance(why, str)]
    return "\n".join([format_table(HEAD, rows), *reasons])
