"""DuckDB, as far as it is needed: a database that lives as long as a job does."""

from __future__ import annotations

import errno
import re
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from threading import Event, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, Self

from recsys_ndcg.errors import InvalidInputError, is_encodable, needing, shown
from recsys_ndcg.parallel import n_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: The column of what is read from files that tells which one it is.
FILE = "recsys_ndcg_file"
_PATIENCE = 0.1  # seconds between two looks at a query
_LONGEST = 2.0  # seconds until a query that was stopped has ended
_TRIES = 50
_WRONG_LINE = re.compile(
    r"CSV Error on Line: (?P<line>\d+)\nOriginal Line: (?P<text>.*?)\n+"
    r"(?P<fault>(?:Expected|Value|Invalid)[^\n]*)\n.*?file = (?P<file>[^\n]*)\n",
    re.DOTALL,
)
_FIELDS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_FULL = ("no space left", "max_temp_directory_size", "disk quota", "file too large")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for what does not fit the memory, and take it away with all that is in it.

    Raises
    ------
    InvalidInputError
        It cannot be made.
    """
    if not is_encodable(gettempdir()):
        raise InvalidInputError(_unusable(gettempdir(), "its name is not UTF-8"))
    try:
        folder = Path(mkdtemp(prefix="recsys_ndcg_"))
    except OSError as error:
        raise InvalidInputError(_unusable(gettempdir(), error.strerror or str(error))) from None
    try:
        yield folder
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise InvalidInputError(_unusable(str(folder), error.strerror or str(error))) from None
    finally:
        for _ in range(_TRIES):  # a thread of DuckDB's that was stopped may write a last file
            rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            sleep(_PATIENCE)


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
        self._stuck = False
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
        if not self._stuck:
            self._connection.close()

    def register(self, name: str, stream: Any) -> None:
        """Let a stream of Arrow's be read by a name.

        Raises
        ------
        InvalidInputError
            DuckDB has no such type as one of its columns.
        """
        try:
            self._connection.register(name, stream)
        except self._errors as error:
            msg = f"{self._told(str(error))} Leave such columns out, or convert them."
            raise InvalidInputError(msg) from None

    def run(self, sql: str, step: str = "Looking at all rows") -> list[tuple[Any, ...]]:
        """Run a query, a step of the job, and return its rows.

        Raises
        ------
        InvalidInputError
            It fails, for whatever reason; the first line of what DuckDB says is told.
        """
        query = _Query(self._connection, sql)
        try:
            query.start()
            while not query.ended.wait(_PATIENCE):
                with suppress(self._errors):  # as it begins, it does not say
                    self._show(step, self._connection.query_progress() / 100)
        except BaseException:
            self._stop(query)
            raise
        query.join()
        if isinstance(query.error, self._errors):
            raise InvalidInputError(self._told(str(query.error))) from None
        if query.error is not None:
            raise query.error
        self._show(step, 1.0)
        return query.found

    def _stop(self, query: _Query) -> None:
        """Have a query end early; one that does not in time is left to itself."""
        until = monotonic() + _LONGEST
        while not query.ended.wait(_PATIENCE) and monotonic() < until:
            with suppress(self._errors):
                self._connection.interrupt()
        self._stuck = not query.ended.is_set()  # as DuckDB may, where it is stopped as it begins
        if not self._stuck:
            query.join()

    def relation(self, source: str) -> Any:
        """Return a relation of DuckDB's, of what stands behind FROM."""
        return self._connection.sql(f"SELECT * FROM {source}")

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


class _Query(Thread):
    """A query that runs in a thread of its own, for no signal is heard while DuckDB works."""

    def __init__(self, connection: Any, sql: str) -> None:
        super().__init__(daemon=True)
        self._connection = connection
        self._sql = sql
        self.found: list[tuple[Any, ...]] = []
        self.error: Exception | None = None
        self.ended = Event()

    def run(self) -> None:
        """Run it, and keep what comes of it."""
        try:
            self.found = self._connection.execute(self._sql).fetchall()
        except Exception as error:  # noqa: BLE001 - raised where it is asked for
            self.error = error
        finally:
            self.ended.set()


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


def file_literal(folder: Path, pattern: str = "") -> str:
    """Return the name of a file, or a folder with a pattern of files in it, as SQL has it.

    To DuckDB every name is a pattern.

    Examples
    --------
    >>> file_literal(Path("p[1].csv")), file_literal(Path("rows"), "/*.parquet")
    ("'p[[]1].csv'", "'rows/*.parquet'")
    """
    return literal(re.sub(r"([*?\[])", r"[\1]", str(folder)) + pattern)
