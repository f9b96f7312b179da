"""One list of terms makes the glossary page, the tooltips of pages and the legend."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.glossary import format_legend, format_page, meanings_of, read_terms
from recsys_ndcg.rendering import Section, ShownTable
from tests.pages import page_of, text_of

#: Headings that need no explanation, or that name a metric, a model or a user.
PLAIN = {
    "metric",
    "model",
    "user",
    "gain",
    "a",
    "b",
    "c",
    "number",
    "b minus a",
    "audit",
    "count",
    "data set",
}


def test_the_page_is_up_to_date() -> None:
    """Write it again: python -m recsys_ndcg.glossary > docs/concepts/glossary.md."""
    assert text_of(page_of("glossary")) == format_page()


def test_terms_are_in_alphabetical_order() -> None:
    """Each with a meaning of one line."""
    assert [*read_terms()] == sorted(read_terms(), key=str.lower)
    terms = read_terms().items()
    every = [column for name, term in terms for column in term.get("columns", [name])]
    assert [line for line in format_legend(every) if len(line) > 80] == []


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_every_heading_of_a_page_is_explained() -> None:
    """And every row of an audit and of counts; except metrics, models and users."""
    pytest.importorskip("jinja2")
    pytest.importorskip("altair")
    data = sample_ratings()[::5].rename(columns={"rating": "true"})

    def evaluate(table: Any, n: int) -> rn.Report:
        return rn.evaluate(table.assign(estimated=table["true"] % n), threshold=4)

    others = data[::2]
    first, *compared = (
        rn.compare({"a": evaluate(one, 2), "b": evaluate(one, 3)}, by="activity", margin=0.1)
        for one in (data, others)
    )
    report, across = evaluate(data, 2), rn.across({"one": first, "other": compared[0]})
    headings: set[str] = set()
    for result in (report, report.by("activity"), first, across):
        for table in find_tables([one for each in result._page().sections for one in each.parts]):
            names = table.cells.columns
            headings |= {*names, *(table.cells[names[0]] if names[0] in {"audit", "count"} else ())}
    metrics = re.compile("|".join(report.metrics))
    unknown = {one for one in headings - meanings_of(headings).keys() if not metrics.search(one)}
    assert unknown <= PLAIN
    assert meanings_of(["won/tied/lost against SVD"]).keys() == {"won/tied/lost against SVD"}


def find_tables(parts: Iterable[Any]) -> Iterator[ShownTable]:
    """Yield the tables of all parts, also of folded ones."""
    for one in parts:
        if isinstance(one, ShownTable):
            yield one
        elif isinstance(one, Section):
            yield from find_tables(one.parts)
