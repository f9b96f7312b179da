"""The checks of a split, in the order in which they are reported.

A new check is a function that takes a `Split` and returns a `Finding`, registered under its kind.
Its sentence is a template of the group `split`.
"""

from __future__ import annotations

from math import erfc, sqrt

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.findings import Finding
from recsys_ndcg.input import Rows
from recsys_ndcg.lists import group_rows
from recsys_ndcg.scoring import Audit, Plan
from recsys_ndcg.significance import power
from recsys_ndcg.split_checks.split import (
    CHECKS,
    MANY,
    Split,
    count_flags,
    count_rows,
    find_ends,
    name_check,
    register,
)

#: A shift is reported if it is significant, and at least this many standard deviations or points.
_ALPHA, _LEAST_SHIFT, _LEAST_POINTS = 0.01, 0.1, 0.05
#: More users than this share of all have just the smallest number of rows, if rows were filtered.
_AT_MINIMUM = 0.01
#: Two parts were made in different ways if a share differs by more than this.
_LARGEST_DIFFERENCE = 0.2
#: Times that are so many times as large have another unit, such as milliseconds.
_OTHER_UNIT = 50
_EARLIEST = 631_152_000  # 1990 in seconds: times look like dates
#: Lengths of sampled candidates: a relevant item and 99 or 100 drawn ones.
_SAMPLED = (100, 101)
_NEARLY_ALL = 0.9
_POWER = 0.8


# Pairs, users, items and ratings


@register("pairs_in_both_parts")
def find_shared_pairs(split: Split) -> Finding:
    """Find test rows whose pair of user and item is in training."""
    return count_rows("pairs_in_both_parts", split.test.part, split.test.in_train, "error")


@register("validation_rows_in_other_parts", "validation")
def find_shared_validation(split: Split) -> Finding:
    """Find validation rows whose pair of user and item is in training or in the test part."""
    validation = split.parts["validation"]
    is_shared = validation.in_train | split.test.part.contains(validation.part)
    return count_rows("validation_rows_in_other_parts", validation.part, is_shared, "error")


@register("repeated_pairs")
def find_repeats(split: Split) -> Finding:
    """Find pairs that occur twice in a part; evaluation raises if they are in the test part."""
    test, n_train = split.test.part, int(split.train.sums["repeats"])
    is_repeated = test.is_repeated
    n_test = int(is_repeated.sum())
    count, total = n_test + n_train, len(test) + len(split.train)
    numbers = {"count": count, "share": count / total, "test": n_test, "train": n_train}
    names = {"rows": test.name_rows(is_repeated) or split.train.first_repeats}
    severity = "error" if n_test else "warning" if n_train else "fact"
    return Finding("repeated_pairs", numbers, names, severity)


@register("users_unknown_in_training")
def find_unknown_users(split: Split) -> Finding:
    """Find test rows of users without training rows."""
    test = split.test
    return count_rows("users_unknown_in_training", test.part, test.is_unknown_user, least=MANY)


@register("items_unknown_in_training")
def find_unknown_items(split: Split) -> Finding:
    """Find test rows of items without training rows, which no model can recommend."""
    test = split.test
    return count_rows("items_unknown_in_training", test.part, test.is_unknown_item, least=MANY)


@register("users_who_can_be_scored")
def count_users(split: Split) -> Finding:
    """Count the test users that remain for each kind of metric."""
    test, n_rows = split.test, split.test.part.user.counts
    numbers = {
        "count": len(n_rows),
        "in_training": int(test.is_known_user.sum()),
        "with_two_rows": int((n_rows > 1).sum()),
    }
    if "threshold" in split.has:
        is_relevant = np.asarray(test.part.rating) >= float(split.threshold or 0)
        numbers["with_relevant_row"] = test.count_users(is_relevant)
        numbers["with_known_item"] = test.count_users(is_relevant & ~test.is_unknown_item)
    return Finding("users_who_can_be_scored", numbers)


