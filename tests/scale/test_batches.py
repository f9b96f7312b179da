"""Batches in every form that arrays come in, columns and tables, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

import recsys_ndcg as rn
from tests.errors import assert_rejected, rejects

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
USERS, ITEMS = [3, 3, 1, 1, 1], [5, 6, 5, 6, 7]
ESTIMATED, TRUE = [0.5, 0.25, 0.75, 0.75, 1.5], [1.0, 2.0, np.nan, 4.0, 0.0]
HOW: dict[str, Any] = {"metrics": ["ndcg@2", "precision@2", "rmse"], "threshold": 2}


class Array:
    """An array of an unknown library, with one protocol."""

    def __init__(self, values: Any) -> None:
        self.array = np.asarray(values)


class ByArray(Array):
    """One with ``__array__``."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        """Return it."""
        return self.array


class ByInterface(Array):
    """One with ``__array_interface__``."""

    @property
    def __array_interface__(self) -> Any:
        """Describe its memory."""
        return self.array.__array_interface__


class ByDlpack(Array):
    """One with ``__dlpack__``."""

    def __dlpack__(self, **how: Any) -> Any:
        """Export it."""
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        """Return its device."""
        return self.array.__dlpack_device__()


def _polars(values: Any) -> Any:
    return pytest.importorskip("polars").Series(values)


def _pyarrow(values: Any) -> Any:
    return pytest.importorskip("pyarrow").array(np.asarray(values))


def _torch(values: Any) -> Any:
    return pytest.importorskip("torch", reason="torch is not installed").tensor(values)


def _jax(values: Any) -> Any:
    return pytest.importorskip("jax", reason="JAX is not installed").numpy.array(values)


def _floats(form: Callable[[Any], Any], change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a form whose numbers, unless they are whole, are changed."""
    return lambda values: form(values) if isinstance(values[0], int) else change(form(values))


def _nullable(values: Any) -> Any:
    return pd.Series(values).convert_dtypes()


FORMS: dict[str, Callable[[Any], Any]] = {
    "lists": list, "tuples": tuple, "numpy": np.array,
    "float32": lambda values: np.array(values, dtype=type(values[0])).astype("float32"),
    "read-only": lambda values: np.broadcast_to(np.array(values), (len(values),)),
    "every second": lambda values: np.repeat(np.array(values), 2)[::2],
    "pandas": pd.Series, "index of pandas": pd.Index, "nullable pandas": _nullable,
    "polars": _polars, "pyarrow": _pyarrow,
    "__array__": ByArray, "__array_interface__": ByInterface, "__dlpack__": ByDlpack,
    "torch": _torch, "torch in bfloat16": _floats(_torch, lambda one: one.bfloat16()),
    "output of a model in torch": _floats(_torch, lambda one: one.requires_grad_() * 1),
    "jax": _jax, "jax in bfloat16": _floats(_jax, lambda one: one.astype("bfloat16")),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("kind", ["columns", "tables", "rows"])
def test_batches_come_in_every_form(form: Callable[[Any], Any], kind: str) -> None:
    """As columns, as tables, and as lists of rows: with the scores that `evaluate` gives."""

    def table(values: list[list[float]]) -> Any:
        if kind == "rows" or form in (pd.Series, pd.Index, _pyarrow, _polars, list, tuple):
            return [form(row) for row in values]
        if form is _nullable:
            return pd.DataFrame(values)
        flat = form([one for row in values for one in row])
        return flat.reshape((2, 3)) if hasattr(flat, "reshape") else type(flat)(values)

    scores = rn.Accumulator(**HOW, per_user=True)
    if kind == "columns":
        scores.update(*map(form, (USERS, ESTIMATED, TRUE, ITEMS)))
    else:
        estimated = table([[0.5, 0.25, 99.0], [0.75, 0.75, 1.5]])
        true = table([[1.0, 2.0, 99.0], [np.nan, 4.0, 0.0]])
        mask = table([[1, 1, 0], [1, 1, 1]])
        scores.update(form([3, 1]), estimated, true, form([5, 6, 7]), mask=mask)
    expected = rn.evaluate([*zip(USERS, ITEMS, ESTIMATED, TRUE, strict=True)], **HOW)
    report = scores.report()
    assert report.users.tolist() == expected.users.tolist()
    np.testing.assert_array_equal(report._data.scores.per_user, expected._data.scores.per_user)


SHORT: dict[str, Callable[[Any], Any]] = {
    **{name: FORMS[name] for name in ("numpy", "pandas", "index of pandas", "polars", "pyarrow")},
    "nullable pandas": lambda values: pd.Series(values).astype("Float32"),
    "pandas on pyarrow": lambda values: (
        _pyarrow([0.0]) and pd.Series(values).astype("float[pyarrow]")
    ),
    "torch": _torch,
    "scalars of torch": lambda values: [*_torch(values)],
    "jax": _jax,
}


@pytest.mark.parametrize("form", SHORT.values(), ids=SHORT.keys())
def test_float32_is_read_as_the_shortest_decimal(form: Callable[[NDArray[Any]], Any]) -> None:
    """In 32 bits 0.7 is less than 0.7, and would miss the threshold; NaN stays unlabelled."""
    true = form(np.array([0.7, 0.2, np.nan], dtype=np.float32))
    scores = rn.Accumulator("recall@3", threshold=0.7, per_user=True)
    report = scores.update([1, 1, 1], [3, 2, 1], true).report()
    assert report.per_user["n_relevant"].tolist() == [1]
    assert report.counts["unlabelled"] == 1


def test_text_and_tuples_are_ids() -> None:
    """In lists, arrays, and columns of polars and pandas."""
    forms: list[Any] = [["b", "a"], np.array(["b", "a"]), _polars(["b", "a"]), [("b", 1), ("a", 2)]]
    for users in forms:
        scores = rn.Accumulator("ndcg@2", per_user=True).update(users, [1, 2], [1, 2])
        assert scores.report().users.tolist() == sorted(users)


def test_later_changes_of_the_arrays_change_nothing() -> None:
    """The accumulator holds no view of them."""
    users, estimated, true = np.array([1, 1]), np.array([2.0, 1.0]), np.array([1.0, 5.0])
    scores = rn.Accumulator("ndcg@2", per_user=True).update(users, estimated, true)
    before = scores.report().per_user
    users[:], estimated[:], true[:] = 9, 0, 0
    pd.testing.assert_frame_equal(scores.report().per_user, before)


grades = st.sampled_from([0.0, 1.0, 3.0, np.nan])
cell = st.tuples(st.sampled_from([0.0, 0.5, 2.0]), grades, st.booleans())


def rows_of(width: int) -> st.SearchStrategy[list[list[tuple[float, float, bool]]]]:
    """Draw the rows of a table."""
    return st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1, max_size=4)


