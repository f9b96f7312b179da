"""A file that cannot be read, parsed or written is rejected with its name, the line and why."""

from __future__ import annotations

import io
import os
import pickle
import re
import socket
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pandas as pd
import pytest

import recsys_ndcg as rn
from recsys_ndcg.experiments import from_toml
from tests.errors import assert_rejected, rejects
from tests.input.tables import write

HEADING = "user,item,estimated,true\n"
GOOD = "a,x,1,2\na,y,2,1\n"
RUN = {"1": {"d1": 1.0}}


TABLES = [
    (HEADING + "a\0b,x,1,2\n", "p.csv.*line 2"),
    (HEADING + "a,x,1,2\na,y,1,3,9\n", "p.csv, line 3: 5 fields in place of 4. Put"),
    (HEADING + "a,x,1,2\n\n\na,y\n", "line 5: 2 fields"),
    (HEADING + '"a\nb",x,1,2\na,y,2\n', "line 3: 3 fields"),
    (HEADING + "a,x,1,2\na,y,,2\n", "p.csv, line 3: .*estimated"),
    (HEADING + "a,x,1e400,2\n", "p.csv, line 2: .*estimated"),
    (HEADING + ",x,1,2\na,y,2,1\n", "p.csv, line 2: .*user"),
    (HEADING + "a,x,1,2\na, ,2,1\n", "p.csv, line 3: .*item"),
    (HEADING + '"a,x,1,2\na,y,2,1\n', r"p.csv: cannot be parsed \(EOF inside .*in double quotes"),
    (HEADING + "a,x,1,two\n", "line 2: true is 'two', .*name the right column with colu"),
    ("user,item,est,stars\n" + GOOD, r"columns=.'true': 'stars'"),
    ("user,x," + "9" * 5000 + "\na,b,1\na,c,2\n", "no columns 'item', 'estimated' and 'true'"),
    ("user,item,estimated,true,true\na,x,1,2,3\n", "'true'.*(twice|2 times|once)"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "match"), TABLES)
def test_a_file_without_predictions_is_rejected(tmp_path: Path, text: str, match: str) -> None:
    """An empty field is a missing number or a missing id, never an id of its own."""
    assert_rejected(match, rn.evaluate, str(write(tmp_path, text)))


PROPOSED: list[tuple[str | bytes, str, Any]] = [
    ("user;item;estimated;true\na;x;1,5;2\na;y;2,5;3\n", "decimal", ","),
    ((HEADING + GOOD).replace(",", " "), "separator", "space"),
    ((HEADING + GOOD).encode("utf-16-le"), "encoding", "utf-16-le"),
    ((HEADING + GOOD).encode("utf-16-be"), "encoding", "utf-16-be"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "option", "value"), PROPOSED)
def test_the_proposed_text_format_works(tmp_path: Path, text: Any, option: str, value: Any) -> None:
    """Beside the path."""
    path = write(tmp_path, text)
    with rejects(re.escape(f"give (path, rn.TextFormat({option}={value!r}))")):
        rn.evaluate(path)
    assert rn.evaluate((path, rn.TextFormat(**{option: value}))).mean.notna().all()


GUESSED: list[tuple[str | bytes, str, Any]] = [
    ((HEADING + GOOD).encode("latin-1") + b"\xfc,x,1,3\n", "encoding", "latin-1"),
    (GOOD, "heading", False),
]


@pytest.mark.parametrize(("text", "option", "value"), GUESSED)
def test_a_format_that_is_guessed_is_said(
    tmp_path: Path, text: Any, option: str, value: Any
) -> None:
    """And the option that the warning names gives the same report, without it."""
    path = write(tmp_path, text)
    with pytest.warns(
        rn.DataWarning, match=re.escape(f"give (path, rn.TextFormat({option}={value!r}))")
    ):
        guessed = rn.evaluate(path)
    report = rn.evaluate((path, rn.TextFormat(**{option: value})))  # a warning would be an error
    assert report.per_user.equals(guessed.per_user)


@pytest.mark.parametrize("end_of_line", [",\n", "\t\r", "|\r\n", ","])
def test_a_file_of_very_many_columns_is_rejected_at_once(tmp_path: Path, end_of_line: str) -> None:
    """Reading each column would take minutes."""
    with rejects("p.csv: more than 10000 columns in line 1. Keep"):
        rn.evaluate(write(tmp_path, end_of_line[0] * 99_999 + end_of_line + GOOD))


@pytest.mark.parametrize("line", ["\n", "\r\n", "a\n"])
def test_mostly_blank_lines_are_rejected_before_they_are_parsed(tmp_path: Path, line: str) -> None:
    """Each blank line would become a row of missing cells."""
    heading = HEADING if line != "a\n" else HEADING.strip() + ",x" * 900 + "\n"
    with rejects("p.csv: most lines are blank, or have far fewer columns than the"):
        rn.evaluate(write(tmp_path, heading + GOOD + line * 1_000_000))
    assert rn.evaluate(write(tmp_path, HEADING + GOOD + "\n" * 1000)).counts["ratings"] == 2


def test_a_carriage_return_ends_a_line(tmp_path: Path) -> None:
    """As on an old Macintosh; otherwise line 1 would have thousands of columns."""
    rows = "".join(f"a,{item},{item},{item % 3}\r" for item in range(2000))
    path = write(tmp_path, HEADING.replace("\n", "\r") + rows)
    assert rn.evaluate(path).counts["ratings"] == 2000


PATHS: list[tuple[str | Path, str]] = [
    *((f"no.{end}", f"no.{end}.*: cannot be read.*No such") for end in ("csv", "parquet", "pkl")),
    ("a\ud800b.csv", "cannot be the name of a file"), ("a\0b.csv", "cannot be the name of a file"),
    (Path(), "cannot be read.*Is a directory"), ("", "cannot be the name of a file"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "match"), PATHS)
