"""What is counted: each section compares one kind of statement about a sample with the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from populations import MODELS, RUNS
from samples import (
    ALPHA,
    DRAWS,
    Sample,
    contains,
    correct,
    find_better,
    find_probability,
    find_t_interval,
    list_pairs,
    test_groups_by_welch,
)
from scipy import stats

from recsys_ndcg.comparison.verdict import find_roughness
from recsys_ndcg.report.gaps import describe_groups
from recsys_ndcg.significance.effects import CombinedEffect, combine_effects
from recsys_ndcg.significance.groups import compare_groups
from recsys_ndcg.significance.intervals import BOOTSTRAPS, bootstrap_ratios
from recsys_ndcg.significance.moments import Moments
from recsys_ndcg.significance.ranks import find_rank_intervals
from recsys_ndcg.significance.selection import estimate_optimism
from recsys_ndcg.significance.student import power
from recsys_ndcg.significance.testing import TESTS, Testing

if TYPE_CHECKING:
    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.significance.paired import PairResults

POWER = 0.8
DETECTABLE = 2.8  # standard errors: a test of 5 % finds this difference in 80 %
MEAN_D_Z = 0.2
PAIRS = list_pairs(len(MODELS))
NAMES = [*MODELS]
BASELINE, MODEL, POOR = (NAMES.index(one) for one in ("BaselineOnly", "SVD", "KNNBaseline"))
PAIR = [NAMES.index(one) for one in ("PMF", "PMF of 10 epochs")]  # differences are skewed
SOME = 3  # models that get equal means in one section; the others keep theirs
BY_T = [("t", "none"), ("t", "max-T")]
RESAMPLED = [("randomisation", "max-T"), ("bootstrap", "max-T")]
LOGIT = "t, logit scale"
BEFORE = "(before)"  # at the end of a row: nothing is promised
RATED, RECALL = ("rated", "ndcg@10"), ("rated", "recall@5")
CATALOGUE, HIT = ("catalogue", "ndcg@10"), ("catalogue", "hit@10")
CONFIGURATIONS = [(f"item-kNN, {name}", "ndcg@10") for name in ("rated", "catalogue")]
ALGORITHMS = [(f"runs of {name}", "ndcg@10") for name in ("item-kNN", "item means")]
#: a row, and whether it happened: once or several times, or numbers to be averaged
Outcomes = Iterator[tuple[str, Any]]


@dataclass(frozen=True)
class Section:
    """One table: what is counted in which samples, and the promised rate.

    Parameters
    ----------
    title : str
        What happens or not.
    count : callable
        Yields outcomes of a sample. A row that does not apply to a sample has none in it.
    promise : float, optional
        A minimum if it is above 0.5 (coverage, power), else a maximum (errors).
    scores : sequence of (population, metric)
        The samples' populations and metrics.
    sizes : sequence of int
        Users in a sample.
    holds : mapping
        From how many users the promise must hold, by population: otherwise the script fails.
    excused : sequence of str
        Rows that theory promises nothing for.
    too_high : str
        A row that must break the promise, or the counting is broken.
    unit : float
        100 for rates, 1 for numbers.
    share : float
        Of the samples: less than 1 if they take long.
    least : float
        The rate of *rated* samples that a maximum must not be far below: else nothing is found.
    """

    title: str
    count: Callable[[Sample], Outcomes]
    promise: float | None = None
    scores: Sequence[tuple[str, str]] = (RATED, CATALOGUE)
    sizes: Sequence[int] = (50, 200, 1000)
    small: int = 200
    holds: Mapping[str, int] = field(default_factory=lambda: {"rated": 200})
    excused: Sequence[str] = ()
    too_high: str = ""
    unit: float = 100
    share: float = 1
    least: float = 0

    @property
    def heading(self) -> str:
        """The title with the promise."""
        if self.promise is None:
            return self.title
        least = "at least" if self.promise > 0.5 else "at most"
        return f"{self.title}: {least} {100 * self.promise:.0f} %"

    def is_promised(self, row: str) -> bool:
        """Return whether a row has a promise."""
        return self.promise is not None and not row.endswith(BEFORE) and row not in self.excused

    def is_worse(self, rate: float, chance: float = 0.0) -> bool:
        """Return whether a rate is worse than promised by more than 0.01 + chance."""
        promise = self.promise or 0.0
        return (promise - rate if promise > 0.5 else rate - promise) > 0.01 + chance


# Intervals


def _take_parts(sample: Sample, model: int, *, pooled: bool) -> tuple[Floats, Floats, float]:
    """Return numerators and denominators of the sample's users, and the true ratio."""
    top, bottom = sample.population.tables[sample.metric]
    top = top[:, model]
    if not pooled:
        top, bottom = top / bottom, np.ones(len(bottom))
    return top[sample.users], bottom[sample.users], float(top.sum() / bottom.sum())


