"""Errors of the engine for files name the file and the fix, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from tests.commands import run_python
from tests.errors import assert_rejected, rejects
from tests.scale.cases import predictions

pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra scale has it")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.usefixtures("places")

FRAME = predictions(1, n_rows=600)
ENDS = ["parquet", "csv"]


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    """Return a file of predictions."""
    return write(FRAME, tmp_path / "p.parquet")


def write(frame: pd.DataFrame, path: Path) -> Path:
    """Write a file; NaN stays NaN, which pandas itself would write as a missing value."""
    if path.suffix == ".parquet":
        pl.from_pandas(frame, nan_to_null=False).write_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


def write_ten(folder: Path, end: str, third: pd.DataFrame) -> str:
    """Write ten files with another table in the third, and return their pattern."""
    for place in range(10):
        frame = third if place == 2 else FRAME.iloc[place::10]
        write(frame, folder / f"p{place}.{end}")
    return str(folder / f"p*.{end}")


SOME = FRAME.iloc[2::10]
NONE = pd.array([None] * len(SOME), dtype="Int64")
#: The third file, and the messages about it in Parquet and in CSV.
FAULTS: dict[str, tuple[Any, str, str]] = {
    "missing column": (
        SOME.drop(columns="true"), "p2.parquet: there is no column 'true', which the first",
        "p2.csv: its columns are user, item, estimated, but .*p0.csv has user"),
    "text": (
        SOME.assign(true="good"), "p2.parquet: true is text, but double in",
        "p2.csv: true: not a number at user .* item .* and 59 more; use NaN"),
    "one NaN": (  # which the bounds that Parquet keeps do not show
        SOME.assign(estimated=[np.nan, *SOME["estimated"][1:]]),
        r"p2.parquet: estimated: NaN at user \d+ item \d+; each must be a finite number",
        r"p2.csv: estimated: missing or not a number at user \d+ item \d+; each must"),
    "no user": (
        SOME.assign(user=NONE), "p2.parquet: user: a missing id at user None .* and 59 more; fill",
        "p2.csv: user: a missing id at user None .* and 59 more; fill it in"),
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("fault", FAULTS)
def test_the_file_at_fault_is_named(fault: str, end: str, tmp_path: Path) -> None:
    """The third of ten files."""
    third, *messages = FAULTS[fault]
    with rejects(messages[ENDS.index(end)]):
        rn.evaluate(write_ten(tmp_path, end, third), threshold=4)


@pytest.mark.parametrize("end", ENDS)
def test_several_files_at_fault_are_counted_with_their_rows(end: str, tmp_path: Path) -> None:
    """The rows that are named are in the first of them."""

    def faulty(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(true=frame["true"].where(np.arange(len(frame)) % 2 == 0, np.inf))

    name = write_ten(tmp_path, end, faulty(SOME))
    write(faulty(FRAME.iloc[7::10]), tmp_path / f"p7.{end}")
    with rejects(rf"p2.{end} and 1 other file: true: an infinite grade at .* and 59 more;"):
        rn.evaluate(name, threshold=4)


def test_ids_of_another_type_in_one_file(tmp_path: Path) -> None:
    """They raise in Parquet, and make all ids text in CSV."""
    with rejects("p2.parquet: user is text, but whole numbers in .*p0"):
        rn.evaluate(write_ten(tmp_path, "parquet", SOME.assign(user="a")), threshold=4)
    third = SOME.assign(user="a" + SOME["user"].astype(str))
    report = rn.evaluate(write_ten(tmp_path, "csv", third), threshold=4)
    assert any(one.startswith("a") for one in report.users.tolist())
    assert all(isinstance(one, str) for one in report.users.tolist())


def test_columns_that_cannot_be_told_apart(tmp_path: Path) -> None:
    """Two of one name, and to DuckDB's Parquet two that differ only in case; CSV can have them."""
    table = pa.table([[1], [1], [2], [4.0], [3.0]], ["user", "user", "item", "estimated", "true"])
    parquet.write_table(table, tmp_path / "p.parquet")
    for data, limit in ((tmp_path / "p.parquet", "8GB"), (table, None)):
        with rejects("The table has the column 'user' twice; keep one."):
            rn.evaluate(data, memory_limit=limit)
    frame = FRAME.assign(User=FRAME["user"] % 7)
    options: dict[str, Any] = {"columns": {"user": "User"}, "memory_limit": "2GB"}
    with rejects("'user' and 'User' differ only in upper and lower case"):
        rn.evaluate(write(frame, tmp_path / "p.parquet"), **options)
    frame = frame.drop_duplicates(["User", "item"])
    report = rn.evaluate(write(frame, tmp_path / "p.csv"), **options)
    assert report.users.tolist() == sorted(frame["User"].unique())


