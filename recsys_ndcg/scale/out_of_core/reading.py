"""The SQL that reads the columns of a source, by our names, and marks what is none of its kind."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recsys_ndcg.scale.out_of_core.database import FILE, quoted

if TYPE_CHECKING:
    from recsys_ndcg.scale.out_of_core.database import Database
    from recsys_ndcg.scale.out_of_core.sources import Source

#: Which fields of a row of text are none of the kind that they were read as, a bit for each.
FAULT = "fault"
_IDS = ("user", "item")
#: A whole number in its usual writing, that fits 64 bits: what `is_plain_number` tells.
_PLAIN = "coalesce({0} >= 0 AND length({1}) < 19 AND {0}::VARCHAR = {1}, false)"


def read_sql(source: Source, *extra: str) -> str:
    """Return what stands behind FROM for the rows of a source, with more of its columns.

    Ids that are taken for whole numbers are such, or NULL; numbers are numbers, or NULL.
    """
    names = {ours: quoted(theirs) for ours, theirs in source.names.items()}
    shown = [*extra, *map(quoted, names)]
    text = source.text
    if text is None:
        read = [*extra, *(f"{theirs} AS {quoted(ours)}" for ours, theirs in names.items())]
        return f"(SELECT {', '.join(read)} FROM {source.relation})"
    inner, faults = [*extra], []
    for ours, theirs in names.items():
        written, sql = _as_text(ours), theirs
        if ours not in _IDS:
            sql = text.number(theirs)
            wrong = f"{quoted(ours)} IS NULL"
            if ours == "true":  # an empty grade is none, an empty estimate is a fault
                wrong = f"CASE WHEN {wrong} THEN NOT {text.is_absent(written)} ELSE false END"
            faults.append(f"({wrong})::UTINYINT * {_bit(source, ours)}")
        elif ours in source.whole:
            sql = f"try_cast({theirs} AS BIGINT)"
            plain = _PLAIN.format(quoted(ours), written)
            faults.append(f"(NOT {plain})::UTINYINT * {_bit(source, ours)}")
        inner += [f"{sql} AS {quoted(ours)}", f"{theirs} AS {written}"]
    shown.append(f"({' + '.join(faults) or '0'})::UTINYINT AS {FAULT}")
    rows = f"(SELECT {', '.join(inner)} FROM {source.relation})"
    return f"(SELECT {', '.join(shown)} FROM {rows})"


def is_faulty(source: Source, column: str) -> str:
    """Return the SQL that tells a row whose field is none of its kind."""
    return f"({FAULT} & {_bit(source, column)} > 0)"


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
    asked = (f"bool_or({is_faulty(source, one)})" for one in whole)
    (told,) = database.rows(f"SELECT {', '.join(asked)} FROM {relation}")
    kept = frozenset(one for one, mixed in zip(whole, told, strict=True) if not mixed)
    return None if kept == source.whole else replace(source, whole=kept)


def of_file(source: Source) -> str:
    """Return the rows of a source of files, each with the name of its file."""
    return read_sql(source, FILE)


def _bit(source: Source, column: str) -> int:
    return 1 << list(source.names).index(column)


def _as_text(column: str) -> str:
    return f"{column}_written"
