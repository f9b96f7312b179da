"""Engines read a row per user, with lists in its cells, as `evaluate` does in memory."""

from __future__ import annotations

from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from recsys_ndcg.scale import spark
from tests.errors import assert_rejected
from tests.profiles import some
from tests.scale import sessions
from tests.scale.alike import check_alike
from tests.scale.cases import CASES, predictions

duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed: the extra scale has it")
pa = pytest.importorskip("pyarrow")
dataset = pytest.importorskip("pyarrow.dataset")
parquet = pytest.importorskip("pyarrow.parquet")

pytestmark = [
    pytest.mark.usefixtures("places"),
    pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning"),
]
OPTIONS: dict[str, Any] = {"metrics": ["ndcg@5", "ap", "recall@3", "rr"], "threshold": 3}
_PAIR = next(case.tables for case in CASES if case.name == "labels and ranks")
LABELS, RESULTS = (_PAIR[name].sort_values([*_PAIR[name]]) for name in ("labels", "results"))
#: Long form, best first.
ORDERED = RESULTS.sort_values(["user", "rank"]).astype({"user": str, "item": str})
GRADED = LABELS.astype({"user": str, "item": str})


def gather(rows: pd.DataFrame, sign: str = "") -> pd.DataFrame:
    """Return a row per user, with lists in its cells, or text that a sign separates."""
    lists = rows.groupby("user", as_index=False, sort=False).agg(list)
    return lists.assign(item=lists["item"].map(sign.join)) if sign else lists


SCORED = ORDERED.assign(scores=-ORDERED["rank"] / 7).drop(columns="rank")
ITEMS, RELEVANT = ORDERED[["user", "item"]], GRADED[["user", "item"]]
#: Labels and results with a row per user, and what separates ids in text.
FORMS: dict[str, tuple[pd.DataFrame, pd.DataFrame, str | None]] = {
    "ranked lists": (gather(RELEVANT), gather(ITEMS), None),
    "grades beside": (gather(GRADED), gather(ITEMS), None),
    "scores beside": (GRADED, gather(SCORED.sample(frac=1, random_state=1)), None),
    "ranks beside": (gather(GRADED), gather(ORDERED.sample(frac=1, random_state=2)), None),
    "integers": (
        gather(LABELS).rename(columns={"item": "items"}),
        gather(RESULTS.sort_values(["user", "rank"])[["user", "item"]]),
        None,
    ),
    "another name": (GRADED, gather(ITEMS).rename(columns={"item": "recommended"}), None),
    "text": (gather(RELEVANT, " "), gather(ITEMS, " "), " "),
    "text beside rows": (GRADED, gather(ITEMS, ", "), ","),
    "lists as text": (
        RELEVANT, gather(ITEMS).assign(item=lambda one: one["item"].map(str)), ","
    ),
    "a bar": (gather(RELEVANT, "|"), ORDERED, "|"),
    "lists that are not there": (
        gather(RELEVANT),
        gather(ITEMS).assign(item=lambda one: one["item"].mask(one.index == 3)),
        None,
    ),
}  # fmt: skip


@cache
def _expected(form: str) -> rn.Report:
    labels, results, sign = FORMS[form]
    return rn.evaluate(labels=labels, results=results, list_separator=sign, **OPTIONS)