def _find_interval(
    top: Floats, bottom: Floats, *, few: bool = True, **kinds: bool
) -> tuple[float, float]:
    """Return the interval of a ratio; `few`: whether it allows for few users with a score."""
    moments = Moments.of(bottom[:, None], top[:, None], np.ones((len(top), 1), dtype=bool))
    if not few:
        moments = replace(moments, n_nonzero=moments.count, n_below=moments.count)
    (low,), (high,) = moments.find_interval(1 - ALPHA, **(kinds or {"bounded": True}))
    return float(low), float(high)


def _check_intervals(sample: Sample, *, pooled: bool) -> Outcomes:
    top, bottom, truth = _take_parts(sample, MODEL, pooled=pooled)
    found = {f"Student's t {BEFORE}": find_t_interval(top, bottom)}
    found[LOGIT] = _find_interval(top, bottom)
    how: dict[str, Any] = {"level": 1 - ALPHA, "draws": DRAWS, "seed": sample.number}
    for method in BOOTSTRAPS:
        (low,), (high,) = bootstrap_ratios(top[:, None], bottom[:, None], method=method, **how)
        found[f"bootstrap, {method}"] = low, high
    for method, (low, high) in found.items():
        yield method, [low <= truth <= high] * (not np.isnan(low))


def check_means(sample: Sample) -> Outcomes:
    """Check the intervals of the mean of one model."""
    return _check_intervals(sample, pooled=False)


def check_pooled(sample: Sample) -> Outcomes:
    """Check the intervals of the pooled score of one model."""
    return _check_intervals(sample, pooled=True)


def check_rare_hits(sample: Sample) -> Outcomes:
    """Check the intervals of a model that few users have a hit from."""
    for name, (low, high), truth in _find_rare_hits(sample):
        yield name, low <= truth <= high


def check_few_users(sample: Sample) -> Outcomes:
    """Check the intervals of a mean that few users make: of all with a hit, one in ten keeps it."""
    scores = sample.everyone()[:, POOR].copy()
    hits = np.flatnonzero(scores)
    scores[np.delete(hits, slice(None, None, 10))] = 0
    top, ones = scores[sample.users], np.ones(sample.size)
    for few in (False, True):
        name = "t, logit scale, and the share of users" if few else f"{LOGIT} {BEFORE}"
        low, high = _find_interval(top, ones, few=few)
        has_length = not np.isnan(low)
        yield name, [low <= scores.mean() <= high] * has_length


def check_weighted(sample: Sample) -> Outcomes:
    """Check the intervals of a mean of scores that weights make larger than 1."""
    top, bottom, truth = _take_parts(sample, MODEL, pooled=False)
    low, high = find_t_interval(top, bottom)
    yield f"Student's t {BEFORE}", low <= truth <= high
    yield f"Student's t, ends below 0 {BEFORE}", low < 0
    low, high = _find_interval(top, bottom, nonnegative=True)
    yield "t, logarithmic scale", low <= truth <= high


def check_lengths(sample: Sample) -> Outcomes:
    """Count intervals without a length: of samples in which no user has a hit."""
    for name, (low, high), _ in _find_rare_hits(sample):
        yield name, low == high


def _find_rare_hits(sample: Sample) -> Iterator[tuple[str, tuple[float, float], float]]:
    top, bottom, truth = _take_parts(sample, POOR, pooled=False)
    yield f"Student's t {BEFORE}", find_t_interval(top, bottom), truth
    yield LOGIT, _find_interval(top, bottom), truth


def check_differences(sample: Sample) -> Outcomes:
    """Check the intervals of a difference, the relative difference and d_z."""
    scores = sample.everyone()[:, PAIR]
    apart = scores[:, 0] - scores[:, 1]
    for test in ("t", "randomisation", "bootstrap"):
        found = sample.test(scores[sample.users], [(0, 1)], test)
        yield f"difference, {test}", contains(found, apart.mean())
        if test == "t":
            truth, low = apart.mean() / scores[:, 1].mean(), found.relative_low
            is_inside = (low <= truth) & (truth <= found.relative_high)
            yield "relative, Fieller", is_inside[~np.isnan(low)]
            truth = apart.mean() / apart.std()
            yield "d_z", (found.d_z_low <= truth) & (truth <= found.d_z_high)


