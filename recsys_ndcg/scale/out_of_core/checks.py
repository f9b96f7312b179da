"""What is known of all rows before any is measured, and what is wrong with some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.rows import as_written
from recsys_ndcg.input.to_join import LOWEST, warn_of_fillers
from recsys_ndcg.lists.facts import Grades
from recsys_ndcg.scale.out_of_core.database import FILE
from recsys_ndcg.scale.out_of_core.reading import is_faulty, of_file

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.scale.out_of_core.database import Database
    from recsys_ndcg.scale.out_of_core.sources import Source

_FIRST = 3


@dataclass(frozen=True)
class Known:
    """What is known of all rows.

    Parameters
    ----------
    rows, unlabelled : int
        How many there are, and how many of them without a true value.
    grades : Grades
        The bounds of the true values.
    fillers : int
        How many results implicit marked as none.
    schema : pyarrow.Schema
        Of the rows as they were brought together.
    """

    rows: int
    unlabelled: int
    grades: Grades
    fillers: int
    schema: Any


def known_of(database: Database, relation: str, source: Source) -> Known:
    """Look at all rows once, and refuse what cannot be ranked.

    Parameters
    ----------
    database : Database
        That is open.
    relation : str
        The rows as they were brought together, by our names.
    source : Source
        Where they come from, and can be looked up.

    Raises
    ------
    InvalidInputError
        An id is missing, a number is none or not finite; the first such rows are named.
    """
    faults = dict(_faults(source))
    graded = '"true"' if "true" in source.names else "1"
    may_fill = "estimated" in source.names and "true" not in source.names
    labelled = f"({graded} IS NOT NULL AND NOT isnan({graded}::DOUBLE))"
    asked = [
        "count(*)",
        f"count(*) FILTER ({labelled})",
        f"min({graded}) FILTER ({labelled})",
        f"max({graded}) FILTER ({labelled})",
        f"bool_and({graded} IN (0, 1)) FILTER ({labelled})",
        *(f"count(*) FILTER ({one})" for one in faults),
        f"count(*) FILTER (estimated::DOUBLE = {LOWEST!r})" if may_fill else "0",
    ]
    ((rows, n_labelled, lowest, highest, zero_one, *told, fillers),) = database.rows(
        f"SELECT {', '.join(asked)} FROM {relation}"
    )
    for (fault, what), count in zip(faults.items(), told, strict=True):
        if count:
            raise InvalidInputError(_named(database, relation, source, fault, what, count))
    ends = np.array([np.nan if end is None else float(end) for end in (lowest, highest)])
    if source.kinds.get("true") == "float":
        ends = as_written(ends.astype(np.float32))
    low, high = ends.tolist()
    if fillers:
        warn_of_fillers(fillers, rows, "estimated")
    grades = Grades(low, high, zero_one is not False)
    return Known(rows, rows - n_labelled, grades, fillers, database.schema(relation))


def _faults(source: Source) -> Iterator[tuple[str, str]]:
    """Give what no row may be, in SQL, with the words for it."""
    for one in ("user", "item"):
        if one in source.names:
            written = source.text and one not in source.whole
            blank = f" OR trim(\"{one}\") = ''" if written else ""
            yield f'("{one}" IS NULL{blank})', f"{one} is missing"
    numbers = [one for one in source.names if one not in ("user", "item")]
    for one in numbers:
        called = source.names[one]
        if source.text:
            yield is_faulty(source, one), f"{called} is no number"
        value = f'"{one}"::DOUBLE'
        if one != "true":
            yield f'("{one}" IS NULL OR isnan({value}))', f"{called} is missing, or NaN"
        if one == "rank":
            yield f"({value} < 0 OR {value} * 2 % 1 > 0)", f"{called} is no rank (1, 2, 3, …)"
        yield f"coalesce(isinf({value}), false)", f"{called} is infinite"


def _named(  # noqa: PLR0913, PLR0917 - what, of what, and where it is looked up
    database: Database, relation: str, source: Source, fault: str, what: str, count: int
) -> str:
    """Return what is wrong, with the first rows: in the source itself if it is still there."""
    ids = [f'"{one}"' for one in ("user", "item") if one in source.names]
    told = f"{', '.join(ids)}"
    if source.rereads:
        relation, told = of_file(source), f"{FILE}, {told}"
    found = database.rows(f"SELECT {told} FROM {relation} WHERE {fault} LIMIT {_FIRST}")
    where = str(found[0][0]) if source.rereads else source.name
    rows = "; ".join(
        ", ".join(f"{name.strip(chr(34))} {shown(one)}" for name, one in zip(ids, row, strict=True))
        for row in (each[source.rereads :] for each in found)
    )
    return f"{where}: {what} in {count:,} rows, such as {rows}. Correct it, or leave them out."
