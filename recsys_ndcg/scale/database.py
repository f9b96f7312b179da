"""A DuckDB database for one job, and how the memory is divided between it and us."""

from __future__ import annotations

import ctypes
import errno
import glob
import math
import re
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

import duckdb

from recsys_ndcg.errors import InvalidInputError, is_encodable, is_number, quote
from recsys_ndcg.parallel import count_threads

_AMOUNT = re.compile(r"\s*(\d{1,15}(?:\.\d+)?)\s*(?:([kmgt]?)(i?)b)?\s*", re.IGNORECASE)
_MIN_ROOM = 270_000_000  # bytes beyond what the process has
_PER_USER = 150  # bytes of a user
_PER_SCORE = 130  # bytes of a user and a measurement
_PER_ROW = 180  # bytes while a row is read, grouped, sorted and scored
_PER_LETTER = 3  # bytes of a letter of an id
#: An id of text takes the memory of this many more letters.
TEXT_OVERHEAD = 40
_PER_KEPT_USER, _PER_KEPT_SCORE = 120, 57  # bytes of a user who is kept, and of each score
_KEPT_SHARE = 1 / 6  # of the memory, for users who are kept
_DATABASE_SHARE = 0.6  # of the memory: DuckDB exceeds its limit
_PER_THREAD = 125_000_000  # bytes, as DuckDB's guide recommends; with less a sort may fail


def parse_bytes(limit: str | float) -> int:
    """Return the number of bytes of an amount of memory.

    Raises
    ------
    InvalidInputError
        It is not an amount of memory.

    Examples
    --------
    >>> parse_bytes("2GB"), parse_bytes("1.5 GiB"), parse_bytes(500_000_000)
    (2000000000, 1610612736, 500000000)
    """
    if is_number(limit) and float(limit) > 0:
        return int(float(limit))
    amount = _AMOUNT.fullmatch(limit) if isinstance(limit, str) else None
    if amount is None:
        msg = f"`memory_limit` must be an amount of memory, such as '2GB', not {quote(limit)}."
        raise InvalidInputError(msg)
    number, letter, binary = amount.groups(default="")
    return int(float(number) * (1024 if binary else 1000) ** " kmgt".index(letter.lower()))