def check_all_differences(sample: Sample) -> Outcomes:
    """Check the intervals of all differences."""
    scores = sample.everyone()
    means = scores.mean(axis=0)
    truth = means[PAIRS[:, 0]] - means[PAIRS[:, 1]]
    for test, correction in [*BY_T, ("t", "bonferroni"), *RESAMPLED]:
        found = sample.test(scores[sample.users], PAIRS, test, correction)
        yield f"{test}, {correction}", contains(found, truth).all()


# Tests of two models


def check_equal_means(sample: Sample) -> Outcomes:
    """Test two models with equal means; ties stay ties."""
    scores = sample.everyone()[:, PAIR]
    differs = scores[:, 0] != scores[:, 1]
    shift = np.where(differs, (scores[:, 0] - scores[:, 1]).mean() / differs.mean(), 0.0)
    values = scores[sample.users] - shift[sample.users, None] * [1, 0]
    for test in TESTS:
        yield test, sample.test(values, [(0, 1)], test).p <= ALPHA


def check_swapped(sample: Sample) -> Outcomes:
    """Test two models whose scores are swapped at random for each user."""
    scores = sample.everyone()[:, PAIR][sample.users]
    swapped = sample.random.permuted(scores, axis=1)
    for test in TESTS:
        yield test, sample.test(swapped, [(0, 1)], test).p <= ALPHA


def check_power(sample: Sample) -> Outcomes:
    """Test two models whose difference is the detectable one."""
    scores = sample.everyone()[:, PAIR]
    apart = scores[:, 0] - scores[:, 1]
    size = power(deviation=float(apart.std()), users=sample.size, power=POWER, alpha=ALPHA)
    found = sample.test(scores[sample.users] - [apart.mean() - size, 0], [(0, 1)])
    yield "t", (found.p <= ALPHA) & (found.difference > 0)


def check_gates(sample: Sample) -> Outcomes:
    """Test the worse model of each pair against the better one, with their difference as margin."""
    scores = sample.everyone()
    means = scores.mean(axis=0)
    passed, rough = [], []
    for first, second in PAIRS:
        worse, better = (first, second) if means[first] < means[second] else (second, first)
        margin = float(means[better] - means[worse])
        found = sample.test(scores[sample.users], [(worse, better)], margin=margin)
        passed.append(bool(found.p_not_worse[0] <= ALPHA))
        rough.append(_is_rough(found, 0, margin))
    is_passed, is_rough = np.array(passed), np.array(rough)
    yield f"all; none called rough {BEFORE}", is_passed
    yield "called rough", is_passed[is_rough]
    yield "not called rough", is_passed[~is_rough]


def check_probabilities(sample: Sample) -> Outcomes:
    """Count the pairs whose worse model is said to be less than their difference worse.

    So it is if the probability is at least 95 %.
    """
    scores = sample.everyone()
    means, random = scores.mean(axis=0), sample.random
    found: dict[str, list[bool]] = {"30 users who differ": [], "fewer": [], BEFORE: []}
    for first, second in PAIRS:
        worse, better = (first, second) if means[first] < means[second] else (second, first)
        margin = float(means[better] - means[worse])
        pair = scores[sample.users][:, [worse, better]]
        result = sample.test(pair, [(0, 1)], margin=margin)
        n_different = int(result.wins[0] + result.losses[0])
        if n_different:
            row = "30 users who differ" if n_different >= 30 else "fewer"
            found[row].append(bool(1 - result.probability_worse[0] >= 1 - ALPHA))
            probability = find_probability(pair[:, 0] - pair[:, 1], margin, random)
            found[BEFORE].append(probability >= 1 - ALPHA)
    yield f"users as they are {BEFORE}", np.array(found[BEFORE])
    yield "two users added, fewer than 30 differ", np.array(found["fewer"])
    yield "two users added, at least 30 differ", np.array(found["30 users who differ"])


def count_rough(sample: Sample) -> Outcomes:
    """Count the pairs of models whose p and interval are called rough."""
    found = sample.test(sample.everyone()[sample.users], PAIRS)
    yield f"fewer than 30 users {BEFORE}", sample.size < 30
    row = "fewer than 30 users who differ, or skewness"
    yield row, [_is_rough(found, pair) for pair in range(len(PAIRS))]


