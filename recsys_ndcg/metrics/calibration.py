"""How far a list is from the user's training items, in topics or popularity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from recsys_ndcg.arrays import Floats, row_sums
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.features import OfColumn
from recsys_ndcg.metrics.history import sum_history, sum_rows
from recsys_ndcg.metrics.metric import ORDER, Metric, choice, weigh_by_patience
from recsys_ndcg.metrics.popularity import find_tail
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import Ranking

_ALPHA = 0.01  # the share of the history in the list's distribution, so that no topic is absent
_HEAD, _NOT_TAIL = 0.2, 0.8  # shares of all popularity


class Divergence(Metric):
    """A divergence of the topics of the first k items from those of the user's training items.

    A subclass has `topics`. Under tied estimates it compares the expected
    distribution of the list, which is not the mean over the orders, but at most that mean.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"items", "train"})
    greater_is_better: ClassVar[bool] = False
    best_first: ClassVar[bool] = False
    bounded: ClassVar[bool] = False
    nonnegative: ClassVar[bool] = True
    no_chance: ClassVar[str] = (
        "it is not linear in the items, so its mean over random orders is not computed"
    )

    #: Jensen and Shannon's or, if it is another, Kullback and Leibler's.
    divergence: ClassVar[str | None] = "js"

    def topics(self, known: Background, convention: Convention) -> Floats:
        """Return a row for each item, with the share of each topic: sums of 1, or 0 for none."""
        raise NotImplementedError

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the divergence, 0 where it is undefined."""
        history, shown = self._find_distributions(ranking)
        if self.divergence == "js":
            result = compute_js(history, shown)
        else:
            result = _compare(history, (1 - _ALPHA) * shown + _ALPHA * history)
        # rounding can put a sum just below 0
        return np.where(self.denominator(ranking) > 0, np.maximum(result, 0.0), 0.0)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return 1, or 0 if the list or the training items have no topic."""
        history, shown = self._find_distributions(ranking)
        return np.asarray((history > 0).any(axis=1) & (shown > 0).any(axis=1), dtype=np.float64)

    def _find_distributions(self, ranking: Ranking) -> tuple[Floats, Floats]:
        """Return the shares of the topics in the training items, and in the list."""
        return ranking.get_or_compute((self, "distributions"), lambda: self._count(ranking))

    def _count(self, ranking: Ranking) -> tuple[Floats, Floats]:
        topics = self.topics(ranking.lists.get_background(), ranking.convention)
        history = sum_history(ranking.lists, ranking.convention, topics)
        return normalise(history), normalise(sum_shown(ranking, self.k, topics))


