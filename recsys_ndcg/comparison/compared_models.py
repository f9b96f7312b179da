"""The compared models: their scores, how they are tested, and the comparison in each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Ids
from recsys_ndcg.comparison.metric_comparison import (
    TABLES,
    MetricComparison,
    compare_with_model,
    list_tested_pairs,
    make_models_table,
    make_pairwise,
    test_metrics,
)
from recsys_ndcg.comparison.model_scores import ModelScores, list_tables
from recsys_ndcg.comparison.verdict import describe_test, judge
from recsys_ndcg.errors import InvalidInputError, quote, suggest
from recsys_ndcg.findings import Finding, write_verdict
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.report import UnknownKeyError
from recsys_ndcg.scoring import (
    Signature,
    adjust_for_chance,
    describe_protocol,
    find_metric_name,
    subtract_scores,
)
from recsys_ndcg.significance import (
    CORRECTIONS,
    assign_letters,
    compare_groups,
    compare_pairs,
    estimate_optimism,
)

if TYPE_CHECKING:
    from recsys_ndcg.rendering import Verdict
    from recsys_ndcg.significance import Testing

_Value = TypeVar("_Value")
#: The options of the tests.
_OPTIONS = ("testing", "margin", "progress", "baseline")


class ByMetric(dict[str, _Value]):
    """A value for each metric, which is found by any spelling of the metric."""

    def __missing__(self, metric: str) -> _Value:
        """Return the value of a metric that is spelled differently."""
        try:
            return self[find_metric_name(str(metric), list(self), "This comparison")]
        except InvalidInputError as error:
            raise UnknownKeyError(str(error)) from None


def check_model(name: str, models: Sequence[str]) -> str:
    """Return the name of a model.

    Raises
    ------
    InvalidInputError
        The model is unknown.
    """
    if name not in models:
        msg = f"There is no model {quote(name)}. {suggest(str(name), models)}"
        raise InvalidInputError(msg)
    return name


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
    about_splits : tuple of Finding
        Findings about the splits that the models were trained on.

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
    about_splits: tuple[Finding, ...] = ()

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
        each = zip(self.metrics, self.first_model.measurements, strict=True)
        return [name for name, one in each if one.metric.per_user]

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

    @lazy_property
    def judgements(self) -> dict[str, list[Finding]]:
        """The findings of the verdict in each metric."""
        return {name: judge(result) for name, result in self.by_metric.items()}

    def list_verdicts(self, metric: str) -> list[Verdict]:
        """Return the verdict in a metric, and in the first metric of each other protocol."""
        names = {self.by_metric[name].ranked: name for name in reversed(self.metrics)}
        ranked = self.by_metric[metric].ranked
        others = [name for protocol, name in names.items() if protocol != ranked]
        return [write_verdict(self.judgements[name]) for name in (metric, *reversed(others))]

    @lazy_property
    def leaderboards(self) -> dict[str, pd.DataFrame]:
        """The leaderboard of each metric."""
        return {name: make_leaderboard(self, name) for name in self.metrics}

    @lazy_property
    def pairwise(self) -> pd.DataFrame:
        """A row per metric and pair of models, a minus b."""
        return pd.concat([make_pairwise(one) for one in self.by_metric.values()], ignore_index=True)

    @lazy_property
    def segments(self) -> pd.DataFrame:
        """A row per metric, segment and model: scores, and the difference from the baseline.

        The comparison's test is applied to each segment, corrected for the number of segments and
        models. Max-T needs tests over the same users, and segments have different ones: Holm's
        method replaces it. Whether a difference depends on the segment is tested as in
        `compare_groups`, for all segments and models together.

        Raises
        ------
        InvalidInputError
            The comparison has no segments.
        """
        if (segment_of_user := self.segment_of_user) is None:
            msg = (
                "There are no segments of users' scores. Compare with segments, such as "
                "compare(..., by='activity')."
            )
            raise InvalidInputError(msg)
        if not (names := self.metrics_of_users):
            msg = (
                "Numbers of all lists together are not compared by segment "
                f"({', '.join(self.metrics)}). Add a metric with a score per user, or use by() "
                "of each report."
            )
            raise InvalidInputError(msg)
        parts = []
        with progress_bar(enabled=self.progress) as show:
            for n_done, name in enumerate(names, start=1):
                parts.append(_compare_segments(self.by_metric[name], segment_of_user))
                show("Testing segments", n_done / len(names))
        # labels may be tuples, which from_product would split
        levels: list[Any] = [names, segment_of_user.cat.categories, self.models]
        codes = np.indices([*map(len, levels)]).reshape(3, -1).tolist()
        index = pd.MultiIndex(levels=levels, codes=codes, names=["metric", "segment", "model"])
        return pd.concat(parts).set_axis(index, axis=0)

    @lazy_property
    def optimism(self) -> dict[str, float]:
        """By how much the mean of each search's best model is too good, by its name."""
        result, found = self.first_metric_comparison, {}
        searches = [one.search for one in self.model_scores.values()]
        for search in dict.fromkeys(one for one in searches if one is not None):
            tried = [column for column, one in enumerate(searches) if one == search]
            best = next(one for one in result.columns_by_mean.tolist() if one in tried)
            scores = result.sign * result.scores[:, tried]
            found[result.models[best]] = estimate_optimism(scores, seed=self.testing.seed)
        return found

    @property
    def first_metric_comparison(self) -> MetricComparison:
        """The comparison in the first metric."""
        return self.by_metric[self.metrics[0]]


