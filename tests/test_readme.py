"""What the README and the pages in docs/ show is what the programs print."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

import pytest

from tests.commands import run_python
from tests.pages import DOCS, README, ROOT, block, page_of, section, text_of
from tests.peers.table import table

PRESETS = str(ROOT / "examples" / "presets.py")
LIBRARIES = page_of("libraries")
DATA = os.environ.get("RECSYS_NDCG_DATA")
RATINGS = str(Path(DATA or "") / "movietweetings-100k" / "ratings.dat")
needs_data = pytest.mark.skipif(DATA is None, reason="RECSYS_NDCG_DATA is not set")


def _printed(*words: str) -> str:
    return run_python(*words).stdout


def _rows(printed: str) -> dict[str, list[str]]:
    """Return the numbers of a printed table by the first word of their line."""
    return {line.split()[0]: line.split()[1:] for line in printed.splitlines() if line}


def test_the_demo_prints_what_the_first_screen_shows() -> None:
    """To the last digit: the sample and the models are drawn from a seed."""
    pytest.importorskip("surprise")
    printed = _printed("-c", "from recsys_ndcg.cli import main; main()", "demo")
    first, _, _ = printed.partition(" in detail\n")
    assert first.splitlines()[:-1] == [*block("demo").splitlines(), ""]


def test_the_picture_is_small() -> None:
    """What `examples/gallery.py --picture` drew."""
    picture = (ROOT / "docs" / "page.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert 50_000 < len(picture) < 200_000


def test_the_page_on_mlflow_shows_lines_of_the_example() -> None:
    """What is logged for one model."""
    script = (ROOT / "examples" / "in_mlflow.py").read_text(encoding="utf-8")
    assert textwrap.indent(block("mlflow"), " " * 8) in script


@pytest.mark.slow
def test_metrics_of_your_own_are_those_of_the_example() -> None:
    """The definitions, and what they print."""
    script = ROOT / "examples" / "metrics_of_your_own.py"
    assert block("own") in script.read_text(encoding="utf-8")
    printed = "".join(f"{line.rstrip()}\n" for line in _printed(str(script)).splitlines())
    assert printed == block("own output")


def test_the_table_of_presets_is_what_the_example_prints() -> None:
    """One prediction file under all of them."""
    assert _printed(PRESETS) == block("presets")


def test_the_readme_shows_lines_of_the_table_of_presets() -> None:
    """In their order, with its heading."""
    some, every = block("some presets").splitlines(), block("presets").splitlines()
    assert some[0] == every[0]
    assert some == [line for line in every if line in some]


def test_the_opening_quotes_the_table_that_it_links_to() -> None:
    """All the numbers that stand there, and no other."""
    opening = text_of(README).split("\n```")[0]
    assert f"({LIBRARIES.relative_to(ROOT).as_posix()}#one-file-many-numbers)" in opening
    assert "<!-- presets:" in section(LIBRARIES, "One file, many numbers")
    precisions = {
        f"{float(numbers[1]):.2f}"
        for name, numbers in _rows(block("presets")).items()
        if len(numbers) == 4 and re.fullmatch(r"0\.\d{4}", numbers[1])
    }
    assert re.findall(r"\d\.\d+", opening) == sorted(precisions)


@needs_data
def test_the_extremes_on_real_ratings_are_what_the_example_prints() -> None:
    """With the arguments that are named, wherever they are quoted."""
    rows = _rows(_printed(PRESETS, RATINGS, "8"))
    ndcg, precision = ((rows["lowest"][at], rows["highest"][at]) for at in (0, 1))
    for page in (README, LIBRARIES):
        text = " ".join(text_of(page).split())
        assert "`python examples/presets.py ratings.dat 8`" in text
        assert "precision@10 from {} to {}".format(*precision) in text
        assert "NDCG@10 from {} to {}".format(*ndcg) in text


@needs_data
def test_the_search_on_real_ratings_chooses_what_the_page_says() -> None:
    """By every criterion, with what it costs."""
    pytest.importorskip("surprise")
    example = ROOT / "examples" / "rmse_picks_the_wrong_model.py"
    assert _printed(str(example), RATINGS) == block("rmse")


def test_the_readme_quotes_the_search_as_the_page_shows_it() -> None:
    """What the model costs that RMSE chooses."""
    shown, quoted = block("rmse"), " ".join(section(README, "With Surprise").split())
    by_rmse, by_ndcg, popular = (
        re.findall(rf"^{name} .*?(\d\.\d+) +\d\.\d+$", shown, re.MULTILINE)[0]
        for name in ("rmse", "ndcg@10:catalogue", "-")
    )
    assert f"NDCG@10 of {by_rmse} over the whole catalogue" in quoted
    assert f"{by_ndcg}," in quoted
    assert f"{popular}." in quoted


def test_the_table_of_parity_is_what_was_compared() -> None:
    """From the golden files."""
    assert block("parity") == table()


def _quoted() -> list[dict[str, str]]:
    """Return the tables of the README, each number by the name above it."""
    lines = section(README, "Fast").splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if "|" in line]
    return [dict(zip(rows[at], rows[at + 2], strict=True)) for at in (0, 3)]


def _timed(table: str, name: str) -> list[str]:
    """Return the numbers of the one line of a printed table that begins with a name."""
    name = name.partition(" (")[0]
    (line,) = [one for one in table.splitlines() if one.startswith(f"{name} ")]
    return line.removeprefix(name).split()


def test_the_speed_that_the_readme_quotes_is_that_of_the_page() -> None:
    """At a million rows, from the one run that is shown there."""
    tables = block("peers").split("\n\n")
    (peers,) = [one for one in tables if one.startswith("1,000,000 rows, 6,")]
    (forms,) = [one for one in tables if one.startswith("1,000,000 rows in other forms")]
    libraries, doors = _quoted()
    for name, quoted in libraries.items():
        _version, _seconds, _ours, ratio, *_ = _timed(peers, name)
        assert ratio == quoted, name
    for name, quoted in doors.items():
        _seconds, ratio, *_ = _timed(forms, name)
        assert ratio == quoted, name
    assert f"take {_timed(peers, 'recsys_ndcg')[1]} s" in section(README, "Fast")


def test_the_readme_links_to_every_page() -> None:
    """So that a reader need not find one by chance."""
    listed = section(README, "Pages")
    assert [
        page.name for page in DOCS if f"({page.relative_to(ROOT).as_posix()})" not in listed
    ] == []
