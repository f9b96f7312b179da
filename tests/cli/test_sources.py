"""Where predictions come from, and where what was found goes: streams, archives, other forms."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.commands import refusal, run

if TYPE_CHECKING:
    from pathlib import Path

HEADING = "user,item,estimated,true\n"
ROWS = "ann,a,4.5,5\nann,b,3.0,2\nann,c,2.0,4\nbob,a,2.0,4\nbob,b,3.5,3\n"
LABELS = "user,item,true\n1,10,5\n1,11,3\n2,10,4\n"
RESULTS = "user,item,rank\n1,10,1\n1,12,2\n2,11,1\n"
QRELS = "301 0 d1 2\n301 0 d2 1\n302 0 d1 1\n"
RUN = "301 Q0 d2 1 0.9 tag\n301 Q0 d3 2 0.5 tag\n302 Q0 d1 1 0.9 tag\n"


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    files = {"p.csv": HEADING + ROWS, "l.csv": LABELS, "r.csv": RESULTS, "q": QRELS, "run": RUN}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def shell(line: str, content: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell, in which ``$run`` is the program, from the current folder."""
    line = line.replace("$run", f"{sys.executable} -m recsys_ndcg")
    return subprocess.run(  # noqa: S603 - our own
        ["/bin/bash", "-c", line], input=content, capture_output=True, check=False
    )


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_a_dash_is_standard_input(folder: Path, packed: Any) -> None:
    """Packed, too."""
    expected = run("evaluate", "p.csv").stdout
    result = run("evaluate", "-", given=packed((folder / "p.csv").read_bytes()))
    assert (result.exit_code, result.stdout) == (0, expected), result.stderr


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "error: standard input: the file is empty."),
        (b"\n \n", "error: standard input: the file is empty."),
        (b"PAR1\x15\x04", "standard input: that is Parquet, which is read from a file whose name"),
        (b"\x80\x04]", "standard input: that is a pickle"),
        (bytes(range(256)), "standard input: not text in UTF-8"),
        (b"\x1f\x8b\x08 no", "standard input: cannot be unpacked ("),
        (HEADING.encode() + b"ann,a,x,1\n", "standard input, line 2: estimated is 'x'"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_cannot_be_read_from_standard_input_is_told(content: bytes, match: str) -> None:
    """By what it is called."""
    ran = shell("$run evaluate -", content)
    assert (ran.returncode, ran.stdout) == (2, b"")
    (line,) = ran.stderr.decode().splitlines()
    assert match in line


@pytest.mark.usefixtures("folder")
def test_standard_input_that_is_closed_is_told() -> None:
    """As a daemon has it."""
    ran = shell("$run evaluate - <&-")
    assert ran.returncode == 2
    assert ran.stderr.decode().startswith("error: ")
    assert len(ran.stderr.splitlines()) == 1


@pytest.mark.usefixtures("folder")
def test_two_that_are_standard_input_are_refused() -> None:
    """It is read once."""
    message = refusal("evaluate", "--labels", "-", "--results", "-")
    assert "--labels and --results: only one can be standard input" in message
    assert "--format csv: standard output, '-', is for another file" in refusal(
        "evaluate", "p.csv", "--per-user", "-", "--format", "csv"
    )
    assert "--json -: this is the file of --per-user" in refusal(
        "evaluate", "p.csv", "--per-user", "-", "--json", "-"
    )


def test_what_goes_through_a_pipe_is_clean(folder: Path) -> None:
    """The table stands on the other stream."""
    ran = shell("$run evaluate p.csv --threshold 4 --json -")
    expected = rn.evaluate("p.csv", threshold=4)
    (folder / "report.json").write_bytes(ran.stdout)
    assert rn.Report.load(folder / "report.json") == expected
    assert "ndcg@10" in ran.stderr.decode()
    ran = shell("$run evaluate p.csv --threshold 4 --per-user -")
    scores = pd.read_csv(io.BytesIO(ran.stdout), index_col="user")
    pd.testing.assert_frame_equal(scores, expected.per_user)
    assert "recall@10" in ran.stderr.decode()
    ran = shell("$run evaluate p.csv --per-user - > /dev/full")
    assert ran.returncode == 2
    assert ran.stderr.decode().splitlines()[-1].startswith("error: The output cannot be written")
    ran = shell("($run evaluate p.csv --json -; echo $? >&2) | true")
    assert ran.stderr.decode().splitlines()[-1] in {"0", "1"}
    assert b"Traceback" not in ran.stderr


@pytest.mark.parametrize("name", ["u.csv", "u.csv.gz", "u.csv.bz2", "u.csv.xz", "U.PARQUET"])
def test_scores_of_users_are_written_as_their_name_says(folder: Path, name: str) -> None:
    """And are read back by pandas."""
    assert run("evaluate", "p.csv", "--threshold", "4", "--per-user", name).exit_code == 0
    path = folder / name
    found = pd.read_parquet(path) if name == "U.PARQUET" else pd.read_csv(path)
    expected = rn.evaluate("p.csv", threshold=4).per_user
    pd.testing.assert_frame_equal(found.set_index("user"), expected)


@pytest.mark.parametrize("name", ["u", "u.txt", "u.xlsx", "u.feather", "u.csv.zip", ".csv/"])
def test_scores_of_users_are_written_as_nothing_else(folder: Path, name: str) -> None:
    """Before anything is computed: no file is there."""
    if name == ".csv/":
        name = "u.json"
    message = refusal("evaluate", "p.csv", "--per-user", name)
    assert f"error: {name}: scores of users are written as CSV or Parquet" in message
    assert ".csv.gz" in message
    assert not (folder / name).exists()


def test_ids_that_parquet_cannot_hold_are_told() -> None:
    """With what can."""
    report = rn.evaluate({"ann": [(1, 2), (2, 1)], 3: [(1, 2), (2, 1)]})
    from recsys_ndcg.rendering.exports import per_user_writer  # noqa: PLC0415

    with pytest.raises(rn.InvalidInputError, match="no column for these ids of users"):
        per_user_writer(".parquet")(report.per_user)


@pytest.mark.parametrize("command", ["evaluate", "explain", "reconcile"])
@pytest.mark.usefixtures("folder")
def test_labels_and_results_or_trec_stand_in_place_of_a_file(command: str) -> None:
    """Packed as well, for every command that reads predictions."""
    more = {"explain": ["--user", "1"], "reconcile": ["--metric", "ndcg@10"]}.get(command, [])
    result = run(command, "--labels", "l.csv", "--results", "r.csv", *more)
    assert result.exit_code == 0, result.stderr
    lists = rn.RankedLists.from_labels("l.csv", "r.csv")
    if command == "evaluate":
        assert f"{rn.evaluate(lists)['ndcg@10']:.4f}" in result.stdout
    more = ["--user", "301"] if command == "explain" else more
    with gzip.open("run.gz", "wb") as file:
        file.write(RUN.encode())
    result = run(command, "--qrels", "q", "--run", "run.gz", *more)
    assert result.exit_code == 0, result.stderr
    if command == "evaluate":
        expected = rn.evaluate(rn.RankedLists.from_trec("q", "run"))["ndcg@10"]
        assert f"{expected:.4f}" in result.stdout
        assert rn.evaluate({"qrels": "q", "run": "run"})["ndcg@10"] == expected


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ([], "by FILE, or --labels and --results, or --qrels and --run. Given: none of them."),
        (["--labels", "l.csv"], "Given: --labels."),
        (["p.csv", "--run", "run"], "Given: FILE and --run."),
        (["--qrels", "q", "--results", "r.csv"], "Given: --results and --qrels."),
        (
            ["--qrels", "q", "--run", "run", "--sep", ";"],
            "qrels and runs: they have a form of their own",
        ),
        (["--qrels", "q", "--run", "run", "--columns", "user=u"], "they have a form of their own"),
        (["--qrels", "q", "--run", "q"], "'301 0 d1 2' is not 'topic Q0 document rank score tag'"),
        (["--qrels", "none", "--run", "run"], "none: cannot be read (No such file"),
        (["p.csv", "--sep", ";;"], "separator (--sep) is one sign"),
        (["p.csv", "--decimal", "x"], "decimal (--decimal) is '.' or ','"),
        (["p.csv", "--encoding", "x"], "encoding (--encoding) is the name of one"),
        (["p.csv", "--sep", ";"], "'user,item,estimated,true'. If ',' separates fields: --sep ','"),
        (["p.csv", "--no-heading"], "line 1: estimated is 'estimated', which is not a number"),
        (["p.csv", "--format", "mardkown"], "--format must be one of 'text', 'markdown'"),
        (["p.csv", "-k", "5", "-k", "x"], "-k must be whole numbers, such as 10 or 5,10, not '5,x"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_not_said_in_one_way_is_asked_for(words: list[str], match: str) -> None:
    """With the options that say it."""
    assert match in refusal("evaluate", *words)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (ROWS.encode(), ["--no-heading"]),
        (b"5,b,3.0,ann\n", ["--no-heading", "--columns", "user=4,item=2,estimated=3,true=1"]),
        ((HEADING + "jörg,a,1,2\n").encode("latin-1"), ["--encoding", "latin-1"]),
        ((HEADING + "jörg,a,1,2\n").encode("utf-16"), []),
        ((HEADING + "ann,a,1,2\n").replace(",", "^").encode(), ["--sep", "^"]),
        ((HEADING + "ann,a,1,2\n").replace(",", "\t").encode(), ["--sep", "tab"]),
        (b"user;item;estimated;true\nann;a;1,5;2\n", ["--decimal", ","]),
    ],
)
def test_a_file_is_read_as_it_is_said_to_be_written(
    folder: Path, content: bytes, words: list[str]
) -> None:
    """Heading, columns by place, encoding, separator, decimal comma."""
    (folder / "x.csv").write_bytes(content)
    result = run("evaluate", "x.csv", *words)
    assert result.exit_code == 0, result.stderr


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (ROWS.encode(), "If the file has no heading: --no-heading"),
        ((HEADING + "jörg,a,1,2\n").encode("latin-1"), "--encoding latin-1"),
        (b"user;item;estimated;true\nann;a;1,5;2\n", "--decimal ','"),
        (HEADING.encode() + b"ann,a,4.5\n", "line 2: 3 fields in place of 4: 'ann,a,4.5'. Was it"),
    ],
)
def test_a_file_that_is_written_otherwise_is_told_how_to_say_it(
    folder: Path, content: bytes, match: str
) -> None:
    """With the option."""
    (folder / "x.csv").write_bytes(content)
    assert match in refusal("evaluate", "x.csv")


