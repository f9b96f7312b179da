"""Buckets: the rows of some users each, on disk, until they are measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.scale.out_of_core.database import literal
from recsys_ndcg.scale.out_of_core.memory import Memory
from recsys_ndcg.scale.out_of_core.reading import read_sql

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from recsys_ndcg.scale.out_of_core.database import Database
    from recsys_ndcg.scale.out_of_core.sources import Source

_SLACK = 1.3  # how much fuller than the others a bucket of ordinary users is, at most
_UNKNOWN = 16  # buckets of a stream: those that are too large are parted again
#: The rows of a source in their order, for what hangs on it.
ROW = "row"


@dataclass(frozen=True)
class Bucket:
    """The rows of some users, and of nobody else.

    Parameters
    ----------
    folders : mapping
        By the names of tables, with files of Parquet; or none, where it has no rows.
    n_rows : int
        How many there are in all of them.
    """

    folders: Mapping[str, Path]
    n_rows: int

    def read(self, table: str, text: list[str], *, keep: bool) -> Any:
        """Return the rows of a table as Arrow has them, those columns of text by distinct values.

        They are taken away from the disk, if not to keep.
        """
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        tables = []
        for path in sorted(self.folders[table].rglob("*.parquet")):
            with parquet.ParquetFile(path, read_dictionary=text) as file:
                tables.append(file.read())
            if not keep:
                path.unlink()
        return pa.concat_tables(tables)


class Buckets:
    """The rows of sources, parted by user.

    Parameters
    ----------
    database : Database
        That is open.
    sources : mapping
        What is read, by the names of tables.
    folder : Path
        Where they are written: not there yet.
    apart : int
        Into how many parts these users were parted before: by other digits of the same number.
    """

    def __init__(
        self,
        database: Database,
        sources: Mapping[str, Source],
        folder: Path,
        apart: int = 1,
    ) -> None:
        self._database = database
        self._sources = sources
        self._folder = folder
        self._apart = apart
        self._count = 1

    def relation(self, table: str) -> str:
        """Return what stands behind FROM for all rows of a table."""
        return _parquet(self._folder / table, "*/*.parquet")

    def write(self, limit: int, *, in_order: bool) -> None:
        """Read the sources once.

        Parameters
        ----------
        limit : int
            How many rows a bucket should have at most.
        in_order : bool
            Whether rows get their numbers, by which their order can be had back.
        """
        known = [one.n_rows for one in self._sources.values()]
        rows = None if None in known else sum(one or 0 for one in known)
        self._count = _UNKNOWN if rows is None else n_buckets(rows, limit)
        in_order = in_order or self._count == 1  # then it costs next to nothing
        for table, source in self._sources.items():
            number = f", row_number() OVER () AS {ROW}" if in_order else ""
            relation = f"(SELECT *{number} FROM {read_sql(source)})"
            self._part(table, relation)

    def written(self, table: str) -> list[Path]:
        """Return the folders that hold a table: none, where it has no rows."""
        return list((self._folder / table).iterdir())

    def within(self, limit: int) -> list[Bucket]:
        """Return them, none with more rows than a limit: one, if that holds all.

        Raises
        ------
        InvalidInputError
            A single user has too many rows.
        """
        found = self._all()
        n_rows = sum(one.n_rows for one in found)
        if n_rows <= limit:
            return [Bucket({table: self._folder / table for table in self._sources}, n_rows)]
        return [part for one in found for part in self._split(one, limit)]

    def _all(self) -> list[Bucket]:
        tables = [
            f"SELECT bucket FROM {self._hived(one)}" for one in self._sources if self.written(one)
        ]
        counted = self._database.rows(
            f"SELECT bucket, count(*) FROM ({' UNION ALL '.join(tables)}) "
            "GROUP BY bucket ORDER BY count(*) DESC, bucket"
        )
        return [Bucket(self._folders(name), rows) for name, rows in counted]

    def _split(self, bucket: Bucket, limit: int) -> Iterator[Bucket]:
        """Give a bucket on, or if it is too large its parts."""
        if bucket.n_rows <= limit:
            yield bucket
            return
        files = {table: _parquet(folder, "*.parquet") for table, folder in bucket.folders.items()}
        users = " UNION ALL ".join(f'SELECT "user" FROM {one}' for one in files.values())
        ((user, rows),) = self._database.rows(
            f'SELECT "user", count(*) FROM ({users}) GROUP BY ALL ORDER BY count(*) DESC LIMIT 1'
        )
        if rows > limit:
            msg = (
                f"The user {shown(user)} has {rows:,} rows, more than the memory holds at once: "
                f"within memory_limit={Memory.limit_for(rows)!r} they can be ranked."
            )
            raise InvalidInputError(msg)
        name = next(iter(bucket.folders.values())).name
        folder, apart = self._folder / f"parts of {name}", self._apart * self._count
        parts = Buckets(self._database, self._sources, folder, apart)
        parts._count = n_buckets(bucket.n_rows, limit) + 1
        for table, relation in files.items():
            parts._part(table, relation)
        for path in [one for each in bucket.folders.values() for one in each.iterdir()]:
            path.unlink()
        for part in parts._all():
            yield from parts._split(part, limit)

    @property
    def _key(self) -> str:
        """What users are parted by: as text, where tables write them in different ways."""
        kinds = {one.kind("user") for one in self._sources.values()}
        return '"user"' if len(kinds) == 1 else 'CAST("user" AS VARCHAR)'

    def _part(self, table: str, relation: str) -> None:
        (self._folder / table).mkdir(parents=True)
        self._database.tell(f"SET partitioned_write_max_open_files = {max(self._count, 100)}")
        bucket = f"hash({self._key}) // {self._apart} % {self._count}"
        self._database.rows(
            f"COPY (SELECT *, {bucket} AS bucket FROM {relation}) "
            f"TO {literal(str(self._folder / table))} (FORMAT parquet, COMPRESSION uncompressed, "
            "PARTITION_BY (bucket), OVERWRITE_OR_IGNORE)",
            "Bringing users together",
        )

    def _folders(self, bucket: int) -> dict[str, Path]:
        places = {table: self._folder / table / f"bucket={bucket}" for table in self._sources}
        return {table: place for table, place in places.items() if place.is_dir()}

    def _hived(self, table: str) -> str:
        files = literal(f"{self._folder / table}/*/*.parquet")
        return f"read_parquet({files}, hive_partitioning = true)"


def _parquet(folder: Path, files: str) -> str:
    return f"read_parquet({literal(f'{folder}/{files}')}, hive_partitioning = false)"


def n_buckets(rows: int, limit: int) -> int:
    """Return into how many buckets rows are parted so that each has at most so many.

    Examples
    --------
    >>> n_buckets(1_000_000, 4_000_000), n_buckets(100_000_000, 7_000_000)
    (1, 19)
    """
    return 1 if rows <= limit else math.ceil(rows * _SLACK / limit)
