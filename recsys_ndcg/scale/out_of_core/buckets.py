"""Buckets: the rows of some users each, on disk, until they are measured."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.scale.out_of_core.database import file_literal, literal
from recsys_ndcg.scale.out_of_core.memory import AS_TEXT, PER_LETTER, PER_ROW, Memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from recsys_ndcg.scale.out_of_core.database import Database
    from recsys_ndcg.scale.out_of_core.memory import Cost

_HELD = 20_000  # rows of a bucket until they are written
_SLACK = 1.3  # how much fuller than the others a bucket of ordinary users is, at most


@dataclass(frozen=True)
class Bucket:
    """The rows of some users, and of nobody else.

    Parameters
    ----------
    folders : mapping
        By the names of tables, with files of Parquet; none where it has no rows.
    n_rows : int
        How many there are in all of them.
    cost : int
        How many bytes of memory they take while they are measured.
    """

    folders: Mapping[str, Path]
    n_rows: int
    cost: int

    def read(self, table: str, *, keep: bool) -> Any:
        """Return the rows of a table as Arrow has them, and take them off the disk if not to keep.

        Text is not asked for by its distinct values: to find them in all of it is faster.
        """
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
        from pyarrow import parquet  # noqa: PLC0415 - an extra

        tables = []
        for path in sorted(self.folders[table].rglob("*.parquet")):
            with parquet.ParquetFile(path) as file:
                tables.append(file.read())
            if not keep:
                path.unlink()
        return pa.concat_tables(tables)


@dataclass(frozen=True)
class Buckets:
    """How the rows of tables are parted by user.

    Parameters
    ----------
    database : Database
        That is open.
    key : str
        What tells users apart, in SQL: the same in all tables.
    text : sequence of str
        Which columns of ids are text.
    cost : Cost
        What rows and users take in memory.
    """

    database: Database
    key: str
    text: Sequence[str]
    cost: Cost

    def write(
        self, relations: Mapping[str, str], folder: Path, count: int, divisor: int = 1
    ) -> list[Bucket]:
        """Read tables once, and part each into so many buckets; return them, the largest first.

        Parameters
        ----------
        relations : mapping
            What is read, in SQL, by the names of the tables.
        folder : Path
            Where they are written: not there yet.
        count : int
            How many.
        divisor : int
            Into how many buckets these users were parted before: by other digits of one number.
        """
        self.database.change(f"SET partitioned_write_max_open_files = {max(count, 100)}")
        # more rows of every bucket at once than the memory holds would go to the disk twice
        self.database.change(f"SET partitioned_write_flush_threshold = {_HELD}")
        for table, relation in relations.items():
            (folder / table).mkdir(parents=True)
            bucket = f"hash({self.key}) // {divisor} % {count}"
            self.database.run(
                f"COPY (SELECT *, {bucket} AS bucket FROM {relation}) "
                f"TO {literal(str(folder / table))} (FORMAT parquet, COMPRESSION uncompressed, "
                "PARTITION_BY (bucket), OVERWRITE_OR_IGNORE)",
                "Bringing users together",
            )
        return self._written(relations, folder)

    def fitting(self, buckets: Sequence[Bucket], budget: int, divisor: int) -> Iterator[Bucket]:
        """Give buckets on, those that take too much memory in parts.

        Raises
        ------
        InvalidInputError
            A single user takes too much.
        """
        for one in buckets:
            if one.cost <= budget:
                yield one
                continue
            relations = {table: rows_in(folder) for table, folder in one.folders.items()}
            self._check_largest(relations, budget)
            count = n_buckets(one.cost, budget) + 1
            whole = next(iter(one.folders.values()))
            # whose name holds no "=", which would tell the number of a bucket
            folder = whole.with_name(f"parts of {whole.name.rpartition('=')[2]}")
            parts = self.write(relations, folder, count, divisor)
            for path in [path for each in one.folders.values() for path in each.iterdir()]:
                path.unlink()
            yield from self.fitting(parts, budget, divisor * count)

    def _written(self, tables: Mapping[str, str], folder: Path) -> list[Bucket]:
        counted = " UNION ALL ".join(
            f'SELECT bucket, count(*) AS n, approx_count_distinct("user") AS users, '
            f"{self._letters} AS letters FROM {_hived(folder / table)} GROUP BY bucket"
            for table in tables
            if any((folder / table).iterdir())
        )
        if not counted:
            return []
        found = self.database.run(
            f"SELECT bucket, sum(n)::BIGINT, sum(users)::BIGINT, sum(letters)::BIGINT "
            f"FROM ({counted}) GROUP BY bucket ORDER BY sum(n) DESC, bucket"
        )
        return [
            Bucket(_folders(tables, folder, number), rows, self.cost.of(rows, users, letters))
            for number, rows, users, letters in found
        ]

    @property
    def _letters(self) -> str:
        """How many letters the ids of some rows have, in SQL."""
        return " + ".join(f'sum(strlen("{one}") + {AS_TEXT})' for one in self.text) or "0"

    def _check_largest(self, relations: Mapping[str, str], budget: int) -> None:
        users = " UNION ALL ".join(
            f'SELECT "user", count(*) AS n, {self._letters} AS letters FROM {one} GROUP BY "user"'
            for one in relations.values()
        )
        ((user, rows, letters),) = self.database.run(
            f'SELECT "user", sum(n)::BIGINT, sum(letters)::BIGINT FROM ({users}) GROUP BY "user" '
            f"ORDER BY sum(n) * {PER_ROW} + sum(letters) * {PER_LETTER} DESC LIMIT 1"
        )
        cost = self.cost.of(rows, len(relations), letters)
        if cost > budget:
            msg = (
                f"The user {shown(user)} has {rows:,} rows, more than the memory holds at once: "
                f"within memory_limit={Memory.limit_for(cost)!r} they can be ranked."
            )
            raise InvalidInputError(msg)


def n_buckets(cost: int, budget: int) -> int:
    """Return into how many buckets rows are parted so that each takes no more than a budget.

    Examples
    --------
    >>> n_buckets(1_000_000, 4_000_000), n_buckets(100_000_000, 7_000_000)
    (1, 19)
    """
    return 1 if cost <= budget else math.ceil(cost * _SLACK / budget)


def rows_in(folder: Path) -> str:
    """Return what stands behind FROM for all rows below a folder."""
    return f"read_parquet({file_literal(folder, '/**/*.parquet')}, hive_partitioning = false)"


def _hived(folder: Path) -> str:
    return f"read_parquet({file_literal(folder, '/*/*.parquet')}, hive_partitioning = true)"


def _folders(tables: Mapping[str, str], folder: Path, bucket: int) -> dict[str, Path]:
    places = {table: folder / table / f"bucket={bucket}" for table in tables}
    return {table: place for table, place in places.items() if place.is_dir()}
