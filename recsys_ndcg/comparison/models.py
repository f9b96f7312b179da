"""The models that meet, and how they are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from recsys_ndcg.comparison.metric_comparison import MetricComparison
from recsys_ndcg.comparison.tables import best_first, leaderboard, pairwise, segmented
from recsys_ndcg.errors import InvalidInputError, nearest, shown
from recsys_ndcg.lazy import lazy
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.scoring import metric_among

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.comparison.model_scores import ModelScores
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.significance import Testing


@dataclass(frozen=True, eq=False)
class ComparedModels:
    """The models that meet, aligned by user, and how they are compared.

    Parameters
    ----------
    contenders : mapping of str to ModelScores
        The models' scores.
    how : Testing
        The test, the correction, the level, the draws and their seed.
    baseline : str
        Against which model users are won and lost.
    margin : float, optional
        Up to which a difference does not matter.
    groups : pandas.Series, optional
        The segment of each user, a categorical.
    left_out : mapping of str to int
        How many users of each model are left out, because not all have them.
    other_metrics : tuple of str
        Those that only some models have.
    runs : pandas.DataFrame, optional
        What each fold of an experiment took and measured.
    made_by : str, optional
        The lines of Python that make the same, where they are another call than `compare`.
    progress : bool
        Whether a bar shows how far tests are that take long.
    """

    contenders: Mapping[str, ModelScores]
    how: Testing
    baseline: str
    margin: float | None = None
    groups: pd.Series[Any] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    other_metrics: tuple[str, ...] = ()
    runs: pd.DataFrame | None = None
    made_by: str | None = None
    progress: bool = True

    @property
    def models(self) -> list[str]:
        """Their names, as they were given."""
        return list(self.contenders)

    @property
    def first(self) -> ModelScores:
        """The one that was given first."""
        return next(iter(self.contenders.values()))

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics; the first decides."""
        return list(self.first.names)

    @lazy
    def by_metric(self) -> dict[str, MetricComparison]:
        """Each metric, with what the tests say of it."""
        return {
            name: MetricComparison.of(
                name, self.contenders, self.how, self.margin, progress=self.progress
            )
            for name in self.metrics
        }

    @property
    def deciding(self) -> MetricComparison:
        """The first metric."""
        return self.by_metric[self.metrics[0]]

    @lazy
    def leaderboards(self) -> dict[str, pd.DataFrame]:
        """A row per model, by metric."""
        return {
            name: leaderboard(
                result,
                self.baseline,
                {model: one.runs[:, one.at(name)] for model, one in self.contenders.items()},
            )
            for name, result in self.by_metric.items()
        }

    @lazy
    def pairwise(self) -> pd.DataFrame:
        """A row per metric and pair of models."""
        return pd.concat([pairwise(one) for one in self.by_metric.values()], ignore_index=True)

    @lazy
    def segments(self) -> pd.DataFrame:
        """A row for each metric, segment and model.

        Raises
        ------
        InvalidInputError
            Nobody asked for segments.
        """
        if self.groups is None:
            msg = "There are no segments: compare(..., by='activity') asks for them."
            raise InvalidInputError(msg)
        with progress_bar(wanted=self.progress) as show:
            told = partial(show, "Testing segments")
            return segmented(self.by_metric, self.groups, self.baseline, told)

    def both(self, metric: str, a: str | None, b: str | None) -> tuple[str, str]:
        """Return two models: the baseline and the best of the others, unless they are named.

        Raises
        ------
        InvalidInputError
            There is no such model, or both are one.
        """
        before = self.model(self.baseline if a is None else a)
        result = self.by_metric[metric]
        ordered = [result.models[place] for place in best_first(result)]
        after = self.model(next(one for one in ordered if one != before) if b is None else b)
        if before == after:
            msg = f"{before!r} is compared with itself: name two models, a= and b=."
            raise InvalidInputError(msg)
        return before, after

    def metric(self, given: str | Metric | None) -> str:
        """Return the name of a metric as it stands here, that of the first for None."""
        if given is None:
            return self.metrics[0]
        return metric_among(given, self.metrics, "This comparison")

    def other_metric(self, metric: str, given: str | Metric | None) -> str:
        """Return the metric that is named, or the first other one.

        Raises
        ------
        InvalidInputError
            There is none.
        """
        others = [one for one in self.metrics if one != metric]
        if given is None and not others:
            msg = f"A trade-off is between two metrics: compare in another one, too, than {metric}."
            raise InvalidInputError(msg)
        return others[0] if given is None else self.metric(given)

    def model(self, name: str) -> str:
        """Return the name of a model, if there is one.

        Raises
        ------
        InvalidInputError
            There is none.
        """
        if name not in self.contenders:
            msg = f"There is no model {shown(name)}. {nearest(str(name), self.models)}"
            raise InvalidInputError(msg)
        return name
