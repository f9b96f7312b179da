"""Run cases in another process, within limits of time and memory, and report its death."""

from __future__ import annotations

import importlib
import os
import random
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import recsys_ndcg as rn

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

_PATIENCE = 60.0  # seconds that a case may wait for a processor, or for nothing
_ONE_HEAP = {"MALLOC_ARENA_MAX": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}


@dataclass(frozen=True)
class Limits:
    """What one case may take.

    Parameters
    ----------
    seconds : float
        Of the processor, all threads together.
    room : int
        Bytes of address space, beyond what the process has when the case begins: pages that are
        never touched count, so that no more of it than this can be resident.
    """

    seconds: float = 2.0
    room: int = 200 << 20


@dataclass
class Outcome:
    """The number of cases and the failures of a target.

    Parameters
    ----------
    cases : int
        How many there were.
    failures : list of (int, str)
        The seed of each that failed, and what happened.
    """

    cases: int = 0
    failures: list[tuple[int, str]] = field(default_factory=list)


def targets() -> list[str]:
    """Return the names of all targets: the modules of this folder that make and run cases."""
    names = sorted(path.stem for path in Path(__file__).parent.glob("*.py"))
    return [name for name in names if name not in {"__init__", "__main__", "damage", "running"}]


def fuzz(
    target: str,
    seeds: Iterator[int],
    *,
    kept: Path,
    seconds: float = float("inf"),
    limits: Limits | None = None,
) -> Outcome:
    """Run a target's cases until the time or the seeds are up.

    Parameters
    ----------
    target : str
        The name of a module here, or one with dots. It has ``case(random) -> bytes``, and
        ``run(case, folder)``, which lets escape whatever is no error of ours.
    seeds : iterator of int
        One for each case: the same seed makes the same case.
    kept : Path
        The folder in which the cases that fail are left.
    seconds : float
        How long.
    limits : Limits, optional
        For one case.
    """
    outcome, end = Outcome(), time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        worker = _Worker(target, Path(name), limits or Limits())
        try:
            for seed in seeds:
                if time.monotonic() >= end:
                    break
                fault = worker.run_case(seed)
                outcome.cases += 1
                if fault:
                    outcome.failures.append((seed, fault))
                    kept.mkdir(parents=True, exist_ok=True)
                    shutil.copy(worker.case, kept / f"{target}-{seed}.case")
        finally:
            worker.stop()
    return outcome


class _Worker:
    """A process that runs cases, and is started again after one that fails."""

    def __init__(self, target: str, folder: Path, limits: Limits) -> None:
        self.case = folder / "case"
        self._target, self._folder, self._limits = target, folder, limits
        self._process: SpawnProcess | None = None
        self._ours: Connection[Any, Any] | None = None

    def run_case(self, seed: int) -> str:
        """Return the fault of the case with this seed, "" if there is none."""
        if self._process is None or self._ours is None:
            process, ours = self._start()
        else:
            process, ours = self._process, self._ours
        ours.send(seed)
        try:
            fault = str(ours.recv()) if ours.poll(_PATIENCE) else f"no answer in {_PATIENCE:g} s"
        except EOFError:
            process.join()
            fault = self._describe_death(process.exitcode or 0)
        if fault:
            self.stop()
        return fault

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._ours = None

    def _start(self) -> tuple[SpawnProcess, Connection[Any, Any]]:
        context = get_context("spawn")
        self._ours, theirs = context.Pipe()
        args = (self._target, theirs, self._folder, self.case, self._limits)
        self._process = context.Process(target=_work, args=args)
        os.environ.update(_ONE_HEAP)  # or every thread reserves 64 MB that it does not use
        self._process.start()
        theirs.close()
        if not self._ours.poll(_PATIENCE) or self._ours.recv() != "ready":
            msg = f"{self._target} cannot be started"
            raise RuntimeError(msg)
        return self._process, self._ours

    def _describe_death(self, code: int) -> str:
        if code == -signal.SIGPROF:
            return f"more than {self._limits.seconds:g} s of the processor"
        return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit with {code}"


def _work(
    target: str, theirs: Connection[Any, Any], folder: Path, written: Path, limits: Limits
) -> None:
    """Run the cases of the given seeds, the first few of them unlimited: they import."""
    warnings.simplefilter("ignore")
    module = importlib.import_module(target if "." in target else f"tests.fuzz.{target}")
    for name in rn.__all__:  # imported here, before there is a limit to what that takes
        getattr(rn, name)
    for seed in range(20 if target in targets() else 0):
        with suppress(Exception):
            module.run(module.case(_chance(target, -seed)), folder)
    theirs.send("ready")
    while True:
        try:
            seed = theirs.recv()
        except EOFError:
            return
        case = module.case(_chance(target, seed))
        written.write_bytes(case)
        theirs.send(_find_fault(module, case, folder, limits))


def _chance(target: str, seed: int) -> random.Random:
    return random.Random(f"{target} {seed}")


def _find_fault(module: Any, case: bytes, folder: Path, limits: Limits) -> str:
    import resource  # noqa: PLC0415 - not on every system

    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    try:
        resource.setrlimit(resource.RLIMIT_AS, (_address_space() + limits.room, hard))
        signal.setitimer(signal.ITIMER_PROF, limits.seconds)  # no handler: it kills
        module.run(case, folder)
    except rn.RecsysNdcgError:
        return ""
    except Exception:  # noqa: BLE001 - this is what is looked for
        return traceback.format_exc(limit=-6)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
    return ""


def _address_space() -> int:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE")
