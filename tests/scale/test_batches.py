"""Batches in every form that arrays come in, columns and tables, and what is wrong with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import recsys_ndcg as rn
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

pytestmark = pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
USERS, ITEMS = [3, 3, 1, 1, 1], [5, 6, 5, 6, 7]
ESTIMATED, TRUE = [0.5, 0.25, 0.75, 0.75, 1.5], [1.0, 2.0, np.nan, 4.0, 0.0]
METRICS = ["ndcg@2", "precision@2", "rmse"]
HOW: dict[str, Any] = {"metrics": METRICS, "threshold": 2}


class Told:
    """An array of some library, of which all that is known is a way to get at it."""

    def __init__(self, values: Any) -> None:
        self.array = np.asarray(values)


class ByArray(Told):
    """One with ``__array__``."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> NDArray[Any]:
        """Return it."""
        return self.array


class ByInterface(Told):
    """One with ``__array_interface__``."""

    @property
    def __array_interface__(self) -> Any:
        """Tell where it is."""
        return self.array.__array_interface__


class ByDlpack(Told):
    """One with ``__dlpack__``."""

    def __dlpack__(self, **how: Any) -> Any:
        """Hand it out."""
        return self.array.__dlpack__(**how)

    def __dlpack_device__(self) -> Any:
        """Say where it is."""
        return self.array.__dlpack_device__()


def _polars(values: Any) -> Any:
    return pytest.importorskip("polars").Series(values)


def _pyarrow(values: Any) -> Any:
    return pytest.importorskip("pyarrow").array(np.asarray(values))


def _torch(values: Any, **how: Any) -> Any:
    return pytest.importorskip("torch", reason="torch is not installed").tensor(values, **how)


def _trained(values: Any) -> Any:
    """Return what a model gives: its gradient is still wanted."""
    whole = isinstance(values[0], int)
    return _torch(values) if whole else _torch(values, requires_grad=True) * 1


def _halved(name: str) -> Callable[[Any], Any]:
    def made(values: Any) -> Any:
        tensor = _torch(values)
        torch = pytest.importorskip("torch")
        return tensor if isinstance(values[0], int) else tensor.to(getattr(torch, name))

    return made


def _jax(values: Any) -> Any:
    return pytest.importorskip("jax", reason="JAX is not installed").numpy.array(values)


def _jax_short(values: Any) -> Any:
    array = _jax(values)
    return array if isinstance(values[0], int) else array.astype("bfloat16")


FORMS: dict[str, Callable[[Any], Any]] = {
    "lists": list,
    "tuples": tuple,
    "numpy": np.array,
    "float32": lambda values: np.array(values, dtype=type(values[0])).astype("float32"),
    "read-only": lambda values: np.broadcast_to(np.array(values), (len(values),)),
    "every second": lambda values: np.repeat(np.array(values), 2)[::2],
    "pandas": pd.Series,
    "index of pandas": pd.Index,
    "nullable pandas": lambda values: pd.Series(values).convert_dtypes(),
    "polars": _polars,
    "pyarrow": _pyarrow,
    "__array__": ByArray,
    "__array_interface__": ByInterface,
    "__dlpack__": ByDlpack,
    "torch": _torch,
    "torch with gradients": _trained,
    "torch in float32": _halved("float32"),
    "torch in float16": _halved("float16"),
    "torch in bfloat16": _halved("bfloat16"),
    "scalars of torch": lambda values: [*_torch(values)],
    "jax": _jax,
    "jax in bfloat16": _jax_short,
}


def _expected() -> rn.Report:
    return rn.evaluate([*zip(USERS, ITEMS, ESTIMATED, TRUE, strict=True)], **HOW)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_columns_come_in_every_form(form: Callable[[Any], Any]) -> None:
    """With the scores that `evaluate` gives."""
    scores = rn.Accumulator(**HOW, per_user=True)
    report = scores.update(*map(form, (USERS, ESTIMATED, TRUE, ITEMS))).report()
    expected = _expected()
    assert report.users.tolist() == expected.users.tolist()
    np.testing.assert_array_equal(report.scores.per_user, expected.scores.per_user)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("by_rows", [False, True])
