"""leaderboard: the users with the best or the worst lists."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import recsys_ndcg as rn
from tests.cli.conftest import FORMATS
from tests.commands import csv_of, error_of, json_of, run


def test_the_best_users_come_first(folder: Path) -> None:
    """As in `Report.leaderboard`, with the number of users that are left out."""
    path = folder / "good.csv"
    path.write_text(path.read_text() + "flat,a,1,3\nflat,b,2,3\n")
    lines = run("leaderboard", path).stdout.splitlines()
    board = rn.evaluate(path).leaderboard("ndcg@10")
    assert lines[0] == "ndcg@10 by score"
    assert lines[1].split() == ["rank", "user", *board.columns[1:]]
    assert [line.split()[1] for line in lines[2:22]] == list(board.index)
    assert board.attrs["trivial"] == 1
    assert lines[22] == "- Without 1 user for whom every order has the same score."
    assert lines[-1].startswith("ndcg@10|defaults:")
    assert run("leaderboard", path, "-q").stdout.splitlines() == lines[:22]


@pytest.mark.parametrize("by", ["score", "adjusted", "z"])
@pytest.mark.parametrize("worst", [True, False])
def test_sort_and_ascending_order_the_users(folder: Path, by: str, *, worst: bool) -> None:
    """CSV has every digit."""
    words = ["--sort", by, "-n", "4", "--metric", "p@2", "--threshold", "4"]
    order = ["--ascending"] if worst else []
    table = csv_of("leaderboard", folder / "good.csv", *words, *order)
    report = rn.evaluate("good.csv", metrics=["precision@2"], threshold=4)
    board = report.leaderboard("precision@2", 4, by=by, ascending=worst)
    assert table["user"].tolist() == list(board.index)
    assert table[by].tolist() == pytest.approx(board[by].tolist(), rel=1e-14)
    assert list(table) == ["rank", "user", *board.columns[1:]]


def test_a_saved_report_has_a_leaderboard(folder: Path) -> None:
    """Of its first metric by default; options of measuring are errors."""
    rn.evaluate("good.csv", metrics=["rr", "ndcg@3"], threshold=4).save(folder / "r.json")
    words = ["leaderboard", "r.json"]
    found = rn.Report.load("r.json")
    for more, name in (
        ([], "rr"), (["--metric", "NDCG@3"], "ndcg@3"), (["--metric", "ndcg"], "ndcg@3"),
    ):  # fmt: skip
        users = [row["user"] for row in json_of(*words, *more)]
        assert users == list(found.leaderboard(name).index)
    assert "no metric 'p'; it has rr, ndcg@3" in error_of(*words, "--metric", "p")
    assert "saved report, which cannot be evaluated again" in error_of(*words, "--threshold", "4")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["p.csv", "-n", "0"], "-n must be a whole number of at least 1, not 0"),
        (["p.csv", "--sort", "zz"], "--sort must be one of 'score', 'adjusted', 'z', not 'zz'."),
        (["p.csv", "--metric", "ndgc"], "Did you mean 'ndcg'"),
        (["p.csv", "--metric", "ndcg,rr"], "2 metrics"),
        (["p.csv", "--metric", "p@5"], "--threshold 5"),
        (["p.csv", "--metric", "rmse", "--sort", "z"], "no z for any user"),
        (["p.csv", "--labels", "p.csv"], "Given: FILE and --labels. Pass FILE"),
    ],
)
@pytest.mark.usefixtures("path")
def test_an_invalid_leaderboard_is_an_error(words: list[str], message: str) -> None:
    """Of one line."""
    assert message in error_of("leaderboard", *words)


@pytest.mark.parametrize("form", FORMATS)
def test_a_lone_surrogate_is_shown_as_an_escape(tmp_path: Path, form: str) -> None:
    """JSON can have it in an id of a user or an item."""
    path = tmp_path / "p.jsonl"
    rows = [{"user": user, "item": f"{item}\ud800", "estimated": item, "true": item % 2}
            for user in ("ann", "bob\ud800") for item in range(3)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    for command, *words in (["leaderboard"], ["explain", "--user", "ann"]):
        result = run(command, path, *words, "--format", form)
        assert "ud800" in result.stdout, result.stderr
