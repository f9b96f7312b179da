"""DuckDB, as far as it is needed: a database that lives as long as a job does."""

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

from recsys_ndcg.errors import InvalidInputError, is_encodable, is_number, quote
from recsys_ndcg.parallel import count_threads

_AMOUNT = re.compile(r"\s*(\d{1,15}(?:\.\d+)?)\s*(?:([kmgt]?)(i?)b)?\s*", re.IGNORECASE)
_LEAST = 270_000_000  # beside what the process has, for anything to be done
_PER_USER = 150  # and of a user
_PER_SCORE = 130  # and of a user under a measurement
_PER_ROW = 180  # bytes while a row is read, grouped, sorted and scored
_PER_LETTER = 3  # and of a letter of an id: it is read, and kept where it is distinct
#: An id of text takes as much as so many more letters.
AS_TEXT = 40
_KEPT_USER, _KEPT_SCORE = 120, 57  # of a user who is kept, and each score with what it is beside
_KEPT = 1 / 6  # of the memory: users who are kept
_DATABASE = 0.6  # of it: what DuckDB is told, for it takes more than that
_PER_THREAD = 125_000_000  # what DuckDB's guide asks for; with less a sort may fail


def bytes_of(limit: str | float) -> int:
    """Return how many bytes an amount of memory has.

    Raises
    ------
    InvalidInputError
        It is no amount of memory.

    Examples
    --------
    >>> bytes_of("2GB"), bytes_of("1.5 GiB"), bytes_of(500_000_000)
    (2000000000, 1610612736, 500000000)
    """
    if is_number(limit) and float(limit) > 0:
        return int(float(limit))
    told = _AMOUNT.fullmatch(limit) if isinstance(limit, str) else None
    if told is None:
        msg = f"memory_limit is an amount of memory, such as '2GB', not {quote(limit)}."
        raise InvalidInputError(msg)
    number, letter, binary = told.groups(default="")
    return int(float(number) * (1024 if binary else 1000) ** " kmgt".index(letter.lower()))


