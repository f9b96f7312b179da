"""leaderboard: the users whose lists are ranked best, or worst."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import refusal, run
from tests.comparison.models import model, ratings

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(name="path")
def _path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "p.csv"
    rows = [*model(ratings(30), 1.0, 0), ("flat", "a", 1.0, 3.0), ("flat", "b", 2.0, 3.0)]
    pd.DataFrame(rows, columns=["user", "item", "estimated", "true"]).to_csv(path, index=False)
    return path


def test_the_best_users_come_first(path: Path) -> None:
    """As `Report.leaderboard` has them, with how many are left out."""
    lines = run("leaderboard", path).stdout.splitlines()
    board = rn.evaluate(path).leaderboard("ndcg@10")
    assert lines[0] == "ndcg@10 by score"
    assert lines[1].split() == ["rank", "user", *board.columns[1:]]
    assert [line.split()[1] for line in lines[2:22]] == list(board.index)
    trivial = board.attrs["trivial"]
    assert lines[22] == f"- {trivial} users for whom every order is the same are left out."
    assert lines[-1].startswith("ndcg@10|defaults:")
    assert run("leaderboard", path, "-q").stdout.splitlines() == lines[:22]


@pytest.mark.parametrize("by", ["score", "adjusted", "z"])
@pytest.mark.parametrize("worst", [True, False])
def test_users_are_ranked_by_what_is_asked_for(path: Path, by: str, *, worst: bool) -> None:
    """With every digit where programs read."""
    words = ["--sort", by, "-n", "4", "--metric", "p@2", "--threshold", "4", "--format", "csv"]
    result = run("leaderboard", path, *words, *(["--ascending"] if worst else []))
    table = pd.read_csv(io.StringIO(result.stdout))
    report = rn.evaluate(path, metrics=["precision@2"], threshold=4)
    board = report.leaderboard("precision@2", 4, by=by, ascending=worst)
    assert table["user"].tolist() == list(board.index)
    assert table[by].tolist() == pytest.approx(board[by].tolist(), rel=1e-14)
    assert list(table) == ["rank", "user", *board.columns[1:]]


def test_a_saved_report_has_one_too(path: Path, tmp_path: Path) -> None:
    """Of its first metric, or of another; what is measured stays."""
    rn.evaluate(path, metrics=["rr", "ndcg@3"], threshold=4).save(tmp_path / "r.json")
    words = ["leaderboard", "r.json", "--format", "json"]
    found = rn.Report.load(tmp_path / "r.json")
    for more, name in (([], "rr"), (["--metric", "NDCG@3"], "ndcg@3")):
        rows = json.loads(run(*words, *more).stdout)
        assert [row["user"] for row in rows] == list(found.leaderboard(name).index)
    assert "no metric 'ndcg@10'; it has rr, ndcg@3" in refusal(*words, "--metric", "ndcg")
    assert "saved report, in which all is measured" in refusal(*words, "--threshold", "4")


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["-n", "0"], "-n must be a whole number of at least 1, not 0"),
        (
            ["--sort", "zz"],
            "--sort must be one of 'score', 'adjusted', 'z', not 'zz'. Did you mean 'z'",
        ),
        (["--metric", "ndgc"], "Did you mean 'ndcg'"),
        (["--metric", "ndcg,rr"], "2 metrics"),
        (["--metric", "p@5"], "--threshold 4"),
        (["--metric", "rmse", "--sort", "z"], "no z for any user"),
        (["--labels", "p.csv"], "Say in one way"),
    ],
)
def test_what_is_no_leaderboard_is_refused(path: Path, words: list[str], match: str) -> None:
    """In one line."""
    assert match in refusal("leaderboard", path, *words)


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv", "json"])
def test_half_a_character_is_shown_as_an_escape(tmp_path: Path, form: str) -> None:
    """As JSON can have it in an id, in the table of users and in that of the items of one."""
    path = tmp_path / "p.jsonl"
    rows = [{"user": user, "item": f"{item}\ud800", "estimated": item, "true": item % 2}
            for user in ("ann", "bob\ud800") for item in range(3)]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    for command, *words in (["leaderboard"], ["explain", "--user", "ann"]):
        result = run(command, path, *words, "--format", form)
        assert result.exit_code == 0, result.stderr
        assert "ud800" in result.stdout


def test_a_file_without_users_is_refused(tmp_path: Path) -> None:
    """Empty, or not there."""
    (tmp_path / "empty.csv").touch()
    assert "the file is empty" in refusal("leaderboard", tmp_path / "empty.csv")
    assert "cannot be read" in refusal("leaderboard", tmp_path / "none.csv")
    assert "Given: none of them." in refusal("leaderboard")
