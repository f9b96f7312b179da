"""What is known of all rows before any is measured, and what is wrong with some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError, counted, shown
from recsys_ndcg.input.labels_and_results import LOWEST, check_first_rank, warn_of_fillers
from recsys_ndcg.input.rows import as_written
from recsys_ndcg.lists.facts import Grades
from recsys_ndcg.scale.out_of_core.database import FILE, literal, quoted
from recsys_ndcg.scale.out_of_core.kinds import IDS
from recsys_ndcg.scale.out_of_core.reading import BAD_GRADE, of_file

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
    unlabelled : int
        How many of them have no true value.
    grades : Grades
        The bounds of the true values.
    fillers : int
        How many results implicit marked as none.
    schema : pyarrow.Schema
        Of the rows as they were brought together.
    """

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

    Warns
    -----
    DataWarning
        Results are none, or have no first rank.
    """
    faults = dict(_faults(source))
    graded = '"true"' if "true" in source.sql else "1"
    labelled = f"({graded} IS NOT NULL AND NOT isnan({graded}::DOUBLE))"
    is_filler = f"estimated::DOUBLE = {LOWEST!r}"
    may_fill = "estimated" in source.sql and "true" not in source.sql
    asked = [
        "count(*)",
        f"count(*) FILTER ({labelled})",
        f"min({graded}) FILTER ({labelled})",
        f"max({graded}) FILTER ({labelled})",
        f"bool_and({graded} IN (0, 1)) FILTER ({labelled})",
        f"count(*) FILTER ({is_filler})" if may_fill else "0",
        "min(rank)" if "rank" in source.sql else "0",
        *(f"count(*) FILTER ({one})" for one in faults),
    ]
    ((rows, n_labelled, lowest, highest, zero_one, fillers, first, *counts),) = database.run(
        f"SELECT {', '.join(asked)} FROM {relation}"
    )
    for (fault, what), count in zip(faults.items(), counts, strict=True):
        if count:
            where, told = _first_rows(database, relation, source, fault)
            n_rows = counted(count, "such row")
            msg = f"{where}: {what}: {told}. {n_rows} in all: correct what is wrong."
            raise InvalidInputError(msg)
    ends = np.array([np.nan if end is None else float(end) for end in (lowest, highest)])
    if source.kinds.get("true") == "float":
        ends = as_written(ends.astype(np.float32))
    low, high = ends.tolist()
    if fillers:
        warn_of_fillers(fillers, rows, "estimated")
    check_first_rank(first)
    grades = Grades(low, high, zero_one is not False)
    return Known(rows - n_labelled, grades, fillers, database.schema(relation))


def _faults(source: Source) -> Iterator[tuple[str, str]]:
    """Give what no row may be, in SQL, with the words for it."""
    for ours, theirs in source.names.items():
        column, value = quoted(ours), f"{quoted(ours)}::DOUBLE"
        if ours in IDS:
            as_text = source.text is not None and ours not in source.whole
            blank = f" OR trim({column}) = ''" if as_text else ""
            yield f"({column} IS NULL{blank})", f"{theirs} is missing"
            continue
        if ours != "true":
            yield f"({column} IS NULL OR isnan({value}))", f"{theirs} is missing, or no number"
        elif source.text is not None:
            yield BAD_GRADE, f"{theirs} is no number"
        if ours == "rank":
            yield f"({value} < 0 OR {value} * 2 % 1 > 0)", f"{theirs} is no rank (1, 2, 3, …)"
        yield f"coalesce(isinf({value}), false)", f"{theirs} is infinite"


def _first_rows(database: Database, relation: str, source: Source, fault: str) -> tuple[str, str]:
    """Return where the first rows with a fault are, and which: in the source if it is there."""
    where = source.name
    if source.stream is None:
        relation = of_file(source)
        ((where,),) = database.run(f"SELECT {FILE} FROM {relation} WHERE {fault} LIMIT 1")
        fault = f"{fault} AND {FILE} = {literal(where)}"
    ids = [one for one in IDS if one in source.sql]
    found = database.run(
        f"SELECT {', '.join(map(quoted, ids))} FROM {relation} WHERE {fault} LIMIT {_FIRST}"
    )
    rows = [zip(ids, row, strict=True) for row in found]
    return where, "; ".join(" ".join(f"{name} {shown(one)}" for name, one in row) for row in rows)
