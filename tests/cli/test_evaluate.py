"""evaluate and explain: their output, their options, and what they reject."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.errors import escape_invisible
from tests.cli.conftest import HEADING, ROWS
from tests.commands import error_of, run

HOSTILE = "\x1b[2J\u202e\x9b:car:[red]"
SIGNATURE = rn.Convention().signature
SHORT = "ndcg@10|defaults:"


def test_evaluate_prints_the_scores_and_the_signature(path: Path) -> None:
    """In 80 columns, and nothing on standard error."""
    result = run("evaluate", path)
    assert (result.exit_code, result.stderr) == (0, "")
    heading, scores, *_, signature = result.stdout.splitlines()
    assert heading.split()[:5] == ["metric", "mean", "[95%]", "pooled", "median"]
    expected = rn.evaluate(path)
    assert scores.split()[:2] == ["ndcg@10", f"{expected.mean.iloc[0]:.4f}"]
    assert signature == expected.signature("ndcg@10")
    assert (heading.split()[-1], scores.split()[-1]) == ("short", "2")
    assert max(map(len, result.stdout.splitlines()[:-1])) <= 80


def test_cutoffs_and_metrics_are_lists_with_commas(path: Path) -> None:
    """Spaces are ignored, options may be repeated, and a metric's own cutoff stays."""

    def names(*words: str) -> list[str]:
        lines = run("evaluate", path, *words).stdout.splitlines()[1:]
        return [line.split()[0] for line in lines if re.match(r"\w+@?\d* +[\d.]+ ", line)]

    ndcg = ["ndcg@1", "ndcg@2"]
    assert names("-k", "1,2") == names("-k", "1", "-k", "2") == ndcg
    assert names("-k", "1,2", "--threshold", "4")[:4] == [*ndcg, "precision@1", "precision@2"]
    chosen = names("--metrics", "NDCG@3, rr ,precision", "--threshold", "4")
    assert chosen == ["ndcg@3", "rr", "precision@10"]


@pytest.mark.parametrize("words", ["gain=linear,undefined=0", "ties=best --convention undefined=0"])
def test_a_convention_is_a_list_of_names_and_values(path: Path, words: str) -> None:
    """Several with commas, or in repeated options; a gain may be a mapping."""
    result = run("evaluate", path, "--convention", *words.split(), "--full-signature")
    assert "|undefined:0.0|" in result.stdout
    mapping = run("evaluate", path, "--convention", "gain=2:0/3:1/4:2/5:3.5").stdout
    assert "gain:map(2.0=0.0,3.0=1.0,4.0=2.0,5.0=3.5)" in mapping


def test_per_user_scores_and_the_report_are_written_to_files(path: Path) -> None:
    """As CSV, and as JSON that `Report.load` reads."""
    run("evaluate", path, "--threshold", "4", "--per-user", "u.csv", "--json", "r.json")
    expected = rn.evaluate(path, threshold=4)
    pd.testing.assert_frame_equal(pd.read_csv("u.csv", index_col="user"), expected.per_user)
    assert rn.Report.load("r.json") == expected
    saved = json.loads(path.with_name("r.json").read_text())
    assert saved["counts"] == expected.counts


def test_columns_are_mapped(path: Path) -> None:
    """Known names are recognised and reported; our own name may stand for another column."""
    path.write_text("uid,iid,est,r_ui\n" + ROWS)
    columns = "user=uid,item=iid,estimated=est,true=r_ui"
    assert f"--columns {columns}" in run("evaluate", path).stderr
    assert run("evaluate", path, "--columns", columns).stderr == ""
    path.write_text("item,user,rank,estimated\n" + ROWS)
    columns = "user=item,item=user,estimated=rank,true=estimated"
    assert run("evaluate", path, "--columns", columns).exit_code == 0
    report = rn.evaluate(path, columns=dict(one.split("=") for one in columns.split(",")))
    assert report.users.tolist() == ["ann", "bob"]


