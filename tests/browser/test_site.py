"""The documentation site: small, without barriers, read and searched without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import recsys_ndcg as rn
from recsys_ndcg.metrics import METRICS
from tests.browser.test_accessible import find_barriers
from tests.browser.watching import DESKTOP, PHONE, texts
from tests.pages import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SITE = ROOT / "docs" / "_build" / "html"
#: Not those in the frames of the gallery, which have tests of their own.
PAGES = sorted(
    one.relative_to(SITE).as_posix()
    for one in SITE.rglob("*.html")
    if one.parent != SITE / "gallery" or one.stem == "index"
    if "_static" not in one.parts
)
#: One of each kind.
KINDS = [
    *("index.html", "get-started/first-report.html", "how-to/data.html", "concepts/choices.html"),
    *("metrics/ndcg.html", "reference/report.html", "reference/command-line.html"),
    *("reference/choices.html", "gallery/index.html", "search.html"),
]
_MOST = 30_000_000  # bytes

pytestmark = pytest.mark.skipif(
    not PAGES, reason="needs the site: sphinx-build -M html docs docs/_build -W"
)


def _open(browser: Browser, page: str, size: tuple[int, int], scheme: str) -> Page:
    """Open a page of the site from the disk; it must ask for nothing else."""
    opened = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    asked: list[str] = []
    opened.on("request", lambda one: asked.append(one.url))
    opened.goto(f"{SITE.as_uri()}/{page}")
    assert [one for one in asked if not one.startswith(("file:", "data:"))] == []
    return opened


def test_the_site_is_small() -> None:
    """So that it can be put anywhere, and read from a disk."""
    assert sum(one.stat().st_size for one in SITE.rglob("*") if one.is_file()) < _MOST


def test_every_metric_and_every_public_name_has_a_page() -> None:
    """Metrics in their own folder, other names in the reference."""
    names = {name for name in rn.__all__ if getattr(rn, name) not in METRICS.values()}
    expected = {f"reference/{name.lower()}.html" for name in names - {"__version__"}}
    assert expected | {f"metrics/{name}.html" for name in METRICS} <= {*PAGES}


@pytest.mark.parametrize("page", PAGES)
def test_every_page_fits_a_phone(browser: Browser, axe: str, page: str) -> None:
    """It does not scroll sideways, and has no barriers."""
    opened = _open(browser, page, PHONE, "light")
    for part in ("html", ".bd-article-container"):
        width = f"document.querySelector('{part}')?.scrollWidth ?? 0"
        assert opened.evaluate(width) <= PHONE[0], part
    assert find_barriers(opened, axe) == []
    opened.close()


@pytest.mark.parametrize(
    ("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light"), (DESKTOP, "dark")]
)
@pytest.mark.parametrize("page", KINDS)
def test_pages_have_no_barriers(
    browser: Browser, axe: str, page: str, size: tuple[int, int], scheme: str
) -> None:
    """In light and dark mode."""
    opened = _open(browser, page, size, scheme)
    assert find_barriers(opened, axe) == []
    opened.close()


@pytest.mark.parametrize(
    ("words", "page"),
    [("ties", "concepts/ties.html"), ("implicit data", "how-to/implicit-data.html"),
     ("ndcg", "metrics/ndcg.html"), ("mrr", "metrics/rr.html"), ("Spark", "how-to/spark.html"),
     ("implicit feedback", "how-to/implicit-data.html"), ("MLflow", "how-to/mlflow.html"),
     ("PyTorch epoch", "how-to/training-loops.html"), ("signature", "concepts/signatures.html"),
     ("continuous integration", "how-to/gate-in-ci.html"),
     ("pooled", "concepts/mean-and-pooled.html")],
)  # fmt: skip
def test_a_search_finds_the_page(browser: Browser, words: str, page: str) -> None:
    """Among the first five, from the disk."""
    opened = _open(browser, f"search.html?q={words}", DESKTOP, "light")
    opened.wait_for_selector("#search-results li a")
    found = texts(opened, "#search-results li a", "one.pathname")
    assert any(path.endswith(f"/{page}") for path in found[:5]), found
    opened.close()


def test_paper_has_the_text_only(browser: Browser) -> None:
    """Without the site's menus, in dark ink."""
    opened = _open(browser, "metrics/ndcg.html", DESKTOP, "dark")
    opened.emulate_media(media="print")
    assert not opened.locator(".bd-header").is_visible()
    assert not opened.locator(".bd-sidebar-primary").is_visible()
    assert opened.locator("h1").is_visible()
    ink = opened.evaluate("getComputedStyle(document.querySelector('h1')).color")
    assert sum(map(int, ink[4:-1].split(", "))) < 200
    opened.close()
