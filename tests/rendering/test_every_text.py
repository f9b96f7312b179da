"""Every text of every document is shown in every form, and does nothing there."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from functools import cache
from random import Random
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

import recsys_ndcg as rn
from recsys_ndcg.cli.terminal import print_document
from recsys_ndcg.rendering import (
    Charts,
    Choice,
    Code,
    Document,
    Section,
    ShownTable,
    UserLists,
    Verdict,
)
from recsys_ndcg.rendering.plots import vega
from tests.errors import rejects
from tests.profiles import examples
from tests.rendering.parsed import harmless

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("tabulate")

#: What a hostile text has; how it is seen, and how Markdown and LaTeX write it.
HOSTILE = {
    "\n": (r"\n", r"\\n", r"\textbackslash{}n"),
    "\u2028": (r"\u2028", r"\\u2028", r"\textbackslash{}u2028"),
    "\u202e": (r"\u202e", r"\\u202e", r"\textbackslash{}u202e"),
    r"\input{x}": (r"\input{x}", r"\\input\{x\}", r"\textbackslash{}input\{x\}"),
    "%": ("%", "%", r"\%"),
    "|": ("|", r"\|", r"\textbar{}"),
    "```": ("```", r"\`\`\`", r"\textasciigrave{}" * 3),
    "<script>": ("<script>", r"\<script\>", r"\textless{}script\textgreater{}"),
    "$": ("$", r"\$", r"\$"),
}
#: Fields that are names for programs: anchors of sections.
ANCHORS = {"name"}
MARK = re.compile(r"Q(\w\d)qQ")  # a text of `DOCUMENT` in a plain rendering

CELLS = pd.DataFrame({"c1": ["c2", "c3"], "c4": ["c5", "c6"]})
LISTS = UserLists({"l1": [{"item": ["l2"], "gain": [1.0]}] * 2}, [1.0])
CHART = Charts(vega.chart(vega.title("g1", "g2"), "g3", []))
TABLE = ShownTable("t1", CELLS, 1, [0], "t2", ["t3", "t4"], "t5")
SENTENCES = ShownTable("t6", pd.DataFrame({"s1": ["s2"], "s3": ["s4"]}), note="t7", numeric=("s1",))
USERS = replace(TABLE, caption="t8", is_sortable=True, lists=LISTS)
CODE = Code("o1", ["o2", "o3"], ["o4", "o5"])
PARTS: list[Any] = [TABLE, SENTENCES, USERS, CODE, CHART, ["r1", "r2"]]
DOCUMENT = Document(
    "f1",
    [
        Section("first", "h1", "h2", PARTS),
        Section("second", "h3", "h4", [Section.folded("h5", [TABLE, ["r3"], CODE])]),
        Section("third", "h6", "h7", [Choice("", "h8", "", [Section("", "h9", "", [["r4"]])])]),
    ],
    [Verdict("v1", "v2"), Verdict("v3")],
    "f2",
    ["c2", "l1"],
    "f3",
)


def change_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Return a document, or a part of it, in which each text is changed."""
    if isinstance(value, str):
        return change(value) if value else value
    if isinstance(value, pd.DataFrame):
        return value.map(change).rename(columns=change)
    if isinstance(value, Verdict):
        return Verdict(*(change_texts(one, change) for one in value))
    if isinstance(value, list | tuple):
        changed: Any = copy(value) if isinstance(value, Charts) else [*value]
        changed[:] = [change_texts(one, change) for one in value]
        if isinstance(value, Charts):
            changed.notes = change_texts(value.notes, change)
        return changed
    if not is_dataclass(value) or isinstance(value, type):
        return value
    kept = ANCHORS if isinstance(value, Section) else set()
    names = {one.name for one in fields(value)} - kept
    texts = {one: change_texts(getattr(value, one), change) for one in names}
    if isinstance(value, UserLists):
        texts["sides"] = {
            change(name): [{**one, "item": [*map(change, one["item"])]} for one in users]
            for name, users in value.sides.items()
        }
    return replace(value, **texts)


def make_hostile(seed: int) -> Callable[[str], tuple[str, ...]]:
    """Return a function from a text to a hostile one, how it is seen, in Markdown and in LaTeX."""
    random = Random(seed)  # noqa: S311 - of texts

    @cache
    def make(text: str) -> tuple[str, ...]:
        drawn = random.sample([*HOSTILE.items()], random.randint(1, 3))
        forms = [*zip(*((one, *shown) for one, shown in drawn), strict=True)]
        return tuple(f"Q{text}q{''.join(parts)}Q" for parts in forms)

    return make


def render(document: Document, form: str) -> str:
    """Return a document in a form; a terminal is so wide that it breaks no line."""
    if form != "terminal":
        return document.render(form)
    stream = io.StringIO()
    print_document(document, Console(file=stream, width=9999, soft_wrap=True, markup=False))
    return stream.getvalue()