def test_columns_that_are_not_numbers(tmp_path: Path) -> None:
    """Text, and numbers of 16 bits, which DuckDB would read as other numbers."""
    path = write(FRAME.assign(estimated="x"), tmp_path / "p.parquet")
    with rejects("p.parquet: estimated is text, not a number. Convert it"):
        rn.evaluate(path, memory_limit="2GB")
    table = pa.Table.from_pandas(FRAME.assign(true=FRAME["true"].astype("float16")))
    parquet.write_table(table, path)
    for data in (path, table.to_reader()):
        assert_rejected("true is halffloat, not a number", rn.evaluate, data, memory_limit="2GB")
    wider = pa.Table.from_pandas(FRAME).append_column("other", table.column("true"))
    with rejects("Drop such columns or convert them"):
        rn.evaluate(wider.to_reader(), memory_limit="2GB")


def test_lazy_tables_that_fail(tmp_path: Path) -> None:
    """When they are computed, and when their columns are looked up."""
    lazy = pl.from_pandas(FRAME).lazy()
    wrong = lazy.with_columns(true=pl.lit("x").cast(pl.Float64))
    for one in (wrong, pl.scan_parquet(tmp_path / "none.parquet"), lazy.select(pl.col("none"))):
        with rejects("The lazy table of polars cannot be computed: "):
            rn.evaluate(one, memory_limit="2GB")
    with rejects("no column 'estimated'"):
        rn.evaluate(lazy.drop("estimated"), memory_limit="2GB")


def test_damaged_parquet(path: Path) -> None:
    """Cut off, of another kind than the name suggests, empty, or with other bytes inside."""
    whole = path.read_bytes()
    for content in (whole[:-100], b"", b"user,item\n"):
        path.write_bytes(content)
        assert_rejected("p.parquet: cannot be read as Parquet", rn.evaluate, [path])
    path.write_bytes(whole[:60] + b"\xff" * 400 + whole[460:])
    assert_rejected("p.parquet", rn.evaluate, [path])


HEAD = b"user,item,estimated,true\n"
DAMAGED = [
    (b"", "the file is empty"), (HEAD, "no rows in the predictions"),
    (HEAD + b"1,2,3\n", "line 2: 3 fields in place of 4: '1,2,3'"),
    (HEAD + b"1,2,3,4\n1,2,3,4,5\n", "line 3: 5 fields in place of 4"),
    (HEAD + b'1,2,3,4\n1,"2,3,4\n', "line 3: Value with unterminated"),
    (HEAD + b"\xff\xfe,2,3,4\n", "t.csv: not text in UTF-8"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "message"), DAMAGED)
def test_damaged_text(content: bytes, message: str, tmp_path: Path) -> None:
    """The line is named."""
    (tmp_path / "t.csv").write_bytes(content)
    assert_rejected(message, rn.evaluate, tmp_path / "t.csv", memory_limit="2GB")


UNREADABLE: dict[str, Any] = {
    "none/.*: no file matches this pattern": "none/*.parquet",
    "none.parquet: cannot be read": "none.parquet",
    "with a memory limit or several files, only Parquet and CSV": "p.json",
    "Parquet and CSV": "p.csv.zip",
    "p.parquet: this file is given twice": ["p.parquet", "p.parquet"],
    "With a memory limit, give files": [("ann", "a", 4.5, 5)],
}


