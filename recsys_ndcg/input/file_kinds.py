"""The kinds of files that hold predictions, by suffix and by first bytes.

The help of the command line lists them, so heavy modules are imported only to read a file.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recsys_ndcg.files import COMPRESSIONS, convert_read_errors


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Parameters
    ----------
    name : str
        Its usual name.
    suffixes : tuple of str
        Its suffixes in lower case, the usual one first.
    read : callable, optional
        For a binary format: reads a table, or `JsonObjects`, from a path. Such files are neither
        compressed nor streams.
    parse : callable, optional
        For a text format: parses a table, or `JsonObjects`, from the file's name and its text. A
        kind without `read` and `parse` is CSV, or has a reader elsewhere.
    magic : tuple of bytes
        The possible first bytes of a file, if no text begins like this.
    is_read_by_duckdb : bool
        Whether DuckDB reads it within a memory limit.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path], Any] | None = None
    parse: Callable[[str, str], Any] | None = None
    magic: tuple[bytes, ...] = ()
    is_read_by_duckdb: bool = False

    @property
    def is_binary(self) -> bool:
        """Whether it is a binary format, which is read only from files with its suffix."""
        return self.read is not None

    @staticmethod
    def of(path: Path) -> FileKind:
        """Return the kind of a file, or of the file that is compressed in it.

        Examples
        --------
        >>> from pathlib import Path
        >>> FileKind.of(Path("p.jsonl.gz")).name
        'JSON lines'
        """
        suffixes = [suffix.lower() for suffix in path.suffixes[-2:]]
        if suffixes and suffixes[-1] in COMPRESSIONS:
            del suffixes[-1]
        return find_kind(suffixes[-1]) if suffixes else CSV

    @staticmethod
    def check_file(path: Path) -> Path:
        """Return the path of a file; raise for a folder, a pipe, or a missing file.

        Raises
        ------
        InvalidInputError
            It is not the path of a file.
        """
        with convert_read_errors(path):
            if not stat.S_ISREG(path.stat().st_mode):
                raise OSError(None, "Is not a file")
        return path

    @staticmethod
    def strip_suffixes(name: str, *others: str) -> str:
        """Return the name of a file without the suffixes of its compression and its kind.

        Parameters
        ----------
        name : str
            The file's name.
        *others : str
            Further suffixes to remove.

        Examples
        --------
        >>> FileKind.strip_suffixes("svd.csv.gz"), FileKind.strip_suffixes("svd.run", ".run")
        ('svd', 'svd')
        """
        known = [one for kind in KINDS for one in kind.suffixes]
        for suffixes in (COMPRESSIONS, (*others, *known)):
            suffix = next((one for one in suffixes if name.lower().endswith(one)), "")
            name = name[: len(name) - len(suffix)]
        return name

    @staticmethod
    def describe_all() -> str:
        """Return a list of the kinds, for the help of the command line.

        Examples
        --------
        >>> FileKind.describe_all().partition(";")[0]
        'CSV, JSON lines (.jsonl), both also compressed (.gz .zst .bz2 .xz .zip)'
        """
        text = [kind for kind in KINDS if not kind.is_binary]
        names = [kind.name if kind is CSV else f"{kind.name} ({kind.suffixes[0]})" for kind in text]
        binary = [f"{kind.name} ({' '.join(kind.suffixes)})" for kind in KINDS if kind.is_binary]
        packed = f"{'both' if len(text) == 2 else 'all'} also compressed ({' '.join(COMPRESSIONS)})"
        return f"{', '.join(names)}, {packed}; {', '.join(binary)}"


def _read_parquet(path: Path) -> Mapping[str, Any]:
    from recsys_ndcg.input.column_files import ParquetColumns  # noqa: PLC0415 - it is heavy

    return ParquetColumns(path)


def _read_pickle(path: Path) -> Any:
    from recsys_ndcg.input.column_files import JsonObjects  # noqa: PLC0415 - it is heavy
    from recsys_ndcg.input.pickles import read_pickle  # noqa: PLC0415

    return JsonObjects(read_pickle(path))


def _parse_json(name: str, text: str) -> Any:
    from recsys_ndcg.input.column_files import read_json  # noqa: PLC0415 - it is heavy

    return read_json(name, text)


#: The kind of files with any other suffix.
CSV = FileKind("CSV", (".csv", ".tsv", ".txt"), is_read_by_duckdb=True)
PICKLE = FileKind(
    "a pickle",
    (".pickle", ".pkl", ".dump", ".p"),
    _read_pickle,
    magic=tuple(bytes([0x80, protocol]) for protocol in range(2, 6)),
)
#: All kinds, text formats first.
KINDS = [
    CSV,
    FileKind("JSON lines", (".jsonl", ".ndjson", ".json"), parse=_parse_json),
    FileKind(
        "Parquet", (".parquet", ".pq"), _read_parquet, magic=(b"PAR1\x15",), is_read_by_duckdb=True
    ),
    PICKLE,
]


def find_kind(suffix: str) -> FileKind:
    """Return the kind of files with a suffix.

    Examples
    --------
    >>> find_kind(".PQ").name, find_kind(".dat").name
    ('Parquet', 'CSV')
    """
    return next((kind for kind in KINDS if suffix.lower() in kind.suffixes), CSV)


def find_kind_of_file(path: Path) -> FileKind:
    """Return the kind of a file: by its suffix, or a pickle by its first bytes."""
    with convert_read_errors(path):
        if path.is_file():  # a pipe would lose the bytes
            with path.open("rb") as file:
                if file.read(2).startswith(PICKLE.magic):
                    return PICKLE
    return find_kind(path.suffix)
