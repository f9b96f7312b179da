"""The checks of a split, in the order in which they are reported.

A new check is a function that takes a `Split` and returns a `Finding`, registered under a name.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from math import erfc, sqrt

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags
from recsys_ndcg.errors import InvalidInputError, format_count
from recsys_ndcg.input import Rows
from recsys_ndcg.lists import group_rows
from recsys_ndcg.scoring import Audit, Plan
from recsys_ndcg.significance import power
from recsys_ndcg.split_checks.split import (
    CHECKS,
    MANY,
    Finding,
    Split,
    count_rows,
    count_test_users,
    find_ends,
    format_share,
    register,
)

#: A shift is reported if it is significant, and at least this many standard deviations or points.
_ALPHA, _LEAST_SHIFT, _LEAST_POINTS = 0.01, 0.1, 0.05
#: More users than this share of all have just the smallest number of rows, if rows were filtered.
_AT_MINIMUM = 0.01
#: Two parts were made in different ways if a share differs by more than this.
_LARGEST_DIFFERENCE = 0.2
_DAY = 24 * 3600
#: Times that are so many times as large have another unit, such as milliseconds.
_OTHER_UNIT = 50
_EARLIEST, _LATEST = 631_152_000, 4_102_444_800  # 1990 and 2100 in seconds: times look like dates
#: Lengths of sampled candidates: a relevant item and 99 or 100 drawn ones.
_SAMPLED = (100, 101)
_NEARLY_ALL = 0.9
_POWER = 0.8


# Pairs, users, items and ratings


@register("pairs in both parts")
def find_shared_pairs(split: Split) -> Finding:
    """Find test rows whose pair of user and item is in training."""
    return count_rows(split.test, split.test.in_train, "error", "{are} in training, too")


@register("validation rows in other parts", "validation")
def find_shared_validation(split: Split) -> Finding:
    """Find validation rows whose pair of user and item is in training or in the test part."""
    validation = split.parts["validation"]
    shared = validation.in_train | split.test.part.contains(validation.part)
    return count_rows(validation, shared, "error", "{are} in training or in the test part, too")


@register("repeated pairs")
def find_repeats(split: Split) -> Finding:
    """Find pairs that occur twice in a part; evaluation raises if they are in the test part."""
    test, in_train = split.test.part, int(split.train.sums["repeats"])
    is_repeated = test.is_repeated
    count = int(is_repeated.sum())
    if not count and not in_train:
        return Finding("fact", "No pair of user and item occurs twice in a part.", 0, 0.0)
    rows = test.name_rows(is_repeated) or split.train.first_repeats
    sentence = (
        f"{format_count(count, 'test row')} and {format_count(in_train, 'training row')} repeat a "
        "pair of user and item."
    )
    verdict = "error" if count else "warning"
    total = len(test) + len(split.train)
    return Finding(verdict, sentence, count + in_train, (count + in_train) / total, rows)


@register("users unknown in training")
def find_unknown_users(split: Split) -> Finding:
    """Find test rows of users without training rows."""
    fault = "{have} a user without training rows"
    return count_rows(split.test, split.test.is_unknown_user, "warning", fault, least=MANY)


@register("items unknown in training")
def find_unknown_items(split: Split) -> Finding:
    """Find test rows of items without training rows, which no model can recommend."""
    return count_rows(
        split.test,
        split.test.is_unknown_item,
        "warning",
        "{have} an item without training rows",
        meaning=", which no model can recommend",
        least=MANY,
    )


@register("users who can be scored")
def count_users(split: Split) -> Finding:
    """Count the test users that remain for each kind of metric."""
    test, n_users = split.test, len(split.test.part.user.counts)
    numbers = {
        "users": n_users,
        "with training rows": int(test.is_known_user.sum()),
        "with two test rows or more (rated ndcg)": int((test.part.user.counts > 1).sum()),
    }
    if "threshold" in split.has:
        is_relevant = np.asarray(test.part.rating) >= float(split.threshold or 0)
        able = is_relevant & ~test.is_unknown_item
        numbers["with a relevant row (recall)"] = test.count_users(is_relevant)
        numbers["with a relevant row of a known item"] = test.count_users(able)
    listed = "; ".join(f"{number} {what}" for what, number in [*numbers.items()][1:])
    sentence = f"{format_count(n_users, 'test user')}: {listed}."
    return Finding("fact", sentence, n_users, numbers=numbers)


@register("users with one test row")
def find_trivial_users(split: Split) -> Finding:
    """Find users whose test row can be ranked in one way only, if just their test rows are."""
    is_single = split.test.part.user.counts == 1
    what = "have one test row"
    if is_single.any():
        what += ": ranking their own test rows shows nothing, so rank lists of the catalogue"
    finding = count_test_users(is_single, what)
    return replace(finding, verdict="warning") if finding.share > 0.5 else finding


@register("users with fewer than k test rows")
def find_short_users(split: Split) -> Finding:
    """Count users whose lists of test rows are shorter than the cutoff."""
    what = f"have fewer than {split.k} test rows"
    return count_test_users(split.test.part.user.counts < split.k, what)


@register("filtered by number of rows")
def find_core_filter(split: Split) -> Finding:
    """Find traces of a k-core filter: many users or items with just the smallest number of rows."""
    texts, numbers = [], {}
    for what in ("user", "item"):
        counts = split.count_rows_by(what)
        least = int(counts.min())
        share = float((counts == least).mean())
        numbers[f"least rows of {what}s"] = least
        if least > 1 and share > _AT_MINIMUM:
            some = f"{100 * share:.1f} % just {least}"
            texts.append(f"every {what} has {least} rows or more, {some}")
    if not texts:
        return Finding("fact", "No trace of a filter by the number of rows.", 0, numbers=numbers)
    sentence = (
        f"In all parts together {' and '.join(texts)}: users or items with fewer seem left out, "
        "so scores do not hold for them."
    )
    return Finding("fact", sentence, numbers=numbers)


@register("popularity shift")
def find_popularity_shift(split: Split) -> Finding:
    """Find whether items are as frequent in the test part as a random split would make them."""
    mean, p_value, n_items = split.test.popularity_shift
    numbers = {"mean square of z": mean, "p_value": p_value, "items": float(n_items)}
    if not n_items:
        return Finding("fact", "Too few rows of each item to compare popularity.", numbers=numbers)
    sentence = (
        f"Mean z² of {format_count(n_items, 'item')} is {mean:.1f}; random splits have 1.0 on "
        f"average (p {_format_p(p_value)})."
    )
    if p_value >= _ALPHA:
        return Finding("fact", sentence, numbers=numbers)
    sentence += " Items are more or less frequent in the test part than in training."
    return Finding("warning", sentence, numbers=numbers)


@register("rating shift", "ratings")
def find_rating_shift(split: Split) -> Finding:
    """Find whether the mean rating differs between the parts (Welch's z)."""
    rating, sums = split.test.part.rated, split.train.sums
    n = sums["rated"]
    mean = sums["rating"] / n
    variance = max(sums["square"] / n - mean**2, 0.0)
    gap, spread = float(rating.mean() - mean), sqrt(variance)
    p_value = _find_p(gap, sqrt(variance / n + float(rating.var()) / len(rating)))
    is_shifted = p_value < _ALPHA and abs(gap) > _LEAST_SHIFT * spread
    sentence = (
        f"The mean rating is {rating.mean():.2f} in the test part and {mean:.2f} in training."
    )
    numbers = {"test": float(rating.mean()), "train": float(mean), "p_value": p_value}
    return Finding("warning" if is_shifted else "fact", sentence, numbers=numbers)


@register("share of relevant rows", "ratings", "threshold")
def find_threshold_shift(split: Split) -> Finding:
    """Find whether another share of rows is relevant in the test part."""
    rating, sums = split.test.part.rated, split.train.sums
    share = float((rating >= float(split.threshold or 0)).mean())
    before = sums["relevant"] / sums["rated"]
    error = sqrt(before * (1 - before) * (1 / len(rating) + 1 / sums["rated"]))
    p_value = _find_p(share - before, error)
    is_shifted = p_value < _ALPHA and abs(share - before) > _LEAST_POINTS
    separates_none = share in (0, 1)
    sentence = (
        f"{100 * share:.1f} % of the test rows and {100 * before:.1f} % of the training rows are "
        f"relevant (at least {split.threshold:g})."
    )
    if separates_none:
        sentence += " The threshold separates no test rows: give that of this scale."
    numbers = {"test": share, "train": float(before), "p_value": p_value}
    verdict = "warning" if is_shifted or separates_none else "fact"
    return Finding(verdict, sentence, numbers=numbers)


@register("validation made like test", "validation")
def compare_validation(split: Split) -> Finding:
    """Compare the validation part with the test part, for which choices made on it must hold."""
    test, validation = split.test.shares, split.parts["validation"].shares
    gaps = {
        name: (validation[name], share)
        for name, share in test.items()
        if abs(validation.get(name, np.nan) - share) > _LARGEST_DIFFERENCE
    }
    numbers = {f"validation: {name}": share for name, share in validation.items()}
    if not gaps:
        return Finding(
            "fact", "The validation part looks made like the test part.", numbers=numbers
        )
    texts = (
        f"{name} {100 * one:.0f} % and {100 * other:.0f} %" for name, (one, other) in gaps.items()
    )
    sentence = f"The validation part was not made like the test part: {'; '.join(texts)}."
    return Finding("warning", sentence, numbers=numbers)


def _find_p(gap: float, error: float) -> float:
    """Return the p-value of a difference with a standard error (normal, two-sided)."""
    return erfc(abs(gap) / error / sqrt(2)) if error else float(gap == 0)


def _format_p(p_value: float) -> str:
    return "below 0.001" if p_value < 0.001 else f"{p_value:.2g}"


# Time: what a model could not have known


@register("later rows of the same user in training", "times")
def find_users_future(split: Split) -> Finding:
    """Find test rows whose user has a later row in training."""
    fault = "{are} earlier than a training row of the same user"
    return count_rows(split.test, split.test.is_earlier_than_training, "warning", fault)


@register("overlap of periods", "times")
def find_overlap(split: Split) -> Finding:
    """Find training rows that are later than the median test row."""
    share, count = split.test.late_share, split.test.n_late
    some = "No training row is"
    if count:
        verb = "is" if count == 1 else "are"
        some = f"{format_count(count, 'training row')}{format_share(share)} {verb}"
    sentence = f"{some} later than half of the test rows."
    return Finding("warning" if share > MANY else "fact", sentence, count, share)


@register("items from the future", "times")
def find_items_future(split: Split) -> Finding:
    """Find test rows that are earlier than the first training row of their item."""
    fault = "{are} earlier than the first training row of the item"
    return count_rows(split.test, split.test.is_before_item, "warning", fault, least=MANY)


@register("items from the future in lists", "times", "lists")
def find_listed_future(split: Split) -> Finding:
    """Find listed items whose first training row is later than all test rows of the user."""
    lists, test = split.parts["lists"], split.test.part
    last = pd.Series(find_ends(test.user, np.asarray(test.time), np.fmax), test.user.index)
    last_of_row = last.reindex(lists.part.user.index).to_numpy()[lists.part.user.codes]
    rows = lists.by_item["first"].to_numpy()[lists.part.item.codes] > last_of_row
    fault, meaning = "{are} newer than the user's last test row", ": it did not exist yet"
    return count_rows(lists, rows, "warning", fault, meaning=meaning)


@register("test period", "times")
def describe_period(split: Split) -> Finding:
    """Describe the periods of the parts."""
    periods = {"test": split.test.part.period, "training": split.train.period}
    test, train = periods.values()
    if "validation" in split.parts:
        periods["validation"] = split.parts["validation"].part.period
    sentence = f"Test rows are {_format_period(test)}, training rows {_format_period(train)}."
    missing = np.count_nonzero(np.isnan(np.asarray(split.test.part.time)))
    missing += len(split.train) - int(split.train.sums["timed"])
    if missing:
        sentence += f" Rows without a time, which checks of time leave out: {missing}."
    verdict, lasts = "fact", {name: period[1] for name, period in periods.items()}
    low, high = min(lasts, key=lasts.__getitem__), max(lasts, key=lasts.__getitem__)
    if lasts[high] >= _EARLIEST and lasts[low] * _OTHER_UNIT < lasts[high]:
        verdict = "error"
        sentence += f" The times of {low} and {high} rows are not in the same unit."
    numbers = {"test length": test[1] - test[0], "train length": train[1] - train[0]}
    return Finding(verdict, sentence, numbers=numbers)


def _format_period(period: tuple[float, float]) -> str:
    if not all(_EARLIEST <= end < _LATEST for end in period):
        return f"from {period[0]:g} to {period[1]:g}"
    first, last = (dt.datetime.fromtimestamp(end, dt.UTC).date() for end in period)
    days = round((period[1] - period[0]) / _DAY)
    return f"from {first} to {last} ({format_count(days, 'day')})" if days else f"of {first}"


# Lists, candidates, and what the split can tell apart


@register("training items in lists", "lists")
def find_listed_training(split: Split) -> Finding:
    """Find listed items that their user had in training."""
    lists = split.parts["lists"]
    fault, meaning = "{are} in the user's training rows", ": the place is lost for a new item"
    return count_rows(lists, lists.in_train, "error", fault, meaning=meaning)


@register("sampled candidates", "lists")
def find_sampled(split: Split) -> Finding:
    """Find whether lists are candidates that were drawn.

    They are if every list has 100 or 101 items, and nearly all test rows are in their user's list,
    which they are in no recommended lists.
    """
    lengths = split.parts["lists"].part.user.counts
    shortest, longest = int(lengths.min()), int(lengths.max())
    sizes = f"{shortest}" if shortest == longest else f"{shortest} to {longest}"
    sentence = f"Lists have {sizes} items."
    has_test_rows = 1 - _find_missing(split).mean() > _NEARLY_ALL
    if shortest != longest or longest not in _SAMPLED or not has_test_rows:
        return Finding("fact", sentence, numbers={"shortest": shortest, "longest": longest})
    sentence = (
        f"Every list has {longest} items, as if the relevant item were ranked among {longest - 1} "
        "drawn ones: such scores cannot be compared with scores of the catalogue, and may order "
        "models differently (Krichene & Rendle 2020)."
    )
    return Finding("warning", sentence, numbers={"shortest": shortest, "longest": longest})


@register("test items missing from candidates", "lists")
def find_missing_candidates(split: Split) -> Finding:
    """Find test rows that are not in their user's list: an error if lists are candidates."""
    is_sampled = find_sampled(split).verdict == "warning"
    return count_rows(
        split.test,
        _find_missing(split),
        "error" if is_sampled else "fact",
        "{are} missing from the user's list",
        meaning=" of candidates, and cannot score" if is_sampled else "",
    )


@register("users with lists", "lists")
def count_users_with_lists(split: Split) -> Finding:
    """Count the test users who have a list."""
    has_list = np.isin(split.test.part.user.ids, split.parts["lists"].part.user.ids)
    finding = count_test_users(has_list, "have a list")
    return finding if finding.count else replace(finding, verdict="error")


def _find_missing(split: Split) -> Flags:
    """Return whether each test row is missing from the list of its user, who has one."""
    test, lists = split.test.part, split.parts["lists"].part
    has_list = np.isin(test.user.ids, lists.user.ids)[test.user.codes]
    return np.asarray(has_list & ~lists.contains(test))


@register("what this split can tell apart")
def find_detectable_difference(split: Split) -> Finding:
    r"""Find the difference of two models that the test users can show, before one is trained.

    If each user's own test rows are ranked, two random orders differ by a standard deviation of
    \sqrt{2} times that of one, which is exact for each user; real models differ less. If there is
    no rating, or every user has one test row, the bound is that of hits: the difference of two
    independent models' hits has a standard deviation of at most \sqrt{1/2}.
    """
    n_users = len(split.test.part.user.counts)
    bounds = {"hit of two independent models, at most": (float(np.sqrt(0.5)), n_users)}
    found = _measure_random_order(split) or bounds
    numbers, texts = {}, []
    for name, (deviation, n) in found.items():
        if n < 2 or not deviation:
            continue
        least = float(power(deviation=deviation, users=n, power=_POWER))
        if least < 1:  # no scores differ by more
            numbers[name] = least
            texts.append(f"{least:.4f} in {name} ({format_count(n, 'user')})")
    if not texts:
        sentence = (
            f"{format_count(n_users, 'test user')} can hardly tell two models apart, however "
            "different they are."
        )
        return Finding("warning", sentence)
    sentence = (
        f"Smallest detectable difference ({100 * _POWER:.0f} % power, 5 % level, two random "
        f"orders): {'; '.join(texts)}."
    )
    return Finding("fact", sentence, n_users, numbers=numbers)


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
    for name, (check, needs) in CHECKS.items():
        missing = [advice for one, advice in _LACKING.items() if one in needs - split.has]
        if missing:
            skipped[name] = missing[0]
        elif name not in without:
            findings.append(replace(check(split), check=name))
    return findings, skipped
