"""A document as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recsys_ndcg.errors import printable
from recsys_ndcg.rendering.document import Chart, Code, Panels, Sentences, ShownTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.rendering.document import Document, Part


def to_text(document: Document) -> str:
    """Return the facts, the tables, the verdict below the first section, and what else is said.

    What standard output cannot write, such as ± in a terminal of ASCII alone, is written
    differently: ``print(report)`` asks for this text, and cannot say for whom.
    """
    lines = [printable(document.facts)]
    for place, section in enumerate(document.sections):
        for part in section.parts:
            lines += _lines(part, bullet="- " if document.verdict else "")
        if not place and document.verdict:
            lines.append(printable(document.verdict))
    return "\n".join(lines)


def _lines(part: Part, bullet: str) -> Iterator[str]:
    if isinstance(part, ShownTable):
        if part.note:
            yield printable(part.note)
        yield _aligned(part)
    elif isinstance(part, Sentences | Chart | Panels):
        yield from (f"{bullet}{printable(line)}" for line in part.lines)
    elif isinstance(part, Code):
        yield from map(printable, part.brief())


def _aligned(table: ShownTable) -> str:
    """Return a table of text, all but names set to the right."""
    shown = table.cells.map(printable).rename(columns=printable)
    for name in shown.columns[: table.left]:
        if not shown[name].str.isdecimal().all():
            shown[name] = shown[name].str.ljust(shown[name].str.len().max())
    return shown.to_string(index=False)
