"""A page draws its charts, logs and fetches nothing, and is wholly visible."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import KINDS
from tests.browser.measuring import cut_off
from tests.browser.watching import DESKTOP, PHONE

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.watching import Opening


@pytest.mark.parametrize("kind", KINDS)
def test_it_draws_within_two_seconds(opening: Opening, pages: dict[str, Path], kind: str) -> None:
    """Without console messages, other requests and violations of its policy."""
    assert opening.is_drawn_within(2, pages[kind])
    assert pages[kind].stat().st_size < 2_000_000


def test_the_verdict_is_first(opening: Opening, pages: dict[str, Path], compared: Any) -> None:
    """It is visible without scrolling; tests/rendering/test_page.py has the sections' order."""
    page = opening.page(pages["comparison"])
    verdict = compared._document().verdicts[0]
    assert page.locator(".verdict").inner_text() == verdict.headline
    assert page.locator(".verdict").bounding_box()["y"] < 300  # type: ignore[index]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [DESKTOP, (768, 1024), PHONE, (320, 568)], ids=str)
def test_nothing_is_cut_off(opening: Opening, pages: dict[str, Path], kind: str, size: Any) -> None:
    """On a desk, a tablet and phones, with everything opened."""
    page = opening.page(pages[kind], size)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    page.locator("#users tbody button").first.click()
    page.wait_for_timeout(100)
    assert cut_off(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]


def test_charts_adapt_to_a_narrower_window(page: Page) -> None:
    """Charts are drawn again, and still whole."""
    wide = page.locator("svg").first.bounding_box()
    page.set_viewport_size({"width": 390, "height": 800})
    page.wait_for_function("document.querySelector('svg').getBoundingClientRect().width < 390")
    page.wait_for_timeout(300)
    assert cut_off(page) == []
    assert wide is not None
    assert wide["width"] > 390


@pytest.mark.parametrize("kind", KINDS)
def test_paper_shows_everything(opening: Opening, pages: dict[str, Path], kind: str) -> None:
    """On A4 and in black on white, also from a dark screen, with what was folded."""
    page = opening.page(pages[kind], (718, 1000), color_scheme="dark")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(300)
    assert page.locator("details:not([open])").count() == 0
    assert cut_off(page, scrolls=False) == []
    assert not page.locator("#users input").is_visible()
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert max(map(int, ink.removeprefix("rgb(").removesuffix(")").split(","))) < 80
    assert len(page.pdf(format="A4")) > 20_000