def test_a_path_without_a_file_is_rejected(path: str | Path, match: str) -> None:
    """Also as qrels."""
    assert_rejected(match, rn.evaluate, path)
    if path:
        assert_rejected(match, rn.RankedLists.from_trec, path, RUN)


def _read_stream(path: Path) -> None:
    with path.open("rb") as stream:
        rn.RankedLists.from_file(stream)


ROWS = [("a", "x", 1.0)]
_READERS: dict[str, Callable[[Any], Any]] = {
    "evaluate": rn.evaluate, "a stream": _read_stream, "a report": rn.Report.load,
    "labels": lambda path: rn.RankedLists.from_labels(path, ROWS), "an experiment": from_toml,
    "results": partial(rn.RankedLists.from_labels, ROWS), "a comparison": rn.Comparison.load,
    "qrels": lambda path: rn.RankedLists.from_trec(path, RUN),
    "run": partial(rn.RankedLists.from_trec, RUN),
    "segments": rn.evaluate({"a": [(3, 4), (2, 1)]}).by,
    "in a limit": partial(rn.evaluate, memory_limit="4GB"),
}  # fmt: skip


@pytest.mark.parametrize("reader", _READERS)
@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.csv.gz", "p.pickle"])
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_device_is_not_read(tmp_path: Path, reader: str, name: str) -> None:
    """One that never ends is rejected by every reader; /dev/null is an empty file."""
    path = tmp_path / name
    path.symlink_to("/dev/zero")
    with rejects("this is a device, which may be endless|Is not a file|with a memory limit"):
        _READERS[reader](path)
    if reader != "an experiment":
        with rejects("empty|no entries|not JSON|not a whole pickle|cannot be |within a memory"):
            _READERS[reader](Path("/dev/null"))


@pytest.mark.parametrize("how", [{}, {"memory_limit": "8GB"}], ids=["memory", "disk"])
def test_an_address_is_not_fetched(monkeypatch: pytest.MonkeyPatch, how: Any) -> None:
    """It is the path of a file that does not exist."""
    if how:
        pytest.importorskip("duckdb")
    opened = Mock(side_effect=AssertionError("opened a connection"))
    monkeypatch.setattr(socket, "socket", opened)
    for address in ("https://localhost/p.csv", "s3://bucket/p.parquet", "file:///p.csv"):
        assert_rejected("p.*cannot be read .No such file", rn.evaluate, address, **how)
    assert not opened.called


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    """A shell passes <(...) as one."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[HEADING + GOOD])
    writer.start()
    assert rn.evaluate(pipe).counts["ratings"] == 2
    writer.join()


@pytest.fixture(name="odd")
def _odd(tmp_path: Path) -> Path:
    """Return the beginning of a name that is not UTF-8."""
    odd = tmp_path / os.fsdecode(b"p\xff")
    try:
        odd.touch()
    except OSError:
        pytest.skip("this system has no such names")
    return odd


@pytest.mark.parametrize("end", [".csv", ".parquet", ".pickle"])
def test_a_file_whose_name_is_not_utf_8_is_read_or_rejected(odd: Path, end: str) -> None:
    """DuckDB accepts no such names; messages show the invalid byte as an escape."""
    path = odd.with_name(odd.name + end)
    rows = [("a", "x", 1.0, 2.0), ("a", "y", 2.0, 1.0)]
    frame = pd.DataFrame(rows, columns=["user", "item", "estimated", "true"])
    save: Any = {".csv": partial(frame.to_csv, index=False), ".parquet": frame.to_parquet,
                 ".pickle": partial(pickle.dump, rows)}  # fmt: skip
    save[end](packed := io.BytesIO())
    path.write_bytes(packed.getvalue())
    assert rn.evaluate(path) == rn.evaluate(frame)
    match = r"p\\udcff.*: with a memory limit.*(UTF-8|Parquet and CSV are read)"
    assert_rejected(match, rn.evaluate, path, memory_limit="4GB")
    path.write_bytes(b"PAR1")
    assert_rejected(r"p\\udcff|no column", rn.evaluate, path)


def test_an_odd_temporary_folder_is_rejected(odd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """DuckDB could not write there."""
    folder, path = odd.with_name(odd.name + ".d"), write(odd.parent, HEADING + GOOD)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    match = r"p\\udcff.d: the folder for temporary files .* .its name is not UTF-8.. Set"
    assert_rejected(match, rn.evaluate, path, memory_limit="4GB")


QRELS: list[tuple[str | bytes, str]] = [
    ("1 0 d1 2\n1 0 d2\n", "q.txt, line 2: '1 0 d2' is not 'topic iteration document grade'"),
    ("1 0 d1 2\n1 0 d1 3\n", "labels: user '1' has the item 'd1' twice or more"),
    ("1 0 d1 " + "9" * 10**6, "q.txt, line 1: |infinite grade"), ("", "q.txt: the file is empty"),
    ("x" * 10**6, "q.txt, line 1: 'x{50,99}… is not 'topic"), ("1 0 d1 good\n", "q.txt, line 1: "),
    (bytes(range(256)), "q.txt: not text in UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "match"), QRELS)
def test_bad_qrels_are_rejected(tmp_path: Path, text: str | bytes, match: str) -> None:
    """The message shows the line and the form that it should have; a run has its own rules."""
    assert_rejected(match, rn.RankedLists.from_trec, write(tmp_path, text, "q.txt"), RUN)
    not_finite = write(tmp_path, "1 Q0 d1 1 nan tag\n")  # pytrec_eval would rank it first
    assert_rejected("row 0", rn.RankedLists.from_trec, {"1": {"d1": 1}}, not_finite)
