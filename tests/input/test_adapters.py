"""The same predictions in any form give the same report, and nothing is written to them."""

from __future__ import annotations

from collections import namedtuple
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import recsys_ndcg as rn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS: list[tuple[Any, Any, float, float]] = [
    ("ann", "x", 4.5, 5.0), ("bob", "y", 3.5, 3.0), ("ann", "y", 3.0, 2.0), ("bob", "x", 2.0, 4.0),
    ("ann", "z", 1.0, 4.0),
]  # fmt: skip
NAMES = ["user", "item", "estimated", "true"]
FRAME = pd.DataFrame(ROWS, columns=NAMES)
THEIRS = {"user": "uid", "item": "iid", "estimated": "est", "true": "r_ui"}
Prediction = namedtuple("Prediction", ["uid", "iid", "r_ui", "est", "details"])  # noqa: PYI024 - as Surprise does
PREDICTIONS = [Prediction(u, i, t, e, {"was_impossible": False}) for u, i, e, t in ROWS]
FORMS: dict[str, Callable[[], Any]] = {
    "rows": lambda: ROWS,
    "rows as lists": lambda: [list(row) for row in ROWS],
    "tuple of rows": lambda: tuple(ROWS),
    "generator": lambda: (row for row in ROWS),
    "object array": lambda: np.array(ROWS, dtype=object),
    "predictions": lambda: PREDICTIONS,
    "predictions as tuples": lambda: [tuple(one) for one in PREDICTIONS],
    "predictions, generated": lambda: iter(PREDICTIONS),
    "pandas": lambda: FRAME,
    "pandas, another index": lambda: FRAME.set_index(pd.Index([7, 7, 7, 1, 0])),
    "pandas, columns in another order": lambda: FRAME[NAMES[::-1]].assign(more="x"),
    "pandas, categories": lambda: FRAME.astype({"user": "category", "item": "category"}),
    "pandas, nullable": lambda: FRAME.astype(
        {"user": "string", "item": "string", "estimated": "Float64", "true": "Int64"}
    ),
    "pandas, objects": lambda: FRAME.astype(object),
    "pandas, arrow": lambda: FRAME.convert_dtypes(dtype_backend="pyarrow"),
    "polars": lambda: pl.from_pandas(FRAME),
    "polars, lazy": lambda: pl.from_pandas(FRAME).lazy(),
    "polars, categories": lambda: pl.from_pandas(FRAME).with_columns(
        pl.col("user", "item").cast(pl.Categorical)
    ),
    "pyarrow": lambda: pa.Table.from_pandas(FRAME),
    "dict of lists": lambda: FRAME.to_dict("list"),
    "dict of arrays": lambda: {name: FRAME[name].to_numpy() for name in NAMES},
    "dict of series": lambda: {name: FRAME[name] for name in NAMES},
    "dict of tuples": lambda: {name: tuple(FRAME[name]) for name in NAMES},
    "lists": lambda: rn.RankedLists.from_tuples(ROWS),
    "arrays": lambda: rn.RankedLists.from_arrays(*zip(*ROWS, strict=True)),
    "from_surprise": lambda: rn.RankedLists.from_surprise(PREDICTIONS),
    "from_frame": lambda: rn.RankedLists.from_frame(pl.from_pandas(FRAME)),
}  # fmt: skip


def evaluated(data: Any, **options: Any) -> rn.Report:
    """Evaluate by item, so that items count too."""
    convention = rn.Convention(ties="item_desc")
    return rn.evaluate(data, k=2, threshold=4, convention=convention, **options)


def same(left: rn.Report, right: rn.Report) -> None:
    """Compare all that a report says."""
    pd.testing.assert_frame_equal(left.per_user, right.per_user)
    pd.testing.assert_frame_equal(left.summary, right.summary)
    assert left.counts == right.counts
    assert left.to_dict() == right.to_dict()
    for user in left.users:
        pd.testing.assert_frame_equal(left.explain(user), right.explain(user))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_predictions_gives_the_same_report(form: str) -> None:
    """Down to the items of every list."""
    same(evaluated(ROWS), evaluated(FORMS[form]()))


def test_a_mapping_gives_the_same_scores_without_items() -> None:
    """Users in any order, pairs in any order."""
    pairs = {"bob": [(2.0, 4.0), (3.5, 3.0)], "ann": [(3.0, 2.0), (4.5, 5.0), (1.0, 4.0)]}
    left, right = rn.evaluate(ROWS, threshold=4), rn.evaluate(pairs, threshold=4)
    pd.testing.assert_frame_equal(left.per_user, right.per_user)
    pd.testing.assert_frame_equal(left.summary, right.summary)
    arrays = {user: np.array(one) for user, one in pairs.items()}
    pd.testing.assert_frame_equal(left.per_user, rn.evaluate(arrays, threshold=4).per_user)