def test_explain_shows_the_ranks_of_a_user(path: Path) -> None:
    """A user's id is a number if the file's ids are."""
    result = run("explain", path, "--user", "ann", "-k", "2")
    assert "ideal" in result.stdout
    ranks = [line.split()[:4] for line in result.stdout.splitlines() if line[:1].isdigit()]
    assert ranks == [["1", "a", "4.5", "5"], ["2", "b", "3", "2"]]
    tied = "share the mean of their gains"
    assert tied not in result.stdout
    path.write_text(HEADING + "7,1,2,3\n7,2,2,4\n")
    assert tied in run("explain", path, "--user", "7").stdout
    assert tied not in run("explain", path, "--user", "7", "--convention", "ties=best").stdout
    assert "no user '8'" in error_of("explain", path, "--user", "8")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "0"], "error: -k must be a whole number of at least 1, not 0"),
        (["-k", ""], "-k must be whole numbers"),
        (["-k", "5", "-k", "x"], "-k must be whole numbers or none, such as 10 or 5,10, not '5,x"),
        (["--metrics", "ndgc"], "Did you mean 'ndcg'"),
        (["--metrics", "os:system"], "'system' is no metric"),
        (["--metrics", "ends:x"], "cannot be imported"),
        (["--threshold", "nan"], "threshold must be a finite number"),
        (["--preset", "sklaern"], "Did you mean 'sklearn'"),
        (["--format", "mardkown"], 'for --format. Choose from: "text", "markdown"'),
        (["--convention", "ties"], "'ties' is not of the form NAME=VALUE"),
        (["--convention", "ties=wors"], "Did you mean 'worst'"),
        (["--convention", "gain=1:0/2:x"], r"gain:'map\(1=0,2=x\)' is not of the form map"),
        (["--convention", f"{SIGNATURE}|threshold:4.0.0"], "finite number, not '4.0.0'"),
        (["--columns", "estimated=est"], "no column 'est'; it has user, item, estimated, true"),
        (["--sep", ";;"], r"--sep must be one character"),
        (["--sep", ";"], "'user,item,estimated,true'. If ',' separates fields, give 'FILE,sep=,'"),
        (["--no-heading"], "line 1: estimated is 'estimated', which is not a number"),
        (["--per-user", "/nowhere/u.csv"], "/nowhere/u.csv: cannot be written"),
        (["--n-items", "9"], "--n-items has no effect on predictions"),
    ],
)
def test_an_invalid_option_is_an_error(path: Path, words: list[str], message: str) -> None:
    """Of one line, and nothing is printed or written."""
    (path.parent / "ends.py").write_text("class End(BaseException): pass\nraise End\n")
    assert re.search(message, error_of("evaluate", path, *words))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("bogus", "Unknown command"),
        ("evaluate", "FILE"),
        ("explain p.csv", "The value of --user is missing."),
        ("evaluate p.csv -k", "The value of -k is missing."),
        ("evaluate p.csv --gain linear", "Write --convention gain=..."),
        ("compare p.csv q.csv --draws 2.7", "--draws: '2.7' is no whole number."),
    ],
)
def test_a_wrong_command_exits_with_2(line: str, message: str) -> None:
    """As is the custom, and a sentence explains it."""
    result = run(*line.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


def test_a_warning_is_one_line_on_standard_error(path: Path) -> None:
    """Without a path into the package, and not with --quiet, which prints only the table."""
    path.write_text(HEADING + "ann,a,1,5\nann,b,1,2\n")
    result, quiet = run("evaluate", path), run("evaluate", path, "--quiet")
    (line,) = result.stderr.splitlines()
    assert line.startswith("warning: Ties affect")
    assert SHORT in result.stdout
    assert quiet == (0, "".join(result.stdout.splitlines(keepends=True)[:2]), "")
    for words in (["explain", "--user", "ann"], ["reconcile", "--metric", "ndcg@2"]):
        assert "defaults:" in run(*words, path).stdout
        assert "defaults:" not in run(*words, path, "-q").stdout
    assert "k must be" in error_of("evaluate", path, "-q", "-k", "0")


@pytest.mark.parametrize("option", ["--per-user", "--json"])
@pytest.mark.parametrize("way", ["same", "around", "link", "hard link"])
def test_the_input_is_never_overwritten(path: Path, option: str, way: str) -> None:
    """Whatever it is called."""
    other = path if way == "same" else path.with_name("other.csv")
    if way == "around":
        other = path.parent / ".." / path.parent.name / path.name
    elif way == "link":
        other.symlink_to(path)
    elif way == "hard link":
        os.link(path, other)
    message = error_of("evaluate", path, option, other)
    assert f"{option} " in message
    assert "this is also the file of the data" in message
    assert path.read_text() == HEADING + ROWS


def test_two_outputs_are_two_files(path: Path) -> None:
    """Also before they exist; /dev/null is no file."""
    message = error_of("evaluate", path, "--per-user", "new", "--json", path.parent / "new")
    assert "this is also the file of --per-user" in message
    assert not path.with_name("new").exists()
    nowhere = run("evaluate", path, "--per-user", "/dev/null", "--json", "/dev/null")
    assert nowhere.exit_code == 0


def test_control_characters_of_ids_and_headings_are_escaped(path: Path) -> None:
    """And brackets and colons are neither colours nor pictures."""
    path.write_text(HEADING + f"{HOSTILE},{HOSTILE},2,5\n{HOSTILE},b,1,2\n", encoding="utf-8")
    explained = run("explain", path, "--user", HOSTILE)
    assert escape_invisible(HOSTILE) in explained.stdout
    texts = [
        explained.stdout + explained.stderr,
        error_of("explain", path, "--user", HOSTILE + "x"),
        error_of("evaluate", path, "--metrics", HOSTILE),
        error_of("evaluate", path, "--columns", f"user={HOSTILE}"),
        error_of("evaluate", path, "--preset", HOSTILE),
        error_of("evaluate", HOSTILE),
    ]
    for content in (HEADING.replace("item", HOSTILE) + ROWS, f"{HEADING}ann,a,{HOSTILE},2\n"):
        path.write_text(content, encoding="utf-8")
        texts.append(error_of("evaluate", path))
    for text in texts:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), text
        assert "[2J" in text


def test_per_user_scores_contain_no_formulas(path: Path) -> None:
    """Quotes mark text that a spreadsheet would compute."""
    path.write_text(HEADING + "=1+1,a,2,5\n=1+1,b,1,2\n'=x,a,1,1\n'=x,b,2,2\n")
    assert run("evaluate", path, "--per-user", "u.csv").exit_code == 0
    lines = path.with_name("u.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["user", "''=x", "'=1+1"]