@given(
    cells=st.integers(1, 4).flatmap(rows_of),
    named=st.booleans(),
    items=st.sampled_from(["none", "columns", "cells"]),
)
@example(
    cells=[[(0.5, 3.0, True), (2.0, 0.0, True)], [(0.5, 1.0, True)] * 2], named=True, items="cells"
)
@example(cells=[[(0.5, 3.0, True), (2.0, 0.0, True)]], named=False, items="columns")
def test_a_table_equals_the_columns_of_its_cells(cells: Any, *, named: bool, items: str) -> None:
    """Row by row; cells outside the mask have no effect."""
    estimated, true, inside = np.moveaxis(np.array(cells, dtype=float), 2, 0)
    mask = inside > 0
    rows, columns = np.nonzero(mask)
    names = np.array([f"u{row * 7 % 5}" for row in range(len(mask))]) if named else None
    ids = np.add.outer(np.arange(len(mask)) * 3, np.arange(mask.shape[1]) * 7) % 11
    ids = ids if items == "cells" else ids[0]
    tables = np.where(mask, estimated, np.nan), np.where(mask, true, np.inf)
    columns_of = (names, *tables, None if items == "none" else ids)
    scores, other = (
        rn.Accumulator(["ndcg@2", "recall@2", "rr"], threshold=1, per_user=True) for _ in range(2)
    )
    if not mask.any():
        assert_rejected("No cell of the table", scores.update, *columns_of, mask=mask)
        return
    scores.update(*columns_of, mask=mask)
    user = rows if names is None else names[rows]
    item = ids[rows, columns] if items == "cells" else ids[columns]
    grades = true[mask]
    other.update(user, estimated[mask], grades, None if items == "none" else item)
    constant = len(set(grades)) == 1 and len(set(user)) > 1
    if np.isnan(grades).all() or (len(grades) > 2 and constant):
        return  # neither has a report
    one, expected = scores.report(), other.report()
    assert one == expected
    assert one._data.audit.label_digests.tolist() == expected._data.audit.label_digests.tolist()
    pd.testing.assert_frame_equal(one.summary, expected.summary)
    assert one.counts == expected.counts


