"""Parquet files: no more is read, or believed, than what is asked for."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import needing
from recsys_ndcg.input.arrow.columns import ArrowColumns, is_text

if TYPE_CHECKING:
    from pathlib import Path


class ParquetColumns(ArrowColumns):
    """The columns of a Parquet file.

    Parameters
    ----------
    path : Path
        Of a file that exists.

    Raises
    ------
    InvalidInputError
        The file is no Parquet, is damaged, or stands for far more rows than it has room for.
    MissingExtraError
        pyarrow is not installed, or fails.
    """

    def __init__(self, path: Path) -> None:
        with needing("pyarrow", job="Reading Parquet", extra="scale"):
            from pyarrow import OSFile, parquet  # type: ignore[import-untyped] # noqa: PLC0415
        super().__init__(path, "Parquet")
        name = os.fsencode(path)  # which need not be text in UTF-8
        self._take_types(self._read(lambda: parquet.read_schema(OSFile(name))))
        text = [name for name, kind in self._types.items() if is_text(kind)]
        # text is read as distinct values and codes, or a long one would be copied for every row
        self._file = self._read(lambda: parquet.ParquetFile(OSFile(name), read_dictionary=text))
        self._check_size()

    def _column(self, name: str) -> Any:
        return self._file.read(columns=[name]).column(name)

    def _check_size(self) -> None:
        told = self._file.metadata
        groups = [told.row_group(place).num_rows for place in range(told.num_row_groups)]
        if min([told.num_rows, *groups]) < 0 or sum(groups) != told.num_rows:
            self._refuse("cannot be read as Parquet (it is damaged: its numbers of rows disagree).")
        self._check_rows(told.num_rows)
        # of all columns: asked about one alone, pyarrow ends the process where a file is damaged
        self._check_room(
            sum(told.row_group(place).total_byte_size for place in range(told.num_row_groups))
        )
