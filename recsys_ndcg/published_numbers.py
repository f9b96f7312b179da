"""The protocols under which a published number is possible."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, check_integer, quote
from recsys_ndcg.files import to_json_value
from recsys_ndcg.findings import Finding, HasFindings, write_sentences
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import to_lists
from recsys_ndcg.rendering import Document, Renderable, Section, ShownTable, show_columns
from recsys_ndcg.sampling import check_metrics, read_ranks
from recsys_ndcg.scoring import Audit, Measurement, Plan

_FORM = "Write it as 'HR@10 0.69, leave-one-out, 100 negatives, ML-1M'"
#: Items with ratings, in the whole data set.
_DATA_SETS = {
    "ML-100K": 1682,
    "ML-1M": 3706,
    "ML-10M": 10_677,
    "ML-20M": 26_744,
    "ML-25M": 59_047,
    "Netflix": 17_770,
    "Pinterest": 9_916,  # as published with neural collaborative filtering
}
_NUMBER = re.compile(r"(?P<metric>.*?\S)[\s:=]+(?P<value>\d*\.?\d+)\s*(?P<percent>%?)")
#: The pattern of each part of a text, by the field that it sets: to its number, or else to 1.
_PARTS = {
    "n_relevant": r"leave[- ]?one[- ]?out|loo|(\d+) relevant(?: items?)?",
    "among": r"(?:1|one) (?:in|of|among) (\d+)",
    "negatives": r"(\d+) (?:sampled |random )?negatives?",
    "n_items": r"(\d+) items",
    "is_full": r"full(?: ranking| catalogue)?|whole catalogue|all items",
    "is_rated": r"rated items|test ratings",
}
_RANKED = {"among", "negatives", "is_full", "is_rated"}  # which items are ranked
_ALL_ITEMS, _RATED_ITEMS = "all items", "rated items"
_SCORES = ["chance", "worst", "best"]
_COLUMNS = ["protocol", "stated", "items", *_SCORES, "verdict"]
_IMPOSSIBLE = {"number_above_best", "number_below_worst"}
_MOST_ITEMS = 1_000_000


@dataclass(frozen=True)
class _Statement:
    """What a text says about a published number.

    Parameters
    ----------
    measurement : Measurement
        The metric.
    value, precision : float
        The number, and half the unit of its last digit.
    n_relevant, n_items : int, optional
        Relevant items of each user, and items in the catalogue.
    among, negatives : int, optional
        The number of ranked items with the relevant one, or the number of negatives.
    is_full, is_rated : bool
        Whether the whole catalogue, or the user's test ratings, were ranked.
    """

    measurement: Measurement
    value: float
    precision: float
    n_relevant: int | None = None
    n_items: int | None = None
    among: int | None = None
    negatives: int | None = None
    is_full: bool = False
    is_rated: bool = False

    @lazy_property
    def n_assumed(self) -> int:
        """The relevant items of each user: as given, or the fewest with which it is possible."""
        if self.n_relevant is not None:
            return self.n_relevant
        k, (low, _) = self.measurement.metric.k or 1, self.ends
        counts = range(1, min(k, self.n_items or k) + 1)  # the best score rises with them
        fewest = bisect_left(counts, low, key=lambda n: _measure_orders(self, n, n + 1)[2])
        return counts[fewest] if fewest < len(counts) else 1

    @property
    def plan(self) -> Plan:
        """The plan that measures the metric."""
        return Plan((self.measurement,))

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest number that is rounded to the value."""
        return self.value - self.precision, self.value + self.precision


