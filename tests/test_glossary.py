"""One list of terms makes the glossary page, the tooltips of pages and the legend."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.glossary import format_legend, meanings_of, read_columns, read_terms
from recsys_ndcg.rendering import Section, ShownTable
from tests.pages import ROOT, page_of, text_of

#: A model, a metric, and the first column of two tables.
OTHER_HEADINGS = {"c", "b minus a"}


def test_the_page_is_up_to_date() -> None:
    """Write it again: python docs/terms.py > docs/concepts/glossary.md."""
    terms = runpy.run_path(str(ROOT / "docs" / "terms.py"))
    assert text_of(page_of("glossary")) == terms["format_glossary"]()
    assert "| `p_corrected` | corrected p | always | p-value" in terms["format_columns"]()


def test_terms_are_in_alphabetical_order() -> None:
    """Each with a meaning of one line; each column has one or the other kind of meaning."""
    assert [*read_terms()] == sorted(read_terms(), key=str.lower)
    for column in read_columns().values():
        assert ("meaning" in column) is not (column.get("term") in read_terms()), column
        assert all(len(line) <= 80 for line in format_legend([column["heading"]])), column


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_every_column_is_in_the_list() -> None:
    """Of pages and of tables of values, and every row of an audit and of counts."""
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
    known = {column["heading"].format(level="95%") for column in read_columns().values()}
    unknown = {one for one in headings - known if not metrics.search(one)}
    assert unknown - meanings_of(unknown).keys() <= OTHER_HEADINGS
    values = [report.summary, report.audit, report.per_user_audit("ndcg@10"), first.leaderboard]
    values += [first.pairwise, first.segments, across.pairs, across.differences]
    assert {name for table in values for name in table} <= read_columns().keys()
    assert meanings_of(["won/tied/lost against SVD"]).keys() == {"won/tied/lost against SVD"}


def find_tables(parts: Iterable[Any]) -> Iterator[ShownTable]:
    """Yield the tables of all parts, also of folded ones."""
    for one in parts:
        if isinstance(one, ShownTable):
            yield one
        elif isinstance(one, Section):
            yield from find_tables(one.parts)
