"""Arguments of every kind: each is understood, or refused in one line that can do no harm."""

from __future__ import annotations

import os
import random
import re
from typing import TYPE_CHECKING

import pytest

import recsys_ndcg as rn
from recsys_ndcg.errors.wording import escape_invisible
from tests.commands import refusal, run
from tests.errors import rejects
from tests.fuzz import command_line

if TYPE_CHECKING:
    from pathlib import Path

HEADING = "user,item,estimated,true\n"
ROWS = "ann,a,4.5,5\nann,b,3.0,2\nann,c,2.0,4\nbob,a,2.0,4\nbob,b,3.5,3\n"
SIGNATURE = rn.Convention().signature


@pytest.fixture(name="path")
def _path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "p.csv"
    path.write_text(HEADING + ROWS)
    return path


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (
            ["--convention", f"{SIGNATURE}|threshold:4.0.0"],
            "threshold must be a finite number, not '4.0.0'",
        ),
        (["--convention", f"{SIGNATURE}|threshold:1e400"], "threshold must be a finite number"),
        (["--convention", "x|threshold:4.0.0"], "lacks gain"),
        (["-k", "1e9"], "-k must be whole numbers"),
        (["-k", "9" * 5000], "-k must be whole numbers"),
        (["-k", "99999999999999999999"], "k must be a whole number"),
        (["--metrics", "ndcg@99999999999999999999"], "k must be a whole number"),
        (["--metrics", "ndcg@_"], "'_' is not a number"),
        (["--metrics", "ndcg@" + "9" * 5000], "is not a number"),
        (["--metrics", "rbp(p=1or 2)"], "is not a number"),
        (["--metrics", "os:system"], "'system' is no metric"),
        (["--metrics", "ends:x"], "cannot be imported"),
        (["--preset", "sklaern"], "Did you mean 'sklearn'"),
        (["--columns", "user=a,item=a"], "user and item would both be read from the column 'a'"),
        (["--columns", "user=item"], "user and item would both be read from the column 'item'"),
        (["--columns", "estimated=true"], "estimated and true would both be read"),
        (["--columns", "item=estimated"], "item and estimated would both be read"),
        (["--threshold", "inf"], "threshold must be a finite number"),
    ],
)
def test_an_argument_that_makes_no_sense_is_refused(
    path: Path, words: list[str], match: str
) -> None:
    """In one line."""
    (path.parent / "ends.py").write_text("class End(BaseException): pass\nraise End\n")
    assert match in refusal("evaluate", path, *words)


@pytest.mark.parametrize("words", [["--seed", "99999999999"], ["--seed", "4294967296"]])
def test_a_seed_is_one_that_numpy_takes(path: Path, words: list[str]) -> None:
    """And not more."""
    assert "--seed must be a whole number from 0 to 4294967295" in refusal(
        "demo", "--ratings", path, *words
    )


@pytest.mark.parametrize("name", ["n" * 300, "", ".", "\udcff", "n" * 300 + ".parquet"])
def test_a_name_that_is_no_file_is_refused(path: Path, name: str) -> None:
    """By whatever reads it."""
    assert path.exists()
    assert "cannot be read" in refusal("evaluate", name)
    assert "cannot be read" in refusal("demo", "--ratings", name)


def test_two_of_our_columns_are_not_read_from_one() -> None:
    """Nor from a table in memory; what is exchanged is no such case."""
    table = {"a": ["ann"], "user": ["x"], "item": ["y"], "estimated": [1.0], "true": [1.0]}
    for columns, match in (
        ({"user": "a", "item": "a"}, "user and item would both be read from the column 'a'"),
        ({"true": "estimated"}, "estimated and true would both be read"),
    ):
        with rejects(match):
            rn.evaluate(table, columns=columns)
    with pytest.warns(rn.DataWarning, match="threshold=1 is at"):  # of the only row
        swapped = rn.evaluate(table, columns={"user": "item", "item": "user"})
    assert swapped.users.tolist() == ["y"]


def test_a_column_is_read_as_what_it_is_called(path: Path) -> None:
    """Also where that is our name for another one."""
    path.write_text("item,user,rank,estimated\n" + ROWS)
    columns = "user=item,item=user,estimated=rank,true=estimated"
    report = rn.evaluate(path, columns=dict(one.split("=") for one in columns.split(",")))
    assert report.users.tolist() == ["ann", "bob"]
    assert run("evaluate", path, "--columns", columns).exit_code == 0


@pytest.mark.parametrize("option", ["--per-user", "--json"])
@pytest.mark.parametrize("way", ["same", "around", "link", "hard link"])
def test_nothing_is_written_onto_what_is_read(path: Path, option: str, way: str) -> None:
    """By whichever name."""
    other = path.with_name("other.csv")
    if way == "around":
        other = path.parent / ".." / path.parent.name / path.name
    elif way == "link":
        other.symlink_to(path)
    elif way == "hard link":
        os.link(path, other)
    message = refusal("evaluate", path, option, path if way == "same" else other)
    assert f"{option} " in message
    assert "this is the file of the data" in message
    assert path.read_text() == HEADING + ROWS


def test_two_outputs_are_two_files(path: Path) -> None:
    """Also before there is any; nowhere is no file."""
    message = refusal("evaluate", path, "--per-user", "new", "--json", path.parent / "new")
    assert "this is the file of --per-user" in message
    assert not path.with_name("new").exists()
    nowhere = run("evaluate", path, "--per-user", "/dev/null", "--json", "/dev/null")
    assert nowhere.exit_code == 0


HOSTILE = "\x1b[2J\u202e\x9b:car:[red]"


def test_ids_and_headings_do_not_act(path: Path) -> None:
    """Nor do they become colours or pictures, which are read from brackets and colons."""
    seen = escape_invisible(HOSTILE)
    path.write_text(HEADING + f"{HOSTILE},{HOSTILE},2,5\n{HOSTILE},b,1,2\n", encoding="utf-8")
    explained = run("explain", path, "--user", HOSTILE)
    assert seen in explained.stdout
    texts = [
        explained.stdout + explained.stderr,
        refusal("explain", path, "--user", HOSTILE + "x"),
        refusal("evaluate", path, "--metrics", HOSTILE),
        refusal("evaluate", path, "--columns", f"user={HOSTILE}"),
        refusal("evaluate", path, "--preset", HOSTILE),
        refusal("evaluate", HOSTILE),
    ]
    path.write_text(HEADING.replace("item", HOSTILE) + ROWS, encoding="utf-8")
    texts.append(refusal("evaluate", path))
    path.write_text(HEADING + f"ann,a,{HOSTILE},2\n", encoding="utf-8")
    texts.append(refusal("evaluate", path))
    for text in texts:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", text), text
        assert "[2J" in text


def test_scores_of_users_hold_no_formula(path: Path) -> None:
    """And are read back as they were."""
    path.write_text(HEADING + "=1+1,a,2,5\n=1+1,b,1,2\n'=x,a,1,1\n'=x,b,2,2\n")
    assert run("evaluate", path, "--per-user", "u.csv").exit_code == 0
    lines = path.with_name("u.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["user", "''=x", "'=1+1"]


def test_random_arguments_are_understood_or_refused(tmp_path: Path) -> None:
    """A taste of what `tests.fuzz` runs for longer."""
    draw = random.Random(0)  # noqa: S311 - no secret
    for _ in range(30):
        command_line.run(command_line.case(draw), tmp_path)
