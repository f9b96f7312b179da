"""Write a file, and read the table in it: by any reader, by the fast one, by both."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import RecsysNdcgError
from recsys_ndcg.files import Content
from recsys_ndcg.input import EncodedIds, TextFormat, detect_format
from recsys_ndcg.input.dispatch import choose_file_columns, read_file
from recsys_ndcg.input.text_tables import parse_carefully, parse_plain


def write(folder: Path, content: str | bytes, name: str = "p.csv") -> Path:
    """Write a file, text in UTF-8 without changing its line ends."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def table_in(path: Path) -> pd.DataFrame:
    """Read a file; columns that are not needed may be empty."""
    table = dict(read_file(path))
    encoded = {name: one for name, one in table.items() if isinstance(one, EncodedIds)}
    table |= {name: ids.ids[ids.codes] for name, ids in encoded.items()}
    return pd.DataFrame({name: pd.Series(column) for name, column in table.items()})


def ids_of_rows(ids: EncodedIds) -> list[str]:
    """Return the id of every row."""
    return [ids.ids[code] for code in ids.codes.tolist()]


def read_fast(content: Content, how: TextFormat, columns: dict[str, str] | None = None) -> Any:
    """Return the columns that the fast reader finds, None if it leaves the file alone."""
    text = how.decode(content)
    how = detect_format(text, how, columns)
    return parse_plain(content, text, how, lambda names: choose_file_columns(names, how, columns))


def compare_readings(content: Content, how: TextFormat, columns: dict[str, str] | None) -> bool:
    """Compare the fast reader with the careful one; return whether the fast one read the file."""
    try:
        text = how.decode(content)
        how = detect_format(text, how, columns)
        choose = partial(choose_file_columns, text_format=how, columns=columns)
        slow: Any = parse_carefully(content.name, text, how, choose)
    except RecsysNdcgError as error:
        slow = str(error)
    try:
        fast = read_fast(content, how, columns)
    except RecsysNdcgError:  # it may report another fault first
        fast = None
        assert isinstance(slow, str)
    if fast is None:
        return False
    assert not isinstance(slow, str), slow
    assert list(fast) == list(slow)
    for name, column in fast.items():
        if isinstance(column, EncodedIds):
            found = slow[name].tolist()
            assert ids_of_rows(column) == found
            distinct = dict.fromkeys(found)
            assert column.ids.tolist() == (sorted if column.is_sorted else list)(distinct)
            assert {*map(type, column.ids)} == {str}
            assert column.codes.dtype == np.int32
        elif not isinstance(column, list):  # the first fields of a column that is not read
            same = np.asarray(slow[name])
            assert same.dtype == column.dtype
            assert same.tobytes() == column.tobytes()
    return True
