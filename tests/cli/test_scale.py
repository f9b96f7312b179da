"""recsys-ndcg evaluate on several files, and within a limit of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.scale.database import Memory
from tests.commands import refusal, run
from tests.scale.cases import predictions

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra scale has it")
pytest.importorskip("pyarrow")

FRAME = predictions(1)
EXPECTED = rn.evaluate(FRAME, threshold=4)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with predictions in three files, and in one, some rows fitting the memory."""
    monkeypatch.setattr(Memory, "budget", property(lambda _: 900))
    monkeypatch.setattr(Memory, "cost", lambda _, rows, *_others: rows)
    for place in range(3):
        FRAME.iloc[place::3].to_parquet(tmp_path / f"p{place}.parquet")
    FRAME.to_csv(tmp_path / "p.csv", index=False)
    FRAME[["user", "item", "true"]].iloc[::2].to_csv(tmp_path / "labels.csv", index=False)
    FRAME[["user", "item", "estimated"]].to_parquet(tmp_path / "results.parquet")
    return tmp_path


def _mean_of(folder: Path, *words: str) -> float:
    result = run("evaluate", *words, "--threshold", "4", "--format", "csv", "-q")
    assert result.exit_code == 0, result.stderr
    (folder / "printed.csv").write_text(result.stdout)
    return float(pd.read_csv(folder / "printed.csv").set_index("metric")["mean"]["ndcg@10"])


def test_several_files_are_one_table(folder: Path) -> None:
    """Named one by one, by a pattern that the shell left alone, and with a limit."""
    paths = [str(folder / f"p{place}.parquet") for place in range(3)]
    for words in (paths, [str(folder / "p*.parquet")], [*paths, "--memory-limit", "2GB"]):
        assert _mean_of(folder, *words) == pytest.approx(EXPECTED["ndcg@10"], rel=1e-14)
    assert _mean_of(folder, str(folder / "p.csv"), "--memory-limit", "2GB") == pytest.approx(
        EXPECTED["ndcg@10"], rel=1e-14
    )


def test_labels_and_results_within_a_limit(folder: Path) -> None:
    """As without one."""
    words = ["--labels", str(folder / "labels.csv"), "--results", str(folder / "results.parquet")]
    inside = _mean_of(folder, *words)
    assert _mean_of(folder, *words, "--memory-limit", "2GB") == pytest.approx(inside, rel=1e-14)


@pytest.mark.parametrize("keeps", [True, False])
def test_users_go_to_parquet_as_they_come(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, keeps: bool
) -> None:
    """Whether they are kept or not; to nothing else, and the report to JSON where they are."""
    monkeypatch.setattr(Memory, "keeps", lambda *_: keeps)
    words = ["evaluate", str(folder / "p.csv"), "--memory-limit", "2GB", "--threshold", "4"]
    users = folder / "users.parquet"
    assert run(*words, "--per-user", str(users)).exit_code == 0
    found = pd.read_parquet(users).set_index("user").sort_index()
    pd.testing.assert_frame_equal(found, EXPECTED.per_user)
    assert "u.csv: scores of users are written to Parquet" in refusal(
        *words, "--per-user", folder / "u.csv"
    )
    if keeps:
        assert run(*words, "--json", str(folder / "r.json")).exit_code == 0
        assert rn.Report.load(folder / "r.json") == EXPECTED
    else:
        told = run(*words, "--json", str(folder / "r.json"))
        assert told.exit_code == 2
        assert "does not keep each" in told.stderr


def test_no_file_of_the_data_is_written_onto(folder: Path) -> None:
    """The second of several, too."""
    paths = [folder / f"p{place}.parquet" for place in range(3)]
    whole = paths[1].read_bytes()
    told = refusal("evaluate", *paths, "--per-user", paths[1])
    assert "p1.parquet: this is the file of the data" in told
    assert paths[1].read_bytes() == whole


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["-", "--memory-limit", "2GB"], "neither for standard input"),
        (["--qrels", "q", "--run", "r", "--memory-limit", "2GB"], "neither for standard input"),
        (["p.csv", "--memory-limit", "much"], "memory_limit is an amount of memory"),
        (["none.csv", "other.csv"], "none.csv: cannot be read"),
    ],
    ids=["stdin", "trec", "limit", "files"],
)
def test_what_does_not_go_together(words: list[str], told: str) -> None:
    """One line, and no traceback."""
    result = run("evaluate", *words)
    assert result.exit_code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1


def test_no_bar_in_a_pipe(folder: Path) -> None:
    """A bar is for a person who watches."""
    result = run("evaluate", str(folder / "p.csv"), "--memory-limit", "2GB", "--threshold", "4")
    assert result.exit_code == 0
    assert "users" in result.stdout
    assert "Measuring" not in result.stdout + result.stderr
