"""The files that commands read and write: formats, archives, standard streams."""

from __future__ import annotations

import gzip
import io
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.cli.conftest import HEADING, ROWS
from tests.commands import error_of, run

TABLE = HEADING + ROWS
LABELS = "user,item,true\n1,10,5\n1,11,3\n2,10,4\n"
RESULTS = "user,item,rank\n1,10,1\n1,12,2\n2,11,1\n"
QRELS = "301 0 d1 2\n301 0 d2 1\n302 0 d1 1\n"
RUN = "301 Q0 d2 1 0.9 tag\n301 Q0 d3 2 0.5 tag\n302 Q0 d1 1 0.9 tag\n"


@pytest.fixture(name="joined")
def _joined(path: Path) -> Path:
    """Return the current folder, with labels and results, and TREC files."""
    for name, text in {"l.csv": LABELS, "r.csv": RESULTS, "q": QRELS, "run": RUN}.items():
        path.with_name(name).write_text(text)
    return path.parent


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("\ufeff" + TABLE, []),
        (TABLE.replace("\n", "\r\n") + "\r\n\r\n", []),
        (TABLE.rstrip(), []),
        (TABLE.replace("ann", '"ann"') + "\n\n", []),
        (TABLE.replace(",", ";"), []),
        (TABLE.encode("utf-16"), []),
        (TABLE.replace("ann", "jörg").encode("latin-1"), ["--encoding", "latin-1"]),
        (TABLE.replace(",", "^"), ["--sep", "^"]),
        (TABLE.replace(",", "\t"), ["--sep", "tab"]),
        (TABLE.replace(",", ";").replace(".", ","), ["--decimal", ","]),
        (ROWS, ["--no-heading"]),
        (ROWS, ["--no-heading", "--columns", "user=1,item=2,estimated=3,true=4"]),
        (gzip.compress(TABLE.encode(), mtime=0), []),
    ],
)
def test_usual_forms_of_text_are_read(path: Path, content: str | bytes, words: list[str]) -> None:
    """From a file and from standard input, which needs no name if it has data."""
    expected = run("evaluate", path).stdout
    packed = isinstance(content, bytes) and content.startswith(b"\x1f\x8b")
    content = content.encode() if isinstance(content, str) else content
    other = path.with_name("x.csv.gz" if packed else "x.csv")
    other.write_bytes(content)
    assert run("evaluate", other, *words).stdout == expected
    for dash in (["-"], []):
        assert run("evaluate", *dash, *words, stdin=content).stdout == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": the file is empty."),
        (HEADING, "no rows"),
        (bytes(range(256)), ": not text in UTF-8"),
        ("a,b,c\n1,2,3\n", "no columns 'user', 'item', 'estimated' and 'true'; it has a, b, c"),
        (HEADING + "ann,a,high,5\n", ", line 2: estimated is 'high'"),
        (HEADING + "ann,a,1,5,9\n", "line 2"),
        (HEADING + "ann,a,1,5\nann,b\n", ", line 3: 2 fields in place of 4: 'ann,b'. Was it"),
        (HEADING + "ann,a,1,5\nann,a,2,5\n", "duplicates"),
        ("user;item;estimated;true\nann;a;1,5;2\n", "give 'FILE,decimal=,'"),
    ],
)
def test_text_that_is_no_table_is_an_error(path: Path, content: str | bytes, message: str) -> None:
    """With the line and the option that reads it, for a file and for standard input."""
    content = content.encode() if isinstance(content, str) else content
    path.write_bytes(content)
    assert message in error_of("evaluate", path)
    assert message in error_of("explain", path, "--user", "ann")
    prefix = "error: standard input" if message[0] in ":," else ""
    assert prefix + message in error_of("evaluate", "-", stdin=content)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("-", b"PAR1\x15\x04", "standard input: this is Parquet, which is read only from a file"),
        ("-", b"\x80\x04]", "standard input: this is a pickle"),
        ("-", b"\x1f\x8b\x08 no", "standard input: cannot be decompressed ("),
        (
            "cut.csv.gz",
            gzip.compress(TABLE.encode() * 20, mtime=0)[:-20],
            "cannot be decompressed (",
        ),
        ("p.parquet.gz", b"", "Unpack it first"),
        ("p.zip", b"PK", "p.zip: cannot be decompressed ("),
    ],
)
def test_damaged_archives_are_errors(path: Path, name: str, content: bytes, message: str) -> None:
    """Of one line."""
    if name != "-":
        path.with_name(name).write_bytes(content)
    assert message in error_of("evaluate", name, stdin=content)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        *(("none.csv", "No such file"), (".", "Is a directory")),
        *(("n" * 300, ""), ("", ""), ("\udcff", "")),
    ],
)
@pytest.mark.usefixtures("path")
def test_a_missing_file_is_an_error(name: str, reason: str) -> None:
    """For every command that reads one."""
    assert f"cannot be read ({reason}" in error_of("evaluate", name)
    if find_spec("surprise"):
        assert "cannot be read" in error_of("demo", "--ratings", name)
    assert "cannot be read (File name too long)" in error_of("leaderboard", "x" * 300)


