"""One session of Spark for all tests that need one, and a place for temporary files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from recsys_ndcg.scale.database import Memory
from tests.scale import sessions


@pytest.fixture(scope="session")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start a session for all tests: it takes seconds."""
    found = sessions.session(tmp_path_factory.mktemp("spark"))
    yield found
    found.stop()


@pytest.fixture
def loaded(session: Any, tmp_path: Path) -> sessions.Load:
    """Return a function that turns a pandas DataFrame into one of Spark, in three parts."""

    def load(frame: pd.DataFrame) -> Any:
        place = tmp_path / str(len(list(tmp_path.iterdir())))
        place.mkdir()
        size = -(-len(frame) // 3)
        for part in range(3):
            frame.iloc[part * size : (part + 1) * size].to_parquet(place / f"{part}.parquet")
        return session.read.parquet(str(place))

    return load


@pytest.fixture
def in_parts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that sets the number of rows in memory, and whether users are kept."""

    def set_to(rows: int, *, keeps: bool = True) -> None:
        monkeypatch.setattr(Memory, "budget", property(lambda _: rows))
        monkeypatch.setattr(Memory, "cost", lambda _, rows, *_others: rows)
        monkeypatch.setattr(Memory, "can_keep", lambda *_: keeps)

    return set_to


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give temporary files a folder of their own, which must be empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []
