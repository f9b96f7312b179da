"""A report as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from recsys_ndcg.errors import needing
from recsys_ndcg.rendering.table import cells, signature_texts

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.rendering.view import Shown

_ACTS = re.compile(r"[\\`*_{}\[\]<>#|~$&!]")
_BEGINS_A_LIST = re.compile(r"^(\d*)([-+.)])")


def markdown(report: Shown) -> str:
    """Return a table, the remarks as a list, and the signatures as code."""
    return markdown_page(cells(report), report.remarks, signature_texts(report))


def markdown_page(
    frame: pd.DataFrame, remarks: list[str], signatures: list[str], left: int = 1
) -> str:
    """Return a table of text, and below it sentences as a list and signatures as code."""
    lines = [f"- {as_line(line)}" for line in remarks]
    codes = fenced(signatures)
    table = markdown_table(frame, left)
    return "\n".join([table, "", *lines, *([""] if lines else []), *codes, ""])


def markdown_table(frame: pd.DataFrame, left: int = 1) -> str:
    """Return a table of text, all but its first columns set to the right."""
    return piped(frame.map(escaped).rename(columns=escaped), left)


def piped(frame: pd.DataFrame, left: int = 1) -> str:
    """Return the same of what is Markdown already."""
    sides = ["left" if place < left else "right" for place in range(len(frame.columns))]
    with needing("tabulate", job="Markdown", extra="report"):
        table: str = frame.to_markdown(index=False, disable_numparse=True, colalign=sides)
    return table


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it stands."""
    return _ACTS.sub(r"\\\g<0>", text)


def as_line(text: str) -> str:
    """Return the same for the beginning of a line, where more can act."""
    return _BEGINS_A_LIST.sub(r"\1\\\2", escaped(text.strip()))


def fenced(lines: list[str]) -> list[str]:
    """Return lines as code, behind more backticks than any of them has."""
    longest = max((len(run) for line in lines for run in re.findall("`+", line)), default=0)
    fence = "`" * max(longest + 1, 3)
    return [fence, *lines, fence]
