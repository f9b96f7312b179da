"""Columns of plain text, read by pyarrow in all threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.input.arrow.text import coded_text, pyarrow_if_any
from recsys_ndcg.input.text.plain import ABSENT, UnusualError, plain_ids
from recsys_ndcg.input.text.tables import is_plain_number
from recsys_ndcg.parallel import in_threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recsys_ndcg.arrays import Floats, Ids
    from recsys_ndcg.input.ids import Coded
    from recsys_ndcg.input.text.plain import PlainText

_BLOCK = 1 << 21
_SAFE = 21  # the first version that is sure of its memory, whatever a line holds


def reads_text() -> bool:
    """Tell whether there is a pyarrow that a file of text can be given to.

    Older ones end the process over a line of a million fields.
    """
    pa = pyarrow_if_any()
    return pa is not None and int(pa.__version__.partition(".")[0]) >= _SAFE


def arrow_columns(
    plain: PlainText, ids: Sequence[str], numbers: Mapping[str, bool]
) -> dict[str, Ids | Coded | Floats]:
    """Return columns of ids and numbers; `numbers` tells which of them may have empty fields.

    Raises
    ------
    UnusualError
        The careful reader has to look at the text.
    """
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    try:
        table = _table(
            plain, dict.fromkeys(ids, pa.string()) | dict.fromkeys(numbers, pa.float64())
        )
        found = {name: _floats(table[name], numbers[name]) for name in numbers}
        read = in_threads(lambda name: _ids(table[name]), ids)
    except pa.ArrowException as error:
        raise UnusualError from error
    return found | dict(zip(ids, read, strict=True))


def _table(plain: PlainText, kinds: dict[str, Any]) -> Any:
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import csv  # noqa: PLC0415

    return csv.read_csv(
        pa.BufferReader(pa.py_buffer(plain.data).slice(plain.start)),
        csv.ReadOptions(column_names=plain.names, block_size=_BLOCK),
        csv.ParseOptions(
            delimiter=plain.separator,
            quote_char='"' if plain.quoted else False,
            newlines_in_values=plain.quoted,
        ),
        csv.ConvertOptions(
            check_utf8=False,  # it is known
            include_columns=[*kinds],
            column_types=kinds,
            null_values=ABSENT,
            strings_can_be_null=False,
            decimal_point=plain.decimal,
        ),
    )


def _floats(column: Any, may_be_empty: bool) -> Floats:  # noqa: FBT001 - private
    """Return finite numbers, NaN where the text has none."""
    if column.null_count and not may_be_empty:
        raise UnusualError
    values: Floats = column.to_numpy()
    if np.count_nonzero(~np.isfinite(values)) != column.null_count:
        raise UnusualError
    return values


def _ids(column: Any) -> Ids | Coded:
    first = column[0].as_py() if len(column) else ""
    numbers = _whole_numbers(column) if is_plain_number(first) else None
    if numbers is not None:
        return numbers
    text = coded_text(column)
    if text is None:
        raise UnusualError
    return plain_ids(text)


def _whole_numbers(column: Any) -> Ids | None:
    """Return whole numbers of 64 bits with a sign, None if one is longer or not written plainly.

    No other writing of a number is as short as the plain one, but for hexadecimal digits.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import compute  # noqa: PLC0415

    written = [chunk.buffers()[2].to_pybytes() for chunk in column.chunks]
    if any(b"x" in one or b"X" in one for one in written):
        return None
    try:
        values: Ids = column.cast(pa.int64()).to_numpy()
    except pa.ArrowInvalid:
        return None
    low, high = int(values.min()), int(values.max())
    tens = [10**digits for digits in range(len(str(max(-low, high))))]
    length = len(values) + sum(int(np.count_nonzero(values >= ten)) for ten in tens[1:])
    if low < 0:  # -1 and below have a sign besides
        length += sum(int(np.count_nonzero(values <= -ten)) for ten in tens)
    plain = length == compute.sum(compute.binary_length(column)).as_py()
    return values if plain else None
