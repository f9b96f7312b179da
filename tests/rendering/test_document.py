"""A section is written once, and rendered in every form of a document."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from recsys_ndcg.cli.terminal import print_document
from recsys_ndcg.rendering import Charts, Code, Document, Section, ShownTable, Verdict
from recsys_ndcg.rendering.plots import vega

pytest.importorskip("altair")
CELLS = pd.DataFrame({"model": ["SVD", "KNN"], "mean": ["0.5000", "-0.2500"]})
PARTS: list[Any] = [
    ShownTable("What it is of", CELLS, bold=[0], note="what is counted"),
    ["A remark on it."],
    Charts(vega.chart({"text": "Falling"}, "A line that falls.", [])),
    Code("To be typed", ["import this"]),
    Section.folded("More of it", [["Only where it can be opened."]]),
]
NEW = Section("new", "Something new", "How to read it.", PARTS)
OLD = Section("old", "The first", "", [ShownTable("All", CELLS, n_left_aligned=1)])
VERDICT = Verdict("SVD is better.", "Over 285 users.")
DOCUMENT = Document("2 models", [OLD, NEW], verdicts=[VERDICT], title="Compared")
TEXTS = ("SVD", "what is counted", "A remark on it.", "A line that falls.", "import this")


def on_a_terminal(document: Document, *, quiet: bool = False, full: bool = False) -> str:
    """Return what a terminal shows."""
    stream = io.StringIO()
    screen = Console(file=stream, width=80, soft_wrap=True, markup=False)
    print_document(document, screen, quiet=quiet, full=full)
    return stream.getvalue()


@pytest.mark.parametrize("form", ["terminal", "text", "markdown", "latex", "html", "page"])
def test_a_section_is_rendered_in_every_form(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its table, its remarks, its code, and the description of its chart."""
    if form == "markdown":
        pytest.importorskip("tabulate")
    if form in {"latex", "page"}:
        pytest.importorskip("jinja2")
    if form == "page":
        monkeypatch.setattr("recsys_ndcg.rendering.page.runtime", lambda: "")
    text = on_a_terminal(DOCUMENT) if form == "terminal" else DOCUMENT.render(form)
    plain = text.replace("\\.", ".")
    assert [one for one in (*TEXTS, *VERDICT, DOCUMENT.facts) if one not in plain] == []
    assert ("Only where it can be opened." in text) == (form in {"html", "page"})
    assert ("Something new" in text) == (form == "page")


def test_tables_only_gives_nothing_else() -> None:
    """With `--quiet` too."""
    pytest.importorskip("tabulate")
    markdown = DOCUMENT.render("markdown", tables_only=True)
    for text in (on_a_terminal(DOCUMENT, quiet=True), markdown):
        assert text.count("SVD") == 2
        assert "remark" not in text
        assert VERDICT.headline not in text


def test_latex_numbers_have_a_minus_sign() -> None:
    """Names with a hyphen before a digit keep it."""
    pytest.importorskip("jinja2")
    named = CELLS.assign(model=["SVD-2", "-1"], other=["a-1", "+0.5 [-1.0, -2e-05]"])
    document = Document("", [Section("s", "S", "", [ShownTable("T", named)])])
    rows = [line for line in document.render("latex").splitlines() if line.endswith(r"\\")]
    assert rows[1:] == [
        r"SVD-2 & 0.5000 & a-1 \\", r"-1 & $-$0.2500 & +0.5 {[}$-$1.0, $-$2e-05{]} \\",
    ]  # fmt: skip


def test_latex_numbers_are_on_the_right() -> None:
    """Below each other; names are on the left."""
    pytest.importorskip("jinja2")
    assert "\\begin{tabular}{lr}" in DOCUMENT.render("latex")


def test_common_parts_of_signatures_are_printed_once() -> None:
    """In the first one; text has short forms, with what they leave out if it differs."""
    full = ["ndcg@10|gain:exponential|ties:input|users:3", "rr|gain:exponential|ties:best|users:2"]
    short = ["ndcg@10|ties:input|users:3", "rr|users:2"]
    signatures = Code("The signatures", full, short, ["ndcg@10", "rr:catalogue"])
    document = Document("", [Section("s", "S", "", [signatures])])
    assert document.render("text").splitlines()[1:] == [
        short[0],
        "other signatures are the same, except: rr:catalogue|users:2|ties:best",
    ]
    assert on_a_terminal(document).splitlines() == [
        short[0],
        "other signatures are the same, except: rr:catalogue|users:2|ties:best",
    ]
    assert on_a_terminal(document, full=True).splitlines()[0] == full[0]