def test_rows_of_tables_without_users_are_numbered() -> None:
    """On from batch to batch, those without a cell too; they do not mix with ids."""
    scores = rn.Accumulator("ndcg@2", per_user=True)
    mask = [[True, True], [False, False]]
    scores.update(None, [[1, 2], [3, 4]], [[1, 2], [3, 4]], mask=mask)
    scores.update(None, [[1, 2], [3, 4]], [[1, 2], [4, 3]])
    assert scores.report().users.tolist() == [0, 2, 3]
    message = "Some users have ids, and others are numbered"
    assert_rejected(message, scores.update, [9], [1], [1])
    table = [[1, 2]]
    named = rn.Accumulator("ndcg@2").update([9], [1], [1])
    assert_rejected(message, named.update, None, table, table)
    numbered = rn.Accumulator("ndcg@2", per_user=True).update(None, table, table)
    assert_rejected("The users of both are numbered from 0,", scores.merge, numbered)
    scores.reset().update([9], [1], [1])
    one, other = (rn.Accumulator("ndcg@2").update(None, table * 2, table * 2) for _ in "ab")
    assert len((one | other).update(None, table, table)) == 5  # others in each accumulator
    assert_rejected("Some users have ids", one.merge, named)


def test_a_row_of_a_table_is_a_user() -> None:
    """An id at two rows raises, unless one of them has no cell."""
    table = [[2, 1], [2, 1], [2, 1]]
    update = rn.Accumulator("ndcg@2").update
    assert_rejected("users: 'a' is at 2 rows of the table", update, ["b", "a", "a"], table, table)
    scores = rn.Accumulator("ndcg@2", repeated="count").update(["b", "a"], table[:2], table[:2])
    assert len(scores.update(["a", "c"], table[:2], table[:2])) == 4
    assert scores.report().counts["ratings"] == 8
    mask = [[True, True], [True, False], [False, False]]
    assert len(update(["b", "a", "a"], table, table, mask=mask)) == 2


class Unreadable(ByDlpack):
    """One that cannot be exported."""

    def __dlpack__(self, **how: Any) -> Any:
        """Raise."""
        msg = "it is on another planet\nand so on"
        raise BufferError(msg)


def _sparse_tensor() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed").eye(2).to_sparse()


T = [[1, 2], [3, 4]]
WRONG: list[tuple[Any, ...]] = [  # users, estimated, true, items, mask, and the message
    ([], [], [], None, None, "There are no rows"),
    (None, [1, 2], [1, 2], None, None, "users=None numbers the rows of a table"),
    ([1], [1], [1], None, [True], "mask= is only for two-dim"),
    (T, [1, 2], [1, 2], None, None, "users has the shape .2, 2., and estimated"),
    (None, np.zeros((2, 0)), np.zeros((2, 0)), None, None, "shape .2, 0. is in a list; True"),
    (None, T, [1, 2], None, None, "true has the shape .2,., and estimated .2, 2."),
    (None, T, T, None, [[True]], "mask has the shape .1, 1., and estimated"),
    (None, T, T, None, [[0, 0], [0, 0]], "No cell of the table"),
    (None, T, T, None, T, "mask: a table of int64; give True where"),
    ([1, 2, 3], T, T, None, None, "users has 3 ids, and estimated the shape .2, 2.: give one"),
    (T, T, T, None, None, "users: an array of 2 dimensions"),
    ([1, 2], T, T, [1, 2, 3], None, "items has 3 ids, and estimated the shape .2, 2.: give an id"),
    ([1, 2], T, T, [[1, 2]], None, "items has the shape .1, 2., and estimated the shape"),
    ([1, 2], T, T, [7, 7], None, "cells, row by row: user 1 has the item 7 twice or more"),
    ([1], np.array(2.0), [1], None, None, "estimated has 0 dimensions"),
    (None, [[1, 2], [1]], T, None, None, "estimated: the rows of the table have different"),
    (None, [[1, np.nan], [3, 4]], T, None, None, r"estimated: NaN in the cell \(0, 1\) \(row"),
    (None, T, [[np.inf, 1], [np.inf, np.inf]], None, [[False, True], [True, True]],
     r"true: an infinite value in the cell \(1, 0\), \(1, 1\) \(row"),
    (None, [[np.inf] * 2] * 2, T, None, None, r"\(0, 0\), \(0, 1\), \(1, 0\) and 1 more"),
    ([1, 2], T, sparse.csr_array(T), None, None, "true: a sparse matrix, whose missing entries"),
    ([1], Unreadable([1.0]), [1], None, None,
     r"estimated: NumPy cannot read what .*Unreadable holds \(it is on another planet\)"),
    (None, _sparse_tensor, T, None, None, "Give a dense array in the memory of the CPU"),
]  # fmt: skip


@pytest.mark.parametrize("case", WRONG, ids=[one[-1] for one in WRONG])
def test_what_is_wrong_is_named(case: tuple[Any, ...]) -> None:
    """What was found, where, and what to do; the accumulator stays as it was."""
    users, estimated, true, items, mask, message = case
    estimated = estimated() if callable(estimated) else estimated
    scores = rn.Accumulator("ndcg@2")
    with rejects(message, whole="CPU" not in message and "Unreadable" not in message):
        scores.update(users, estimated, true, items, mask=mask)
    assert len(scores.update([1], [1], [1])) == 1
