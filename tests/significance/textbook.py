"""Tests of paired differences as textbooks write them: slow, plain, and of nothing of ours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, permutations, product
from statistics import stdev

from scipy import optimize, stats

Numbers = list[float]
Table = list[Numbers]
EQUAL = 1e-9


def differences(table: Table, first: int, second: int) -> Numbers:
    """Return the differences of the users with a score in both, without their last digits."""
    found = []
    for row in table:
        a, b = row[first], row[second]
        if not math.isnan(a) and not math.isnan(b):
            found.append(0.0 if abs(a - b) <= 1e-12 * max(abs(a), abs(b)) else a - b)
    return found


def all_pairs(models: int) -> list[tuple[int, int]]:
    """Return every two models."""
    return list(combinations(range(models), 2))


def z(values: Sequence[float]) -> float:
    """Return |Σd| / √Σd²."""
    length = math.sqrt(math.fsum(one * one for one in values))
    return abs(math.fsum(values)) / length if length else 0.0


def sign_flips(table: Table) -> tuple[Numbers, Numbers]:
    """Return the p-values of all pairs over all signs of the users, and of the largest z."""
    columns = [differences(table, *pair) for pair in all_pairs(len(table[0]))]
    observed = [z(column) for column in columns]
    drawn = [
        [z([s * d for s, d in zip(signs, column, strict=True)]) for column in columns]
        for signs in product((1, -1), repeat=len(table))
    ]
    return p_values(observed, drawn)


def p_values(observed: Numbers, drawn: Table) -> tuple[Numbers, Numbers]:
    """Return each pair's share of draws at least as large, and the share of their largest."""
    own = [
        sum(row[place] >= one - EQUAL for row in drawn) / len(drawn)
        for place, one in enumerate(observed)
    ]
    largest = [sum(max(row) >= one - EQUAL for row in drawn) / len(drawn) for one in observed]
    return own, largest


def signed_ranks(values: Numbers) -> float:
    """Return the p-value of Wilcoxon's sum of the ranks of those above 0, over all signs."""
    sizes = [abs(one) for one in values]
    ranks = [
        sum(other < one for other in sizes) + (1 + sum(other == one for other in sizes)) / 2
        for one in sizes
    ]
    found = sum(rank for rank, one in zip(ranks, values, strict=True) if one > 0)
    drawn = [
        sum(rank for rank, sign in zip(ranks, signs, strict=True) if sign)
        for signs in product((0, 1), repeat=len(values))
    ]
    tails = sum(one <= found for one in drawn), sum(one >= found for one in drawn)
    return min(1.0, 2 * min(tails) / len(drawn))


def resamples(table: Table) -> tuple[Numbers, Numbers]:
    """Return the same over all resamples of the users: |mean* - mean| over the standard error."""
    columns = [differences(table, *pair) for pair in all_pairs(len(table[0]))]
    means = [math.fsum(column) / len(column) for column in columns]
    errors = [
        math.sqrt(math.fsum((one - mean) ** 2 for one in column))
        for column, mean in zip(columns, means, strict=True)
    ]
    users = range(len(table))
    drawn = [
        [
            abs(math.fsum(column[user] for user in picked) / len(table) - mean) / error
            for column, mean, error in zip(columns, means, errors, strict=True)
        ]
        for picked in product(users, repeat=len(table))
    ]
    observed = [abs(mean) / error for mean, error in zip(means, errors, strict=True)]
    return p_values(observed, drawn)


def holm(p: Numbers) -> Numbers:
    """Return the largest, over those that are not larger, of p times how many are not smaller."""
    order = sorted(range(len(p)), key=lambda one: p[one])
    corrected = [0.0] * len(p)
    for rank, place in enumerate(order):
        so_far = [p[one] * (len(p) - before) for before, one in enumerate(order[: rank + 1])]
        corrected[place] = min(1.0, max(so_far))
    return corrected


def benjamini_hochberg(p: Numbers) -> Numbers:
    """Return the smallest, over those that are not smaller, of p times the number over the rank."""
    order = sorted(range(len(p)), key=lambda one: p[one])
    corrected = [0.0] * len(p)
    for rank, place in enumerate(order):
        beyond = [p[one] * len(p) / (rank + 1 + on) for on, one in enumerate(order[rank:])]
        corrected[place] = min(1.0, *beyond)
    return corrected


def bonferroni(p: Numbers) -> Numbers:
    """Return p times their number."""
    return [min(1.0, one * len(p)) for one in p]


BY_NAME: dict[str, Callable[[Numbers], Numbers]] = {
    "holm": holm, "bonferroni": bonferroni, "bh": benjamini_hochberg, "none": list,
}  # fmt: skip


def list_contrasts(n_groups: int, *, pairwise: bool) -> list[tuple[set[int], set[int]]]:
    """Return both sides of each comparison: two groups, or a group and all others."""
    groups = range(n_groups)
    if pairwise:
        return [({one}, {other}) for one, other in combinations(groups, 2)]
    return [({one}, {other for other in groups if other != one}) for one in groups]


