"""All models compared in one metric: the tests and the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Positions,
    ReadOnlyArrays,
    column_norms,
    column_sums,
    divide,
)
from recsys_ndcg.comparison.swaps import run_swap_test
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.metrics import Metric, OverLists
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.ranking import Exposures
from recsys_ndcg.scoring import adjust_for_chance, subtract_scores
from recsys_ndcg.significance import (
    CORRECTIONS,
    PairResults,
    assign_letters,
    bootstrap_intervals,
    compare_groups,
    compare_pairs,
    find_rank_intervals,
    mean_interval,
    ratio_interval,
)

if TYPE_CHECKING:
    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.significance import Testing

#: Arrays of `PairResults` that become columns, in this order.
_PAIR_COLUMNS = (
    "users",
    "difference",
    "low",
    "high",
    "deviation",
    "effect",
    "wins",
    "ties",
    "losses",
)
_POOLED_COLUMNS = ("difference", "low", "high", "p", "p_corrected")
_MARGIN_COLUMNS = ("p_not_worse", "p_not_better", "p_equivalent")
#: Their names as columns, if different.
_RENAMED = {"p_not_worse": "p_a_not_worse", "p_not_better": "p_b_not_worse"}
#: Fields that are tables, and options that are the same as in the comparison.
_TABLES = ("scores", "numerator", "denominator", "chance", "best")
_OPTIONS = ("testing", "margin", "progress")
_STEP = 1e-6  # relative step of the numerical derivative of `Metric.score`


@dataclass(frozen=True, eq=False)
class MetricComparison(ReadOnlyArrays):
    """The scores of all models in one metric: tables of shape (n_users, n_models).

    Parameters
    ----------
    name : str
        The metric's name.
    metric : Metric
        The metric.
    models : tuple of str
        The columns' names.
    scores, numerator, denominator, chance, best : float64 arrays
        As in `ModelScores.tables`, with a column per model.
    testing : Testing
        The test, the correction, the level.
    margin : float, optional
        The largest difference that does not matter.
    progress : bool
        Whether to show a progress bar for tests that take long.
    exposures : tuple of Exposures
        The lists of each model, if the metric is a number of all lists together, and they are
        known.
    convention : Convention
        All choices.
    """

    name: str
    metric: Metric
    models: tuple[str, ...]
    scores: Floats
    numerator: Floats
    denominator: Floats
    chance: Floats
    best: Floats
    testing: Testing
    margin: float | None = None
    progress: bool = True
    exposures: tuple[Exposures, ...] = ()
    convention: Convention = field(default_factory=Convention)

    @classmethod
    def from_comparison(cls, comparison: Comparison, name: str) -> MetricComparison:
        """Take one metric of a comparison."""
        models, column = comparison.model_scores, comparison.metrics.index(name)
        fields: dict[str, Any] = {
            table: np.column_stack([model.tables[table][:, column] for model in models.values()])
            for table in _TABLES
        }
        fields |= {option: getattr(comparison, option) for option in _OPTIONS}
        exposures = [one.exposures[column] for one in models.values() if one.exposures]
        if len(exposures) == len(models) and all(one is not None for one in exposures):
            fields["exposures"] = tuple(exposures)
        fields["convention"] = comparison.first_model.measurements[column].convention
        return cls(name, comparison.first_model.metrics[column], tuple(models), **fields)

    def select_users(self, users: Flags) -> MetricComparison:
        """Return the scores of some users."""
        tables = {table: getattr(self, table)[users] for table in _TABLES}
        exposures = tuple(one.take(users) for one in self.exposures)
        return replace(self, exposures=exposures, **tables)

    def scores_of(self, model: str) -> Floats:
        """Return the users' scores under one of the models."""
        scores: Floats = self.scores[:, self.models.index(model)]
        return scores

    def means(self, table: str = "scores") -> Floats:
        """Return each model's mean of a table, over the users who have a value in it."""
        values = getattr(self, table)
        is_known = ~np.isnan(values)
        total = column_sums(np.where(is_known, values, 0.0))
        return divide(total, is_known.sum(axis=0))

    def intervals(self, alpha: float) -> Floats:
        """Return Student's t interval for each model's mean: shape (2, n_models)."""
        is_known, mean = ~np.isnan(self.scores), self.means()
        norms = column_norms(np.where(is_known, self.scores - mean, 0.0))
        return np.array(mean_interval(is_known.sum(axis=0), mean, norms, 1 - alpha))

    @property
    def columns_by_mean(self) -> Positions:
        """The columns of the models, the best mean first, models without a score last."""
        mean = self.means()
        return np.argsort(np.where(np.isnan(mean), np.inf, -self.sign * mean), kind="stable")

    @property
    def significant_direction(self) -> Positions:
        """1 for each pair whose first model is significantly better, -1 for the second, or 0."""
        with np.errstate(invalid="ignore"):
            is_significant = self.mean_tests.p_corrected <= self.testing.alpha
        return np.where(is_significant, np.nan_to_num(self.mean_tests.direction), 0).astype(
            np.int64
        )

    def restore_sign(self, results: PairResults, names: Sequence[str]) -> pd.DataFrame:
        """Return test results as a table, with differences of the metric itself.

        Tests are of sign · score, so that more is better for every metric.

        Parameters
        ----------
        results : PairResults
            The results; a positive difference means that the first model is better.
        names : sequence of str
            The arrays that become columns.
        """
        arrays = dict(vars(results))
        if self.sign < 0:
            arrays |= {"low": -results.high, "high": -results.low}
            arrays |= {name: -arrays[name] for name in ("difference", "effect")}
        return pd.DataFrame({name: arrays[name] for name in names}).rename(columns=_RENAMED)

    @property
    def sign(self) -> int:
        """1 if more is better, -1 if less is better, as for errors."""
        return 1 if self.metric.greater_is_better else -1

    @property
    def pairs(self) -> Positions:
        """The columns of both models of each pair, in the order of the models."""
        return np.array([*combinations(range(len(self.models)), 2)], dtype=np.int64).reshape(-1, 2)

    @property
    def named_pairs(self) -> list[tuple[str, str]]:
        """The names of both models of each pair."""
        return [*combinations(self.models, 2)]

    @property
    def swaps_lists(self) -> bool:
        """Whether the test swaps the models' lists: of numbers of all lists, if they are known."""
        return bool(self.exposures) and self.testing.test == "randomisation"

    @lazy_property
    def mean_tests(self) -> PairResults:
        """The tests of the means of sign · score, of which more is better."""
        if not self.swaps_lists:
            return self._test_pairs(self.scores, self.name, self.margin)
        metric, convention = self.metric, self.convention
        assert isinstance(metric, OverLists), "only these have exposures"  # noqa: S101
        by_t = replace(self.testing, test="t")
        results = compare_pairs(self.sign * self.scores, self.pairs, by_t, margin=self.margin)
        with progress_bar(enabled=self.progress) as show:
            return run_swap_test(
                results,
                self.exposures,
                pairs=[(a, b) for a, b in self.pairs.tolist()],
                value=lambda totals: self.sign * metric.value(totals, convention),
                how=self.testing,
                show=partial(show, f"Testing {self.name}"),
            )

    @lazy_property
    def pooled_tests(self) -> PairResults:
        """The tests of the pooled scores, from the users' linearised parts."""
        is_defined: Flags = (self.denominator != 0).any(axis=1)
        values = np.where(is_defined[:, None], self._linearise_pooled(is_defined), np.nan)
        return self._test_pairs(values, f"pooled {self.name}")

    def _test_pairs(self, values: Floats, name: str, margin: float | None = None) -> PairResults:
        with progress_bar(enabled=self.progress and self.testing.test_kind.is_resampling) as show:
            advance = partial(show, f"Testing {name}")
            scores = self.sign * values
            return compare_pairs(scores, self.pairs, self.testing, margin=margin, show=advance)

    @lazy_property
    def pooled(self) -> Floats:
        """The pooled score of each model, NaN if all denominators are 0."""
        return self.metric.score(self._ratio)

    @property
    def _ratio(self) -> Floats:
        top, bottom = column_sums(self.numerator), column_sums(self.denominator)
        return divide(top, bottom)

    def pooled_intervals(self, alpha: float) -> Floats:
        """Return the delta-method interval of each model's pooled score: shape (2, n_models)."""
        is_defined = self.denominator != 0
        count, ratio = is_defined.sum(axis=0), self._ratio
        mean = column_sums(self.denominator) / np.maximum(count, 1)
        rest = column_norms(self.numerator - ratio * self.denominator)
        ends = ratio_interval(count, ratio, mean, rest, 1 - alpha)
        return np.array([self.metric.score(end) for end in ends])

    def _linearise_pooled(self, is_defined: Flags) -> Floats:
        r"""Return a number per user and model whose mean over users is the model's pooled score.

        .. math:: f(r) + f'(r) \frac{n_i - r d_i}{\bar d}

        with r the ratio of the sums, and f the function that turns a ratio into a score: the square
        root for RMSE, else the identity (Cochran 1977, Sampling Techniques, chapter 6). If a user's
        denominator is 0 in a model's column, the fraction is 0 there.
        `is_defined`: the users whose denominator is not 0 in some model.
        """
        ratio = self._ratio
        mean = column_sums(self.denominator) / max(int(is_defined.sum()), 1)
        rest = self.numerator - ratio * self.denominator
        parts = divide(rest, mean, np.broadcast_to(mean != 0, rest.shape))
        values: Floats = self.metric.score(ratio) + self._compute_slope(ratio) * parts
        return values

    def _compute_slope(self, ratio: Floats) -> Any:
        """Return the derivative of the score with respect to the ratio."""
        if type(self.metric).score is Metric.score:
            return 1.0
        step = _STEP * np.where(ratio == 0, 1.0, np.abs(ratio))
        score = self.metric.score
        return (score(ratio + step) - score(ratio - step)) / (2 * step)


