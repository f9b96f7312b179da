"""report, and --html: pages from the command line."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest

import recsys_ndcg as rn
from tests.cli.conftest import FORMATS, write
from tests.commands import error_of, run
from tests.comparison.models import models
from tests.rendering.parsed import harmless

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
SAVED = ("good.json", "all.json")
MODELS = {name: models(users=30)[name] for name in ("good", "poor")}
COMPARISON = rn.compare(MODELS, metrics=["ndcg@3"], by="list_length")


@pytest.fixture(name="saved")
def _saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, with two models, a saved report and a saved comparison."""
    monkeypatch.chdir(tmp_path)
    for name, rows in MODELS.items():
        write(rows, tmp_path / f"{name}.csv")
    rn.evaluate(MODELS["good"], metrics=["ndcg@3", "rmse"]).save("good.json")
    COMPARISON.save("all.json")
    return tmp_path


def test_a_page_of_predictions(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has the command that makes it, and the same in Python."""
    monkeypatch.setattr(sys, "argv", ["recsys-ndcg", "report", "a b.csv", "--html", "page.html"])
    result = run("report", "good.csv", "--threshold", "4", "-k", "3", "--html", "page.html")
    assert "precision@3" in result.stdout, result.stderr
    found = harmless((saved / "page.html").read_text(encoding="utf-8"))
    assert "recsys-ndcg report 'a b.csv' --html page.html" in found.text
    assert "rn.evaluate(data, metrics=['ndcg@3', 'precision@3', 'recall@3']" in found.text
    assert next(one for one in found.data if "users" in one)["users"]


def test_a_page_has_a_title_and_a_date(saved: Path) -> None:
    """Wherever a page is written, next to the table; without one, they are refused."""
    words = ["--title", "Ours", "--date", "2026-05-31"]
    commands = [["report", "good.csv"], ["compare", "good.csv", "poor.csv"]]
    if find_spec("surprise"):
        commands.append(["demo"])
    for command in commands:
        result = run(*command, "--html", "page.html", *words)
        assert result.exit_code == 0, result.stderr
        text = harmless((saved / "page.html").read_text(encoding="utf-8")).text
        assert text.count("Ours") >= 2
        assert "ndcg@10" in result.stdout
        assert "2026-05-31" in text
    assert "--title has no effect without --html." in error_of(*commands[0], *words)


@pytest.mark.parametrize("name", SAVED)
def test_a_saved_file_is_printed_or_becomes_a_page(saved: Path, name: str) -> None:
    """In every format, and on standard output."""
    for form in FORMATS:
        assert "ndcg" in run("report", name, "--format", form).stdout
    found = harmless(run("report", name, "--html", "-").stdout)
    assert "There are no lists to open" in found.text
    assert run("report", name, "--html", "x.html", "-q").exit_code == 0
    written = harmless((saved / "x.html").read_text(encoding="utf-8"))
    ids = [[one["id"] for one in page.named("section")] for page in (written, found)]
    assert ids[0] == ids[1]


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.usefixtures("saved")
def test_options_of_measuring_are_errors_for_a_saved_file(name: str) -> None:
    """And a page never overwrites an input."""
    for late in (["-k", "5"], ["--threshold", "4"], ["--metrics", "rr"], ["--sep", ";"]):
        assert "cannot be evaluated again" in error_of("report", name, *late)
    assert "the file of the data" in error_of("report", name, "--html", name)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "none.json"], "No such file"),
        (["report"], "No input. Pass FILE"),
        (["compare", "good.csv", "poor.csv", "--html", "good.csv"], "this is also the file of"),
        (["compare", "good.csv", "poor.csv", "--html", "x", "--save", "x"], "the file of --save"),
    ],
)
@pytest.mark.usefixtures("saved")
def test_an_invalid_page_is_an_error(words: list[str], message: str) -> None:
    """Before anything is measured."""
    assert message in error_of(*words)


def test_a_missing_extra_is_reported_first(saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs it, before anything is measured."""
    monkeypatch.setattr("recsys_ndcg.evaluation.evaluate_in_memory", pytest.fail)
    for library, words in product(
        ("jinja2", "altair", "vl_convert"), (["report"], ["compare", "poor.csv"])
    ):
        with monkeypatch.context() as patched:
            patched.setitem(sys.modules, library, None)
            message = error_of(*words, "good.csv", "--html", "page.html")
        assert f"A page needs {library}, which is not installed. Run: pip install" in message
    assert not (saved / "page.html").exists()
