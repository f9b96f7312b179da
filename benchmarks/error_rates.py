"""Count how often intervals contain the truth and how often tests give false positives.

    python benchmarks/error_rates.py [--small]

Draws samples of users, with replacement, from real users, who are taken as the whole population, so
that the truth is known. Computes the intervals and tests of reports and comparisons for each
sample, and counts. Prints a table per section, with a last column for the sample ratings of the
package: with --small, only this column. Fails if a rate misses its promise by more than chance.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
from populations import Population, measure_populations
from samples import Sample
from sections import SECTIONS, Section

from recsys_ndcg.parallel import limit_threads

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats

SAMPLES, FEW = 2000, 200
AT_ONCE = 25  # samples of a task
Sums = dict[str, "Floats"]  # by row


@dataclass(frozen=True)
class Column:
    """The rates of one section in samples of one size.

    Parameters
    ----------
    section : Section
        What is counted.
    name : str
        The heading.
    size, samples : int
        Users in a sample, and the number of samples.
    populations : list of Population
        Those of these ratings.
    found : dict
        For each population, metric and row: the sums that give the rate and its standard error.
    """

    section: Section
    name: str
    size: int
    samples: int
    populations: list[Population]
    found: dict[tuple[str, str], Sums] = field(default_factory=dict)

    def rate(self, scores: tuple[str, str], row: str) -> tuple[float, float]:
        """Return a rate and its standard error; NaN if no sample has any such outcome.

        A sample can have several outcomes: the rate is a ratio of sums over samples.
        """
        top, bottom, squared, product, weight = self.found[scores].get(row, np.zeros(5))
        if not bottom:
            return math.nan, math.nan
        rate = top / bottom
        square = squared - 2 * rate * product + rate * rate * weight
        return float(rate), math.sqrt(max(square, 0.0)) / float(bottom)


def count_outcomes(
    section: int, population: Population, metric: str, size: int, numbers: range
) -> Sums:
    """Sum up the outcomes in the samples with these numbers."""
    sums: Sums = {}
    with limit_threads(1):  # one core for each process
        for number in numbers:
            sample = Sample(population, metric, size, number)
            for row, happened in SECTIONS[section].count(sample):
                add_outcome(sums, row, happened)
    return sums


def add_outcome(sums: Sums, row: str, happened: Any) -> None:
    """Add whether something happened in a sample, once or several times."""
    top, bottom = float(np.sum(happened)), float(np.size(happened))
    part = np.array([top, bottom, top * top, top * bottom, bottom * bottom])
    sums[row] = sums.get(row, 0.0) + part


def plan_columns(small: list[Population], real: list[Population], samples: int) -> list[Column]:
    """Return the columns of all sections, still empty."""
    columns = []
    for section in SECTIONS:
        count = max(AT_ONCE, round(section.share * samples))
        sizes = section.sizes if real else ()
        columns += [Column(section, f"n = {size:,}", size, count, real) for size in sizes]
        few = max(AT_ONCE, round(section.share * FEW))
        columns.append(Column(section, f"sample, n = {section.small:,}", section.small, few, small))
    return columns


def fill_columns(pool: Executor, columns: list[Column]) -> None:
    """Count all outcomes."""
    tasks = []
    for column in columns:
        by_name = {one.name: one for one in column.populations}
        for scores in column.section.scores:
            sums = column.found.setdefault(scores, {})
            place, population = SECTIONS.index(column.section), by_name[scores[0]]
            run = partial(count_outcomes, place, population, scores[1], column.size)
            tasks += [
                (sums, pool.submit(run, range(start, min(start + AT_ONCE, column.samples))))
                for start in range(0, column.samples, AT_ONCE)
            ]
    for done, (sums, task) in enumerate(tasks):
        print(f"\r{done} of {len(tasks)} tasks", end="", file=sys.stderr)
        for row, part in task.result().items():
            sums[row] = sums.get(row, 0.0) + part


def format_table(columns: list[Column]) -> Iterator[str]:
    """Yield the lines of one section: its heading, and a Markdown table."""
    section = columns[0].section
    yield f"### {section.heading}\n"
    heads = ["scores", "procedure", *(one.name for one in columns)]
    yield f"| {' | '.join(heads)} |"
    yield f"|---|---|{'---|' * len(columns)}"
    for scores in section.scores:
        rows = dict.fromkeys(row for one in columns for row in one.found[scores])
        for row in rows:
            cells = [_format_cell(one, scores, row) for one in columns]
            yield f"| {': '.join(scores)} | {row} | {' | '.join(cells)} |"
    yield ""


def _format_cell(column: Column, scores: tuple[str, str], row: str) -> str:
    (rate, error), section = column.rate(scores, row), column.section
    if math.isnan(rate):
        return "–"
    mark = " !" if section.is_promised(row) and section.is_worse(rate) else ""
    digits = 1 if section.unit == 100 else 4
    return f"{section.unit * rate:.{digits}f} ±{section.unit * error:.{digits}f}{mark}"


def find_failures(columns: list[Column]) -> list[str]:
    """Return the rates that break a promise.

    About one in several thousand correct rates is also returned.
    """
    found = []
    for column in columns:
        section = column.section
        for scores, sums in column.found.items():
            if column.size < section.holds.get(scores[0], math.inf):
                continue
            for row in sums:
                rate, _ = column.rate(scores, row)
                if math.isnan(rate):
                    continue
                spread = sums[row][4] / sums[row][1] ** 2  # 1 / samples, or more
                promise = section.promise or 0.0
                missed = section.is_worse(rate, 3.5 * math.sqrt(promise * (1 - promise) * spread))
                if scores[0] == "rated":
                    missed |= rate < section.least - 3.5 * math.sqrt(section.least * spread)
                is_control = row == section.too_high
                if missed if section.is_promised(row) else is_control and not missed:
                    found.append(
                        f"{section.title}, {' '.join(scores)}, {row}, {column.name}: {rate:.3f}"
                    )
    return found


def measure_rates(*, small: bool) -> tuple[str, list[Column]]:
    """Return a description of the data, and all columns."""
    description, of_sample = measure_populations(real=False)
    real: list[Population] = []
    if not small:
        description, real = measure_populations(real=True)
    users = ", ".join(f"{one.name}: {one.n_users:,}" for one in real or of_sample)
    columns = plan_columns(of_sample, real, SAMPLES)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # in the new processes, one for each core
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        fill_columns(pool, columns)
    return f"{description}; users: {users}", columns


def main() -> None:
    """Print the tables, and fail if a promise is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--small", action="store_true", help="few samples, from the ratings in the package"
    )
    description, columns = measure_rates(small=parser.parse_args().small)
    print(f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(f"{description}\n")
    for section in SECTIONS:
        print("\n".join(format_table([one for one in columns if one.section is section])))
    if broken := find_failures(columns):
        sys.exit("Not as promised: " + "; ".join(broken))


if __name__ == "__main__":
    main()
