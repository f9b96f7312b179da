"""Audit: what stands beside the score, so that it can be read: chance, ties, labels, counts."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.metrics.judged import Judged
from recsys_ndcg.scoring.measuring import mean_over_users

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring.measuring import Measured
    from recsys_ndcg.scoring.source import Source

_SAME = 1e-12
TIES_MATTER = 0.001  # a range this wide changes the third decimal


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
        """One row per metric: chance, lift, tie_low and tie_high, of means over users."""
        scores = self._measured.scores
        mean, chance = scores.mean, mean_over_users(self._blind("scores"))
        bounded = np.array([metric.bounded for metric in scores.metrics])
        low, high = self.tie_range
        columns = {
            "chance": chance,
            "lift": (mean - chance) / np.where(bounded & (chance < 1), 1 - chance, np.nan),
            "tie_low": low,
            "tie_high": high,
        }
        return pd.DataFrame(columns, index=scores.names)

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per metric: the levels, extreme orders, shares of users, and unlabelled items."""
        source, scores = self._source, self._measured.scores
        n_items = source.lists.n_items
        scored = ~np.isnan(scores.per_user)
        ordered = np.array([metric.orders for metric in source.metrics])
        return self.levels.assign(
            worst=mean_over_users(self._blind("worst")),
            best=mean_over_users(self._blind("best")),
            trivial=_share(self._range(blind=True) <= _SAME, scored & ordered),
            decided_by_ties=_share(self._range(blind=False) > _SAME, scored),
            short=[float((n_items < (metric.k or 0)).mean()) for metric in source.metrics],
            skipped=1 - scored.mean(axis=0),
            unlabelled=source.n_unlabelled / max(source.n_rows, 1),
            judged=self._judged,
            unlabelled_zero=self._if_unlabelled_were(None),
            unlabelled_top=self._if_unlabelled_were(source.top_grade),
        )

    @property
    def tie_range(self) -> tuple[Floats, Floats]:
        """The mean scores with every tie in its worst, and in its best order."""
        return self._measured.worst.mean, self._measured.best.mean

    def widest_tie_range(self) -> tuple[str, float, float] | None:
        """Return the metric that ties leave open furthest, and its range, if it matters."""
        metrics = self._source.metrics
        if self.n_tied < TIES_MATTER * len(self._source.lists):
            return None
        low, high = self.tie_range
        width = np.where([metric.bounded for metric in metrics], high - low, 0.0)
        widest = int(np.nan_to_num(width).argmax())
        if not width[widest] >= TIES_MATTER:
            return None
        return str(metrics[widest]), float(low[widest]), float(high[widest])

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many users and rows need a second look."""
        source, scores = self._source, self._measured.scores
        ks = [metric.k for metric in source.metrics if metric.k is not None]
        n_items = source.lists.n_items
        ranges = self._range(blind=True)
        counts = {
            "users": len(n_items),
            "ratings": source.n_rows,
            "short": int((n_items < max(ks, default=0)).sum()),
            "trivial": int(((ranges <= _SAME).any(axis=1) & ~(ranges > _SAME).any(axis=1)).sum()),
            "tied": self.n_tied,
            "unlabelled": source.n_unlabelled,
            "unlisted": len(source.given.unlisted_true),
            "missing": int(source.lists.missing.sum()),
            "impossible": source.given.n_impossible,
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

    def _range(self, *, blind: bool) -> Floats:
        """Return best minus worst order of each user and metric: of the list, or of its ties."""
        if blind:
            return self._blind("best") - self._blind("worst")
        return self._measured.best.per_user - self._measured.worst.per_user

    def _blind(self, kind: str) -> Floats:
        """Return the scores of each user and metric as if all estimates of a list were equal.

        Parameters
        ----------
        kind : {'scores', 'worst', 'best'}
            Of random order (NaN where it has no exact value), or of the extreme orders.
        """
        source = self._source
        columns = np.full((len(source.lists), len(source.metrics)), np.nan)
        for ties, measured in self._blind_measured.items():
            if kind == "scores" and ties != "expected":
                continue
            places = [source.metrics.index(one) for one in measured.scores.metrics]
            columns[:, places] = getattr(measured, kind).per_user
        return columns

    @cached_property
    def _blind_measured(self) -> dict[str, Measured]:
        """By the rule for ties, which is not ``expected`` where a metric has no exact value."""
        source = self._source
        known: dict[str, list[Metric]] = {}
        for metric in source.metrics:
            if metric.orders:
                exact = metric.has_expectation(source.convention)
                known.setdefault("expected" if exact else "worst", []).append(metric)
        return {
            ties: replace(source, metrics=metrics).measured(ties, blind=True)
            for ties, metrics in known.items()
        }

    @property
    def _judged(self) -> Floats:
        """The share of the first k items that have a label, for each metric's own k."""
        # an empty list has no such share, whatever its score is
        convention = self._source.convention.replace(undefined="skip")
        metrics = [Judged(metric.k) for metric in self._source.metrics]
        known = replace(self._source, metrics=metrics, convention=convention)
        return known.with_unlabelled_as(None).measured("expected", tie_range=False).scores.mean

    def _if_unlabelled_were(self, grade: float | None) -> Floats:
        """Return the means if all unlabelled items were of this grade, or irrelevant."""
        source = self._source
        if not source.n_unlabelled:
            return self._measured.scores.mean
        means = np.full(len(source.metrics), np.nan)
        # a metric without a cutoff goes by the smallest one, where short lists are left out
        cutoffs = sorted(metric.k for metric in source.metrics if metric.k is not None)[:1]
        for place, metric in enumerate(source.metrics):
            if metric.orders:
                # no such number: the grade has no gain, or new ties have no exact value
                with suppress(InvalidInputError):
                    beside = [metric, *map(Judged, cutoffs)]
                    other = replace(source, metrics=beside).with_unlabelled_as(grade)
                    means[place] = other.measured(tie_range=False).scores.mean[0]
        return means


def _share(which: NDArray[np.bool_], scored: NDArray[np.bool_]) -> Floats:
    """Return the share of each metric's scored users for whom something holds."""
    return mean_over_users(np.where(scored, which, np.nan))
