"""SampledRanking: relevant items ranked among sampled ones, as the mean over all samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recsys_ndcg.arrays import Floats, Positions, concat_ranges
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.ranking.ranking import Ranking


@dataclass(eq=False, repr=False, kw_only=True)
class SampledRanking(Ranking):
    """Lists of the relevant items and of sampled other ones, as the mean over all samples.

    Parameters
    ----------
    whole : Ranking
        The ranking of all items, among them all relevant ones.
    n_sampled : int
        The number of other items in each sample.
    replacement : bool
        Whether an item can be sampled more than once.
    """

    whole: Ranking
    n_sampled: int
    replacement: bool = False

    @property
    def relevance(self) -> Floats:
        """The probability that the item at each rank is relevant."""
        return self._tables[0]

    gain = relevance  # a relevant item has the gain 1

    @property
    def relevance_so_far(self) -> Floats:
        """E[rel_r · (relevant items at ranks up to r)], for average precision."""
        return self._tables[1]

    @property
    def first_hit(self) -> Floats:
        """P(the first relevant item is at rank r), for reciprocal rank and hit rate."""
        return self._tables[2]

    @property
    def relevant_ranks(self) -> tuple[Floats, Floats]:
        """The number of relevant items, and the sum of their mean ranks."""
        return self.n_relevant, self.relevance @ np.arange(1.0, self._width + 1)

    @lazy_property
    def _tables(self) -> tuple[Floats, Floats, Floats]:
        """`relevance`, `relevance_so_far` and `first_hit`."""
        user, _, _, before, relevant = self.whole.relevant_groups
        group = np.repeat(np.arange(len(user)), relevant)
        user, place = user[group], concat_ranges(before + 1, relevant)  # among the relevant items
        ahead = self._compute_probabilities(group)
        relevance, so_far, first_hit = np.zeros((3, len(self.n_items), self._width))
        for number in range(1, int(place.max(initial=0)) + 1):  # a user has one item at each place
            rows = place == number
            ranks = slice(number - 1, number + self.n_sampled)
            relevance[user[rows], ranks] += ahead[rows]
            so_far[user[rows], ranks] += number * ahead[rows]
            if number == 1:
                first_hit[user[rows], ranks] = ahead[rows]
        return relevance, so_far, first_hit

    def _compute_probabilities(self, group: Positions) -> Floats:
        """Return P(j sampled items are ahead of a relevant one): shape (n_relevant, n_sampled + 1).

        `group` is the tie group of each relevant item.
        """
        user, others, tied, _, relevant = self.whole.relevant_groups
        n_others = (self.whole.n_items - self.whole.n_relevant).astype(np.int64)[user]
        how: Any = {"n_sampled": self.n_sampled, "replacement": self.replacement}
        table = np.zeros((len(group), self.n_sampled + 1))
        is_exact = tied[group] == 0
        rows = group[is_exact]
        table[is_exact] = count_sampled(others[rows], n_others[rows], **how)
        is_single = ~is_exact & (relevant[group] == 1)
        rows = group[is_single]
        table[is_single] = average_over_tie(others[rows], tied[rows], n_others[rows], **how)
        # the weights of several relevant items in a tie differ: one group at a time
        for one in np.flatnonzero((tied > 0) & (relevant > 1)):
            first, size, pool = others[one], int(relevant[one]), n_others[one]
            ahead, weights = weigh_tied_others(int(tied[one]), size, **how)
            counts = count_sampled(first + ahead, np.full(len(ahead), pool), **how)
            table[group == one] = weights @ counts
        return table


def count_sampled(
    ahead: Any, n_others: Positions, *, n_sampled: int, replacement: bool = False
) -> Floats:
    """Return P(j of the sampled items are among some), for j from 0 to n_sampled.

    It is the hypergeometric distribution, or the binomial one with replacement.

    Parameters
    ----------
    ahead : array, shape (n_rows,)
        The number of items to be among; with replacement it need not be whole.
    n_others : array, shape (n_rows,)
        The number of items that can be sampled.
    n_sampled : int
        The number of items in a sample.
    replacement : bool
        Whether an item can be sampled more than once.

    Examples
    --------
    >>> count_sampled(np.array([1]), np.array([4]), n_sampled=2)
    array([[0.5, 0.5, 0. ]])
    >>> count_sampled(np.array([1]), np.array([4]), n_sampled=2, replacement=True)
    array([[0.5625, 0.375 , 0.0625]])
    """
    among, size = np.asarray(ahead)[:, None], n_others[:, None]
    behind, number = size - among, np.arange(1, n_sampled + 1)
    left = n_sampled - number + 1
    with np.errstate(divide="ignore"):
        if replacement:
            ratios = left / number * (among / behind)
            ends = np.where(behind > 0, 0, n_sampled), np.where(among > 0, n_sampled, 0)
        else:
            ends = np.maximum(n_sampled - behind, 0), np.minimum(among, n_sampled)
            ratios = (among - number + 1) * left / (number * (behind - n_sampled + number))
    return _multiply_ratios(ratios, *ends)


def average_over_tie(
    ahead: Positions, tied: Positions, n_others: Positions, *, n_sampled: int, replacement: bool
) -> Floats:
    """Return the mean of `count_sampled` over ahead, ahead + 1, ..., ahead + tied.

    So many other items are ahead of a relevant one if others are tied with it, in random order.
    With replacement, each sampled item has its own place in this order, also if it is a second
    copy. The sum over binomial coefficients telescopes into the tails of a sample of one more.

    Examples
    --------
    >>> zero, many = np.array([0]), np.array([4])
    >>> average_over_tie(zero, many, many, n_sampled=3, replacement=False)
    array([[0.25, 0.25, 0.25, 0.25]])
    """
    more = 0 if replacement else 1

    def compute_tails(among: Positions) -> Floats:
        how: Any = {"n_sampled": n_sampled + 1, "replacement": replacement}
        table = count_sampled(among, n_others + more, **how)
        return table[:, ::-1].cumsum(axis=1)[:, -2::-1]

    scale = (n_others + more) / ((n_sampled + 1) * (tied + more))
    return scale[:, None] * (compute_tails(ahead + tied + more) - compute_tails(ahead))


def weigh_tied_others(
    tied: int, relevant: int, *, n_sampled: int, replacement: bool
) -> tuple[Floats, Floats]:
    """Return how many tied others can be ahead of relevant items, and with which probabilities.

    Without replacement these are 0 to `tied`. With replacement they are the nodes of a Gauss
    quadrature, which is exact: each item has a uniform place in the tie, and the probabilities are
    polynomials in it.

    Parameters
    ----------
    tied, relevant : int
        The number of other and of relevant items in the tie.
    n_sampled, replacement
        As in `count_sampled`.

    Returns
    -------
    ahead : array, shape (n_nodes,)
        The numbers of others.
    weights : float64 array, shape (relevant, n_nodes)
        The probability of each, for the first relevant item, the second, and so on.

    Examples
    --------
    >>> weigh_tied_others(1, 2, n_sampled=1, replacement=False)[1].round(3)
    array([[0.667, 0.333],
           [0.333, 0.667]])
    """
    place = np.arange(1, relevant + 1)[:, None]
    if not replacement:
        number = np.arange(tied)
        ratios = (place + number) / (number + 1)
        ratios = ratios * (tied - number) / (relevant - place + tied - number)
        return np.arange(tied + 1.0), _multiply_ratios(ratios, 0, tied)
    nodes, shares = np.polynomial.legendre.leggauss((n_sampled + relevant) // 2 + 1)
    nodes = (nodes + 1) / 2
    weights = nodes ** (place - 1) * (1 - nodes) ** (relevant - place) * shares
    return tied * nodes, weights / weights.sum(axis=1, keepdims=True)


def _multiply_ratios(ratios: Floats, lowest: Any, highest: Any) -> Floats:
    """Return probabilities of numbers from 0 on, given the ratio of each to the one before.

    They are 0 outside of the lowest and the highest number.
    """
    number = np.arange(ratios.shape[1] + 1)
    is_step = (number[1:] > lowest) & (number[1:] <= highest)
    logs = np.log(np.where(is_step, ratios, 1.0)).cumsum(axis=1)
    logs = np.hstack([np.zeros((len(logs), 1)), logs])
    table = np.exp(logs - logs.max(axis=1, keepdims=True))
    table = np.where((number >= lowest) & (number <= highest), table, 0.0)
    probabilities: Floats = table / table.sum(axis=1, keepdims=True)
    return probabilities
