"""Feather and other files of Arrow's format, held to their size like Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import needing
from recsys_ndcg.input.arrow.columns import ArrowColumns

if TYPE_CHECKING:
    from pathlib import Path

_FILE = b"ARROW1"  # how one begins that is no stream
_PACKED = b"\x28\xb5\x2f\xfd"  # how what zstd packed begins


class FeatherColumns(ArrowColumns):
    """The columns of a Feather file, or of another in the format of Arrow, file or stream.

    Parameters
    ----------
    path : Path
        Of a file that exists.

    Raises
    ------
    InvalidInputError
        The file is none, is damaged, or stands for far more than it has room for.
    MissingExtraError
        pyarrow is not installed, or fails.
    """

    def __init__(self, path: Path) -> None:
        with needing("pyarrow", job="Reading Feather", extra="scale"):
            import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
            from pyarrow import ipc  # noqa: PLC0415
        super().__init__(path, "Feather")
        self._arrow, self._ipc = pa, ipc
        self._content = self._read(path.read_bytes)
        self._check_room(self._told_room())
        self._take_types(self._read(lambda: self._opened([]).schema))
        places = [0] if self._types else []
        self._check_rows(sum(self._read(lambda: [len(one) for one in self._batches(places)])))

    def _column(self, name: str) -> Any:
        chunks = [batch.column(name) for batch in self._batches([[*self._types].index(name)])]
        for chunk in chunks:
            chunk.validate(full=True)  # what is damaged may point anywhere
        return self._arrow.chunked_array(chunks, self._types[name])

    def _batches(self, places: list[int]) -> list[Any]:
        opened = self._opened(places)
        if hasattr(opened, "get_batch"):
            return [opened.get_batch(place) for place in range(opened.num_record_batches)]
        return list(opened)

    def _opened(self, places: list[int]) -> Any:
        options = self._ipc.IpcReadOptions(included_fields=places)
        opened = self._ipc.open_file if self._content[:6] == _FILE else self._ipc.open_stream
        return opened(self._arrow.py_buffer(self._content), options=options)

    def _told_room(self) -> int:
        """Return to how much it unpacks, which stands before what zstd packed.

        lz4 packs no tighter than a file may be.
        """
        content = np.frombuffer(self._content, dtype=np.uint8)
        # looked for by its rarest sign first: bytes have no fast search of several
        rare = np.flatnonzero(content[1:-2] == _PACKED[1])
        for place in (0, 2, 3):
            rare = rare[content[rare + place] == _PACKED[place]]
        starts = rare.tolist()
        return sum(int.from_bytes(self._content[max(at - 8, 0) : at], "little") for at in starts)
