"""The textbook: a numerator and a denominator per user, ties settled by trying every order."""

import math
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, permutations, product
from typing import Any, NamedTuple


class Row(NamedTuple):
    """One entry of a user's list, in input order; `true` None = unlabelled."""

    estimated: float
    true: float | None
    item: int = 0


K = int | None  # the cutoff; None = no cutoff
Parts = tuple[float, float]  # numerator, denominator
Lists = dict[Any, list[Row]]  # by user
Labels = dict[Any, list[float]]


@dataclass(frozen=True)
class Choices:
    """The convention fields of DESIGN §5, and the threshold of relevance."""

    gain: str | dict[float, float] | Callable[[float], float] = "exponential"
    discount: str | Callable[[int], float] = "log2"
    ideal: str = "global"
    max_grade: float | None = None
    unlabelled: str = "zero"
    unlisted: str = "count"
    ties: str = "expected"
    tie_tolerance: float | str = 0.0
    short_list: str = "k"
    recall_over: str = "relevant"
    ap_over: str = "relevant"
    undefined: str | float = "skip"
    missing_user: str = "zero"
    mean_over: str = "all"
    recommend_from: float | str | None = None
    threshold: float | None = None


def relevant(true: float | None, choices: Choices) -> int:
    """1 if the grade reaches the threshold, else 0; unlabelled is not relevant."""
    assert choices.threshold is not None, "this metric or gain needs a threshold"
    return int(true is not None and true >= choices.threshold)


def gain(true: float | None, choices: Choices) -> float:
    """Grade → gain; unlabelled gains 0."""
    if true is None:
        return 0.0
    if callable(choices.gain):
        return float(choices.gain(true))
    if isinstance(choices.gain, dict):
        return float(choices.gain[true])
    if choices.gain == "exponential":
        return float(2.0**true - 1.0)
    if choices.gain == "exponential_above":
        assert choices.threshold is not None, "this gain needs a threshold"
        return 2.0 ** (true - choices.threshold + 1.0) - 1.0 if relevant(true, choices) else 0.0
    return {"linear": float, "binary": lambda t: float(relevant(t, choices))}[choices.gain](true)


def discount(r: int, choices: Choices) -> float:
    """Rank (from 1) → factor."""
    if callable(choices.discount):
        return float(choices.discount(r))
    bounded = max(math.log2(r), 1.0)
    divisors = {"log2": math.log2(r + 1), "ln": math.log(r + 1), "log2_max": bounded}
    return 1.0 / (divisors | {"reciprocal": r})[choices.discount]


def discounted(gains: Sequence[float], choices: Choices) -> float:
    """DCG of gains in ranked order."""
    return math.fsum(g * discount(rank, choices) for rank, g in enumerate(gains, start=1))


def kept(rows: Iterable[Row], choices: Choices) -> list[Row]:
    """The list as it is ranked: without the unlabelled rows under "filter"."""
    return [row for row in rows if row.true is not None or choices.unlabelled != "filter"]


def known(unlisted: list[float], choices: Choices) -> list[float]:
    """The labels outside the list, as far as they exist."""
    return unlisted if choices.unlisted == "count" else []


def ranked_by(row: Row, choices: Choices) -> float:
    """The estimate, rounded to the tie tolerance."""
    step = choices.tie_tolerance
    if step == "float32":
        return single(row.estimated)
    assert not isinstance(step, str), "an unknown tolerance"
    return round(row.estimated / step) * step if step > 0 else row.estimated


def single(number: float) -> float:
    """The nearest number of single precision."""
    return float(struct.unpack("f", struct.pack("f", number))[0])


def orders(rows: Sequence[Row], choices: Choices) -> Iterator[list[Row]]:
    """Every concrete order of the list: all for expected, best, worst; one for the other rules."""
    rows = kept(rows, choices)
    levels = sorted({ranked_by(row, choices) for row in rows}, reverse=True)
    groups = [[row for row in rows if ranked_by(row, choices) == level] for level in levels]
    arrangements: dict[str, Callable[[list[Row]], Iterable[Sequence[Row]]]] = {
        "expected": permutations,
        "best": permutations,
        "worst": permutations,
        "input": lambda group: [group],
        "item_asc": lambda group: [sorted(group, key=lambda row: row.item)],
        "item_desc": lambda group: [sorted(group, key=lambda row: row.item, reverse=True)],
        "text_asc": lambda group: [sorted(group, key=lambda row: str(row.item))],
        "text_desc": lambda group: [sorted(group, key=lambda row: str(row.item), reverse=True)],
    }
    for arranged in product(*map(arrangements[choices.ties], groups)):
        yield [row for group in arranged for row in group]


