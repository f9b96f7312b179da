"""Text, by pyarrow where nothing in it is out of the ordinary, else by the careful reader.

pyarrow reads in all threads, several times faster. What it returns is what the careful reader
returns, to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Floats, Ids
from recsys_ndcg.input.ids import coded_text, pyarrow_if_any
from recsys_ndcg.input.text_format import (
    HEADING,
    LONGEST_LINE,
    MOST_COLUMNS,
    TextFormat,
    first_line,
)
from recsys_ndcg.input.text_tables import Choose, careful_columns, most_lines, whole_numbers
from recsys_ndcg.parallel import map_in_threads

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.files import Content
    from recsys_ndcg.input.ids import EncodedIds

_BLOCK = 1 << 21
_SAFE = 21  # the first version of pyarrow that is sure of its memory, whatever a line holds
_SEPARATORS = frozenset("\t,;| ")
#: Words for a number that is not there, as they are mostly written.
_ABSENT = ("", *["nan", "NaN", "NAN", "na", "NA", "none", "None", "NONE", "null", "Null", "NULL"])


class UnusualError(ValueError):
    """Something in a plain text is not, and the careful reader has to look at it."""


def reads_text() -> bool:
    """Return whether there is a pyarrow that a file of text can be given to.

    Older ones end the process over a line of a million fields.
    """
    pa = pyarrow_if_any()
    return pa is not None and int(pa.__version__.partition(".")[0]) >= _SAFE


def read_text(
    content: Content, text: str, how: TextFormat, choose: Choose
) -> pd.DataFrame | Mapping[str, Any]:
    """Read text by pyarrow if it is plain, else carefully."""
    found = plain_columns(content, text, how, choose)
    return careful_columns(content.name, text, how, choose) if found is None else found


def plain_columns(
    content: Content, text: str, how: TextFormat, choose: Choose
) -> dict[str, Any] | None:
    """Return the columns of a text that is plain, None in place of any that nobody reads.

    Ids are whole numbers if all of them are plain writings of such, else text by its distinct
    values. None in place of all is for the careful reader to look at.

    Parameters
    ----------
    content : Content
        The file.
    text : str
        What is in it.
    how : TextFormat
        How it is written.
    choose : callable
        Says which columns are read; the others are looked at no further than how many fields each
        row has.
    """
    if not reads_text():
        return None
    separator = how.find_separator(text)
    if separator == "::":
        text, separator = text.replace("::", "\t"), "\t"
    line = first_line(text)
    found = _names(line, separator, heading=how.heading)
    n_lines = text.count("\n") + text.count("\r")
    if found is None or n_lines > most_lines(line.count(separator) + 1, len(text)):
        return None
    names, ids, numbers = choose(found)
    if not ids:
        return None
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    from pyarrow import csv as arrow_csv  # noqa: PLC0415

    kinds = dict.fromkeys(ids, pa.string()) | dict.fromkeys(numbers, pa.float64())
    try:
        same = text.isascii() and len(text) == len(content.data)
        data = pa.py_buffer(content.data if same else text.encode())
        table = arrow_csv.read_csv(
            pa.BufferReader(data.slice(len(line.encode()) if how.heading else 0)),
            arrow_csv.ReadOptions(column_names=names, block_size=_BLOCK),
            arrow_csv.ParseOptions(
                delimiter=separator,
                quote_char='"' if '"' in text else False,
                newlines_in_values='"' in text,
            ),
            arrow_csv.ConvertOptions(
                check_utf8=False,  # it is known
                include_columns=[*kinds],
                column_types=kinds,
                null_values=_ABSENT,
                strings_can_be_null=False,
                decimal_point=how.decimal,
            ),
        )
        read: dict[str, Any] = {name: _floats(table[name], numbers[name]) for name in numbers}
        read |= dict(zip(ids, map_in_threads(lambda name: _ids(table[name]), ids), strict=True))
    except (pa.ArrowException, UnusualError, UnicodeEncodeError):  # the last for half a character
        return None
    return {name: read.get(name) for name in names}


def _names(line: str, separator: str, *, heading: bool) -> list[str] | None:
    """Return the names of the columns, None where they are none, or the line may be JSON."""
    odd = line.count('"') % 2 or line.lstrip().startswith("{") or line.startswith("\ufeff")
    if separator not in _SEPARATORS or odd or len(line) == LONGEST_LINE:
        return None
    fields = TextFormat(separator).split_first_line(line)
    if not 2 <= len(fields) <= line.count(separator) + 1 <= MOST_COLUMNS:
        return None
    if not heading:
        return [str(place + 1) for place in range(len(fields))]
    names = [name.strip() for name in fields]
    if len(set(names)) < len(names) or tuple(names[: len(HEADING)]) == HEADING:
        return None
    return names


def _floats(column: Any, may_be_empty: bool) -> Floats:  # noqa: FBT001 - private
    """Return finite numbers, NaN where the text has none."""
    if column.null_count and not may_be_empty:
        raise UnusualError
    values: Floats = column.to_numpy()
    if np.count_nonzero(~np.isfinite(values)) != column.null_count:
        raise UnusualError
    return values


def _ids(column: Any) -> Ids | EncodedIds:
    text = coded_text(column)
    if text is None:
        raise UnusualError
    distinct = text.ids.tolist()
    if not all(map(str.strip, distinct)):
        raise UnusualError
    found = whole_numbers(distinct)
    return text if found is None else found[text.codes]
