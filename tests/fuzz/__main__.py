"""The command: ``python -m tests.fuzz [targets...] [--seconds N] [--seed S] [--cases N]``."""

from __future__ import annotations

import argparse
import sys
import time
from itertools import count, islice
from pathlib import Path

from tests.fuzz.running import fuzz, targets


def main(arguments: list[str] | None = None) -> int:
    """Run the targets one after the other, and say what failed; 1 if anything did."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(targets())}; all by default")
    parser.add_argument("--seconds", type=float, help="for all targets together; 60 by default")
    parser.add_argument("--seed", type=int, help="of the first case; the time by default")
    parser.add_argument("--cases", type=int, help="of each target, at most")
    parser.add_argument("--kept", type=Path, default=Path("fuzz-failures"), help="where they go")
    asked = parser.parse_args(arguments)
    names = asked.targets or targets()
    seconds = asked.seconds or (60.0 if asked.cases is None else float("inf"))
    seed = int(time.time()) if asked.seed is None else asked.seed
    failed = 0
    for name in names:
        outcome = fuzz(
            name, islice(count(seed), asked.cases), kept=asked.kept, seconds=seconds / len(names)
        )
        for place, what in outcome.failures:
            print(f"{name}: python -m tests.fuzz {name} --seed {place} --cases 1\n{what}")
        failed += len(outcome.failures)
        print(
            f"{name}: {outcome.cases} cases from seed {seed} on, {len(outcome.failures)} failures",
            flush=True,
        )
    if failed:
        print(f"The cases are in {asked.kept}.")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
