"""The same predictions in any form give the same report, and the caller's data does not change."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import recsys_ndcg as rn
from tests.errors import assert_rejected
from tests.input.tables import write
from tests.profiles import slow

ROWS: list[tuple[Any, Any, float, float]] = [
    ("ann", "x", 4.5, 5.0), ("bob", "y", 3.5, 3.0), ("ann", "y", 3.0, 2.0), ("bob", "x", 2.0, 4.0),
    ("ann", "z", 1.0, 4.0),
]  # fmt: skip
NAMES = ["user", "item", "estimated", "true"]
FRAME = pd.DataFrame(ROWS, columns=NAMES)
Prediction = namedtuple("Prediction", ["uid", "iid", "r_ui", "est", "details"])  # noqa: PYI024 - as Surprise does
PREDICTIONS = [Prediction(u, i, t, e, {"was_impossible": False}) for u, i, e, t in ROWS]
FORMS: dict[str, Any] = {
    "rows": ROWS, "rows as lists": [[*row] for row in ROWS], "generator": lambda: iter(ROWS),
    "object array": np.array(ROWS, dtype=object), "predictions": PREDICTIONS,
    "predictions as tuples": [tuple(one) for one in PREDICTIONS], "pandas": FRAME,
    "pandas, another index": FRAME.set_index(pd.Index([7, 7, 7, 1, 0])),
    "pandas, columns in another order": FRAME[NAMES[::-1]].assign(more="x"),
    "pandas, categories": FRAME.astype({"user": "category", "item": "category"}),
    "polars": lambda: pl.from_pandas(FRAME), "polars, lazy": lambda: pl.from_pandas(FRAME).lazy(),
    "pyarrow": pa.Table.from_pandas(FRAME), "dict of lists": FRAME.to_dict("list"),
    "dict of arrays": {name: FRAME[name].to_numpy(copy=True) for name in NAMES},
    "dict of series": {name: FRAME[name] for name in NAMES},
    "arrays": lambda: rn.RankedLists.from_arrays(*zip(*ROWS, strict=True)),
    "from_surprise": lambda: rn.RankedLists.from_surprise(PREDICTIONS),
    "from_frame": lambda: rn.RankedLists.from_frame(pl.from_pandas(FRAME)),
}  # fmt: skip


def evaluated(data: Any, **options: Any) -> rn.Report:
    """Evaluate with ties broken by item, so that the items matter too."""
    convention = rn.Convention(ties="item_desc")
    return rn.evaluate(data, k=2, threshold=4, convention=convention, **options)


def assert_same(report: rn.Report) -> None:
    """Compare everything in a report with the report of the rows."""
    expected = evaluated(ROWS)
    assert report.to_dict() == expected.to_dict()
    pd.testing.assert_frame_equal(report.per_user, expected.per_user)
    for user in expected.users:
        pd.testing.assert_frame_equal(report.explain(user), expected.explain(user))


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_the_same_predictions_gives_the_same_report(form: str) -> None:
    """Including the items of every list."""
    data = FORMS[form]
    assert_same(evaluated(data() if callable(data) else data))


def test_a_mapping_gives_the_same_scores_without_items() -> None:
    """With users and pairs in any order."""
    pairs = {"bob": [(2.0, 4.0), (3.5, 3.0)], "ann": [(3.0, 2.0), (4.5, 5.0), (1.0, 4.0)]}
    expected = rn.evaluate(ROWS, threshold=4).per_user
    for data in (pairs, {user: np.array(one) for user, one in pairs.items()}):
        pd.testing.assert_frame_equal(rn.evaluate(data, threshold=4).per_user, expected)


@pytest.mark.parametrize("name", ["p.csv,", "p.tsv\t", "p.csv;", "p.txt|", "p.CSV,"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("form", [("\ufeff", 1), *slow(("", 0), ("", 3))])
def test_a_text_file_gives_the_same_report(tmp_path: Path, name: str, end: str, form: Any) -> None:
    """With a byte order mark, line ends of Windows, or blank lines at the end."""
    lines = [name[-1].join(map(str, row)) for row in [tuple(NAMES), *ROWS]]
    mark, blank_lines = form
    path = write(tmp_path, mark + end.join(lines) + end * blank_lines, name[:-1])
    assert_same(evaluated(path))
    assert evaluated(str(path)) == evaluated(path)


def test_a_parquet_file_gives_the_same_report(tmp_path: Path) -> None:
    """Even if pandas did not write it."""
    for path in (tmp_path / "p.parquet", tmp_path / "p.pq"):
        pl.from_pandas(FRAME).write_parquet(path)
        assert_same(evaluated(path))
        assert_same(evaluated(rn.RankedLists.from_file(path)))


def test_a_missing_grade_is_unlabelled() -> None:
    """Surprise's r_ui is None if the testset has no rating; each library has its own null."""
    frame = FRAME.assign(true=FRAME["true"].where(FRAME["item"] != "z"))
    forms: list[Any] = [
        frame, frame.astype({"true": "Int64"}), pl.from_pandas(frame), pl.from_pandas(frame).lazy(),
        pa.Table.from_pandas(frame), frame.astype(object).where(frame.notna(), None),
        *([Prediction("ann", "w", one, 9.0, {}), *PREDICTIONS] for one in (None, float("nan"))),
    ]  # fmt: skip
    for form in forms:
        assert evaluated(form).counts["unlabelled"] == 1


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint64", "int64", "float64"])
def test_ids_of_every_width_keep_their_values(dtype: str) -> None:
    """The difference of two ids may not fit the type of the ids."""
    ids = np.array([100, 0, 5, 100, 120], dtype=dtype)
    if not dtype.startswith("u"):
        ids[1] = -100
    lists = rn.RankedLists.from_arrays(ids, range(5), range(5), [1, 2, 3, 4, 5])
    assert lists.users.tolist() == sorted(set(ids.tolist()))
    assert lists.n_items.tolist() == [1, 1, 2, 1]


