"""Plain text read column by column as ids and numbers: fast, or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.input.arrow.plain_columns import arrow_columns, reads_text
from recsys_ndcg.input.column_names import roles_of
from recsys_ndcg.input.text.pandas_columns import pandas_columns
from recsys_ndcg.input.text.plain import UnusualError, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recsys_ndcg.arrays import Floats, Ids
    from recsys_ndcg.files.contents import Content
    from recsys_ndcg.input.ids import Coded
    from recsys_ndcg.input.text.form import TextFormat
    from recsys_ndcg.input.text.plain import PlainText


def typed_table(
    content: Content, how: TextFormat, columns: Mapping[str, str] | None, order: Sequence[str]
) -> dict[str, Ids | Coded | Floats | None] | None:
    """Return the columns of a plain text under their names, None of any that nobody reads.

    What is returned is what the careful reader would return, to the last bit; None in place of
    the table is for that one to look at.

    Parameters
    ----------
    content : Content
        The file.
    how : TextFormat
        How it is written.
    columns : mapping, optional
        Our names to the file's.
    order : sequence of str
        What columns without a heading are.

    Raises
    ------
    InvalidInputError
        The file is no text in the encoding that somebody said.
    """
    plain = plain_text(content, how)
    if plain is None:
        return None
    called = {name: name for name in plain.names}
    if not how.heading and columns and not called.keys() >= set(columns.values()):
        return None
    if not how.heading and not columns:
        called |= dict(zip(plain.names, order, strict=False))
    places = {name: place for place, name in called.items()}
    wanted = {
        ours: places[found[0]]
        for ours, found in roles_of(places, columns).items()
        if len(found) == 1 and found[0] in places
    }
    read = typed_columns(
        plain,
        [name for ours, name in wanted.items() if ours in ("user", "item")],
        {name: ours == "true" for ours, name in wanted.items() if ours not in ("user", "item")},
    )
    return None if read is None else {name: read.get(place) for name, place in places.items()}


def typed_columns(
    plain: PlainText, ids: Sequence[str], numbers: Mapping[str, bool]
) -> dict[str, Ids | Coded | Floats] | None:
    """Return columns of a plain text, None where the careful reader is to look at it.

    Parameters
    ----------
    plain : PlainText
        Its other columns are looked at no further than how many fields each row has.
    ids : sequence of str
        The names of columns of ids: whole numbers if all of them are plain writings of such, else
        text by its distinct values.
    numbers : mapping
        Those of columns of numbers; whether a field may be empty.
    """
    if not ids:
        return None
    columns = arrow_columns if reads_text() else pandas_columns
    try:
        return columns(plain, ids, numbers)
    except UnusualError:
        return None