def mean_apart(values: Numbers, codes: Sequence[int], sides: tuple[set[int], set[int]]) -> float:
    """Return the mean of the scores on one side minus the mean on the other."""
    one, other = _split(values, codes, sides)
    if not one or not other:
        return math.nan
    return math.fsum(one) / len(one) - math.fsum(other) / len(other)


def label_permutations(
    table: Table, codes: Sequence[int], n_groups: int, *, one_family: bool, pairwise: bool
) -> tuple[Table, Table]:
    """Return p and the corrected p by contrast and column, over all orders of the users.

    In each column, users with a score get the sorted labels of these users in the drawn order.
    Each p is at least that of the intervals of both means.
    """
    kept = [(row, code) for row, code in zip(table, codes, strict=True) if code >= 0]
    rows, labels = [row for row, _ in kept], [code for _, code in kept]
    columns, contrasts = range(len(table[0])), list_contrasts(n_groups, pairwise=pairwise)
    scored = [
        [user for user, row in enumerate(rows) if not math.isnan(row[one])] for one in columns
    ]
    of_column = [
        ([rows[user][one] for user in users], [labels[user] for user in users])
        for one, users in zip(columns, scored, strict=True)
    ]

    def statistics(order: Sequence[int]) -> Table:
        found = []
        for column, users in zip(columns, scored, strict=True):
            values = [rows[user][column] for user in order if user in users]
            own = sorted(labels[user] for user in users)
            found.append([_standardised(values, own, sides) for sides in contrasts])
        return found

    observed = statistics(sorted(range(len(rows)), key=labels.__getitem__))
    drawn = [statistics(order) for order in permutations(range(len(rows)))]
    n_tests = [
        min(sum(not math.isnan(t) for t in one), math.comb(len({*own}), 2))
        for one, (_, own) in zip(observed, of_column, strict=True)
    ]
    p, corrected = [], []
    for place, sides in enumerate(contrasts):
        own, together = [], []
        for column in columns:
            family = [*columns] if one_family else [column]
            t, tests = observed[column][place], sum(n_tests[one] for one in family)
            largest = [
                max(_known(value for one in family for value in draw[one])) for draw in drawn
            ]
            by_intervals = (interval_p(*of_column[column], sides, n) for n in (1, max(tests, 1)))
            shares = _share([draw[column][place] for draw in drawn], t), _share(largest, t)
            first, second = map(max, shares, by_intervals)
            own.append(first)
            together.append(second)
        p.append(own)
        corrected.append(together)
    return p, corrected


def interval_p(
    values: Numbers, codes: Sequence[int], sides: tuple[set[int], set[int]], n_tests: int = 1
) -> float:
    """Return p of the interval that two means' t intervals imply: MOVER, and Šidák's correction.

    It is one minus the level at which the interval ends at 0.
    """
    apart, groups = abs(mean_apart(values, codes, sides)), _split(values, codes, sides)
    if not apart > EQUAL:
        return 1.0
    varying = [side for side in groups if len(side) > 1 and stdev(side) > EQUAL]

    def reach_beyond(p: float) -> float:
        ends = [
            float(stats.t.isf(p / 2, len(side) - 1)) * stdev(side) / math.sqrt(len(side))
            for side in varying
        ]
        return math.hypot(*ends) - apart

    p = optimize.brentq(reach_beyond, 1e-15, 1, xtol=1e-15) if reach_beyond(1e-15) > 0 else 0.0
    return 1 - (1 - float(p)) ** n_tests


def _split(
    values: Numbers, codes: Sequence[int], sides: tuple[set[int], set[int]]
) -> list[Numbers]:
    pairs = [pair for pair in zip(values, codes, strict=True) if not math.isnan(pair[0])]
    return [[value for value, code in pairs if code in side] for side in sides]


def _standardised(values: Numbers, codes: Sequence[int], sides: tuple[set[int], set[int]]) -> float:
    """Return |t| with variances as of ten more users of the groups' variance, but no smaller."""
    apart, groups = mean_apart(values, codes, sides), {*codes}
    freedom = len(values) - len(groups)
    if math.isnan(apart) or freedom < 1:
        return math.nan
    within = math.fsum(
        _squared_deviations(
            [value for value, code in zip(values, codes, strict=True) if code == one]
        )
        for one in groups
    )
    variance = 0.0
    for side in _split(values, codes, sides):
        squares, n = _squared_deviations(side), len(side)
        own, moderated = squares / max(n - 1, 1), (10 * within / freedom + squares) / (9 + n)
        variance += max(own, moderated) / n
    if abs(apart) < 1e-12:
        return 0.0
    return abs(apart) / math.sqrt(variance) if variance > EQUAL**2 else math.inf


def _squared_deviations(values: Numbers) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((one - mean) ** 2 for one in values)


def _known(values: Iterable[float]) -> Numbers:
    return [one for one in values if not math.isnan(one)] or [0.0]


def _share(drawn: Numbers, observed: float) -> float:
    if math.isnan(observed):
        return math.nan
    return sum(one >= observed * (1 - 1e-6) for one in drawn) / len(drawn)  # closer ones are equal
