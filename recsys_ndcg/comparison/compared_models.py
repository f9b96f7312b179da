"""The compared models: their scores, how they are tested, and the comparison in each metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from recsys_ndcg.arrays import Ids
from recsys_ndcg.comparison.metric_comparison import (
    MetricComparison,
    list_tested_pairs,
    test_metrics,
)
from recsys_ndcg.comparison.verdict import describe_test
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.report import UnknownKeyError
from recsys_ndcg.scoring import Signature, describe_protocol, find_metric_name

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.comparison.model_scores import ModelScores
    from recsys_ndcg.significance import Testing

_Value = TypeVar("_Value")
#: Tables of each model, and options of the tests.
_TABLES = ("scores", "numerator", "denominator", "chance", "best")
_OPTIONS = ("testing", "margin", "progress", "baseline")


class ByMetric(dict[str, _Value]):
    """A value for each metric, which is found by any spelling of the metric."""

    def __missing__(self, metric: str) -> _Value:
        """Return the value of a metric that is spelled differently."""
        try:
            return self[find_metric_name(str(metric), list(self), "This comparison")]
        except InvalidInputError as error:
            raise UnknownKeyError(str(error)) from None


@dataclass(frozen=True, eq=False)
class ComparedModels:
    """The value that a `Comparison` shows; other rooms of this package read it, users do not.

    Parameters
    ----------
    model_scores : mapping of str to ModelScores
        The models' scores, of the same users.
    testing : Testing
        The test, the correction, the level, the draws and their seed.
    baseline : str
        The name of the model that others are compared with, in the columns won, tied and lost,
        and in segments.
    margin : float, optional
        The largest difference that does not matter.
    segment_of_user : pandas.Series, optional
        The segment of each user, a categorical.
    n_dropped_users : mapping of str to int
        The number of each model's users who are left out, because another model does not have
        these users at all.
    other_metrics : tuple of str
        Metrics that only some models have.
    code : str, optional
        Python code that makes the same comparison, if it is not a call of `compare`.
    inputs : mapping of str
        Python for the arguments of `compare` that are files, except the models.
    progress : bool
        Whether to show a progress bar for tests that take long.

    Raises
    ------
    InvalidInputError
        The test is ``"wilcoxon"`` or ``"sign"``, and a metric has no score per user.
    """

    model_scores: Mapping[str, ModelScores]
    testing: Testing
    baseline: str
    margin: float | None = None
    segment_of_user: pd.Series[Any] | None = None
    n_dropped_users: Mapping[str, int] = field(default_factory=dict)
    other_metrics: tuple[str, ...] = ()
    code: str | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)
    progress: bool = True

    def __post_init__(self) -> None:
        """Raise if the test cannot be of a number of all lists, or has too few draws."""
        together = [name for name in self.metrics if name not in self.metrics_of_users]
        if together and not self.testing.test_kind.is_test_of_mean:
            msg = (
                f"`test={self.testing.test!r}` needs a score of each user, and {together[0]} is a "
                "number of all lists together. Choose 't', 'randomisation' or 'bootstrap'."
            )
            raise InvalidInputError(msg)
        self.testing.check_pairs(self.size_of_family)
        if together and (self.testing.test, self.testing.family) == ("randomisation", "metrics"):
            msg = (
                "`family='metrics'` is not possible with `test='randomisation'`, which swaps lists "
                f"for {together[0]}. Choose `test='t'` or 'bootstrap', or `family='pairs'`."
            )
            raise InvalidInputError(msg)

    @property
    def models(self) -> list[str]:
        """The names of the models, in the order given."""
        return list(self.model_scores)

    @property
    def first_model(self) -> ModelScores:
        """The scores of the first model."""
        return next(iter(self.model_scores.values()))

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics; the first one decides."""
        return self.first_model.names

    @property
    def metrics_of_users(self) -> list[str]:
        """The names of the metrics that have a score per user."""
        first = self.first_model
        return [name for name, one in zip(first.names, first.metrics, strict=True) if one.per_user]

    @property
    def users(self) -> Ids:
        """The compared users."""
        return self.first_model.users

    @property
    def signatures(self) -> dict[str, Signature]:
        """How each metric was computed for the first model.

        Signatures of other models may differ in choices that do not change the numbers.
        """
        return dict(self.first_model.signatures)

    @lazy_property
    def by_metric(self) -> dict[str, MetricComparison]:
        """The comparison in each metric."""
        each = [_compare_in_metric(self, name) for name in self.metrics]
        if self.testing.family == "metrics" and len(each) > 1:
            tests = test_metrics(each)
            pairs = zip(each, tests, strict=True)
            each = [replace(one, known_tests=found) for one, found in pairs]
        return ByMetric(zip(self.metrics, each, strict=True))

    @property
    def size_of_family(self) -> int:
        """The largest number of tests that are corrected for each other."""
        family = self.testing.family
        _, has_chance = list_tested_pairs(self.models, self.baseline, family)
        pairs = max(int(has_chance.sum()), int((~has_chance).sum()))
        return pairs * (len(self.metrics) if family == "metrics" else 1)

    @property
    def tested_by(self) -> str:
        """The test, the correction and the significance level, in words."""
        return describe_test(self.first_metric_comparison)

    @property
    def first_metric_comparison(self) -> MetricComparison:
        """The comparison in the first metric."""
        return self.by_metric[self.metrics[0]]


def _compare_in_metric(compared: ComparedModels, name: str) -> MetricComparison:
    """Return the comparison in one metric."""
    models, column = compared.model_scores, compared.metrics.index(name)
    fields: dict[str, Any] = {
        table: np.column_stack([model.tables[table][:, column] for model in models.values()])
        for table in _TABLES
    }
    fields |= {option: getattr(compared, option) for option in _OPTIONS}
    if any(len(model.run_scores) for model in models.values()):
        no_runs = np.zeros((0, len(compared.users)))
        fields["runs"] = tuple(
            model.run_scores[:, :, column] if len(model.run_scores) else no_runs
            for model in models.values()
        )
    exposures = [one.exposures[column] for one in models.values() if one.exposures]
    if len(exposures) == len(models) and all(one is not None for one in exposures):
        fields["exposures"] = tuple(exposures)
    fields["ranked"] = describe_protocol(compared.signatures[name])
    return MetricComparison(
        name, compared.first_model.measurements[column], tuple(models), **fields
    )
