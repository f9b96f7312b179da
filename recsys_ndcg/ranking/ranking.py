"""Ranking: the tables that metrics read, one row per user and one column per rank."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Flags, Floats, Positions, row_sums
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.lazy import Cache, lazy_property
from recsys_ndcg.lists import Facts, GroupedLists, Objections, prepare
from recsys_ndcg.ranking.graded_lists import GradedLists, gain_key
from recsys_ndcg.ranking.ordering import largest_first
from recsys_ndcg.ranking.runs import Cells, Runs, first_hits, hits_so_far
from recsys_ndcg.ranking.sorted_lists import SortedLists

_GRADE = "grade"


def weighted(table: Floats, weights: Floats) -> Floats:
    """Return the sum of a table times weights, over as many ranks as have one: shape (n_users,).

    Parameters
    ----------
    table : float64 array, shape (n_users, width)
        What stands at each rank.
    weights : float64 array, shape (n_ranks,) or (n_users, n_ranks)
        What each rank counts.
    """
    return row_sums(table[:, : weights.shape[-1]] * weights)


def length_of_weights(weights: Floats, n_items: Positions) -> Floats:
    r"""Return the length of the centred weights of the ranks of each list, 0 past the cutoff.

    .. math:: \sqrt{\sum_{r=1}^n (w_r - \bar w)^2}

    Parameters
    ----------
    weights : float64 array, shape (n_ranks,) or (n_users, n_ranks)
        Those of the first ranks; further ones weigh nothing.
    n_items : int64 array, shape (n_users,)
        How many ranks each list has.

    Examples
    --------
    >>> length_of_weights(np.array([1.0, 0.5]), np.array([2, 1])).round(4)
    array([0.3536, 0.    ])
    """
    if weights.ndim == 1:  # then only the length of a list makes a difference
        n_items, place = np.unique(n_items, return_inverse=True)
        return _length_of_rows(weights, n_items)[place]
    return _length_of_rows(weights, n_items)


def _length_of_rows(weights: Floats, n_items: Positions) -> Floats:
    ranks = weights.shape[-1]
    inside = np.arange(ranks) < n_items[:, None]
    table = np.where(inside, weights, 0.0)
    most = table.max(axis=1, initial=0.0)
    table = np.divide(table, most[:, None], where=most[:, None] > 0, out=np.zeros_like(table))
    mean = row_sums(table) / np.maximum(n_items, 1)
    apart = np.where(inside, table - mean[:, None], 0.0)
    beyond = np.maximum(n_items - ranks, 0)
    length: Floats = most * np.sqrt(row_sums(apart * apart) + beyond * (mean * mean))
    return length


@dataclass(eq=False, repr=False)
class Ranking:
    """Lists in ranked order, as tables of shape (n_users, width), each made when first read.

    The width is the number of ranks that are looked at, or the length of the longest list (with
    the user's labelled items that are not in it) where that is less. Past the end of a list the
    tables hold 0. Under ``ties="expected"`` items with equal estimates contribute their mean at
    each of the ranks that they share; else the tables hold one concrete order.

    Parameters
    ----------
    graded : GradedLists
        What the items are worth.
    in_order : SortedLists
        The same lists, sorted, as far as the tables shall reach.
    convention : Convention
        Every choice.
    threshold : float, optional
        From which grade an item is relevant.

    Attributes
    ----------
    gain : float64 array, shape (n_users, width)
        The (expected) gain at each rank, at least 0.
    relevance, labelled : float64 arrays, shape (n_users, width)
        How surely the item at each rank is relevant, has a true value: in [0, 1].
    relevance_so_far : float64 array, shape (n_users, width)
        E[rel_r · (relevant items at ranks up to r)], for average precision.
    first_hit : float64 array, shape (n_users, width)
        P(the first relevant item stands at rank r), for reciprocal rank and hit rate.
    ideal_gain : float64 array, shape (n_users, width)
        The gain at each rank of the ideal list: of all the user's labelled items, or of those in
        the list, best first; under ``ideal="max"`` that of the top grade in every cell.
    discount : float64 array, shape (width,)
        The weight of each rank.
    n_items, n_labelled, n_relevant, n_recommended : arrays, shape (n_users,)
        How many items each list has, how many of the user's items have a label or are relevant,
        in the list or not, and how many of the list are recommended: its first ones.
    error : float64 array, one entry per row
        Estimated minus true, NaN where unlabelled: the one column that is not by rank.
    top_gain : float
        The gain of the top grade.
    """

    graded: GradedLists
    in_order: SortedLists
    convention: Convention
    threshold: float | None = None
    _cache: Cache = field(default_factory=Cache, init=False)

    @property
    def n_items(self) -> Positions:
        """How many items each list has."""
        return self.graded.lists.n_items

    @property
    def missing(self) -> Flags:
        """Users with labels but without a list."""
        return self.graded.lists.missing

    @property
    def n_labelled(self) -> Floats:
        """How many items of each user have a label, in the list or not."""
        return self.graded.n_labelled

    @property
    def n_relevant(self) -> Floats:
        """How many items of each user are relevant, in the list or not."""
        return self.graded.n_relevant(self.threshold)

    @lazy_property
    def n_recommended(self) -> Floats | Positions:
        """How many items of each list count as recommended; they are its first ones."""
        if self.convention.recommend_from is None:
            return self.n_items
        return self.graded.lists.n_recommended(self.convention, self.threshold)

    @lazy_property
    def _width(self) -> int:
        """How many ranks the tables have."""
        longest, depth = int(self.graded.lists.n_places.max(initial=1)), self.in_order.depth
        return longest if depth is None else min(depth, longest)

    @property
    def discount(self) -> Floats:
        """The weight of each rank, shape (width,)."""
        return self.weights(None)

    def width(self, k: int | None) -> int:
        """Return how many of the first k ranks the tables have."""
        return self._width if k is None else min(k, self._width)

    def weights(self, k: int | None) -> Floats:
        """Return the weights of the first k ranks, at most those of the tables."""
        ranks = self.width(k)
        return self._cache.get_or_compute(ranks, lambda: self.convention.discounts(ranks))

    @lazy_property
    def top_gain(self) -> float:
        """The gain of the top grade; binary gains need not be told which that is."""
        top = self.convention.max_grade
        if top is None:
            return 1.0
        return float(self.convention.gains(np.array([top], dtype=np.float64), self.threshold)[0])

    @lazy_property
    def ideal_gain(self) -> Floats:
        """The gain at each rank of the ideal list; under ``max`` that of the top grade in all."""
        if self.convention.ideal == "max":
            return np.full((len(self.n_items), self._width), self.top_gain)
        return self.graded.ideal_gain(self.convention, self.threshold, self._width)

    @lazy_property
    def gain(self) -> Floats:
        """The gain at each rank, 0 past the end of a list."""
        cells = self._cells(self._by_gain)
        return self._shown(cells.filled(self._by_gain.means(self._gains)[cells.run]))

    @lazy_property
    def relevance(self) -> Floats:
        """The relevance at each rank, in [0, 1]."""
        return self._shares(self._in_any_order, self._relevant)

    @lazy_property
    def labelled(self) -> Floats:
        """How surely there is a true value at each rank, in [0, 1]."""
        return self._shares(self._in_any_order, self.graded.labelled)

    @lazy_property
    def relevance_so_far(self) -> Floats:
        """E[rel_r · (relevant items at ranks up to r)], for average precision."""
        runs, (relevant, ahead) = self._in_any_order, self._hits
        cells = self._cells(runs)
        run = cells.run
        hits = hits_so_far(relevant[run], runs.size[run], ahead[run], cells.place)
        return self._shown(cells.filled(hits))

    @lazy_property
    def first_hit(self) -> Floats:
        """P(the first relevant item stands at rank r), for reciprocal rank and hit rate."""
        runs, (relevant, _) = self._in_any_order, self._hits
        found = np.flatnonzero(relevant > 0)
        found = found[np.diff(runs.user[found], prepend=-1) > 0]  # the first of each user
        table = np.zeros((len(self.n_items), self._width))
        if not runs.shared:
            found = found[runs.ahead[found] < self._width]
            table[runs.user[found], runs.ahead[found]] = 1
            return self._shown(table)
        table[runs.user[found]] = first_hits(
            runs.ahead[found], runs.size[found], relevant[found], self._width
        )
        return self._shown(table)

    @lazy_property
    def relevant_ranks(self) -> tuple[Floats, Floats]:
        """How many relevant items each list holds, and the sum of their (expected) ranks.

        Of those within the ranks that are looked at. Both are multiples of 1/2, and exact.
        """
        runs, (relevant, _) = self._in_any_order, self._hits
        rank = runs.ahead + (runs.size + 1) / 2
        found, ranks = (
            np.bincount(runs.user, weights=each, minlength=len(self.n_items)).astype(np.float64)
            for each in (relevant, relevant * rank)
        )
        return found, ranks

    def deviation(self, worth: str, weights: Floats) -> Floats:
        r"""Return the standard deviation of Σ w·a over all orders of each list, shape (n_users,).

        .. math:: \sqrt{\frac{1}{n - 1} \sum_i (a_i - \bar a)^2 \sum_r (w_r - \bar w)^2}

        over the n items of the list, or the candidates that it is drawn from (Hoeffding 1951), with
        weights 0 past the last one given.

        Parameters
        ----------
        worth : {'gain', 'relevance', 'labelled'}
            What an item is worth, a.
        weights : float64 array, shape (n_ranks,) or (n_users, n_ranks)
            The weights of the first ranks, w.
        """
        graded, n_items = self.graded, self.graded.lists.n_candidates
        if worth == "gain":
            items = graded.length_of_gains(self.convention, self.threshold)
        else:
            items = graded.length_of_flags(
                self._relevant if worth == "relevance" else graded.labelled
            )
        others = np.sqrt(np.maximum(n_items - 1, 1))
        deviation: Floats = items / others * length_of_weights(self._shown(weights), n_items)
        return deviation

    @property
    def error(self) -> Floats:
        """Estimated minus true of every row, NaN where unlabelled: the one column not by rank."""
        return self.graded.lists.estimated - self.graded.lists.true

    def per_user(self, values: Floats | Flags) -> Floats:
        """Return the sum of a column such as `error` over each user's rows, NaN left out.

        Numbers are added in ascending order, so that the order of the rows plays no part.
        """
        lists = self.graded.lists
        if values.dtype == np.bool_:
            return lists.sum_by_user(values.astype(np.float64))
        numbers = np.where(np.isnan(values), 0.0, values).astype(np.float64)
        return lists.sum_by_user(-largest_first(-numbers, lists.offsets))

    @lazy_property
    def ranks_of_rows(self) -> tuple[Positions, Positions]:
        """The rows that reach the table, and the rank of each, from 0.

        Those that share a mean stand in input order, and so do those that are worth the same where
        the best or the worst order is taken.
        """
        rule, runs = self.convention.ties, self.in_order.runs
        if not self.convention.any_order or not runs.shared:
            runs = self._by_gain
        else:
            worst_first = rule == "worst"  # these are turned around below
            worth = np.zeros(len(self.error)) if rule == "expected" else self._gains
            tied, rows = runs.n_rows[runs.of_row] > 1, runs.rows.copy()
            some, run = rows[tied], runs.of_row[tied]
            rows[tied] = some[np.lexsort((-some if worst_first else some, -worth[some], run))]
            runs = replace(runs, rows=rows).one_by_one(None, worst_first=worst_first)
        return runs.rows, runs.ahead

    def lists_in_order(self, k: int | None) -> tuple[list[Any], ...]:
        """Return the users, and estimated, true and items of the first k ranks of each list.

        Under a rule for ties that puts each item in one place. Where the data has no items, they
        are the places of the rows among those of the user.
        """
        lists, runs = self.graded.lists, self._by_place
        depth = self._width if k is None else k
        kept = runs.ahead < depth
        rows, user = runs.rows[kept], runs.user[kept]
        ends = np.searchsorted(user, np.arange(1, len(lists)))
        items = rows - lists.offsets[user] if lists.items is None else lists.items[rows]
        columns = (np.split(one, ends) for one in (lists.estimated[rows], lists.true[rows], items))
        return (lists.users.tolist(), *columns)

    def get_or_compute(self, key: Hashable, compute: Callable[[], Floats]) -> Floats:
        """Return what a metric works out for several of its parts, computed once."""
        return self._cache.get_or_compute(key, compute)

    @property
    def _gains(self) -> Floats:
        return self.graded.gains(self.convention, self.threshold)

    @property
    def _relevant(self) -> Floats:
        return self.graded.relevant(self.threshold)

    @lazy_property
    def _by_gain(self) -> Runs:
        if isinstance(self.convention.gain, str):  # a higher grade has no lower gain
            return self._by_grade
        return self._runs(gain_key(self.convention, self.threshold), lambda: self._gains)

    @lazy_property
    def _by_grade(self) -> Runs:
        return self._runs(_GRADE, lambda: self.graded.grades)

    @property
    def _in_any_order(self) -> Runs:
        """Return the runs for sums of 0 and 1 that go up with the grade: they hang on no order."""
        return self.in_order.runs if self.convention.ties == "expected" else self._by_grade

    @lazy_property
    def _hits(self) -> tuple[Floats, Floats]:
        """Return the relevant items in each run, and those ahead of it."""
        runs = self._in_any_order
        relevant = runs.sums(self._relevant)
        before = np.concatenate([[0.0], np.cumsum(relevant)])  # whole numbers: exact
        first = np.searchsorted(runs.user, np.arange(len(self.n_items)))
        return relevant, before[:-1] - before[first][runs.user]

    def _runs(self, name: Hashable, values: Callable[[], Floats]) -> Runs:
        """Return the runs that share ranks by the rule for ties; the extremes are of `values`.

        Under ``expected`` their rows stand in the order of the values, largest first: the order
        in which they are added up.
        """
        rule, in_order = self.convention.ties, self.in_order
        if not in_order.runs.shared:
            return in_order.runs
        if not self.convention.any_order:
            return self._by_place
        runs = in_order.runs
        if not (self.graded.best_first and name == _GRADE):
            runs = in_order.by((self.graded, name), values)
        if rule == "expected":
            return runs
        # items without a row are worth least
        return runs.one_by_one(in_order.depth, worst_first=rule == "worst")

    @lazy_property
    def _by_place(self) -> Runs:
        """Return a run for each row, by a rule for ties that does not go by what it is worth."""
        rule, in_order, lists = self.convention.ties, self.in_order, self.graded.lists
        if not in_order.runs.shared:
            return in_order.runs
        runs = in_order.by(rule, lambda: lists.tie_key(rule))
        return runs.at_places(lists.places_in_ties(runs.rows, runs.place), in_order.depth)

    def _cells(self, runs: Runs) -> Cells:
        """Return the cells that runs cover; where nothing is tied, all tables have the same."""
        return self._cache.get_or_compute(runs, lambda: Cells(runs, len(self.n_items), self._width))

    def _shares(self, runs: Runs, flags: Floats) -> Floats:
        """Return the share of the items at each rank for which something holds."""
        cells = self._cells(runs)
        return self._shown(cells.filled((runs.sums(flags) / runs.size)[cells.run]))

    def _shown(self, table: Floats) -> Floats:
        """Return a table without the ranks that lists of some of all candidates do not show."""
        if not self.graded.lists.cut_short:
            return table
        return np.where(np.arange(table.shape[-1]) < self.n_items[:, None], table, 0.0)


def rank(
    lists: GroupedLists,
    convention: Convention,
    depth: int | None = None,
    *,
    threshold: float | None = None,
) -> Ranking:
    """Rank lists under a convention.

    Parameters
    ----------
    lists : GroupedLists
        Any.
    convention : Convention
        Every choice.
    depth : int, optional
        How many ranks the tables have; None for the longest list.
    threshold : float, optional
        From which grade an item is relevant.

    Raises
    ------
    InvalidInputError
        The lists cannot be ranked under the convention.

    Examples
    --------
    >>> from recsys_ndcg import Convention, RankedLists
    >>> lists = RankedLists.from_tuples({"ann": [(2.0, 1), (4.5, 3), (2.0, 2)]})
    >>> rank(lists, Convention(), depth=2).gain
    array([[7., 2.]])
    """
    facts = Facts.of(lists, distinct=not isinstance(convention.gain, str))
    against = Objections(convention, threshold, facts, lists)
    InvalidInputError.raise_if(against.to_order() or against.to_gains())
    ready = prepare(lists, convention)
    in_order = SortedLists(ready, convention, depth=depth)
    return Ranking(GradedLists(ready), in_order, convention, threshold=threshold)
