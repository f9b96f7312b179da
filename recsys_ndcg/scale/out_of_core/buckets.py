"""Buckets: the rows of some users each, on disk, until they are measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.scale.out_of_core.database import literal, quoted
from recsys_ndcg.scale.out_of_core.memory import Memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from recsys_ndcg.scale.out_of_core.database import Database
    from recsys_ndcg.scale.out_of_core.sources import Source

_SLACK = 1.3  # how much fuller than the others a bucket of ordinary users is, at most
_TEXT = "text"
#: The rows of a source in their order, for what hangs on it.
ROW = "row"
#: Which of the numbers that are read from text is none: 1 for the first, 2 for the second, both.
FAULT = "fault"


@dataclass(frozen=True)
class Bucket:
    """The rows of some users, and of nobody else.

    Parameters
    ----------
    folder : Path
        With files of Parquet.
    n_rows : int
        How many there are in it.
    """

    folder: Path
    n_rows: int

    def read(self, kinds: Mapping[str, str], *, keep: bool = False) -> Any:
        """Return its rows as a table of Arrow's, and take it away from the disk if not to keep."""
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        names = [name for name, kind in kinds.items() if kind == _TEXT]
        tables = []
        for path in sorted(self.folder.iterdir()):
            with parquet.ParquetFile(path, read_dictionary=names) as file:
                tables.append(file.read())
            if not keep:
                path.unlink()
        return pa.concat_tables(tables)


class Buckets:
    """The rows of a source, parted by user.

    Parameters
    ----------
    database : Database
        That is open.
    source : Source
        What is read.
    folder : Path
        Where they are written: empty, or not there yet.
    """

    def __init__(self, database: Database, source: Source, folder: Path) -> None:
        self._database = database
        self._source = source
        self._folder = folder

    @property
    def relation(self) -> str:
        """What stands behind FROM for all rows."""
        return f"read_parquet({literal(f'{self._folder}/*/*.parquet')})"

    def write(self, count: int, *, in_order: bool) -> None:
        """Read the source once.

        Parameters
        ----------
        count : int
            How many buckets.
        in_order : bool
            Whether rows get their numbers, by which their order can be had back.
        """
        selected = [f"{one} AS {quoted(ours)}" for ours, one in read_columns(self._source).items()]
        if in_order:
            selected.append(f"row_number() OVER () AS {ROW}")
        self._part(f"(SELECT {', '.join(selected)} FROM {self._source.relation})", count, "")

    def all(self) -> list[Bucket]:
        """Return them, the largest first."""
        counted = self._database.rows(
            f"SELECT bucket, count(*) FROM read_parquet({literal(f'{self._folder}/*/*.parquet')}, "
            "hive_partitioning = true) GROUP BY bucket ORDER BY count(*) DESC, bucket"
        )
        return [Bucket(self._folder / f"bucket={name}", rows) for name, rows in counted]

    def split(self, bucket: Bucket, limit: int) -> Iterator[Bucket]:
        """Give a bucket on, or if it is too large its parts.

        Raises
        ------
        InvalidInputError
            A single user has too many rows.
        """
        if bucket.n_rows <= limit:
            yield bucket
            return
        files = f"read_parquet({literal(f'{bucket.folder}/*.parquet')})"
        ((user, rows),) = self._database.rows(
            f'SELECT "user", count(*) FROM {files} GROUP BY ALL ORDER BY count(*) DESC LIMIT 1'
        )
        if rows > limit:
            msg = (
                f"The user {shown(user)} has {rows:,} rows, more than the memory holds at once: "
                f"within memory_limit={Memory.limit_for(rows)!r} they can be ranked."
            )
            raise InvalidInputError(msg)
        parts = Buckets(self._database, self._source, bucket.folder.with_suffix(".parts"))
        parts._part(files, n_buckets(bucket.n_rows, limit) + 1, bucket.folder.name)
        for path in bucket.folder.iterdir():
            path.unlink()
        for part in parts.all():
            yield from parts.split(part, limit)

    def _part(self, relation: str, count: int, salt: str) -> None:
        key = f'hash("user", {literal(salt)})' if salt else 'hash("user")'
        self._folder.mkdir()
        self._database.rows(f"SET partitioned_write_max_open_files = {max(count, 100)}")
        self._database.rows(
            f"COPY (SELECT *, {key} % {count} AS bucket FROM {relation}) "
            f"TO {literal(str(self._folder))} (FORMAT parquet, COMPRESSION uncompressed, "
            "PARTITION_BY (bucket), OVERWRITE_OR_IGNORE)"
        )


def n_buckets(rows: int, limit: int) -> int:
    """Return into how many buckets rows are parted so that each has at most so many.

    Examples
    --------
    >>> n_buckets(1_000_000, 4_000_000), n_buckets(100_000_000, 7_000_000)
    (1, 19)
    """
    return 1 if rows <= limit else math.ceil(rows * _SLACK / limit)


def read_columns(source: Source) -> dict[str, str]:
    """Return the SQL of each column that is read, by our names."""
    text, found = source.text, {ours: quoted(theirs) for ours, theirs in source.names.items()}
    if text is None:
        return found
    numbers = {ours: one for ours, one in found.items() if ours not in ("user", "item")}
    # an empty estimate is a fault like any other, an empty grade is none
    faults = [
        f"({text.number(one)} IS NULL"
        f"{f' AND NOT {text.is_absent(one)}' if ours == 'true' else ''})::UTINYINT * {1 << place}"
        for place, (ours, one) in enumerate(numbers.items())
    ]
    read = {ours: text.number(one) for ours, one in numbers.items()}
    return {**found, **read, FAULT: f"({' + '.join(faults)})::UTINYINT"}
