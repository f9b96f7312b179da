"""A file that cannot be read, parsed or written says which file, which line and why."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import re
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import recsys_ndcg as rn
from recsys_ndcg.experiments.trials import from_toml
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable

HEADING = "user,item,estimated,true\n"
GOOD = "a,x,1,2\na,y,2,1\n"
RUN = {"1": {"d1": 1.0}}


def written(folder: Path, text: str | bytes, name: str = "p.csv") -> Path:
    """Write a file."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "p.csv: the file is empty"),
        ("\n \n", "p.csv: the file is empty"),
        (HEADING, "no rows"),
        (bytes(range(256)), "p.csv: not text in UTF-8"),
        ((HEADING + GOOD).encode("latin-1") + b"\xfc,x,1,2\n", "--encoding latin-1"),
        (HEADING + "a\0b,x,1,2\n", "p.csv.*line 2"),
        (HEADING + "a,x,1,2\na,y,abc,3\n", "p.csv, line 3: estimated is 'abc', .*not a number"),
        (HEADING + "a,x,1,2\na,y,1,3,9\n", "p.csv.*line 3"),
        (HEADING + "a,x,1,2,9\na,y,1,3,9\n", "p.csv.*line 2"),
        (
            HEADING + "a,x,1,2\na,y\n",
            "p.csv, line 3: 2 fields in place of 4: 'a,y'. Was it cut off",
        ),
        (HEADING + "a,x,1,2\na,y,,2\n", "p.csv, line 3: .*estimated"),
        (HEADING + "a,x,nan,2\n", "p.csv, line 2: .*estimated"),
        (HEADING + "a,x,1e400,2\n", "p.csv, line 2: .*estimated"),
        (HEADING + ",x,1,2\na,y,2,1\n", "p.csv, line 2: .*user"),
        (HEADING + "a,x,1,2\na, ,2,1\n", "p.csv, line 3: .*item"),
        (HEADING + '"a,x,1,2\na,y,2,1\n', "p.csv: cannot be parsed .*in double quotes"),
        (
            HEADING + "a,x,1,two\n",
            "p.csv, line 2: true is 'two', .*name the right column with colu",
        ),
        (
            "user;item;estimated;true\na;x;1,5;2\n",
            "p.csv, line 2: estimated is '1,5'.*--decimal ','",
        ),
        (GOOD, "no column 'user'; it has a, x, 1, 2.*If the file has no heading: --no-h"),
        ("user,item,est,stars\n" + GOOD, r"'true': 'stars'.*--columns true=stars"),
        ("user,item,estimated,true,true\na,x,1,2,3\n", "'true'.*(twice|2 times|once)"),
    ],
)
def test_a_csv_file_that_is_not_a_table_of_predictions_is_refused(
    tmp_path: Path, text: str | bytes, match: str
) -> None:
    """An empty field is a missing number or a missing id, never an id of its own."""
    path = written(tmp_path, text)
    with rejects(match):
        rn.evaluate(path)
    with rejects(match):
        rn.evaluate(str(path))


@pytest.mark.parametrize(
    ("text", "words", "how"),
    [
        (GOOD, "heading=False", rn.TextFormat(heading=False)),
        (
            "user;item;estimated;true\na;x;1,5;2\na;y;2,5;3\n",
            "decimal=','",
            rn.TextFormat(decimal=","),
        ),
        (
            (HEADING + GOOD).encode("latin-1") + b"\xfc,x,1,3\n",
            "encoding='latin-1'",
            rn.TextFormat(encoding="latin-1"),
        ),
    ],
)
def test_how_text_is_written_is_said_as_the_message_tells(
    tmp_path: Path, text: str | bytes, words: str, how: rn.TextFormat
) -> None:
    """`evaluate` does not take it: the lists are read first."""
    path = written(tmp_path, text)
    with rejects(re.escape(f"text=TextFormat({words}) of RankedLists.from_file")):
        rn.evaluate(path)
    assert rn.evaluate(rn.RankedLists.from_file(path, text=how)).mean.notna().all()


