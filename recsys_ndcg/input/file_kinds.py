"""The kinds of files that predictions come in, for all who read, name or refuse them.

Nothing heavy is imported before a file is read: the help of the command line lists them, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.files import COMPRESSIONS, check_path

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FileKind:
    """A kind of file.

    Parameters
    ----------
    name : str
        What people call it.
    suffixes : tuple of str
        How the names of such files end, in small letters; the usual one first.
    read : callable, optional
        Returns the table in a binary file, which is neither packed nor a stream, from its path.
    parse : callable, optional
        Returns the table in a text from the file's name and the text. What has neither is CSV, or
        rows that have a reader of their own.
    begins : tuple of bytes
        How the files begin, if no text does so.
    is_read_by_duckdb : bool
        Whether DuckDB reads it within a memory limit.
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Path], pd.DataFrame | Mapping[str, Any]] | None = None
    parse: Callable[[str, str], Mapping[str, Any]] | None = None
    begins: tuple[bytes, ...] = ()
    is_read_by_duckdb: bool = False

    @property
    def is_binary(self) -> bool:
        """Whether it is read from a file whose name says so alone."""
        return self.read is not None or bool(self.begins)

    @staticmethod
    def of(path: Path) -> FileKind:
        """Return the kind of a file, or of what is packed in it.

        Examples
        --------
        >>> from pathlib import Path
        >>> FileKind.of(Path("p.jsonl.gz")).name
        'JSON lines'
        """
        suffixes = [one.lower() for one in path.suffixes[-2:]]
        if suffixes and suffixes[-1] in COMPRESSIONS:
            del suffixes[-1]
        return kind_of(suffixes[-1]) if suffixes else CSV

    @staticmethod
    def check_file(path: Path) -> Path:
        """Return the path of a file, and refuse a folder, a pipe, and what is not there.

        Raises
        ------
        InvalidInputError
            It is none.
        """
        check_path(path)
        if not path.is_file():
            there = "Is a directory" if path.is_dir() else "Is no file"
            msg = f"{path}: cannot be read ({there if path.exists() else 'No such file'})."
            raise InvalidInputError(msg)
        return path

    @staticmethod
    def strip_suffixes(name: str, *others: str) -> str:
        """Return the name of a file without the ends that say its packing and its kind.

        Parameters
        ----------
        name : str
            Of a file.
        *others : str
            Ends that are taken away, too.

        Examples
        --------
        >>> FileKind.strip_suffixes("svd.csv.gz"), FileKind.strip_suffixes("svd.run", ".run")
        ('svd', 'svd')
        """
        for ends in (COMPRESSIONS, (*others, *(one for kind in KINDS for one in kind.suffixes))):
            end = next((one for one in ends if name.lower().endswith(one)), "")
            name = name[: len(name) - len(end)]
        return name

    @staticmethod
    def describe_all() -> str:
        """Return a list of the kinds, as the help of the command line has it.

        Examples
        --------
        >>> FileKind.describe_all().partition(";")[0]
        'CSV, JSON lines (.jsonl), both also packed (.gz .zst .bz2 .xz .zip)'
        """
        text = [kind for kind in KINDS if not kind.is_binary]
        names = [kind.name if kind is CSV else f"{kind.name} ({kind.suffixes[0]})" for kind in text]
        both = "both" if len(text) == 2 else "all"
        binary = [f"{kind.name} ({' '.join(kind.suffixes)})" for kind in KINDS if kind.is_binary]
        packed = f"{both} also packed ({' '.join(COMPRESSIONS)})"
        return f"{', '.join(names)}, {packed}; {', '.join(binary)}"


def _read_parquet(path: Path) -> Mapping[str, Any]:
    from recsys_ndcg.input.arrow_files import ParquetColumns  # noqa: PLC0415 - it is heavy

    return ParquetColumns(path)


def _read_feather(path: Path) -> Mapping[str, Any]:
    from recsys_ndcg.input.arrow_files import FeatherColumns  # noqa: PLC0415 - it is heavy

    return FeatherColumns(path)


def _parse_json(name: str, text: str) -> Mapping[str, Any]:
    from recsys_ndcg.input.text_tables import JsonLines  # noqa: PLC0415 - when it is needed

    return JsonLines(name, text)


#: What all files are whose names end otherwise.
CSV = FileKind("CSV", (".csv", ".tsv", ".txt"), is_read_by_duckdb=True)
PICKLE = FileKind(
    "a pickle",
    (".pickle", ".pkl", ".dump", ".p"),
    begins=tuple(bytes([0x80, protocol]) for protocol in range(2, 6)),
)
#: All that are known, those of text first.
KINDS = [
    CSV,
    FileKind("JSON lines", (".jsonl", ".ndjson", ".json"), parse=_parse_json),
    FileKind(
        "Parquet", (".parquet", ".pq"), _read_parquet, begins=(b"PAR1\x15",), is_read_by_duckdb=True
    ),
    FileKind("Feather", (".feather", ".arrow"), _read_feather, begins=(b"ARROW1\0\0",)),
    PICKLE,
]


def kind_of(suffix: str) -> FileKind:
    """Return the kind of the files whose names end so.

    Examples
    --------
    >>> kind_of(".PQ").name, kind_of(".dat").name
    ('Parquet', 'CSV')
    """
    return next((kind for kind in KINDS if suffix.lower() in kind.suffixes), CSV)
