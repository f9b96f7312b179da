"""recsys-ndcg report, and --html: pages from the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import refusal, run
from tests.comparison.models import models
from tests.rendering.parsed import harmless

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
COLUMNS = ["user", "item", "estimated", "true"]


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    """Write three models, and what was saved of them."""
    data = models(users=30)
    for name, rows in data.items():
        pd.DataFrame(rows, columns=COLUMNS).to_csv(tmp_path / f"{name}.csv", index=False)
    rn.evaluate(data["good"], metrics=["ndcg@3", "rmse"]).save(tmp_path / "good.json")
    rn.compare(data, metrics=["ndcg@3"], by="list_length").save(tmp_path / "all.json")
    return tmp_path


def test_a_page_of_predictions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the options of evaluate; the page says what was typed, and so does Python."""
    page = folder / "page.html"
    monkeypatch.setattr(sys, "argv", ["recsys-ndcg", "report", "a b.csv", "--html", "page.html"])
    said = run("report", folder / "good.csv", "--threshold", "4", "-k", "3", "--html", page)
    assert said.exit_code == 0
    assert "precision@3" in said.stdout
    found = harmless(page.read_text(encoding="utf-8"))
    assert "recsys-ndcg report 'a b.csv' --html page.html" in found.text
    assert "rn.evaluate(data, metrics=['ndcg@3', 'precision@3', 'recall@3']" in found.text
    assert next(one for one in found.data if "users" in one)["users"]


@pytest.mark.parametrize("name", ["good.json", "all.json"])
def test_what_was_saved_is_shown_and_becomes_a_page(folder: Path, name: str) -> None:
    """In a terminal as it was printed, on standard output as a page."""
    shown = run("report", folder / name)
    assert shown.exit_code == 0
    assert "ndcg@3" in shown.stdout
    piped = run("report", folder / name, "--html", "-")
    found = harmless(piped.stdout)
    assert "There are no lists to open" in found.text
    assert run("report", folder / name, "--html", folder / "x.html", "-q").exit_code == 0
    written = harmless((folder / "x.html").read_text(encoding="utf-8"))
    assert [one["id"] for one in written.named("section")] == [
        one["id"] for one in found.named("section")
    ]


@pytest.mark.parametrize("form", ["markdown", "latex", "csv", "json"])
@pytest.mark.parametrize("name", ["good.json", "all.json"])
def test_what_was_saved_is_shown_in_any_form(folder: Path, name: str, form: str) -> None:
    """As evaluate and compare print it."""
    said = run("report", folder / name, "--format", form)
    assert said.exit_code == 0
    assert "ndcg" in said.stdout


def test_a_page_of_models(folder: Path) -> None:
    """Beside what compare prints."""
    page = folder / "page.html"
    said = run("compare", folder / "good.csv", folder / "poor.csv", "--html", page)
    assert said.exit_code == 0
    assert "good" in said.stdout
    assert "good" in harmless(page.read_text(encoding="utf-8")).text


def test_what_comes_too_late_is_refused(folder: Path) -> None:
    """Options that would change what is in the file; and a page onto what is read."""
    for name in ("good.json", "all.json"):
        for late in (["-k", "5"], ["--threshold", "4"], ["--metrics", "rr"], ["--sep", ";"]):
            assert "in which all is measured" in refusal("report", folder / name, *late)
        told = refusal("report", folder / name, "--html", folder / name)
        assert "the file of the data" in told
    assert "No such file" in refusal("report", folder / "none.json")
    assert "Say in one way" in refusal("report")
    both = refusal(
        "compare", folder / "good.csv", folder / "poor.csv", "--html", folder / "good.csv"
    )
    assert "this is the file of" in both
    same = folder / "x"
    both = refusal(
        "compare", folder / "good.csv", folder / "poor.csv", "--html", same, "--save", same
    )
    assert "this is the file of --save" in both


def test_a_missing_extra_is_told_before_anything_is_measured(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With what installs it."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    words: tuple[Path | str, ...] = (folder / "good.csv", "--html", folder / "page.html")
    assert "A page needs vl_convert" in refusal("report", *words)
    assert "A page needs vl_convert" in refusal("compare", folder / "poor.csv", *words)
    assert not (folder / "page.html").exists()
