"""OfItems: the mean value of the recommended items, such as their popularity."""

from __future__ import annotations

from dataclasses import fields

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import Background
from recsys_ndcg.convention import Convention
from recsys_ndcg.metrics.metric import ORDER, Linear
from recsys_ndcg.metrics.requirements import Requirement
from recsys_ndcg.ranking import ItemValues, Ranking, weighted_sum

#: The choices of a mean over the items of a list.
LISTS = ORDER | {"list_over", "seen"}
#: These, and the choices of an item's popularity.
POPULARITY = LISTS | {"popularity_of", "cold_item"}


class OfItems(Linear):
    r"""A mean of values of the first k items.

    .. math:: \frac{1}{\min(k, n)} \sum_{r \le k} v(i_r)

    with v the value of an item, perhaps for this user, and n the length of the list
    (`Convention.list_over`). A subclass has `values_by_item`, or `values_by_row` if a value depends
    on the user. Its expectation under ties, its chance level and its z are exact.
    """

    needs = frozenset({"items"})
    reads = LISTS
    bounded = False
    #: Whether values are 1 minus `values_by_row`, also for candidates without a row.
    is_complement = False

    def values_by_item(self, known: Background, convention: Convention) -> Floats:
        """Return the value of every item, NaN for items that are left out of lists."""
        raise NotImplementedError

    def values_by_row(self, ranking: Ranking) -> Floats | None:
        """Return the value of every row, if it depends on the user; None if it does not.

        Candidates without a row then have the value 0, or 1 in a complement.
        """
        return None

    def get_values(self, ranking: Ranking) -> ItemValues:
        """Return the values of the items in these lists, computed once."""
        return ranking.get_or_compute((type(self), self._options), lambda: self._find(ranking))

    @property
    def _options(self) -> tuple[object, ...]:
        """The parameters without the cutoff: metrics with the same ones share their values."""
        return tuple(getattr(self, one.name) for one in fields(self) if one.name != "k")

    def _find(self, ranking: Ranking) -> ItemValues:
        # rankings under several conventions share their sorts
        choices = ranking.convention.select_choices(*sorted(self.reads - {"ties"}))
        key = (type(self), self._options, choices, ranking.threshold)
        by_row, by_item, lists = self.values_by_row(ranking), None, ranking.lists
        if by_row is None:
            by_item = self.values_by_item(lists.get_background(), ranking.convention)
            by_row = by_item[np.asarray(lists.item_codes)]
        elif self.is_complement:
            by_row, by_item = 1.0 - by_row, np.ones(len(np.asarray(lists.item_ids)))
        return ItemValues(key, by_row, by_item, largest_first=self.greater_is_better)

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the weighted sum of the values, without items that are left out."""
        values = self.get_values(ranking).without_missing
        return weighted_sum(ranking.of_items(values), self.weights(ranking))

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the number of the first k items that have a value, or as `list_over` says."""
        values = self.get_values(ranking)
        if ranking.convention.list_over == "n" and values.has_missing:
            return weighted_sum(ranking.of_items(values.flags), self.weights(ranking))
        return count_places(ranking, self.k)

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator over all orders of the list."""
        values = self.get_values(ranking).without_missing
        return ranking.deviation_of_items(values, self.weights(ranking))

    def list_requirements(self, convention: Convention) -> list[Requirement]:
        """Return what it needs: no ties if they decide which items are left out."""
        found = super().list_requirements(convention)
        if "list_over" in self.reads and convention.list_over == "n":
            for name in ("cold_item", "missing_feature"):
                if name in self.reads and getattr(convention, name) == "drop":
                    why = (
                        f"{self} under {name}='drop' divides by the number of items that are left, "
                        "which depends on the order of tied items."
                    )
                    found.append(Requirement("no ties", why=why))
        return found


def count_places(ranking: Ranking, k: int | None) -> Floats:
    """Return what a mean over the first k items divides by (`Convention.list_over`)."""
    n_shown = ranking.count_shown(k).astype(np.float64)
    if ranking.convention.list_over == "one":
        return np.ones_like(n_shown)
    return np.full_like(n_shown, k) if divides_by_k(ranking.convention, k) else n_shown


def divides_by_k(convention: Convention, k: int | None) -> bool:
    """Return whether a mean over the first k items is over k places also if a list is shorter."""
    return k is not None and convention.list_over in ("k", "full")


def count_training(known: Background, convention: Convention) -> Floats:
    """Return the number of users, or rows, of each item in training (`popularity_of`)."""
    return np.asarray(known.n_users_of if convention.popularity_of == "users" else known.n_rows)


def count_popularity(known: Background, convention: Convention) -> Floats:
    """Return the number of users, or rows, of each item in training (`popularity_of`).

    Items without any: as `cold_item` says, NaN if they are left out.

    Examples
    --------
    >>> train = [("ann", "a"), ("bob", "a"), ("bob", "b")]
    >>> known = Background.of(train=train, catalogue=["a", "b", "c"])
    >>> count_popularity(known, Convention(cold_item="rarest"))
    array([2., 1., 1.])
    """
    counts = count_training(known, convention)
    cold = {"one_user": 1.0, "rarest": counts[counts > 0].min(initial=np.inf), "drop": np.nan}
    return np.where(counts > 0, counts, cold.get(convention.cold_item, 0.0))
