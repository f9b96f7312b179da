"""Names with special characters are shown as they are in every format, and do nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from unicodedata import category

import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.errors import escape_invisible
from recsys_ndcg.rendering import shorten
from recsys_ndcg.report import Report
from tests.errors import rejects
from tests.files.signing import signed
from tests.profiles import examples, some
from tests.rendering.parsed import Parsed, harmless

ROWS = {"ann": [(4.5, 5), (3.0, 2), (2.5, 1)], "bob": [(2.0, 4), (3.5, 3), (1.0, 1)]}
HOSTILE = [
    "a|b\\|`x`*x*__x__~~x~~", "<b>&lt;", "[x](http://y)![x](y)", "$x$^x{x}", "#1", "1. x", "    x",
    "a & b \\\\ \\hline 50%", "a\nb\r\x1b[31m\u202eabc", '"><img src=x>', "--- | ---", "```",
    "n" * 99,
]  # fmt: skip
SPECIAL = {
    "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<",
    "textgreater": ">", "textbar": "|", "textasciigrave": "`",
}  # fmt: skip


def _with_baseline(name: str) -> Report:
    """Return a report with a baseline of that name."""
    report = rn.evaluate(ROWS, metrics="ndcg@2")
    baselines = pd.DataFrame([[1.0]], index=[name], columns=["ndcg@2"])
    return Report(replace(report._data, baselines=baselines))


def _shown(name: str) -> str:
    """Return what can be seen of a name; no format keeps spaces at the ends."""
    return " ".join(escape_invisible(name).split())


def _markdown_texts(text: str) -> list[str]:
    """Return the texts that a reader of Markdown shows, in the order of the page."""
    markdown_it = pytest.importorskip("markdown_it")
    found = []
    for token in markdown_it.MarkdownIt("commonmark").enable("table").parse(text):
        kind = token.type.removesuffix("_open").removesuffix("_close")
        assert kind in {
            "table", "thead", "tbody", "tr", "th", "td", "bullet_list", "list_item", "paragraph",
            "inline", "fence",
        }  # fmt: skip
        inside = token.children or []
        assert {one.type for one in inside} <= {"text", "text_special"}
        found.append("".join(one.content for one in inside) or token.content)
    return [" ".join(one.split()) for one in found]


def _latex_text(cell: str) -> str:
    """Return what TeX typesets: nothing but letters and the commands of `SPECIAL` is allowed."""
    text = re.sub(r"\\([&%$#_{}])", lambda found: f"\0{ord(found[1]):x}\0", cell)
    text = re.sub(r"\\(text\w+)\{\}", lambda found: f"\0{ord(SPECIAL[found[1]]):x}\0", text)
    text = text.replace("{[}", "[").replace("{]}", "]")
    assert not set(text) & set("\\{}$&#^_~%"), cell
    text = re.sub("\0([0-9a-f]+)\0", lambda found: chr(int(found[1], 16)), text)
    return " ".join(text.split())


def _check(name: str) -> None:
    """Find a name in every format."""
    report, seen = _with_baseline(name), _shown(name)
    markdown = _markdown_texts(report.to_markdown())
    assert seen in markdown
    assert any(one.startswith(f"{seen} is as good or better in ") for one in markdown)
    page = harmless(report.to_html())
    assert shorten(seen) in [" ".join(one.split()) for one in page.texts]
    table = report.to_latex().split("\\toprule")[1]
    head = next(line for line in table.splitlines() if line.endswith(r" \\"))
    cells = re.split(r"(?<!\\)&", head.removesuffix(r" \\"))
    assert seen in [_latex_text(cell) for cell in cells]
    for text in (str(report), report.to_markdown(), report._repr_html_(), report.to_latex()):
        active = {one for one in text if category(one) in {"Cc", "Cf", "Cs"}}
        assert active <= {"\n", "\u200c", "\u200d"}


@pytest.mark.parametrize("name", some(HOSTILE, 4))
def test_a_hostile_name_is_shown_in_every_format(name: str) -> None:
    """As a terminal would show it."""
    _check(name)


@examples(0.1)
@given(st.text(st.sampled_from("|`*_<>[]()!$\\{}#~^%-+.&;:='\"0a \n\x1b\u202e"), min_size=1))
def test_any_name_of_special_characters_is_shown_in_every_format(name: str) -> None:
    """In any combination."""
    assume(_shown(name))
    _check(name)


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", '"><img src=x>', "a&b"])
def test_users_and_functions_cannot_write_tags_into_a_page(name: str) -> None:
    """Nor into the table that a notebook shows."""

    def gain(grades: Any) -> Any:
        return grades

    gain.__name__ = name
    report = rn.evaluate({name: ROWS["ann"]}, convention=rn.Convention(gain=gain))
    for found in (harmless(report.to_html()), Parsed(report._repr_html_())):
        assert not found.named("img")
        # in the signature, whose short form has no spaces
        assert name.replace(" ", "") in found.text.replace(" ", "")


def test_names_in_a_file_do_nothing(tmp_path: Path) -> None:
    """If another program wrote the file, too."""
    path = tmp_path / "r.json"
    rn.evaluate(ROWS, metrics="ndcg@2").save(path)
    plain = path.read_text()

    def load(name: str) -> Report:
        path.write_bytes(signed(json.loads(plain.replace("ndcg@2", name), strict=False)))
        return rn.Report.load(path)

    with rejects("this report was damaged, or changed after it was saved", whole=False):
        load("x\x1b[2J\u202e")
    loaded = load("x<b>_")
    assert loaded.metrics == ["x<b>_"]
    for shown in (loaded.to_html(), loaded._repr_html_()):
        assert "<b>" not in shown
    assert r"\textless{}b\textgreater{}\_" in loaded.to_latex()
