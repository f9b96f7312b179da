"""Segments of users as text, Markdown, LaTeX and HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pandas as pd

from recsys_ndcg.errors.visible import printable, visible
from recsys_ndcg.input.ids import written
from recsys_ndcg.rendering.html import page_codes, page_list, page_table
from recsys_ndcg.rendering.latex import latex_table
from recsys_ndcg.rendering.markdown import markdown_page
from recsys_ndcg.rendering.table import (
    number,
    probability,
    signature_lines,
    signature_texts,
    signed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.rendering.view import Shown

_LEFT = 2  # columns that are set to the left: metric and segment
_ALL = "(all)"


class Parted(Protocol):
    """A report in segments, as far as it is shown."""

    @property
    def name(self) -> str:
        """What the segments are called together."""

    @property
    def labels(self) -> tuple[Any, ...]:
        """Of the segments, in order."""

    @property
    def whole(self) -> Shown:
        """The report of all users."""

    @property
    def counts(self) -> dict[Any, int]:
        """How many users are in each segment, and under None how many in none."""

    @property
    def summary(self) -> pd.DataFrame:
        """One row per segment and metric."""

    @property
    def remarks(self) -> list[str]:
        """What a reader should know before trusting the numbers, a sentence each."""


def label_text(label: Any) -> str:
    """Return a label as it is shown.

    Examples
    --------
    >>> [label_text(one) for one in ("2–4", 7, 7.0, True, ("DE", 1))]
    ['2–4', '7', '7', 'True', "('DE', 1)"]
    """
    return visible(str(label) if isinstance(label, bool) else written(label))


def cells(segments: Parted) -> pd.DataFrame:
    """Return the summary as text: for each metric a row of all users, and one per segment."""
    return pd.DataFrame(list(_rows(segments)))


def _rows(segments: Parted) -> Iterator[dict[str, str]]:
    whole = segments.whole.summary.to_dict("index")
    table = segments.summary
    blank = {"difference": np.nan, "corrected": np.nan}
    for place, metric in enumerate(segments.whole.metrics):
        yield _row(metric, _ALL, whole[metric] | blank)
        rows = table.iloc[place :: len(segments.whole.metrics)].to_dict("records")
        for label, row in zip(segments.labels, rows, strict=True):
            yield _row(metric, label_text(label), row)


def _row(metric: str, segment: str, values: dict[Any, Any]) -> dict[str, str]:
    return {
        "metric": visible(metric),
        "segment": segment,
        "users": str(values["users"]),
        "mean": number(values["mean"]),
        "±95%": number((values["ci_high"] - values["ci_low"]) / 2),
        "pooled": number(values["pooled"]),
        "chance": number(values["chance"]),
        "adjusted": number(values["adjusted"]),
        "difference": signed(values["difference"]),
        "p (Holm)": probability(values["corrected"]),
    }


def head(segments: Parted) -> str:
    """Return how many segments there are, of what and of whom."""
    count = len(segments.labels)
    many = "1 segment" if count == 1 else f"{count} segments"
    by = "" if segments.name == "segment" else f" by {visible(segments.name)}"
    return f"{many}{by}, {segments.whole.counts['users']} users"


def text(segments: Parted) -> str:
    """Return the table, the remarks and the signatures."""
    shown = cells(segments).map(printable).rename(columns=printable)
    for name in ("metric", "segment"):
        shown[name] = shown[name].str.ljust(shown[name].str.len().max())
    table = shown.to_string(index=False)
    lines = map(printable, [*segments.remarks, *signature_lines(segments.whole)])
    return "\n".join([printable(head(segments)), table, *lines])


def markdown(segments: Parted) -> str:
    """Return the table, the remarks as a list, and the signatures as code."""
    return markdown_page(
        cells(segments), segments.remarks, signature_texts(segments.whole), left=_LEFT
    )


def latex(segments: Parted) -> str:
    """Return a table in the manner of booktabs, below remarks and signatures as comments."""
    comments = [f"% {line}" for line in [*segments.remarks, *signature_texts(segments.whole)]]
    return "\n".join([*comments, latex_table(cells(segments), _LEFT)])


def fragment(segments: Parted) -> str:
    """Return the table, the remarks and the signatures, for a notebook or a page."""
    return (
        f"<p>{escape(head(segments))}</p>\n{page_table(cells(segments))}\n"
        f"{page_list(segments.remarks)}\n{page_codes(signature_texts(segments.whole))}"
    )
