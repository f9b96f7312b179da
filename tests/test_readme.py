"""What the README and the pages in docs/ show is what the programs print."""

from __future__ import annotations

import os
import re
import runpy
import textwrap
from pathlib import Path

import pytest

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.metrics import METRICS
from tests.commands import run_python
from tests.pages import README, ROOT, block, page_of, read_search, section, text_of
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
    first, _, _ = printed.partition("\n- ")
    assert first.splitlines() == block("demo").splitlines()


def test_random_order_scores_what_the_readme_says() -> None:
    """As in the column `chance` of the demo, for every model."""
    # tier, model, mean, its interval, letters, pooled, chance
    row = re.compile(r"^\d+ +\S+ +\S+ +\S+ +[a-z]+ +\S+ +(0\.\d+) ", re.MULTILINE)
    chance = {f"{float(number):.2f}" for number in row.findall(block("demo"))}
    (quoted,) = set(re.findall(r"random order already scores (0\.\d\d) here", text_of(README)))
    assert chance == {quoted}


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


def test_the_readme_explains_some_numbers_of_that_table() -> None:
    """By the choices that `reconcile` finds, and there are as many conventions as it says."""
    example = runpy.run_path(PRESETS, run_name="an example")
    table = rn.reconcile(example["predictions"](sample_ratings()), "precision@10", threshold=4)
    by_name = table.set_index("preset")
    text = section(README, "One file, many numbers")
    rows = re.findall(r"^\| `(\w+)`.*? \| (0\.\d{4}) \| (.*) \|$", text, re.MULTILINE)
    assert len(rows) == 5
    for name, value, why in rows:
        assert value == f"{by_name['value'][name]:.4f}"
        changes = re.findall(r"(\w+=\w+) ", by_name["changes"][name])
        assert re.findall(r"`(\w+=\w+)`", why) == changes
    assert f" has {len(_rows(block('presets'))) - 5} conventions" in text


def test_the_readme_quotes_all_numbers_of_the_table_that_it_links_to() -> None:
    """Rounded, and no other."""
    text = section(README, "One file, many numbers")
    assert f"({LIBRARIES.relative_to(ROOT).as_posix()}#one-file-many-numbers)" in text
    assert "<!-- presets:" in section(LIBRARIES, "One file, many numbers")
    precisions = {
        f"{float(numbers[1]):.2f}"
        for name, numbers in _rows(block("presets")).items()
        if len(numbers) == 4 and re.fullmatch(r"0\.\d{4}", numbers[1])
    }
    assert re.findall(r"\d\.\d+", text.split("|")[0]) == sorted(precisions)


def test_the_readme_counts_the_metrics() -> None:
    """Without the last ones, so that a new metric leaves it as it is."""
    (least,) = re.findall(r": over (\d+) metrics, from", text_of(README))
    assert int(least) < len(METRICS) < int(least) + 50


@needs_data
def test_the_extremes_on_real_ratings_are_what_the_example_prints() -> None:
    """With the arguments that are named, wherever they are quoted."""
    rows = _rows(_printed(PRESETS, RATINGS, "8"))
    ndcg, precision = ((rows["lowest"][at], rows["highest"][at]) for at in (0, 1))
    text = " ".join(text_of(LIBRARIES).split())
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
    quoted = " ".join(section(README, "With Surprise").split())
    by_rmse, by_ndcg, popular = read_search()
    assert f"NDCG@10 of {by_rmse} over the whole catalogue" in quoted
    assert f"{by_ndcg}," in quoted
    assert f"{popular}." in quoted


def test_the_table_of_parity_is_what_was_compared() -> None:
    """From the golden files."""
    assert block("parity") == table()


def test_the_speed_that_the_readme_quotes_is_that_of_the_page() -> None:
    """At a million rows, from the one run that is shown there."""
    (peers,) = [one for one in block("peers").split("\n\n") if one.startswith("1,000,000 rows, 6,")]
    (ours,) = [line.split()[2] for line in peers.splitlines() if line.startswith("recsys_ndcg ")]
    assert f"a million rows in {ours} s" in text_of(README)
