"""One headless Chromium for all tests, and the pages that it opens."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import recsys_ndcg as rn
from tests.browser.watching import Opening
from tests.comparison.models import models

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

KINDS = ("report", "comparison")
#: Its names in Debian and elsewhere.
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
_NO_PLAYWRIGHT = "needs playwright: pip install -e '.[browser]'"
_NO_BROWSER = "needs a headless Chromium: apt-get install chromium-headless-shell"


@pytest.fixture(name="browser", scope="session")
def _browser() -> Iterator[Browser]:
    library = pytest.importorskip("playwright.sync_api", reason=_NO_PLAYWRIGHT)
    program = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    if program is None:
        pytest.skip(_NO_BROWSER)
    with library.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(name="axe", scope="session")
def _axe() -> str:
    """Return the script of axe-core."""
    pytest.importorskip("axe_playwright_python", reason="needs axe: pip install -e '.[browser]'")
    return files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(name="opening")
def _opening(browser: Browser) -> Iterator[Opening]:
    """Open pages; in the end, check that none logged, fetched or ran anything unexpected."""
    opening = Opening(browser)
    yield opening
    assert opening.close() == []


@pytest.fixture(name="compared", scope="session")
def _compared() -> rn.Comparison:
    how: Any = {"metrics": ["ndcg@3", "precision@3", "rmse"], "by": "list_length"}
    return rn.compare(models(users=60), threshold=4, **how)


@pytest.fixture(name="report", scope="session")
def _report() -> rn.Report:
    metrics = ["ndcg@3", "ndcg@5", "recall@5", "rmse"]
    return rn.evaluate(models(users=60)["good"], metrics=metrics, threshold=4)


def write_pages(report: rn.Report, comparison: rn.Comparison, folder: Path) -> dict[str, Path]:
    """Return a page of each kind."""
    pytest.importorskip("altair")
    pytest.importorskip("jinja2")
    paths = {name: folder / f"{name}.html" for name in KINDS}
    report.to_html(paths["report"])
    comparison.to_html(paths["comparison"])
    return paths


@pytest.fixture(name="pages", scope="session")
def _pages(report: Any, compared: Any, tmp_path_factory: Any) -> dict[str, Path]:
    return write_pages(report, compared, tmp_path_factory.mktemp("pages"))


@pytest.fixture(name="page", params=KINDS)
def _page(opening: Opening, pages: dict[str, Path], request: pytest.FixtureRequest) -> Page:
    """Return a page of each kind, opened."""
    return opening.page(pages[request.param])