@pytest.mark.usefixtures("joined")
def test_standard_streams_are_used_once() -> None:
    """One input and one output of a command."""
    message = error_of("evaluate", "--labels", "-", "--results", "-")
    assert "--labels and --results: only one can be standard input" in message
    words = ["evaluate", "p.csv", "--per-user", "-"]
    message = error_of(*words, "--format", "csv")
    assert "--format csv: a file already uses standard output, '-'" in message
    assert "--json -: this is also the file of --per-user" in error_of(*words, "--json", "-")


def test_a_file_on_standard_output_leaves_the_table_on_standard_error(joined: Path) -> None:
    """So that a pipe gets only the file."""
    expected = rn.evaluate("p.csv", threshold=4)
    result = run("evaluate", "p.csv", "--threshold", "4", "--json", "-")
    (joined / "report.json").write_text(result.stdout)
    assert rn.Report.load(joined / "report.json") == expected
    assert "ndcg@10" in result.stderr
    result = run("evaluate", "p.csv", "--threshold", "4", "--per-user", "-")
    scores = pd.read_csv(io.StringIO(result.stdout), index_col="user")
    pd.testing.assert_frame_equal(scores, expected.per_user)
    assert "recall@10" in result.stderr


@pytest.mark.parametrize("name", ["u.csv", "u.csv.gz", "u.csv.bz2", "u.csv.xz", "U.PARQUET"])
@pytest.mark.usefixtures("path")
def test_per_user_scores_are_written_in_the_format_of_the_suffix(name: str) -> None:
    """And are read back by pandas."""
    assert run("evaluate", "p.csv", "--threshold", "4", "--per-user", name).exit_code == 0
    found = pd.read_parquet(name) if name == "U.PARQUET" else pd.read_csv(name)
    expected = rn.evaluate("p.csv", threshold=4).per_user
    pd.testing.assert_frame_equal(found.set_index("user"), expected)


@pytest.mark.parametrize("name", ["u", "u.xlsx", "u.csv.zip", "u.json"])
def test_per_user_scores_in_another_format_are_an_error(path: Path, name: str) -> None:
    """Before anything is computed: the file is not created."""
    message = error_of("evaluate", path, "--per-user", name)
    assert f"error: {name}: scores of users are written as CSV or Parquet" in message
    assert ".csv.gz" in message
    assert not path.with_name(name).exists()


@pytest.mark.parametrize("command", ["evaluate", "explain", "reconcile"])
def test_labels_with_results_or_trec_files_replace_the_file(command: str, joined: Path) -> None:
    """Packed as well, for every command that reads predictions."""
    (joined / "run.gz").write_bytes(gzip.compress(RUN.encode()))
    lists = rn.RankedLists.from_labels("l.csv", "r.csv"), rn.RankedLists.from_trec("q", "run")
    for words, user, one in (
        (["--labels", "l.csv", "--results", "r.csv"], "1", lists[0]),
        (["--qrels", "q", "--run", "run.gz"], "301", lists[1]),
    ):
        more = {"explain": ["--user", user], "reconcile": ["--metric", "ndcg@10"]}
        result = run(command, *words, *more.get(command, []))
        assert result.exit_code == 0, result.stderr
        if command == "evaluate":
            assert f"{rn.evaluate(one)['ndcg@10']:.4f}" in result.stdout
    assert rn.evaluate({"qrels": "q", "run": "run"}) == rn.evaluate(lists[1])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "No input. Pass FILE, '-' for standard input, --results with or without --labels, or"),
        (["--labels", "l.csv"], "Given: --labels."),
        (["p.csv", "--run", "run"], "Given: FILE and --run."),
        (["--qrels", "q", "--results", "r.csv"], "Given: --results and --qrels."),
        (["--qrels", "q", "--run", "run", "--sep", ";"], "which have a fixed format"),
        (["--qrels", "q", "--run", "q"], "'301 0 d1 2' is not 'topic Q0 document rank score tag'"),
        (["--qrels", "none", "--run", "run"], "none: cannot be read (No such file"),
    ],
)
@pytest.mark.usefixtures("joined")
def test_the_input_is_given_in_one_way(words: list[str], message: str) -> None:
    """The error lists the options."""
    assert message in error_of("evaluate", *words)


@pytest.mark.usefixtures("path")
def test_json_lines_and_parquet_files_are_read() -> None:
    """By their names; options of text do not apply."""
    table = pd.read_csv("p.csv")
    table.to_json("p.jsonl", orient="records", lines=True)
    table.to_parquet("p.parquet")
    expected = run("evaluate", "p.csv").stdout
    for name in ("p.jsonl", "p.parquet"):
        assert run("evaluate", name).stdout == expected
        assert "are for CSV and similar text" in error_of("evaluate", name, "--sep", ";")