@pytest.mark.parametrize("message", UNREADABLE)
def test_data_that_is_not_read(message: str, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Names without a file, formats that need the memory, files that would count twice, rows."""
    monkeypatch.chdir(path.parent)
    for name in ("p.json", "p.csv.zip"):
        path.with_name(name).write_bytes(b"x")
    assert_rejected(message, rn.evaluate, UNREADABLE[message], memory_limit="2GB")


@pytest.mark.parametrize("limit", ["much", "", "-2GB", 0, None.__class__, "2XB", True, "100MB"])
def test_limits_that_are_not_enough_memory(limit: Any) -> None:
    """A limit is a number and a unit; if it is too low the message has the amount needed."""
    message = "memory_limit must be an amount of memory, such as '2GB'"
    if limit == "100MB":
        message = "memory_limit='100MB' is too low: .* Set at least"
    assert_rejected(message, rn.evaluate, "p.parquet", memory_limit=limit)


def test_rows_that_cannot_be_measured_are_named(path: Path) -> None:
    """By user and item, as in memory."""
    write(FRAME.assign(true=FRAME["true"].where(FRAME.index != 5, -1)), path)
    with rejects(r"true: the grade -1.0 \(user .* item .*\) has a negative gain"):
        rn.evaluate(path, memory_limit="2GB")


@pytest.mark.parametrize("rows", [100, 10_000], ids=["in parts", "at once"])
def test_no_half_of_the_users_is_left(rows: int, path: Path, in_parts: Any) -> None:
    """An error on the way leaves the older file as it was, and no other file."""
    in_parts(rows)
    user, item = FRAME.iloc[7][["user", "item"]].astype(int)
    write(pd.concat([FRAME, FRAME.iloc[[7]]]), path)
    users = path.with_name("users.parquet")
    users.write_bytes(b"older")
    with rejects(f"predictions: user {user} has the item {item} twice or more"):
        rn.evaluate(path, memory_limit="2GB", per_user=users)
    assert users.read_bytes() == b"older"
    assert {one.name for one in path.parent.iterdir()} == {path.name, users.name, "temporary"}


def test_files_that_cannot_take_the_users(path: Path) -> None:
    """They are named before anything is measured; the data stays as it is."""
    whole = path.read_bytes()
    for name, limit, message in (
        ("./p.parquet", "2GB", "p.parquet: this is a file of the data"),
        ("./p.parquet", None, "p.parquet: this is a file of the data"),
        ("none/users.parquet", "2GB", "none/users.parquet: cannot be written"),
        (
            "users.csv",
            "2GB",
            "users.csv: with several files or a memory limit, the name must end in .parquet",
        ),
    ):
        target = path.parent / name
        assert_rejected(message, rn.evaluate, path, memory_limit=limit, per_user=target)
        assert path.read_bytes() == whole


def test_a_folder_that_cannot_take_temporary_files(
    path: Path, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named, with the way to choose another."""
    monkeypatch.setattr("tempfile.tempdir", str(places / "none"))
    with rejects("none: the folder for temporary files cannot be written to .* TMPDIR"):
        rn.evaluate(path, memory_limit="2GB")


LIMITED = """
import resource, sys, tempfile
import recsys_ndcg as rn
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    rn.evaluate(sys.argv[1], threshold=4, memory_limit="4GB", per_user=None)
except rn.InvalidInputError as error:
    print(error)
"""


@pytest.mark.slow
def test_a_full_disk(tmp_path: Path, places: Path) -> None:
    """The folder for temporary files is named."""
    path = write(predictions(1, n_rows=30_000), tmp_path / "p.parquet")
    ended = run_python("-c", LIMITED, path, TMPDIR=str(places))
    assert "the folder for temporary files cannot be written to" in ended.stdout
    assert "TMPDIR" in ended.stdout
    assert ended.stderr == ""


@pytest.mark.slow
def test_an_interrupt_leaves_nothing(tmp_path: Path, places: Path) -> None:
    """Ctrl-C ends a long query at once, without a traceback."""
    command = [sys.executable, "-m", "recsys_ndcg", "evaluate", "--memory-limit", "4GB"]
    command += ["--convention", "duplicates=max"]
    rows = "\n".join(f"{row % 9973},{row},{row % 97 / 9},{row % 5}" for row in range(1_000_000))
    path = tmp_path / "p.csv"
    path.write_text(f"user,item,estimated,true\n{rows}\n")
    paths = [path, *(path.with_name(f"{place}.csv") for place in range(5))]
    for one in paths[1:]:
        one.hardlink_to(path)
    running = subprocess.Popen(  # noqa: S603 - our own
        [*command, *map(str, paths)],
        env=os.environ | {"TMPDIR": str(places)},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        # a shell in the background has its children ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )  # fmt: skip
    while not any(places.glob("recsys_ndcg_*")) and running.poll() is None:
        time.sleep(0.01)
    time.sleep(0.3)  # by then a query runs
    stopped = time.monotonic()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=40)
    assert time.monotonic() - stopped < 15  # DuckDB may hang, and is left to itself after seconds
    assert (running.returncode, out, err) == (130, "", "")
