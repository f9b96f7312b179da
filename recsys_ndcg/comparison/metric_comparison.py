"""All models compared in one metric: the tests and the tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import (
    Flags,
    Floats,
    Positions,
    ReadOnlyArrays,
    column_counts,
    column_sums,
    divide,
    take_along,
)
from recsys_ndcg.comparison.model_scores import CHANCE
from recsys_ndcg.comparison.swaps import run_swap_test
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.metrics import Metric, OverLists
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.ranking import Exposures, ItemTotals
from recsys_ndcg.scoring import Measurement, adjust_for_chance, nearly_equal
from recsys_ndcg.significance import (
    Moments,
    PairResults,
    bootstrap_intervals,
    clip_ends,
    compare_pairs,
    find_adjusted_interval,
    find_rank_intervals,
)

if TYPE_CHECKING:
    from recsys_ndcg.significance import Testing

#: The columns of pairs, in this order; `_MARGIN_COLUMNS` if there is a margin.
_PAIR_COLUMNS = (
    *("metric", "a", "b", "users", "difference", "ci_low", "ci_high", "interval"),
    *("standard_error", "statistic", "df", "relative", "relative_low", "relative_high"),
    *("sd_difference", "d_z", "d_z_low", "d_z_high", "sd_runs", "runs"),
    *("wins", "ties", "losses", "trivial", "common_language"),
    *("better", "direction", "p", "p_corrected", "detectable"),
)
_MARGIN_COLUMNS = (
    *("p_a_not_worse", "p_b_not_worse", "p_equivalent"),
    *("probability_worse", "probability_equivalent", "probability_better"),
)
_POOLED_COLUMNS = (
    *("pooled_difference", "pooled_low", "pooled_high"),
    *("pooled_p", "pooled_p_corrected"),
)
#: Columns whose names differ from the attributes of `PairResults`.
_RENAMED = {
    "freedom": "df",
    "p_not_worse": "p_a_not_worse",
    "p_not_better": "p_b_not_worse",
}
#: Fields that are tables; the bootstrap resamples the users of the first three.
_RESAMPLED = ("scores", "numerator", "denominator")
TABLES = (*_RESAMPLED, "chance", "best")
_STEP = 1e-6  # relative step of the numerical derivative of `Metric.score`


@dataclass(frozen=True, eq=False)
class MetricComparison(ReadOnlyArrays):
    """The scores of all models in one metric: tables of shape (n_users, n_models).

    Parameters
    ----------
    name : str
        The metric's name.
    measurement : Measurement
        The metric with all choices.
    models : tuple of str
        The columns' names.
    scores, numerator, denominator, chance, best : float64 arrays
        As in `list_tables`, with a column per model.
    testing : Testing
        The test, the correction, the level.
    baseline : str
        The name of the model that others are compared with.
    margin : float, optional
        The largest difference that does not matter.
    progress : bool
        Whether to show a progress bar for tests that take long.
    runs : tuple of float64 arrays, shape (n_runs, n_users)
        The scores of each model in each run; no rows if there is only one run.
    known_tests : PairResults, optional
        The tests of the means, if all metrics were tested together.
    exposures : tuple of Exposures
        The lists of each model, if the metric is a number of all lists together, and they are
        known.
    ranked : str
        What is ranked, in words.
    """

    _axes: ClassVar = {"users models": " ".join(TABLES)}

    name: str
    measurement: Measurement
    models: tuple[str, ...]
    scores: Floats
    numerator: Floats
    denominator: Floats
    chance: Floats
    best: Floats
    testing: Testing
    baseline: str = ""
    margin: float | None = None
    progress: bool = True
    runs: tuple[Floats, ...] = ()
    known_tests: PairResults | None = None
    exposures: tuple[Exposures, ...] = ()
    ranked: str = "rated items"

    @property
    def metric(self) -> Metric:
        """The metric."""
        return self.measurement.metric

    def select_users(self, users: Flags) -> MetricComparison:
        """Return the scores of some users, in a metric of users: the others have exposures."""
        runs = tuple(one[:, users] for one in self.runs)
        return replace(take_along(self, "users", users), runs=runs, known_tests=None)

    def scores_of(self, model: str) -> Floats:
        """Return the users' scores under one of the models."""
        scores: Floats = self.scores[:, self.models.index(model)]
        return scores

    def means(self, table: str = "scores") -> Floats:
        """Return each model's mean of a table, over the users who have a value in it."""
        values = getattr(self, table)
        is_known = ~np.isnan(values)
        total = column_sums(np.where(is_known, values, 0.0))
        return divide(total, column_counts(is_known))

    def intervals(self, alpha: float) -> Floats:
        """Return the interval for each model's mean (`ratio_interval`): shape (2, n_models)."""
        kinds = self.measurement.kinds
        ends = self.score_moments.find_interval(1 - alpha, **kinds if self.metric.per_user else {})
        return clip_ends(ends, **kinds)

    def adjusted_intervals(self, alpha: float) -> Floats:
        """Return the interval of each model's adjusted score: shape (2, n_models).

        NaN if chance is unknown for some users with a score.
        """
        above, room = self.scores - self.chance, self.best - self.chance
        moments, best = Moments.of(room, above, ~np.isnan(above + room)), self.means("best")
        adjusted = adjust_for_chance(self.means(), self.means("chance"), best)
        how = {"level": 1 - alpha, "bounded": self.measurement.is_bounded}
        return np.array(find_adjusted_interval(moments, self.score_moments, adjusted, best, **how))

    @lazy_property
    def score_moments(self) -> Moments:
        """The moments of each model's scores."""
        return Moments.of(None, self.scores, ~np.isnan(self.scores))

    @property
    def columns_by_mean(self) -> Positions:
        """The columns of the models, the best mean first, models without a score last."""
        mean = self.means()
        return np.argsort(np.where(np.isnan(mean), np.inf, -self.sign * mean), kind="stable")

    @lazy_property
    def significant_direction(self) -> Positions:
        """1 for each pair whose first model is significantly better, -1 for the second, or 0."""
        with np.errstate(invalid="ignore"):
            is_significant = self.mean_tests.p_corrected <= self.testing.alpha
        direction = np.nan_to_num(self.mean_tests.direction)
        return np.where(is_significant, direction, 0).astype(np.int64)

    def restore_sign(self, results: PairResults) -> pd.DataFrame:
        """Return test results as a table, with differences of the metric itself.

        Tests are of sign · score, so that more is better for every metric.

        Parameters
        ----------
        results : PairResults
            The results; a positive difference means that the first model is better.
        """
        arrays = dict(vars(results))
        if self.sign < 0:
            for low, high in (("low", "high"), ("d_z_low", "d_z_high")):
                arrays |= {low: -arrays[high], high: -arrays[low]}
            of_means = ["statistic"] if self.testing.test_kind.is_test_of_mean else []
            arrays |= {name: -arrays[name] for name in ("difference", "d_z", *of_means)}
        return pd.DataFrame(arrays).rename(columns=_RENAMED)

    @property
    def sign(self) -> int:
        """1 if more is better, -1 if less is better, as for errors."""
        return 1 if self.metric.greater_is_better else -1

    @lazy_property
    def pairs(self) -> Positions:
        """The columns of both models of each tested pair, in the order of the models."""
        return list_tested_pairs(self.models, self.baseline, self.testing.family)[0]

    @lazy_property
    def named_pairs(self) -> list[tuple[str, str]]:
        """The names of both models of each tested pair."""
        return [(self.models[a], self.models[b]) for a, b in self.pairs.tolist()]

    @lazy_property
    def has_chance(self) -> Flags:
        """Whether one of a pair's models is chance, although there are two other models."""
        return list_tested_pairs(self.models, self.baseline, self.testing.family)[1]

    @property
    def families(self) -> list[Positions]:
        """The pairs that are corrected for each other; those with chance are a family apart."""
        return _split_families(self.has_chance)

    @property
    def intervals_agree(self) -> bool:
        """Whether the interval of a difference excludes 0 exactly if it is significant."""
        is_same = self.testing.corrected_by.is_simultaneous or self.testing.correction == "none"
        is_same |= bool(self.is_alone.all())
        return is_same and self.testing.test_kind.is_test_of_mean and not self.swaps_lists

    @property
    def is_alone(self) -> Flags:
        """Whether each pair is the only test of its family."""
        sizes = np.bincount(self.has_chance, minlength=2)
        return np.asarray((sizes[self.has_chance.astype(int)] == 1) & (self.known_tests is None))

    @property
    def ranks(self) -> tuple[Positions, Positions]:
        """The first and the last rank of each model among the models, without chance."""
        n_models, direction, apart = len(self.models), self.significant_direction, self.has_chance
        low, high = find_rank_intervals(n_models, self.pairs[~apart], direction[~apart])
        if apart.any():
            own = find_rank_intervals(n_models, self.pairs[apart], direction[apart])
            chance = self.models.index(CHANCE)
            high -= 1
            low[chance], high[chance] = own[0][chance], own[1][chance]
        return low, high

    def count_trivial(self) -> Positions:
        """Return the number of ties of each pair that any order of the items would have had."""
        is_trivial = nearly_equal(self.best, self.chance)
        a, b = self.pairs.T
        is_tie = nearly_equal(self.scores[:, a], self.scores[:, b])
        return np.asarray((is_trivial[:, a] & is_trivial[:, b] & is_tie).sum(axis=0))

    @property
    def swaps_lists(self) -> bool:
        """Whether the test swaps the models' lists: of numbers of all lists, if they are known."""
        return bool(self.exposures) and self.testing.test == "randomisation"

    def measure_totals(self, totals: ItemTotals) -> float:
        """Return sign · the number of some sums of all lists, of which more is better."""
        assert isinstance(self.metric, OverLists), "only these have exposures"  # noqa: S101
        return self.sign * self.metric.value(totals, self.measurement.convention)

    @lazy_property
    def mean_tests(self) -> PairResults:
        """The tests of the means of sign · score, of which more is better."""
        return test_metrics([self])[0] if self.known_tests is None else self.known_tests

    def clip_differences(self, results: PairResults) -> PairResults:
        """Return results whose intervals do not leave the range of differences, if there is one."""
        if not self.measurement.is_bounded:
            return results
        return replace(results, low=results.low.clip(min=-1), high=results.high.clip(max=1))

    @lazy_property
    def pooled_tests(self) -> PairResults:
        """The tests of the pooled scores, from the users' linearised parts.

        They are corrected in this metric alone, and have only users as units.
        """
        is_defined: Flags = (self.denominator != 0).any(axis=1)
        values = np.where(is_defined[:, None], _linearise_pooled(self, is_defined), np.nan)
        of_users: dict[str, Any] = {"runs": (), "exposures": (), "margin": None}
        pooled = replace(self, name=f"pooled {self.name}", scores=values, **of_users)
        return test_metrics([pooled])[0]

    @lazy_property
    def pooled(self) -> Floats:
        """The pooled score of each model, NaN if all denominators are 0."""
        return self.metric.score(self.ratio)

    @property
    def ratio(self) -> Floats:
        """The sum of the numerators over the sum of the denominators, of each model."""
        return divide(column_sums(self.numerator), column_sums(self.denominator))

    def pooled_intervals(self, alpha: float) -> Floats:
        """Return the interval of each model's pooled score (`ratio_interval`)."""
        moments = Moments.of(self.denominator, self.numerator, self.denominator != 0)
        ends = moments.find_interval(1 - alpha, **self.measurement.kinds)
        return np.array([self.metric.score(end) for end in ends])


