"""Columns of text are read by their distinct values, with the same result as value by value."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recsys_ndcg as rn
from recsys_ndcg.input import ids, read_rows
from recsys_ndcg.input.ids import encode_text
from tests.errors import assert_rejected
from tests.input.tables import ids_of_rows
from tests.profiles import examples

#: Raised for values without a hash, and by pyarrow for dictionaries of nulls.
OF_LIBRARIES = (TypeError, IndexError, pa.ArrowInvalid)


class Loud(str):
    """Text that ignores case when it is compared."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Compare without case."""
        return isinstance(other, str) and self.lower() == other.lower()

    def __hash__(self) -> int:
        """Return the same hash for equal texts."""
        return hash(self.lower())


SHORT = st.sampled_from(["a", "b", "c", "d"])
_WORDS = ["", "a", "b", "ab", "abcdefgh", "abcdefgi", "abcdefghi", "7", "None", "nan",
          "é", "日本", "1.0"]  # fmt: skip
WORDS = st.sampled_from(_WORDS)
EVEN = st.sampled_from(["user0001", "user0002", "iser0001", "user000x"])
OLD = int(pd.__version__.partition(".")[0]) < 3
#: Text that pandas 2 sometimes mistakes for another text.
RARE = [] if OLD else ["a\0", "\0", "\ud800"]
ODD = st.sampled_from(["a\nb", "a", "b", "\n", *RARE, np.str_("a"), Loud("A"), Loud("a"), None])
MIXED = st.sampled_from(
    ["a", "7", 7, 7.0, True, 1, 1.0, None, float("nan"), pd.NA, b"a", Decimal(7), (1, 2)]
)
NUMBERS = st.integers(-3, 3)
VALUES = st.one_of(
    *(st.lists(one, min_size=1, max_size=12) for one in (SHORT, WORDS, EVEN, ODD, MIXED, NUMBERS))
)


def objects_of(values: list[Any]) -> Any:
    """Return an array of objects."""
    return np.fromiter(values, dtype=object, count=len(values))


def categorical(values: list[Any], *, ordered: bool) -> pd.Series[Any]:
    """Return categories in reverse order of first appearance, one of them unused."""
    there = list(dict.fromkeys(one for one in values if not pd.isna(one)))[::-1]
    more = [*there, "unused"] if there and isinstance(there[0], str) else there
    return pd.Series(pd.Categorical(values, categories=more, ordered=ordered))


def dictionaries(values: list[Any]) -> Any:
    """Return chunks that each have a dictionary, the second one with repeated values."""
    half = len(values) // 2
    first = pa.array(values[:half], pa.string()).dictionary_encode()
    places, rest = pa.array(range(len(values) - half), pa.int32()), pa.array(values[half:])
    return pa.chunked_array([first, pa.DictionaryArray.from_arrays(places, rest.cast("string"))])


def chunked(values: list[Any]) -> Any:
    """Return text in chunks, the first one a slice, another one empty."""
    half = len(values) // 2
    first = pa.array([values[-1], *values], pa.string()).slice(1, half)
    return pa.chunked_array([first, pa.array([], pa.string()), pa.array(values[half:], "string")])


COLUMNS: dict[str, Callable[[list[Any]], Any]] = {
    "every second object": lambda values: objects_of([x for one in values for x in (one, 0)])[::2],
    "polars, enum": lambda values: pl.Series(values, dtype=pl.Enum(sorted({*values, "unused"}))),
    "pyarrow, dictionary": lambda values: pa.array(values, pa.string()).dictionary_encode(),
    "pandas, objects": lambda values: pd.Series(objects_of(values), dtype=object), "list": list,
    "pandas, type of Arrow": partial(pd.Series, dtype=pd.ArrowDtype(pa.string())),
    "pandas, text of Python": partial(pd.Series, dtype="string[python]"), "objects": objects_of,
    "pandas, text of Arrow": partial(pd.Series, dtype="string[pyarrow]"), "wide text": np.array,
    "pandas, ordered categories": partial(categorical, ordered=True), "pyarrow, chunks": chunked,
    "polars, categories": partial(pl.Series, dtype=pl.Categorical),
    "pyarrow, views": partial(pa.array, type=pa.string_view()), "pandas, default type": pd.Series,
    "pandas, categories": partial(categorical, ordered=False), "pyarrow, default type": pa.array,
    "polars, default type": partial(pl.Series, strict=True), "pyarrow, dictionaries": dictionaries,
    "pyarrow, bytes": partial(pa.array, type=pa.binary()),
    "pyarrow": partial(pa.array, type=pa.string()), "polars": partial(pl.Series, dtype=pl.String),
    "pyarrow, a value twice": lambda values: pa.DictionaryArray.from_arrays(
        pa.array(range(len(values)), pa.uint8()), pa.array(values, pa.string())
    ),
}  # fmt: skip
TABLES: list[tuple[Any, Callable[[Any], Any]]] = [
    (pd.Series, pd.DataFrame), (pl.Series, pl.DataFrame), ((pa.Array, pa.ChunkedArray), pa.table),
]  # fmt: skip