@register("users_with_one_test_row")
def find_trivial_users(split: Split) -> Finding:
    """Find users whose test row can be ranked in one way only, if just their test rows are."""
    counts = count_flags(split.test.part.user.counts == 1)
    severity = "warning" if counts["share"] > 0.5 else "fact"
    return Finding("users_with_one_test_row", counts, severity=severity)


@register("users_with_fewer_than_k_test_rows")
def find_short_users(split: Split) -> Finding:
    """Count users whose lists of test rows are shorter than the cutoff."""
    counts = count_flags(split.test.part.user.counts < split.k)
    return Finding("users_with_fewer_than_k_test_rows", counts | {"k": split.k})


@register("filtered_by_number_of_rows")
def find_core_filter(split: Split) -> Finding:
    """Find traces of a k-core filter: many users or items with just the smallest number of rows."""
    counts = {side: split.count_rows_by(side) for side in ("user", "item")}
    least = {side: int(n_rows.min()) for side, n_rows in counts.items()}
    shares = {side: float((n_rows == n_rows.min()).mean()) for side, n_rows in counts.items()}
    sides = [side for side in counts if least[side] > 1 and shares[side] > _AT_MINIMUM]
    numbers = {"least": [least[side] for side in sides], "shares": [shares[side] for side in sides]}
    return Finding("filtered_by_number_of_rows", numbers, {"sides": sides})


@register("popularity_shift")
def find_popularity_shift(split: Split) -> Finding:
    """Find whether items are as frequent in the test part as a random split would make them."""
    z_squared, p, n_items = split.test.popularity_shift
    numbers = {"z_squared": z_squared, "p": p, "items": n_items, "is_shifted": p < _ALPHA}
    return Finding("popularity_shift", numbers, severity="warning" if p < _ALPHA else "fact")


@register("rating_shift", "ratings")
def find_rating_shift(split: Split) -> Finding:
    """Find whether the mean rating differs between the parts (Welch's z)."""
    rating, sums = split.test.part.rated, split.train.sums
    n = sums["rated"]
    mean = sums["rating"] / n
    variance = max(sums["square"] / n - mean**2, 0.0)
    gap, spread = float(rating.mean() - mean), sqrt(variance)
    p = _find_p(gap, sqrt(variance / n + float(rating.var()) / len(rating)))
    is_shifted = p < _ALPHA and abs(gap) > _LEAST_SHIFT * spread
    numbers = {"test": float(rating.mean()), "train": float(mean), "p": p}
    return Finding("rating_shift", numbers, severity="warning" if is_shifted else "fact")


@register("share_of_relevant_rows", "ratings", "threshold")
def find_threshold_shift(split: Split) -> Finding:
    """Find whether another share of rows is relevant in the test part."""
    rating, sums, threshold = split.test.part.rated, split.train.sums, float(split.threshold or 0)
    share = float((rating >= threshold).mean())
    before = float(sums["relevant"] / sums["rated"])
    error = sqrt(before * (1 - before) * (1 / len(rating) + 1 / sums["rated"]))
    p = _find_p(share - before, error)
    is_shifted = p < _ALPHA and abs(share - before) > _LEAST_POINTS
    separates_none = share in (0, 1)
    numbers = {"test": share, "train": before, "p": p, "threshold": threshold}
    numbers["separates_none"] = separates_none
    severity = "warning" if is_shifted or separates_none else "fact"
    return Finding("share_of_relevant_rows", numbers, severity=severity)


@register("validation_made_like_test", "validation")
def compare_validation(split: Split) -> Finding:
    """Compare the validation part with the test part, for which choices made on it must hold."""
    test, validation = split.test.shares, split.parts["validation"].shares
    differing = [
        name
        for name in test
        if abs(validation.get(name, np.nan) - test[name]) > _LARGEST_DIFFERENCE
    ]
    shares = {"validation": validation, "test": test}
    numbers = {part: [each[name] for name in differing] for part, each in shares.items()}
    severity = "warning" if differing else "fact"
    return Finding("validation_made_like_test", numbers, {"shares": differing}, severity)


def _find_p(gap: float, error: float) -> float:
    """Return the p-value of a difference with a standard error (normal, two-sided)."""
    return erfc(abs(gap) / error / sqrt(2)) if error else float(gap == 0)