def test_tables_come_in_every_form(form: Callable[[Any], Any], by_rows: bool) -> None:  # noqa: FBT001
    """As one array, as a list of rows of any kind."""
    estimated = np.array([[0.5, 0.25, 99.0], [0.75, 0.75, 1.5]])
    true = np.array([[1.0, 2.0, 99.0], [np.nan, 4.0, 0.0]])
    mask = np.array([[1, 1, 0], [1, 1, 1]])

    def made(table: NDArray[Any]) -> Any:
        if by_rows or form in (pd.Series, pd.Index, _pyarrow, _polars, list, tuple):
            return [form(row) for row in table.tolist()]
        if form is FORMS["nullable pandas"]:
            return pd.DataFrame(table)
        flat = form(table.ravel().tolist())
        return flat.reshape(table.shape) if hasattr(flat, "reshape") else type(flat)(table)

    scores = rn.Accumulator(**HOW, per_user=True)
    if form is FORMS["scalars of torch"]:
        pytest.importorskip("torch", reason="torch is not installed")
        form = list
    report = scores.update(
        form([3, 1]),
        made(estimated),
        made(true),
        form([5, 6, 7]),
        mask=made(mask),
    ).report()
    np.testing.assert_array_equal(report.scores.per_user, _expected().scores.per_user)


SHORT: dict[str, Callable[[NDArray[Any]], Any]] = {
    "numpy": lambda values: values,
    "pandas": pd.Series,
    "index of pandas": pd.Index,
    "nullable pandas": lambda values: pd.Series(values).astype("Float32"),
    "pandas on pyarrow": lambda values: (
        _pyarrow([0.0]) and pd.Series(values).astype("float[pyarrow]")
    ),
    "polars": _polars,
    "pyarrow": _pyarrow,
    "torch": _torch,
    "rows of torch": lambda values: [*_torch(values)],
    "jax": _jax,
}


@pytest.mark.parametrize("form", SHORT.values(), ids=SHORT.keys())
def test_short_floats_are_the_decimals_that_they_stand_for(
    form: Callable[[NDArray[Any]], Any],
) -> None:
    """In 32 bits 0.7 is less than 0.7, and would miss the threshold; NaN stays unlabelled."""
    true = form(np.array([0.7, 0.2, np.nan], dtype=np.float32))
    scores = rn.Accumulator("recall@3", threshold=0.7, per_user=True)
    report = scores.update([1, 1, 1], [3, 2, 1], true).report()
    assert report.per_user["n_relevant"].tolist() == [1]
    assert report.counts["unlabelled"] == 1


def test_text_is_an_id() -> None:
    """In lists, arrays, and columns of polars and pandas; so is a tuple."""
    users: list[Any] = [np.array(["b", "a"]), pd.Series(["b", "a"], dtype="category"), ["b", "a"]]
    users.append(_polars(["b", "a"]))
    for one in users:
        scores = rn.Accumulator("ndcg@2", per_user=True).update(one, [1, 2], [1, 2])
        assert scores.report().users.tolist() == ["a", "b"]
    pairs = [("ann", 1), ("ann", 2)]
    both = rn.Accumulator("ndcg@2", per_user=True).update(pairs, [1, 2], [1, 2]).report()
    assert both.users.tolist() == pairs


def test_data_is_let_go() -> None:
    """What happens to the arrays afterwards changes nothing."""
    users, estimated, true = np.array([1, 1]), np.array([2.0, 1.0]), np.array([1.0, 5.0])
    scores = rn.Accumulator("ndcg@2", per_user=True).update(users, estimated, true)
    before = scores.report().per_user
    users[:], estimated[:], true[:] = 9, 0, 0
    pd.testing.assert_frame_equal(scores.report().per_user, before)


cell = st.tuples(
    st.sampled_from([0.0, 0.5, 2.0]), st.sampled_from([0.0, 1.0, 3.0, np.nan]), st.booleans()
)