def squeeze(text: str) -> str:
    """Return a text without what depends on the length of others: spaces, dashes and fences."""
    text = re.sub(r"^`+$", "```", text, flags=re.MULTILINE)
    return re.sub(r"-{3,}", "---", re.sub(r"[ ]+", " ", re.sub(r" *(\n|$|&) *", r"\1", text)))


def find_columns(lines: Sequence[str], form: str) -> Iterator[int]:
    """Yield how each line of a form writes a text: 1 as it is seen, 2 Markdown, 3 LaTeX."""
    in_code = False
    for line in lines:
        in_code ^= form == "markdown" and line.startswith("```")
        is_comment = form == "latex" and line.startswith("% ")
        yield 1 if in_code or is_comment else {"markdown": 2, "latex": 3}.get(form, 1)


@pytest.mark.parametrize("form", ["text", "terminal", "markdown", "latex", "html"])
@examples(0.5)
@given(seed=st.integers(0, 2**32))
def test_every_text_is_escaped_in_every_form(form: str, seed: int) -> None:
    """A rendering of hostile texts is the plain one with each text replaced by its escape."""
    make = make_hostile(seed)
    hostile = render(change_texts(DOCUMENT, lambda text: make(text)[0]), form)
    lines = render(change_texts(DOCUMENT, "Q{}qQ".format), form).split("\n")
    quote = html.escape if form == "html" else str

    def expect(line: str, column: int) -> str:
        return MARK.sub(lambda found: quote(make(found[1])[column]), line)

    expected = "\n".join(map(expect, lines, find_columns(lines, form)))
    assert squeeze(hostile) == squeeze(expected)


@examples(0.5)
@given(seed=st.integers(0, 2**32))
def test_every_text_is_escaped_on_a_page(seed: int) -> None:
    """It has the tags of the plain one, and each text as it is seen."""
    make = make_hostile(seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recsys_ndcg.rendering.page.runtime", lambda: "1;")
        texts = change_texts(DOCUMENT, lambda text: make(text)[0]).render("page")
        page = harmless(texts)
        plain = harmless(change_texts(DOCUMENT, "Q{}qQ".format).render("page"))

    def expect(text: str) -> str:
        return MARK.sub(lambda found: make(found[1])[1], text)

    assert not set(texts) & {"\u2028", "\u202e"}
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in plain.tags]
    assert page.text == expect(plain.text)
    for (tag, mine), (_, usual) in zip(page.tags, plain.tags, strict=True):
        assert tag == "meta" or mine == {name: expect(one) for name, one in usual.items()}
    lists = next(one for one in page.data if "items" in one)
    assert (lists["items"], lists["names"]) == ([make("l2")[1]], [make("l1")[1]])


@pytest.mark.parametrize("text", ["a\n\\input{x}", "a\u2028b", "a\n<script>"])
def test_names_of_columns_are_one_line(text: str) -> None:
    """A new line would end a comment of LaTeX."""
    train = pd.DataFrame({"user": ["ann", "ann", "bob"], text: ["x", "y", "x"]})
    split = rn.check_split(train, train.iloc[:1], columns={"item": text})
    shown = text.replace("\n", r"\n").replace("\u2028", r"\u2028")
    assert f"% Columns of train: {shown} as item." in split.to_latex().splitlines()
    assert not any(line.startswith((r"\input", "<")) for line in split.to_markdown().splitlines())


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("text", ["a\n\\input{x}", "a\u2028b", "a\n<script>"])
@pytest.mark.parametrize("form", ["text", "markdown", "latex", "html"])
def test_names_of_data_sets_and_functions_are_one_line(text: str, form: str) -> None:
    """As `across` and `reconcile` show them; an experiment refuses such names of models."""
    rows = {user: [(3.0, 5.0), (2.0, 4.0 - user % 3)] for user in range(30)}
    turned = {user: one[::-1] if user % 2 else [*one] for user, one in rows.items()}
    found = rn.compare({text: rows, "other": turned})
    fewer = {user: one for user, one in rows.items() if user > 2}
    more = rn.compare({text: fewer, "other": {user: turned[user] for user in fewer}})
    gain = type("Gain", (), {"__name__": text, "__call__": lambda _, true: true})()
    table: Any = rn.reconcile(rows, "ndcg@2", convention=rn.Convention(gain=gain))
    for document in (rn.across({text: found, "o": more})._document(), table.build_document()):
        shown = document.render(form)
        assert "\u2028" not in shown
        assert not any(line.startswith((r"\input", "<script")) for line in shown.splitlines())
    with rejects("The name of a model must be printable text"):
        rn.experiment([("ann", "a", 5.0)], {text: dict})


def test_the_text_of_a_published_number_is_one_line() -> None:
    """A line may end with a character that is no space."""
    found = rn.explain_number("hit@10 0.5\u2028, leave-one-out")
    for shown in (found.to_latex(), found.to_markdown(), str(found), found._repr_html_()):
        assert "\u2028" not in shown
    assert r"hit@10 0.5\u2028, leave-one-out" in str(found)
