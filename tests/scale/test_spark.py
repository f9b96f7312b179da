"""Spark reports what is reported in memory, refuses the same, and says what its workers lack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from recsys_ndcg.scale import spark
from tests.scale import sessions
from tests.scale.alike import check_alike
from tests.scale.cases import CASES, Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.skipif(bool(sessions.missing()), reason=sessions.missing()),
    # of Spark's own
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support:FutureWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session for all tests: to start one takes seconds."""
    found = sessions.session(tmp_path_factory.mktemp("spark"))
    yield found
    found.stop()


@pytest.fixture
def loaded(session: Any, tmp_path: Path) -> Callable[[pd.DataFrame], Any]:
    """What makes a DataFrame of Spark of one of pandas, in three parts of no order."""

    def load(frame: pd.DataFrame) -> Any:
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        place.mkdir()
        size = -(-len(frame) // 3)
        for part in range(3):
            frame.iloc[part * size : (part + 1) * size].to_parquet(place / f"{part}.parquet")
        return session.read.parquet(str(place))

    return load


def users_of(table: Any) -> pd.DataFrame:
    """Collect the scores of all users."""
    frame = pd.DataFrame([row.asDict() for row in table.collect()], columns=table.columns)
    return frame.set_index("user")


@pytest.mark.parametrize("case", CASES, ids=str)
def test_as_in_memory(case: Case, loaded: Callable[[pd.DataFrame], Any]) -> None:
    """All that a report says of all users, and every user's scores to the last bit."""
    data: Any = case.data
    if isinstance(data, dict):
        frame: Any = {name: loaded(one) for name, one in data.items()}
    else:
        frame = loaded(data)
    with spark.evaluate(frame, partitions=case.parts or 3, **case.options) as report:
        check_alike(report, users_of(report.per_user), case.local())
