"""demo: Surprise models on a file of ratings, or an error before any is trained."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from recsys_ndcg.cli.output import out
from tests.commands import error_of, run

pytest.importorskip("surprise")


def ratings(separator: str, heading: str = "") -> str:
    """Return 300 ratings as text."""
    draw = np.random.default_rng(0)
    rows = sorted({(int(u), int(i)) for u, i in draw.integers(1, 30, (500, 2))})[:300]
    lines = [separator.join(map(str, (u, i, draw.integers(1, 6), 99))) for u, i in rows]
    return heading + "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", ratings(",", "user,item,rating,timestamp\n")),
        ("r.csv", ratings(",") + "\n"),
        ("r.dat", ratings("::")),
        ("u.data", ratings("\t")),
    ],
)
def test_the_demo_takes_a_file_of_ratings(tmp_path: Path, name: str, text: str) -> None:
    """CSV with or without a heading, and the formats of MovieLens."""
    (tmp_path / name).write_text(text)
    result = run("demo", "--ratings", tmp_path / name, "-k", "3")
    assert result.exit_code == 0, result.stderr
    for word in ("300 ", "240 to train on, 60 to rank", "SVD", "NormalPredictor", "Worst users"):
        assert word in result.stdout
    lines = [line for line in result.stdout.splitlines() if re.match(r"[^ ].*: ", line)]
    assert sum(line.startswith("adjusted: ") for line in lines) == 1
    assert len({*lines}) == len(lines), "a heading is explained twice"


def test_the_page_of_the_demo_never_overwrites_the_ratings(tmp_path: Path) -> None:
    """Before any model is trained."""
    path, text = tmp_path / "r.csv", ratings(",")
    path.write_text(text)
    message = error_of("demo", "--ratings", path, "--html", path)
    assert "r.csv: this is also the file of --ratings" in message
    assert path.read_text() == text


def test_sentences_of_the_demo_break_on_a_narrow_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between words."""
    monkeypatch.setattr(out, "width", 40)
    (tmp_path / "r.csv").write_text(ratings(","))
    printed = run("demo", "--ratings", tmp_path / "r.csv", "-k", "3").stdout
    assert "users for whom every order \nhas the same score." in printed
    assert "240 to train on, 60 to rank" in " ".join(printed.split())


@pytest.mark.parametrize(
    ("words", "text", "message"),
    [
        ([], "user,item,rating\n", "ratings: there are no rows. Check the filter"),
        ([], "user,item,rating\n1,1,3\n", "1 ratings with 1 different values are too few"),
        ([], "user,item,rating\n1,1,3\n1,2,x\n", "line 3: rating is 'x'"),
        ([], "user,item,rating\n1,1,3\n,2,4\n" + "1,3,5\n" * 60, "line 3"),
        ([], "1,2,3,4,5\n", "5 columns; ratings are user, item, rating"),
        ([], ratings(",") + ratings(","), "more than once"),
        (["-k", "0"], ratings(","), "-k must be a whole number"),
        (["--seed", "4294967296"], ratings(","), "--seed must be .* from 0 to 4294967295"),
    ],
)
def test_ratings_that_cannot_be_trained_on_are_an_error(
    tmp_path: Path, words: list[str], text: str, message: str
) -> None:
    """Before any model is trained."""
    (tmp_path / "r.csv").write_text(text)
    assert re.search(message, error_of("demo", "--ratings", tmp_path / "r.csv", *words))
