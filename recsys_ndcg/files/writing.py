"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from stat import S_IMODE
from typing import IO

from recsys_ndcg.errors import InvalidInputError, check_path

#: No files to be replaced, whatever they lead to.
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/fd/", "/proc/")
_USUAL = 0o666  # less what the umask takes


def write_whole(path: str | Path, text: str | bytes) -> None:
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
    check_path(path)
    try:
        content = text.encode() if isinstance(text, str) else text
        if is_stream(path):
            with open(path, "ab") as stream:  # noqa: PTH123 - a Path would resolve nothing here
                stream.write(content)
        else:
            _replace(Path(os.path.realpath(path)), content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        msg = f"{path}: cannot be written ({reason})."
        raise InvalidInputError(msg) from None


def is_stream(path: str | Path) -> bool:
    """Tell what can only be written into: a pipe, a device, a folder too, which the system says."""
    named = os.path.abspath(path).startswith(_STREAMS)  # noqa: PTH100 - links stay
    return named or (os.path.exists(path) and not os.path.isfile(path))  # noqa: PTH110, PTH113


def _replace(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file beside another, which it replaces when all has been written."""
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
    except BaseException:  # an interrupt leaves nothing behind either
        with suppress(OSError):
            part.unlink()
        raise