LONG_IDS: list[Any] = [
    np.array([2**64 - 2, 2**64 - 1], dtype=np.uint64), np.array([-(2**63), 2**63 - 1]),
    [2**60 + 1, 2**60 + 2], [-1, 2**63 + 1], [-(2**70), 0, 2**70, 2**70 + 1],
]  # fmt: skip


@pytest.mark.parametrize("ids", LONG_IDS)
def test_long_ids_stay_whole_numbers(ids: Any) -> None:
    """As floats, two hashes or snowflake ids could become one."""
    lists: Any = rn.RankedLists.from_arrays(ids, ids, range(len(ids)), range(len(ids)))
    assert lists.users.tolist() == lists._data.item_ids.tolist() == [int(one) for one in ids]


def test_text_ids_in_a_file_keep_their_spelling(tmp_path: Path) -> None:
    """Only plain whole numbers become numbers."""
    ids = ["0042", "42", "1e3", "NA", "null", "None", "-", "9" * 25, "Zoë", 'a"b', "a,b", " a"]
    frame = pd.DataFrame({"user": ids, "item": 7, "estimated": 1.5, "true": range(len(ids))})
    frame.to_csv(tmp_path / "p.csv", index=False)
    lists: Any = rn.RankedLists.from_file(tmp_path / "p.csv")
    assert sorted(lists.users.tolist()) == sorted(ids)
    assert set(lists.items.tolist()) == {7}


@pytest.mark.parametrize("form", ["rows", "pandas", "dict of arrays", "dict of lists", "pyarrow"])
def test_the_callers_data_is_not_written_to(form: str) -> None:
    """Under any choice; read-only arrays are accepted."""
    data = FORMS[form]
    for values in data.values() if form == "dict of arrays" else ():
        values.flags.writeable = False
    before = repr(data)
    for unlabelled in ("zero", "filter"):
        convention = rn.Convention(unlabelled=unlabelled, tie_tolerance=0.5, ties="best")
        rn.evaluate(data, k=2, threshold=4, convention=convention)
    assert repr(data) == before


def test_a_list_of_grades_is_in_ranked_order() -> None:
    """As in `rn.ndcg_at_k`. Its estimates are an order, so rmse is rejected."""
    report = rn.evaluate({"a": [3, 1, 2, 0, 2], "b": np.array([3, 2, 1])}, k=5)
    assert report.per_user["ndcg@5"].to_dict() == pytest.approx({"a": 0.950849602851865, "b": 1})
    assert report.explain("b")["estimated"].isna().all()
    assert_rejected("rmse compares estimates", rn.evaluate, {"a": [3, 1, 2]}, metrics="rmse")
