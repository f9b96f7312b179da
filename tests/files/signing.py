"""Digests for files that somebody changed on purpose, as only an attacker makes them."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any


def signed(stored: Any) -> bytes:
    """Return a changed archive with a digest that fits; what is none is plain JSON."""
    if not isinstance(stored, dict) or "format" not in stored:
        return json.dumps(stored).encode()
    others = {name: one for name, one in stored.items() if name not in {"format", "sha256"}}
    text = json.dumps({"format": stored["format"], "sha256": "", **others}, indent=1).encode()
    begin, rest = text.split(b'"sha256": "', 1)
    begin += b'"sha256": "'
    return begin + sha256(begin + rest).hexdigest().encode() + rest
