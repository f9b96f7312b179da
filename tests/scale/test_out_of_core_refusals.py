"""What cannot be read or written out of core: the file is named, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from recsys_ndcg.scale.database import Memory
from tests.errors import rejects
from tests.scale.cases import predictions

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra scale has it")
pa = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
pytestmark = pytest.mark.usefixtures("places")

FRAME = predictions(1, n_rows=600)


def _write(frame: pd.DataFrame, path: Path) -> None:
    """Write a file; NaN stays NaN, which pandas itself would write as a missing value."""
    if path.suffix == ".parquet":
        pl.from_pandas(frame, nan_to_null=False).write_parquet(path)
    else:
        frame.to_csv(path, index=False)


def _files(folder: Path, end: str, third: pd.DataFrame) -> str:
    """Write ten files, of which the third is another, and return what names them."""
    for place in range(10):
        frame = third if place == 2 else FRAME.iloc[place::10]
        _write(frame, folder / f"p{place}.{end}")
    return str(folder / f"p*.{end}")


SOME = FRAME.iloc[2::10]
NONE = pd.array([None] * len(SOME), dtype="Int64")
#: What stands in the third file, and what is told of it in Parquet and in text.
FAULTS = {
    "missing column": (
        SOME.drop(columns="true"),
        "p2.parquet: there is no column 'true', which the first file has",
        "p2.csv: its columns are user, item, estimated, those of .*p0.csv are user",
    ),
    "text": (
        SOME.assign(true="good"),
        "p2.parquet: true is text, but double in",
        "p2.csv: true: what is no number at user .* item .* and 59 more; use NaN",
    ),
    "NaN": (
        SOME.assign(estimated=np.nan),
        "p2.parquet: estimated: NaN at user .* and 59 more; each must be a finite number",
        "p2.csv: estimated: no value, or none that is a number, at user .* and 59 more; each must",
    ),
    "one NaN": (  # of which the bounds that Parquet keeps tell nothing
        SOME.assign(estimated=[np.nan, *SOME["estimated"][1:]]),
        "p2.parquet: estimated: NaN at user .*; each must be a finite number",
        "p2.csv: estimated: no value, or none that is a number, at user .*; each must",
    ),
    "infinite": (
        SOME.assign(estimated=-np.inf),
        "p2.parquet: estimated: an infinite value at user .* and 59 more; each must be",
        "p2.csv: estimated: an infinite value",
    ),
    "infinite grade": (
        SOME.assign(true=np.inf),
        "p2.parquet: true: an infinite grade at user .* and 59 more; use NaN",
        "p2.csv: true: an infinite grade",
    ),
    "no user": (
        SOME.assign(user=NONE),
        "p2.parquet: user: a missing id at user None .* and 59 more; fill it in",
        "p2.csv: user: a missing id at user None .* and 59 more; fill it in",
    ),
}


@pytest.mark.parametrize("end", ["parquet", "csv"])
@pytest.mark.parametrize("fault", FAULTS)
def test_the_file_at_fault_is_named(fault: str, end: str, tmp_path: Path) -> None:
    """What is wrong in the third of ten files is told of that file."""
    third, parquet, csv = FAULTS[fault]
    expected = parquet if end == "parquet" else csv
    with rejects(expected):
        rn.evaluate(_files(tmp_path, end, third), threshold=4)


@pytest.mark.parametrize("end", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("column", "value", "told"),
    [("true", np.inf, "an infinite grade"), ("estimated", np.nan, "N.*")],
)
def test_files_at_fault_are_counted_with_their_rows(
    column: str, value: float, told: str, end: str, tmp_path: Path
) -> None:
    """The rows that are named stand in the first file, and all of them in these."""

    def faulty(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(**{column: frame[column].where(np.arange(len(frame)) % 2 == 0, value)})

    third, eighth = faulty(SOME), faulty(FRAME.iloc[7::10])
    name = _files(tmp_path, end, third)
    _write(eighth, tmp_path / f"p7.{end}")
    more = len(third) // 2 + len(eighth) // 2 - 3
    told = told if end == "parquet" or column == "true" else "no value, or none that is a number,"
    with rejects(rf"p2.{end} and 1 other file: {column}: {told} at .* and {more} more;"):
        rn.evaluate(name, threshold=4)


def test_ids_of_other_types(tmp_path: Path) -> None:
    """Text among numbers is another type in Parquet, and text in text."""
    with rejects("p2.parquet: user is text, but whole numbers in .*p0"):
        rn.evaluate(_files(tmp_path, "parquet", SOME.assign(user="a")), threshold=4)
    third = SOME.assign(user="a" + SOME["user"].astype(str))
    report = rn.evaluate(_files(tmp_path, "csv", third), threshold=4)
    assert any(one.startswith("a") for one in report.users.tolist())
    assert all(isinstance(one, str) for one in report.users.tolist())


def test_ranks_that_are_missing_are_told_of_their_file(tmp_path: Path) -> None:
    """Also where the bounds that Parquet keeps tell nothing of them."""
    labels = pd.DataFrame({"user": 1, "item": [1, 2, 3], "true": 1.0})
    paths = {name: tmp_path / f"{name}.parquet" for name in ("labels", "results")}
    _write(labels, paths["labels"])
    ranks = labels[["user", "item"]].assign(rank=[np.nan, 2.0, 1.0])
    _write(ranks, paths["results"])
    with rejects("results.parquet: rank: NaN at user 1 item 1; each must be a finite number"):
        rn.evaluate(paths, memory_limit="8GB")


def test_a_column_that_is_there_twice(tmp_path: Path) -> None:
    """In a file or a table, it is named: not what it holds, nor that capitals differ."""
    table = pa.table([[1], [1], [2], [4.0], [3.0]], ["user", "user", "item", "estimated", "true"])
    parquet.write_table(table, tmp_path / "p.parquet")
    for data, limit in ((tmp_path / "p.parquet", "8GB"), (table, None)):
        with rejects("The table has the column 'user' twice; keep one."):
            rn.evaluate(data, memory_limit=limit)


def test_columns_that_differ_in_capitals(tmp_path: Path) -> None:
    """To DuckDB they are one column of Parquet; text has them by their places."""
    frame = FRAME.assign(User=FRAME["user"] % 7)
    frame.to_parquet(tmp_path / "p.parquet")
    with rejects("'user' and 'User' differ in capitals at most"):
        rn.evaluate(tmp_path / "p.parquet", columns={"user": "User"}, memory_limit="2GB")
    frame = frame.drop_duplicates(["User", "item"])
    frame.to_csv(tmp_path / "p.csv", index=False)
    report = rn.evaluate(tmp_path / "p.csv", columns={"user": "User"}, memory_limit="2GB")
    assert report.users.tolist() == sorted(frame["User"].unique())


@pytest.mark.parametrize("limit", ["2GB", None], ids=["disk", "memory"])
def test_users_are_not_written_onto_the_data(limit: str | None, tmp_path: Path) -> None:
    """Whichever of its files that is."""
    path = tmp_path / "p.parquet"
    FRAME.to_parquet(path)
    whole = path.read_bytes()
    with rejects("p.parquet: this is a file of the data"):
        rn.evaluate(path, memory_limit=limit, per_user=tmp_path / "." / "p.parquet")
    assert path.read_bytes() == whole


def test_text_in_place_of_numbers(tmp_path: Path) -> None:
    """Of a single file, too."""
    FRAME.assign(estimated="x").to_parquet(tmp_path / "p.parquet")
    with rejects("p.parquet: estimated is text, which is not read as numbers. Convert it"):
        rn.evaluate(tmp_path / "p.parquet", memory_limit="2GB")


def test_numbers_of_sixteen_bits(tmp_path: Path) -> None:
    """DuckDB takes 0.8 for 0.7998; it has no such columns in a stream."""
    short = FRAME.assign(true=FRAME["true"].astype("float16"))
    table = pa.Table.from_pandas(short)
    parquet.write_table(table, tmp_path / "p.parquet")
    for data in (tmp_path / "p.parquet", table.to_reader()):
        with rejects("true is halffloat, which is not read as numbers"):
            rn.evaluate(data, memory_limit="2GB")
    beside = pa.Table.from_pandas(FRAME).append_column("beside", table.column("true"))
    with rejects("Leave such columns out, or convert them"):
        rn.evaluate(beside.to_reader(), memory_limit="2GB")


def test_lazy_tables_that_fail(tmp_path: Path) -> None:
    """As they are worked out, and as they are looked at."""
    lazy = pl.from_pandas(FRAME).lazy()
    wrong = lazy.with_columns(true=pl.lit("x").cast(pl.Float64))
    for one in (wrong, pl.scan_parquet(tmp_path / "none.parquet"), lazy.select(pl.col("none"))):
        with rejects("The lazy table of polars cannot be worked out: "):
            rn.evaluate(one, memory_limit="2GB")
    with rejects("no column 'estimated'"):
        rn.evaluate(lazy.drop("estimated"), memory_limit="2GB")


def test_damaged_files(tmp_path: Path) -> None:
    """Cut off, of another kind than the name says, or nothing at all."""
    name = _files(tmp_path, "parquet", SOME)
    path = tmp_path / "p2.parquet"
    whole = path.read_bytes()
    for cut in (whole[:-100], b"", b"user,item\n"):
        path.write_bytes(cut)
        with rejects("p2.parquet: cannot be read as Parquet"):
            rn.evaluate(name)
    path.write_bytes(whole[:60] + b"\xff" * 400 + whole[460:])
    with rejects("p2.parquet"):
        rn.evaluate(name)
    text = tmp_path / "t.csv"
    for content, told in {
        "": "the file is empty",
        "user,item,estimated,true\n": "no rows in the predictions",
        "user,item,estimated,true\n1,2,3\n": "t.csv, line 2: 3 fields in place of 4: '1,2,3'",
        "user,item,estimated,true\n1,2,3,4\n1,2,3,4,5\n": "t.csv, line 3: 5 fields in place of 4",
        'user,item,estimated,true\n1,2,3,4\n1,"2,3,4\n': "t.csv, line 3: Value with unterminated",
    }.items():
        text.write_text(content)
        with rejects(told):
            rn.evaluate(text, memory_limit="2GB")
    text.write_bytes(b"user,item,estimated,true\n\xff\xfe,2,3,4\n")
    with rejects("t.csv: not text in UTF-8"):
        rn.evaluate(text, memory_limit="2GB")


@pytest.mark.parametrize(
    ("data", "told"),
    {
        "none/*.parquet": "none/.*: no file has such a name",
        "none.parquet": "none.parquet: cannot be read",
        "p.json": "within a memory limit, and of several files, Parquet and CSV",
        "p.pickle": "Parquet and CSV",
        "p.csv.zip": "Parquet and CSV",
    }.items(),
)
def test_what_is_not_read(data: str, told: str, tmp_path: Path) -> None:
    """Names without a file, and kinds that go through memory alone."""
    if "none" not in data:
        (tmp_path / data).write_bytes(b"x")
    with rejects(told):
        rn.evaluate(str(tmp_path / data), memory_limit="2GB")


def test_a_file_given_twice(tmp_path: Path) -> None:
    """Every row of it would count twice."""
    FRAME.to_parquet(tmp_path / "p.parquet")
    with rejects("p.parquet: is given twice"):
        rn.evaluate([tmp_path / "p.parquet"] * 2)


def test_other_forms_are_refused_with_what_to_give() -> None:
    """Rows and lists are in memory already."""
    with rejects("Within a memory limit, give files"):
        rn.evaluate([("ann", "a", 4.5, 5)], memory_limit="2GB")


@pytest.mark.parametrize("limit", ["much", "", "-2GB", 0, None.__class__, "2XB", True])
def test_limits_that_are_none(limit: Any) -> None:
    """An amount of memory is a number and a unit."""
    with rejects("memory_limit is an amount of memory, such as '2GB', not"):
        rn.evaluate("p.parquet", memory_limit=limit)


def test_a_limit_below_what_the_process_has() -> None:
    """It says what is needed."""
    with rejects("memory_limit='100MB' leaves too little: .* Give at least"):
        rn.evaluate("p.parquet", memory_limit="100MB")


@pytest.mark.parametrize("rows", [100, 10_000], ids=["in parts", "at once"])
def test_repeated_pairs_are_named(
    rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By user and item, for the rows of a bucket are nobody's."""
    monkeypatch.setattr(Memory, "budget", property(lambda _: rows))
    monkeypatch.setattr(Memory, "cost", lambda _, rows, *_others: rows)
    user, item = FRAME.iloc[7][["user", "item"]].astype(int)
    pd.concat([FRAME, FRAME.iloc[[7]]]).to_parquet(tmp_path / "p.parquet")
    with rejects(f"predictions: user {user} has the item {item} twice or more"):
        rn.evaluate(tmp_path / "p.parquet", memory_limit="2GB")