@pytest.mark.parametrize(
    ("name", "separator"),
    [("p.csv", ","), ("p.tsv", "\t"), ("p.csv", ";"), ("p.txt", "|"), ("p.CSV", ",")],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("tail", ["", "end", "end end end"])
def test_a_text_file_gives_the_same_report(  # noqa: PLR0913, PLR0917 - each is a way to write it
    tmp_path: Path, name: str, separator: str, end: str, mark: str, tail: str
) -> None:
    """With a byte order mark, the line ends of Windows, or empty lines at its end."""
    lines = [separator.join(map(str, row)) for row in [tuple(NAMES), *ROWS]]
    text = mark + end.join(lines) + tail.replace("end", end).replace(" ", "")
    (tmp_path / name).write_bytes(text.encode())
    same(evaluated(ROWS), evaluated(tmp_path / name))
    same(evaluated(ROWS), evaluated(str(tmp_path / name)))


@pytest.mark.parametrize("name", ["p.parquet", "p.pq"])
def test_a_parquet_file_gives_the_same_report(tmp_path: Path, name: str) -> None:
    """Through pandas, whoever wrote it."""
    pl.from_pandas(FRAME).write_parquet(tmp_path / name)
    same(evaluated(ROWS), evaluated(tmp_path / name))
    same(evaluated(ROWS), evaluated(rn.RankedLists.from_file(tmp_path / name)))


@pytest.mark.parametrize(
    "make",
    [
        lambda frame, _: frame,
        lambda frame, _: pl.from_pandas(frame),
        lambda frame, _: frame.to_dict("list"),
        lambda frame, path: frame.to_csv(path / "p.csv", index=False) or path / "p.csv",
        lambda frame, path: frame.to_parquet(path / "p.parquet") or path / "p.parquet",
    ],
    ids=["pandas", "polars", "dict", "CSV", "Parquet"],
)
def test_columns_say_what_a_table_calls_them(
    make: Callable[[pd.DataFrame, Path], Any], tmp_path: Path
) -> None:
    """Ours to theirs, and only where they differ."""
    data = make(FRAME.rename(columns=THEIRS), tmp_path)
    same(evaluated(ROWS), evaluated(data, columns=THEIRS))
    part = make(FRAME.rename(columns={"estimated": "est"}), tmp_path)
    same(evaluated(ROWS), evaluated(part, columns={"estimated": "est"}))


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_prediction_without_a_rating_is_unlabelled(missing: float | None) -> None:
    """Surprise's r_ui is None where the testset did not say."""
    lists = [Prediction("ann", "w", missing, 9.0, {}), *PREDICTIONS]
    report = rn.evaluate(lists, k=1, threshold=4)
    assert report.counts["unlabelled"] == 1
    assert report.per_user.loc["ann", "ndcg@1"] == 0
    dropped = rn.evaluate(lists, k=1, threshold=4, convention=rn.Convention(unlabelled="filter"))
    assert dropped.per_user.loc["ann", "ndcg@1"] == 1


def test_a_null_in_any_table_is_unlabelled() -> None:
    """Of every library, and of a field left empty."""
    frame = FRAME.assign(true=FRAME["true"].where(FRAME["item"] != "z"))
    forms = [
        frame, frame.astype({"true": "Int64"}), pl.from_pandas(frame), pl.from_pandas(frame).lazy(),
        pa.Table.from_pandas(frame), frame.astype(object).where(frame.notna(), None),
    ]  # fmt: skip
    for form in forms:
        assert evaluated(form).counts["unlabelled"] == 1


@pytest.mark.parametrize("dtype", ["int8", "int16", "uint8", "int32", "uint64", "int64", "float64"])
def test_ids_of_every_width_keep_their_values(dtype: str) -> None:
    """A difference of two ids need not fit where the ids do."""
    ids = np.array([100, 0, 5, 100, 120], dtype=dtype)
    if dtype.startswith(("int", "float")):
        ids[1] = -100
    lists = rn.RankedLists.from_arrays(ids, range(5), range(5), [1, 2, 3, 4, 5])
    assert lists.users.tolist() == sorted(set(ids.tolist()))
    assert lists.n_items.tolist() == [1, 1, 2, 1]


@pytest.mark.parametrize(
    "ids",
    [
        np.array([2**63 + 1, 2**63 + 2], dtype=np.uint64),
        np.array([2**64 - 2, 2**64 - 1], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1]),
        [2**60 + 1, 2**60 + 2],
        [-1, 2**63 + 1],
        [2**70, 2**70 + 1],
        [-(2**70), 0, 2**70],
    ],
)
def test_long_ids_are_whole_numbers_still(ids: Any) -> None:
    """Hashes and snowflake ids; as floats two of them would become one."""
    lists = rn.RankedLists.from_arrays(ids, ids, range(len(ids)), range(len(ids)))
    assert lists.users.tolist() == [int(one) for one in ids]
    assert lists.item_ids is not None
    assert lists.item_ids.tolist() == [int(one) for one in ids]


