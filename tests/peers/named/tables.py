"""Read the tables "their name, our name" of docs/coming-from."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.peers.pages import page_of

_NAME = re.compile(r"`([^`]+)`(?: with `([^`]+)`)?")
_METRIC = re.compile(r"[a-z0-9]+(\([a-z=.0-9]*\))?(@10)?|report\.per_user\[.*\]")


class Pair(NamedTuple):
    """A metric of a library and ours, and the keyword arguments that ours needs."""

    theirs: str
    ours: str
    options: str


def read_rows(library: str) -> list[tuple[str, str]]:
    """Return both cells of each row under the heading Names."""
    section = page_of(library).read_text(encoding="utf-8").split("\n## Names\n")[1]
    table = section.split("\n## ")[0]
    return re.findall(r"^\| (.+?) \| (.+) \|$", table, re.MULTILINE)[1:]


def read_pairs(row: tuple[str, str]) -> list[Pair]:
    """Return the metrics of a row, each with ours; none if our side names no metric."""
    theirs, ours = (_NAME.findall(cell) for cell in row)
    shown = ", ".join(f"`{one}`" + f" with `{how}`" * bool(how) for one, how in ours)
    if shown != row[1] or not all(_METRIC.fullmatch(one) for one, _ in ours):
        return []
    return [
        Pair(name + f" with {how}" * bool(how), *mine)
        for (name, how), mine in zip(theirs, ours, strict=True)
    ]


def list_their_names(library: str) -> list[str]:
    """Return what a library is asked for, in the order of its page."""
    names = [one.theirs for row in read_rows(library) for one in read_pairs(row)]
    return list(dict.fromkeys(names))
