"""The tables of a page fit, their models can be chosen and filtered, and they become CSV."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.browser.watching import DESKTOP, PHONE, texts
from tests.comparison.models import models

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.watching import Opening

LONG = ["LightGCN with side features", "a_model_of_today_with_k_10_and_a_long_name_0123456789", "x"]
METRICS = ["ndcg@10", "precision@10", "recall@10", "ap@10", "rr", "rmse", "hit@10", "f1@10"]
_OPEN = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
_WIDE = "one.scrollWidth > one.clientWidth + 1 ? one.getAttribute('aria-label') : ''"
#: Words of names that a line end cuts, though they are not long.
_CUT_WORDS = """all => all.flatMap((cell) => {
  const found = [], walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode())
    for (const { 0: word, index } of node.data.matchAll(/\\p{L}+/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      if (new Set([...range.getClientRects()].map((one) => one.top)).size > 1) found.push(word);
    }
  return found;
})"""


@pytest.fixture(name="wide", scope="module")
def _wide(tmp_path_factory: Any) -> dict[str, Path]:
    """Return pages of results with long names and many metrics."""
    pytest.importorskip("altair")
    pytest.importorskip("jinja2")
    results: dict[str, Any] = {}
    for seed in (0, 1):
        tables = dict(zip(LONG, models(60, seed).values(), strict=True))
        how: dict[str, Any] = {"threshold": 4, "by": "list_length", "margin": 0.01}
        results[f"{seed}"] = rn.compare(tables, metrics=METRICS[: 8 - 4 * seed], **how)
    results["across"] = rn.across({"first data set": results["0"], "second": results["1"]})
    report = results["0"]._data.model_scores[LONG[0]].report
    results |= {"report": report, "segments": report.by("list_length")}
    folder = tmp_path_factory.mktemp("wide")
    for name, result in results.items():
        result.to_html(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in results}


@pytest.mark.parametrize("name", ["0", "1", "across", "report", "segments"])
def test_tables_fit_without_cuts(opening: Opening, wide: dict[str, Path], name: str) -> None:
    """At 1280 pixels none scrolls, and no word of a name is broken; not on a phone either."""
    for size in (DESKTOP, PHONE):
        page = opening.page(wide[name], size)
        page.evaluate(_OPEN)
        page.evaluate(
            "document.querySelectorAll('.off').forEach((one) => one.classList.remove('off'))"
        )
        page.wait_for_timeout(100)
        if size == DESKTOP:
            assert [one for one in texts(page, ".scroll", _WIDE) if one] == []
        assert page.eval_on_selector_all(".scroll th, .scroll td.left", _CUT_WORDS) == []


def visible(page: Page, selector: str) -> list[str]:
    """Return the texts of the visible elements."""
    found = texts(page, selector, "one.checkVisibility() && one.innerText")
    return [one.strip() for one in found if one is not False]


def test_a_metric_can_be_chosen(opening: Opening, pages: dict[str, Path]) -> None:
    """One leaderboard and its chart at a time; paper and pages without a script have all."""
    page = opening.page(pages["comparison"])
    captions = "#leaderboard .option > .scroll caption"
    every = ["Models by ndcg@3", "Models by precision@3", "Models by rmse"]
    assert visible(page, captions) == every[:1]
    button = page.get_by_role("button", name="rmse", exact=True)
    button.click()
    assert visible(page, captions) == every[2:]
    assert button.get_attribute("aria-pressed") == "true"
    page.wait_for_function("document.querySelector('.option:not(.off) svg').clientWidth > 300")
    page.emulate_media(media="print")
    assert visible(page, captions) == every
    page = opening.page(pages["comparison"], java_script_enabled=False)
    assert visible(page, captions) == every
    assert {"ndcg@3", "precision@3", "rmse"} == {*visible(page, "h3")}


def test_models_can_be_filtered(opening: Opening, pages: dict[str, Path]) -> None:
    """In tables and in the charts of models, by parts of names with commas between."""
    page = opening.page(pages["comparison"])
    page.get_by_label("Filter models").fill("GOO, ir")
    names = "#leaderboard .option:not(.off) > .scroll tbody th"
    assert visible(page, names) == ["good", "fair"]
    assert "2 of 3 models" in page.locator(".bar [role=status]").inner_text()
    segments = visible(page, "#segments tbody td.left")
    assert {*segments} == {"good", "fair"}
    chart = "document.querySelector('#leaderboard .option:not(.off) svg').textContent"
    page.wait_for_function(f"!{chart}.includes('poor') && {chart}.includes('fair')")
    page.get_by_label("Filter models").fill("")
    assert len(visible(page, names)) == 3


def download(page: Page, button: Any) -> pd.DataFrame:
    """Return the table that a button downloads."""
    with page.expect_download() as waiting:
        button.click()
    path = waiting.value.path()
    return pd.read_csv(io.StringIO(Path(path).read_text(encoding="utf-8")))


def test_tables_become_csv(opening: Opening, pages: dict[str, Path], compared: Any) -> None:
    """Numbers as columns of their own; of all users, in the order shown."""
    page = opening.page(pages["comparison"])
    table = download(page, page.locator("#leaderboard .option:not(.off) > .csv").first)
    board = compared.leaderboard.round(4)
    assert table["model"].tolist() == board.index.tolist()
    assert table["mean"].tolist() == board["mean"].tolist()
    assert table["mean [95%] low"].tolist() == board["ci_low"].tolist()
    assert table["mean [95%] high"].tolist() == board["ci_high"].tolist()
    outcome = table["won/tied/lost against good"].tolist()
    assert outcome[1] == "/".join(map(str, board[["won", "tied", "lost"]].iloc[1]))
    table = download(page, page.locator("#users .csv"))
    assert len(table) == 60
    assert (table["good"] - table["fair"]).abs().is_monotonic_decreasing


def test_a_spreadsheet_runs_no_name(opening: Opening, tmp_path: Path) -> None:
    """A name that begins like a formula gets an apostrophe; quotes are doubled."""
    odd = '=1+1,"x"'
    tables = dict(zip([odd, "b"], models(20).values(), strict=False))
    rn.compare(tables, metrics="ndcg@3").to_html(tmp_path / "odd.html")
    page = opening.page(tmp_path / "odd.html")
    table = download(page, page.locator("#leaderboard .csv").first)
    assert sorted(table["model"]) == [f"'{odd}", "b"]


def test_the_menu_stays(page: Page) -> None:
    """At the top, and it does not cover the section that a link leads to."""
    page.locator("nav a").last.click()
    page.wait_for_timeout(100)
    menu, title = page.locator("nav").bounding_box(), page.locator("#how h2").bounding_box()
    assert menu is not None
    assert title is not None
    assert menu["y"] == 0
    page.locator("nav a").nth(1).click()
    page.wait_for_timeout(100)
    title = page.locator("#audit h2").bounding_box()
    assert title is not None
    assert title["y"] >= menu["height"]


def test_a_description_is_not_printed_below_its_chart(page: Page) -> None:
    """Screen readers have it, and pages without a script."""
    boxes = texts(page, "figcaption", "one.getBoundingClientRect().width")
    assert len(boxes) > 3
    assert max(boxes) <= 1