def _linearise_pooled(result: MetricComparison, is_defined: Flags) -> Floats:
    r"""Return a number per user and model whose mean over users is the model's pooled score.

    .. math:: f(r) + f'(r) \frac{n_i - r d_i}{\bar d}

    with r the ratio of the sums, and f the function that turns a ratio into a score: the square
    root for RMSE, else the identity (Cochran 1977, Sampling Techniques, chapter 6). If a user's
    denominator is 0 in a model's column, the fraction is 0 there.
    `is_defined`: the users whose denominator is not 0 in some model.
    """
    ratio = result.ratio
    mean = column_sums(result.denominator) / max(int(is_defined.sum()), 1)
    rest = result.numerator - ratio * result.denominator
    parts = divide(rest, mean, np.broadcast_to(mean != 0, rest.shape))
    values: Floats = result.metric.score(ratio) + _compute_slope(result.metric, ratio) * parts
    return values


def _compute_slope(metric: Metric, ratio: Floats) -> Any:
    """Return the derivative of the score with respect to the ratio."""
    if type(metric).score is Metric.score:
        return 1.0
    step = _STEP * np.where(ratio == 0, 1.0, np.abs(ratio))
    score = metric.score
    return (score(ratio + step) - score(ratio - step)) / (2 * step)


def list_tested_pairs(models: Sequence[str], baseline: str, family: str) -> tuple[Positions, Flags]:
    """Return the columns of each tested pair, and whether it is with chance, a family apart."""
    pairs = np.array([*combinations(range(len(models)), 2)], dtype=np.int64).reshape(-1, 2)
    if family == "baseline":
        pairs = pairs[(pairs == models.index(baseline)).any(axis=1)]
    if CHANCE not in models or len(models) < 3:
        return pairs, np.zeros(len(pairs), dtype=bool)
    return pairs, (pairs == models.index(CHANCE)).any(axis=1)


