"""The most popular items: the baseline that a model has to beat."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from surprise import AlgoBase

from recsys_ndcg.catalogue import Ratings

if TYPE_CHECKING:
    from typing import Self


class MostPopular(AlgoBase):  # type: ignore[misc] # surprise has no types
    """The items with the most ratings, the same for every user.

    The estimate of an item is its number of ratings in the trainset, scaled so that the most
    rated item has the top of the rating scale. It is no rating, and RMSE of it says nothing.

    Examples
    --------
    >>> import pandas as pd
    >>> from surprise import Dataset, Reader
    >>> rows = [("ann", "a", 2), ("bob", "a", 1), ("bob", "b", 5)]
    >>> data = Dataset.load_from_df(pd.DataFrame(rows), Reader(rating_scale=(1, 5)))
    >>> popular = MostPopular().fit(data.build_full_trainset())
    >>> float(popular.predict("ann", "a").est), float(popular.predict("ann", "b").est)
    (5.0, 3.0)
    """

    def fit(self, trainset: Any) -> Self:
        """Count the ratings of each item."""
        AlgoBase.fit(self, trainset)
        counts = Ratings(trainset.ir, trainset.n_items).sizes
        low, high = trainset.rating_scale
        self.popularity = low + (high - low) * counts / max(counts.max(initial=0), 1)
        return self

    def estimate(self, user: Any, item: Any) -> float:  # noqa: ARG002 - Surprise's signature
        """Return the popularity of an item: the bottom of the scale for one that nobody rated."""
        if self.trainset.knows_item(item):
            return float(self.popularity[item])
        return float(self.trainset.rating_scale[0])