def _is_rough(found: PairResults, pair: int, margin: float | None = None) -> bool:
    metric = SimpleNamespace(per_user=True)
    names = {"name": "", "ranked": "", "named_pairs": [("", "")] * len(PAIRS)}
    how = {"testing": Testing(), "metric": metric, "margin": margin}
    result: Any = SimpleNamespace(mean_tests=found, **how, **names)
    return bool(find_roughness(result, pair))


# Tests of many models


def check_any_equal(sample: Sample) -> Outcomes:
    """Test all models with equal means."""
    yield from _find_any(sample, sample.equal(), BY_T)


def check_any_swapped(sample: Sample) -> Outcomes:
    """Test all models, swapped at random for each user."""
    scores = sample.everyone()[sample.users]
    yield from _find_any(sample, sample.random.permuted(scores, axis=1), BY_T + RESAMPLED)


def check_some_equal(sample: Sample) -> Outcomes:
    """Test all models, three of them with equal means, and count findings among these."""
    values = _make_equal(sample.everyone(), SOME)[sample.users]
    yield from _find_any(sample, values, BY_T, (PAIRS < SOME).all(axis=1))


def check_twenty(sample: Sample) -> Outcomes:
    """Test 20 models with equal means."""
    yield from _find_any(sample, sample.equal()[:, :20], BY_T)


def _find_any(
    sample: Sample, values: Floats, tests: Sequence[tuple[str, str]], among: Any = slice(None)
) -> Outcomes:
    """Yield whether any of some pairs is significant."""
    for test, correction in tests:
        found = sample.test(values, list_pairs(values.shape[1]), test, correction)
        for name, p in correct(found, correction):
            yield f"{test}, {name}", (p[among] <= ALPHA).any()


def _make_equal(scores: Floats, some: int) -> Floats:
    """Return scores with equal means of the first models."""
    means = scores.mean(axis=0)
    shift = np.where(np.arange(len(means)) < some, means - means[:some].mean(), 0.0)
    shifted: Floats = scores - shift
    return shifted


def check_ranks(sample: Sample) -> Outcomes:
    """Check the rank intervals of all models."""
    scores = sample.everyone()
    for test, correction in [*BY_T, ("t", "bonferroni")]:
        yield from _check_ranks(sample, scores, test, correction)


