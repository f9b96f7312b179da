"""Audit: what stands beside the score, so that it can be read: chance, ties, counts."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recsys_ndcg.convention import Floats
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Measured
    from recsys_ndcg.source import Source

_SAME = 1e-12


class Audit:
    """Chance level, tie range and counts of a measured source, each computed when first read.

    Parameters
    ----------
    source : Source
        What was measured.
    measured : Measured
        The result, under the convention's own rule for ties.
    """

    def __init__(self, source: Source, measured: Measured) -> None:
        self._source = source
        self._measured = measured

    @cached_property
    def levels(self) -> pd.DataFrame:
        """One row per metric: chance, tie_low and tie_high, as means over users."""
        low, high = self.tie_range
        names = [str(metric) for metric in self._source.metrics]
        return pd.DataFrame(
            {"chance": self._chance, "tie_low": low, "tie_high": high}, index=names
        )

    @cached_property
    def tie_range(self) -> tuple[Floats, Floats]:
        """The mean scores with every tie in its worst, and in its best order."""
        if not self._tied.any():
            return self._measured.scores.mean, self._measured.scores.mean
        worst, best = (self._source.measured(ties).scores.mean for ties in ("worst", "best"))
        return worst, best

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many users and rows need a second look."""
        source, scores = self._source, self._measured.scores
        ks = [metric.k for metric in source.metrics if metric.k is not None]
        n_items = source.lists.n_items
        counts = {
            "users": len(n_items),
            "ratings": source.n_rows,
            "short": int((n_items < max(ks, default=0)).sum()),
            "trivial": int(self._trivial.sum()),
            "tied": self.n_tied,
            "unlabelled": source.n_unlabelled,
            "unlisted": len(source.lists.unlisted_true),
            "missing": int(source.lists.missing.sum()),
            "duplicates": source.lists.merged,
            "left_out": int(scores.left_out.any(axis=1).sum()),
        }
        undefined = scores.undefined.sum(axis=0).tolist()
        for metric, number in zip(source.metrics, undefined, strict=True):
            counts[f"undefined {metric}"] = number
        return counts

    @property
    def n_tied(self) -> int:
        """How many users have two items with the same estimate."""
        return int(self._tied.sum())

    @property
    def _tied(self) -> NDArray[np.bool_]:
        return np.isfinite(self._measured.first_tie)

    @cached_property
    def _chance(self) -> Floats:
        """The mean score of random order; NaN where it has no exact value."""
        metrics = self._source.metrics
        known = [m for m in metrics if m.orders and m.has_expectation(self._source.convention)]
        means = dict(zip(known, self._blind("expected", known).mean(axis=0), strict=True))
        return np.array([means.get(metric, np.nan) for metric in metrics])

    @cached_property
    def _trivial(self) -> NDArray[np.bool_]:
        """Users for whom every order of the list gives the same scores."""
        ordering = [metric for metric in self._source.metrics if metric.orders]
        if not ordering:
            return np.zeros(len(self._source.lists), dtype=bool)
        worst, best = self._blind("worst", ordering), self._blind("best", ordering)
        scored = ~np.isnan(best)
        differs = scored & (np.abs(np.nan_to_num(best) - np.nan_to_num(worst)) > _SAME)
        return np.asarray(scored.any(axis=1) & ~differs.any(axis=1))

    def _blind(self, ties: str, metrics: Sequence[Metric]) -> Floats:
        """Return per-user scores as if all estimates of a list were equal."""
        if not metrics:
            return np.zeros((len(self._source.lists), 0))
        source = replace(self._source, metrics=metrics)
        return source.measured(ties, blind=True).scores.values
