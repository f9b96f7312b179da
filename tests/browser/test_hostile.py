"""Names of users, items, models and segments that look like code are only shown."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser import hostile
from tests.browser.conftest import KINDS, write_pages
from tests.browser.measuring import cut_off
from tests.browser.watching import DESKTOP, PHONE, texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.watching import Opening

#: Elements, attributes and links to elsewhere, which no page of ours has.
_FOREIGN = """() => [...document.querySelectorAll('*')].filter((one) =>
  one.matches('img, iframe, object, embed, link, base, b, video, form:not(.vega-bindings), ' +
    '[autofocus]') // that form is of Vega, and empty
  || [...one.attributes].some((that) => /^on/i.test(that.name)
    || (/href|src|action/i.test(that.name) && !that.value.startsWith('#')))
).map((one) => one.outerHTML.slice(0, 100))"""
_UNSEEN = r"[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066\u2067\ufeff]"
_PAIRS = [
    ("</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>'),
    ("x" * 10_000, "x" * 9_999 + "y"), ("\u202egpj.exe", "\u05d0\u05d1\u05d2 \u0634"),
    ("\x1b[2J\x07\t\n\u2028", "' onfocus=alert(1) autofocus x='"),
    ("}</style>${7*7}{{7*7}}", "javascript:alert(1)"),
]  # fmt: skip


@pytest.fixture(name="many", scope="module")
def _many(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return pages with such names in all places."""
    pytest.importorskip("altair")
    folder = tmp_path_factory.mktemp("hostile")
    return write_pages(hostile.report(), hostile.comparison(), folder)


def harmless(page: Page, scripts: int = 2) -> None:
    """Check that a page holds what it should, and no sign in it is hidden."""
    assert page.evaluate(_FOREIGN) == []
    assert page.evaluate(f"document.body.innerText.match(/{_UNSEEN}/g)") is None
    assert page.locator("script:not([type='application/json'])").count() == scripts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=str)
def test_names_are_only_shown(opening: Opening, many: Any, kind: str, size: Any) -> None:
    """With every user opened, searched for, and the charts pointed at."""
    page = opening.page(many[kind], size)
    harmless(page)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    if page.locator("#users .more").is_visible():
        page.locator("#users .more").click()
    page.eval_on_selector_all("#users tbody button", "all => all.forEach((one) => one.click())")
    page.wait_for_timeout(200)
    harmless(page)
    assert cut_off(page) == []
    assert {*hostile.PLAIN} <= {*texts(page, "bdi")}
    users = texts(page, "#users .sortable > tbody > tr:not(.lists) > th bdi")
    assert len(users) == len(hostile.NAMES)
    assert all(one.strip() for one in users)
    for name in hostile.PLAIN:
        page.get_by_label("Find a user").fill(name)
        row = page.locator("#users .sortable > tbody > tr:not(.lists) > th:visible bdi")
        assert name in row.all_inner_texts()
    harmless(page)


@pytest.mark.parametrize("kind", KINDS)
def test_tooltips_show_names(opening: Opening, many: dict[str, Path], kind: str) -> None:
    """As text."""
    page = opening.page(many[kind])
    marks = page.locator("svg [class*='mark-symbol'] path, svg [class*='mark-rect'] path")
    tips = []
    for one in marks.all()[::4][:12]:
        one.scroll_into_view_if_needed()
        one.hover(force=True)
        tips.append(page.locator(".tip").inner_text())
    assert len([one for one in tips if one]) > 3
    harmless(page)


@pytest.mark.parametrize(("one", "other"), _PAIRS, ids=range(len(_PAIRS)))
def test_two_models_of_any_name(opening: Opening, tmp_path: Path, one: str, other: str) -> None:
    """In headings, sentences, captions and the command."""
    hostile.pair(one, other).to_html(tmp_path / "c.html")
    page = opening.page(tmp_path / "c.html", PHONE)
    harmless(page)
    assert cut_off(page) == []


@pytest.mark.parametrize("made", [hostile.report, hostile.comparison])
def test_a_notebook_shows_them_too(opening: Opening, tmp_path: Path, made: Any) -> None:
    """In a page that lets scripts run."""
    fragment = made()._repr_html_()
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8><body>{fragment}</body>", "utf-8")
    page = opening.page(path)
    harmless(page, scripts=0)
    assert page.locator("script").count() == 0
    assert len(fragment) < 200_000