@dataclass(frozen=True)
class Memory:
    """The memory that a process may use in addition to what it has.

    Parameters
    ----------
    room : int
        In bytes.
    n_scores : int
        Number of measurements.

    Examples
    --------
    >>> Memory(1_000_000_000, n_scores=1).can_keep(900_000)
    True
    """

    room: int
    n_scores: int

    @classmethod
    def from_limit(cls, limit: str | float | None, n_scores: int) -> Memory:
        """Return the memory that a limit leaves; without a limit, half of the free memory.

        Raises
        ------
        InvalidInputError
            The limit is not an amount of memory, or leaves too little.
        """
        release_memory()
        if limit is None:
            return cls(max(_get_free_memory() // 2, _MIN_ROOM), n_scores)
        most, held = parse_bytes(limit), get_used_memory()
        if most - held < _MIN_ROOM:
            msg = (
                f"`memory_limit={limit!r}` is too low: the process already uses "
                f"{format_size(held)} and needs {format_size(_MIN_ROOM)} more. Set at least "
                f"{format_size(held + _MIN_ROOM)}."
            )
            raise InvalidInputError(msg)
        return cls(most - held, n_scores)

    @property
    def database(self) -> int:
        """DuckDB's memory limit."""
        return int(self.room * _DATABASE_SHARE)

    @property
    def budget(self) -> int:
        """The memory for a part of the data."""
        return int(self.room * (1 - _KEPT_SHARE))

    def can_keep(self, users: int) -> bool:
        """Return whether the scores of that many users fit into memory."""
        return users * (_PER_KEPT_USER + _PER_KEPT_SCORE * self.n_scores) <= self.room * _KEPT_SHARE

    def cost(self, rows: int, users: int = 0, letters: int = 0) -> int:
        """Return the memory of rows and users, with the letters of their ids.

        Examples
        --------
        >>> Memory(1_000_000_000, n_scores=3).cost(1_000_000, 10_000)
        185400000
        """
        by_row = rows * _PER_ROW + letters * _PER_LETTER
        return by_row + users * (_PER_USER + _PER_SCORE * self.n_scores)

    @staticmethod
    def format_limit(cost: int) -> str:
        """Return the memory limit that a part of the data needs."""
        return format_size(get_used_memory() + int(max(cost / (1 - _KEPT_SHARE), _MIN_ROOM)))


def get_used_memory() -> int:
    """Return the process's memory in bytes, or a usual value if the system does not report it."""
    return _read_number(Path("/proc/self/status"), r"VmRSS:\s*(\d+) kB") * 1024 or 200_000_000


def format_size(size: int) -> str:
    """Format a number of bytes in GB, rounded up.

    Examples
    --------
    >>> format_size(1_234_000_000)
    '1.3GB'
    """
    return f"{math.ceil(size / 1e8) / 10:g}GB"


def release_memory() -> None:
    """Return unused memory of pyarrow and of the allocator to the system."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another allocator than glibc's
        ctypes.CDLL(None).malloc_trim(0)


def _get_free_memory() -> int:
    """Return the free memory in bytes, or a usual value if the system does not report it."""
    free = _read_number(Path("/proc/meminfo"), r"MemAvailable:\s*(\d+) kB") * 1024
    whole = _read_number(Path("/sys/fs/cgroup/memory.max"), r"(\d+)")  # of a container
    ours = whole and max(whole - get_used_memory(), 1)
    return min([one for one in (free, ours) if one], default=4_000_000_000)


def _read_number(path: Path, pattern: str) -> int:
    """Return a number from a file of the system, 0 if it is not there."""
    with suppress(OSError):
        if number := re.search(pattern, path.read_text(encoding="ascii")):
            return int(number[1])
    return 0


#: The column with the name of the file that a row is from.
FILE_COLUMN = "recsys_ndcg_file"
_POLL_SECONDS = 0.1  # between two checks of a query
_STOP_SECONDS = 2.0  # to wait for an interrupted query
_MAX_TRIES = 50
_WRONG_LINE = re.compile(
    r"CSV Error on Line: (?P<line>\d+)\nOriginal Line: (?P<text>.*?)\n+"
    r"(?P<fault>(?:Expected|Value|Invalid)[^\n]*)\n.*?file = (?P<file>[^\n]*)\n",
    re.DOTALL,
)
_FIELDS = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")
_DISK_FULL = ("no space left", "max_temp_directory_size", "disk quota", "file too large")


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Create a temporary folder, and delete it with its content in the end.

    Raises
    ------
    InvalidInputError
        It cannot be created, or its disk is full.
    """
    if not is_encodable(gettempdir()):
        raise _make_folder_error(gettempdir(), "its name is not UTF-8")
    try:
        folder = Path(mkdtemp(prefix="recsys_ndcg_"))
    except OSError as error:
        raise _make_folder_error(gettempdir(), error.strerror or str(error)) from None
    try:
        yield folder
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise _make_folder_error(str(folder), error.strerror or str(error)) from None
    finally:
        for _ in range(_MAX_TRIES):  # an interrupted thread of DuckDB may write one more file
            rmtree(folder, ignore_errors=True)
            if not folder.exists():
                break
            sleep(_POLL_SECONDS)


def _make_folder_error(folder: str, reason: str) -> InvalidInputError:
    return InvalidInputError(
        f"{folder}: the folder for temporary files cannot be written to ({reason}). Set the "
        "environment variable TMPDIR to a folder with room for a copy of the data."
    )


@contextmanager
def hold_arenas() -> Iterator[None]:
    """Occupy the memory arenas of our last threads while DuckDB works.

    glibc gives a new thread the arena of the thread that ended last, and an arena keeps up to 64 MB
    of freed memory. If DuckDB's threads took our arenas, our next threads would fill others, and
    the process would grow with every call.
    """
    ended = Event()
    with ThreadPoolExecutor(count_threads()) as pool, ExitStack() as stack:
        stack.callback(ended.set)
        pool.map(lambda _: ended.wait(), range(count_threads()))
        yield


class Database:
    """A database in memory that spills into a folder.

    Parameters
    ----------
    folder : Path
        A folder that nothing else uses.
    memory : int
        Memory limit in bytes.
    show : callable
        Called with a step and its progress: from 0 to 1, or below 0 if unknown.
    """

    def __init__(self, folder: Path, memory: int, show: Callable[[str, float], None]) -> None:
        self._folder = folder
        self._show = show
        self._is_stuck = False
        self._connection = duckdb.connect(
            config={
                "threads": max(1, min(count_threads(), memory // _PER_THREAD)),
                "memory_limit": f"{memory}B",
                "temp_directory": str(folder),
                "preserve_insertion_order": False,
                "autoinstall_known_extensions": False,
                "autoload_known_extensions": False,
            }
        )
        self._connection.execute("SET TimeZone = 'UTC'")  # of times without one
        # it measures its progress, but prints nothing
        self._connection.execute("SET enable_progress_bar_print = false")
        self._connection.execute("SET enable_progress_bar = true")

    def close(self) -> None:
        """Free all memory."""
        if not self._is_stuck:
            self._connection.close()

    def register(self, name: str, stream: Any) -> None:
        """Give a stream of Arrow batches a name for queries.

        Raises
        ------
        InvalidInputError
            DuckDB does not have the type of a column.
        """
        try:
            self._connection.register(name, stream)
        except duckdb.Error as error:
            msg = f"{self._explain(str(error))} Drop such columns or convert them."
            raise InvalidInputError(msg) from None

    def run(self, sql: str, step: str = "Looking at all rows") -> list[tuple[Any, ...]]:
        """Run a query as a step of the job, and return its rows.

        Raises
        ------
        InvalidInputError
            It fails; the message has the first line of DuckDB's.
        """
        query: Future[list[tuple[Any, ...]]] = Future()

        def work() -> None:
            try:
                query.set_result(self._connection.execute(sql).fetchall())
            except Exception as error:  # noqa: BLE001 - raised by query.result()
                query.set_exception(error)

        # in another thread, as signals wait until DuckDB returns
        Thread(target=work, daemon=True).start()
        try:
            while not wait([query], _POLL_SECONDS).done:
                with suppress(duckdb.Error):  # unknown at the beginning
                    self._show(step, self._connection.query_progress() / 100)
            found = query.result()
        except duckdb.Error as error:
            raise InvalidInputError(self._explain(str(error))) from None
        except BaseException:
            until = monotonic() + _STOP_SECONDS
            while not wait([query], _POLL_SECONDS).done and monotonic() < until:
                with suppress(duckdb.Error):
                    self._connection.interrupt()
            # a query that was interrupted at its beginning may never end: do not wait for it
            self._is_stuck = not query.done()
            raise
        self._show(step, 1.0)
        return found

    def relation(self, source: str) -> Any:
        """Return the DuckDB relation of a FROM clause."""
        return self._connection.sql(f"SELECT * FROM {source}")

    def _explain(self, message: str) -> str:
        """Return the reason of an error, in our words if we know it."""
        reason = " ".join(message.split("\n\n", maxsplit=1)[0].split())
        if any(one in reason.lower() for one in _DISK_FULL):
            return str(_make_folder_error(str(self._folder), "No space left on device"))
        if reason.startswith("Out of Memory"):
            return f"memory_limit is too low for this data ({reason}). Raise it."
        wrong = _WRONG_LINE.search(message)  # in a file of text
        if wrong is None:
            return reason
        fault = wrong["fault"].strip().rstrip(".")
        fields = _FIELDS.fullmatch(fault)
        if fields:
            fault = f"{fields[2]} fields in place of {fields[1]}"
        return f"{wrong['file']}, line {wrong['line']}: {fault}: {quote(wrong['text'].strip())}."


def quote_name(name: str) -> str:
    """Quote the name of a column for SQL.

    Examples
    --------
    >>> quote_name("the user")
    '"the user"'
    """
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Quote a text for SQL.

    Examples
    --------
    >>> quote_text("it's")
    "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def quote_path(path: Path) -> str:
    """Quote the name of a file for DuckDB, which takes every name for a pattern.

    Examples
    --------
    >>> quote_path(Path("p[1].csv"))
    "'p[[]1].csv'"
    """
    return quote_text(glob.escape(str(path)))
