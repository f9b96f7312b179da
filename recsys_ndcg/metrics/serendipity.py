"""Serendipity: relevant items that the user would not expect."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recsys_ndcg.arrays import Floats, compute_offsets
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.lists import GroupedLists
from recsys_ndcg.metrics.distances import find_distances
from recsys_ndcg.metrics.features import OfColumn
from recsys_ndcg.metrics.history import list_history
from recsys_ndcg.metrics.metric import choice
from recsys_ndcg.metrics.of_items import LISTS, OfItems, count_training
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import ItemValues, Ranking, weighted_sum


@register_metric
@dataclass(frozen=True)
class Serendipity(OfColumn, OfItems):
    r"""How unexpected the relevant recommended items are: by popularity, or by the user's history.

    .. math:: serendipity@k = \frac{1}{\min(k, n)} \sum_{r \le k}
        rel(i_r) \max\left(\frac{p(i_r) - r}{|I|}, 0\right)

    with p(i) the rank of item i by its number of training users, 1 for the most popular items, and
    I the catalogue: how many places a relevant item stands above its place by popularity. It is a
    dense rank: items of equal numbers share it, and the next number has the next rank, so that the
    last rank is how many different numbers there are. An item that nobody had comes after all items
    of the catalogue.

    Other definitions (``by``) compare with the user's training items H:
    ``"history"`` is the mean over the list of d(i), the mean distance of item i from the items of
    H; ``"relevant"`` counts 0 for items that are not relevant; ``"hits"`` is
    :math:`1 - \sum_{r \le k} rel(i_r) (1 - d(i_r))`.

    Parameters
    ----------
    k : int, optional
        The cutoff.
    column : str
        The column of the features that distances compare; by default all columns together. It is
        not read by ranks, nor by ``distance="cooccurrence"``.
    by : {'ranks', 'history', 'relevant', 'hits'}
        How unexpected an item is, as above.

    Notes
    -----
    In [0, 1] by ranks, no unit; higher is better. By distance it is in the unit of the distance,
    which is measured as in `Diversity`, and under ``"hits"`` it can be negative. Undefined for an
    empty list; by distance also for a user without training items; under ``"hits"`` also without a
    relevant item among the first k. Its expectation under ties, its chance level and its z are
    exact, except that ``"hits"`` has no score if items are tied, and ``"history"`` no chance level
    in a catalogue.

    References
    ----------
    Ge, Delgado-Battenfeld & Jannach (2010), doi:10.1145/1864708.1864761; Zhang et al. (2012),
    doi:10.1145/2124295.2124300, for distances from the history

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"c"}}, {"ann": ["c", "b"]})
    >>> options = {"train": train, "catalogue": [*"abc"], "threshold": 1}
    >>> rn.evaluate(lists, metrics="serendipity@2", **options).mean.to_dict()
    {'serendipity@2': 0.5}
    >>> by_users = {"distance": "cooccurrence"}
    >>> metric = "serendipity(by=history)@1"
    >>> rn.evaluate(lists, metrics=metric, convention=by_users, **options).mean.to_dict()
    {'serendipity(by=history)@1': 1.0}
    """

    name = "serendipity"
    reads = LISTS | {"distance", "missing_feature", "seen", "popularity_of"}
    needs_threshold = True
    kinds = ("set", "category", "number", "vector", "columns")

    by: str | None = choice("ranks", "history", "relevant", "hits")

    @property
    def nonnegative(self) -> bool:  # type: ignore[override] # a class attribute in Metric
        """Whether no score can be negative: it is no difference."""
        return self.by != "hits"

    @property
    def _by_ranks(self) -> bool:
        return self.by in (None, "ranks")

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: the catalogue, or the features."""
        found = [Requirement("source", name) for name in ("items", "train")]
        if self._by_ranks:
            return [*found, Requirement("source", "catalogue"), Requirement("column", ())]
        if self.by == "history":
            why = "the distances of all candidates from each user's training items are not computed"
            found.append(Requirement("no chance", "listed", why))
        if self.by == "hits":
            why = (
                f"{self} by hits counts users with a relevant item among the first ranks, which "
                "depends on the order of tied items."
            )
            found.append(Requirement("no ties", why=why))
        if convention.distance == "cooccurrence":
            return [*found, Requirement("column", ())]
        needed = OfItems.list_requirements(self, convention)
        found += [one for one in needed if one.kind == "no ties"]
        found += [Requirement("source", "features"), Requirement("distance")]
        return found + [Requirement("entries", of) for of in ("rows", "history")]

    def values_by_row(self, ranking: Ranking) -> Floats:
        """Return the value of every row; by ranks, its place by popularity if it is relevant."""
        lists = ranking.lists
        relevant = ranking.graded.compute_relevance(ranking.threshold)
        if self._by_ranks:
            places = rank_by_popularity(lists.get_background(), ranking.convention)
            return np.asarray(relevant * places[np.asarray(lists.item_codes)])
        distances, counts = self._measure(ranking)
        distances = np.where(counts[lists.user_of_row] > 0, distances, 0.0)
        if self.by == "history":
            return distances
        values = distances if self.by == "relevant" else 1.0 - distances
        return np.where(np.isnan(values) | (relevant > 0), values, 0.0)

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the sum of the values of the first k items."""
        if self._by_ranks:
            _, mean = self._sum_above(ranking)
            return weighted_sum(mean, self.weights(ranking)) / self._n_items(ranking)
        total = super().numerator(ranking)
        return self.denominator(ranking) - total if self.by == "hits" else total

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of places; 0 if the user has nothing to compare with."""
        if self._by_ranks:
            return super().denominator(ranking)
        has_history = self._measure(ranking)[1] > 0
        if self.by == "hits":
            hits = weighted_sum(ranking.relevance, self.weights(ranking))
            return np.asarray(has_history & (hits > 0), dtype=np.float64)
        return np.where(has_history, super().denominator(ranking), 0.0)

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator over all orders of the list."""
        if not self._by_ranks:
            return super().deviation(ranking)
        total, _ = self._sum_above(ranking)
        return self._deviate(ranking, total[:, : ranking.width(self.k)]) / self._n_items(ranking)

    def _measure(self, ranking: Ranking) -> tuple[Floats, Floats]:
        """Return the mean distance of every row, and the number of items that it is from."""
        convention = ranking.convention
        choices = convention.select_choices("distance", "missing_feature", "popularity_of")
        return ranking.graded.get_or_compute(
            ("distances", self.column, choices),
            lambda: measure_distances(ranking.lists, self.column, convention),
        )

    def _sum_above(self, ranking: Ranking) -> tuple[Floats, Floats]:
        values = self.get_values(ranking)
        key = "above", values.key
        return ranking.get_or_compute(key, lambda: sum_above_ranks(ranking, values))

    def _n_items(self, ranking: Ranking) -> int:
        """Return the number of items in the catalogue."""
        return int(np.asarray(ranking.lists.get_background().in_catalogue).sum())

    def _deviate(self, ranking: Ranking, by_rank: Floats) -> Floats:
        r"""Return the standard deviation of \sum max(p - r, 0) over all random orders.

        Hoeffding (1951): of the table of all candidates and ranks, less the means of its rows and
        columns. All sums are of whole numbers.
        """
        lists, values = ranking.lists, self.get_values(ranking).by_row
        last = np.minimum(np.maximum(values - 1, 0), ranking.count_shown(self.k)[lists.user_of_row])
        by_item = last * values - last * (last + 1) / 2
        squares = last * values**2 - values * last * (last + 1)
        squares = lists.sum_by_user(squares + last * (last + 1) * (2 * last + 1) / 6)
        n = np.maximum(lists.pool.count_candidates(lists), 1).astype(np.float64)
        rows, columns = lists.sum_by_user(by_item**2), (by_rank**2).sum(axis=1)
        variance = n * (n * squares - rows - columns) + by_rank.sum(axis=1) ** 2
        variance = np.where(variance < 1e-12 * n * n * squares, 0.0, variance)
        return np.sqrt(variance / np.maximum(n - 1, 1)) / n


def rank_by_popularity(known: Background, convention: Convention) -> Floats:
    """Return the rank of every item by popularity; equal counts share a rank without gaps.

    An item that nobody had in training is past the last place of the catalogue.

    Examples
    --------
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    >>> rank_by_popularity(Background.of(train=train, catalogue=[*"abc"]), Convention())
    array([1., 2., 4.])
    """
    counts = count_training(known, convention)
    distinct, code = np.unique(counts[counts > 0], return_inverse=True)
    places = np.full(len(counts), np.asarray(known.in_catalogue).sum() + 1.0)
    places[counts > 0] = len(distinct) - code
    return places


def sum_above_ranks(ranking: Ranking, values: ItemValues) -> tuple[Floats, Floats]:
    """Return the sum and the mean of max(v - r, 0) over the items that may stand at each rank r.

    The shape is (n_users, width). The values v are whole numbers, so the sums are exact.
    """
    groups, cells = ranking.order_by(values)
    rank = groups.n_before[cells.group] + cells.place + 1
    value = values.by_row[groups.rows].astype(np.int64)
    step = int(max(value.max(initial=0), rank.max(initial=0))) + 1
    # the values of each group descend: find the first that is not above the rank
    keys = groups.group_of_row * step + (step - 1 - value)
    end = np.searchsorted(keys, cells.group * step + (step - 1 - rank))
    begin = groups.start[cells.group]
    sums = np.append(0, np.cumsum(value))
    above = (sums[end] - sums[begin] - rank * (end - begin)).astype(np.float64)
    is_rank = np.arange(ranking.width(None)) < ranking.n_items[:, None]
    total, mean = cells.fill_table(above), cells.fill_table(above / groups.size[cells.group])
    return np.where(is_rank, total, 0.0), np.where(is_rank, mean, 0.0)


def measure_distances(
    lists: GroupedLists, column: str, convention: Convention
) -> tuple[Floats, Floats]:
    """Return the mean distance of each row's item from its user's training items.

    It is NaN if the user has none, or if an item without features is left out. Also return the
    number of each user's training items that count.

    Parameters
    ----------
    lists : GroupedLists
        The lists, with what is known besides them.
    column : str
        The column of the features; "" for all columns.
    convention : Convention
        Its `distance`, `missing_feature` and `popularity_of` are read.
    """
    known, (owner, others) = lists.get_background(), list_history(lists, convention)
    user, item = lists.user_of_row, np.asarray(lists.item_codes).astype(np.int64)
    counted = np.ones(len(known.items), dtype=bool)
    if convention.missing_feature == "drop" and convention.distance != "cooccurrence":
        counted = np.asarray(known.get_feature(column).is_known)
    owner, others = owner[counted[others]], others[counted[others]]
    counts = np.bincount(owner, minlength=len(lists))
    distances = find_distances(known, column, convention)
    total = distances.sum_from(user, item, compute_offsets(counts), others)
    is_defined = counted[item] & (counts[user] > 0)
    mean = np.where(is_defined, total / np.maximum(counts[user], 1), np.nan)
    return mean, counts.astype(np.float64)
