"""How often intervals hold the truth, and tests find what is not there: counted, not assumed.

    python benchmarks/error_rates.py [--small]

Draws samples of users, with replacement, from real users whose scores are taken as all there are,
so that the truth is known; asks of each sample what reports and comparisons ask, and counts. It
ends with an error where a promise is broken by more than chance.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
from collections import Counter
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

import numpy as np
from populations import Population, populations
from samples import ANY, SECTIONS, Sample, promised

from recsys_ndcg.parallel import limit_threads

SIZES, SAMPLES, MANY = (50, 200, 1000), 2000, 200
#: too much is found without a correction: else nothing would have been counted
CONTROL = ANY, "t, none"
Rates = dict[tuple[int, str], float]  # by section and row


def counted(population: Population, size: int, numbers: range) -> Counter[tuple[int, str]]:
    """Count in some samples how often each outcome came about."""
    found: Counter[tuple[int, str]] = Counter()
    with limit_threads(1):  # each process has its core
        for number in numbers:
            for section, row, happened in Sample(population, size, number).outcomes():
                found[section, row] += happened
    return found


def rates(pool: Executor, population: Population, size: int, samples: int) -> Rates:
    """Return how often each outcome came about in all samples."""
    parts = [range(start, min(start + 25, samples)) for start in range(0, samples, 25)]
    found = list(pool.map(partial(counted, population, size), parts))
    return {key: sum(one[key] for one in found) / samples for key in found[0]}


def worse(section: int, rate: float, chance: float = 0.0) -> bool:
    """Tell whether a rate is worse than it should be by more than a point, and chance."""
    expected = SECTIONS[section][1]
    return (expected - rate if expected > 0.5 else rate - expected) > 0.01 + chance


def printed(columns: dict[tuple[str, int], Rates], samples: int) -> None:
    """Print a line per row, a column per population and size, in percent."""
    for place, text in enumerate(("", "n =")):
        heads = (f"{text} {one[place]}".strip() for one in columns)
        print(f"{'':28}" + "".join(f"{head:>13}" for head in heads))
    before = None
    for section, row in sorted(next(iter(columns.values())), key=lambda key: key[0]):
        if section != before:
            words, expected = SECTIONS[section]
            least = "at least" if expected > 0.5 else "at most"
            print(f"{words}: {least} {100 * expected:.0f}")
            before = section
        cells = ""
        for found in columns.values():
            rate = found[section, row]
            error = math.sqrt(rate * (1 - rate) / samples)
            mark = "!" if worse(section, rate) else " "
            cells += f"{100 * rate:7.1f} ±{100 * error:.1f}{mark} "
        print(f"  {row:26}{cells}".rstrip())


def failures(columns: dict[tuple[str, int], Rates], samples: int) -> list[str]:
    """Return the rates that are not as promised, of test lists and many users.

    Of rates that are as promised, one in some thousands is beyond chance.
    """
    found = []
    for (name, size), one in columns.items():
        for key, rate in one.items() if name == "rated" and size >= MANY else ():
            expected = SECTIONS[key[0]][1]
            missed = worse(key[0], rate, 3.5 * math.sqrt(expected * (1 - expected) / samples))
            if missed if promised(*key) else key == CONTROL and not missed:
                found.append(f"{SECTIONS[key[0]][0]}, {key[1]}, n = {size}: {rate:.3f}")
    return found


def main() -> None:
    """Print the table, and end with an error where a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="few samples of the sample ratings")
    small = parser.parse_args().small
    sizes, samples = ((MANY,), 200) if small else (SIZES, SAMPLES)
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    told, found = populations(real=not small)
    users = ", ".join(f"{len(one.denominator):,} {one.name}" for one in found)
    print(f"{told}\n{samples:,} samples of n users, from {users}; percent ± its standard error")
    print("! is worse than it should be by more than a point\n")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of the new processes, one for each core
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        columns = {
            (one.name, size): rates(pool, one, size, samples)
            for one in found[: 1 if small else None]
            for size in sizes
        }
    printed(columns, samples)
    if broken := failures(columns, samples):
        sys.exit("Not as promised: " + "; ".join(broken))


if __name__ == "__main__":
    main()
