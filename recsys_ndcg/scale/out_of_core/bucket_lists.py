"""From the rows of a bucket to lists, as if they had been read from memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.lists.ranked_lists import RankedLists
from recsys_ndcg.scale.out_of_core.buckets import FAULT, ROW

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recsys_ndcg.lists.grouped_lists import GroupedLists


def lists_in(rows: Any, whole: Iterable[str], duplicates: str) -> GroupedLists:
    """Return the lists of all users of a bucket.

    Parameters
    ----------
    rows : pyarrow.Table
        Its columns by our names.
    whole : iterable of str
        Which columns of text write whole numbers.
    duplicates : str
        As in `Convention`.

    Raises
    ------
    InvalidInputError
        The same user and item stand there twice; they are named.
    """
    rows = _in_order(rows)
    for name in whole:
        rows = _as_numbers(rows, name)
    if duplicates != "raise":
        return RankedLists.of(rows, duplicates=duplicates)
    try:
        return RankedLists.of(rows)
    except InvalidInputError as error:  # whose rows are counted in the bucket
        raise InvalidInputError(_repeats(rows) or str(error)) from None


def _in_order(rows: Any) -> Any:
    """Return rows as they came, if that is known, without the columns that are ours alone."""
    if ROW in rows.column_names:
        rows = rows.sort_by(ROW)
    return rows.drop_columns([one for one in (ROW, FAULT) if one in rows.column_names])


def _as_numbers(rows: Any, name: str) -> Any:
    """Return rows with ids as the whole numbers that they write: each distinct one is read once."""
    import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

    chunks = [
        chunk.dictionary.cast(pa.int64()).take(chunk.indices) for chunk in rows.column(name).chunks
    ]
    place = rows.column_names.index(name)
    return rows.set_column(place, name, pa.chunked_array(chunks, pa.int64()))


def _repeats(rows: Any) -> str:
    """Return what is wrong where the same user and item stand in several rows."""
    pairs = rows.select(["user", "item"]).to_pandas()
    again = pairs.duplicated()
    if not again.any():
        return ""
    user, item = pairs[again].iloc[0]
    return (
        f"predictions: user {shown(user)} and item {shown(item)} stand in several rows. Remove "
        "them, or choose duplicates='first', 'last', 'max' or 'mean': "
        "convention=Convention(duplicates='first') (--convention duplicates=first)."
    )
