"""The users of a page can be sorted, searched and opened, by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import KINDS
from tests.browser.watching import texts

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    import recsys_ndcg as rn
    from tests.browser.watching import Opening

_ROWS = "#users .sortable > tbody > tr:not(.lists)"


def visible_users(page: Page) -> list[str]:
    """Return the visible users, in their order."""
    found = texts(page, f"{_ROWS} > th:first-child", "one.checkVisibility() && one.textContent")
    return [one.strip() for one in found if one is not False]


def column(page: Page, place: int) -> list[float]:
    """Return a column of the visible users."""
    found = texts(page, _ROWS, f"one.checkVisibility() && one.cells[{place}].innerText")
    return [float(one) for one in found if one is not False]


#: Headings of numbers in a user's table, the columns of `explain`, and how far they are rounded.
COLUMNS = {
    "gain": ("gain", 0, 0), "grade": ("true", 0, 0), "estimate": ("estimated", 1e-3, 0),
    "DCG": ("dcg", 0, 1e-4),
}  # fmt: skip


def read_columns(table: Locator) -> dict[str, list[str]]:
    """Return the cells below each heading of a table."""
    heads = table.locator("thead").inner_text().strip().split("\t")
    rows = [line.split("\t") for line in table.locator("tbody").inner_text().split("\n")]
    return {head: [row[place] for row in rows] for place, head in enumerate(heads)}


def reach(page: Page, wanted: Locator) -> None:
    """Press Tab until an element has the focus, visibly."""
    for _ in range(150):
        page.keyboard.press("Tab")
        if wanted.evaluate("one => one === document.activeElement"):
            outline = "one => getComputedStyle(one).outlineStyle + getComputedStyle(one).boxShadow"
            assert wanted.evaluate(outline) != "nonenone"
            return
    pytest.fail("Tab does not lead there")


def test_a_search_finds_by_a_part_of_an_id(page: Page) -> None:
    """A status announces the number found, also if it is 0; Tab leads to the field."""
    assert len(visible_users(page)) == 20
    field, status = page.get_by_label("Find a user"), page.locator("#users [role=status]")
    reach(page, field)
    page.keyboard.type("U004")
    assert sorted(visible_users(page)) == [f"u004{one}" for one in range(10)]
    assert "10 users of 60" in status.inner_text()
    field.fill("unknown")
    assert visible_users(page) == []
    assert "0 users of 60" in status.inner_text()
    field.fill("")
    assert len(visible_users(page)) == 20


@pytest.mark.parametrize("keys", [("Enter", "Space"), None])
def test_a_heading_sorts(page: Page, keys: Any) -> None:
    """Down, then up, by key and by mouse; only the sorted heading has `aria-sort`."""
    heads = page.locator("#users .sortable > thead th")
    items, button = heads.nth(1), heads.nth(1).locator("button")
    assert items.inner_text().startswith("items")
    if keys:
        reach(page, button)
    found = []
    for key in keys or (None, None):
        page.keyboard.press(key) if key else button.click()
        found.append((items.get_attribute("aria-sort"), column(page, 1)))
    (_, down), (_, up) = found
    assert down[0] > up[0]
    assert found == [("descending", sorted(down)[::-1]), ("ascending", sorted(up))]
    heads.nth(0).locator("button").click()
    assert items.get_attribute("aria-sort") is None
    assert visible_users(page) == [f"u{one:04}" for one in range(20)]


def test_a_button_shows_all_users(opening: Opening, pages: dict[str, Path]) -> None:
    """Twenty first; the button goes when there are no more."""
    page = opening.page(pages["report"])
    page.locator("#users .more").click()
    assert len(visible_users(page)) == 60
    assert not page.locator("#users .more").is_visible()


def test_a_user_opens_both_lists(opening: Opening, pages: dict[str, Path], report: Any) -> None:
    """As in `explain`, next to the best order; and closes them."""
    page = opening.page(pages["report"])
    page.get_by_label("Find a user").fill("u0007")
    button = page.locator(f"{_ROWS} button:visible")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    opened = page.locator(f"#{button.get_attribute('aria-controls')}")
    own, ideal = map(read_columns, opened.locator("table").all())
    rows = report.explain("u0007", 10).dropna(subset="item")
    assert [float(one) for one in ideal["gain"]] == rows["ideal_gain"].tolist()
    assert own["item"] == rows["item"].tolist()
    for heading, (name, relative, absolute) in COLUMNS.items():
        expected = pytest.approx(rows[name].tolist(), rel=relative, abs=absolute)
        assert [float(one) for one in own[heading]] == expected
    button.click()
    assert opened.count() == 0 or not opened.is_visible()


def test_two_models_are_side_by_side(opening: Opening, pages: Any, compared: rn.Comparison) -> None:
    """With their names as captions."""
    page = opening.page(pages["comparison"])
    page.locator(f"{_ROWS} button").first.click()
    names = page.locator("#users tr.lists table caption").all_inner_texts()
    assert names == ["good", "fair", "the best order"]
    assert {*names[:2]} <= {*compared.models}


def test_the_keyboard_opens_users_and_folds(page: Page) -> None:
    """Enter opens and Space closes; the focus is seen."""
    button, fold = page.locator(f"{_ROWS} button:visible").first, page.locator("details").first
    reach(page, button)
    page.keyboard.press("Enter")
    assert page.locator("#users tr.lists").is_visible()
    assert button.get_attribute("aria-expanded") == "true"
    page.keyboard.press("Space")
    assert button.get_attribute("aria-expanded") == "false"
    fold.locator("summary").focus()
    page.keyboard.press("Enter")
    assert fold.evaluate("one => one.open")


@pytest.mark.parametrize("kind", KINDS)
def test_scripts_are_not_needed(opening: Opening, pages: dict[str, Path], kind: str) -> None:
    """Tables of all users, and the descriptions of the charts."""
    page = opening.page(pages[kind], java_script_enabled=False)
    text = page.locator("main").inner_text()
    assert all(f"u{one:04}" in text for one in range(60))
    assert "95 % interval" in text


def test_code_can_be_copied(page: Page) -> None:
    """Or selected, if the browser does not allow copying."""
    block = page.locator("#how .code").first
    button = block.get_by_role("button")
    button.click()
    page.wait_for_function("(one) => one.textContent !== 'Copy'", arg=button.element_handle())
    code = block.locator("code").inner_text()
    assert "import recsys_ndcg as rn" in code
    if button.inner_text() == "Selected":
        assert page.evaluate("getSelection().toString()").strip() == code.strip()