# Tables


def make_leaderboard(comparison: Comparison, metric: str) -> pd.DataFrame:
    """Return a row per model, by tier, and in each tier the best mean first."""
    result, models = comparison.by_metric[metric], comparison.model_scores.values()
    order, direction = result.columns_by_mean, result.significant_direction
    models_table = make_models_table(result)
    pooled_low, pooled_high = result.pooled_intervals(result.testing.alpha)
    chance, n_models = models_table["chance"].to_numpy(), len(models)
    first, last = find_rank_intervals(n_models, result.pairs, direction)
    table = models_table[["mean", "ci_low", "ci_high", "pooled"]].assign(
        pooled_low=pooled_low,
        pooled_high=pooled_high,
        chance=chance,
        adjusted=adjust_for_chance(models_table["mean"].to_numpy(), chance, result.means("best")),
        **_count_wins(result, comparison.baseline),
        rank_low=first,
        rank_high=last,
        tier=first,
        letters=assign_letters(n_models, result.pairs, direction != 0, order.tolist()),
        users=models_table["users"],
        spread=[
            _compute_spread(model.run_means[:, model.index_of_metric(metric)]) for model in models
        ],
    )
    return table.iloc[order].sort_values("tier", kind="stable")


def make_models_table(result: MetricComparison) -> pd.DataFrame:
    """Return each model's number of users, means, intervals and chance level."""
    low, high = result.intervals(result.testing.alpha)
    columns = {
        "users": (~np.isnan(result.scores)).sum(axis=0),
        "mean": result.means(),
        "ci_low": low,
        "ci_high": high,
        "pooled": result.pooled,
        "chance": result.means("chance"),
    }
    return pd.DataFrame(columns, index=pd.Index(result.models, name="model"))