def test_what_cannot_be_computed_names_user_and_item(tmp_path: Path) -> None:
    """As in memory."""
    FRAME.assign(true=FRAME["true"].where(FRAME.index != 5, -1)).to_parquet(tmp_path / "p.parquet")
    with rejects(r"true: the grade -1.0 \(user .* item .*\) has a negative gain"):
        rn.evaluate(tmp_path / "p.parquet", memory_limit="2GB")
    with rejects("precision@10 needs to know which items are relevant"):
        rn.evaluate(tmp_path / "p.parquet", metrics="precision", memory_limit="2GB")


def test_temporary_files_have_no_place(
    places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder for them is named, and how to name another."""
    FRAME.to_parquet(tmp_path / "p.parquet")
    monkeypatch.setattr("tempfile.tempdir", str(places / "none"))
    with rejects("none: the folder for temporary files cannot be written to .* TMPDIR="):
        rn.evaluate(tmp_path / "p.parquet", memory_limit="2GB")


@pytest.mark.parametrize(
    ("name", "told"),
    {
        "none/users.parquet": "none/users.parquet: cannot be written",
        "users.csv": "users.csv: scores of users are written to Parquet as they come",
        "users.txt": "users.txt",
    }.items(),
)
def test_users_have_no_place(name: str, told: str, tmp_path: Path) -> None:
    """Before anything is measured."""
    FRAME.to_parquet(tmp_path / "p.parquet")
    with rejects(told):
        rn.evaluate(tmp_path / "p.parquet", memory_limit="2GB", per_user=tmp_path / name)


def test_no_half_of_the_users_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is refused on the way leaves the older file as it was, and nothing beside it."""
    monkeypatch.setattr(Memory, "budget", property(lambda _: 100))
    monkeypatch.setattr(Memory, "cost", lambda _, rows, *_others: rows)
    pd.concat([FRAME, FRAME.iloc[[7]]]).to_parquet(tmp_path / "p.parquet")
    users = tmp_path / "users.parquet"
    users.write_bytes(b"older")
    with rejects("has the item .* twice or more"):
        rn.evaluate(tmp_path / "p.parquet", memory_limit="2GB", per_user=users)
    assert users.read_bytes() == b"older"
    assert {one.name for one in tmp_path.iterdir()} == {"p.parquet", "users.parquet", "temporary"}


LIMITED = """
import resource, sys, tempfile
import recsys_ndcg as rn
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    rn.evaluate(sys.argv[1], threshold=4, memory_limit="4GB", per_user=None)
except rn.InvalidInputError as error:
    print(error)
"""


def test_a_full_disk(tmp_path: Path, places: Path) -> None:
    """No room for the rows: the folder for temporary files is named."""
    predictions(1, n_rows=30_000).to_parquet(tmp_path / "p.parquet")
    command = [sys.executable, "-c", LIMITED, str(tmp_path / "p.parquet")]
    environment = os.environ | {"TMPDIR": str(places)}
    ended = subprocess.run(  # noqa: S603 - our own
        command, capture_output=True, text=True, check=True, env=environment
    )
    assert "the folder for temporary files cannot be written to" in ended.stdout
    assert "TMPDIR=" in ended.stdout
    assert ended.stderr == ""


def test_an_interrupt_leaves_nothing(tmp_path: Path, places: Path) -> None:
    """Ctrl-C ends a long query at once, without a trace."""
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
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell in the background has its children ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while not any(places.glob("recsys_ndcg_*")) and running.poll() is None:
        time.sleep(0.01)
    time.sleep(0.3)  # by then a query runs
    asked = time.monotonic()
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=40)
    assert time.monotonic() - asked < 15  # DuckDB may hang, and is left alone after some seconds
    assert (running.returncode, out, err) == (130, "", "")
