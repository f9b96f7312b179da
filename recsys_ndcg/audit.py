"""Audit: what stands beside the score, so that it can be read: chance, ties, counts."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.convention import Floats
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Measured
    from recsys_ndcg.source import Source

_SAME = 1e-12
_TIES_MATTER = 0.001  # a range this wide changes the third decimal


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
        names = self._measured.scores.names
        return pd.DataFrame({"chance": self._chance, "tie_low": low, "tie_high": high}, index=names)

    @property
    def tie_range(self) -> tuple[Floats, Floats]:
        """The mean scores with every tie in its worst, and in its best order."""
        return self._measured.worst.mean, self._measured.best.mean

    def widest_tie_range(self) -> tuple[str, float, float] | None:
        """Return the metric that ties leave open furthest, and its range, if it matters."""
        metrics = self._source.metrics
        if self.n_tied < _TIES_MATTER * len(self._source.lists):
            return None
        low, high = self.tie_range
        width = np.where([metric.bounded for metric in metrics], high - low, 0.0)
        widest = int(np.nan_to_num(width).argmax())
        if not width[widest] >= _TIES_MATTER:
            return None
        return str(metrics[widest]), float(low[widest]), float(high[widest])

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
        return int(np.isfinite(self._measured.first_tie).sum())

    @cached_property
    def _chance(self) -> Floats:
        """The mean score of random order; NaN where it has no exact value."""
        measured = self._blind.get("expected")
        scores = measured.scores if measured else None
        means = dict(zip(scores.metrics, scores.mean, strict=True)) if scores else {}
        return np.array([means.get(metric, np.nan) for metric in self._source.metrics])

    @cached_property
    def _trivial(self) -> NDArray[np.bool_]:
        """Users who have a score, the same for every order of their list."""
        scored = np.zeros(len(self._source.lists), dtype=bool)
        differs = scored.copy()
        for measured in self._blind.values():
            worst, best = measured.worst.per_user, measured.best.per_user
            scored |= ~np.isnan(best).all(axis=1)
            differs |= (best - worst > _SAME).any(axis=1)
        return scored & ~differs

    @cached_property
    def _blind(self) -> dict[str, Measured]:
        """The scores as if all estimates of a list were equal, by the rule for ties."""
        source = self._source
        known: dict[str, list[Metric]] = {}
        ordering = [metric for metric in source.metrics if metric.orders]
        for metric in ordering:
            exact = metric.has_expectation(source.convention)
            known.setdefault("expected" if exact else "worst", []).append(metric)
        return {
            ties: replace(source, metrics=metrics).measured(ties, blind=True)
            for ties, metrics in known.items()
        }