def ideal_gains(k: K, order: list[Row], unlisted: list[float], choices: Choices) -> list[float]:
    """Gains of the ideal list, best first, cut at k."""
    if choices.ideal == "max":
        assert choices.max_grade is not None, "the max ideal needs max_grade"
        return [gain(choices.max_grade, choices)] * (max(len(order), 1) if k is None else k)
    in_list = [row.true for row in order]
    labelled = [true for true in in_list if true is not None] + unlisted
    pool = {"global": labelled, "local": in_list or labelled}[choices.ideal]
    return sorted((gain(true, choices) for true in pool), reverse=True)[:k]


def graded(metric: str, k: K, order: list[Row], unlisted: list[float], choices: Choices) -> Parts:
    """cg, dcg, ndcg of one concrete order."""
    gains = [gain(row.true, choices) for row in order][:k]
    if metric == "cg":
        return math.fsum(gains), 1.0
    if metric == "dcg":
        return discounted(gains, choices), 1.0
    ideal = ideal_gains(k, order, unlisted, choices)
    return discounted(gains, choices), discounted(ideal, choices)


def error(metric: str, order: list[Row]) -> Parts:
    """rmse, mse (squared errors) and mae (absolute errors) over the labelled rows."""
    errors = [abs(row.estimated - row.true) for row in order if row.true is not None]
    return math.fsum(e if metric == "mae" else e * e for e in errors), float(len(errors))


def pairs_in_order(order: list[Row], choices: Choices) -> Parts:
    """auc: of a relevant and another item, the pairs whose relevant one stands first."""
    rel = [relevant(row.true, choices) for row in order]
    pairs = [(i, j) for i, a in enumerate(rel) for j, b in enumerate(rel) if a and not b]
    return sum(i < j for i, j in pairs), len(pairs)


def hits_and_places(k: K, order: list[Row], choices: Choices) -> tuple[int, int]:
    """Numerator and denominator of precision; recall and f1 share the hits."""
    rel = [relevant(row.true, choices) for row in order]
    places = max(len(order), 1) if k is None else k
    if choices.recommend_from is not None:
        limit = choices.recommend_from
        least = choices.threshold if isinstance(limit, str) else limit
        assert least is not None, "the threshold is not known"
        least = single(least) if choices.tie_tolerance == "float32" else least
        places = min(places, sum(ranked_by(row, choices) >= least for row in order))
    elif choices.short_list == "n":
        places = max(min(places, len(order)), 1)
    return sum(rel[:places]), places


def binary(
    metric: str, k: K, order: list[Row], unlisted: list[float], choices: Choices, p: float
) -> Parts:
    """The metrics of 0/1 relevance, of one concrete order."""
    rel = [relevant(row.true, choices) for row in order]
    n_relevant = sum(rel) + sum(relevant(true, choices) for true in unlisted)
    capped = n_relevant if k is None else min(k, n_relevant)
    hit_ranks = [rank for rank, r in enumerate(rel[:k], start=1) if r]
    wanted = {"relevant": n_relevant, "capped": capped}
    ap_over = (wanted | {"k": k or math.nan, "hits": len(hit_ranks)})[choices.ap_over]
    recall_over = wanted[choices.recall_over]
    hits, places = hits_and_places(k, order, choices)
    n_judged = sum(row.true is not None for row in order[:k])
    return {
        "precision": (hits, places),
        "recall": (hits, recall_over),
        "f1": (2 * hits, places + recall_over),
        "hit": (1 if hit_ranks else 0, 1 if n_relevant else 0),
        "rr": (1 / hit_ranks[0] if hit_ranks else 0, 1 if n_relevant else 0),
        "ap": (math.fsum(sum(rel[:rank]) / rank for rank in hit_ranks), ap_over),
        "rprecision": (sum(rel[:n_relevant]), n_relevant),
        "judged": (n_judged, len(order[:k])),
        "rbp": ((1 - p) * math.fsum(p ** (rank - 1) for rank in hit_ranks), 1),
    }[metric]


