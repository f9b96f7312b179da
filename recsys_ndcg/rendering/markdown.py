"""A document as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recsys_ndcg.errors import needing
from recsys_ndcg.rendering.document import Chart, Code, Panels, Sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recsys_ndcg.rendering.document import Document, Part, ShownTable

_ACTS = re.compile(r"[\\`*_{}\[\]<>#|~$&!]")
_BEGINS_A_LIST = re.compile(r"^(\d*)([-+.)])")


def to_markdown(document: Document, *, tables_only: bool = False) -> str:
    """Return the tables with their notes, the verdict, the remarks as a list, and lines of code."""
    tables = [_table(one) for one in document.tables]
    if tables_only:
        return "".join(f"{one.rstrip()}\n" for one in tables)
    lines: list[str] = []
    for one, cells in zip(document.tables, tables, strict=True):
        lines += [cells, "", *([f"{_as_line(one.note)}.", ""] if one.note else [])]
    if document.verdict:
        lines += [f"{_as_line(document.facts)}.", "", _as_line(document.verdict), ""]
    for part in document.parts:
        lines += _lines(part)
    return "\n".join(lines)


def _lines(part: Part) -> Iterator[str]:
    if isinstance(part, Sentences | Chart | Panels):
        yield from (f"- {_as_line(line)}" for line in part.lines)
        if part.lines:
            yield ""
    elif isinstance(part, Code):
        yield from _fenced(part.lines)
        yield ""


def _table(table: ShownTable) -> str:
    """Return a table of text, all but its first columns set to the right."""
    shown = table.cells.map(_escaped)
    for name in table.emphasised if table.bold else ():
        shown[name] = [
            f"**{text.strip()}**" if row in table.bold else text
            for row, text in enumerate(shown[name])
        ]
    sides = ["left" if place < table.left else "right" for place in range(len(shown.columns))]
    with needing("tabulate", job="Markdown", extra="report"):
        text: str = shown.rename(columns=_escaped).to_markdown(
            index=False, disable_numparse=True, colalign=sides
        )
    return text


def _escaped(text: str) -> str:
    """Return a text that Markdown shows as it stands."""
    return _ACTS.sub(r"\\\g<0>", text)


def _as_line(text: str) -> str:
    """Return the same for the beginning of a line, where more can act."""
    return _BEGINS_A_LIST.sub(r"\1\\\2", _escaped(text.strip()))


def _fenced(lines: Sequence[str]) -> list[str]:
    """Return lines as code, behind more backticks than any of them has."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(longest + 1, 3)
    return [fence, *lines, fence]
