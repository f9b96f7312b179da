"""The command line: exit codes, what goes to which stream, and messages of one line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import refusal, run

if TYPE_CHECKING:
    from pathlib import Path

HEADING = "user,item,estimated,true\n"
ROWS = "ann,a,4.5,5\nann,b,3.0,2\nann,c,2.0,4\nbob,a,2.0,4\nbob,b,3.5,3\n"
SIGNATURE = "ndcg@10|defaults:"


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "p.csv"
    path.write_text(HEADING + ROWS)
    return path


def test_evaluate_prints_the_scores_and_the_signature(path: Path) -> None:
    """Nothing on the other stream."""
    result = run("evaluate", path)
    assert result.exit_code == 0
    assert not result.stderr
    heading, scores, *_, signature = result.stdout.splitlines()
    assert heading.split()[:5] == ["metric", "mean", "±95%", "pooled", "median"]
    expected = rn.evaluate(path)
    assert scores.split()[:2] == ["ndcg@10", f"{expected.mean.iloc[0]:.4f}"]
    assert signature == expected.signature("ndcg@10")
    assert "2 of 2 users have fewer items than the cutoff" in result.stdout


def test_cutoffs_and_metrics_are_lists_with_commas(path: Path) -> None:
    """Spaces do no harm; a metric's own cutoff stays."""
    both = run("evaluate", path, "-k", "1,2", "--threshold", "4")
    names = [line.split()[0] for line in both.stdout.splitlines()[1:7]]
    assert names == ["ndcg@1", "ndcg@2", "precision@1", "precision@2", "recall@1", "recall@2"]
    chosen = run("evaluate", path, "--metrics", "NDCG@3, rr ,precision", "--threshold", "4")
    assert [line.split()[0] for line in chosen.stdout.splitlines()[1:4]] == [
        "ndcg@3", "rr", "precision@10",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (["gain=linear"], "gain:linear|"),
        (["gain=linear,ties=input"], "|ties:input|"),
        (["gain=linear", "undefined=0"], "undefined:0.0|"),
        (["gain=2:0/3:1/4:2/5:3.5"], "gain:map(2.0=0.0,3.0=1.0,4.0=2.0,5.0=3.5)|"),
        (["ideal=max,max_grade=5"], "ideal:max|"),
        (["tie_tolerance=1e-9"], "tie_tolerance:1e-09|"),
        (["short_list=n"], "short_list:n|"),
        (["recommend_from=3"], "recommend_from:3.0|"),
    ],
)  # fmt: skip
def test_a_convention_is_given_as_name_and_value(
    path: Path, given: list[str], written: str
) -> None:
    """Several with commas, or by repeating the option."""
    options = [word for one in given for word in ("--convention", one)]
    result = run("evaluate", path, *options, "--full-signature")
    assert result.exit_code == 0, result.stderr
    assert written in result.stdout


def test_the_scores_of_users_and_the_report_go_to_files(path: Path, tmp_path: Path) -> None:
    """As CSV and as JSON that `Report.load` reads."""
    scores, report = tmp_path / "u.csv", tmp_path / "r.json"
    run("evaluate", path, "--threshold", "4", "--per-user", scores, "--json", report)
    expected = rn.evaluate(path, threshold=4)
    pd.testing.assert_frame_equal(pd.read_csv(scores, index_col="user"), expected.per_user)
    pd.testing.assert_frame_equal(rn.Report.load(report).summary, expected.summary)
    assert json.loads(report.read_text())["counts"] == expected.counts


def test_columns_are_renamed(tmp_path: Path) -> None:
    """As Surprise calls them, for instance."""
    path = tmp_path / "p.csv"
    path.write_text("uid,iid,est,r_ui\n" + ROWS)
    columns = "user=uid,item=iid,estimated=est,true=r_ui"
    assert run("evaluate", path, "--columns", columns).exit_code == 0
    result = run("evaluate", path)  # recognised, and said
    assert result.exit_code == 0
    assert f"--columns {columns}" in result.stderr


def test_explain_shows_the_ranks_of_a_user(path: Path) -> None:
    """The id is looked up as it is written, also where the file holds numbers."""
    result = run("explain", path, "--user", "ann", "-k", "2")
    assert result.exit_code == 0
    assert "ideal" in result.stdout
    ranks = [line.split()[:4] for line in result.stdout.splitlines() if line[:1].isdigit()]
    assert ranks == [["1", "a", "4.5", "5"], ["2", "b", "3", "2"]]
    path.write_text(HEADING + "7,1,2,3\n7,2,1,4\n")
    assert run("explain", path, "--user", "7").exit_code == 0
    assert "no user '8'" in refusal("explain", path, "--user", "8")


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (["-k", "0"], "k must be a whole number of at least 1, not 0"),
        (["-k", "x"], "-k must be whole numbers"),
        (["-k", ""], "-k must be whole numbers"),
        (["--metrics", "ndgc"], "Did you mean 'ndcg'"),
        (["--metrics", "recall@5"], "pass threshold=4.0 .--threshold 4.,"),
        (["--threshold", "nan"], "threshold must be a finite number"),
        (["--convention", "ties"], "'ties' is not of the form name=value"),
        (["--convention", "ties=wors"], "Did you mean 'worst'"),
        (["--convention", "tie=worst"], "Did you mean 'ties'"),
        (["--convention", "gain=1:0/2:x"], r"gain:'map\(1=0,2=x\)' is not of the form map"),
        (["--convention", "gain=1:0/5:1"], "no gain in"),
        (["--columns", "estimated=est"], "no column 'est'; it has user, item, estimated, true"),
        (["--columns", "est=estimated"], "no column 'est' to rename"),
        (["--columns", "est"], "'est' is not of the form name=value"),
    ],
)
def test_an_option_that_cannot_be_read_is_refused(path: Path, words: list[str], match: str) -> None:
    """In one line, and nothing is printed or written."""
    assert re.search(match, refusal("evaluate", path, *words))