def make_intervals(
    by_metric: Sequence[MetricComparison], level: float, method: str, **options: Any
) -> pd.DataFrame:
    """Return the intervals of every metric and model.

    They are from Student's t and the delta method, or from the same resampled users for all.
    """
    if method == "t":
        ends = [[*one.intervals(1 - level), *one.pooled_intervals(1 - level)] for one in by_metric]
    else:
        tables = (
            np.hstack([getattr(one, name) for one in by_metric])
            for name in ("scores", "numerator", "denominator")
        )
        resampled = bootstrap_intervals(*tables, level=level, method=method, **options)
        parts = np.split(np.array(resampled), len(by_metric), axis=1)
        ends = [
            [*part[:2], *map(result.metric.score, part[2:])]
            for result, part in zip(by_metric, parts, strict=True)
        ]
    names = [[one.name for one in by_metric], by_metric[0].models]
    index = pd.MultiIndex.from_product(names, names=["metric", "model"])
    columns = ["mean_low", "mean_high", "pooled_low", "pooled_high"]
    return pd.DataFrame(np.concatenate(ends, axis=1).T, index=index, columns=columns)


def make_pairwise(result: MetricComparison) -> pd.DataFrame:
    """Return a row per pair of models: a minus b, in the units of the metric."""
    margin_columns = () if result.margin is None else _MARGIN_COLUMNS
    tests = result.restore_sign(
        result.mean_tests, (*_PAIR_COLUMNS, "p", "p_corrected", "detectable", *margin_columns)
    )
    tests = tests.rename(columns={"low": "ci_low", "high": "ci_high"})
    if not result.metric.per_user:
        tests[["wins", "ties", "losses"]] = 0
    pooled = result.restore_sign(result.pooled_tests, _POOLED_COLUMNS).add_prefix("pooled_")
    models = pd.DataFrame(result.named_pairs, columns=["a", "b"])
    table = pd.concat([models, tests, pooled], axis=1)
    is_simultaneous = result.testing.corrected_by.is_simultaneous or len(table) == 1
    is_simultaneous &= result.testing.test_kind.is_test_of_mean
    table.insert(0, "metric", result.name)
    interval = "simultaneous" if is_simultaneous else "per pair"
    table.insert([*table].index("deviation"), "interval", interval)
    return table


