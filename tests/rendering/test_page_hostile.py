"""Names and ids that look like code are shown as text everywhere on a page."""

from __future__ import annotations

import json
from functools import cache

import pytest

import recsys_ndcg as rn
from recsys_ndcg.errors import escape_invisible
from recsys_ndcg.rendering import shorten
from recsys_ndcg.rendering.page import to_safe_json
from recsys_ndcg.rendering.wording import LONGEST, shorten_names_in
from tests.comparison.models import models
from tests.errors import rejects
from tests.rendering.parsed import harmless

pytest.importorskip("altair")
pytest.importorskip("jinja2")
pytest.importorskip("vl_convert")
HOSTILE = [
    "</script><script>alert(1)</script>", '" onmouseover="alert(1)', "{{7*7}}{% raw %}",
    "' onfocus='alert(1)' autofocus='", "]]>", "<!--", "javascript:alert(1)", "${alert(1)}`",
    "}body{display:none}", "<img src=x onerror=alert(1)>", "\u202eevil\u2066", "x\u2028\u2029y",
    "a\x00b\x1b[2J", "n" * 10_000, "<" * 10_000, "var(--ink)", "#0072B2", "__proto__",
    "\U0001f600\u05d0\u05d1",
]  # fmt: skip
#: The suite makes a page of these, CI of all.
PAGES = [
    pytest.param(one, marks=[] if one in (HOSTILE[0], HOSTILE[2]) else pytest.mark.slow)
    for one in HOSTILE
]


@cache
def page_of(name: str) -> str:
    """Return the page of a comparison in which a model, users, items and a segment have a name."""
    data = {
        name if model == "good" else model: [
            (name + user, f"{item}{name}", *rest) for user, item, *rest in rows
        ]
        for model, rows in models(users=12).items()
    }
    users = sorted({str(row[0]) for row in data[name]})
    groups = {user: name if place % 2 else "other" for place, user in enumerate(users)}
    comparison = rn.compare(data, metrics=["ndcg@3", "precision@3"], threshold=4, by=groups)
    return str(comparison.to_html())


@pytest.mark.parametrize("name", PAGES)
def test_pages_differ_only_in_the_names(name: str) -> None:
    """They have the same tags in the same order, and hardly more text."""
    text, usual = page_of(name), page_of("plain")
    page = harmless(text)
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in harmless(usual).tags]
    assert len(text) < len(usual) + 60_000
    assert " ".join(shorten(name).split()) in page.text
    lists = next(one for one in page.data if "users" in one)
    assert shorten(name) in lists["names"]
    assert len(page.named("title")) == 1


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_cut_and_data_is_escaped(name: str) -> None:
    """What is invisible is made visible; JSON in a script reads back, and ends no script."""
    assert "49" not in shorten(name)
    assert len(shorten(name)) <= LONGEST
    assert shorten(name).isprintable()
    shown = escape_invisible(name)
    sentence = shorten_names_in(f"{shown} is better than {shown}.", [name])
    assert len(sentence) < 2 * LONGEST + 20
    text = to_safe_json({name: [name, None, 1.5]})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {name: [name, None, 1.5]}


def test_a_group_of_a_hostile_name_is_text() -> None:
    """Also if it is a template; a metric cannot have such a name."""
    hostile = "{{7*7}}</style><b>"
    report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(1, 2), (2, 1)]})
    page = harmless(report.by({"ann": hostile, "bob": "other"}).to_html())
    assert hostile in page.text
    assert not page.named("b")
    own = type("Named", (rn.NDCG,), {"name": hostile})
    with rejects("A metric needs a name in lower case, of letters, digits and _"):
        rn.evaluate({"ann": [(4, 5), (3, 2)]}, metrics=own(2))


def test_names_from_right_to_left_are_isolated() -> None:
    """In sentences, but not in what is copied."""
    name = "\u05de\u05d5\u05d3\u05dc 1"
    sentence = f"{name} is better than SVD, and {name} alone."
    marked = f"\u2068{name}\u2069"
    assert shorten_names_in(sentence, [name, "SVD"]) == sentence.replace(name, marked)
    assert shorten_names_in(sentence, [name, "SVD"], isolate=False) == sentence
    assert shorten_names_in("SVD and KNN", ["SVD", "KNN"]) == "SVD and KNN"
