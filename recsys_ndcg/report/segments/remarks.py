"""What a reader should know before trusting the numbers of segments: a plain sentence each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors.visible import visible
from recsys_ndcg.rendering.segments import label_text
from recsys_ndcg.rendering.table import number, signed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sized

    import pandas as pd

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.rendering.segments import Parted

_FEW = 10  # users, of whom an interval says little
_LEVEL = 0.05
_APART = 0.05  # levels of chance so far apart make means differ
_MATTERS = 0.001  # a difference that changes the third decimal
_NAMED = 3  # segments in a sentence, and metrics of which the same is said


def remarks(segments: Parted) -> list[str]:
    """Return one sentence for each thing that makes the numbers say less than they seem to."""
    lines = [*_users(segments)]
    for kind in (_chance, _differences, _orders):
        told = [line for metric in segments.whole.metrics for line in kind(segments, metric)]
        more = len(told) - _NAMED
        lines += told if more < 2 else [*told[:_NAMED], f"… and so in {more} more metrics."]
    return [visible(line) for line in lines]


def _users(segments: Parted) -> Iterator[str]:
    counts = dict(segments.counts)
    total, outside = sum(counts.values()), counts.pop(None)
    if outside:
        yield f"{outside} of {total} users are in no segment: only the row of all users has them."
    if len(counts) == 1:
        yield f"All are in one segment, {_name(segments, 0)}: there is no other to compare it with."
    few = [f"{label_text(one)} ({count})" for one, count in counts.items() if count < _FEW]
    if few:
        yield f"Of fewer than {_FEW} users an interval says little, a test less: {_first(few)}."


def _chance(segments: Parted, metric: str) -> Iterator[str]:
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


def _differences(segments: Parted, metric: str) -> Iterator[str]:
    """Tell which segments differ from the others, the furthest first."""
    table = _of(segments, metric)
    difference = table["difference"].to_numpy()
    sure = (table["corrected"] < _LEVEL).to_numpy() & (table["users"] >= _FEW).to_numpy()
    furthest = [place for place in np.argsort(-np.abs(difference), kind="stable") if sure[place]]
    if furthest:
        labels = [label_text(segments.labels[place]) for place in furthest]
        told = map("{} ({})".format, labels, map(signed, difference[furthest]))
        yield (
            f"In {metric}, {len(furthest)} of {len(table)} segments {_verb(furthest)} from all "
            f"other users (Welch's test, Holm's correction): {_first(told)}."
        )


def _orders(segments: Parted, metric: str) -> Iterator[str]:
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


def _of(segments: Parted, metric: str) -> pd.DataFrame:
    """Return a row per segment."""
    place, count = segments.whole.metrics.index(metric), len(segments.whole.metrics)
    return segments.summary.iloc[place::count]


def _name(segments: Parted, place: int | np.intp) -> str:
    return f"{segments.name} {label_text(segments.labels[place])}"


def _verb(several: Sized) -> str:
    return "differs" if len(several) == 1 else "differ"


def _highest(values: Floats) -> float:
    return float(np.fmax.reduce(np.abs(values), initial=0.0))


def _first(told: Iterable[str]) -> str:
    """Return the first few, and how many more there are."""
    all_told = list(told)
    more = len(all_told) - _NAMED
    return ", ".join(all_told if more < 2 else [*all_told[:_NAMED], f"{more} more"])
