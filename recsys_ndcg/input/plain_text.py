"""Text parsed by pyarrow if it is plain, else by the careful parser of `text_tables`.

pyarrow parses in several threads, several times faster. The result is the same to the last bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.files import Content
from recsys_ndcg.input.ids import EncodedIds, encode_text, import_pyarrow
from recsys_ndcg.input.text_format import (
    MAX_COLUMNS,
    MAX_HEADER_LENGTH,
    SCORES_HEADER,
    TextFormat,
    UnreadColumn,
    get_first_line,
)
from recsys_ndcg.input.text_tables import Chooser, is_mostly_empty, parse_carefully, parse_integers
from recsys_ndcg.parallel import map_in_threads

if TYPE_CHECKING:
    import pandas as pd

_BLOCK_BYTES = 1 << 21
_OLDEST_PYARROW = 21  # older ones may crash, for instance at a line with a million fields
_SEPARATORS = frozenset("\t,;| ")
#: The usual words for a missing number.
_MISSING = ("", *["nan", "NaN", "NAN", "na", "NA", "none", "None", "NONE", "null", "Null", "NULL"])


class UnusualTextError(ValueError):
    """A text is not plain; the careful parser must look at it."""


def parse_text(
    content: Content, text: str, text_format: TextFormat, choose: Chooser
) -> pd.DataFrame | dict[str, Any]:
    """Parse text with pyarrow if it is plain, else carefully."""
    columns = parse_plain(content, text, text_format, choose)
    return parse_carefully(content.name, text, text_format, choose) if columns is None else columns


def parse_plain(
    content: Content, text: str, text_format: TextFormat, choose: Chooser
) -> dict[str, Any] | None:
    """Parse plain text with pyarrow.

    Parameters
    ----------
    content : Content
        The file.
    text : str
        The file's text.
    text_format : TextFormat
        Its format.
    choose : callable
        Chooses the columns to parse. For the others, only the number of fields is checked.

    Returns
    -------
    dict or None
        All columns, an `UnreadColumn` for those that were not chosen. Ids are integers if all of
        them are written as plain integers, else encoded text. None if the text is not plain.
    """
    pa = import_pyarrow()
    if pa is None or int(pa.__version__.partition(".")[0]) < _OLDEST_PYARROW:
        return None
    separator = text_format.find_separator(text)
    if separator == "::":
        text, separator = text.replace("::", "\t"), "\t"
    line = get_first_line(text)
    header = _parse_header(line, separator, has_header=bool(text_format.heading))
    if header is None or is_mostly_empty(text, separator):
        return None
    names, ids, numbers, _ = choose(header)
    if not ids:
        return None
    from pyarrow import csv as arrow_csv  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    types = dict.fromkeys(ids, pa.string()) | dict.fromkeys(numbers, pa.float64())
    try:
        is_unchanged = text.isascii() and len(text) == len(content.data)
        data = pa.py_buffer(content.data if is_unchanged else text.encode())
        table = arrow_csv.read_csv(
            pa.BufferReader(data.slice(len(line.encode()) if text_format.heading else 0)),
            arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK_BYTES),
            arrow_csv.ParseOptions(
                delimiter=separator,
                quote_char='"' if '"' in text else False,
                newlines_in_values='"' in text,
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,  # it was decoded
                include_columns=[*types],
                column_types=types,
                null_values=_MISSING,
                strings_can_be_null=False,
                decimal_point=text_format.decimal,
            ),
        )
        numeric = {name: _convert_numbers(table[name], numbers[name]) for name in numbers}
        encoded = map_in_threads(lambda name: _convert_ids(table[name]), ids, len(table))
    except (pa.ArrowException, UnusualTextError, UnicodeEncodeError):  # for lone surrogates
        return None
    columns = numeric | dict(zip(ids, encoded, strict=True))
    unread = {name: UnreadColumn(text, text_format, place) for place, name in enumerate(names)}
    return {**unread, **columns}


def _parse_header(line: str, separator: str, *, has_header: bool) -> list[str] | None:
    """Return the names of the columns, None if the first line is unusual or may be JSON."""
    is_odd = line.count('"') % 2 or line.lstrip().startswith("{") or line.startswith("\ufeff")
    if separator not in _SEPARATORS or is_odd or len(line) == MAX_HEADER_LENGTH:
        return None
    fields = TextFormat(separator).split_first_line(line)
    if not 2 <= len(fields) <= line.count(separator) + 1 <= MAX_COLUMNS:
        return None
    if not has_header:
        return [str(place + 1) for place in range(len(fields))]
    names = [name.strip() for name in fields]
    if len(set(names)) < len(names) or tuple(names[: len(SCORES_HEADER)]) == SCORES_HEADER:
        return None
    return names


def _convert_numbers(column: Any, may_be_empty: bool) -> Floats:  # noqa: FBT001 - private
    """Return finite numbers, NaN for an empty field."""
    values: Floats = column.to_numpy()
    n_empty = column.null_count
    if (n_empty and not may_be_empty) or np.count_nonzero(~np.isfinite(values)) != n_empty:
        raise UnusualTextError
    return values


def _convert_ids(column: Any) -> Ids | EncodedIds:
    encoded = encode_text(column)
    if encoded is None or not all(map(str.strip, encoded.ids)):
        raise UnusualTextError
    integers = parse_integers(encoded.ids.tolist())
    return encoded if integers is None else integers[encoded.codes]