def test_metrics(results: Sequence[MetricComparison]) -> list[PairResults]:
    """Test the means of all pairs of models in one metric, or in several that are one family.

    Parameters
    ----------
    results : sequence of MetricComparison
        Of the same users and models; more of each sign · score is better.

    Returns
    -------
    list of PairResults
        The results in each metric.
    """
    first, n_models = results[0], len(results[0].models)
    scores = np.hstack([one.sign * one.scores for one in results])
    runs = [one.sign * run for one in results for run in one.runs]
    pairs = np.concatenate([one.pairs + place * n_models for place, one in enumerate(results)])
    families = _split_families(np.concatenate([one.has_chance for one in results]))
    # swaps of lists give only p, and the t test the intervals
    how, parts = replace(first.testing, test="t") if first.swaps_lists else first.testing, []
    is_slow = first.progress and first.testing.test_kind.is_resampling
    with progress_bar(enabled=is_slow) as show:
        advance = partial(show, f"Testing {', '.join(one.name for one in results)}")
        options: dict[str, Any] = {"margin": first.margin, "runs": runs, "show": advance}
        for family in families:
            part = compare_pairs(scores, pairs[family], how, **options)
            if first.swaps_lists:
                part = run_swap_test(
                    part,
                    first.exposures,
                    pairs=pairs[family].tolist(),
                    value=first.measure_totals,
                    how=first.testing,
                    show=advance,
                )
            parts.append(part)
    joined, n_pairs = PairResults.join(parts, families), len(first.pairs)
    each = [joined.take(slice(n, n + n_pairs)) for n in range(0, len(pairs), n_pairs)]
    return [one.clip_differences(found) for one, found in zip(results, each, strict=True)]


