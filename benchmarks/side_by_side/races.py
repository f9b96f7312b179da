"""Each library against ours on the same frame, in turn, so that both meet the machine alike."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from evaluate import METRICS, THRESHOLD

import recsys_ndcg as rn
from side_by_side.contestants import OURS
from side_by_side.processes import FailedError, Process
from side_by_side.tables import ratio, seconds, spread, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pandas as pd

    from side_by_side.contestants import Contestant

HEAD = ["", "seconds", "ours", "ratio", "of pairs", "MiB", "x input", "means", "off by"]
LEGEND = (
    "ours: beside it, in turn; ratio: the median of the pairs', and their range; MiB: the peak\n"
    "above what was held before; means: how many of the three it gives; off by: at most, from\n"
    "ours under its convention"
)
_MIB = 2**20
#: how many pairs are run, by the seconds that one run takes at most
_TIMES = {1.0: 7, 3.0: 5, 10.0: 3, math.inf: 1}
#: seconds until threads of a library that has just run no longer spin while they wait for work
_SETTLED = 0.25


class Pair(NamedTuple):
    """Seconds of ours, and of a peer right after."""

    ours: float
    theirs: float


@dataclass(frozen=True)
class Result:
    """What a library took and said.

    Parameters
    ----------
    one : Contestant
        Which.
    version : str
        Its version.
    pairs : list of Pair
        Ours alone has itself beside it.
    memory : int
        Bytes above those that it held before.
    means : dict
        By metric.
    off : float
        How far they are from those of ours, at most.
    """

    one: Contestant
    version: str
    pairs: list[Pair]
    memory: int
    means: dict[str, float]
    off: float

    @property
    def seconds(self) -> float:
        """The median."""
        return median(pair.theirs for pair in self.pairs)

    @property
    def ratio(self) -> float:
        """The median of those of the pairs."""
        return median(self._ratios)

    @property
    def _ratios(self) -> list[float]:
        return [pair.theirs / pair.ours for pair in self.pairs]

    def cells(self, size: int) -> list[str]:
        """Return its row of the table, `size` being the bytes of the frame."""
        ours = self.one is OURS
        return [
            f"{self.one.name} {self.version}",
            seconds(self.seconds),
            "" if ours else seconds(median(pair.ours for pair in self.pairs)),
            ratio(self.ratio),
            "" if ours else spread(self._ratios),
            f"{self.memory / _MIB:,.0f}",
            f"{self.memory / size:.1f}",
            str(len(self.means)),
            "" if ours else f"{self.off:.0e}",
        ]


@dataclass(frozen=True)
class Frame:
    """The frame of a race.

    Parameters
    ----------
    rows : DataFrame
        Here.
    small, folder : Path
        A short one to begin with, and itself, where workers read them.
    """

    rows: pd.DataFrame
    small: Path
    folder: Path

    @property
    def size(self) -> int:
        """Bytes of the columns."""
        return int(self.rows.memory_usage(index=False).sum())

    def start(self, process: Process) -> dict[str, Any]:
        """Let a process compile what it compiles on a short frame, and run once on this one."""
        process.read(self.small)
        process.run()
        process.read(self.folder)
        return process.run(watch=True)

    def expected(self, one: Contestant, metrics: Sequence[str]) -> pd.Series[float]:
        """Return the means of ours under a library's convention."""
        rows, threshold = self.rows, THRESHOLD
        if one.whole:
            rows, threshold = rows.assign(true=2 * rows["true"]), 2 * threshold
        how: dict[str, Any] = {"metrics": [*metrics], "threshold": threshold}
        return rn.evaluate(rows, convention=one.preset, **how).mean


def race(
    frame: Frame, peers: Sequence[Contestant], skipped: Mapping[str, str], most: int
) -> Iterator[tuple[Contestant, Result | str]]:
    """Yield what each peer took beside ours, or why it did not run; ours comes last.

    Parameters
    ----------
    frame : Frame
        The same for all.
    peers : sequence of Contestant
        In this order.
    skipped : mapping
        Names of those that are not to run, to the reason.
    most : int
        How many pairs are run at most.
    """
    with Process(OURS) as ours:
        first = frame.start(ours)
        taken = [first["seconds"]]
        for one in peers:
            if one.name in skipped:
                yield one, skipped[one.name]
                continue
            try:
                with Process(one) as theirs:
                    result = _against(frame, ours, one, theirs, most)
            except FailedError as error:
                yield one, f"failed: {error}"
                continue
            taken += [pair.ours for pair in result.pairs]
            yield one, result
        middle = median(taken)
        pairs = [Pair(middle, middle)]
        yield OURS, Result(OURS, ours.version, pairs, first["memory"], first["means"], 0.0)


def _against(frame: Frame, ours: Process, one: Contestant, theirs: Process, most: int) -> Result:
    """Run ours and theirs in turn; the slower they are, the fewer times."""
    first = frame.start(theirs)
    times = min(most, next(n for limit, n in _TIMES.items() if first["seconds"] < limit))
    pairs = []
    for _ in range(times):
        own = _settled(ours)
        pairs.append(Pair(own, _settled(theirs) if times > 1 else first["seconds"]))
    means = {name: first["means"][name] for name in METRICS if name in first["means"]}
    expected = frame.expected(one, [*means])
    off = max(abs(expected[name] - value) for name, value in means.items())
    return Result(one, theirs.version, pairs, first["memory"], means, float(off))


def _settled(process: Process) -> float:
    """Return the seconds of a run, both sides beginning at rest."""
    time.sleep(_SETTLED)
    took: float = process.run()["seconds"]
    return took


def shown(frame: Frame, found: Mapping[Contestant, Result | str]) -> str:
    """Return the table, the least ratio first; who did not run stands below, with the reason."""
    ran = [one for one in found.values() if isinstance(one, Result)]
    rows = [one.cells(frame.size) for one in sorted(ran, key=lambda one: one.ratio)]
    reasons = [f"{one.name}: {why}" for one, why in found.items() if isinstance(why, str)]
    return "\n".join([table(HEAD, rows), *reasons])
