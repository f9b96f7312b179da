"""Read files and streams, also compressed ones, and write files atomically."""

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

#: Paths that are written into, never replaced.
_STREAM_PATHS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
_DEFAULT_MODE = 0o666  # before the umask


@contextmanager
def convert_read_errors(path: object, done: str = "read") -> Iterator[None]:
    """Convert errors of the operating system about a file to InvalidInputError.

    Raises
    ------
    InvalidInputError
        The path is not valid, or the file cannot be read.
    """
    check_path(path)
    try:
        yield
    except (OSError, UnicodeEncodeError) as error:
        reason = getattr(error, "strerror", None) or error
        msg = f"{path}: cannot be {done} ({reason})."
        raise InvalidInputError(msg) from None


convert_write_errors = partial(convert_read_errors, done="written")


def check_path(path: object) -> None:
    """Raise if a value cannot be the path of a file."""
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
    """Write bytes, or text in UTF-8, to a file, completely or not at all.

    The content is written to a temporary file in the same folder, which then replaces the file. If
    writing fails, the file is unchanged. The file keeps its permissions; a symbolic link stays and
    its target is replaced. A pipe or a device is written into.

    Parameters
    ----------
    path : str or Path
        The file.
    text : str or bytes
        The content.

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
    """Return whether a path is not a regular file: a pipe, a device, or a folder."""
    has_stream_path = os.path.abspath(path).startswith(_STREAM_PATHS)  # noqa: PTH100 - links stay
    return has_stream_path or (os.path.exists(path) and not os.path.isfile(path))  # noqa: PTH110, PTH113


@contextmanager
def open_replacement(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a temporary file that replaces a file when all has been written."""
    path = Path(os.path.realpath(path))
    exists = path.exists()
    if exists:
        path.open("ab").close()  # raise if the file is read-only, which replacing would ignore
    mode = S_IMODE(path.stat().st_mode) if exists else _DEFAULT_MODE
    part = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        # never with more permissions than the file
        with open(part, "xb", opener=partial(os.open, mode=mode)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if exists:
            part.chmod(mode)
        part.replace(path)
    finally:  # also after an interrupt; after success the temporary file does not exist
        with suppress(OSError):
            part.unlink()


#: The path of a file, or a stream of bytes.
FileSource = str | Path | IO[bytes]
_BLOCK = 1 << 20
#: The limit of decompressed bytes: a constant, and a factor of the file's size.
BYTES_ANYWAY = 1 << 26
BYTES_PER_BYTE = 256  # xz reaches 150 for long ids with constant scores


@dataclass(frozen=True)
class Content:
    """The content of a file or stream.

    Parameters
    ----------
    name : str
        Its name in messages.
    suffix : str
        The suffix of the decompressed file, in lower case.
    data : bytes
        The decompressed bytes.
    packed : bool
        Whether it was compressed.
    """

    name: str
    suffix: str
    data: bytes
    packed: bool = False

    @classmethod
    def of(cls, source: FileSource) -> Content:
        """Read a file or stream to its end, and decompress it.

        Raises
        ------
        InvalidInputError
            It cannot be read, its archive is damaged or has several files, or its decompressed
            size exceeds the limit.
        MissingExtraError
            ``.zst`` needs pyarrow.
        """
        if isinstance(source, str | Path):
            with open_file(source) as file:
                return _read_content(file, str(source), Path(source).name.lower())
        name = _find_stream_name(source)
        with convert_read_errors(name):
            _check_device(source, name)
            data = source.read()
        if not isinstance(data, bytes):
            msg = f"{name}: it gives text. Open it in binary mode: open(path, 'rb')."
            raise InvalidInputError(msg)
        return _read_content(io.BytesIO(data), name, cls.find_compression(data))

    @staticmethod
    def find_compression(data: bytes) -> str:
        """Return the suffix of the compression of bytes; "" if they are not compressed.

        Examples
        --------
        >>> Content.find_compression(b"BZh91AY")
        '.bz2'
        """
        kinds = (kind for kind, (begin, _) in COMPRESSIONS.items() if data.startswith(begin))
        return next(kinds, "")

    @staticmethod
    def compute_size_limit(size: int) -> int:
        """Return the largest decompressed size of a file of `size` bytes, against zip bombs."""
        return BYTES_ANYWAY + BYTES_PER_BYTE * size


def is_file_source(data: object) -> TypeGuard[FileSource]:
    """Return whether data is a path or a stream."""
    return isinstance(data, str | Path) or callable(getattr(data, "read", None))


@contextmanager
def open_file(path: str | Path) -> Iterator[IO[bytes]]:
    """Open a file, or a pipe, to read its bytes.

    Raises
    ------
    InvalidInputError
        It cannot be read, or is a device that may be endless.
    """
    with convert_read_errors(path), Path(path).open("rb") as file:
        _check_device(file, str(path))
        yield file


def _check_device(file: IO[bytes], name: str) -> None:
    """Raise for a device such as /dev/zero, which is endless; a user can end a terminal's input."""
    try:
        number = file.fileno()
        is_device = S_ISCHR(os.fstat(number).st_mode) and not os.isatty(number)
    except (AttributeError, OSError, TypeError, ValueError):  # no file descriptor
        return
    if is_device and file.read(1):  # /dev/null is empty
        msg = f"{name}: this is a device, which may be endless. Copy its content into a file."
        raise InvalidInputError(msg)


def _find_stream_name(stream: IO[bytes]) -> str:
    """Return the name of a stream in messages."""
    name = getattr(stream, "name", None)
    if name == "<stdin>":
        return "standard input"
    return str(name) if name and isinstance(name, str | Path) else "the stream"


def _read_content(file: IO[bytes], name: str, file_name: str) -> Content:
    stem, dot, extension = file_name.rpartition(".")
    suffix = f"{dot}{extension}"
    if suffix not in COMPRESSIONS:
        return Content(name, suffix, file.read())
    file = file if file.seekable() else io.BytesIO(file.read())  # a pipe
    _, decompress = COMPRESSIONS[suffix]
    with _convert_decompression_errors(name), decompress(file) as stream:
        inner_name = getattr(stream, "name", "") if suffix == ".zip" else stem
        data = _read_limited(stream, file)
        return Content(name, Path(inner_name).suffix.lower(), data, packed=True)


def _read_limited(stream: IO[bytes], file: IO[bytes]) -> bytes:
    """Return all decompressed bytes of a file; raise as soon as they exceed the limit.

    The limit applies to each part of the file: a part below the limit does not raise it for later
    parts.
    """
    blocks, total, lowest = [], 0, 0
    while block := stream.read(_BLOCK):
        blocks.append(block)
        total += len(block)
        excess = total - BYTES_PER_BYTE * file.tell()
        lowest = min(lowest, excess)
        if excess - lowest > BYTES_ANYWAY:
            msg = (
                f"{file.tell():,} bytes decompress to {total:,} bytes, far more than a table "
                "does. If that is right, decompress it yourself."
            )
            raise InvalidInputError(msg)
    return b"".join(blocks)


@contextmanager
def _convert_decompression_errors(name: str) -> Iterator[None]:
    """Convert all errors to InvalidInputError about the file."""
    with label_messages(name):
        try:
            yield
        except RecsysNdcgError:
            raise
        except Exception as error:  # noqa: BLE001 - a damaged archive may raise anything
            reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
            if isinstance(error, MemoryError):
                reason = "it is damaged, or needs more memory than there is"
            msg = f"cannot be decompressed ({reason}). Compress it again, or pass it uncompressed."
            raise InvalidInputError(msg) from None


def _open_zip(file: IO[bytes]) -> IO[bytes]:
    """Open the only file in a zip archive, without the metadata files of macOS."""
    archive = zipfile.ZipFile(file)
    names = [
        member.filename
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(names) != 1:
        listed = ", ".join(names[:5]) + (", …" if len(names) > 5 else "")
        found = f"{len(names)} files ({listed})" if names else "no file"
        msg = f"the archive has {found}. Make one with a single file."
        raise InvalidInputError(msg)
    return archive.open(names[0])


def _open_zstandard(file: IO[bytes]) -> IO[bytes]:
    with require_libraries("pyarrow", job="Decompressing .zst", extra="scale"):
        import pyarrow as pa  # type: ignore[import-untyped] # noqa: PLC0415 - an extra
    stream: IO[bytes] = pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd")
    return stream


#: By the suffix of compressed files: their first bytes, and the function that opens them.
COMPRESSIONS: dict[str, tuple[bytes, Callable[[IO[bytes]], Any]]] = {
    ".gz": (b"\x1f\x8b", lambda file: gzip.GzipFile(fileobj=file)),
    ".zst": (b"\x28\xb5\x2f\xfd", _open_zstandard),
    ".bz2": (b"BZh", bz2.BZ2File),
    ".xz": (b"\xfd7zXZ\0", lzma.LZMAFile),
    ".zip": (b"PK\x03\x04", _open_zip),
}