def check_many_ranks(sample: Sample) -> Outcomes:
    """Check the rank intervals of 20 and 50 models, half of which have equal means."""
    for count in (20, 50):
        scores = _make_equal(sample.everyone()[:, :count], count // 2)
        for row, is_right in _check_ranks(sample, scores, "t", "none"):
            yield f"{count} models, {row.removeprefix('t, ')}", is_right


def _check_ranks(sample: Sample, scores: Floats, test: str, correction: str) -> Outcomes:
    pairs, means = list_pairs(scores.shape[1]), scores.mean(axis=0).round(12)
    first = 1 + (means > means[:, None]).sum(axis=1)
    last = (means >= means[:, None]).sum(axis=1)  # equal models share all these ranks
    found = sample.test(scores[sample.users], pairs, test, correction)
    for name, p in correct(found, correction):
        low, high = find_rank_intervals(len(means), pairs, find_better(found, p))
        yield f"{test}, {name}", ((low <= first) & (last <= high)).all()


def check_tiers(sample: Sample) -> Outcomes:
    """Count the pairs of different tiers that do not differ significantly."""
    scores = sample.everyone()
    for count in (6, 20)[: 1 + (scores.shape[1] > 6)]:
        pairs = list_pairs(count)
        found = sample.test(scores[sample.users][:, :count], pairs, correction="max-T")
        better = find_better(found, found.p_corrected)
        tier, _ = find_rank_intervals(count, pairs, better)
        yield f"{count} models", better[tier[pairs[:, 0]] != tier[pairs[:, 1]]] == 0


# Families


def check_family_power(sample: Sample) -> Outcomes:
    """Count the models that are found to differ from the baseline, and truly do."""
    for row, p in _test_families(sample, sample.everyone()[sample.users]):
        yield row, p <= ALPHA


def check_family_errors(sample: Sample) -> Outcomes:
    """Count samples in which any model is found to differ from the baseline, but all are equal."""
    for row, p in _test_families(sample, sample.equal()):
        yield row, (p <= ALPHA).any()


def _test_families(sample: Sample, values: Floats) -> Iterator[tuple[str, Floats]]:
    count = min(values.shape[1], 20)
    pairs = list_pairs(count)
    with_baseline = (pairs == BASELINE).any(axis=1)
    for name, tested in (("pairs", slice(None)), ("baseline", with_baseline)):
        found = sample.test(values, pairs[tested], correction="max-T")
        p = found.p_corrected[with_baseline] if name == "pairs" else found.p_corrected
        yield f'{count} models, family="{name}"', p


def check_metrics(sample: Sample) -> Outcomes:
    """Test models that are equal in each of six metrics."""
    values = [sample.equal(metric) for metric in sample.population.tables]
    parts = [sample.test(one, PAIRS, correction="max-T").p_corrected for one in values]
    yield f"a family per metric {BEFORE}", (np.concatenate(parts) <= ALPHA).any()
    pairs = np.concatenate([PAIRS + place * len(MODELS) for place in range(len(values))])
    found = sample.test(np.hstack(values), pairs, correction="max-T")
    yield 'family="metrics"', (found.p_corrected <= ALPHA).any()


# Groups of users, runs, remarks, searches


def check_groups(sample: Sample) -> Outcomes:
    """Compare groups of users drawn by lot, in one model's scores and in a difference of two."""
    scores = sample.everyone()[sample.users]
    columns = np.column_stack([scores[:, MODEL], scores[:, PAIR[0]] - scores[:, PAIR[1]]])
    kinds = {"bounded": [True, False], "both_bounded": [False, True]}
    for count in (3, 10):
        groups = sample.random.integers(0, count, sample.size)
        p = test_groups_by_welch(columns[:, 0], groups, count)
        yield f"{count} groups: Welch, Holm {BEFORE}", (p <= ALPHA).any()
        p = _compare_groups(sample, columns, groups, **kinds)
        for what, one in zip(("", " of a difference"), p.T, strict=True):
            yield f"{count} groups: each with the others{what}", (one <= ALPHA).any()
        p = _compare_groups(sample, columns, groups, pairwise=True, **kinds)
        yield f"{count} groups: all pairs", (p[:, 0] <= ALPHA).any()


def _compare_groups(sample: Sample, values: Floats, groups: Any, **options: Any) -> Floats:
    """Return the corrected p-values."""
    options |= {"draws": 199, "seed": sample.number}  # as often at most 5 % as with more
    return compare_groups(values, groups, int(groups.max()) + 1, **options).p_corrected


def check_small_groups(sample: Sample) -> Outcomes:
    """Compare a few users who vary more or less, and all others, of the same mean."""
    everyone = sample.everyone()
    scores, mean = everyone[sample.users][:, [MODEL]], everyone[:, MODEL].mean()
    swapped = sample.random.permuted(everyone[sample.users][:, PAIR], axis=1)
    apart = swapped[:, [0]] - swapped[:, [1]]  # its mean is 0, and ties stay ties
    for count in (10, 20, 50):
        groups = (np.arange(sample.size) >= count).astype(int)
        is_small = groups[:, None] == 0
        hits = np.where(is_small, sample.random.random(scores.shape) < mean, scores)
        narrow = np.where(is_small, mean + (scores - mean) / 3, scores)
        wide = np.where(is_small, 3 * apart, apart)
        for row, values, bounded in (
            ("with scores of 0 or 1", hits, True),
            ("who vary a third", narrow, True),
            ("whose differences vary three times as much", wide, False),
        ):
            p = _compare_groups(sample, values, groups, bounded=bounded)
            yield f"{count} users {row}", (p <= ALPHA).any()
    groups = np.minimum(np.arange(sample.size) // 20, 3)
    hits = np.where(groups[:, None] < 3, sample.random.random(scores.shape) < mean, scores)
    for row, pairwise in (("each with the others", False), ("all pairs", True)):
        p = _compare_groups(sample, hits, groups, bounded=True, pairwise=pairwise)
        yield f"3 times 20 users with scores of 0 or 1: {row}", (p <= ALPHA).any()
    changes = everyone[:, [BASELINE]] - everyone[:, [POOR]]
    mean, changes = changes.mean(), changes[sample.users]
    for count in (10, 20, 50):
        groups = (np.arange(sample.size) >= count).astype(int)
        few = np.sign(mean) * (sample.random.random(changes.shape) < abs(mean))
        values = np.where(groups[:, None] == 0, few, changes)
        p = _compare_groups(sample, values, groups, both_bounded=True)
        yield f"{count} users, of whom a few change by 1", (p <= ALPHA).any()


def check_group_power(sample: Sample) -> Outcomes:
    """Compare a few users whose scores are higher by what Student's t finds in 80 %."""
    everyone = sample.everyone()[:, [MODEL]]
    scores, deviation = everyone[sample.users], float(everyone.std())
    for count in (20, 50):
        groups = (np.arange(sample.size) >= count).astype(int)
        error = deviation * np.sqrt(1 / count + 1 / (sample.size - count))
        shifted = scores + np.where(groups[:, None] == 0, DETECTABLE * error, 0.0)
        p = stats.ttest_ind(shifted[:count, 0], shifted[count:, 0]).pvalue
        yield f"{count} users: Student's t {BEFORE}", p <= ALPHA
        p = _compare_groups(sample, shifted, groups)
        yield f"{count} users: permuted users and intervals", (p <= ALPHA).any()
        share = np.where(groups[:, None] == 0, 0.5, 0.05)
        changes = (sample.random.random(scores.shape) < share).astype(np.float64)
        p = _compare_groups(sample, changes, groups, both_bounded=True)
        yield f"{count} users, of whom half gain 1, and 5 % of the others", (p <= ALPHA).any()


def check_group_intervals(sample: Sample) -> Outcomes:
    """Check all intervals of the means of groups drawn by lot."""
    scores, mean = sample.everyone()[:, MODEL], sample.everyone()[:, MODEL].mean()
    for count in (2, 5, 20):
        groups = np.arange(sample.size) % count
        table = describe_groups(scores[sample.users], groups, count, 1 - ALPHA, bounded=True)
        yield f"{count} groups", (table["low"].le(mean) & table["high"].ge(mean)).all()


def check_runs(sample: Sample) -> Outcomes:
    """Compare an algorithm with itself, each trained on samples of its own."""
    runs = sample.everyone()[sample.users].T
    for count in (2, 3, 5, 10):
        order = sample.random.permutation(RUNS)
        both = [runs[order[:count]], runs[order[count : 2 * count]]]
        means = np.column_stack([one.mean(axis=0) for one in both])
        for row, options in ((f"users {BEFORE}", {}), ("users and runs", {"runs": both})):
            yield f"{count} runs: {row}", sample.test(means, [(0, 1)], **options).p <= ALPHA


def check_single_runs(sample: Sample) -> Outcomes:
    """Compare two runs of the same algorithm."""
    pair = sample.random.permutation(RUNS)[None, :2]
    yield "users", sample.test(sample.everyone()[sample.users], pair).p <= ALPHA


def check_order(sample: Sample) -> Outcomes:
    """Compare ten equal models in two metrics, and count remarks that these order them differently.

    The former rule needed no significance.
    """
    pairs = list_pairs(10)
    found = [
        sample.test(sample.equal(metric)[:, :10], pairs, correction="max-T")
        for metric in ("ndcg@10", "recall@10")
    ]
    differs = found[0].difference * found[1].difference < 0
    significant = [one.p_corrected <= ALPHA for one in found]
    yield f"any two means {BEFORE}", differs.any()
    yield "two significant differences", (differs & significant[0] & significant[1]).any()


def check_bars(sample: Sample) -> Outcomes:
    """Count the significant pairs whose intervals overlap in the chart."""
    scores = sample.everyone()[sample.users][:, :20]
    means, ones, pairs = scores.mean(axis=0), np.ones(len(scores)), list_pairs(scores.shape[1])
    found = sample.test(scores, pairs, correction="max-T")
    low, high = np.array([_find_interval(one, ones) for one in scores.T]).T
    overlaps = np.maximum(*low[pairs.T]) <= np.minimum(*high[pairs.T])
    is_significant, best = found.p_corrected <= ALPHA, means.argmax()
    yield f"intervals of means, all pairs {BEFORE}", overlaps[is_significant]
    some = is_significant & (pairs == best).any(axis=1)
    yield f"intervals of means, pairs with the best {BEFORE}", overlaps[some]
    sign = np.where(pairs[:, 0] == best, -1, 1)  # of the difference from the best
    ends = means[best] + np.sort(sign * np.array([found.low, found.high]), axis=0)
    inside = (ends[0] <= means[best]) & (means[best] <= ends[1])
    yield "bars of differences from the best", inside[some]


def measure_optimism(sample: Sample) -> Outcomes:
    """Measure by how much the best of 24 configurations is better in the sample than in truth."""
    scores = sample.everyone()[:, :24]
    means = scores.mean(axis=0)
    for row, values in (("as they are", scores), ("equal means", scores - means + means.mean())):
        some = values[sample.users]
        best = some.mean(axis=0).argmax()
        yield f"{row}: truth", some[:, best].mean() - values[:, best].mean()
        yield f"{row}: estimate", estimate_optimism(some, draws=200, seed=sample.number)


def check_data_sets(sample: Sample) -> Outcomes:
    """Check the interval of a mean d_z over data sets, each of other users and of another d_z."""
    for count, tau in product((2, 3, 5), (0.0, 0.05, 0.2)):
        mean = _combine_data_sets(sample, count, tau)
        yield f"{count} data sets, tau = {tau}", mean.low <= MEAN_D_Z <= mean.high


def check_next_data_set(sample: Sample) -> Outcomes:
    """Check the interval of the d_z in one more data set."""
    for count, tau in product((3, 5, 10), (0.0, 0.05, 0.2)):
        mean, truth = _combine_data_sets(sample, count, tau), sample.random.normal(MEAN_D_Z, tau)
        is_inside = mean.prediction_low <= truth <= mean.prediction_high
        yield f"{count} data sets, tau = {tau}", is_inside


def _combine_data_sets(sample: Sample, count: int, tau: float) -> CombinedEffect:
    """Return the mean over data sets of other users, whose d_z has a standard deviation of tau."""
    scores = sample.everyone()[:, PAIR]
    apart = scores[:, 0] - scores[:, 1]
    apart = (apart - apart.mean()) / apart.std()
    found = []
    for d_z in sample.random.normal(MEAN_D_Z, tau, count):
        users = sample.random.integers(0, len(apart), sample.size)
        values = np.column_stack([apart[users] + d_z, np.zeros(sample.size)])
        found.append(sample.test(values, [(0, 1)]))
    effects, errors = (
        np.concatenate([getattr(one, name) for one in found]) for name in ("d_z", "d_z_error")
    )
    return combine_effects(effects, errors**2, ALPHA)


NONE = ("t, none",)
EVERYWHERE = {"rated": 200, "catalogue": 200}
MANY_USERS = (300, 1000)
SECTIONS = [
    Section(
        "The interval of a mean contains the truth",
        check_means,
        1 - ALPHA,
        scores=(RATED, RECALL, CATALOGUE, HIT),
    ),
    Section(
        "The interval of a pooled score contains the truth",
        check_pooled,
        1 - ALPHA,
        scores=(RATED, RECALL, CATALOGUE),
        excused=[f"bootstrap, {method}" for method in BOOTSTRAPS],
    ),
    Section(
        "The interval of a mean contains the truth, but few users have a hit",
        check_rare_hits,
        1 - ALPHA,
        scores=(CATALOGUE, HIT),
        sizes=(30, 50, 100),
        small=20,
        holds={"catalogue": 30},
    ),
    Section(
        "The interval of a mean has no length",
        check_lengths,
        0.0,
        scores=(CATALOGUE, HIT),
        sizes=(30, 50, 100),
        small=20,
        holds={"catalogue": 0},
    ),
    Section(
        "The interval of a mean contains the truth, but one in ten users with a hit keeps it",
        check_few_users,
        1 - ALPHA,
        scores=(CATALOGUE, HIT),
        sizes=(100, 500, 1000),
        small=500,
        holds={"catalogue": 0},
    ),
    Section(
        "The interval of a mean of weighted precision contains the truth",
        check_weighted,
        1 - ALPHA,
        scores=[("weighted", "precision@5")],
        sizes=(30, 100, 300, 1000),
        holds={"weighted": 300},
        excused=[f"Student's t, ends below 0 {BEFORE}"],
    ),
    Section("The interval of a difference contains the truth", check_differences, 1 - ALPHA),
    Section(
        "All 15 intervals of differences contain the truth",
        check_all_differences,
        1 - ALPHA,
        excused=NONE,
    ),
    Section(
        "Two equal means differ significantly",
        check_equal_means,
        ALPHA,
        excused=("wilcoxon", "sign"),
    ),
    Section(
        "Two models swapped at random for each user differ significantly", check_swapped, ALPHA
    ),
    Section("A difference of the detectable size is significant", check_power, POWER),
    Section(
        "A gate passes a model that is worse by the margin",
        check_gates,
        ALPHA,
        sizes=(30, 100, 300, 1000),
        excused=("called rough",),
        share=0.25,
    ),
    Section(
        "A model that is worse by the margin is called less worse, with a probability of 95 %",
        check_probabilities,
        ALPHA,
        sizes=(30, 100, 300),
        share=0.1,
    ),
    Section(
        "p and interval of a pair are called rough",
        count_rough,
        sizes=(30, 100, 300, 1000),
        share=0.25,
    ),
    Section(
        "Any of 15 pairs of equal means is significant",
        check_any_equal,
        ALPHA,
        excused=NONE,
        too_high=NONE[0],
    ),
    Section(
        "Any of 15 pairs of models swapped at random for each user is significant",
        check_any_swapped,
        ALPHA,
        excused=NONE,
    ),
    Section(
        "Three of six means are equal, and any of their 3 pairs is significant",
        check_some_equal,
        ALPHA,
        excused=(*NONE, "t, bh"),
    ),
    Section(
        "Any of 190 pairs of 20 equal means is significant",
        check_twenty,
        ALPHA,
        scores=CONFIGURATIONS,
        sizes=MANY_USERS,
        excused=NONE,
        share=0.5,
    ),
    Section(
        "All 6 rank intervals contain the truth", check_ranks, 1 - ALPHA, excused=(*NONE, "t, bh")
    ),
    Section(
        "Half of the means are equal, and all rank intervals contain the truth",
        check_many_ranks,
        1 - ALPHA,
        scores=CONFIGURATIONS,
        sizes=MANY_USERS,
        excused=[f"{n} models, {one}" for n in (20, 50) for one in ("none", "bh")],
        share=0.25,
    ),
    Section(
        "Two models of different tiers do not differ significantly",
        check_tiers,
        scores=(RATED, CATALOGUE, *CONFIGURATIONS),
        sizes=MANY_USERS,
        share=0.25,
    ),
    Section(
        "A model that differs from the baseline is found",
        check_family_power,
        scores=(RATED, CATALOGUE, *CONFIGURATIONS),
        sizes=MANY_USERS,
        share=0.25,
    ),
    Section(
        "Any of the models is found to differ from the baseline, but all are equal",
        check_family_errors,
        ALPHA,
        scores=(RATED, CATALOGUE, *CONFIGURATIONS),
        sizes=MANY_USERS,
        share=0.5,
    ),
    Section(
        "Any difference in six metrics is significant, but all models are equal",
        check_metrics,
        ALPHA,
        scores=[(one, "six metrics") for one in ("rated", "catalogue")],
        sizes=MANY_USERS,
        share=0.5,
    ),
    Section(
        "Any group of users drawn by lot differs from the others",
        check_groups,
        ALPHA,
        scores=(RATED, CATALOGUE, HIT),
        sizes=MANY_USERS,
        holds=EVERYWHERE,
        share=0.5,
        least=0.03,
    ),
    Section(
        "A few users are found to differ from the others, but only vary more or less",
        check_small_groups,
        0.06,
        scores=(RATED, CATALOGUE, HIT),
        sizes=(200, 1000),
        holds=EVERYWHERE,
        share=0.5,
    ),
    Section(
        "A few users who differ from the others by what Student's t finds in 80 % are found",
        check_group_power,
        0.6,
        sizes=(200, 1000),
        holds=EVERYWHERE,
        share=0.5,
    ),
    Section(
        "All intervals of the means of groups contain the truth",
        check_group_intervals,
        1 - ALPHA,
        scores=(RATED, CATALOGUE, HIT),
        sizes=(200, 1000),
        holds=EVERYWHERE,
        share=0.5,
    ),
    Section(
        "An algorithm is better than itself, each trained in several runs",
        check_runs,
        ALPHA,
        scores=ALGORITHMS,
        sizes=(1000, 2000, 5000),
        small=1000,
    ),
    Section(
        "A single run is better than another of the same algorithm",
        check_single_runs,
        scores=ALGORITHMS,
        sizes=(1000, 2000, 5000),
        small=1000,
    ),
    Section(
        "A remark claims that NDCG and recall order ten equal models differently",
        check_order,
        ALPHA,
        scores=[(name, "two metrics") for name, _ in CONFIGURATIONS],
        sizes=MANY_USERS,
        share=0.5,
    ),
    Section(
        "The intervals of two models that differ significantly overlap in the chart of tiers",
        check_bars,
        0.0,
        scores=(RATED, CATALOGUE, *CONFIGURATIONS),
        sizes=MANY_USERS,
        holds=EVERYWHERE,
        share=0.25,
    ),
    Section(
        "By how much the best of 24 configurations is too good",
        measure_optimism,
        scores=CONFIGURATIONS,
        sizes=(100, 300),
        small=100,
        unit=1,
        share=0.5,
    ),
    Section(
        "The interval of the mean d_z over data sets contains the truth",
        check_data_sets,
        1 - ALPHA,
        sizes=(200, 1000),
    ),
    Section(
        "The interval of the d_z in one more data set contains it",
        check_next_data_set,
        1 - ALPHA,
        sizes=(200, 1000),
        holds={},
        share=0.25,
    ),
]
