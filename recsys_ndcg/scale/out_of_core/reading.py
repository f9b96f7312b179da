"""The SQL that reads the columns of a source, by our names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recsys_ndcg.scale.out_of_core.database import FILE, quoted
from recsys_ndcg.scale.out_of_core.kinds import IDS

if TYPE_CHECKING:
    from recsys_ndcg.scale.out_of_core.database import Database
    from recsys_ndcg.scale.out_of_core.sources import Source

#: The rows of a source in their order, for what hangs on it.
ROW = "row"
#: Whether the text of a grade is neither a number nor a word for none.
BAD_GRADE = "bad_grade"
#: A whole number in its usual writing, that fits 64 bits: what `is_plain_number` tells.
_PLAIN = (
    "CASE WHEN length({0}) < 19 AND try_cast({0} AS BIGINT) >= 0 "
    "AND try_cast({0} AS BIGINT)::VARCHAR = {0} THEN try_cast({0} AS BIGINT) END"
)


def read_sql(source: Source, *extra: str, in_order: bool = False) -> str:
    """Return what stands behind FROM for the rows of a source, with more of its columns.

    Ids that are taken for whole numbers are such, or NULL; numbers are numbers, or NULL.
    """
    read = [*extra]
    for ours, theirs in source.sql.items():
        sql = theirs
        if ours in source.whole:
            sql = _PLAIN.format(theirs)
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
    """Return a source with fewer columns taken for whole numbers, if some have other text, too.

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
    whole = sorted(source.whole)
    asked = (f"count(*) > count({quoted(one)})" for one in whole)
    (told,) = database.run(f"SELECT {', '.join(asked)} FROM {relation}")
    kept = frozenset(one for one, mixed in zip(whole, told, strict=True) if not mixed)
    return None if kept == source.whole else replace(source, whole=kept)


def of_file(source: Source) -> str:
    """Return the rows of a source of files, each with the name of its file."""
    return read_sql(source, FILE)