@given(
    shape=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    named=st.booleans(),
    items=st.sampled_from(["none", "columns", "cells"]),
    data=st.data(),
)
def test_a_table_is_its_cells(
    shape: tuple[int, int],
    named: bool,  # noqa: FBT001
    items: str,
    data: st.DataObject,
) -> None:
    """Those in the mask, row by row; the rest is as if it were not there."""
    cells = [[data.draw(cell) for _ in range(shape[1])] for _ in range(shape[0])]
    inside = [
        (row, column, *cells[row][column][:2])
        for row in range(shape[0])
        for column in range(shape[1])
        if cells[row][column][2]
    ]
    users = [f"u{row * 7 % 5}" for row in range(shape[0])]
    ids = np.array([[(row * 3 + column * 7) % 11 for column in range(4)] for row in range(4)])
    ids = ids[: shape[0], : shape[1]] if items == "cells" else ids[0, : shape[1]]
    flat = [
        (users[row] if named else row, ids[row, column] if items == "cells" else ids[column], e, t)
        for row, column, e, t in inside
    ]
    estimated, true, mask = (
        np.array([[one[place] for one in row] for row in cells]) for place in range(3)
    )
    estimated = np.where(mask, estimated, np.nan)  # which nobody looks at
    true = np.where(mask, true, np.inf)
    scores = rn.Accumulator(["ndcg@2", "recall@2", "rr"], threshold=1, per_user=True)
    given_users, given_items = users if named else None, None if items == "none" else ids
    if not inside:
        with rejects("The mask leaves no cell"):
            scores.update(given_users, estimated, true, given_items, mask=mask)
        return
    scores.update(given_users, estimated, true, given_items, mask=mask)
    other = rn.Accumulator(["ndcg@2", "recall@2", "rr"], threshold=1, per_user=True)
    columns = [list(one) for one in zip(*flat, strict=True)]
    user, item, e, t = columns
    other.update(user, e, t, None if items == "none" else item)
    if np.isnan(t).all() or (len(flat) > 2 and len(set(t)) == 1 and len(set(user)) > 1):
        return  # nothing can be said of either
    one, expected = scores.report(), other.report()
    assert one == expected
    assert one.audited.truth.tolist() == expected.audited.truth.tolist()
    pd.testing.assert_frame_equal(one.summary, expected.summary)
    assert one.counts == expected.counts


def test_rows_without_users_are_numbered_on() -> None:
    """Those without a cell have a number too, and are not there."""
    scores = rn.Accumulator("ndcg@2", per_user=True)
    mask = [[True, True], [False, False]]
    scores.update(None, [[1, 2], [3, 4]], [[1, 2], [3, 4]], mask=mask)
    scores.update(None, [[1, 2], [3, 4]], [[1, 2], [4, 3]])
    assert scores.report().users.tolist() == [0, 2, 3]
    with rejects("Some users have ids, and others are numbered"):
        scores.update([9], [1], [1])
    with rejects("Some users have ids, and others are numbered"):
        scores.update([9], [[1, 2]], [[1, 2]])
    with rejects("Some users have ids, and others are numbered"):
        rn.Accumulator("ndcg@2").update([9], [1], [1]).update(None, [[1, 2]], [[1, 2]])
    with rejects("The users of both are numbered from 0 on"):
        scores.merge(rn.Accumulator("ndcg@2", per_user=True).update(None, [[1, 2]], [[1, 2]]))
    scores.reset().update([9], [1], [1])


def test_numbered_users_are_others_in_another_accumulator() -> None:
    """As of processes that each have a part of the data."""
    one, other = (rn.Accumulator("ndcg@2") for _ in range(2))
    for scores in (one, other):
        scores.update(None, [[1, 2], [3, 4]], [[1, 2], [4, 3]])
    both = one | other
    assert len(both) == 4
    assert len(both.update(None, [[1, 2]], [[1, 2]])) == 5
    with rejects("Some users have ids"):
        one.merge(rn.Accumulator("ndcg@2").update([9], [1], [1]))


def test_a_row_is_a_user() -> None:
    """An id that stands at two rows is refused; rows without ids are users of their own."""
    table = [[2, 1], [2, 1], [2, 1]]
    with rejects("users: 'a' stands at 2 rows of the table"):
        rn.Accumulator("ndcg@2").update(["b", "a", "a"], table, table)
    scores = rn.Accumulator("ndcg@2", repeated="count").update(["b", "a"], table[:2], table[:2])
    assert len(scores.update(["a", "c"], table[:2], table[:2])) == 4
    assert scores.report().counts["ratings"] == 8
    assert len(rn.Accumulator("ndcg@2").update(None, table, table)) == 3
    mask = [[True, True], [True, False], [False, False]]
    assert len(rn.Accumulator("ndcg@2").update(["b", "a", "a"], table, table, mask=mask)) == 2