@register_metric
@dataclass(frozen=True)
class Calibration(OfColumn, Divergence):
    r"""How far the topics of the first k items are from the topics of the user's training items.

    .. math:: calibration@k = \sum_g p(g) \ln\frac{p(g)}{0.99 \, q(g) + 0.01 \, p(g)}

    with p(g) the share of topic g in the user's training items, and q(g) in the first k items of
    the list; an item with m topics counts 1/m for each. With ``patience=0.85`` an item at rank r
    counts 0.85^(r-1) in the list. ``calibration(divergence=js)`` is the Jensen-Shannon divergence,
    \frac12 KL(p \| m) + \frac12 KL(q \| m) with m = (p + q)/2.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features with the topics: sets or categories.
    divergence : {'kl', 'js'}
        Kullback and Leibler's, or Jensen and Shannon's.

    Notes
    -----
    At least 0 and at most ln 100, or ln 2 under ``"js"``, in units of nats; lower is better: 0 if
    the list has the same shares. Undefined for an empty list, a user without training items, and
    if none of the items has a topic. Items without topics are left out. Not linear: under ties it
    is that of the expected shares, and there is no chance level. Under ``popularity_of="rows"``
    a training item counts as often as it has rows.

    References
    ----------
    Steck (2018), doi:10.1145/3240323.3240372; Lin (1991), doi:10.1109/18.61115, for Jensen-Shannon

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("ann", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"c"}}, {"ann": ["c", "d"]})
    >>> genres = {"item": [*"abcd"], "genre": ["drama", "war", "drama", "war"]}
    >>> metrics = ["calibration(genre)@1", "calibration(genre)@2"]
    >>> rn.evaluate(lists, metrics=metrics, train=train, features=genres).mean.round(3).to_dict()
    {'calibration(genre)@1': 1.959, 'calibration(genre)@2': 0.0}
    """

    name = "calibration"
    also_called = ("miscalibration",)
    needs = frozenset({"items", "train", "features"})
    reads = ORDER | {"missing_feature", "patience", "popularity_of"}

    divergence: str | None = choice("kl", "js")  # type: ignore[misc] # a class attribute there

    def topics(self, known: Background, convention: Convention) -> Floats:
        """Return the share of each topic in every item."""
        return normalise(known.get_feature(self.column).memberships)

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: also entries of training items."""
        return [*super().list_requirements(convention), Requirement("entries", "history")]


def sum_shown(ranking: Ranking, k: int | None, table: Floats) -> Floats:
    """Return the expected sum of a table's rows over each list's first k items.

    An item at rank r counts patience^(r-1) (`Convention.patience`), or 1.
    """
    lists = ranking.lists
    rows, user, share = ranking.exposure(weigh_by_patience(ranking.width(k), ranking.convention))
    item = np.asarray(lists.item_codes)[rows]
    order = np.lexsort((item, user))  # the sums do not depend on the order of the input
    return sum_rows(table, item[order], user[order], len(lists), share[order])


def normalise(table: Floats) -> Floats:
    """Return rows that add up to 1, or are 0.

    Examples
    --------
    >>> normalise(np.array([[3.0, 1.0], [0.0, 0.0]]))
    array([[0.75, 0.25],
           [0.  , 0.  ]])
    """
    total = row_sums(table)[:, None]
    return np.divide(table, total, where=total > 0, out=np.zeros_like(table))


def compute_js(first: Floats, second: Floats) -> Floats:
    """Return the Jensen-Shannon divergence in nats of each row of two tables.

    Examples
    --------
    >>> compute_js(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])) == np.log(2)
    array([ True])
    """
    middle = (first + second) / 2
    return np.asarray((_compare(first, middle) + _compare(second, middle)) / 2)


def _compare(first: Floats, second: Floats) -> Floats:
    """Return the Kullback-Leibler divergence of each row of two tables."""
    has_some = first > 0
    ratio = np.divide(first, second, where=has_some & (second > 0), out=np.ones_like(first))
    return row_sums(first * np.log(ratio))


@register_metric
class UPD(Divergence):
    r"""User popularity deviation: how far the list is from the user's history.

    .. math:: upd@k = \frac12 KL(p \| m) + \frac12 KL(q \| m), \qquad m = \frac{p + q}{2}

    with p the shares of popular, middling and rare items among the user's training items, and q
    among the first k items of the list. Popular items are the fewest that together have 20 % of
    all popularity, rare ones all but the fewest that have 80 %.

    Notes
    -----
    At least 0 and at most ln 2, in units of nats; lower is better: 0 if the list has the same
    shares. Undefined for an empty list and a user without training items. Popularity is the number
    of users in training, or of rows (`Convention.popularity_of`); items of equal popularity at a
    border are in the order of their ids. With ``patience=0.85`` an item at rank r counts 0.85^(r-1)
    in the list. Not linear: under ties it is that of the expected shares, and there is no chance
    level.

    References
    ----------
    Abdollahpouri et al. (2021), doi:10.1145/3450613.3456821

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b"), ("cid", "c"), ("cid", "a")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"b"}}, {"ann": ["b", "a"]})
    >>> rn.evaluate(lists, metrics=["upd@1", "upd@2"], train=train).mean.round(3).to_dict()
    {'upd@1': 0.693, 'upd@2': 0.216}
    """

    name = "upd"
    also_called = ("userpopularitydeviation",)
    reads = ORDER | {"popularity_of", "patience"}

    def topics(self, known: Background, convention: Convention) -> Floats:
        """Return whether every item is popular, middling or rare: 0 or 1."""
        rule = convention.replace(tail="reach", tail_at=_HEAD, universe="catalogue")
        is_head = ~find_tail(known, rule)
        is_tail = find_tail(known, rule.replace(tail_at=_NOT_TAIL))
        return np.stack([is_head, ~is_head & ~is_tail, is_tail], axis=1).astype(np.float64)