def _write_parts(frame: pd.DataFrame, folder: Path, name: str, end: str) -> str:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    size = -(-len(frame) // 3)
    for place in range(0, 3 * size, size):
        path = folder / f"{name}{place}.{end}"
        if end == "csv":
            frame.iloc[place : place + size].to_csv(path, index=False)
        else:
            parquet.write_table(table.slice(place, size), path)
    return str(folder / f"{name}*.{end}")


#: Older versions of DuckDB close a connection that nobody holds.
CONNECTIONS: list[Any] = []


def _open(frame: pd.DataFrame, kind: str, folder: Path, name: str) -> Any:
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if kind == "relation":
        CONNECTIONS.append(duckdb.connect())
        return CONNECTIONS[-1].from_arrow(table)
    if kind == "reader":
        return table.to_reader(max_chunksize=9)
    if kind == "lazy":
        return pl.DataFrame(table).lazy()
    files = _write_parts(frame, folder, name, "parquet")
    return dataset.dataset(sorted(folder.glob(f"{name}*"))) if kind == "dataset" else files


KINDS = ["files", "dataset", "relation", "reader", "lazy"]


@pytest.mark.parametrize("pair", some(product(FORMS, KINDS), 4), ids="-".join)
def test_lists_on_disk(pair: tuple[str, str], tmp_path: Path, in_parts: Any) -> None:
    """Every user's scores to the last bit, whatever the lists are in, in several batches."""
    form, kind = pair
    labels, results, sign = FORMS[form]
    in_parts(1500)
    data = {
        name: _open(one, kind, tmp_path, name)
        for name, one in (("labels", labels), ("results", results))
    }
    report = rn.evaluate(**data, list_separator=sign, memory_limit="4GB", **OPTIONS)
    check_alike(report, report.per_user, _expected(form))


@pytest.mark.parametrize("form", [form for form, parts in FORMS.items() if parts[2]])
def test_lists_in_csv(form: str, tmp_path: Path, in_parts: Any) -> None:
    """Ids are integers, as in memory."""
    labels, results, sign = FORMS[form]
    in_parts(1500)
    files: dict[str, Any] = {}
    parts: dict[str, Any] = {}
    for name, one in (("labels", labels), ("results", results)):
        parts[name] = _write_parts(one, tmp_path, name, "csv")
        one.to_csv(tmp_path / f"all_{name}.csv", index=False)
        files[name] = tmp_path / f"all_{name}.csv"
    report = rn.evaluate(**parts, list_separator=sign, **OPTIONS)
    check_alike(report, report.per_user, rn.evaluate(**files, list_separator=sign, **OPTIONS))


def test_predictions_may_be_lists(tmp_path: Path) -> None:
    """With the estimates and the grades beside the items."""
    frame = predictions(3)
    lists = gather(frame)
    report = rn.evaluate(_write_parts(lists, tmp_path, "p", "parquet"), threshold=4)
    check_alike(report, report.per_user, rn.evaluate(frame, threshold=4))


def test_arrays_of_one_length_are_lists(tmp_path: Path) -> None:
    """Polars and Arrow have a type for them."""
    results = pl.DataFrame(
        {"user": ["u", "v"], "item": [["a", "x", "b"], ["y", "c", "d"]]},
        schema_overrides={"item": pl.Array(pl.String, 3)},
    )
    labels = pd.DataFrame({"user": ["u", "v", "v"], "item": ["b", "c", "z"]})
    results.write_parquet(tmp_path / "r.parquet")
    labels.to_parquet(tmp_path / "l.parquet")
    files: dict[str, Any] = {"labels": tmp_path / "l.parquet", "results": tmp_path / "r.parquet"}
    report = rn.evaluate(**files, metrics=["rr", "ndcg@3"], memory_limit="4GB")
    assert report.per_user["rr"].tolist() == [1 / 3, 1 / 2]
    check_alike(report, report.per_user, rn.evaluate(**files, metrics=["rr", "ndcg@3"]))


WRONG: dict[str, tuple[pd.DataFrame, pd.DataFrame, str]] = {
    "a list that is too short": (
        RELEVANT,
        pd.DataFrame({"user": ["0"], "item": [["1", "2", "3"]], "scores": [[2.0, 1.0]]}),
        r"item: lists of different lengths at user '0' item '1'.*give each item",
    ),
    "one score of a list": (
        RELEVANT, gather(ITEMS).assign(score=1.0), "item holds lists, and score single values",
    ),
    "ranks in columns": (
        RELEVANT,
        pd.DataFrame({"user": ["0"], "1": ["5"], "2": ["6"]}),
        "a column for each rank.*one column of lists",
    ),
    "text": (RELEVANT, gather(ITEMS, " "), r"no column 'rank' or 'estimated'.*list_separator=' '"),
    "text of labels": (
        gather(RELEVANT, " "), ORDERED, r"labels: .* may be one id or several.*list_separator=' '",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", WRONG)
def test_lists_that_cannot_be_read_on_disk(fault: str, tmp_path: Path) -> None:
    """One message says what to do."""
    labels, results, message = WRONG[fault]
    files: dict[str, Any] = {
        name: _write_parts(one, tmp_path, name, "parquet")
        for name, one in (("labels", labels), ("results", results))
    }
    assert_rejected(message, rn.evaluate, whole=False, **files, metrics=["rr"])


@pytest.mark.parametrize("separator", [None, ""])
def test_an_id_with_blanks_that_matches_is_one_id(separator: str | None, tmp_path: Path) -> None:
    """As in memory; also if each user has one label."""
    labels = pd.DataFrame({"user": ["u", "v"], "item": ["Toy Story", "Heat"]})
    results = pd.DataFrame({"user": ["u", "u", "v"], "item": ["Heat", "Toy Story", "Heat"]})
    results["rank"] = [1, 2, 1]
    labels.to_parquet(tmp_path / "l.parquet")
    results.to_parquet(tmp_path / "r.parquet")
    files: dict[str, Any] = {"labels": tmp_path / "l.parquet", "results": tmp_path / "r.parquet"}
    options: dict[str, Any] = {"metrics": ["rr"], "list_separator": separator}
    report = rn.evaluate(**files, **options, memory_limit="4GB")
    assert report.per_user["rr"].tolist() == [0.5, 1.0]


class TestSpark:
    """Spark's arrays are lists."""

    pytestmark = sessions.marks()

    @pytest.mark.parametrize("form", FORMS)
    def test_lists_of_spark(self, form: str, loaded: sessions.Load) -> None:
        """Every user's scores to the last bit."""
        labels, results, sign = FORMS[form]
        data = {"labels": loaded(labels), "results": loaded(results), "list_separator": sign}
        with spark.evaluate(data, partitions=3, **OPTIONS) as report:
            rows = [row.asDict() for row in report.per_user.collect()]
            per_user = pd.DataFrame(rows, columns=report.per_user.columns).set_index("user")
            check_alike(report, per_user, _expected(form))

    @pytest.mark.parametrize("fault", WRONG)
    def test_lists_that_spark_cannot_read(self, fault: str, loaded: sessions.Load) -> None:
        """The messages are those of files."""
        labels, results, message = WRONG[fault]
        data = {"labels": loaded(labels), "results": loaded(results)}
        assert_rejected(message, spark.evaluate, data, whole=False, metrics=["rr"])
