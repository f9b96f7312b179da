"""axe-core finds no violation of WCAG 2.1 AA, in light and dark mode."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import KINDS
from tests.browser.watching import DESKTOP, PHONE, texts

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.watching import Opening

_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
_RUN = """(tags) => axe.run(document, {
  runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})"""


def find_barriers(page: Page, axe: str) -> list[tuple[str, ...]]:
    """Return what axe-core finds on a page, and where."""
    page.evaluate(axe)
    found = page.evaluate(_RUN, _TAGS)
    assert len(found["passes"]) > 20
    nodes = [(one["id"], node) for one in found["violations"] for node in one["nodes"][:3]]
    return [(name, node["target"], node["failureSummary"][:300]) for name, node in nodes]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)])
def test_it_has_no_barriers(  # noqa: PLR0913, PLR0917 - fixtures
    opening: Opening, pages: dict[str, Path], axe: str, kind: str, scheme: str, size: Any
) -> None:
    """Contrast, labels, names, order of headings; opened and sorted."""
    page = opening.page(pages[kind], size, color_scheme=scheme, bypass_csp=True)
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, paper[4:-1].split(", "))) < 150) == (scheme == "dark")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.locator("#users tbody button").first.click()
    page.locator("#users thead button").first.click()
    page.wait_for_timeout(150)
    assert find_barriers(page, axe) == []


def test_drawings_have_descriptions(page: Page) -> None:
    """Every drawing has a name in words, with numbers; every table a caption."""
    name = "document.getElementById(one.getAttribute('aria-labelledby')).textContent"
    names = texts(page, "[role=img]", name)
    assert len(names) >= 4
    assert all(any(sign.isdigit() for sign in name) and len(name) > 40 for name in names)
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("[role=img] svg").count() == page.locator("svg").count() > 0
