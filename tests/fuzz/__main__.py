"""The command: ``python -m tests.fuzz [targets...] [--seconds N] [--seed S] [--cases N]``."""

from __future__ import annotations

import argparse
import sys
import time
from itertools import count, islice
from pathlib import Path

from tests.fuzz.running import fuzz, targets


def main(arguments: list[str] | None = None) -> int:
    """Run the targets one after the other, and print the failures; return 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", help=f"of {', '.join(targets())}; all by default")
    parser.add_argument("--seconds", type=float, help="for all targets together; 60 by default")
    parser.add_argument("--seed", type=int, help="of the first case; the time by default")
    parser.add_argument("--cases", type=int, help="of each target, at most")
    parser.add_argument("--kept", type=Path, default=Path("fuzz-failures"), help="where they go")
    given = parser.parse_args(arguments)
    names = given.targets or targets()
    seconds = (given.seconds or (60.0 if given.cases is None else float("inf"))) / len(names)
    first = int(time.time()) if given.seed is None else given.seed
    failed = 0
    for name in names:
        seeds = islice(count(first), given.cases)
        outcome = fuzz(name, seeds, kept=given.kept, seconds=seconds)
        for seed, fault in outcome.failures:
            print(f"{name}: python -m tests.fuzz {name} --seed {seed} --cases 1\n{fault}")
        faults = len(outcome.failures)
        failed += faults
        print(f"{name}: {outcome.cases} cases from seed {first} on, {faults} failures", flush=True)
    if failed:
        print(f"The cases are in {given.kept}.")
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
