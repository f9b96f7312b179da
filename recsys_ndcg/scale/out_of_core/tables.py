"""The tables that lists are made of: predictions alone, or labels and results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import about, warn
from recsys_ndcg.input.dispatch import those_of
from recsys_ndcg.input.frames import Table
from recsys_ndcg.input.labels_and_results import (
    LOWEST,
    labels_from,
    results_from,
    score_column,
    warn_ungraded,
)
from recsys_ndcg.lists.assembly import join
from recsys_ndcg.lists.ranked_lists import RankedLists
from recsys_ndcg.scale.doors import is_pair
from recsys_ndcg.scale.out_of_core.kinds import IDS
from recsys_ndcg.scale.out_of_core.reading import BAD_GRADE, ROW
from recsys_ndcg.scale.out_of_core.sources import source_of
from recsys_ndcg.scale.repeats import repeats_named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recsys_ndcg.input.text.form import TextFormat
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.scale.out_of_core.buckets import Bucket
    from recsys_ndcg.scale.out_of_core.checks import Known
    from recsys_ndcg.scale.out_of_core.sources import Source

_RULES = ("first", "last", "max", "mean")
PREDICTIONS, LABELS, RESULTS = "predictions", "labels", "results"


def sources_of(
    data: Any, columns: Mapping[str, str] | None, text: TextFormat | None, folder: Path
) -> dict[str, Source]:
    """Look at the headings of what is given: predictions, or ``{"labels": ..., "results": ...}``.

    Raises
    ------
    InvalidInputError
        It cannot be read, or a column is missing.
    """
    if not is_pair(data):
        place = folder / PREDICTIONS
        return {PREDICTIONS: source_of(data, columns, _of_predictions, place, text)}
    wanted = {LABELS: _of_labels, RESULTS: _of_results}
    others = {LABELS: ("estimated", "rank"), RESULTS: ("true",)}
    found = {}
    for table, of_table in wanted.items():
        named = those_of(columns, *others[table])
        found[table] = source_of(data[table], named, of_table, folder / table, text)
    return found


def _of_predictions(_: Table) -> Sequence[str]:
    return ("user", "item", "estimated", "true")


def _of_labels(table: Table) -> Sequence[str]:
    if table.may_have("true"):
        return (*IDS, "true")
    table.called(*IDS)
    warn_ungraded(table)
    return IDS


def _of_results(table: Table) -> Sequence[str]:
    return (*IDS, score_column(table))


@dataclass
class Tables:
    """How the rows of a bucket become lists, as if they had been read from memory.

    Parameters
    ----------
    sources : mapping
        By the names of the tables.
    known : mapping
        What is known of all rows of each.
    duplicates : str
        As in `Convention`.
    n_items : int, optional
        How many candidates the results were chosen from.
    """

    sources: Mapping[str, Source]
    known: Mapping[str, Known]
    duplicates: str
    n_items: int | None = None
    _said: list[set[str]] = field(default_factory=list)

    def lists(self, bucket: Bucket, *, keep: bool = False) -> GroupedLists:
        """Return the lists of all users of a bucket, and take its rows away if not to keep.

        Raises
        ------
        InvalidInputError
            The same user and item stand there twice; they are named.
        """
        tables = {name: self._rows(bucket, name, keep=keep) for name in self.sources}
        with repeats_named(tables, self.duplicates, _RULES):
            if PREDICTIONS in tables:
                return RankedLists.of(tables[PREDICTIONS], duplicates=self.duplicates)
            return self._joined(tables)

    def warn(self) -> None:
        """Warn of ids that were said to differ in every bucket that had labels and results."""
        for told in sorted(set.intersection(*self._said)) if self._said else ():
            warn(told)

    def _joined(self, tables: Mapping[str, Any]) -> RankedLists:
        with about(""):  # what is to be said of each table was said of all its rows
            labels = labels_from(Table(tables[LABELS]))
            results = results_from(Table(tables[RESULTS]))
        with about("") as said:
            lists = join(
                labels, results, self.duplicates, RankedLists, part=True, n_items=self.n_items
            )
        if len(labels.user) and len(results.user):
            self._said.append(set(said))
        return lists

    def _rows(self, bucket: Bucket, name: str, *, keep: bool) -> Any:
        """Return the rows of a table as they came, by our names."""
        known = self.known[name]
        rows = known.schema.empty_table()
        if name in bucket.folders:
            rows = bucket.read(name, keep=keep)
        if ROW in rows.column_names:
            rows = rows.sort_by(ROW)
        rows = rows.drop_columns([one for one in (ROW, BAD_GRADE) if one in rows.column_names])
        if known.fillers:
            import pyarrow.compute as pc  # type: ignore[import-untyped] # noqa: PLC0415 - an extra

            rows = rows.filter(pc.not_equal(rows.column("estimated"), LOWEST))
        return rows
