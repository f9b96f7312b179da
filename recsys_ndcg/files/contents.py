"""The bytes of files and streams: unpacked where a name says so, written whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import secrets
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from stat import S_IMODE, S_ISCHR
from typing import IO, Any, TypeGuard

from recsys_ndcg.errors import (
    InvalidInputError,
    RecsysNdcgError,
    label_messages,
    quote,
    require_libraries,
)

#: No files to be replaced, whatever they lead to.
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
_USUAL = 0o666  # less what the umask takes


@contextmanager
def convert_read_errors(path: object, done: str = "read") -> Iterator[None]:
    """Turn what the system says against a file that is read into an error of ours.

    Raises
    ------
    InvalidInputError
        It is no path, or the file cannot be read.
    """
    check_path(path)
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        reason = getattr(error, "strerror", None) or error
        msg = f"{path}: cannot be {done} ({reason})."
        raise InvalidInputError(msg) from None


#: The same for a file that is written.
convert_write_errors = partial(convert_read_errors, done="written")


def check_path(path: object) -> None:
    """Refuse what the system has no name for."""
    if not isinstance(path, str | os.PathLike):
        msg = f"Give the path of a file, not {quote(path)}."
        raise InvalidInputError(msg)
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError:
        name = b""
    if not name or b"\0" in name:
        msg = f"{str(path)!r}: cannot be the name of a file."
        raise InvalidInputError(msg)


def write_file(path: str | Path, text: str | bytes) -> None:
    """Write bytes, or a text in UTF-8, as a whole file.

    It is written beside the file first, and takes its place when it is on the disk: whatever goes
    wrong before, the file is as it was. It keeps its permissions; where the path is a symbolic
    link, what it leads to is replaced. A pipe or a device is written into.

    Parameters
    ----------
    path : str or Path
        The file.
    text : str or bytes
        All that it shall hold.

    Raises
    ------
    InvalidInputError
        The file cannot be written.
    """
    with convert_write_errors(path):
        content = text.encode() if isinstance(text, str) else text
        with open(path, "ab") if is_stream(path) else open_replacement(path) as file:  # noqa: PTH123
            file.write(content)


def is_stream(path: str | Path) -> bool:
    """Tell what can only be written into: a pipe, a device, a folder too, which the system says."""
    named = os.path.abspath(path).startswith(_STREAMS)  # noqa: PTH100 - links stay
    return named or (os.path.exists(path) and not os.path.isfile(path))  # noqa: PTH110, PTH113


@contextmanager
def open_replacement(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file beside another, which it replaces when all has been written."""
    path = Path(os.path.realpath(path))
    exists = path.exists()
    if exists:
        path.open("ab").close()  # to replace it would need no permission of its own
    mode = S_IMODE(path.stat().st_mode) if exists else _USUAL
    part = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        # never open to more people than the file is
        with open(part, "xb", opener=partial(os.open, mode=mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if exists:
            part.chmod(mode)
        part.replace(path)
    finally:  # it is not left behind, even by an interrupt; if all went well, it is gone already
        with suppress(OSError):
            part.unlink()


#: Where data is read from: a file by its name, or what is open for reading bytes.
FileSource = str | Path | IO[bytes]
_BLOCK = 1 << 20
#: What a file may unpack to: so many bytes, and so many for each of its own.
BYTES_ANYWAY = 1 << 26
BYTES_PER_BYTE = 256  # xz packs 150 of long ids with one score for each item


@dataclass(frozen=True)
class Content:
    """What is read from a place.

    Parameters
    ----------
    name : str
        What messages call it.
    suffix : str
        That of what is inside, in small letters.
    data : bytes
        All of it, unpacked.
    packed : bool
        Whether it was packed.
    """

    name: str
    suffix: str
    data: bytes
    packed: bool = False

    @classmethod
    def of(cls, place: FileSource) -> Content:
        """Read a place to its end.

        Raises
        ------
        InvalidInputError
            It cannot be read, its archive is damaged or holds several files, or it unpacks to far
            more than a table of its size.
        MissingExtraError
            ``.zst`` needs pyarrow.
        """
        if isinstance(place, str | Path):
            with open_file(place) as file:
                return _inside(file, str(place), Path(place).name.lower())
        name = _named(place)
        with convert_read_errors(name):
            _refuse_endless(place, name)
            data = place.read()
        if not isinstance(data, bytes):
            msg = f"{name}: it gives text; open it for reading bytes, as with open(path, 'rb')."
            raise InvalidInputError(msg)
        return _inside(io.BytesIO(data), name, cls.find_compression(data))

    @staticmethod
    def find_compression(data: bytes) -> str:
        """Return how the names of files end that begin like these bytes, "" if not packed.

        Examples
        --------
        >>> Content.find_compression(b"BZh91AY")
        '.bz2'
        """
        return next(
            (kind for kind, (begin, _) in COMPRESSIONS.items() if data.startswith(begin)), ""
        )

    @staticmethod
    def compute_size_limit(size: int) -> int:
        """Return how many bytes a file of so many may unpack to.

        Few bytes can unpack to as many as one likes.
        """
        return BYTES_ANYWAY + BYTES_PER_BYTE * size


def is_file_source(data: object) -> TypeGuard[FileSource]:
    """Tell what is read from, and not data already."""
    return isinstance(data, str | Path) or callable(getattr(data, "read", None))


@contextmanager
def open_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file, or a pipe, to read its bytes.

    Raises
    ------
    InvalidInputError
        It cannot be read, or is a device that may never end.
    """
    with convert_read_errors(path), Path(path).open("rb") as file:
        _refuse_endless(file, str(path))
        yield file


def _refuse_endless(file: IO[bytes], name: str) -> None:
    """Refuse a device such as /dev/zero; a terminal ends when the user says so."""
    try:
        number = file.fileno()
        is_device = S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number)
    except (AttributeError, OSError, TypeError, ValueError):  # not a file of the system
        return
    if is_device and file.read(1):  # /dev/null gives nothing
        msg = f"{name}: a device in place of a file, which may never end. Copy it into a file."
        raise InvalidInputError(msg)


def _named(stream: IO[bytes]) -> str:
    """Return what messages call a stream."""
    name = getattr(stream, "name", None)
    if name == "<stdin>":
        return "standard input"
    return str(name) if name and isinstance(name, str | Path) else "the stream"


def _inside(file: IO[bytes], name: str, file_name: str) -> Content:
    begin, dot, last = file_name.rpartition(".")
    kind = f"{dot}{last}"
    if kind not in COMPRESSIONS:
        return Content(name, kind, file.read())
    file = file if file.seekable() else io.BytesIO(file.read())  # a pipe
    _, unpack = COMPRESSIONS[kind]
    with _unpacking(name), unpack(file) as stream:
        inside = Path(getattr(stream, "name", "") if kind == ".zip" else begin).suffix.lower()
        return Content(name, inside, _unpacked(stream, file), packed=True)


def _unpacked(stream: IO[bytes], file: IO[bytes]) -> bytes:
    """Return all that a stream unpacks from a file, or refuse it as soon as it is too much.

    Every part of the file is held to the bound: one that unpacks to little allows nothing to
    the next.
    """
    found, total, lowest = [], 0, 0
    while block := stream.read(_BLOCK):
        found.append(block)
        total += len(block)
        excess = total - BYTES_PER_BYTE * file.tell()
        lowest = min(lowest, excess)
        if excess - lowest > BYTES_ANYWAY:
            msg = (
                f"it unpacked to {total:,} bytes after {file.tell():,} of its own, far "
                "more than a table does. If that is right, unpack it yourself."
            )
            raise InvalidInputError(msg)
    return b"".join(found)


@contextmanager
def _unpacking(name: str) -> Iterator[None]:
    """Turn whatever fails into a fault of the archive."""
    with label_messages(name):
        try:
            yield
        except RecsysNdcgError:
            raise
        except Exception as error:  # noqa: BLE001 - a damaged archive fails in any way
            reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            if isinstance(error, MemoryError):
                reason = "it is damaged, or needs more memory than there is"
            msg = f"cannot be unpacked ({reason}). Pack it again, or give it unpacked."
            raise InvalidInputError(msg) from None


def _member(file: IO[bytes]) -> IO[bytes]:
    """Open the only file in an archive; what a Macintosh puts beside it does not count."""
    archive = zipfile.ZipFile(file)
    names = [
        one.filename
        for one in archive.infolist()
        if not one.is_dir() and not one.filename.startswith("__MACOSX/")
    ]
    if len(names) != 1:
        there = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        msg = f"it holds {len(names)} files ({there})" if names else "it holds no file"
        msg = f"{msg}; pack the one that is to be read."
        raise InvalidInputError(msg)
    return archive.open(names[0])


def _zstandard(file: IO[bytes]) -> IO[bytes]:
    with require_libraries("pyarrow", job="Unpacking .zst", extra="scale"):
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    opened: IO[bytes] = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
    return opened


#: How the names of packed files end, how their bytes begin, and what opens them.
COMPRESSIONS: dict[str, tuple[bytes, Callable[[IO[bytes]], Any]]] = {
    ".gz": (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    ".zst": (b"\x28\xb5\x2f\xfd", _zstandard),
    ".bz2": (b"BZh", bz2.BZ2File),
    ".xz": (b"\xfd7zXZ\0", lzma.LZMAFile),
    ".zip": (b"PK\x03\x04", _member),
}
