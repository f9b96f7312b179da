"""Ids: equal text means equal ids, times keep their nanoseconds, and all ids can be ordered."""

from __future__ import annotations

import datetime as dt
import io
import itertools
import tracemalloc
import uuid
from collections.abc import Callable
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from recsys_ndcg.input import EncodedIds, format_id, text_tables
from recsys_ndcg.lists import to_lists
from tests.errors import assert_rejected, rejects
from tests.input.tables import write
from tests.profiles import slow, some

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
ONE = uuid.UUID(int=1)
ALIKE = [
    (7, "7"), (7.5, "7.5"), (b"x", "x"), (dt.date(2020, 1, 1), "2020-01-01"), (ONE, str(ONE)),
    (Decimal("1.50"), "1.50"), ((1, 2), "(1, 2)"), (10**400, str(10**400)),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_different_ids_with_the_same_text_are_rejected(one: Any, other: Any) -> None:
    """7 in some rows and "7" in others would be two users, each with part of a list."""
    with rejects("user: .* written alike.*Make all ids of one type"):
        rn.RankedLists.from_tuples([(one, "x", 2.0, 3), (other, "y", 1.0, 4)])
    with rejects("item: .* written alike"):
        rn.RankedLists.from_tuples([("ann", one, 2.0, 3), ("ann", other, 1.0, 4)])


def test_ids_of_two_tables_with_the_same_text_are_rejected() -> None:
    """1, "2", "3" among 1, 2, 3: only one of three would be found."""
    labels = pd.DataFrame({"user": 1, "item": [1, 2, 3], "true": [4, 5, 1]})
    results = pd.DataFrame({"user": 1, "item": [1, "2", "3"], "estimated": [3.0, 2.0, 1.0]})
    assert_rejected("item: .*2.* written alike", rn.RankedLists.from_labels, labels, results)
    first, second = [("u", 7, 3.0, 1), ("u", "a", 2.0, 1)], [("u", "7", 3.0, 1), ("u", 8, 2.0, 1)]
    for overlap in (partial(rn.jaccard_at_k, k=2), rn.rbo):
        assert_rejected("item: .*7.* written alike", overlap, first, second)


EQUAL: list[tuple[Any, Any]] = [
    (1, 1.0), (1, np.int8(1)), ("a", np.str_("a")), (True, 1), (Decimal("1.10"), Decimal("1.1")),
]  # fmt: skip


@pytest.mark.parametrize("ids", EQUAL)
def test_equal_values_are_one_id_with_one_text(ids: Any) -> None:
    """Whichever comes first, even if their text differs; also if another id is text."""
    found = set()
    for one, other in (ids, ids[::-1]):
        rows = [(one, "x", 2.0, 3), (other, "y", 1.0, 4), ("z", one, 1.0, 2), ("v", other, 1.0, 4)]
        lists: Any = rn.RankedLists.from_tuples(rows)
        found |= {*map(format_id, [*lists.users, *lists._data.item_ids])}
        assert (len(lists), len(lists._data.item_ids)) == (3, 3)
    assert len(found) == 5
    for zeros in ([0.0, -0.0], [-0.0, 0.0]):
        lists = rn.RankedLists.from_arrays(zeros, [1, 2], [1.0, 2.0], [1, 2])
        assert [str(user) for user in lists.users] == ["0.0"]


TIMES = np.array(["2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.000000002"], "M8[ns]")


@pytest.mark.parametrize("kind", ["numpy", "list", "pandas", "polars", "differences"])
def test_times_keep_their_nanoseconds(kind: str) -> None:
    """Two events in one microsecond are two."""
    times = TIMES - TIMES[0] if kind == "differences" else TIMES
    given = [*times] if kind == "list" else times
    columns = {"user": given, "item": [1, 2], "estimated": [2.0, 1.0], "true": [1, 2]}
    make: Any = {"pandas": pd.DataFrame, "polars": pl.DataFrame}.get(kind, dict)
    users = to_lists(make(columns)).users
    assert users.tolist() == pd.Index(times).tolist()
    assert rn.evaluate(columns).per_user.index.tolist() == users.tolist()


def test_times_finer_than_nanoseconds_and_times_of_day_are_rejected() -> None:
    """Pandas has no finer times, and NumPy has no times of day."""
    with rejects("user: times in ps are finer than nanoseconds"):
        rn.RankedLists.from_arrays(np.array([1, 2], "M8[ps]"), [1, 2], [1, 2], [1, 2])
    day = pl.DataFrame({"user": [dt.time(1), dt.time(2)], "item": [1, 2], "estimated": [1, 2]})
    with rejects("user: times of day cannot be read"):
        to_lists(day.with_columns(true=pl.col("estimated")))


BY_ITEM: Any = ("item_asc", "item_desc", "text_asc", "text_desc")
SETS = [frozenset(each) for n in range(4) for each in itertools.combinations("abc", n)]


@pytest.mark.parametrize("ids", [SETS, [*SETS, 1, "z", (1,), Decimal("2.5")]])
def test_the_order_of_ids_without_an_order_does_not_depend_on_the_rows(ids: list[Any]) -> None:
    """Python compares sets by inclusion, so sorting would leave them in the order of the rows."""
    rows = [("ann", one, 1.0, place % 5) for place, one in enumerate(ids)]
    found = set()
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(len(rows))
        lists: Any = rn.RankedLists.from_tuples([rows[place] for place in order])
        conventions = [rn.Convention(ties=ties) for ties in BY_ITEM]
        scores = [rn.evaluate(lists, convention=one, k=4)["ndcg@4"] for one in conventions]
        found.add((*map(str, map(sorted, map(str, lists._data.item_ids))), *scores))
    assert len(found) == 1


def test_equal_sets_have_the_same_text() -> None:
    """Python can iterate over them in different orders."""
    forth, back = frozenset([0, 8]), frozenset([8, 0])
    assert list(forth) != list(back)
    assert format_id(forth) == format_id(back)
    assert format_id((1, frozenset([forth, 2]))) == format_id((1, frozenset([2, back])))


def test_one_long_id_does_not_multiply_the_memory_of_the_others() -> None:
    """As a NumPy array of text, one id of 10,000 characters among 60,000 takes 9 GiB."""
    ids = np.array([*map(str, range(60_000)), "x" * 10_000], dtype=object)
    tracemalloc.start()
    places = EncodedIds(ids, np.arange(len(ids), dtype=np.int32)).text_ranks
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert places[-1] == len(ids) - 1
    assert peak < 20e6


@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8"])
@pytest.mark.parametrize("largest", [100, 10**8 - 1, 10**8, 2**63 - 1])
@pytest.mark.parametrize("least", [0, -3])
def test_whole_numbers_are_ordered_as_text(dtype: str, largest: int, least: int) -> None:
    """Numbers of up to eight digits, and longer ones."""
    known = np.iinfo(dtype)
    alike = {*range(123456780, 123456790), *range(1234567800, 1234567890)}  # in eight digits
    drawn = {least, largest, *range(0, 30, 3), *range(5, largest, largest // 7 + 1)}
    drawn |= {one for one in alike if one < largest}
    ids = np.array([one for one in sorted(drawn) if known.min <= one <= known.max], dtype=dtype)
    text = [str(one) for one in ids.tolist()]
    places = EncodedIds(ids, np.arange(len(ids), dtype=np.int32)).text_ranks
    assert places.tolist() == [sorted(text).index(one) for one in text]


OTHERS: list[list[Any]] = [
    [frozenset("ab"), frozenset("cd")], ["a", "b"], [(1, 2), (1, "b")], [2.0, "c"],
    [Decimal("10.50"), dt.date(2020, 1, 1)],
]  # fmt: skip
OWN: list[list[Any]] = [[9, 10], [9, 10.5], [2, "2-x"], [1, "A"], [(9,), (10,)], ["9", "10"]]


@pytest.mark.parametrize("others", some(OTHERS, 2), ids=range(len(OTHERS)))
@pytest.mark.parametrize("own", OWN, ids=repr)
@pytest.mark.parametrize("ties", BY_ITEM)
def test_items_are_ordered_as_without_other_users(own: Any, others: Any, ties: Any) -> None:
    """Nor on the order of the rows."""
    ann = [("ann", one, 3.0, 5 - 4 * place) for place, one in enumerate(own)]
    bob = [("bob", one, 3.0, 1 + place) for place, one in enumerate(others)]
    convention = rn.Convention(ties=ties)
    tables: list[Any] = [
        rn.evaluate(rows, k=1, convention=convention).per_user
        for rows in (ann, ann + bob, bob + ann, ann[::-1] + bob)
    ]
    assert len({one.loc["ann", "ndcg@1"] for one in tables}) == 1


COLUMNS = ["user", "item", "estimated", "true"]
#: Ids of 64 bits whose order as numbers differs from their order as text.
WHOLE = {
    "small": [10, 9, 100], "19 digits": [10**18 + 1, 10**18, 9],
    "signed": [-(2**63), 2**63 - 1, 5], "unsigned": [5, 2**64 - 1, 2**63 + 1],
}  # fmt: skip
Rows = list[tuple[int, int, float, float]]


def _frame(rows: Rows, _: Any = None) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS)


def _csv(rows: Rows, folder: Path, form: str = "{},{},{},{}") -> Path:
    return write(folder, "\n".join([",".join(COLUMNS), *(form.format(*row) for row in rows)]))


def _json(rows: Rows, folder: Path) -> Path:
    return write(folder, _frame(rows).to_json(orient="records", lines=True), "p.jsonl")


FORMS: dict[str, Callable[[Rows, Path], Any]] = {
    "frame": _frame, "JSON lines": _json, "CSV": _csv, "CSV within a limit": _csv,
    "CSV without pyarrow": _csv, "objects": lambda rows, _: _frame(rows).astype(object),
    "nullable": lambda rows, _: _frame(rows).convert_dtypes(),
    "polars": lambda rows, _: pl.DataFrame(rows, COLUMNS, orient="row"),
    "Parquet": lambda rows, folder: write(folder, _frame(rows).to_parquet(), "p.parquet"),
    "CSV in quotes": lambda rows, folder: _csv(rows, folder, '"{}","{}",{},{}'),
    "CSV with spaces": lambda rows, folder: _csv(rows, folder, "{},{}, {} ,{}"),
    "CSV of a stream": lambda rows, folder: io.BytesIO(_csv(rows, folder).read_bytes()),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["unsigned", *slow("small", "19 digits", "signed")])
@pytest.mark.parametrize("form", [*FORMS, "CSV that begins with 7"])
def test_whole_numbers_of_64_bits_are_numbers(
    form: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In every form, with the same order of ties, and comparable with each other."""
    ids = WHOLE[kind]
    rows = [(user, item, 1.0, float(place)) for user in ids for place, item in enumerate(ids)]
    begins = form not in FORMS
    rows = [(7, 7, 1.0, 2.0)] * begins + rows
    limit: Any = {"memory_limit": "2GB"} if begins or "limit" in form else {}
    if form == "CSV without pyarrow":
        monkeypatch.setattr(text_tables, "import_pyarrow", lambda: None)
    for ties in BY_ITEM[: 1 if limit else 4]:
        options: Any = {"metrics": "ndcg@1", "convention": rn.Convention(ties=ties)}
        report = rn.evaluate(rows, **options)
        found = rn.evaluate(FORMS.get(form, _csv)(rows, tmp_path), **options, **limit)
        assert found.users.tolist() == report.users.tolist()
        assert {*map(type, found.users.tolist())} == {int}
        assert found == report, ties
    assert rn.compare({"a": report, "b": found}).models == ["a", "b"]


@pytest.mark.parametrize("older", [True, False])
def test_ids_may_contain_a_zero_character(monkeypatch: pytest.MonkeyPatch, *, older: bool) -> None:
    """Pandas 2 compares texts up to the first zero."""
    monkeypatch.setattr("recsys_ndcg.input.ids._TRUNCATES_TEXT", older)
    users = [f"a\0{user}" for user in range(4)]
    found = EncodedIds.factorize(np.array([*users * 3, None], dtype=object))
    if older or pd.__version__ >= "3":
        assert found.ids.tolist() == users
        assert found.codes.tolist() == [0, 1, 2, 3] * 3 + [-1]