@pytest.mark.parametrize("separator", [",", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", ""])
def test_a_file_of_very_many_columns_is_refused_at_once(
    tmp_path: Path, separator: str, end: str
) -> None:
    """Each would take its time."""
    with rejects("p.csv: more than 1000 columns in line 1. Keep"):
        rn.evaluate(written(tmp_path, separator * 100_000 + end + GOOD))


@pytest.mark.parametrize("line", ["\n", "\r\n", "a\n"])
def test_a_file_of_hardly_more_than_blank_lines_is_refused_before_it_is_a_table(
    tmp_path: Path, line: str
) -> None:
    """Each would be a row of missing cells."""
    heading = HEADING if line != "a\n" else HEADING.strip() + ",x" * 900 + "\n"
    with rejects("p.csv: most lines are blank, or have far fewer columns than the"):
        rn.evaluate(written(tmp_path, heading + GOOD + line * 1_000_000))
    assert rn.evaluate(written(tmp_path, HEADING + GOOD + "\n" * 1000)).counts["ratings"] == 2


def test_a_long_file_whose_lines_end_as_on_an_old_macintosh_is_no_line(tmp_path: Path) -> None:
    """A carriage return ends a line, too."""
    rows = "".join(f"a,{item},{item},{item % 3}\r" for item in range(2000))
    assert (
        rn.evaluate(written(tmp_path, HEADING.replace("\n", "\r") + rows)).counts["ratings"] == 2000
    )


@pytest.mark.parametrize("name", ["a\0b.csv", "a\ud800b.csv", "a\0b.txt"])
def test_a_name_that_no_file_has_is_refused(name: str) -> None:
    """Such as a path joined from bytes that are none."""
    with rejects("cannot be the name of a file"):
        rn.evaluate(name)
    with rejects("cannot be the name of a file"):
        rn.RankedLists.from_trec(name, RUN)


@pytest.mark.parametrize("name", ["no.csv", "no.parquet", ""])
def test_a_file_that_does_not_exist_is_refused_by_name(tmp_path: Path, name: str) -> None:
    """An empty name gives the folder itself."""
    with rejects(f"{name or tmp_path.name}.*: cannot be read.*(No such file|Is a directory)"):
        rn.evaluate(tmp_path / name)


def test_an_empty_path_is_refused_as_such() -> None:
    """A variable of the shell that was not set."""
    with rejects("''|empty"):
        rn.evaluate("")


def _read_stream(path: Path) -> None:
    with path.open("rb") as stream:
        rn.RankedLists.from_file(stream)


_READERS: dict[str, Callable[[Any], Any]] = {
    "evaluate": rn.evaluate,
    "a stream": _read_stream,
    "labels": lambda path: rn.RankedLists.from_labels(path, [("a", "x", 1.0)]),
    "results": lambda path: rn.RankedLists.from_labels([("a", "x", 1.0)], path),
    "qrels": lambda path: rn.RankedLists.from_trec(path, RUN),
    "run": lambda path: rn.RankedLists.from_trec(RUN, path),
    "a report": rn.Report.load,
    "a comparison": rn.Comparison.load,
    "an experiment": from_toml,
    "segments": rn.evaluate({"a": [(3, 4), (2, 1)]}).by,
    "in a limit": partial(rn.evaluate, memory_limit="4GB"),
}


@pytest.mark.parametrize("reader", _READERS)
@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.csv.gz", "p.pickle"])
@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no such device")
def test_a_device_that_never_ends_is_not_read(tmp_path: Path, reader: str, name: str) -> None:
    """Whoever opens it, and whatever it is called; a device that gives nothing is an empty file."""
    path = tmp_path / name
    path.symlink_to("/dev/zero")
    with rejects("a device in place of a file|Is no file|within a memory limit"):
        _READERS[reader](path)
    if reader != "an experiment":
        with rejects("empty|no entries|not JSON|not a whole pickle|cannot be |within a memory"):
            _READERS[reader](Path("/dev/null"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_with_a_name_is_read(tmp_path: Path) -> None:
    """As <(...) of a shell is."""
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


@pytest.mark.parametrize(
    "end", [".csv", ".csv.gz", ".csv.zst", ".parquet", ".feather", ".jsonl", ".pickle"]
)
def test_a_file_whose_name_is_not_utf_8_is_read_or_refused(odd: Path, end: str) -> None:
    """DuckDB takes no such names; messages show what is not a character as an escape."""
    path = odd.with_name(odd.name + end)
    frame = pd.DataFrame(
        {"user": ["a", "a"], "item": ["x", "y"], "estimated": [1.0, 2.0], "true": [2.0, 1.0]}
    )
    with path.open("wb") as file:
        if end == ".parquet":
            file.write(frame.to_parquet())
        elif end == ".feather":
            frame.to_feather(file)
        elif end == ".pickle":
            rows = frame[["user", "item", "true", "estimated"]].itertuples(index=False, name=None)
            pickle.dump(list(rows), file)
        elif end == ".jsonl":
            file.write(frame.to_json(orient="records", lines=True).encode())
        elif end == ".csv.zst":
            with pa.CompressedOutputStream(file, "zstd") as packed:
                packed.write(frame.to_csv(index=False).encode())
        else:
            content = frame.to_csv(index=False).encode()
            file.write(gzip.compress(content) if end == ".csv.gz" else content)
    assert rn.evaluate(path) == rn.evaluate(frame)
    with rejects(r"p\\udcff.*: within a memory limit, .*(UTF-8|Parquet and CSV are read)"):
        rn.evaluate(path, memory_limit="4GB")
    path.write_bytes(b"PAR1")
    with rejects(r"p\\udcff|no column"):
        rn.evaluate(path)


def test_a_folder_for_temporary_files_has_a_name_in_utf_8(
    odd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or DuckDB could not write there."""
    folder = odd.with_name(odd.name + ".d")
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    path = odd.with_name("p.csv")
    path.write_text(HEADING + GOOD)
    with rejects(r"p\\udcff.d: the folder for temporary files .* .its name is not UTF-8.. Name"):
        rn.evaluate(path, memory_limit="4GB")


def test_bytes_that_are_no_parquet_are_refused(tmp_path: Path) -> None:
    """A download that failed half way."""
    with rejects("p.parquet: cannot be read as Parquet"):
        rn.evaluate(written(tmp_path, b"PAR1 not", "p.parquet"))


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "q.txt: the file is empty"),
        ("1 0 d1 2\n1 0 d2\n", "q.txt, line 2: '1 0 d2' is not 'topic iteration document grade'"),
        ("1 0 d1 good\n", "q.txt, line 1: "),
        ("1 0 d1 " + "9" * 10**6, "q.txt, line 1: |infinite grade"),
        ("x" * 10**6, "q.txt, line 1: 'x{50,99}… is not 'topic"),
        ("1 0 d1 2\n1 0 d1 3\n", "labels: user '1' has the item 'd1' twice or more"),
        (bytes(range(256)), "q.txt: not text in UTF-8"),
    ],
)
def test_a_trec_file_that_cannot_be_read_is_refused(
    tmp_path: Path, text: str | bytes, match: str
) -> None:
    """The line is shown with the form it should have."""
    with rejects(match):
        rn.RankedLists.from_trec(written(tmp_path, text, "q.txt"), RUN)


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_a_trec_score_that_cannot_be_ranked_is_refused(tmp_path: Path, number: str) -> None:
    """pytrec_eval ranks NaN first."""
    run = written(tmp_path, f"1 Q0 d1 1 {number} tag\n", "run.txt")
    with rejects("row 0"):
        rn.RankedLists.from_trec({"1": {"d1": 1}}, run)


@pytest.fixture(name="report")
def _report() -> rn.Report:
    return rn.evaluate({"a": [(3, 4), (2, 1)], "b": [(1, 2), (2, 1)]}, k=2, threshold=2)


@pytest.mark.parametrize(
    "text", ["", "garbage", "{}", "[]", "3", "null", b"\x80\x04K\x03.", '{"format": "other"}']
)
def test_a_file_that_is_not_a_report_is_not_loaded(tmp_path: Path, text: str | bytes) -> None:
    """Neither is a pickle, which is never executed."""
    with rejects("r.json: not (JSON|a report)"):
        rn.Report.load(written(tmp_path, text, "r.json"))


def test_a_report_that_does_not_exist_is_not_loaded(tmp_path: Path) -> None:
    """Nor is a folder."""
    with rejects("none.json: cannot be read"):
        rn.Report.load(tmp_path / "none.json")
    with rejects("cannot be read"):
        rn.Report.load(tmp_path)


def _spoilt(stored: dict[str, Any]) -> list[dict[str, Any]]:
    without = [{k: v for k, v in stored.items() if k != key} for key in stored if key != "format"]
    other = [stored | {key: "x"} for key in stored if key != "format"]
    users = stored["per_user"] | {"user": ["a"]}
    unknown = {"signatures": {"foo": "x"}}
    return [*without, *other, stored | {"per_user": users}, stored | unknown]


def test_a_report_that_was_cut_or_edited_is_not_loaded_by_halves(
    report: rn.Report, tmp_path: Path
) -> None:
    """Whatever part is missing or of another form, the file is named."""
    loose = []
    for place, stored in enumerate(_spoilt(report.to_dict())):
        path = written(tmp_path, json.dumps(stored), f"r{place}.json")
        try:
            rn.Report.load(path)
        except rn.InvalidInputError as error:
            assert path.name in str(error)  # noqa: PT017 - the rest is collected
        except Exception as error:  # noqa: BLE001 - collected
            loose.append((place, type(error).__name__))
        else:
            loose.append((place, "loaded"))
    assert not loose


@pytest.mark.parametrize("name", ["", "missing/r.json"])
def test_a_place_that_cannot_be_written_is_refused_by_name(
    report: rn.Report, tmp_path: Path, name: str
) -> None:
    """A folder in place of a file, or a folder that is not there."""
    path = tmp_path / name
    acts: list[Callable[[Path], object]] = [report.save, report.to_html]
    for act in acts:
        with rejects(f"{path.name}: cannot be written"):
            act(path)


def test_a_report_whose_ids_json_cannot_hold_is_not_saved(tmp_path: Path) -> None:
    """Neither an error of the library's innards nor half a file."""
    report = rn.evaluate({frozenset({1}): [(3, 4), (2, 1)]})
    path = tmp_path / "r.json"
    with rejects("cannot be saved"):
        report.save(path)
    assert not path.exists()


def test_a_report_from_a_file_says_that_it_cannot_explain(
    report: rn.Report, tmp_path: Path
) -> None:
    """It has no lists."""
    report.save(tmp_path / "r.json")
    with rejects("read from a file.*Evaluate the rows of this user again"):
        rn.Report.load(tmp_path / "r.json").explain("a")


@pytest.mark.parametrize(
    ("act", "match"),
    [
        (lambda r: r.explain("zed"), "no user 'zed' among the 2.*from 'a' to 'b'"),
        (lambda r: r.explain(["a", "b"]), "no user"),
        (lambda r: r.leaderboard("ndcg@5"), "no metric 'ndcg@5'; it has ndcg@2, precision@2"),
        (lambda r: r.signature("ndgc"), "no metric 'ndgc'; it has ndcg@2"),
        (lambda r: r.signature(None), "no metric None; it has ndcg@2"),
        (lambda r: r.leaderboard("ndcg@2", n=0), "n must be a whole number of at least 1, not 0"),
        (lambda r: r.leaderboard("ndcg@2", n=1.5), "n must be a whole number of at least 1"),
        (lambda r: r.leaderboard("ndcg@2", n=True), "n must be a whole number of at least 1"),
        (lambda r: r.leaderboard("ndcg@2", n="5"), "n must be a whole number of at least 1"),
        (lambda r: r.intervals(95), "level must be between 0 and 1.*not 95"),
        (lambda r: r.intervals("0.95"), "level must be"),
        (lambda _: rn.evaluate({1: [(2, 3), (1, 1)]}).explain(np.int64(2)), "no user 2 among"),
        (lambda _: rn.evaluate({1: [(2, 3), (1, 1)]}).explain("1"), "id is of type int, not str"),
    ],
)
def test_a_report_asked_for_what_it_has_not_says_what_it_has(
    report: rn.Report, act: Callable[[rn.Report], Any], match: str
) -> None:
    """An id of another type is told apart from one that does not exist."""
    with rejects(match):
        act(report)