# Time: what a model could not have known


@register("later_rows_of_the_same_user_in_training", "times")
def find_users_future(split: Split) -> Finding:
    """Find test rows whose user has a later row in training."""
    kind, test = "later_rows_of_the_same_user_in_training", split.test
    return count_rows(kind, test.part, test.is_earlier_than_training)


@register("overlap_of_periods", "times")
def find_overlap(split: Split) -> Finding:
    """Find training rows that are later than the median test row."""
    numbers = {"count": split.test.n_late, "share": split.test.late_share}
    severity = "warning" if numbers["share"] > MANY else "fact"
    return Finding("overlap_of_periods", numbers, severity=severity)


@register("items_from_the_future", "times")
def find_items_future(split: Split) -> Finding:
    """Find test rows that are earlier than the first training row of their item."""
    test = split.test
    return count_rows("items_from_the_future", test.part, test.is_before_item, least=MANY)


@register("items_from_the_future_in_lists", "times", "lists")
def find_listed_future(split: Split) -> Finding:
    """Find listed items whose first training row is later than all test rows of the user."""
    lists, test = split.parts["lists"], split.test.part
    last = pd.Series(find_ends(test.user, np.asarray(test.time), np.fmax), test.user.index)
    last_of_row = last.reindex(lists.part.user.index).to_numpy()[lists.part.user.codes]
    is_later = lists.by_item["first"].to_numpy()[lists.part.item.codes] > last_of_row
    return count_rows("items_from_the_future_in_lists", lists.part, is_later)


@register("test_period", "times")
def describe_period(split: Split) -> Finding:
    """Describe the periods of the parts."""
    periods = {"test": split.test.part.period, "training": split.train.period}
    n_untimed = np.count_nonzero(np.isnan(np.asarray(split.test.part.time)))
    n_untimed += len(split.train) - int(split.train.sums["timed"])
    numbers = {**{name: [*period] for name, period in periods.items()}, "untimed": n_untimed}
    if "validation" in split.parts:
        periods["validation"] = split.parts["validation"].part.period
    lasts = {name: period[1] for name, period in periods.items()}
    low, high = min(lasts, key=lasts.__getitem__), max(lasts, key=lasts.__getitem__)
    if lasts[high] >= _EARLIEST and lasts[low] * _OTHER_UNIT < lasts[high]:
        return Finding("test_period", numbers, {"other_units": [low, high]}, "error")
    return Finding("test_period", numbers)


# Lists, candidates, and what the split can tell apart


@register("training_items_in_lists", "lists")
def find_listed_training(split: Split) -> Finding:
    """Find listed items that their user had in training."""
    lists = split.parts["lists"]
    return count_rows("training_items_in_lists", lists.part, lists.in_train, "error")


@register("sampled_candidates", "lists")
def find_sampled(split: Split) -> Finding:
    """Find whether lists are candidates that were drawn."""
    shortest, longest = _find_lengths(split)
    numbers = {"lengths": [shortest, longest]}
    if not _has_candidates(split):
        return Finding("sampled_candidates", numbers)
    return Finding("sampled_candidates", {**numbers, "drawn": longest - 1}, severity="warning")


@register("test_items_missing_from_candidates", "lists")
def find_missing_candidates(split: Split) -> Finding:
    """Find test rows that are not in their user's list: an error if lists are candidates."""
    kind, is_sampled = "test_items_missing_from_candidates", _has_candidates(split)
    severity = "error" if is_sampled else "fact"
    is_missing = _find_missing(split)
    return count_rows(kind, split.test.part, is_missing, severity, is_sampled=is_sampled)


@register("users_with_lists", "lists")
def count_users_with_lists(split: Split) -> Finding:
    """Count the test users who have a list."""
    counts = count_flags(np.isin(split.test.part.user.ids, split.parts["lists"].part.user.ids))
    return Finding("users_with_lists", counts, severity="fact" if counts["count"] else "error")


def _find_lengths(split: Split) -> tuple[int, int]:
    """Return the numbers of items of the shortest and the longest list."""
    lengths = split.parts["lists"].part.user.counts
    return int(lengths.min()), int(lengths.max())