def _count_wins(result: MetricComparison, baseline: str) -> pd.DataFrame:
    """Count the users for whom each model is better than the baseline, equal, or worse."""
    tests, names = result.mean_tests, ["won", "tied", "lost"]
    counts = pd.DataFrame(index=[*result.models], columns=names, dtype="Int64")
    if not result.metric.per_user:  # no user wins or loses
        return counts
    for pair, (a, b) in enumerate(result.named_pairs):
        outcome = [tests.wins[pair], tests.ties[pair], tests.losses[pair]]
        if b == baseline:
            counts.loc[a] = outcome
        elif a == baseline:
            counts.loc[b] = outcome[::-1]
    return counts


def _compute_spread(runs: Floats) -> float:
    """Return the standard deviation between folds or seeds, NaN if there is only one."""
    return float(np.std(runs, ddof=1)) if len(runs) > 1 else np.nan


def make_segments(comparison: Comparison) -> pd.DataFrame:
    """Return a row per metric, segment and model: scores, and the difference from the baseline.

    The comparison's test is applied to each segment, corrected for the number of segments and
    models. Max-T needs tests over the same users, and segments have different ones: Holm's method
    replaces it. Whether a difference depends on the segment is tested by permuted segments of the
    users, with max-T for all segments and models.

    Raises
    ------
    InvalidInputError
        The comparison has no segments.
    """
    segment_of_user = comparison.segment_of_user
    by_metric = {name: comparison.by_metric[name] for name in comparison.metrics_of_users}
    if segment_of_user is not None and not by_metric:
        msg = (
            f"{', '.join(comparison.metrics)} are numbers of all lists together, which are not "
            "compared by segment. Add a metric with a score per user, or use by() of each report."
        )
        raise InvalidInputError(msg)
    if segment_of_user is None:
        msg = (
            "There are no segments of users' scores. Compare with segments, such as "
            "compare(..., by='activity')."
        )
        raise InvalidInputError(msg)
    parts = []
    with progress_bar(enabled=comparison.progress) as show:
        for n_done, result in enumerate(by_metric.values(), start=1):
            parts.append(_compare_segments(result, segment_of_user, comparison.baseline))
            show("Testing segments", n_done / len(by_metric))
    # labels may be tuples, which from_product would split
    levels: list[Any] = [[*by_metric], segment_of_user.cat.categories, comparison.models]
    codes = np.indices([*map(len, levels)]).reshape(3, -1).tolist()
    index = pd.MultiIndex(levels=levels, codes=codes, names=["metric", "segment", "model"])
    return pd.concat(parts).set_axis(index, axis=0)


def _compare_segments(
    result: MetricComparison, segment_of_user: pd.Series[Any], baseline: str
) -> pd.DataFrame:
    codes = segment_of_user.cat.codes.to_numpy()
    parts = [
        _compare_segment(result, codes == code, baseline)
        for code in range(len(segment_of_user.cat.categories))
    ]
    table = pd.concat(parts)
    chosen = result.testing.corrected_by
    correction = CORRECTIONS["holm"] if chosen.is_max_t else chosen
    table["p_corrected"] = correction.correct(table["p"].to_numpy())
    interaction = _test_interaction(result, codes, len(parts), baseline)
    table["difference_from_others"], table["p_interaction"] = interaction
    whole = _compare_segment(result, codes >= 0, baseline)
    for prefix in ("", "pooled_"):
        over_all = whole[f"{prefix}difference"].reindex(table.index).to_numpy()
        table[f"{prefix}opposite_to_all"] = table[f"{prefix}difference"] * over_all < 0
    return table


def _test_interaction(
    result: MetricComparison, codes: Any, n_segments: int, baseline: str
) -> tuple[Floats, Floats]:
    """Return each difference from the baseline minus that of the other segments, and p, by row."""
    column = result.models.index(baseline)
    differences = subtract_scores(result.scores, result.scores[:, [column]])
    differences[:, column] = np.nan
    tests = compare_groups(
        differences, codes, n_segments, seed=result.testing.seed, one_family=True
    )
    return tests.difference.ravel(), tests.p_corrected.ravel()


def _compare_segment(result: MetricComparison, users: Flags, baseline: str) -> pd.DataFrame:
    """Return a row per model, over some users; the differences of the baseline are NaN."""
    part = result.select_users(users)
    others = [name for name in part.models if name != baseline]
    pairs = [(part.models.index(name), part.models.index(baseline)) for name in others]
    testing = replace(part.testing, correction="none")
    tests = compare_pairs(part.sign * part.scores, pairs, testing)
    columns = ["difference", "low", "high", "effect", "p"]
    differences = part.restore_sign(tests, columns).set_axis(others)
    table = make_models_table(part)
    differences.insert(4, "pooled_difference", table["pooled"] - table["pooled"][baseline])
    names = {"low": "difference_low", "high": "difference_high"}
    return table.join(differences.rename(columns=names))
