"""A document as a part of a web page, for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from recsys_ndcg.rendering.document import Chart, Code, Details, Panels, Sentences, ShownTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.rendering.document import Document, Part


def to_html(document: Document) -> str:
    """Return the verdict, the facts and the parts in their order, code and details folded."""
    above = [f"<p><strong>{escape(document.verdict)}</strong></p>"] if document.verdict else []
    facts = f"<p>{escape(document.facts)}</p>"
    return "\n".join([*above, facts, *(text for part in document.parts for text in _of(part))])


def _of(part: Part) -> Iterator[str]:
    if isinstance(part, ShownTable):
        if part.note:
            yield f"<p>{escape(part.note)}</p>"
        yield _table(part.cells)
    elif isinstance(part, Sentences | Chart | Panels) and part.lines:
        entries = "".join(f"<li>{escape(line)}</li>\n" for line in part.lines)
        yield f"<ul>\n{entries}</ul>"
    elif isinstance(part, Code):
        codes = "<br>\n".join(map(escape, part.lines))
        yield _folded(part.name, f"<p><code>{codes}</code></p>")
    elif isinstance(part, Details):
        yield _folded(part.title, "\n".join(text for one in part.parts for text in _of(one)))


def _folded(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>\n{inside}\n</details>"


def _table(frame: pd.DataFrame) -> str:
    """Return a table of text, in which nothing is cut and nothing acts."""
    with pd.option_context("display.max_colwidth", None):
        return frame.to_html(index=False, border=0)
