"""What people read of segments: a table, and what to know before trusting it."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import visible
from recsys_ndcg.input import written
from recsys_ndcg.rendering import (
    Document,
    Section,
    ShownTable,
    count,
    first_few,
    number,
    probability,
    signed,
)
from recsys_ndcg.report.document import remarks_section, signatures_section, text_cells

if TYPE_CHECKING:
    from recsys_ndcg.report.segments.segmented import Segments

_FEW = 10  # users, of whom an interval says little
_LEVEL = 0.05
_APART = 0.05  # levels of chance so far apart make means differ
_MATTERS = 0.001  # a difference that changes the third decimal
_NAMED = 3  # segments in a sentence, and metrics of which the same is said
_ALL = "(all)"
#: The columns of the table, and their headings.
_COLUMNS = {
    **{name: name for name in ("metric", "segment", "users", "mean")},
    "half": "±95%",
    **{name: name for name in ("pooled", "chance", "adjusted", "difference")},
    "corrected": "p (Holm)",
}
_LEAD = "Each segment beside the others: its difference from them, and how sure it is."


def segments_document(segments: Segments) -> Document:
    """Return what segments say: for each metric a row of all users, and one for each segment."""
    by = "" if segments.name == "segment" else f" by {visible(segments.name)}"
    facts = f"{count(len(segments.labels), 'segment')}{by}, {segments.whole.counts['users']} users"
    table = ShownTable("The scores, by segment", _cells(segments), left=2)
    return Document(
        title="Segments of users",
        facts=facts,
        sections=[
            Section("segments", "Segments", _LEAD, [table]),
            remarks_section(segments.remarks),
            signatures_section(segments.whole.signatures.values()),
        ],
        names=[segments.name, *segments.whole.metrics],
    )


def _cells(segments: Segments) -> pd.DataFrame:
    """Return the summaries as text: for each metric all users, and each segment."""
    whole = segments.whole.summary.assign(segment=_ALL, difference=np.nan, corrected=np.nan)
    parts = segments.to_frame()
    parts["segment"] = [_label(one) for one in parts["segment"]]
    rows = pd.concat([whole.reset_index(), parts], ignore_index=True)
    places = np.array([segments.whole.metrics.index(one) for one in rows["metric"]])
    rows = rows.iloc[np.argsort(places, kind="stable")].assign(
        half=(rows["ci_high"] - rows["ci_low"]) / 2,
        metric=rows["metric"].map(visible),
        difference=rows["difference"].map(signed),
        corrected=rows["corrected"].map(probability),
    )
    return text_cells(rows[[*_COLUMNS]].rename(columns=_COLUMNS).set_index("metric"))


def _label(label: Any) -> str:
    """Return a label as it is shown."""
    return visible(str(label) if isinstance(label, bool) else written(label))


def remarks(segments: Segments) -> list[str]:
    """Return one sentence for each thing that makes the numbers say less than they seem to."""
    lines = [*_users(segments)]
    for kind in (_chance, _differences, _orders):
        told = [line for metric in segments.whole.metrics for line in kind(segments, metric)]
        lines += first_few(told, _NAMED, "… and so in {} more metrics.")
    return [visible(line) for line in lines]


def _users(segments: Segments) -> Iterator[str]:
    counts = dict(segments.counts)
    total, outside = sum(counts.values()), counts.pop(None)
    if outside:
        yield f"{outside} of {total} users are in no segment: only the row of all users has them."
    if len(counts) == 1:
        yield f"All are in one segment, {_name(segments, 0)}: there is no other to compare it with."
    few = [f"{_label(one)} ({users})" for one, users in counts.items() if users < _FEW]
    if few:
        told = ", ".join(first_few(few, _NAMED))
        yield f"Of fewer than {_FEW} users an interval says little, a test less: {told}."


def _chance(segments: Segments, metric: str) -> Iterator[str]:
    """Tell where means differ because random order does."""
    chance = _of(segments, metric)["chance"].to_numpy()
    if not segments.whole.bounded[metric] or np.isnan(chance).all():
        return
    low, high = int(np.nanargmin(chance)), int(np.nanargmax(chance))
    if chance[high] - chance[low] >= _APART:
        yield (
            f"Chance is {number(chance[low])} in {metric} for {_name(segments, low)} and "
            f"{number(chance[high])} for {_name(segments, high)}, so that means differ in "
            "any case: compare adjusted."
        )


def _differences(segments: Segments, metric: str) -> Iterator[str]:
    """Tell which segments differ from the others, the furthest first."""
    table = _of(segments, metric)
    difference = table["difference"].to_numpy()
    sure = (table["corrected"] < _LEVEL).to_numpy() & (table["users"] >= _FEW).to_numpy()
    furthest = [place for place in np.argsort(-np.abs(difference), kind="stable") if sure[place]]
    if furthest:
        labels = [_label(segments.labels[place]) for place in furthest]
        differences = map("{} ({})".format, labels, map(signed, difference[furthest]))
        told = first_few(differences, _NAMED)
        yield (
            f"In {metric}, {len(furthest)} of {len(table)} segments {_verb(furthest)} from all "
            f"other users (Welch's test, Holm's correction): {', '.join(told)}."
        )


def _orders(segments: Segments, metric: str) -> Iterator[str]:
    """Tell two segments that stand in one order by their means, and in the other pooled."""
    table = _of(segments, metric)
    mean, pooled = table["mean"].to_numpy(), table["pooled"].to_numpy()
    by_mean, by_pooled = np.subtract.outer(mean, mean), np.subtract.outer(pooled, pooled)
    turned = np.where(by_mean > 0, np.minimum(by_mean, -by_pooled), -np.inf)
    turned[np.isnan(turned)] = -np.inf
    one, other = np.unravel_index(turned.argmax(), turned.shape)
    least = _MATTERS if segments.whole.bounded[metric] else _MATTERS * _highest(mean)
    if turned[one, other] >= least > 0:
        yield (
            f"In {metric}, {_name(segments, one)} is above {_name(segments, other)} by the mean "
            f"({number(mean[one])} and {number(mean[other])}), but below it pooled, where large "
            f"lists count for more ({number(pooled[one])} and {number(pooled[other])})."
        )


def _of(segments: Segments, metric: str) -> pd.DataFrame:
    """Return a row per segment."""
    place, count = segments.whole.metrics.index(metric), len(segments.whole.metrics)
    return segments.summary.iloc[place::count]


def _name(segments: Segments, place: int | np.intp) -> str:
    return f"{segments.name} {_label(segments.labels[place])}"


def _verb(several: Sized) -> str:
    return "differs" if len(several) == 1 else "differ"


def _highest(values: Floats) -> float:
    return float(np.fmax.reduce(np.abs(values), initial=0.0))