@dataclass(frozen=True)
class Memory:
    """What a process may use beyond what it has.

    Parameters
    ----------
    room : int
        In bytes.
    n_scores : int
        How many measurements there are.

    Examples
    --------
    >>> Memory(1_000_000_000, n_scores=1).keeps(900_000)
    True
    """

    room: int
    n_scores: int

    @classmethod
    def within(cls, limit: str | float | None, n_scores: int) -> Memory:
        """Return what a limit leaves; half of what is free, where nobody says one.

        Raises
        ------
        InvalidInputError
            It is no amount of memory, or leaves too little.
        """
        give_back()
        if limit is None:
            return cls(max(_free() // 2, _LEAST), n_scores)
        most, held = bytes_of(limit), resident()
        if most - held < _LEAST:
            msg = (
                f"memory_limit={limit!r} leaves too little: the process itself has "
                f"{written(held)}, and needs {written(_LEAST)} beside it. Give at least "
                f"{written(held + _LEAST)}."
            )
            raise InvalidInputError(msg)
        return cls(most - held, n_scores)

    @property
    def database(self) -> int:
        """What DuckDB is told to keep to."""
        return int(self.room * _DATABASE)

    @property
    def budget(self) -> int:
        """What a part of the data may take, beside the users who are kept."""
        return int(self.room * (1 - _KEPT))

    def keeps(self, users: int) -> bool:
        """Tell whether the scores of so many users may be kept."""
        return users * (_KEPT_USER + _KEPT_SCORE * self.n_scores) <= self.room * _KEPT

    def cost(self, rows: int, users: int = 0, letters: int = 0) -> int:
        """Return what so many rows of so many users take, with ids of so many letters.

        Examples
        --------
        >>> Memory(1_000_000_000, n_scores=3).cost(1_000_000, 10_000)
        185400000
        """
        by_row = rows * _PER_ROW + letters * _PER_LETTER
        return by_row + users * (_PER_USER + _PER_SCORE * self.n_scores)

    @staticmethod
    def limit_for(cost: int) -> str:
        """Return which limit lets a part of the data be in memory at once."""
        return written(resident() + int(max(cost / (1 - _KEPT), _LEAST)))


def resident() -> int:
    """Return how much memory the process has now; the usual, where the system does not say."""
    return _told(Path("/proc/self/status"), r"VmRSS:\s*(\d+) kB") * 1024 or 200_000_000


def written(size: int) -> str:
    """Return an amount of memory as a person writes it, rounded up.

    Examples
    --------
    >>> written(1_234_000_000)
    '1.3GB'
    """
    return f"{math.ceil(size / 1e8) / 10:g}GB"


def give_back() -> None:
    """Let the system have what was used before and is kept for later."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # another allocator than glibc's
        ctypes.CDLL(None).malloc_trim(0)


def _free() -> int:
    """Return how much memory is free; what most machines have, where the system does not say."""
    free = _told(Path("/proc/meminfo"), r"MemAvailable:\s*(\d+) kB") * 1024
    whole = _told(Path("/sys/fs/cgroup/memory.max"), r"(\d+)")  # of a container
    ours = whole and max(whole - resident(), 1)
    return min([one for one in (free, ours) if one], default=4_000_000_000)


def _told(path: Path, pattern: str) -> int:
    """Return what the system says of memory, 0 where it does not."""
    try:
        found = re.search(pattern, path.read_text(encoding="ascii"))
    except OSError:
        return 0
    return int(found[1]) if found else 0


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


@contextmanager
def arenas_held() -> Iterator[None]:
    """Hold the memory in which the threads of the last call measured, until DuckDB has ended.

    glibc gives a new thread the arena of the thread that ended last, and an arena keeps up to 64 MB
    of what is freed in it. If DuckDB's threads took those arenas, ours would fill others, and the
    process would grow with every call.
    """
    ended = Event()
    with ThreadPoolExecutor(count_threads()) as pool, ExitStack() as stack:
        stack.callback(ended.set)
        pool.map(lambda _: ended.wait(), range(count_threads()))
        yield


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
    """

    def __init__(self, folder: Path, memory: int, show: Callable[[str, float], None]) -> None:
        import duckdb  # noqa: PLC0415 - an extra

        self._errors = duckdb.Error
        self._folder = folder
        self._show = show
        self._stuck = False
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
        # it counts how far it is, and prints nothing
        self._connection.execute("SET enable_progress_bar_print = false")
        self._connection.execute("SET enable_progress_bar = true")

    def close(self) -> None:
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
        query: Future[list[tuple[Any, ...]]] = Future()

        def work() -> None:
            try:
                query.set_result(self._connection.execute(sql).fetchall())
            except Exception as error:  # noqa: BLE001 - raised where it is asked for
                query.set_exception(error)

        # in a thread of its own, for no signal is heard while DuckDB works
        Thread(target=work, daemon=True).start()
        try:
            while not wait([query], _PATIENCE).done:
                with suppress(self._errors):  # as it begins, it does not say
                    self._show(step, self._connection.query_progress() / 100)
            found = query.result()
        except self._errors as error:
            raise InvalidInputError(self._told(str(error))) from None
        except BaseException:
            until = monotonic() + _LONGEST
            while not wait([query], _PATIENCE).done and monotonic() < until:
                with suppress(self._errors):
                    self._connection.interrupt()
            # one that was stopped as it began may not end, and is left to itself
            self._stuck = not query.done()
            raise
        self._show(step, 1.0)
        return found

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
        wrong = _WRONG_LINE.search(said)  # in a file of text
        if wrong is None:
            return reason
        fault = wrong["fault"].strip().rstrip(".")
        fields = _FIELDS.fullmatch(fault)
        if fields:
            fault = f"{fields[2]} fields in place of {fields[1]}"
        return f"{wrong['file']}, line {wrong['line']}: {fault}: {quote(wrong['text'].strip())}."


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


def file_literal(path: Path) -> str:
    """Return the name of a file as SQL has it: to DuckDB every name is a pattern.

    Examples
    --------
    >>> file_literal(Path("p[1].csv"))
    "'p[[]1].csv'"
    """
    return literal(glob.escape(str(path)))
