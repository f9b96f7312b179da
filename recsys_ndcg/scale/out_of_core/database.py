"""DuckDB, as far as it is needed: a database that lives as long as a job does."""

from __future__ import annotations

import errno
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any, Self

from recsys_ndcg.errors import InvalidInputError, needing, shown
from recsys_ndcg.parallel import n_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The column of what is read from files that tells which one it is.
FILE = "recsys_ndcg_file"
_PATIENCE = 0.1  # seconds between two looks at a query
_WRONG_LINE = re.compile(
    r"CSV Error on Line: (?P<line>\d+)\nOriginal Line: (?P<text>.*?)\n+"
    r"(?P<fault>(?:Expected|Value|Invalid)[^\n]*)\n.*?file = (?P<file>[^\n]*)\n",
    re.DOTALL,
)
_FIELDS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_FULL = ("no space left", "max_temp_directory_size", "disk quota", "file too large")


@contextmanager
def workplace() -> Iterator[Path]:
    """Make a folder for what does not fit the memory, and take it away with all that is in it.

    Raises
    ------
    InvalidInputError
        It cannot be made.
    """
    try:
        folder = TemporaryDirectory(prefix="recsys_ndcg_", ignore_cleanup_errors=True)
    except OSError as error:
        raise InvalidInputError(_unusable(gettempdir(), error.strerror or str(error))) from None
    with folder as name:
        try:
            yield Path(name)
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise InvalidInputError(_unusable(name, error.strerror or str(error))) from None


def _unusable(folder: str, reason: str) -> str:
    return (
        f"{folder}: the folder for temporary files cannot be written to ({reason}). Name another "
        "one, with room for a copy of the data, in the environment: TMPDIR=..."
    )


class Database:
    """A database in memory, that spills into a folder.

    Parameters
    ----------
    folder : Path
        Of its own.
    memory : int
        How many bytes it may use.
    show : callable
        Told of a step, and how far it is: from 0 to 1, or below 0 where that is not known.

    Raises
    ------
    MissingExtraError
        DuckDB is not installed, or fails.
    """

    def __init__(
        self,
        folder: Path,
        memory: int,
        show: Callable[[str, float], None] = lambda _what, _share: None,
    ) -> None:
        with needing("duckdb", job="Data larger than memory", extra="scale"):
            import duckdb  # noqa: PLC0415 - an extra
        self._errors = duckdb.Error
        self._folder = folder
        self._show = show
        self._connection = duckdb.connect(
            config={
                "threads": n_threads(),
                "memory_limit": f"{memory}B",
                "temp_directory": str(folder),
                "preserve_insertion_order": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        # it counts how far it is, and prints nothing
        self._connection.execute("SET enable_progress_bar_print = false")
        self._connection.execute("SET enable_progress_bar = true")

    def __enter__(self) -> Self:
        """Open nothing more."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give all memory back."""
        self._connection.close()

    def register(self, name: str, stream: Any) -> None:
        """Let a stream of Arrow's be read by a name."""
        self._connection.register(name, stream)

    def tell(self, setting: str) -> None:
        """Change a setting."""
        self._connection.execute(setting)

    def rows(self, sql: str, step: str = "Looking at all rows") -> list[tuple[Any, ...]]:
        """Run a query, a step of the job, and return its rows.

        Raises
        ------
        InvalidInputError
            It fails, for whatever reason; the first line of what DuckDB says is told.
        """
        # in a thread, for no signal is heard while DuckDB works
        with ThreadPoolExecutor(1) as thread:
            asked = thread.submit(lambda: self._connection.execute(sql).fetchall())
            try:
                while True:
                    with suppress(TimeoutError):
                        found: list[tuple[Any, ...]] = asked.result(_PATIENCE)
                        self._show(step, 1.0)
                        return found
                    self._show(step, self._connection.query_progress() / 100)
            except self._errors as error:
                raise InvalidInputError(self._told(str(error))) from None
            finally:
                if not asked.done():
                    self._connection.interrupt()

    def schema(self, relation: str) -> Any:
        """Return the schema of a relation as Arrow has it."""
        table: Any = self._connection.sql(f"SELECT * FROM {relation} LIMIT 0").to_arrow_table()
        return table.schema

    def _told(self, said: str) -> str:
        """Return what is wrong, in our words where we know it."""
        reason = " ".join(said.split("\n\n", maxsplit=1)[0].split())
        if any(one in reason.lower() for one in _FULL):
            return _unusable(str(self._folder), "No space left on device")
        if reason.startswith("Out of Memory"):
            return f"memory_limit is too small for this data ({reason}). Give more."
        return _of_text(said) or reason


def _of_text(said: str) -> str:
    """Return what is wrong with a file of text, if that is what is said."""
    wrong = _WRONG_LINE.search(said)
    if wrong is None:
        return ""
    fault = wrong["fault"].strip().rstrip(".")
    fields = _FIELDS.fullmatch(fault)
    if fields:
        fault = f"{fields[2]} fields in place of {fields[1]}"
    return f"{wrong['file']}, line {wrong['line']}: {fault}: {shown(wrong['text'].strip())}."


def quoted(name: str) -> str:
    """Return the name of a column as SQL has it.

    Examples
    --------
    >>> quoted("the user")
    '"the user"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL has it.

    Examples
    --------
    >>> literal("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"
