"""Ids: what is written alike must be alike, times keep their nanoseconds, and all have an order."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import json
import tracemalloc
import uuid
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import recsys_ndcg as rn
from recsys_ndcg.input import plain_text
from recsys_ndcg.input.ids import Coded, written
from recsys_ndcg.rendering.exports import per_user_csv
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ONE = uuid.UUID(int=1)
ALIKE = [
    (7, "7"),
    (7.5, "7.5"),
    (b"x", "x"),
    (dt.date(2020, 1, 1), "2020-01-01"),
    (ONE, str(ONE)),
    (Decimal("1.50"), "1.50"),
    ((1, 2), "(1, 2)"),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_different_ids_that_are_written_alike_are_refused(one: Any, other: Any) -> None:
    """Half of the users as 7 and half as "7" would be two users, each with half a list."""
    with rejects("user: .* written alike.*Make all ids of one type"):
        rn.RankedLists.from_tuples([(one, "x", 2.0, 3), (other, "y", 1.0, 4)])
    with rejects("item: .* written alike"):
        rn.RankedLists.from_tuples([("ann", one, 2.0, 3), ("ann", other, 1.0, 4)])


def test_ids_of_two_tables_that_meet_in_part_are_refused() -> None:
    """1, "2", "3" among 1, 2, 3: one of three was found, and two scored as irrelevant."""
    labels = pd.DataFrame({"user": 1, "item": [1, 2, 3], "true": [4, 5, 1]})
    results = pd.DataFrame({"user": 1, "item": [1, "2", "3"], "estimated": [3.0, 2.0, 1.0]})
    with rejects("item: .*2.* written alike"):
        rn.RankedLists.from_labels(labels, results)
    ours = [(1, item, 1.0, 1) for item in (1, 2, 3)]
    theirs = [(1, item, 1.0, 1) for item in (1, "2", "3")]
    with rejects("item: .*2.* written alike"):
        rn.jaccard_at_k(ours, theirs, 2)


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, np.int8(1)), ("a", np.str_("a"))])
def test_ids_that_are_equal_as_values_are_one(one: Any, other: Any) -> None:
    """However they are written."""
    assert len(rn.RankedLists.from_tuples([(one, "x", 2.0, 3), (other, "y", 1.0, 4)])) == 1


def test_zero_is_one_id_written_in_one_way() -> None:
    """Whichever sign comes first."""
    for zeros in ([0.0, -0.0], [-0.0, 0.0]):
        lists = rn.RankedLists.from_arrays(zeros, [1, 2], [1.0, 2.0], [1, 2])
        assert [str(user) for user in lists.users] == ["0.0"]


TIMES = np.array(["2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000002"], "M8[ns]")


@pytest.mark.parametrize("kind", ["numpy", "pandas", "polars", "differences"])
def test_times_keep_their_nanoseconds(kind: str) -> None:
    """Two events in one microsecond are two."""
    times = TIMES - TIMES[0] if kind == "differences" else TIMES
    columns = {"user": times, "item": [1, 2], "estimated": [2.0, 1.0], "true": [1, 2]}
    make: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(kind, dict)
    users = rn.RankedLists.of(make(columns)).users
    assert users.tolist() == pd.Index(times).tolist()
    report = rn.evaluate(columns)
    assert report.per_user.index.tolist() == pd.Index(times).tolist()


def test_times_finer_than_nanoseconds_are_refused() -> None:
    """As whole numbers they would fit."""
    with rejects("user: times in ps are finer than nanoseconds"):
        rn.RankedLists.from_arrays(TIMES.astype("M8[ps]"), [1, 2], [1, 2], [1, 2])


SETS = [frozenset(each) for n in range(4) for each in itertools.combinations("abc", n)]


@pytest.mark.parametrize("ids", [SETS, [*SETS, 1, "z", (1,), Decimal("2.5")]])
def test_ids_without_an_order_stand_in_one_whatever_the_order_of_the_rows(ids: list[Any]) -> None:
    """Sets are compared by what they hold, so that a sort leaves them as they came."""
    rows = [("ann", one, 1.0, place % 5) for place, one in enumerate(ids)]
    found = set()
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(rows))
        lists = rn.RankedLists.from_tuples([rows[place] for place in order])
        assert lists.item_ids is not None
        scores = [
            rn.evaluate(lists, convention=rn.Convention(ties=ties), k=4)["ndcg@4"]
            for ties in ("item_asc", "item_desc", "text_asc", "text_desc")
        ]
        found.add((*map(str, map(sorted, map(str, lists.item_ids))), *scores))
    assert len(found) == 1


def test_a_number_beyond_all_floats_is_an_id() -> None:
    """Of hundreds of digits, beside text too."""
    rows = [(10**400, "x", 2.0, 3), ("ann", "x", 1.0, 4), ((10**400, 1), "x", 1.0, 4)]
    assert rn.RankedLists.from_tuples(rows).users.tolist() == [10**400, "ann", (10**400, 1)]


def test_a_set_is_written_in_one_way() -> None:
    """Equal sets can go through their members in different orders."""
    forth, back = frozenset([0, 8]), frozenset([8, 0])
    assert list(forth) != list(back)
    assert written(forth) == written(back)
    assert written((1, frozenset([forth, 2]))) == written((1, frozenset([2, back])))


def test_ids_as_text_take_the_memory_of_the_text_that_there_is() -> None:
    """One id of 10,000 characters among 60,000 took 9 GiB."""
    ids = np.array([*map(str, range(60_000)), "x" * 10_000], dtype=object)
    tracemalloc.start()
    places = Coded(ids, np.arange(len(ids), dtype=np.int32)).text_places
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert places[-1] == len(ids) - 1
    assert peak < 20e6
    rows = [("ann", one, 1.0, place % 2) for place, one in enumerate(ids)]
    rn.evaluate(rows, metrics=["ap@10"], convention="trec_eval", threshold=1)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8", "uint16"])
@pytest.mark.parametrize("largest", [100, 10**8 - 1, 10**8, 2**63 - 1])
@pytest.mark.parametrize("least", [0, -3])
def test_whole_numbers_stand_as_their_text_does(dtype: str, largest: int, least: int) -> None:
    """Those of eight digits, and longer ones."""
    known = np.iinfo(dtype)
    alike = {*range(123456780, 123456790), *range(1234567800, 1234567890)}  # in eight digits
    drawn = {one for one in alike if one < largest} | {
        least,
        largest,
        *range(0, 30, 3),
        *range(5, largest, largest // 7 + 1),
    }
    ids = np.array([one for one in sorted(drawn) if known.min <= one <= known.max], dtype=dtype)
    text = [str(one) for one in ids.tolist()]
    places = Coded(ids, np.arange(len(ids), dtype=np.int32)).text_places
    assert places.tolist() == [sorted(text).index(one) for one in text]


def test_ids_with_half_a_character_are_shown() -> None:
    """As names of files have them; Arrow, in which pandas keeps text, does not."""
    rows = [("a\ud800", "x", 1.0, 2), ("a\ud800", "y\udc80", 2.0, 3)]
    report = rn.evaluate(rows, metrics=["ndcg@2"])
    tables = [
        report.per_user, report.truth, report.per_user_audit("ndcg@2"),
        report.explain("a\ud800"), report.leaderboard("ndcg@2"),
    ]  # fmt: skip
    assert all(len(one) for one in tables)
    assert report.per_user.index.tolist() == ["a\ud800"]
    assert report.explain("a\ud800")["item"].tolist() == ["y\udc80", "x"]


OTHERS: list[list[Any]] = [
    [frozenset("ab"), frozenset("cd")],
    ["a", "b"],
    [(1, 2), (1, "b")],
    [2.0, "c"],
    [True, "c"],
    [Decimal("10.50"), dt.date(2020, 1, 1)],
    [-0.0, b"x"],
]
OWN: list[list[Any]] = [[9, 10], [9, 10.5], [2, "2-x"], [1, "A"], [(9,), (10,)], ["9", "10"]]


@pytest.mark.parametrize("others", OTHERS, ids=range(len(OTHERS)))
@pytest.mark.parametrize("own", OWN, ids=repr)
@pytest.mark.parametrize("ties", ["item_asc", "item_desc", "text_asc", "text_desc"])
def test_the_order_of_a_users_items_hangs_on_no_other_ids(
    own: list[Any], others: list[Any], ties: str
) -> None:
    """What stands beside them, and what comes first."""
    ann = [("ann", one, 3.0, 5 - 4 * place) for place, one in enumerate(own)]
    bob = [("bob", one, 3.0, 1 + place) for place, one in enumerate(others)]
    convention = rn.Convention(ties=ties)
    tables: list[Any] = [
        rn.evaluate(rows, k=1, convention=convention).per_user
        for rows in (ann, ann + bob, bob + ann, ann[::-1] + bob)
    ]
    alone, *beside = (one.loc["ann", "ndcg@1"] for one in tables)
    assert beside == [alone] * 3


@pytest.mark.parametrize("ids", [[1, 1.0], [True, 1], [Decimal("1.10"), Decimal("1.1")]])
def test_equal_ids_are_written_in_one_way(ids: list[Any]) -> None:
    """Whichever stands first, where text stands beside."""
    found = set()
    for order in (ids, ids[::-1]):
        rows = [(user, one, 1.0, 2) for user, one in enumerate(order)]
        lists = rn.RankedLists.from_tuples([*rows, (9, "x", 1.0, 2)])
        assert lists.item_ids is not None
        found.add(written(lists.item_ids[0]))
    assert len(found) == 1


COLUMNS = ["user", "item", "estimated", "true"]
#: Ids of 64 bits whose order as numbers is not that of their text.
WHOLE = {
    "small": [10, 9, 100],
    "negative": [-10, 9, -9],
    "19 digits": [10**18 + 1, 10**18, 9],
    "signed": [-(2**63), 2**63 - 1, 5],
    "unsigned": [5, 2**64 - 1, 2**63 + 1],
    "signed and unsigned": [-9, 2**64 - 1, -10],
}
Rows = list[tuple[int, int, float, float]]


def _frame(rows: Rows) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def _nullable(rows: Rows) -> Any:
    kind = "Int64" if min(rows)[0] < 0 else "UInt64"
    fits = max(rows)[0] < 2**63 or kind == "UInt64"
    return _frame(rows).astype({"user": kind, "item": kind}) if fits else _frame(rows)


def _polars(rows: Rows) -> Any:
    ids = dict.fromkeys(COLUMNS[:2], pl.Int128)
    mixed = min(rows)[0] < 0 and max(rows)[0] >= 2**63
    return pl.DataFrame(rows, COLUMNS, orient="row", schema_overrides=ids if mixed else None)


def _parquet(rows: Rows, path: Path) -> Path:
    path = path.with_suffix(".parquet")
    columns = dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    try:
        pq.write_table(pa.table(columns), path)
    except OverflowError:  # of no type but that of decimals
        ids = {name: pa.array(map(Decimal, columns[name])) for name in COLUMNS[:2]}
        pq.write_table(pa.table(columns | ids), path)
    return path


def _csv(rows: Rows, path: Path, form: str = "{},{},{},{}") -> Path:
    path.write_text("\n".join([",".join(COLUMNS), *(form.format(*row) for row in rows)]))
    return path


def _json(rows: Rows, path: Path) -> Path:
    path = path.with_suffix(".jsonl")
    path.write_text("\n".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows))
    return path


DOORS: dict[str, Callable[[Rows, Path], Any]] = {
    "frame": lambda rows, _: _frame(rows),
    "objects": lambda rows, _: _frame(rows).astype({"user": object, "item": object}),
    "nullable": lambda rows, _: _nullable(rows),
    "polars": lambda rows, _: _polars(rows),
    "Parquet": _parquet,
    "JSON lines": _json,
    "CSV": _csv,
    "CSV without pyarrow": _csv,
    "CSV in quotes": lambda rows, path: _csv(rows, path, '"{}","{}",{},{}'),
    "CSV read with care": lambda rows, path: _csv(rows, path, "{},{}, {} ,{}"),
    "CSV within a limit": _csv,
    "CSV that begins with 7": lambda rows, path: _csv([(7, 7, 1.0, 2.0), *rows], path),
    "CSV of a stream": lambda rows, path: io.BytesIO(_csv(rows, path).read_bytes()),
}


@pytest.mark.parametrize("ids", WHOLE)
@pytest.mark.parametrize("door", DOORS)
def test_whole_numbers_of_64_bits_are_numbers_at_every_door(
    door: str, ids: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same ids, the same order of ties, and comparable, wherever they come from."""
    rows = [(user, item, 1.0, float(t)) for user in WHOLE[ids] for t, item in enumerate(WHOLE[ids])]
    first = [(7, 7, 1.0, 2.0)] if "begins" in door else []
    limit: Any = {"memory_limit": "1GB"} if "limit" in door or "begins" in door else {}
    if door == "CSV without pyarrow":
        monkeypatch.setattr(plain_text, "reads_text", lambda: False)
    for ties in ("item_asc", "item_desc", "text_asc", "text_desc"):
        options: Any = {"metrics": "ndcg@1", "convention": rn.Convention(ties=ties)}
        report = rn.evaluate([*first, *rows], **options)
        found = rn.evaluate(DOORS[door](rows, tmp_path / "p.csv"), **options, **limit)
        assert found.users.tolist() == report.users.tolist()
        assert {*map(type, found.users.tolist())} == {int}
        assert found == report, ties
        assert rn.compare({"a": report, "b": found}).models == ["a", "b"]


