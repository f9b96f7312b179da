"""A new engine is a file such as this, and its line in `ENGINES`: lazy tables of Polars."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
import pytest

import recsys_ndcg as rn
from recsys_ndcg.scale import engines
from recsys_ndcg.scale.engines import evaluate_batches, map_columns, split_tables
from recsys_ndcg.scale.facts import LazyTable, collect_facts
from recsys_ndcg.scoring import Plan
from tests.errors import assert_rejected
from tests.scale.alike import check_alike
from tests.scale.cases import PARAMS, Case, predictions

pytest.importorskip("pyarrow")
#: Number of batches of users.
BATCHES = 3


def evaluate_by_plan(
    data: Any, plan: Plan, *, columns: Mapping[str, str] | None = None, **_options: Any
) -> rn.Report:
    """Measure a lazy table of Polars, or two."""
    tables = {
        name: _table(name, frame, named)
        for name, (frame, named) in split_tables(data, columns)[0].items()
    }

    def batches() -> Iterator[Mapping[str, Any]]:
        users = pl.concat([nw.to_native(one.frame).select("user") for one in tables.values()])
        distinct = users.unique().sort("user").collect()["user"]
        for place in range(min(BATCHES, len(distinct))):
            mine = distinct.gather_every(BATCHES, place).to_frame().lazy()
            yield {
                name: nw.to_native(one.frame).join(mine, on="user", how="semi").collect().to_arrow()
                for name, one in tables.items()
            }

    return evaluate_batches(batches, plan, collect_facts(tables))


def _table(name: str, frame: Any, named: Mapping[str, str] | None) -> LazyTable:
    names, _ = map_columns(frame.collect_schema(), named, name)
    ours = frame.select(pl.col(theirs).alias(ours) for ours, theirs in names.items())
    return LazyTable(nw.from_native(ours), names, read_as_text=False)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engines.ENGINES, "polars.LazyFrame", __name__)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("case", PARAMS)
def test_it_reports_as_in_memory(case: Case) -> None:
    """The whole report, and every user's scores to the last bit."""
    lazy = {name: pl.from_pandas(one).lazy() for name, one in case.tables.items()}
    report = rn.evaluate(lazy.get("predictions", lazy), **case.options)
    check_alike(report, report.per_user, case.whole)


@pytest.mark.parametrize(
    ("column", "missing", "message"),
    [
        ("estimated", np.nan, r"estimated: NaN at user 3 item \d+; each must be a finite number"),
        ("estimated", -np.inf, r"estimated: an infinite value at user 3 item \d+; each must be"),
        ("true", np.inf, r"true: an infinite grade at user 3 item \d+; use NaN for an unlabelled"),
    ],
)
def test_it_raises_as_in_memory(column: str, missing: Any, message: str) -> None:
    """The same faults, in the same words."""
    table = pl.from_pandas(predictions(1, counts=[20, 30]))
    first = table["user"].to_list().index(3)
    values = [missing if place == first else one for place, one in enumerate(table[column])]
    assert_rejected(message, rn.evaluate, table.with_columns(pl.Series(column, values)).lazy())


def test_it_warns_of_ranks_without_a_first() -> None:
    """With the least of all."""
    labels = pl.LazyFrame({"user": [1, 1], "item": [1, 2], "true": [1.0, 0.0]})
    ranks = labels.select("user", "item", rank=pl.col("item") + 4)
    with pytest.warns(rn.DataWarning, match="no list has a first rank, the lowest is 5;"):
        rn.evaluate({"labels": labels, "results": ranks})


def test_ids_of_two_types_of_time_are_named_by_type() -> None:
    """Both are datetime to Python."""
    one = pl.LazyFrame({"user": [dt.datetime(2026, 1, 1)], "item": [1], "true": [1.0]})  # noqa: DTZ001
    user = pl.col("user").dt.replace_time_zone("UTC")
    other = one.with_columns(user).rename({"true": "estimated"})
    match = r"the labels have ids of type Datetime.*None.* \(such as .*, the results of type .*UTC"
    assert_rejected(match, rn.evaluate, {"labels": one, "results": other})
