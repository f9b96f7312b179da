"""One list of terms makes the glossary page, the tooltips of pages and the legend."""

from __future__ import annotations

import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.glossary import format_legend, format_page, meanings_of, read_terms
from tests.pages import ROOT, text_of

#: Headings that need no explanation, or that name a metric, a model or a user.
PLAIN = {"metric", "model", "user", "gain", "a", "b", "b minus a"}


def test_the_page_is_up_to_date() -> None:
    """Write it again: python -m recsys_ndcg.glossary > docs/glossary.md."""
    assert text_of(ROOT / "docs" / "glossary.md") == format_page()


def test_terms_are_in_alphabetical_order() -> None:
    """Each with a meaning of one line."""
    assert [*read_terms()] == sorted(read_terms(), key=str.lower)
    terms = read_terms().items()
    every = [column for name, term in terms for column in term.get("columns", [name])]
    assert [line for line in format_legend(every) if len(line) > 80] == []


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_every_heading_of_a_report_and_a_comparison_is_explained() -> None:
    """Except metrics, and names."""
    pytest.importorskip("jinja2")
    data = sample_ratings()[::5].rename(columns={"rating": "true"})
    first = rn.evaluate(data.assign(estimated=data["true"] % 2), threshold=4)
    second = rn.evaluate(data.assign(estimated=data["true"] % 3), threshold=4)
    comparison = rn.compare({"a": first, "b": second})
    headings: set[str] = set()
    for one in (first, comparison):
        for table in (*one.document().tables, *one.page().tables):
            headings |= {*map(str, table.cells.columns)}
    unknown = {*headings} - PLAIN - {*first.metrics}
    assert {*unknown} - {*meanings_of(headings)} == set()
