"""Count how often intervals contain the truth and how often tests give false positives.

    python benchmarks/error_rates.py [--small]

Draws samples of users, with replacement, from real users, who are taken as the whole population, so
that the truth is known. Computes the intervals and tests of reports and comparisons for each
sample, and counts. Fails if a rate misses its promise by more than chance.
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
from populations import Population, measure_populations
from samples import ANY, SECTIONS, Sample, is_promised

from recsys_ndcg.parallel import limit_threads

SIZES, SAMPLES, MANY = (50, 200, 1000), 2000, 200
#: a control: without a correction, this rate must be too high, or the counting is broken
CONTROL = ANY, "t, none"
Rates = dict[tuple[int, str], float]  # by (section, row)


def count_outcomes(population: Population, size: int, numbers: range) -> Counter[tuple[int, str]]:
    """Count how often each outcome happens in the samples with these numbers."""
    found: Counter[tuple[int, str]] = Counter()
    with limit_threads(1):  # one core for each process
        for number in numbers:
            for section, row, happened in Sample(population, size, number).outcomes():
                found[section, row] += happened
    return found


def compute_rates(pool: Executor, population: Population, size: int, samples: int) -> Rates:
    """Return the share of samples in which each outcome happens."""
    parts = [range(start, min(start + 25, samples)) for start in range(0, samples, 25)]
    found = list(pool.map(partial(count_outcomes, population, size), parts))
    return {key: sum(one[key] for one in found) / samples for key in found[0]}


def is_worse(section: int, rate: float, chance: float = 0.0) -> bool:
    """Return whether a rate is worse than promised by more than 0.01 + chance."""
    expected = SECTIONS[section][1]
    return (expected - rate if expected > 0.5 else rate - expected) > 0.01 + chance


def print_table(columns: dict[tuple[str, int], Rates], samples: int) -> None:
    """Print a line per row, a column per population and size, in percent."""
    for place, text in enumerate(("", "n =")):
        heads = (f"{text} {one[place]}".strip() for one in columns)
        print(f"{'':28}" + "".join(f"{head:>13}" for head in heads))
    before = None
    for section, row in sorted(next(iter(columns.values())), key=lambda key: key[0]):
        if section != before:
            words, expected = SECTIONS[section]
            least = "at least" if expected > 0.5 else "at most"
            print(f"{words}: {least} {100 * expected:.0f} %")
            before = section
        cells = ""
        for found in columns.values():
            rate = found[section, row]
            error = math.sqrt(rate * (1 - rate) / samples)
            mark = "!" if is_worse(section, rate) else " "
            cells += f"{100 * rate:7.1f} ±{100 * error:.1f}{mark} "
        print(f"  {row:26}{cells}".rstrip())


def find_failures(columns: dict[tuple[str, int], Rates], samples: int) -> list[str]:
    """Return the rates that break a promise, for the rated items of many users.

    About one in several thousand correct rates is also returned.
    """
    found = []
    for (name, size), one in columns.items():
        for key, rate in one.items() if name == "rated" and size >= MANY else ():
            expected = SECTIONS[key[0]][1]
            missed = is_worse(key[0], rate, 3.5 * math.sqrt(expected * (1 - expected) / samples))
            if missed if is_promised(*key) else key == CONTROL and not missed:
                found.append(f"{SECTIONS[key[0]][0]}, {key[1]}, n = {size}: {rate:.3f}")
    return found


def main() -> None:
    """Print the table, and fail if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--small", action="store_true", help="few samples, from the ratings in the package"
    )
    small = parser.parse_args().small
    sizes, samples = ((MANY,), 200) if small else (SIZES, SAMPLES)
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    description, found = measure_populations(real=not small)
    users = ", ".join(f"{one.name}: {len(one.denominator):,}" for one in found)
    print(f"{description}\n{samples:,} samples of n users from all users ({users})")
    print("percent ± standard error; !: more than one percentage point worse than promised\n")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # in the new processes, one for each core
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        columns = {
            (one.name, size): compute_rates(pool, one, size, samples)
            for one in found[: 1 if small else None]
            for size in sizes
        }
    print_table(columns, samples)
    if broken := find_failures(columns, samples):
        sys.exit("Not as promised: " + "; ".join(broken))


if __name__ == "__main__":
    main()