def across(
    every: Iterable[list[Row]], metric: str, k: K, unlisted: list[float], choices: Choices, p: float
) -> Parts:
    """Best, worst or mean numerator over the orders given, with its denominator."""
    if metric == "auc":
        pairs = [pairs_in_order(order, choices) for order in every]
    elif metric in ("rmse", "mse", "mae"):
        pairs = [error(metric, order) for order in islice(every, 1)]  # order does not matter
    elif metric in ("cg", "dcg", "ndcg"):
        pairs = [graded(metric, k, order, unlisted, choices) for order in every]
    else:
        pairs = [binary(metric, k, order, unlisted, choices, p) for order in every]
    if choices.ties in ("best", "worst"):
        return max(pairs) if choices.ties == "best" else min(pairs)
    assert len({one[1] for one in pairs}) == 1, "the denominator depends on the order of ties"
    return math.fsum(numerator for numerator, _ in pairs) / len(pairs), float(pairs[0][1])


def parts(
    metric: str, k: K, rows: list[Row], unlisted: list[float], choices: Choices, p: float = 0.8
) -> Parts:
    """(numerator, denominator) of one user."""
    return across(orders(rows, choices), metric, k, known(unlisted, choices), choices, p)


def chance(
    metric: str, k: K, rows: list[Row], unlisted: list[float], choices: Choices, p: float = 0.8
) -> Parts:
    """The mean over all n! orders; the estimates still say how many places are recommended."""
    shuffled = map(list, permutations(kept(rows, choices)))
    unlisted, choices = known(unlisted, choices), replace(choices, ties="expected")
    return across(shuffled, metric, k, unlisted, choices, p)


def value(metric: str, numerator: float, denominator: float, choices: Choices) -> float:
    """n/d (rmse: its root); where d is 0, what `undefined` says."""
    if denominator == 0:
        return math.nan if choices.undefined == "skip" else float(choices.undefined)
    return math.sqrt(numerator / denominator) if metric == "rmse" else numerator / denominator


def counted(
    metric: str, k: K, users: Lists, unlisted: Labels, choices: Choices, p: float
) -> dict[Any, Parts | None]:
    """Parts of every user of both dicts; None = left out (short list or missing user)."""
    result: dict[Any, Parts | None] = {}
    for user in {**users, **unlisted}:
        rows, others = users.get(user, []), unlisted.get(user, [])
        dropped = choices.short_list == "drop" and k is not None and len(kept(rows, choices)) < k
        skipped = choices.missing_user == "skip" and not rows and bool(others)
        labels = [row.true for row in rows if row.true is not None] + known(others, choices)
        least = math.inf if choices.threshold is None else choices.threshold
        hits = [true for true in labels if true >= least]
        inside = {"all": True, "labelled": labels, "relevant": hits}[choices.mean_over]
        counts = inside and not dropped and not skipped
        result[user] = parts(metric, k, rows, others, choices, p) if counts else None
    return result


def table(
    metric: str, k: K, users: Lists, unlisted: Labels, choices: Choices, p: float = 0.8
) -> dict[Any, float]:
    """Value per user; NaN = left out or undefined."""
    pairs = counted(metric, k, users, unlisted, choices, p)
    return {
        user: value(metric, *pair, choices) if pair else math.nan for user, pair in pairs.items()
    }


def mean(
    metric: str, k: K, users: Lists, unlisted: Labels, choices: Choices, p: float = 0.8
) -> float:
    """Mean over the users that have a value; NaN when none has."""
    every = table(metric, k, users, unlisted, choices, p).values()
    values = [one for one in every if not math.isnan(one)]
    return math.fsum(values) / len(values) if values else math.nan


def pooled(
    metric: str, k: K, users: Lists, unlisted: Labels, choices: Choices, p: float = 0.8
) -> float:
    """Σ numerator / Σ denominator over the users neither left out nor undefined; else NaN."""
    every = counted(metric, k, users, unlisted, choices, p).values()
    pairs = [pair for pair in every if pair and pair[1] != 0]
    numerator, denominator = math.fsum(n for n, _ in pairs), math.fsum(d for _, d in pairs)
    return value(metric, numerator, denominator, replace(choices, undefined="skip"))