def test_ids_of_mixed_types_have_an_order_that_the_rows_have_not() -> None:
    """1 and "2" are two users."""
    rows = [(1, "x", 2.0, 3), ("2", "x", 2.0, 3), ((1, 2), "x", 1.0, 4), (1, 7, 1.0, 5)]
    forth, back = rn.RankedLists.from_tuples(rows), rn.RankedLists.from_tuples(rows[::-1])
    assert forth.users.tolist() == back.users.tolist()
    assert set(forth.users.tolist()) == {1, "2", (1, 2)}
    assert forth.n_items.sum() == 4


def test_a_file_keeps_the_writing_of_ids(tmp_path: Path) -> None:
    """Only plain whole numbers become numbers."""
    ids = ["0042", "42", "1e3", "NA", "null", "None", "-", "9" * 25, "Zoë", 'a"b', "a,b", " a"]
    frame = pd.DataFrame({"user": ids, "item": 7, "estimated": 1.5, "true": range(len(ids))})
    frame.to_csv(tmp_path / "p.csv", index=False)
    lists = rn.RankedLists.from_file(tmp_path / "p.csv")
    assert sorted(lists.users.tolist()) == sorted(ids)
    assert lists.items is not None
    assert set(lists.items.tolist()) == {7}


@pytest.mark.parametrize("form", ["rows", "pandas", "dict of arrays", "dict of lists", "pyarrow"])
def test_the_callers_data_is_not_written_to(form: str) -> None:
    """Neither by reading it nor under any choice; a read-only array will do."""
    data = FORMS[form]()
    if form == "dict of arrays":
        data = {name: values.copy() for name, values in data.items()}
        for values in data.values():
            values.flags.writeable = False
    before = repr(data)
    for unlabelled in ("zero", "filter"):
        convention = rn.Convention(unlabelled=unlabelled, tie_tolerance=0.5, ties="best")
        report = rn.evaluate(data, k=2, threshold=4, convention=convention)
        assert len(report.summary) == 3
    assert repr(data) == before


def test_grades_alone_are_lists_in_ranked_order() -> None:
    """As for the shortcuts; their estimates are an order, with which no rating compares."""
    report = rn.evaluate({"a": [3, 1, 2, 0, 2], "b": np.array([3, 2, 1])}, k=5)
    assert report.per_user["ndcg@5"].to_dict() == pytest.approx({"a": 0.950849602851865, "b": 1})
    assert report.explain("b")["estimated"].isna().all()
    with pytest.raises(rn.InvalidInputError, match="rmse compares estimates with ratings"):
        rn.evaluate({"a": [3, 1, 2]}, metrics="rmse")


@pytest.mark.parametrize(
    "row",
    [("b", "y", 3.0, 4.0), ("b", "y", 4.0, 3.0, {}, 7), ("b", "y"), {"uid": "b"}, 5, "text", ()],
    ids=["shorter", "longer", "pair", "dict", "number", "text", "empty"],
)
def test_a_row_that_is_no_prediction_is_named(row: Any) -> None:
    """Wherever it stands: its places would mean something else."""
    predictions = [("a", "x", 4.0, 3.5, {}), row, ("b", "x", 4.0, 3.5, {})]
    with pytest.raises(rn.InvalidInputError, match=r"Row 1 .*\(uid, iid, r_ui, est, details\)"):
        rn.RankedLists.from_surprise(predictions)


def test_predictions_with_odd_numbers_are_read_alike() -> None:
    """NA for no rating, and numbers that are no floats."""
    predictions: list[Any] = [
        ("a", "x", pd.NA, Decimal("3.5"), {}),
        ("a", "y", None, np.float32(2), None),
    ]
    lists = rn.RankedLists.from_surprise(predictions)
    assert lists.estimated.tolist() == [3.5, 2.0]
    assert np.isnan(lists.true).all()