@pytest.mark.parametrize("option", ["--per-user", "--json"])
def test_a_file_that_cannot_be_written_is_told_with_the_reason(path: Path, option: str) -> None:
    """The reason of the system, not None."""
    result = run("evaluate", path, option, "/nowhere/at/all.csv")
    assert result.exit_code == 2
    assert "/nowhere/at/all.csv: cannot be written" in result.stderr
    assert "None" not in result.stderr


GOOD = {
    "plain": HEADING + ROWS,
    "byte order mark": "\ufeff" + HEADING + ROWS,
    "Windows": (HEADING + ROWS).replace("\n", "\r\n"),
    "no newline at the end": (HEADING + ROWS).rstrip(),
    "empty lines at the end": HEADING + ROWS + "\n\n",
    "empty lines at the end, Windows": (HEADING + ROWS + "\n\n").replace("\n", "\r\n"),
    "quoted": HEADING + ROWS.replace("ann", '"ann"'),
    "semicolons": (HEADING + ROWS).replace(",", ";"),
}


@pytest.mark.parametrize("kind", GOOD)
def test_a_table_is_read_however_its_program_writes_it(path: Path, kind: str) -> None:
    """Byte order mark, line ends, quotes, empty lines."""
    expected = run("evaluate", path).stdout
    path.write_bytes(GOOD[kind].encode())
    result = run("evaluate", path)
    assert result.stdout == expected, result.stderr


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "the file is empty"),
        (HEADING.encode(), "no rows"),
        (bytes(range(256)), "not text in UTF-8"),
        (b"a,b,c\n1,2,3\n", "no column 'user'; it has a, b, c"),
        (HEADING.encode() + b"ann,a,high,5\n", "line 2: estimated is 'high'"),
        (HEADING.encode() + b"ann,a,,5\n", "line 2"),
        (HEADING.encode() + b"ann,a,1,5,9\n", "line 2"),
        (HEADING.encode() + b"ann,a,1,5\nann,b\n", "line 3"),
        (HEADING.encode() + b"ann,a,1,5\nann,a,2,5\n", "duplicates"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused(path: Path, content: bytes, match: str) -> None:
    """In one line, also by `explain`."""
    path.write_bytes(content)
    assert match in refusal("evaluate", path)
    assert match in refusal("explain", path, "--user", "ann")


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Nor is a folder a file."""
    assert "none.csv: cannot be read (No such file" in refusal("evaluate", tmp_path / "none.csv")
    assert "none.parquet: cannot be read" in refusal("evaluate", tmp_path / "none.parquet")
    assert "(Is a directory)" in refusal("evaluate", tmp_path)


def test_a_warning_is_one_line_on_the_other_stream(path: Path) -> None:
    """Without a path into the package."""
    path.write_text(HEADING + "ann,a,1,5\nann,b,1,2\n")
    result = run("evaluate", path)
    assert result.exit_code == 0
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: Tied estimates")
    assert SIGNATURE in result.stdout


@pytest.mark.parametrize("words", [["bogus"], ["evaluate"], ["explain", "p.csv"], ["-k"]])
def test_a_call_that_is_not_one_exits_with_2(words: list[str]) -> None:
    """As is the custom."""
    assert run(*words).exit_code == 2


@pytest.mark.parametrize("words", [["--help"], ["evaluate", "--help"], ["demo", "--help"]])
def test_help_fits_a_terminal(words: list[str]) -> None:
    """Of 80 columns."""
    result = run(*words)
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_a_process_says_the_same_and_fits_80_columns(path: Path) -> None:
    """From outside, with warnings as errors."""
    ran = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-W", "error", "-c", "from recsys_ndcg.cli import main; main()",
         "evaluate", str(path), "--threshold", "4"],
        env=os.environ | {"COLUMNS": "80", "PYTHONUTF8": "1"}, capture_output=True,
        encoding="utf-8", check=True,
    )  # fmt: skip
    lines = ran.stdout.splitlines()
    assert max(len(line) for line in lines if not line.startswith(SIGNATURE)) <= 80
    assert lines == run("evaluate", path, "--threshold", "4").stdout.splitlines()