@dataclass(frozen=True, repr=False)
class NumberExplanation(HasFindings, Renderable):
    """The protocols under which a published number is possible.

    Parameters
    ----------
    text : str
        The text that was explained.
    metric : str
        The metric's name.
    value : float
        The number.
    table : pandas.DataFrame
        A row per protocol: ``protocol``, ``stated`` (whether the text names it), ``items`` (how
        many are ranked), ``chance``, ``worst`` and ``best`` (the scores of the worst and the best
        order) and ``verdict``.
    remarks : list of str
        What the number implies, and what was assumed.
    findings : pandas.DataFrame
        The verdict on each protocol, and the remarks.
    """

    text: str
    metric: str
    value: float
    table: pd.DataFrame
    _verdicts: Sequence[Finding]
    _remarks: Sequence[Finding]

    @property
    def remarks(self) -> list[str]:
        """What the number implies, and what was assumed, a sentence each."""
        return write_sentences(self._remarks)

    @property
    def _findings(self) -> list[Finding]:
        return [*self._verdicts, *self._remarks]

    def _document(self, *, with_verdict: bool = False) -> Document:  # noqa: ARG002 - has none
        """Return the document: the table and the remarks."""
        cells = self.table.drop(columns="stated")
        cells["protocol"] += np.where(self.table["stated"], " (stated)", "")
        cells["items"] = cells["items"].astype("Int64")
        title = f"{self.metric} {self.value:g} under each protocol"
        numeric = ("items", *_SCORES)
        shown = ShownTable(title, show_columns(cells), note=title, numeric=numeric)
        lead = "Possible means that some model could score it, not that the number is right."
        return Document(
            title="A published number",
            facts=self.text,
            sections=[Section("protocols", "Protocols", lead, [shown, self.remarks])],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as JSON values; a missing number is None."""
        number = {"text": self.text, "metric": self.metric, "value": self.value}
        tables = {"protocols": self.table, "findings": self.findings}
        return {**number, **to_json_value(tables), "remarks": self.remarks}


def explain_number(text: str, *, items: int | None = None) -> NumberExplanation:
    """Return the protocols under which a published number is possible.

    Parameters
    ----------
    text : str
        A metric and its value, then what is known, separated by commas: ``leave-one-out`` or
        ``5 relevant`` (items of each user), ``100 negatives`` or ``1 in 100``, ``full ranking``,
        ``rated items``, and ``3706 items`` or a data set: ML-100K, ML-1M, ML-10M, ML-20M, ML-25M,
        Netflix, Pinterest.
    items : int, optional
        The number of items in the catalogue, if the text does not have it, or a data set was
        filtered.

    Returns
    -------
    NumberExplanation
        A row per protocol with the chance level, the best attainable score and whether the number
        is possible; and bounds for the ranks among all items that a number over sampled items
        implies. They hold for every model, on average over samples. Print it, or use `to_markdown`
        and `to_dict`.

    Raises
    ------
    InvalidInputError
        A part of the text cannot be read.

    References
    ----------
    Krichene & Rendle (2020), doi:10.1145/3394486.3403226

    Examples
    --------
    With one relevant item, at most one of ten can be a hit.

    >>> import recsys_ndcg as rn
    >>> found = rn.explain_number("precision@10 0.2, leave-one-out, 1 in 100")
    >>> found.table.set_index("protocol")[["chance", "best", "verdict"]].round(4)
                         chance  best                     verdict
    protocol
    1 relevant among 100   0.01   0.1  impossible: above the best
    rated items            0.10   0.1  impossible: above the best
    """
    stated = _read_text(text, items)
    verdicts = [*_list_protocols(stated)]
    remarks = [*_find_remarks(stated, verdicts)]
    rows = [
        # without a protocol, the sentence is a few words
        {**verdict.names, **verdict.numbers, "verdict": Finding(verdict.kind).sentence}
        for verdict in verdicts
    ]
    table = pd.DataFrame(rows)[_COLUMNS]
    return NumberExplanation(text, str(stated.measurement), stated.value, table, verdicts, remarks)


def _read_text(text: str, items: int | None) -> _Statement:
    """Return what a text says."""
    first, *parts = [
        part.strip() for part in re.split(r"[,;]", re.sub(r"(?<=\d),(?=\d{3}\b)", "", str(text)))
    ]
    found = _NUMBER.fullmatch(first)
    if found is None:
        msg = f"{quote(first)} is not a metric and its value. {_FORM}, with commas between."
        raise InvalidInputError(msg)
    plan = Plan.of(found["metric"], threshold=1).with_choices(gain="binary")
    check_metrics(plan)
    digits, scale = found["value"], 0.01 if found["percent"] else 1.0
    n_decimals = len(digits.partition(".")[2])
    known: dict[str, int] = {}
    for part in filter(None, parts):
        for name, number in _read_part(part).items():
            if known.setdefault(name, number) != number:
                msg = f"{quote(part)} contradicts an earlier part, which says {known[name]}."
                raise InvalidInputError(msg)
    _complete(known, text, items)
    return _Statement(
        plan.measurements[0],
        round(float(digits) * scale, n_decimals + 2),
        0.5 * scale * 10**-n_decimals,
        **known,  # type: ignore[arg-type] # flags are 0 or 1
    )


def _complete(known: dict[str, int], text: str, items: int | None) -> None:
    """Add what follows from the parts of a text, and raise if they contradict each other."""
    if len(known.keys() & _RANKED) > 1:
        msg = f"{quote(text)} names two sets of items to rank. Name one of them."
        raise InvalidInputError(msg)
    if "among" in known:  # 1 in 100
        known.setdefault("n_relevant", 1)
    if items is not None:
        known["n_items"] = items
    check_integer("items", known.get("n_items", 2), 2, _MOST_ITEMS)
    for name in ("among", "negatives", "n_relevant"):
        if known.get(name, 1) > known.get("n_items", _MOST_ITEMS):
            msg = f"{quote(text)} ranks {known[name]} items, which are more than there are."
            raise InvalidInputError(msg)


def _read_part(part: str) -> dict[str, int]:
    """Return what one part of a text says, by the name of a field of `_Statement`."""
    for name, pattern in _PARTS.items():
        if found := re.fullmatch(pattern, part, re.IGNORECASE):
            value = int(next(filter(None, found.groups()), 1))
            if value >= 1 + (name in ("among", "n_items")):
                return {name: value}
    key = re.sub(r"[\s_-]", "", part.lower()).replace("movielens", "ml").removesuffix("prize")
    for name, n_items in _DATA_SETS.items():
        if key == name.lower().replace("-", ""):
            return {"n_items": n_items}
    point = " Decimals have a point: 0.69." if part.isdigit() else ""
    msg = (
        f"{quote(part)} cannot be read.{point} {_FORM}; data sets: {', '.join(_DATA_SETS)}; others "
        "as '3706 items'."
    )
    raise InvalidInputError(msg)


def _list_protocols(stated: _Statement) -> Iterator[Finding]:
    """Yield the verdict on each protocol."""
    n_relevant = stated.n_assumed
    if stated.n_items is not None or stated.is_full:
        yield _judge_protocol(stated, _ALL_ITEMS, stated.n_items, is_stated=stated.is_full)
    sizes = [100, 101]  # the usual ones
    if stated.among is not None:
        sizes = [stated.among]
    elif stated.negatives is not None:  # some count the relevant item among them
        sizes = [stated.negatives + n_relevant, stated.negatives]
    is_stated = stated.among is not None or stated.negatives is not None
    for size in sizes:
        if n_relevant < size and (stated.n_items is None or size <= stated.n_items):
            name = f"{n_relevant} relevant among {size}" if stated.n_relevant else f"among {size}"
            yield _judge_protocol(stated, name, size, is_stated=is_stated)
    n_rated = 1 if stated.n_relevant == 1 else None
    yield _judge_protocol(stated, _RATED_ITEMS, n_rated, is_stated=stated.is_rated)


def _judge_protocol(
    stated: _Statement, protocol: str, size: int | None, *, is_stated: bool
) -> Finding:
    """Find whether the number is possible for lists of a size, by their worst and best scores."""
    k = stated.measurement.metric.k or 1
    chance, worst = np.nan, 0.0
    if size is not None:
        chance, worst, best = _measure_orders(stated, min(stated.n_assumed, size), size)
    if size is None or stated.n_relevant is None:  # the number of relevant items that is best
        n_best = min(k, size or stated.n_items or k)
        best = _measure_orders(stated, n_best, n_best + 1)[2]
    low, high = stated.ends
    kind = "possible_number"
    if np.isnan(best):
        kind = "undefined_number"
    elif low > best:
        kind = "number_above_best"
    elif stated.n_relevant is not None and high < worst:
        kind = "number_below_worst"
    elif high < chance:
        kind = "number_below_chance"
    elif low <= chance <= high:
        kind = "number_at_chance"
    numbers = {"value": stated.value, "stated": bool(is_stated), "items": size}
    numbers |= {"chance": chance, "worst": worst, "best": best}
    names = {"metric": str(stated.measurement), "protocol": protocol}
    return Finding(kind, numbers, names, "" if is_stated else "fact")


def _measure_orders(stated: _Statement, n_relevant: int, size: int) -> tuple[float, float, float]:
    """Return the score of a list in random order, in the worst and in the best one."""
    true = np.arange(size) < n_relevant
    tied = np.zeros(size)
    lists = to_lists({0: [*zip(tied, true.astype(float), strict=True)]})
    totals = Audit.of(lists, stated.plan).totals_with_orders
    worst, best = (float(totals.mean_of(one)[0]) for one in ("worst", "best"))
    return float(totals.mean[0]), worst, best


def _find_remarks(stated: _Statement, verdicts: Sequence[Finding]) -> Iterator[Finding]:
    """Find what a number implies under some protocols, and what was assumed."""
    names = {"metric": str(stated.measurement)}
    chosen = [verdict for verdict in verdicts if verdict.numbers["stated"]] or verdicts
    if stated.n_relevant is None:
        is_possible = any(verdict.kind not in _IMPOSSIBLE for verdict in verdicts)
        numbers = {"relevant": stated.n_assumed, "is_possible": is_possible}
        yield Finding("unknown_relevant_items", numbers, names)
    for verdict in chosen:
        if verdict.kind not in _IMPOSSIBLE:
            yield from _find_ranks(stated, verdict.names["protocol"], verdict.numbers["items"])
    if stated.n_items is None:
        yield Finding("unknown_catalogue", names=names)
    if stated.value > 1 and stated.measurement.is_bounded:
        yield Finding("number_above_one", {"value": stated.value}, names)


def _find_ranks(stated: _Statement, protocol: str, size: int) -> Iterator[Finding]:
    """Find what a number over sampled items implies for the ranks among all items.

    With F(x) the share of users whose item has a rank of at most x, and g(r) the expected score of
    rank r, which falls: F(x) g(x) + (1 - F(x)) g(N) <= mean <= F(x) g(1) + (1 - F(x)) g(x + 1).
    """
    n_items = stated.n_items
    is_sampled = protocol not in (_ALL_ITEMS, _RATED_ITEMS) and size != n_items
    if not is_sampled or n_items is None or stated.n_assumed > 1:
        return
    by_rank = _score_ranks(stated, size)
    low, high = stated.ends
    after = np.append(by_rank[1:], by_rank[-1])
    with np.errstate(all="ignore"):
        least = np.clip((low - after) / (by_rank[0] - after), 0, 1)
        most = np.clip((high - by_rank[-1]) / (by_rank - by_rank[-1]), 0, 1)
    least[-1] = most[-1] = 1
    k = stated.measurement.metric.k or 10
    same = int(np.searchsorted(-by_rank, -stated.value)) + 1
    numbers = {
        "catalogue": n_items,
        "same_rank": min(same, n_items),
        "median_low": int((most >= 0.5).argmax()) + 1,
        "median_high": int((least >= 0.5).argmax()) + 1,
        "k": k,
        "hit_low": float(least[k - 1]),
        "hit_high": float(most[k - 1]),
    }
    names = {"metric": str(stated.measurement), "protocol": protocol}
    yield Finding("implied_ranks", numbers, names)


def _score_ranks(stated: _Statement, size: int) -> Floats:
    """Return the expected score among sampled items of each rank among all items."""
    ranks = np.arange(1, int(stated.n_items or 0) + 1)
    table = pd.DataFrame({"rank": ranks, "candidates": stated.n_items})
    lists = read_ranks(table, stated.plan)
    return stated.plan.measure_sampled(lists, size - 1, replacement=False)[0].per_user[:, 0]
