"""Opens pages, and records what they log, fetch and run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Dialog, Page

#: Logs violations of a page's policy.
_LOG_VIOLATIONS = """
document.addEventListener('securitypolicyviolation', (event) =>
  console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
"""
#: Whether every visible chart is a drawing with marks.
_DRAWN = """() => [...document.querySelectorAll('figure.chart .drawing')]
  .filter((one) => one.clientWidth)
  .every((one) => one.querySelectorAll('svg [class*=mark-] path, svg [class*=mark-] line').length)
"""
PHONE, DESKTOP = (390, 844), (1280, 900)


@dataclass
class Opening:
    """Opens each page in a new context, and collects faults.

    Parameters
    ----------
    browser : Browser
        A Chromium.
    """

    browser: Browser
    faults: list[str] = field(default_factory=list)
    _contexts: list[BrowserContext] = field(default_factory=list)

    def page(self, path: Path, size: tuple[int, int] = DESKTOP, **how: Any) -> Page:
        """Open a file, and wait until its charts are drawn."""
        width, height = size
        context = self.browser.new_context(viewport={"width": width, "height": height}, **how)
        self._contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda one: self.faults.append(f"console: {one.text}"))
        page.on("pageerror", lambda one: self.faults.append(f"error: {one}"))
        page.on("dialog", self._refuse)
        page.on("popup", lambda one: self.faults.append(f"popup: {one.url}"))
        address = path.as_uri()
        page.on("request", lambda one: self._asked(one.url, address))
        page.add_init_script(_LOG_VIOLATIONS)
        page.goto(address)
        if how.get("java_script_enabled", True):
            page.wait_for_function(_DRAWN)
        return page

    def is_drawn_within(self, seconds: float, path: Path) -> bool:
        """Return whether a page with its charts is drawn in time, in one of three attempts."""
        for _ in range(3):
            started = perf_counter()
            self.page(path)
            if perf_counter() - started < seconds:
                return True
        return False

    def close(self) -> list[str]:
        """Close all pages, and return the faults."""
        for one in self._contexts:
            one.close()
        return self.faults

    def _refuse(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _asked(self, url: str, address: str) -> None:
        if url.partition("#")[0] != address and not url.startswith("data:"):
            self.faults.append(f"request: {url[:200]}")


def texts(page: Page, selector: str, what: str = "one.textContent") -> list[Any]:
    """Return the text, or another value in JavaScript, of each element."""
    found: list[Any] = page.eval_on_selector_all(selector, f"all => all.map((one) => {what})")
    return found
