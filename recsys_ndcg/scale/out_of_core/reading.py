"""The SQL that reads the columns of a source, by our names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recsys_ndcg.scale.out_of_core.database import FILE, quoted
from recsys_ndcg.scale.out_of_core.kinds import IDS, LONGEST, WHOLE

if TYPE_CHECKING:
    from recsys_ndcg.scale.out_of_core.database import Database
    from recsys_ndcg.scale.out_of_core.sources import Source

#: The rows of a source in their order, for what hangs on it.
ROW = "row"
#: Whether the text of a grade is neither a number nor a word for none.
BAD_GRADE = "bad_grade"
#: A whole number in its usual writing, as `is_plain_number` knows it, of a type.
_PLAIN = "CASE WHEN try_cast({0} AS {1})::VARCHAR = {0} THEN try_cast({0} AS {1}) END"


def read_sql(source: Source, *extra: str, in_order: bool = False) -> str:
    """Return what stands behind FROM for the rows of a source, with more of its columns.

    Ids that are taken for whole numbers are such, or NULL; numbers are numbers, or NULL.
    """
    read = [*extra]
    for ours, theirs in source.sql.items():
        sql = theirs
        if ours in source.whole:
            sql = _PLAIN.format(theirs, source.whole[ours])
        elif source.kinds[ours] == "whole numbers":
            sql = f"CAST({theirs} AS BIGINT)"  # of one width, by which all are told apart
        elif source.text is not None and ours not in IDS:
            sql = source.text.number(theirs)
        read.append(f"{sql} AS {quoted(ours)}")
        if source.text is not None and ours == "true":
            absent = source.text.is_absent(theirs)
            read.append(f"CASE WHEN {sql} IS NULL THEN NOT {absent} ELSE false END AS {BAD_GRADE}")
    if in_order:
        read.append(f"row_number() OVER () AS {ROW}")
    return f"(SELECT {', '.join(read)} FROM {source.relation})"


def mixed_in(database: Database, relation: str, source: Source) -> Source | None:
    """Return a source with other types for columns of ids, if one has other text than was assumed.

    The type is the first of `WHOLE` that holds all numbers of the column, or text.

    Parameters
    ----------
    database : Database
        That is open.
    relation : str
        The rows as they were read.
    source : Source
        What was taken for what.
    """
    if not source.whole:
        return None
    asked = (f"count(*) > count({quoted(one)})" for one in source.whole)
    (told,) = database.run(f"SELECT {', '.join(asked)} FROM {relation}")
    mixed = [one for one, is_mixed in zip(source.whole, told, strict=True) if is_mixed]
    if not mixed:
        return None
    kinds = {**source.whole, **{one: _type_of(database, source, one) for one in mixed}}
    return replace(source, whole={one: kind for one, kind in kinds.items() if kind})


def _type_of(database: Database, source: Source, column: str) -> str | None:
    """Return the type for a column of text, None if some of it is no whole number of 64 bits."""
    number = _PLAIN.format(source.sql[column], LONGEST)
    asked = f"count(*) = count({number}), min({number})::VARCHAR, max({number})::VARCHAR"
    ((all_whole, low, high),) = database.run(f"SELECT {asked} FROM {source.relation}")
    if not all_whole:
        return None
    fits = (kind for kind, (least, most) in WHOLE.items() if least <= int(low) <= int(high) <= most)
    return next(fits, None)


def of_file(source: Source) -> str:
    """Return the rows of a source of files, each with the name of its file."""
    return read_sql(source, FILE)