T = [[1, 2], [3, 4]]
WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "lengths": (([1], [1, 2], [1, 2]), {}, "columns of the predictions have different lengths"),
    "no rows": (([], [], []), {}, "There are no rows"),
    "no table": (([], np.zeros((0, 3)), np.zeros((0, 3))), {}, "of the shape .0, 3. has no rows"),
    "no columns": ((None, np.zeros((2, 0)), np.zeros((2, 0))), {}, "has no rows"),
    "nobody": ((None, [1, 2], [1, 2]), {}, "users=None numbers the rows of a table"),
    "mask of columns": (([1], [1], [1]), {"mask": [True]}, "mask= is for tables"),
    "true is a table": (([1, 2], [1, 2], T), {}, "true has the shape .2, 2., and estimated is a"),
    "users are a table": ((T, [1, 2], [1, 2]), {}, "users has the shape .2, 2., and estimated"),
    "true is a column": ((None, T, [1, 2]), {}, "true has the shape .2,., and estimated .2, 2."),
    "other shape": ((None, T, [[1, 2, 3]] * 2), {}, "true has the shape .2, 3., and estimated"),
    "mask": ((None, T, T), {"mask": [[True]]}, "mask has the shape .1, 1., and estimated"),
    "all masked": ((None, T, T), {"mask": [[0, 0], [0, 0]]}, "The mask leaves no cell"),
    "mask of numbers": ((None, T, T), {"mask": T}, "mask: a table of int64; give True where"),
    "mask of text": ((None, T, T), {"mask": [["a"] * 2] * 2}, "mask: a table of"),
    "users": (([1, 2, 3], T, T), {}, "users has 3 ids, and estimated the shape .2, 2.: give one"),
    "users as a table": ((T, T, T), {}, "users: an array of 2 dimensions"),
    "items": (
        ([1, 2], T, T, [1, 2, 3]),
        {},
        "items has 3 ids, and estimated the shape .2, 2.: give an id",
    ),
    "items as a table": (
        ([1, 2], T, T, [[1, 2]]),
        {},
        "items has the shape .1, 2., and estimated the shape",
    ),
    "items twice": (
        ([1, 2], T, T, [7, 7]),
        {},
        "cells, row by row: user 1 has the item 7 twice or more",
    ),
    "three dimensions": ((None, [T], [T]), {}, "estimated has 3 dimensions"),
    "a number": (([1], np.array(2.0), [1]), {}, "estimated has 0 dimensions"),
    "ragged": ((None, [[1, 2], [1]], T), {}, "estimated: the rows of the table have different"),
    "NaN": ((None, [[1, np.nan], [3, 4]], T), {}, r"estimated: NaN in the cell \(0, 1\) \(row"),
    "infinite": (
        (None, T, [[np.inf, 1], [np.inf, np.inf]]),
        {"mask": [[False, True], [True, True]]},
        r"true: an infinite value in the cell \(1, 0\), \(1, 1\) \(row",
    ),
    "many": ((None, [[np.inf] * 2] * 2, T), {}, r"\(0, 0\), \(0, 1\), \(1, 0\) and 1 more"),
    "text": ((None, [["a", "b"]], [[1, 2]]), {}, "estimated: text such as 'a'"),
    "a number for users": ((5, T, T), {}, "users: found 5 in place of a column"),
    "a number for items": (([1, 2], T, T, 5), {}, "items: found 5 in place of a column"),
    "sparse": (([1, 2], T, sparse.csr_array(T)), {}, "true: a sparse matrix, and nobody could"),
    "sparse rows": ((None, T, [sparse.csr_array([one]) for one in T]), {}, "true: a sparse matrix"),
    "a missing id": (([1, None], T, T), {}, "users: a missing id in row 1"),
}


@pytest.mark.parametrize(("given_", "how", "told"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_told(given_: tuple[Any, ...], how: dict[str, Any], told: str) -> None:
    """What was found, where, and what to do; the accumulator is as it was."""
    scores = rn.Accumulator("ndcg@2")
    with rejects(told):
        scores.update(*given_, **how)
    assert len(scores.update([1], [1], [1])) == 1


def test_what_numpy_cannot_read_is_told() -> None:
    """With what the library says."""

    class Far(ByDlpack):
        def __dlpack__(self, **how: Any) -> Any:
            msg = "it is on another planet\nand so on"
            raise BufferError(msg)

    with rejects(
        r"estimated: NumPy cannot read what .*Far holds \(it is on another planet\)", whole=False
    ):
        rn.Accumulator("ndcg@2").update([1], Far([1.0]), [1])


def test_a_sparse_tensor_is_told() -> None:
    """Torch does not hand it out."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    eye = torch.eye(2).to_sparse()
    with rejects("Give a dense array in the memory of the CPU", whole=False):
        rn.Accumulator("ndcg@2").update(None, eye, torch.eye(2))