def test_lists_that_both_mix_types_are_compared_or_refused() -> None:
    """7 in one and "7" in the other: nothing was shared, without a word."""
    first = [("u", 7, 3.0, 1), ("u", "a", 2.0, 1)]
    second = [("u", "7", 3.0, 1), ("u", 8, 2.0, 1)]
    with rejects("item: .*7.* written alike"):
        rn.jaccard_at_k(first, second, 2)
    with rejects("item: .*7.* written alike"):
        rn.rbo(first, second)


def test_times_in_a_list_are_those_in_an_array() -> None:
    """Not the number of nanoseconds."""
    users = rn.RankedLists.from_arrays([*TIMES], [1, 2], [2.0, 1.0], [1, 2]).users
    assert users.tolist() == pd.Index(TIMES).tolist()


def test_times_of_day_are_refused() -> None:
    """NumPy has none, and those of the standard library end at microseconds."""
    day = pl.DataFrame({"user": [dt.time(1), dt.time(2)], "item": [1, 2], "estimated": [1, 2]})
    with rejects("user: times of day cannot be read"):
        rn.RankedLists.of(day.with_columns(true=pl.col("estimated")))


@pytest.mark.parametrize("user", ["", " ", "\t", "\u3000", "a\0b"])
def test_ids_that_no_reader_takes_for_ids_are_not_written_to_csv(user: str) -> None:
    """Blank, or with a zero byte: they come from Parquet."""
    with rejects("would be no id in a CSV file", whole=False):
        per_user_csv(rn.evaluate({user: [(3.0, 4), (2.0, 1)]}).per_user)


@pytest.mark.parametrize("older", [True, False])
def test_ids_that_differ_behind_a_zero_character(
    monkeypatch: pytest.MonkeyPatch, *, older: bool
) -> None:
    """At which pandas 2 stops to look: they are different ids, and in different segments."""
    monkeypatch.setattr("recsys_ndcg.input.ids._CUTS_TEXTS", older)
    users = np.array([f"a\0{user}" for user in range(4)] * 3, dtype=object)
    found = Coded.factorize(np.concatenate([users, np.array([None], dtype=object)]))
    codes, ids = found.codes, found.ids
    if older or pd.__version__ >= "3":
        assert ids.tolist() == users[:4].tolist()
        assert codes.tolist() == [0, 1, 2, 3] * 3 + [-1]
