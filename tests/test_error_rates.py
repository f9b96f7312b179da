"""The benchmark of error rates counts correctly, and the page prints what it prints."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tests.pages import ROOT, block, page_of, text_of

Table = tuple[list[str], dict[tuple[str, str], list[str]]]  # the headings, and cells by row


@pytest.fixture(autouse=True)
def _scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import as the script and its processes do; the script trains Surprise's models."""
    pytest.importorskip("surprise")
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")


def _read_tables(text: str) -> dict[str, Table]:
    """Return the Markdown tables by their headings."""
    tables = {}
    for part in text.split("### ")[1:]:
        heading, _, rest = part.partition("\n")
        lines = [line.strip("| ").split(" | ") for line in rest.splitlines() if line[:1] == "|"]
        tables[heading] = lines[0], {(row[0], row[1]): row[2:] for row in lines[2:]}
    return tables


@pytest.mark.slow
def test_the_page_prints_what_the_script_prints() -> None:
    """The tables, rows and columns are the same, and the rates of the small size."""
    script = import_module("error_rates")
    _, columns = script.measure_rates(small=True)
    assert script.find_failures(columns) == []
    printed = [
        "\n".join(script.format_table([one for one in columns if one.section is section]))
        for section in script.SECTIONS
    ]
    ours, page = _read_tables("\n".join(printed)), _read_tables(block("error rates"))
    assert [*page] == [*ours]
    for section, heading in zip(script.SECTIONS, ours, strict=True):
        (heads, rows), (heads_here, rows_here) = page[heading], ours[heading]
        assert heads == [*heads_here[:2], *(f"n = {one:,}" for one in section.sizes), heads_here[2]]
        assert [*rows] == [*rows_here], heading
        for row, (cell,) in rows_here.items():
            last = rows[row][-1]
            if last != cell:  # another NumPy may round another way: within the standard error
                rate, error = (float(one) for one in last.removesuffix(" !").split(" ±"))
                assert abs(float(cell.split(" ±")[0]) - rate) <= error, (heading, row)


def test_the_page_quotes_numbers_of_its_tables() -> None:
    """All numbers with a decimal point."""
    prose, tables = text_of(page_of("statistics")).split("\n## Tables\n")
    quoted = re.findall(r"\d+\.\d+", re.sub(r"section \S+|0.025\^", "", prose))
    printed = set(re.findall(r"(?<=\| )\d+\.\d+(?= ±)", tables))
    assert len(quoted) > 50
    assert [one for one in quoted if one not in printed] == []


def _column(name: str, size: int, happened: dict[str, list[Any]]) -> Any:
    """Make a column of a section from the outcomes of each sample, for the rated items."""
    script = import_module("error_rates")
    (section,) = [one for one in script.SECTIONS if name in one.title]
    column = script.Column(section, f"n = {size}", size, 100, [])
    sums = column.found.setdefault(("rated", "ndcg@10"), {})
    for row, samples in happened.items():
        for one in samples:
            script.add_outcome(sums, row, one)
    return column


def test_a_rate_has_its_standard_error() -> None:
    """Of one outcome per sample the binomial one; of many the spread between samples counts."""
    column = _column("detectable size", 200, {"t": [True] * 80 + [False] * 20})
    assert column.rate(("rated", "ndcg@10"), "t") == pytest.approx((0.8, 0.04))
    together = [np.full(10, one) for one in [True] * 80 + [False] * 20]
    column = _column("detectable size", 200, {"t": together})
    assert column.rate(("rated", "ndcg@10"), "t") == pytest.approx((0.8, 0.04))
    column = _column("detectable size", 200, {"t": [np.array([], dtype=bool)]})
    assert np.isnan(column.rate(("rated", "ndcg@10"), "t")).all()


@pytest.mark.parametrize(
    ("size", "row", "rate", "fails"),
    [
        (200, "t, max-T", 0.05, False),
        (200, "t, max-T", 0.30, True),
        (50, "t, max-T", 0.30, False),  # too few users for the promise
        (200, "t, none", 0.30, False),  # must be too high
        (200, "t, none", 0.05, True),
    ],
)
def test_a_broken_promise_fails(size: int, row: str, rate: float, *, fails: bool) -> None:
    """So does a control that finds nothing."""
    script = import_module("error_rates")
    happened = [True] * round(100 * rate) + [False] * round(100 * (1 - rate))
    column = _column("Any of 15 pairs of equal means", size, {row: happened})
    assert bool(script.find_failures([column])) is fails


def test_a_table_marks_what_is_not_as_promised() -> None:
    """Rows of former procedures have no mark."""
    script = import_module("error_rates")
    happened = {"t, max-T": [True] * 30 + [False] * 70, "t, none": [True] * 30 + [False] * 70}
    column = _column("Any of 15 pairs of equal means", 50, happened)
    column.found["catalogue", "ndcg@10"] = {}
    lines = [*script.format_table([column])]
    assert lines[0] == "### Any of 15 pairs of equal means is significant: at most 5 %\n"
    assert lines[3:5] == [
        "| rated: ndcg@10 | t, max-T | 30.0 ±4.6 ! |",
        "| rated: ndcg@10 | t, none | 30.0 ±4.6 |",
    ]


def test_the_groups_are_compared_as_they_were() -> None:
    """Welch's test of each group, with Holm's correction: the worked numbers of a small case."""
    samples = import_module("samples")
    scores, groups = np.array([0.0, 1, 2, 2, 3, 4]), np.array([0, 0, 0, 1, 1, 1])
    p = samples.test_groups_by_welch(scores, groups, 2)
    assert p.round(4).tolist() == [0.141, 0.141]  # twice 0.0705


def test_the_former_interval_leaves_the_unit_interval() -> None:
    """0.4 ± 4.3027 · 0.2 / √3."""
    samples = import_module("samples")
    ends = samples.find_t_interval(np.array([0.2, 0.4, 0.6]), np.ones(3))
    assert ends == pytest.approx((-0.0968, 0.8968), abs=1e-4)
