"""Digests for files that are changed on purpose, as an attacker would make them."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any


def signed(stored: Any) -> bytes:
    """Return a changed archive with a digest that fits, or the JSON of another value."""
    if not isinstance(stored, dict) or "format" not in stored:
        return json.dumps(stored).encode()
    others = {name: one for name, one in stored.items() if name not in {"format", "sha256"}}
    text = json.dumps({"format": stored["format"], "sha256": "", **others}, indent=1).encode()
    begin, rest = text.split(b'"sha256": "', 1)
    begin += b'"sha256": "'
    return begin + sha256(begin + rest).hexdigest().encode() + rest
