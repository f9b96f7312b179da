"""Popularity lift: how much more popular a list is than the user's training items."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.metrics.history import sum_history
from recsys_ndcg.metrics.metric import get_background
from recsys_ndcg.metrics.popularity import Popularity
from recsys_ndcg.metrics.registry import register_metric
from recsys_ndcg.ranking import Ranking


@register_metric
class PopularityLift(Popularity):
    r"""How much more popular the first k items are than the user's training items, relatively.

    .. math:: popularity\_lift@k = \frac{\bar\nu(L_k) - \bar\nu(H)}{\bar\nu(H)}

    with \bar\nu the mean number of training users of the items in a set, L_k the first k items of
    the list and H the user's training items.

    Notes
    -----
    At least -1, no unit; lower means less popular, which counts as better, 0 as popular as the
    history. Undefined for an empty list and a user without training items. The pooled score of a
    group of users is the lift of their means, GAP. Its expectation under ties, its chance level and
    its z are exact.

    References
    ----------
    Abdollahpouri, Mansoury, Burke & Mobasher (2019), arXiv:1907.13286

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> train = [("ann", "b"), ("bob", "a"), ("bob", "b"), ("cid", "b"), ("ann", "c")]
    >>> lists = rn.RankedLists.from_labels({"ann": {"a"}}, {"ann": ["a", "b"]})
    >>> metrics = ["popularity_lift@1", "popularity_lift@2"]
    >>> rn.evaluate(lists, metrics=metrics, train=train).mean.to_dict()
    {'popularity_lift@1': -0.5, 'popularity_lift@2': 0.0}
    """

    name = "popularity_lift"
    also_called: ClassVar[tuple[str, ...]] = ("lift",)

    def numerator(self, ranking: Ranking) -> Floats:
        """Return the mean popularity of the list minus that of the history."""
        places, profile = super().denominator(ranking), self._find_profile(ranking)
        mean = super().numerator(ranking) / np.where(places > 0, places, 1.0)
        return np.where(self.denominator(ranking) > 0, mean - profile, 0.0)

    def denominator(self, ranking: Ranking) -> Floats:
        """Return the mean popularity of the history, 0 if there is nothing to compare."""
        is_defined = (super().denominator(ranking) > 0) & (ranking.n_items > 0)
        return np.where(is_defined, self._find_profile(ranking), 0.0)

    def deviation(self, ranking: Ranking) -> Floats:
        """Return the standard deviation of the numerator over all orders of the list."""
        places = super().denominator(ranking)
        return super().deviation(ranking) / np.where(places > 0, places, 1.0)

    def _find_profile(self, ranking: Ranking) -> Floats:
        """Return the mean popularity of each user's training items, 0 without any."""
        return ranking.get_or_compute(type(self).name, lambda: self._average_history(ranking))

    def _average_history(self, ranking: Ranking) -> Floats:
        lists, convention = ranking.lists, ranking.convention
        values = self.values_by_item(get_background(lists), convention)
        table = np.stack([values, np.ones(len(values))], axis=1)
        total, count = sum_history(lists, convention, table).T
        return np.asarray(total / np.maximum(count, 1))