def test_damaged_archives_and_other_suffixes_are_told(folder: Path) -> None:
    """In one line each."""
    packed = gzip.compress((HEADING + ROWS).encode() * 20)
    (folder / "cut.csv.gz").write_bytes(packed[:-20])
    assert "cut.csv.gz: cannot be unpacked (" in refusal("evaluate", "cut.csv.gz")
    (folder / "p.parquet.gz").write_bytes(packed)
    assert "Unpack it first" in refusal("evaluate", "p.parquet.gz")
    (folder / "p.zip").write_bytes(packed)
    assert "p.zip: cannot be unpacked (" in refusal("evaluate", "p.zip")


def test_lines_of_json_and_feather_are_read(folder: Path) -> None:
    """By their names."""
    table = pd.read_csv("p.csv")
    table.to_json("p.jsonl", orient="records", lines=True)
    table.to_feather("p.feather")
    expected = run("evaluate", "p.csv").stdout
    for name in ("p.jsonl", "p.feather"):
        assert run("evaluate", name).stdout == expected
        assert "say how text is written" in refusal("evaluate", name, "--sep", ";")
    assert json.loads((folder / "p.jsonl").read_text().splitlines()[0])["user"] == "ann"


def test_the_size_of_the_catalogue_is_given_with_lists_alone(folder: Path) -> None:
    """Chance is then that of lists drawn from it."""
    (folder / "labels.csv").write_text("user,item,true\nann,a,5\nann,b,2\n")
    (folder / "top.csv").write_text("user,item,rank\nann,a,1\nann,x,2\n")
    words = ("evaluate", "--labels", folder / "labels.csv", "--results", folder / "top.csv")
    shown = [run(*words, "--format", "csv", *size).stdout for size in ((), ("--n-items", "400"))]
    chance = [float(pd.read_csv(io.StringIO(one))["chance"][0]) for one in shown]
    assert chance[0] > 0.5
    assert chance[1] < 0.01
    assert "--n-items tells what results, or a run, were chosen from" in refusal(
        "evaluate", folder / "labels.csv", "--n-items", "9"
    )