def _has_candidates(split: Split) -> bool:
    """Return whether lists are candidates that were drawn.

    They are if every list has 100 or 101 items, and nearly all test rows are in their user's list,
    which they are in no recommended lists.
    """
    shortest, longest = _find_lengths(split)
    is_one_size = shortest == longest and longest in _SAMPLED
    return is_one_size and bool(1 - _find_missing(split).mean() > _NEARLY_ALL)


def _find_missing(split: Split) -> Flags:
    """Return whether each test row is missing from the list of its user, who has one."""
    test, lists = split.test.part, split.parts["lists"].part
    has_list = np.isin(test.user.ids, lists.user.ids)[test.user.codes]
    return np.asarray(has_list & ~lists.contains(test))


@register("what_this_split_can_tell_apart")
def find_detectable_difference(split: Split) -> Finding:
    r"""Find the difference of two models that the test users can show, before one is trained.

    If each user's own test rows are ranked, two random orders differ by a standard deviation of
    \sqrt{2} times that of one, which is exact for each user; real models differ less. If there is
    no rating, or every user has one test row, the bound is that of hits: the difference of two
    independent models' hits has a standard deviation of at most \sqrt{1/2}.
    """
    n_users = len(split.test.part.user.counts)
    bounds = {"hit of two independent models, at most": (float(np.sqrt(0.5)), n_users)}
    measured = _measure_random_order(split) or bounds
    least = {
        name: float(power(deviation=deviation, users=n, power=_POWER))
        for name, (deviation, n) in measured.items()
        if n > 1
    }
    metrics = [name for name in least if least[name] < 1]  # no scores differ by more
    numbers = {
        "count": n_users,
        "differences": [least[name] for name in metrics],
        "users": [measured[name][1] for name in metrics],
    }
    severity = "fact" if metrics else "warning"
    return Finding("what_this_split_can_tell_apart", numbers, {"metrics": metrics}, severity)


def _measure_random_order(split: Split) -> dict[str, tuple[float, int]]:
    """Return the deviation of the difference of two random orders, and the users, by metric."""
    test = split.test.part
    if test.rating is None:
        return {}
    names = [f"ndcg@{split.k}"]
    if split.threshold is not None:
        names += [f"precision@{split.k}", f"recall@{split.k}"]
    kept = ~np.isnan(test.rating) & ~test.is_repeated
    user, item, true = (one[kept] for one in (test.user.codes, test.item.codes, test.rating))
    found = {}
    try:
        # different estimates, as ties would be measured in their extreme orders
        rows = Rows.from_arrays(user, item, np.arange(len(user)), true)
        lists = group_rows(rows, "raise")
        plan = Plan.of(names, threshold=split.threshold)
        scores = Audit.of(lists, plan.resolve(plan.facts_of(lists), lists)).scores_with_orders
    except InvalidInputError:  # negative ratings, or all are equal
        return {}
    for column, name in enumerate(scores.names):
        denominator = scores.denominator[:, column]
        is_scored = (denominator > 0) & ~scores.trivial[:, column]
        spread = scores.roles["deviation"][is_scored, column] / denominator[is_scored]
        n = int((denominator > 0).sum())
        if n:
            found[f"rated {name}"] = (float(np.sqrt(2 * (spread**2).sum() / n)), n)
    return {name: one for name, one in found.items() if one[0]}


_LACKING = {
    "times": "different times (column timestamp)",
    "ratings": "ratings",
    "threshold": "threshold",
    "lists": "lists",
    "validation": "validation rows",
}


def run_checks(split: Split, without: tuple[str, ...]) -> tuple[list[Finding], dict[str, str]]:
    """Return the findings of all checks but some, and what others lacked that could not run."""
    findings, skipped = [*split.retyped], dict[str, str]()
    for kind, (check, needs) in CHECKS.items():
        missing = [advice for name, advice in _LACKING.items() if name in needs - split.has]
        if missing:
            skipped[name_check(kind)] = missing[0]
        elif kind not in without:
            findings.append(check(split))
    return findings, skipped
