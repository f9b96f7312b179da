"""evaluate on several files, and within a memory limit."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.scale.database import Memory
from tests.commands import csv_of, error_of, run
from tests.scale.cases import predictions

pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra scale has it")
pytest.importorskip("pyarrow")

FRAME = predictions(1)
EXPECTED = rn.evaluate(FRAME, threshold=4)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with predictions in three files and in one; a few rows fit in memory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Memory, "budget", property(lambda _: 900))
    monkeypatch.setattr(Memory, "cost", lambda _, rows, *_others: rows)
    for place in range(3):
        FRAME.iloc[place::3].to_parquet(tmp_path / f"p{place}.parquet")
    FRAME.to_csv(tmp_path / "p.csv", index=False)
    FRAME[["user", "item", "true"]].iloc[::2].to_csv(tmp_path / "labels.csv", index=False)
    FRAME[["user", "item", "estimated"]].to_parquet(tmp_path / "results.parquet")
    return tmp_path


LIMIT = ["--memory-limit", "2GB"]
FILES = ["p0.parquet", "p1.parquet", "p2.parquet"]


def _mean(*words: str) -> float:
    table = csv_of("evaluate", *words, "--threshold", "4", "-q", index_col="metric")
    return float(table["mean"]["ndcg@10"])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("words", [FILES, ["p*.parquet"], [*FILES, *LIMIT], ["p.csv", *LIMIT]])
def test_several_files_are_one_table(words: list[str]) -> None:
    """Named one by one, by a pattern that the shell did not expand, and with a limit."""
    assert _mean(*words) == pytest.approx(EXPECTED["ndcg@10"], rel=1e-14)


@pytest.mark.usefixtures("folder")
def test_a_memory_limit_changes_no_number() -> None:
    """Of labels and results, for example."""
    words = ["--labels", "labels.csv", "--results", "results.parquet"]
    assert _mean(*words, *LIMIT) == pytest.approx(_mean(*words), rel=1e-14)


@pytest.mark.parametrize("keeps", [True, False])
def test_per_user_scores_are_written_as_they_are_measured(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, keeps: bool
) -> None:
    """To Parquet, even if they are not kept; the report is JSON only if they are."""
    monkeypatch.setattr(Memory, "can_keep", lambda *_: keeps)
    words = ["evaluate", "p.csv", *LIMIT, "--threshold", "4"]
    saved = run(*words, "--per-user", "users.parquet", "--json", "r.json")
    found = pd.read_parquet("users.parquet").set_index("user").sort_index()
    pd.testing.assert_frame_equal(found, EXPECTED.per_user)
    if keeps:
        assert rn.Report.load(folder / "r.json") == EXPECTED
    else:
        assert "has only the totals of" in saved.stderr
    message = error_of(*words, "--per-user", "u.csv")
    assert "u.csv: with several files or a memory limit, the name must" in message


def test_none_of_several_inputs_is_overwritten(folder: Path) -> None:
    """The second, for example."""
    content = (folder / FILES[1]).read_bytes()
    message = error_of("evaluate", *FILES, "--per-user", FILES[1])
    assert "p1.parquet: this is also the file of the data" in message
    assert (folder / FILES[1]).read_bytes() == content


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-", *LIMIT], "not with standard input"),
        (["--qrels", "q", "--run", "r", *LIMIT], "not with standard input"),
        (["p.csv", "--memory-limit", "much"], "--memory-limit must be an amount of memory"),
        (["none.csv", "other.csv"], "none.csv: cannot be read"),
    ],
    ids=["stdin", "trec", "limit", "files"],
)
def test_options_that_exclude_each_other_are_an_error(words: list[str], message: str) -> None:
    """Of one line."""
    assert message in error_of("evaluate", *words)