def table_of(columns: dict[str, Any]) -> Any:
    """Return a table of the library that made the columns, otherwise the mapping."""
    makers = [make for kind, make in TABLES if isinstance(columns["user"], kind)]
    return makers[0](columns) if makers else columns


def lists_of(column: Any, size: int, *, is_table: bool = False) -> rn.RankedLists:
    """Read a column as users and as items, alone or in a table of its library."""
    numbers = {"estimated": np.arange(size) / 2, "true": np.ones(size)}
    data = {"user": column, "item": column, **numbers}
    return rn.RankedLists.from_frame(table_of(data) if is_table else data, duplicates="first")


def outcome(act: Callable[[], rn.RankedLists]) -> Any:
    """Return the arrays of the lists or the error, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            lists = act()
        except (rn.InvalidInputError, *OF_LIBRARIES) as error:
            found: Any = type(error), re.sub(r"\(such as [^)]*\)", "", str(error))
        else:
            names = "users missing repeats offsets unlisted_offsets item_ids"
            arrays = {
                **{name: getattr(lists._data, name) for name in names.split()},
                **lists._data.columns,
            }
            arrays["sizes"] = lists._data.pool.sizes
            arrays |= {f"unlisted {name}": one for name, one in lists.unlisted.items()}
            given = {name: one for name, one in arrays.items() if one is not None}
            found = {name: (one.dtype, [*map(repr, one.tolist())]) for name, one in given.items()}
    return found, [str(one.message) for one in caught]


def by_row(act: Callable[[], rn.RankedLists]) -> Any:
    """Return the outcome if each value is read on its own."""
    with mock.patch("recsys_ndcg.input.rows.encode_text", return_value=None):
        return outcome(act)


_FORMS = st.sampled_from([*COLUMNS])


def drawn_column(values: list[Any], form: str) -> Any:
    """Return a column, or None if the library rejects the values."""
    with suppress(Exception):  # each library raises its own errors
        return COLUMNS[form](values)
    return None


@examples(0.5)
@pytest.mark.parametrize("form", COLUMNS)
@given(values=VALUES, is_table=st.booleans())
def test_a_column_is_read_like_its_values(form: str, values: list[Any], *, is_table: bool) -> None:
    """The same lists to the last bit, or the same error."""
    column = drawn_column(values, form)
    # converting from polars to NumPy drops zero characters at the end of a text
    if column is None or (form.startswith("polars") and any("\0" in str(one) for one in values)):
        return
    made = partial(lists_of, column, len(values), is_table=is_table)
    expected = by_row(made)
    of_a_library = isinstance(expected[0], tuple) and issubclass(expected[0][0], OF_LIBRARIES)
    if not (of_a_library and OLD):  # pandas 2 cannot read some of them value by value
        assert outcome(made) == expected


@given(known=VALUES, found=VALUES, forms=st.tuples(_FORMS, _FORMS))
def test_tables_are_joined_like_their_values(known: Any, found: Any, forms: Any) -> None:
    """With columns of any two forms, and ids that match, differ in type, or are missing."""
    first, second = drawn_column(known, forms[0]), drawn_column(found, forms[1])
    if first is None or second is None or any("\0" in str(one) for one in (*known, *found)):
        return
    labels = {"user": first, "item": first, "true": np.ones(len(known))}
    results = {"user": second, "item": second, "estimated": np.arange(len(found)) / 2}

    made = partial(rn.RankedLists.from_labels, labels, results, duplicates="first")
    assert outcome(made) == by_row(made)


CASTS_VIEWS = 18
PLAIN = ["bob", "ann", "cy", "ann", "", "Zoë", "a longer one"]
EIGHT = ["b0000001", "a0000002", "b0000001", "user0002", "user0001", "a0000002"]
#: Forms that have a Python string or bytes for each row.
BY_ROW = {
    "list", "objects", "every second object", "wide text", "pandas, objects", "pyarrow, bytes",
    "pandas, text of Python", *(["pandas, default type"] if OLD else []),
}  # fmt: skip


@pytest.mark.parametrize("values", [PLAIN, EIGHT])
@pytest.mark.parametrize("form", [one for one in COLUMNS if one not in BY_ROW])
def test_other_text_is_read_by_its_distinct_values(form: str, values: list[str]) -> None:
    """Otherwise each row would get a Python string."""
    found = encode_text(COLUMNS[form](values))
    if form == "pyarrow, views" and int(pa.__version__.partition(".")[0]) < CASTS_VIEWS:
        assert found is None
        return
    assert found is not None
    assert ids_of_rows(found) == values
    assert found.ids.tolist() == sorted({*values})
    assert found.is_sorted
    assert found.codes.dtype == np.int32


SOME = ["list", "objects", "wide text", "pandas, text of Python", "pandas, categories"]


@pytest.mark.parametrize("form", SOME)
def test_text_is_read_without_pyarrow(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is an optional dependency."""
    made = partial(lists_of, COLUMNS[form](PLAIN), len(PLAIN))
    expected = outcome(made)
    monkeypatch.setattr(ids, "import_pyarrow", lambda: None)
    assert outcome(made) == expected


