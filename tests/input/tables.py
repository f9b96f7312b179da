"""The table in a file, as any test can look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from recsys_ndcg.input.files import read_file
from recsys_ndcg.input.ids import Coded

if TYPE_CHECKING:
    from pathlib import Path


def table_in(path: Path) -> pd.DataFrame:
    """Read a file whichever way it is read; columns that nobody asked for may be empty."""
    columns = {
        name: column.ids[column.codes] if isinstance(column, Coded) else column
        for name, column in dict(read_file(path)).items()
    }
    return pd.DataFrame({name: pd.Series(column) for name, column in columns.items()})
