"""Numbers and texts as the protocols of pickle write them."""

from __future__ import annotations

import codecs
import re

_ESCAPE = re.compile(rb"""\\(?:[\\'"abfnrtv]|x[0-9a-fA-F]{2})""")


def utf_8(data: bytes) -> str:
    """Read text of protocols from 1 on."""
    return str(data, "utf-8", "surrogatepass")


def escaped(line: bytes) -> str:
    """Read text of protocol 0."""
    return str(line, "raw-unicode-escape")


def ascii_text(data: bytes) -> str:
    """Read text of Python 2."""
    return str(data, "ascii")


def quoted(line: bytes) -> str:
    """Read text of Python 2 in protocol 0; of escapes that it did not write Python would warn."""
    line = line.rstrip()
    inside = line[1:-1]
    whole = len(line) > 1 and line[0] == line[-1] and line[:1] in (b"'", b'"')
    if not whole or b"\\" in _ESCAPE.sub(b"", inside):
        raise ValueError
    return str(codecs.escape_decode(inside)[0], "ascii")


def whole(data: bytes) -> int:
    """Read a whole number of any length.

    Examples
    --------
    >>> whole(b""), whole(bytes([255, 0])), whole(bytes([255]))
    (0, 255, -1)
    """
    return int.from_bytes(data, "little", signed=True)


def digits(line: bytes) -> int:
    """Read a whole number of protocol 0, False or True.

    Examples
    --------
    >>> digits(b"12"), digits(b"-12L"), digits(b"01")
    (12, -12, True)
    """
    return line == b"01" if line in (b"00", b"01") else int(line.removesuffix(b"L"), 0)
