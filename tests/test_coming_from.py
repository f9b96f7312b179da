"""The pages on coming from other libraries, and how their examples are run."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

import pytest

import recsys_ndcg as rn
from tests import pages
from tests.pages import DOCS, ROOT, text_of
from tests.peers import pages as peers

FOLDER = ROOT / "docs" / "coming-from"
INDEX = FOLDER / "index.md"
PAGES = [page for page in DOCS if page.parent == FOLDER and page != INDEX]


def _libraries() -> set[str]:
    environments = tomllib.loads((ROOT / "tests/peers/environments.toml").read_text())
    return {library for one in environments.values() for library in one["libraries"]}


def test_each_page_is_in_the_table() -> None:
    """And none that does not exist."""
    names = sorted(page.stem for page in PAGES)
    rows = re.findall(r"^\| \[[^\]]*\]\(([\w-]+)\.md\)", text_of(INDEX), re.MULTILINE)
    assert sorted(rows) == names


def test_conventions_of_the_table_exist() -> None:
    """Each by the name that a reader passes as `convention`."""
    cells = re.findall(r"^\| \[.*?\) \| (`.*?) \|", text_of(INDEX), re.MULTILINE)
    named = re.findall(r'"(\w+)"', " ".join(cells))
    assert len(cells) == len(PAGES)
    assert set(named) <= set(rn.Convention.presets())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_shows_both_sides(page: Path) -> None:
    """Its library has an environment in which `tests.peers.build` runs the page."""
    assert page.stem == "surprise-faq" or page.stem in _libraries()
    library = "surprise" if page.stem == "surprise-faq" else page.stem
    codes = [ast.parse(code) for code, _ in pages.examples(page)]
    assert any(library in pages.imported(code) for code in codes)
    assert any("recsys_ndcg" in pages.imported(code) for code in codes)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_both_sides_have_the_same_numbers(page: Path) -> None:
    """Except under a heading that says that they have not."""
    text = text_of(page)
    grids = re.findall(r"^::::\{grid\}.*?^::::$", text, re.DOTALL | re.MULTILINE)
    assert grids
    for grid in grids:
        heading = re.findall(r"^## (.*)$", text[: text.index(grid)], re.MULTILINE)[-1]
        shown = re.findall(r"^```text\n(.*?)^```$", grid, re.DOTALL | re.MULTILINE)
        theirs, ours = (re.findall(r"\d\.\d+|'\w+'", one) for one in shown)
        same = [*map(_value, theirs)] == [*map(_value, ours)]
        assert theirs
        assert same is ("not reproduced" not in heading), grid


def _value(text: str) -> float | str:
    return text if "'" in text else float(text)


def test_examples_of_a_missing_library_are_left_out() -> None:
    """And those that read what only these define; no others."""
    session = pages.Session(lambda library: library != "theirs")
    assert session.can_run("rows = [1, 2]")
    session.run("rows = [1, 2]", "data")
    assert not session.can_run("from theirs.metrics import ndcg as f\nmean = f(rows)")
    assert not session.can_run("print(mean)")
    assert not session.can_run("f(rows)")
    assert session.can_run("mean = sum(rows)\nprint(mean)")
    assert session.run("mean = sum(rows)\nprint(mean)", "ours") == "3\n"
    assert session.can_run("print(mean)")


def test_our_plug_in_needs_the_library() -> None:
    """So that examples with it are left out where Surprise is missing; a preset's name is text."""
    code = 'from recsys_ndcg.surprise import SVD\nlists = dict(convention="sklearn")'
    assert pages.imported(ast.parse(code)) == {"recsys_ndcg", "surprise"}


def test_a_different_number_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As well as a page none of whose examples need the library."""
    page = tmp_path / "json.md"
    monkeypatch.setattr(peers, "page_of", lambda library: tmp_path / f"{library}.md")
    code = "```python\nimport json\n\nprint(json.dumps([1]))\n```\n\n```text\n[{}]\n```\n"
    page.write_text(code.format(1))
    assert peers.differences("json") == []
    page.write_text(code.format(2))
    assert peers.differences("json") == ["block 0 prints\n[1]\ninstead of\n[2]\n"]
    page.write_text("```python\n1 + 1\n```\n")
    assert peers.differences("json") == ["no example imports json"]
    page.write_text("```python\nimport json, no_such_module\n```\n")
    assert peers.differences("json") == ["block 0 imports json, but cannot run"]
