"""Files and streams within a limit of memory: measured as in memory, or refused by name."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.evaluation import evaluated
from recsys_ndcg.scale.database import Database, Memory
from recsys_ndcg.scale.duckdb import ScoreFile
from recsys_ndcg.scoring import Plan
from tests.scale.alike import check_alike, check_users
from tests.scale.cases import CASES, predictions

if TYPE_CHECKING:
    from tests.scale.cases import Case

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra scale has it")
pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")

pytestmark = pytest.mark.usefixtures("places")
#: How many parts the rows of a case are brought together in, about.
PARTS = 5


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return how to let the memory hold so many rows, and keep users or not."""

    def set_to(rows: int, *, keeps: bool = True) -> None:
        monkeypatch.setattr(Memory, "budget", property(lambda _: rows))
        monkeypatch.setattr(Memory, "cost", lambda _, rows, *_others: rows)
        monkeypatch.setattr(Memory, "keeps", lambda *_: keeps)

    return set_to


def _tables(case: Case) -> dict[str, pd.DataFrame]:
    data = case.data
    return {"predictions": data} if isinstance(data, pd.DataFrame) else data


def _written(case: Case, folder: Path, end: str) -> Any:
    """Write each table of a case to three files, and return what names them."""
    named = {}
    for name, table in _tables(case).items():
        for place in range(3):
            path = folder / f"{name}{place}.{end}"
            some = table.iloc[place * len(table) // 3 : (place + 1) * len(table) // 3]
            some.to_parquet(path) if end == "parquet" else some.to_csv(path, index=False)
        named[name] = str(folder / f"{name}*.{end}")
    return named.get("predictions", named)


def _rows_at_once(case: Case) -> int:
    """Return how many rows the memory shall hold: the largest user's at least."""
    users = pd.concat([one.iloc[:, 0] for one in _tables(case).values()])
    return max(len(users) // PARTS, int(users.value_counts().iloc[0]))


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("keeps", [True, False], ids=["kept", "summed up"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_parts_are_measured_as_the_whole(
    case: Case, tmp_path: Path, in_parts: Any, *, keeps: bool
) -> None:
    """The same report, whether users are kept or summed up, and the same file of users."""
    in_parts(_rows_at_once(case), keeps=keeps)
    users = tmp_path / "users.parquet"
    data = _written(case, tmp_path, "parquet")
    report = rn.evaluate(data, **case.options, memory_limit="4GB", per_user=users)
    expected = case.local()
    check_alike(report, pd.read_parquet(users).set_index("user"), expected)
    if keeps:
        assert report == expected
        assert report.users.tolist() == expected.users.tolist()
        assert report.same_ratings(expected)
        pd.testing.assert_frame_equal(report.per_user, expected.per_user)


TEXT = [
    case
    for case in CASES
    if case.name not in {"decimal grades and estimates", "tenths of 32 bits", "short numbers"}
    and "grades of true and false" not in case.name
    and "text" not in case.name
]


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("case", TEXT, ids=str)
def test_text_is_read_as_in_memory(case: Case, tmp_path: Path, in_parts: Any) -> None:
    """CSV in several files, with ids that are whole numbers and such that are not."""
    in_parts(_rows_at_once(case))
    report = rn.evaluate(_written(case, tmp_path, "csv"), **case.options)
    check_alike(report, report.per_user, case.local())


@pytest.mark.parametrize("options", [
    {"convention": rn.Convention(ties="input")},
    {"convention": rn.Convention(duplicates="first")},
    {"convention": rn.Convention(duplicates="last", ties="input")},
], ids=["ties", "first", "last"])  # fmt: skip
@pytest.mark.parametrize("end", ["parquet", "csv"])
@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
def test_the_order_of_rows_is_that_of_the_files(
    options: dict[str, Any], end: str, tmp_path: Path, in_parts: Any
) -> None:
    """What hangs on the order of rows is what it is in memory."""
    frame = predictions(1, n_rows=4000)
    frame = frame.assign(estimated=frame["estimated"].round())
    if options["convention"].duplicates != "raise":
        frame = frame.assign(item=frame["item"] // 3)
    in_parts(2 * len(frame) // PARTS)
    for place in range(4):
        path = tmp_path / f"{place}.{end}"
        some = frame.iloc[place * len(frame) // 4 : (place + 1) * len(frame) // 4]
        some.to_parquet(path) if end == "parquet" else some.to_csv(path, index=False)
    report = rn.evaluate(str(tmp_path / f"*.{end}"), threshold=4, **options)
    check_alike(report, report.per_user, rn.evaluate(frame, threshold=4, **options))


def _streams(frame: pd.DataFrame, folder: Path) -> dict[str, Any]:
    frame.to_parquet(folder / "frame.parquet")
    table = pa.Table.from_pandas(frame)
    return {
        "relation of DuckDB": duckdb.from_arrow(table),
        "dataset": dataset.dataset(folder / "frame.parquet"),
        "reader": table.to_reader(max_chunksize=500),
        "lazy table of polars": pl.scan_parquet(folder / "frame.parquet"),
        "table of pandas": frame,
        "table of polars": pl.from_pandas(frame),
        "path": folder / "frame.parquet",
    }


@pytest.mark.parametrize(
    "form",
    [
        "relation of DuckDB",
        "dataset",
        "reader",
        "lazy table of polars",
        "table of pandas",
        "table of polars",
        "path",
    ],
)
@pytest.mark.parametrize("rows", [700, 100_000], ids=["in parts", "at once"])
def test_streams_are_measured(form: str, rows: int, tmp_path: Path, in_parts: Any) -> None:
    """Whatever gives batches of Arrow's: what fits the memory is a report like any other."""
    frame = predictions(3)
    in_parts(rows)
    data = _streams(frame, tmp_path)[form]
    report = rn.evaluate(data, threshold=4, memory_limit="3 GiB")
    expected = rn.evaluate(frame, threshold=4)
    check_alike(report, report.per_user, expected)
    if rows > len(frame):
        user = expected.users[0]  # one of several best orders is shown, by the order of rows
        told, known = (one.explain(user).drop(columns="ideal_item") for one in (report, expected))
        pd.testing.assert_frame_equal(told, known)


def test_a_lazy_table_is_worked_out_as_far_as_it_is_read() -> None:
    """What else it has is never looked at."""
    frame = predictions(3)
    lazy = pl.from_pandas(frame.rename(columns={"true": "grade"})).lazy()
    dear = pl.lit(1).map_batches(lambda _: 1 // 0, return_dtype=pl.Int64)
    options: dict[str, Any] = {"threshold": 4, "memory_limit": "3GB", "columns": {"true": "grade"}}
    report = rn.evaluate(lazy.with_columns(dear=dear), **options)
    check_alike(report, report.per_user, rn.evaluate(frame, threshold=4))


def test_users_who_are_not_kept_are_said_to_be(tmp_path: Path, in_parts: Any) -> None:
    """What needs each user says where they are; what does not is there."""
    in_parts(700, keeps=False)
    predictions(1).to_parquet(tmp_path / "p.parquet")
    report = rn.evaluate(tmp_path / "p.parquet", threshold=4, memory_limit="2GB")
    assert str(report).startswith("150 users")
    assert report.to_markdown()
    assert report.to_latex()
    for ask in (
        lambda: report.per_user,
        lambda: report.take([3]),
        lambda: report.leaderboard("ndcg@10"),
        lambda: report.save(tmp_path / "report.json"),
        lambda: report.intervals(method="bca"),
    ):
        with pytest.raises(rn.InvalidInputError, match=r"sums up .* Ask for them in a file"):
            ask()


def test_leading_zeros_are_no_numbers(tmp_path: Path, in_parts: Any) -> None:
    """One id that begins with a zero, in the last of many rows, and all of them are text."""
    in_parts(60)
    rows = [f"{user},{item},{item / 7},{item % 5}" for user in range(30) for item in range(10)]
    heading = "user,item,estimated,true"
    plain, zeros = tmp_path / "plain.csv", tmp_path / "zeros.csv"
    plain.write_text("\n".join([heading, *rows]))
    zeros.write_text("\n".join([heading, *rows, "007,1,2,3", "7,99,2,3"]))
    number = rn.evaluate(plain, memory_limit="2GB")
    text = rn.evaluate([zeros], memory_limit="2GB")
    assert number.users.tolist() == list(range(30))
    assert {"7", "007"} < set(text.users.tolist())
    assert text == rn.evaluate(zeros)


def test_how_text_is_written_is_told(tmp_path: Path, in_parts: Any) -> None:
    """Decimal commas, another separator, quotes, words for nothing, blank lines, no heading."""
    in_parts(6)
    rows = [
        '"a;b";x;1,5;4',
        "c;y;-2,25;NA",
        "",
        "c;x;1e1;",
        '"a;b";"y ""z""";+0,5; 3 ',
        "d;x;2;nan",
    ]
    path = tmp_path / "p.csv"
    path.write_text("\n".join(rows))
    text = rn.TextFormat(separator=";", decimal=",", heading=False)
    plan = Plan.of("ndcg")
    found = evaluated(path, plan, text=text, memory_limit="2GB")
    expected = rn.evaluate(rn.RankedLists.from_file(path, text=text), metrics="ndcg")
    assert found == expected
    assert found.users.tolist() == ["a;b", "c", "d"]


@pytest.mark.parametrize("data", ["parquet", "csv"])
@pytest.mark.parametrize("factor", [0, -1])
def test_warnings_are_those_of_the_whole(
    data: str, factor: float, tmp_path: Path, in_parts: Any
) -> None:
    """What looks like a mistake is said once, with the counts of all users."""
    in_parts(600)
    frame = predictions(1)
    frame["estimated"] = factor * frame["true"]
    path = tmp_path / f"p.{data}"
    frame.to_parquet(path) if data == "parquet" else frame.to_csv(path, index=False)
    with pytest.warns(rn.DataWarning) as told:
        rn.evaluate(path, threshold=9, memory_limit="2GB")
    with pytest.warns(rn.DataWarning) as expected:
        rn.evaluate(frame, threshold=9)
    assert [str(one.message) for one in told] == [str(one.message) for one in expected]
    assert factor == 0 or any("the same lists in random order" in str(one.message) for one in told)
    assert {one.filename for one in told} == {__file__}


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_names_of_files_are_no_patterns(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a file has such a name: signs of patterns, quotes, and in the temporary folder, too."""
    folder = tmp_path / "it's [1]"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    frames = {"p[1]": predictions(1), "p1": predictions(2), "a*b'c": predictions(3)}
    for name, frame in frames.items():
        path = folder / f"{name}.{end}"
        frame.to_parquet(path) if end == "parquet" else frame.to_csv(path, index=False)
    for name, frame in frames.items():
        report = rn.evaluate(folder / f"{name}.{end}", threshold=4, memory_limit="2GB")
        assert report == rn.evaluate(frame, threshold=4)
    assert len(list(folder.iterdir())) == len(frames)


def test_ids_of_other_widths_are_the_same(tmp_path: Path, in_parts: Any) -> None:
    """Negative ones, too, in labels and in results, and in files of one table."""
    in_parts(800, keeps=False)
    frame = predictions(5).assign(user=lambda one: one["user"] - 500)
    labels, results = frame[["user", "item", "true"]], frame[["user", "item", "estimated"]]
    labels.astype({"user": np.int32}).to_parquet(tmp_path / "labels.parquet")
    results.to_parquet(tmp_path / "results.parquet")
    data = {name: tmp_path / f"{name}.parquet" for name in ("labels", "results")}
    report = rn.evaluate(data, threshold=4, memory_limit="2GB")
    assert report.counts["users"] == frame["user"].nunique()
    frame.iloc[::2].astype({"user": np.int16}).to_parquet(tmp_path / "0.parquet")
    frame.iloc[1::2].to_parquet(tmp_path / "1.parquet")
    report = rn.evaluate(str(tmp_path / "[01].parquet"), threshold=4)
    assert report.counts == rn.evaluate(frame, threshold=4).counts


@pytest.mark.parametrize("end", ["parquet", "csv"])
def test_ids_may_fill_64_bits(end: str, tmp_path: Path, in_parts: Any) -> None:
    """Hashes of names, say, without a sign."""
    in_parts(800)
    frame = predictions(5).assign(user=lambda one: one["user"].astype(np.uint64) + 2**63)
    path = tmp_path / f"p.{end}"
    frame.to_parquet(path) if end == "parquet" else frame.to_csv(path, index=False)
    report = rn.evaluate(path, threshold=4, memory_limit="2GB")
    assert report == rn.evaluate(frame, threshold=4)
    assert report.users.tolist() == sorted(frame["user"].unique())


@pytest.mark.parametrize("rows", [4, 800])
def test_users_with_a_sign_here_and_without_there(rows: int, tmp_path: Path, in_parts: Any) -> None:
    """NumPy has no type for both but floats, which 2^63 + 5 is too long for."""
    in_parts(rows)
    labels = pd.DataFrame({"user": [-1, -1, 2, 2], "item": [1, 2, 1, 2], "true": [1.0, 2, 3, 1]})
    users = np.array([2, 2, 2**63 + 5, 2**63 + 5], dtype=np.uint64)
    results = labels.assign(user=users).rename(columns={"true": "estimated"})
    paths = {"labels": tmp_path / "labels.parquet", "results": tmp_path / "results.parquet"}
    labels.to_parquet(paths["labels"])
    results.to_parquet(paths["results"])
    report = rn.evaluate(paths, metrics="ndcg@2", memory_limit="2GB")
    assert report == rn.evaluate({"labels": labels, "results": results}, metrics="ndcg@2")
    assert report.users.tolist() == [-1, 2, 2**63 + 5]


def test_grades_with_and_without_gaps(tmp_path: Path) -> None:
    """As pandas writes them: whole numbers in one file, floats in the next."""
    frame = predictions(5)
    frame.iloc[:900].astype({"true": int}).to_parquet(tmp_path / "0.parquet")
    gaps = frame.iloc[900:].assign(true=lambda one: one["true"].where(one["true"] > 1))
    gaps.to_parquet(tmp_path / "1.parquet")
    report = rn.evaluate(str(tmp_path / "*.parquet"), threshold=4)
    assert report == rn.evaluate(pd.concat([frame.iloc[:900], gaps]), threshold=4)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("rows", [200, 100_000], ids=["in parts", "at once"])
def test_labels_and_results_may_both_be_streams(rows: int, in_parts: Any) -> None:
    """Each is read by a name of its own."""
    in_parts(rows)
    frame = predictions(5)
    tables = {
        "labels": frame[["user", "item", "true"]].iloc[::2],
        "results": frame[["user", "item", "estimated"]].iloc[::3],
    }
    readers = {name: pa.Table.from_pandas(one).to_reader() for name, one in tables.items()}
    report = rn.evaluate(readers, threshold=4, memory_limit="2GB")
    check_alike(report, report.per_user, rn.evaluate(tables, threshold=4))


def test_ranks_without_a_first_are_warned_of_once(tmp_path: Path, in_parts: Any) -> None:
    """The least of all, though it is another in each part."""
    in_parts(800)
    frame = predictions(5)
    frame[["user", "item", "true"]].to_parquet(tmp_path / "labels.parquet")
    ranks = frame.assign(rank=frame.groupby("user").cumcount() + 5 + frame["user"] % 11)
    ranks[["user", "item", "rank"]].to_parquet(tmp_path / "results.parquet")
    data = {name: tmp_path / f"{name}.parquet" for name in ("labels", "results")}
    with pytest.warns(rn.DataWarning) as told:
        rn.evaluate(data, threshold=4, memory_limit="2GB")
    messages = [str(one.message) for one in told]
    assert sum("no list has a first rank, the least of all is 5;" in one for one in messages) == 1
    with pytest.warns(rn.DataWarning) as expected:
        rn.evaluate(data, threshold=4)
    assert set(messages) == {str(one.message) for one in expected}


def test_users_may_become_too_many_on_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_parts: Any
) -> None:
    """The first are kept until there is no room: then none is, and the median is of all."""
    in_parts(400)
    monkeypatch.setattr(Memory, "keeps", lambda _, users: users < 60)
    frame = predictions(8)
    frame.to_parquet(tmp_path / "p.parquet")
    report = rn.evaluate(tmp_path / "p.parquet", threshold=4, memory_limit="2GB")
    with pytest.raises(rn.InvalidInputError, match="does not keep each"):
        _ = report.per_user
    expected = rn.evaluate(frame, threshold=4).summary
    pd.testing.assert_frame_equal(report.summary, expected, rtol=1e-12)


LIMITED = """
import re, sys, warnings
import recsys_ndcg as rn
warnings.simplefilter("ignore", rn.DataWarning)
for _ in range(2):
    report = None  # which may hold the lists
    report = rn.evaluate(sys.argv[1], threshold=4, memory_limit="900MB")
told = open("/proc/self/status").read()  # what the process itself had: rusage has its parent's, too
print(report.counts["users"], int(re.search(r"VmHWM:\\s*(\\d+)", told)[1]) * 1024)
"""


def _many_rows(n_users: int, n_items: int, letters: int, folder: Path) -> Path:
    """Write so many rows to a file; ids of items have so many letters in front."""
    row = np.arange(n_users * n_items)
    frame = pd.DataFrame({"user": row % n_users, "item": row // n_users})
    if letters:
        frame = frame.assign(item="x" * letters + row.astype(str).astype(object))
    draw = np.random.default_rng(0)
    frame = frame.assign(estimated=draw.random(len(row)), true=draw.integers(1, 6, len(row)))
    frame.to_parquet(folder / "p.parquet")
    return folder / "p.parquet"


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say")
@pytest.mark.parametrize(
    ("n_users", "n_items", "letters"),
    [(1_200_000, 1, 0), (10_000, 180, 0), (10_000, 120, 90)],
    ids=["users of one row", "long lists", "long ids"],
)
def test_the_limit_is_kept(n_users: int, n_items: int, letters: int, tmp_path: Path) -> None:
    """Twice in one process, whatever fills the memory."""
    path = _many_rows(n_users, n_items, letters, tmp_path)
    ended = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", LIMITED, path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    users, peak = map(int, ended.stdout.split())
    assert users == n_users
    assert peak < 900_000_000


REPEATED = """
import re, sys, warnings
import recsys_ndcg as rn
warnings.simplefilter("ignore", rn.DataWarning)
for _ in range(12):
    rn.evaluate(sys.argv[1], threshold=4, memory_limit="2GB")
    print(int(re.search(r"VmRSS:\\s*(\\d+)", open("/proc/self/status").read())[1]) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say")
def test_a_process_does_not_grow_with_every_call(tmp_path: Path) -> None:
    """What is left after the first call serves the later ones."""
    path = _many_rows(10_000, 100, 0, tmp_path)
    ended = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", REPEATED, path], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    megabytes = [int(line) for line in ended.stdout.split()]
    assert max(megabytes) < megabytes[0] + 100


@pytest.mark.parametrize("megabytes", [162, 300])
def test_the_least_memory_sorts_long_ids(megabytes: int, tmp_path: Path) -> None:
    """A sort takes memory in each thread: within 162 MB, the least, two threads would fail."""
    path = _many_rows(10_000, 120, 60, tmp_path)
    order = f"SELECT * FROM '{path}' ORDER BY \"user\", item"  # noqa: S608 - ours
    copy = f"COPY ({order}) TO '{tmp_path / 'sorted.parquet'}' (COMPRESSION uncompressed)"
    with closing(Database(tmp_path / "spill", megabytes * 10**6, lambda *_: None)) as database:
        database.run(copy)
    assert dataset.dataset(tmp_path / "sorted.parquet").count_rows() == 1_200_000


def test_a_heavy_user_is_named(tmp_path: Path, in_parts: Any) -> None:
    """A user with more rows than the memory holds, and the limit that would do."""
    in_parts(500)
    predictions(6, counts=[900, *[20] * 50]).to_parquet(tmp_path / "p.parquet")
    with pytest.raises(rn.InvalidInputError, match=r"user 3 has 900 rows.*memory_limit='.*GB'"):
        rn.evaluate(tmp_path / "p.parquet", threshold=4, memory_limit="2GB")


@pytest.mark.parametrize("joined", [False, True])
def test_a_heavy_user_with_long_ids_is_named(
    joined: bool,  # noqa: FBT001 - pytest's
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whose letters take the memory, more than the rows: to part them would never end."""
    frame = predictions(6, counts=[900, *[20] * 50])
    frame = frame.assign(user="u" + frame["user"].astype(str), item="i" + frame["item"].astype(str))
    frame.to_parquet(tmp_path / "p.parquet")
    data: Any = tmp_path / "p.parquet"
    if joined:
        frame.drop(columns="estimated").to_parquet(tmp_path / "labels.parquet")
        data = {"labels": tmp_path / "labels.parquet", "results": data}
    rows = 1800 if joined else 900
    budget = Memory(0, 3).cost(rows, 1) + 20_000
    monkeypatch.setattr(Memory, "budget", property(lambda _: budget))
    with pytest.raises(rn.InvalidInputError, match=f"user 'u3' has {rows:,} rows"):
        rn.evaluate(data, threshold=4, memory_limit="2GB")


@given(
    st.lists(
        st.lists(st.floats(allow_nan=False) | st.just(float("nan")), max_size=30),
        min_size=1,
        max_size=5,
    )
)
def test_the_median_is_found_on_disk(parts: list[list[float]]) -> None:
    """Any numbers, some without one, in any parts."""
    with TemporaryDirectory() as folder:
        scores = ScoreFile(Path(folder))
        for part in parts:
            scores.add(np.array(part, dtype=np.float64).reshape(-1, 1))
        values = np.array([one for part in parts for one in part if not np.isnan(one)])
        with np.errstate(over="ignore", invalid="ignore"):
            expected = np.median(values) if len(values) else np.nan
            np.testing.assert_array_equal(scores.median(), [expected])


def test_users_are_the_same_in_every_engine(tmp_path: Path, in_parts: Any) -> None:
    """The file of users holds every user once, with the types of the report."""
    in_parts(700, keeps=False)
    frame = predictions(8)
    frame.to_csv(tmp_path / "p.csv", index=False)
    rn.evaluate(tmp_path / "p.csv", memory_limit="2GB", per_user=tmp_path / "u.parquet")
    found = pd.read_parquet(tmp_path / "u.parquet").set_index("user")
    check_users(found, rn.evaluate(frame).per_user)