def _split_families(has_chance: Flags) -> list[Positions]:
    """Return the places of the pairs with chance, and of the others, if there are any."""
    return [np.flatnonzero(has_chance == side) for side in dict.fromkeys(has_chance.tolist())]


# Tables


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
        tables = (np.hstack([getattr(one, name) for one in by_metric]) for name in _RESAMPLED)
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
    """Return a row per tested pair of models: a minus b, in the units of the metric."""
    tests = result.restore_sign(result.mean_tests)
    tests = tests.rename(columns={"low": "ci_low", "high": "ci_high"})
    pooled = result.restore_sign(result.pooled_tests).add_prefix("pooled_")
    models = pd.DataFrame(result.named_pairs, columns=["a", "b"])
    sides = zip(result.significant_direction.tolist(), result.named_pairs, strict=True)
    better = [(None, one, other)[direction] for direction, (one, other) in sides]
    is_simultaneous = result.is_alone | result.testing.corrected_by.is_simultaneous
    is_simultaneous &= result.testing.test_kind.is_test_of_mean
    trivial = result.count_trivial()
    table = pd.concat([models, tests, pooled], axis=1).assign(
        metric=result.name,
        interval=np.where(is_simultaneous, "simultaneous", "per pair").astype(object),
        ties=tests["ties"] - trivial,
        trivial=trivial,
        common_language=(tests["wins"] + tests["ties"] / 2) / tests["users"],
        better=pd.Series(better, dtype=object),
    )
    if not result.metric.per_user:  # no user wins or loses
        table[["wins", "ties", "losses", "trivial"]], table["common_language"] = 0, np.nan
    with_margin = () if result.margin is None else _MARGIN_COLUMNS
    return table[[*_PAIR_COLUMNS, *with_margin, *_POOLED_COLUMNS]]


def compare_with_model(result: MetricComparison, other: str) -> pd.DataFrame:
    """Return each model's difference from another, its p, and the users won and lost."""
    column = result.models.index(other)
    tested = np.flatnonzero((result.pairs == column).any(axis=1))
    is_first = result.pairs[tested, 0] == column  # the difference is the other's minus the model's
    tests, trivial = result.restore_sign(result.mean_tests).iloc[tested], result.count_trivial()
    columns = {
        "difference": np.where(is_first, -1.0, 1.0) * tests["difference"],
        "difference_low": np.where(is_first, -tests["high"], tests["low"]),
        "difference_high": np.where(is_first, -tests["low"], tests["high"]),
        "p_corrected": tests["p_corrected"],
        "won": np.where(is_first, tests["losses"], tests["wins"]),
        "tied": tests["ties"] - trivial[tested],
        "lost": np.where(is_first, tests["wins"], tests["losses"]),
        "trivial": trivial[tested],
    }
    table, counts = pd.DataFrame(columns), ["won", "tied", "lost", "trivial"]
    # against chance, in a metric that has no chance level; or no user wins or loses
    is_unknown = (tests["users"] == 0) | (not result.metric.per_user)
    table[counts] = table[counts].astype("Int64").mask(is_unknown)
    table = table.set_axis(result.pairs[tested].sum(axis=1) - column)
    return table.reindex(range(len(result.models))).set_axis([*result.models])
