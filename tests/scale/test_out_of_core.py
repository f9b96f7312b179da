"""Files and streams within a memory limit give the report of `evaluate`."""

from __future__ import annotations

import time
from contextlib import closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.evaluation import evaluate_by_plan
from recsys_ndcg.scale.database import Database, Memory
from recsys_ndcg.scale.duckdb import ScoreFile
from recsys_ndcg.scoring import Plan
from tests.commands import run_python
from tests.drawn_reports import have_same_labels
from tests.errors import assert_rejected
from tests.profiles import slow
from tests.scale.alike import check_alike
from tests.scale.cases import PARAMS, Case, predictions

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra scale has it")
pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")

pytestmark = pytest.mark.usefixtures("places")
#: Types that text does not keep.
TYPED = {"decimal grades and estimates", "tenths of 32 bits", "short numbers"}


def write(frame: pd.DataFrame, path: Path) -> Path:
    """Write a table in the format of the path's suffix."""
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return path


def write_parts(frame: pd.DataFrame, folder: Path, end: str, name: str = "part") -> str:
    """Write a table to three files, and return their pattern."""
    for place in range(3):
        rows = slice(place * len(frame) // 3, (place + 1) * len(frame) // 3)
        write(frame.iloc[rows], folder / f"{name}{place}.{end}")
    return str(folder / f"{name}*.{end}")


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("form", ["parquet", *slow("parquet, summed", "csv")])
@pytest.mark.parametrize("case", PARAMS)
def test_parts_give_the_whole_report(case: Case, form: str, tmp_path: Path, in_parts: Any) -> None:
    """Whether users are kept or summed up; the file of users has the same scores."""
    end, _, summed = form.partition(", ")
    if end == "csv" and (case.name in TYPED or "text" in case.name or "true and" in case.name):
        return
    users = pd.concat([one.iloc[:, 0] for one in case.tables.values()])
    in_parts(max(len(users) // 2, int(users.value_counts().iloc[0])), keeps=not summed)
    files = {name: write_parts(one, tmp_path, end, name) for name, one in case.tables.items()}
    path = tmp_path / "users.parquet"
    data: Any = files.get("predictions", files)
    report = rn.evaluate(data, **case.options, memory_limit="4GB", per_user=path)
    expected = case.whole
    check_alike(report, pd.read_parquet(path).set_index("user"), expected)
    if form == "parquet":
        assert report == expected
        assert report.users.tolist() == expected.users.tolist()
        assert have_same_labels(report, expected)
        pd.testing.assert_frame_equal(report.per_user, expected.per_user)


@pytest.mark.parametrize("end", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("ties", "duplicates"), [("input", "raise"), ("expected", "first"), ("input", "last")]
)
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_the_order_of_rows_is_that_of_the_files(
    ties: Any, duplicates: Any, end: str, tmp_path: Path, in_parts: Any
) -> None:
    """For the options that depend on it."""
    frame = predictions(1).assign(estimated=lambda one: one["estimated"].round())
    if duplicates != "raise":
        frame = frame.assign(item=frame["item"] // 3)
    in_parts(800)
    options: dict[str, Any] = {"convention": rn.Convention(ties=ties, duplicates=duplicates)}
    report = rn.evaluate(write_parts(frame, tmp_path, end), threshold=4, **options)
    check_alike(report, report.per_user, rn.evaluate(frame, threshold=4, **options))


def _streams(frame: pd.DataFrame, path: Path) -> list[Any]:
    write(frame, path)
    table = pa.Table.from_pandas(frame)
    unread = pl.lit(1).map_batches(lambda _: 1 // 0, return_dtype=pl.Int64)
    lazy = pl.scan_parquet(path).with_columns(unread=unread)
    streams = [duckdb.from_arrow(table), dataset.dataset(path), table.to_reader(max_chunksize=500)]
    return [*streams, lazy, frame, pl.from_pandas(frame), path]


@pytest.mark.parametrize("rows", [*slow(700), 100_000], ids=["in parts", "at once"])
def test_streams_give_the_report_of_the_whole(rows: int, tmp_path: Path, in_parts: Any) -> None:
    """Columns that are not read are not computed; what fits into memory keeps its lists."""
    frame = predictions(3)
    in_parts(rows)
    expected = rn.evaluate(frame, threshold=4)
    for data in _streams(frame, tmp_path / "frame.parquet"):
        report = rn.evaluate(data, threshold=4, memory_limit="3 GiB")
        check_alike(report, report.per_user, expected)
        if rows > len(frame):
            user = expected.users[0]  # one of several best orders is shown, by the order of rows
            own, known = (one.explain(user).iloc[:, :4] for one in (report, expected))
            pd.testing.assert_frame_equal(own, known)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("rows", [200, 100_000], ids=["in parts", "at once"])
def test_labels_and_results_may_both_be_streams(rows: int, in_parts: Any) -> None:
    """Each is read by its own name."""
    in_parts(rows)
    frame = predictions(5)
    labels, results = frame[::2].drop(columns="estimated"), frame[::3].drop(columns="true")
    tables = {"labels": labels, "results": results}
    readers = {name: pa.Table.from_pandas(one).to_reader() for name, one in tables.items()}
    report = rn.evaluate(readers, threshold=4, memory_limit="2GB")
    check_alike(report, report.per_user, rn.evaluate(tables, threshold=4))


def test_users_who_are_not_kept_are_offered_in_a_file(tmp_path: Path, in_parts: Any) -> None:
    """Whatever needs each user raises with that fix; all else works."""
    in_parts(700, keeps=False)
    path = write(predictions(1), tmp_path / "p.parquet")
    report = rn.evaluate(path, threshold=4, memory_limit="2GB")
    assert str(report).startswith("150 users")
    assert report.to_markdown()
    assert report.to_latex()
    message = r"only the totals of .* Write them to a file"
    assert_rejected(message, lambda: report.per_user)
    assert_rejected(message, report.take, [3])
    assert_rejected(message, report.leaderboard, "ndcg@10")
    assert_rejected(message, report.save, tmp_path / "report.json")
    assert_rejected(message, report.intervals, method="bca")


def test_users_may_become_too_many_to_keep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_parts: Any
) -> None:
    """The first are kept until memory is full, then none is; the median is of all."""
    in_parts(400)
    monkeypatch.setattr(Memory, "can_keep", lambda _, users: users < 60)
    frame = predictions(8)
    report = rn.evaluate(write(frame, tmp_path / "p.parquet"), threshold=4, memory_limit="2GB")
    assert_rejected("has only the totals of", lambda: report.per_user)
    expected = rn.evaluate(frame, threshold=4).summary
    pd.testing.assert_frame_equal(report.summary, expected, rtol=1e-12)


def test_ids_with_leading_zeros_are_text(tmp_path: Path, in_parts: Any) -> None:
    """One in the last of many rows makes the whole column text."""
    in_parts(60)
    rows = [f"{user},{item},{item / 7},{item % 5}" for user in range(30) for item in range(10)]
    heading = "user,item,estimated,true"
    plain, zeros = tmp_path / "plain.csv", tmp_path / "zeros.csv"
    plain.write_text("\n".join([heading, *rows]))
    zeros.write_text("\n".join([heading, *rows, "007,1,2,3", "7,99,2,3"]))
    assert rn.evaluate(plain, memory_limit="2GB").users.tolist() == list(range(30))
    text = rn.evaluate([zeros], memory_limit="2GB")
    assert {"7", "007"} < set(text.users.tolist())
    assert text == rn.evaluate(zeros)


def test_the_format_of_text_may_be_given(tmp_path: Path, in_parts: Any) -> None:
    """Decimal commas, another separator, quotes, words for no value, blank lines, no heading."""
    in_parts(6)
    path = tmp_path / "p.csv"
    path.write_text('"a;b";x;1,5;4\nc;y;-2,25;NA\n\nc;x;1e1;\n"a;b";"y ""z""";+0,5; 3 \nd;x;2;nan')
    text = rn.TextFormat(separator=";", decimal=",", heading=False)
    found = evaluate_by_plan(path, Plan.of("ndcg"), text=text, memory_limit="2GB")
    assert found == rn.evaluate(rn.RankedLists.from_file(path, text=text), metrics="ndcg")
    assert found.users.tolist() == ["a;b", "c", "d"]


@pytest.mark.parametrize("factor", [0, -1], ids=["constant", "reversed"])
@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_warnings_are_those_of_the_whole(
    factor: int, end: str, tmp_path: Path, in_parts: Any
) -> None:
    """Each is given once, with the counts of all users."""
    in_parts(800)
    frame = predictions(1).assign(estimated=lambda one: factor * one["true"])
    with pytest.warns(rn.DataWarning) as found:
        rn.evaluate(write(frame, tmp_path / f"p.{end}"), threshold=9, memory_limit="2GB")
    with pytest.warns(rn.DataWarning) as expected:
        rn.evaluate(frame, threshold=9)
    messages = [str(one.message) for one in found]
    assert messages == [str(one.message) for one in expected]
    assert factor == 0 or any("the same lists in random order" in one for one in messages)
    assert {one.filename for one in found} == {__file__}


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_names_of_files_are_not_patterns(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a file has that name; quotes and the folder for temporary files do no harm either."""
    folder = tmp_path / "it's [1]"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    frames = {"p[1]": predictions(1), "p1": predictions(2), "a*b'c": predictions(3)}
    paths = {name: write(one, folder / f"{name}.{end}") for name, one in frames.items()}
    for name, frame in frames.items():
        report = rn.evaluate(paths[name], threshold=4, memory_limit="2GB")
        assert report == rn.evaluate(frame, threshold=4)
    assert len(list(folder.iterdir())) == len(frames)


@pytest.mark.parametrize("end", ["parquet", "csv"])
@pytest.mark.parametrize("rows", [4, 800], ids=["in parts", "at once"])
def test_ids_with_a_sign_and_without_are_the_same(
    rows: int, end: str, tmp_path: Path, in_parts: Any
) -> None:
    """Of 32 bits in the labels and of 64 in the results, which only decimals hold both."""
    in_parts(rows)
    users = np.array([2, 2, 2**63 + 5, 2**63 + 5], dtype=np.uint64)
    labels = pd.DataFrame({"user": [-1, -1, 2, 2], "item": [1, 2, 1, 2], "true": [1.0, 2, 3, 1]})
    results = labels.assign(user=users).rename(columns={"true": "estimated"})
    tables = {"labels": labels.astype({"user": "int32"}), "results": results}
    paths = {name: write(one, tmp_path / f"{name}.{end}") for name, one in tables.items()}
    report = rn.evaluate(paths, metrics="ndcg@2", memory_limit="2GB")
    assert report == rn.evaluate(tables, metrics="ndcg@2")
    assert report.users.tolist() == [-1, 2, 2**63 + 5]


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_ids_that_are_too_large_for_a_sign_are_read_in_parts(
    end: str, tmp_path: Path, in_parts: Any
) -> None:
    """Beyond 2^63, such as hashes of 64 bits."""
    in_parts(4)
    users = np.repeat(np.arange(4, dtype=np.uint64) + np.uint64(2**63), 2)
    frame = pd.DataFrame({"user": users, "item": [1, 2] * 4, "estimated": [2.0, 1.0] * 4})
    frame["true"] = [1.0, 3.0, 3.0, 1.0] * 2
    path = write(frame, tmp_path / f"p.{end}")
    report = rn.evaluate(path, metrics="ndcg@2", memory_limit="2GB")
    assert report.users.tolist() == [2**63 + place for place in range(4)]
    assert report == rn.evaluate(frame, metrics="ndcg@2")


def test_the_folder_for_temporary_files_may_have_any_name(
    places: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_parts: Any
) -> None:
    """Even of the form that stands for a column in data of Hive."""
    in_parts(700)
    folder = places / "user=5" / "rank=1"
    folder.mkdir(parents=True)
    frame = predictions(5)
    path = write(frame, tmp_path / "p.parquet")
    with monkeypatch.context() as patched:
        patched.setattr("tempfile.tempdir", str(folder))
        report = rn.evaluate(path, threshold=4, memory_limit="2GB")
    folder.rmdir()
    folder.parent.rmdir()
    assert report == rn.evaluate(frame, threshold=4)


def test_the_progress_bar_names_each_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_parts: Any
) -> None:
    """Until all of it is done."""
    in_parts(700)
    shown: dict[str, float] = {}
    bar = nullcontext(shown.__setitem__)
    monkeypatch.setattr("recsys_ndcg.scale.duckdb.progress_bar", lambda **_: bar)
    rn.evaluate(write(predictions(5), tmp_path / "p.csv"), threshold=4, memory_limit="2GB")
    steps = "Looking at all rows", "Bringing users together", "Measuring users"
    assert shown == dict.fromkeys(steps, 1.0)


def test_an_interrupt_ends_a_query(tmp_path: Path) -> None:
    """At once, though it would take hours, and as an interrupt."""

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    query = "SELECT count(*) FROM range(10_000_000) a, range(10_000_000) b WHERE a.range > b.range"
    with closing(Database(tmp_path / "spill", 10**9, interrupt)) as database:
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            database.run(query)
        assert time.monotonic() - start < 60  # on a busy machine; alone it takes 0.1 s


def test_types_of_numbers_may_differ_between_files(tmp_path: Path) -> None:
    """As pandas writes them: short ids, and grades with and without gaps."""
    frame = predictions(5)
    frame.iloc[:900].astype({"user": "int16", "true": int}).to_parquet(tmp_path / "0.parquet")
    gaps = frame.iloc[900:].assign(true=lambda one: one["true"].where(one["true"] > 1))
    gaps.to_parquet(tmp_path / "1.parquet")
    report = rn.evaluate(str(tmp_path / "*.parquet"), threshold=4)
    assert report == rn.evaluate(pd.concat([frame.iloc[:900], gaps]), threshold=4)


MEASURED = """
import re, sys, warnings
import recsys_ndcg as rn
warnings.simplefilter("ignore", rn.DataWarning)
for _ in range(int(sys.argv[3])):
    report = None  # which may hold the lists
    report = rn.evaluate(sys.argv[1], threshold=4, memory_limit=sys.argv[2])
    status = open("/proc/self/status").read()  # rusage has the parent's, too
    print(report.counts["users"], *re.findall(r"Vm(?:HWM|RSS):\\s*(\\d+)", status))
"""


def _many_rows(n_users: int, n_items: int, letters: int, folder: Path) -> Path:
    """Write a large table; ids of items begin with some letters."""
    row = np.arange(n_users * n_items)
    frame = pd.DataFrame({"user": row % n_users, "item": row // n_users})
    if letters:
        frame = frame.assign(item="x" * letters + row.astype(str).astype(object))
    draw = np.random.default_rng(0)
    frame = frame.assign(estimated=draw.random(len(row)), true=draw.integers(1, 6, len(row)))
    return write(frame, folder / "p.parquet")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not report it")
@pytest.mark.parametrize(
    ("n_users", "n_items", "letters", "times"),
    [(1_200_000, 1, 0, 2), (10_000, 180, 0, 2), (10_000, 120, 90, 2), (10_000, 100, 0, 12)],
    ids=["users of one row", "long lists", "long ids", "many calls"],
)
def test_the_memory_limit_is_kept(
    n_users: int, n_items: int, letters: int, times: int, tmp_path: Path
) -> None:
    """In one process, which does not grow with every call."""
    path = _many_rows(n_users, n_items, letters, tmp_path)
    ended = run_python("-c", MEASURED, path, "900MB", str(times))
    rows = np.array([line.split() for line in ended.stdout.splitlines()], dtype=int)
    assert rows[0, 0] == n_users
    assert rows[:, 1].max() * 1024 < 900_000_000
    assert times == 2 or rows[:, 2].max() < rows[0, 2] + 100 * 1024


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [162, 300])
def test_the_least_memory_sorts_long_ids(megabytes: int, tmp_path: Path) -> None:
    """A sort takes memory in each thread: within 162 MB, the least, two threads would fail."""
    path = _many_rows(10_000, 120, 60, tmp_path)
    order = f"SELECT * FROM '{path}' ORDER BY \"user\", item"  # noqa: S608 - ours
    copy = f"COPY ({order}) TO '{tmp_path / 'sorted.parquet'}' (COMPRESSION uncompressed)"
    with closing(Database(tmp_path / "spill", megabytes * 10**6, lambda *_: None)) as database:
        database.run(copy)
    assert dataset.dataset(tmp_path / "sorted.parquet").count_rows() == 1_200_000


@pytest.mark.parametrize("end", ["parquet", "csv"])
@pytest.mark.parametrize(("letters", "joined"), [("", False), ("u", False), ("u", True)])
def test_a_user_with_too_many_rows_is_named(
    letters: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, joined: bool
) -> None:
    """With the limit that would do; the letters of ids count too."""
    frame = predictions(6, counts=[900, *[20] * 50])
    if letters:
        frame = frame.assign(**{one: letters + frame[one].astype(str) for one in ("user", "item")})
    data: Any = write(frame, tmp_path / f"p.{end}")
    if joined:
        labels = write(frame.drop(columns="estimated"), tmp_path / f"labels.{end}")
        data = {"labels": labels, "results": data}
    rows = 1800 if joined else 900
    budget = Memory(0, 3).cost(rows, 1) + (20_000 if letters else -20_000)
    monkeypatch.setattr(Memory, "budget", property(lambda _: budget))
    message = rf"user '?u?3'? has {rows:,} rows.*limit='.*GB"
    assert_rejected(message, rn.evaluate, data, threshold=4, memory_limit="2GB")


numbers = st.lists(st.floats(allow_nan=False) | st.just(float("nan")), max_size=30)


@given(st.lists(numbers, min_size=1, max_size=5))
def test_the_median_is_found_on_disk(parts: list[list[float]]) -> None:
    """Of any numbers and gaps, in any parts."""
    with TemporaryDirectory() as folder:
        scores = ScoreFile(Path(folder))
        for part in parts:
            scores.add(np.array(part, dtype=np.float64).reshape(-1, 1))
        values = np.array([one for part in parts for one in part if not np.isnan(one)])
        with np.errstate(over="ignore", invalid="ignore"):
            expected = np.median(values) if len(values) else np.nan
            np.testing.assert_array_equal(scores.median(), [expected])