def _compare_in_metric(compared: ComparedModels, name: str) -> MetricComparison:
    """Return the comparison in one metric."""
    models, column = compared.model_scores, compared.metrics.index(name)
    fields: dict[str, Any] = {
        table: np.column_stack([list_tables(model)[table][:, column] for model in models.values()])
        for table in TABLES
    }
    fields |= {option: getattr(compared, option) for option in _OPTIONS}
    runs = (-1, len(compared.users), len(compared.metrics))  # without runs, all sizes are 0
    each = (model.run_scores.reshape(runs)[:, :, column] for model in models.values())
    fields["runs"] = tuple(each)
    exposures = [one.exposures[column] for one in models.values() if one.exposures]
    if len(exposures) == len(models) and all(one is not None for one in exposures):
        fields["exposures"] = tuple(exposures)
    fields["ranked"] = describe_protocol(compared.signatures[name])
    return MetricComparison(
        name, compared.first_model.measurements[column], tuple(models), **fields
    )


# Tables


def make_leaderboard(compared: ComparedModels, metric: str) -> pd.DataFrame:
    """Return a row per model, by tier, and in each tier the best mean first."""
    result, models = compared.by_metric[metric], compared.model_scores.values()
    order, direction = result.columns_by_mean, result.significant_direction
    models_table, alpha = make_models_table(result), result.testing.alpha
    mean, chance = (models_table[name].to_numpy() for name in ("mean", "chance"))
    first, last = result.ranks
    runs = [model.run_means[:, model.names.index(metric)] for model in models]
    columns = {
        **models_table[["mean", "ci_low", "ci_high", "pooled"]],
        **dict(zip(("pooled_low", "pooled_high"), result.pooled_intervals(alpha), strict=True)),
        "chance": chance,
        "adjusted": adjust_for_chance(mean, chance, result.means("best")),
        **dict(
            zip(("adjusted_low", "adjusted_high"), result.adjusted_intervals(alpha), strict=True)
        ),
        **compare_with_model(result, result.baseline),
        "rank_low": first,
        "rank_high": last,
        "tier": first,
        "letters": ""
        if result.testing.family == "baseline"  # most pairs are not tested
        else assign_letters(len(models), result.pairs, direction != 0, order.tolist()),
        "users": models_table["users"],
        # between folds or seeds
        "spread": [np.std(one, ddof=1) if len(one) > 1 else np.nan for one in runs],
    }
    table = pd.DataFrame(columns, index=models_table.index)
    ranks = ["rank_low", "rank_high", "tier"]
    has_no_mean = table["mean"].isna()  # chance, in a metric that has no chance level
    table[ranks] = table[ranks].astype("Int64").mask(has_no_mean, pd.NA)
    table["letters"] = table["letters"].mask(has_no_mean, "")
    return table.iloc[order].sort_values("tier", kind="stable")


def _compare_segments(result: MetricComparison, segment_of_user: pd.Series[Any]) -> pd.DataFrame:
    codes = segment_of_user.cat.codes.to_numpy()
    n_segments = len(segment_of_user.cat.categories)
    table = pd.concat([_compare_segment(result, codes == code) for code in range(n_segments)])
    chosen = result.testing.corrected_by
    correction = CORRECTIONS["holm"] if chosen.is_max_t else chosen
    table["p_corrected"] = correction.correct(table["p"].to_numpy())
    column = result.models.index(result.baseline)
    gains = subtract_scores(result.scores, result.scores[:, [column]])
    gains[:, column] = np.nan
    bounded, seed = result.measurement.is_bounded, result.testing.seed
    how: dict[str, Any] = {"one_family": True, "both_bounded": bounded, "seed": seed}
    tests = compare_groups(gains, codes, n_segments, **how)
    table["difference_from_others"] = tests.difference.ravel()
    table["p_interaction"] = tests.p_corrected.ravel()
    whole = _compare_segment(result, codes >= 0)
    for prefix in ("", "pooled_"):
        over_all = whole[f"{prefix}difference"].reindex(table.index).to_numpy()
        table[f"{prefix}opposite_to_all"] = table[f"{prefix}difference"] * over_all < 0
    return table


def _compare_segment(result: MetricComparison, users: Flags) -> pd.DataFrame:
    """Return a row per model, over some users; the differences of the baseline are NaN."""
    part, baseline = result.select_users(users), result.baseline
    others = [name for name in part.models if name != baseline]
    pairs = [(part.models.index(name), part.models.index(baseline)) for name in others]
    testing, runs = replace(part.testing, correction="none"), [part.sign * one for one in part.runs]
    tests = compare_pairs(part.sign * part.scores, pairs, testing, runs=runs)
    tests = part.clip_differences(tests)
    columns = ["difference", "low", "high", "d_z", "p"]
    differences = part.restore_sign(tests)[columns].set_axis(others)
    table = make_models_table(part)
    differences.insert(4, "pooled_difference", table["pooled"] - table["pooled"][baseline])
    names = {"low": "difference_low", "high": "difference_high"}
    return table.join(differences.rename(columns=names))