def test_a_file_in_several_parts_is_read_by_its_distinct_values(tmp_path: Path) -> None:
    """Each part has its own dictionary."""
    users = ["b", "a", "b", "c", "c", "a", "d", "b"]
    items = pa.array(users[::-1]).dictionary_encode()
    numbers = {"estimated": np.arange(8.0), "true": np.arange(8.0)}
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"user": users, "item": items, **numbers}), path, row_group_size=3)
    rows: Any = read_rows(path)
    assert ids_of_rows(rows.user) == users
    assert ids_of_rows(rows.item) == users[::-1]
    assert rows.user.ids.tolist() == ["a", "b", "c", "d"]


def test_only_the_needed_columns_of_a_lazy_table_are_computed() -> None:
    """A column that raises an error does not matter if it is not needed."""
    columns = {"user": ["a", "a"], "item": ["x", "y"], "estimated": [2.0, 1.0], "true": [1.0, 2.0]}
    rows, fails = pl.LazyFrame(columns), pl.col("item").cast(pl.Int64)
    assert rn.RankedLists.from_frame(rows.with_columns(other=fails)).users.tolist() == ["a"]
    results, labels = rows.with_columns(true=fails), rows.with_columns(estimated=fails)
    assert rn.RankedLists.from_labels(labels, results).true.tolist() == [1.0, 2.0]
    ranked = labels.with_columns(rank=pl.Series([1, 2]))
    assert read_rows(ranked, table="results").estimated.tolist() == [-1.0, -2.0]
    with pytest.raises(nw.exceptions.InvalidOperationError):
        rn.RankedLists.from_frame(labels)
    lacking = pl.LazyFrame({"user": ["a"], "other": [1]})
    assert_rejected(
        "no columns 'item', 'estimated' and 'true'; it has user, other", rn.evaluate, lacking
    )


@pytest.mark.parametrize("form", [*SOME[1:], "pyarrow, dictionary"])
def test_lists_share_no_memory_with_the_data(form: str) -> None:
    """Even if the rows are already in order: the caller may change the data later."""
    column = COLUMNS[form](["a", "b", "b", "c"])
    numbers = np.arange(4.0)
    data = {"user": column, "item": column, "estimated": numbers, "true": numbers}
    lists = rn.RankedLists.from_frame(data, duplicates="last")
    codes = column.cat.codes.to_numpy() if form == "pandas, categories" else numbers
    codes = column.indices.to_numpy() if form == "pyarrow, dictionary" else codes
    for one in (lists._data.item_codes, lists.estimated, lists.true, lists.offsets):
        assert not np.shares_memory(np.asarray(one), codes)
        assert not np.shares_memory(np.asarray(one), numbers)
