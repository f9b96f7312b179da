"""Names that would act in a format are shown there as they stand."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from unicodedata import category

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.errors.wording import escape_invisible
from recsys_ndcg.rendering.wording import cut
from recsys_ndcg.report.report import Report
from tests.errors import rejects
from tests.files.signing import signed
from tests.profiles import examples
from tests.rendering.parsed import harmless

if TYPE_CHECKING:
    from pathlib import Path

ROWS = {"ann": [(4.5, 5), (3.0, 2), (2.5, 1)], "bob": [(2.0, 4), (3.5, 3), (1.0, 1)]}
HOSTILE = [
    "a|b", "`x`", "*x*", "__x__", "<b>&lt;", "[x](http://y)", "![x](y)", "$x$", "a\\|b", "\\",
    "{x}", "#1", "~~x~~", "^x", "50%", "1. x", "- x", "+ x", "    x",
    "a & b \\\\ \\hline", "\x1b[31m",
    "a\nb", "\r", "\u202eabc", "%s {0} {{x}}", '"><img src=x>', "--- | ---", "```", "n" * 99,
    "=1+1",
]  # fmt: skip
SPECIAL = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<",
    "textgreater": ">", "textbar": "|", "textasciigrave": "`",
}  # fmt: skip


def named(model: str, metric: str = "ndcg@2") -> Report:
    """Return a report with a baseline of that name, whose metric is called so."""
    report = rn.evaluate(ROWS, metrics="ndcg@2")
    made = pd.DataFrame([[1.0]], index=[model], columns=["ndcg@2"])
    report = Report(report.audited, made)
    if metric == "ndcg@2":
        return report

    class Renamed(Report):
        metrics = property(lambda _: [metric])
        mean = property(lambda _: report.mean.set_axis([metric]))
        baselines = property(lambda _: report.baselines.set_axis([metric], axis=1))
        audit = property(lambda _: report.audit.set_axis([metric]))
        summary = property(lambda _: report.summary.set_axis([metric]))

        def signature(self, _: Any) -> Any:
            return type("Signed", (), {"text": metric, "short": metric})

    return Renamed(report.audited, made)


def stripped(name: str) -> str:
    """Return what is to be seen of a name; no format keeps spaces at the ends."""
    return " ".join(escape_invisible(name).split())


def cells_of_markdown(text: str) -> list[str]:
    """Return the texts that a reader of Markdown shows, in the order of the page."""
    markdown_it = pytest.importorskip("markdown_it")
    tokens = markdown_it.MarkdownIt("commonmark").enable("table").parse(text)
    kinds = {one.type for one in tokens}
    assert kinds <= {
        *(f"{kind}_{end}" for end in ("open", "close") for kind in (
            "table", "thead", "tbody", "tr", "th", "td", "bullet_list", "list_item", "paragraph")),
        "inline", "fence",
    }, kinds  # fmt: skip
    found = []
    for token in tokens:
        inside = token.children or []
        assert {one.type for one in inside} <= {"text", "text_special"}
        found.append("".join(one.content for one in inside) or token.content)
    return [" ".join(one.split()) for one in found]


def check(name: str) -> None:
    """Look for a name, as a model and as a metric, in every format."""
    report = named(name, name)
    seen = stripped(name)
    markdown = cells_of_markdown(report.to_markdown())
    assert markdown.count(seen) >= 2 + bool(seen)  # the heading, the cell, the signature
    assert any(one.startswith(f"{seen} is as good or better in ".strip()) for one in markdown)
    page = harmless(report.to_html())
    assert [" ".join(one.split()) for one in page.texts].count(cut(seen)) >= 3 * bool(seen)
    table = report.to_latex().split("\\toprule")[1]
    head, row = (
        [read_latex(cell) for cell in re.split(r"(?<!\\)&", line.removesuffix(r" \\"))]
        for line in table.splitlines()
        if line.endswith(r" \\")
    )
    assert seen in head
    assert row[0] == seen
    for text in (str(report), report.to_markdown(), report._repr_html_(), report.to_latex()):
        acting = {one for one in text if category(one) in {"Cc", "Cf", "Cs"}}
        assert acting <= {"\n", "\u200c", "\u200d"}


def read_latex(cell: str) -> str:
    """Return what TeX sets: nothing but letters and the commands of `SPECIAL` may stand there."""
    text = re.sub(r"\\([&%$#_{}])", lambda found: f"\0{ord(found[1]):x}\0", cell)
    text = re.sub(r"\\(text\w+)\{\}", lambda found: f"\0{ord(SPECIAL[found[1]]):x}\0", text)
    text = text.replace("{[}", "[").replace("{]}", "]")
    assert not set(text) & set("\\{}$&#^_~%"), cell
    text = re.sub("\0([0-9a-f]+)\0", lambda found: chr(int(found[1], 16)), text)
    return " ".join(text.split())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_read_back_from_every_format(name: str) -> None:
    """As a terminal would show it."""
    check(name)


@examples(0.1)
@given(st.text(st.sampled_from("|`*_<>[]()!$\\{}#~^%-+.&;:='\"0a \n\x1b\u202e"), min_size=1))
def test_any_name_is_read_back_from_every_format(name: str) -> None:
    """Glued of what acts."""
    if stripped(name):
        check(name)


def test_a_file_cannot_name_what_acts(tmp_path: Path) -> None:
    """A report that somebody else wrote: refused without acting, or shown as it stands."""
    path = tmp_path / "r.json"
    rn.evaluate(ROWS, metrics="ndcg@2").save(path)
    plain = path.read_text()

    def named(name: str) -> Report:
        path.write_bytes(signed(json.loads(plain.replace("ndcg@2", name), strict=False)))
        return rn.Report.load(path)

    with rejects("this report was damaged, or changed after it was saved", whole=False):
        named("x\x1b[2J\u202e")
    loaded = named("x<b>_")
    assert loaded.metrics == ["x<b>_"]
    for shown in (loaded.to_html(), loaded._repr_html_()):
        assert "<b>" not in shown
    assert r"\textless{}b\textgreater{}\_" in loaded.to_latex()
