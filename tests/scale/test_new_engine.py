"""A new engine is a file such as this, and its line in `ENGINES`: lazy tables of Polars."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import recsys_ndcg as rn
from recsys_ndcg.scale import engines
from recsys_ndcg.scale.engines import evaluate_batches, given_tables, names_in
from recsys_ndcg.scale.facts import LazyTable, facts_of
from tests.errors import rejects
from tests.scale.alike import check_alike
from tests.scale.cases import CASES, predictions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recsys_ndcg.scoring.plan import Plan
    from tests.scale.cases import Case

pytest.importorskip("pyarrow")
#: Batches that the users are shared among.
BATCHES = 3


def evaluate_by_plan(
    data: Any, plan: Plan, *, columns: Mapping[str, str] | None = None, **_options: Any
) -> rn.Report:
    """Measure a lazy table of Polars, or two."""
    tables = {
        name: _table(name, frame, named)
        for name, (frame, named) in given_tables(data, columns).items()
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

    return evaluate_batches(batches, plan, facts_of(tables))


def _table(name: str, frame: Any, named: Mapping[str, str] | None) -> LazyTable:
    names = names_in(frame.collect_schema().names(), named, name)
    ours = frame.select(pl.col(theirs).alias(ours) for ours, theirs in names.items())
    return LazyTable(nw.from_native(ours), names, read_as_text=False)


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engines.ENGINES, "polars.LazyFrame", __name__)


@pytest.mark.filterwarnings("ignore::recsys_ndcg.DataWarning")
@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_in_memory(case: Case) -> None:
    """All that a report says, and every user's scores to the last bit."""
    data: Any = case.data
    if isinstance(data, dict):
        lazy: Any = {name: pl.from_pandas(one).lazy() for name, one in data.items()}
    else:
        lazy = pl.from_pandas(data).lazy()
    report = rn.evaluate(lazy, **case.options)
    check_alike(report, report.per_user, case.local())


@pytest.mark.parametrize(("column", "told"), [
    ("estimated", r"estimated: NaN at user 3 item \d+; each must be a finite number"),
    ("user", r"user: a missing id at user None item \d+; fill it in"),
])  # fmt: skip
def test_what_is_refused(column: str, told: str) -> None:
    """The same list of faults, in the words of the memory."""
    frame = predictions(1, counts=[20, 30])
    first = frame.index[frame["user"] == 3][0]
    frame[column] = frame[column].where(frame.index != first, np.nan).astype(object)
    nothing = pd.DataFrame({"user": "Int64", "estimated": "float64"}, index=[0])[column][0]
    with rejects(told):
        rn.evaluate(pl.from_pandas(frame.astype({column: nothing})).lazy())


def test_ids_that_are_two_kinds_of_time() -> None:
    """They are told by their types, as both are datetime to Python."""
    one = pl.LazyFrame({"user": [dt.datetime(2026, 1, 1)], "item": [1], "true": [1.0]})  # noqa: DTZ001
    user = pl.col("user").dt.replace_time_zone("UTC")
    other = one.with_columns(user).rename({"true": "estimated"})
    match = r"the labels have ids of type Datetime.*None.* \(such as .*, the results of type .*UTC"
    with rejects(match):
        rn.evaluate({"labels": one, "results": other})
