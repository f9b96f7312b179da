"""What the checks need to know of the training rows; summaries of batches of users add up."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Flags, Floats, add_fields
from recsys_ndcg.input import EncodedIds
from recsys_ndcg.ratings import Interactions

_UNKNOWN = pd.Series([np.nan])


@dataclass(frozen=True, eq=False)
class TrainSummary:
    """What the checks need to know of the training rows.

    Parameters
    ----------
    users, items : pandas.DataFrame
        By id: ``rows``, and if there are times ``last`` of a user, ``first`` of an item; of an item
        also the sums of `sum_moments`.
    first_repeats : tuple of str
        The first repeated pairs.
    in_train : mapping of str to bool array
        For each row of the other parts, whether its pair is in training.
    sums : pandas.Series
        Over rows with a rating: their number, the sum of ratings and of squares, and of ratings of
        at least the threshold. The numbers of rows with a time, of rows later than the median row
        of each other part, and of rows whose pair of user and item was there before.
    """

    users: pd.DataFrame
    items: pd.DataFrame
    first_repeats: tuple[str, ...]
    in_train: Mapping[str, Flags]
    sums: pd.Series[float]

    @classmethod
    def of(
        cls, train: Interactions, others: Mapping[str, Interactions], threshold: float | None
    ) -> TrainSummary:
        """Summarise training rows, with all rows of each of their users.

        Parameters
        ----------
        train : Interactions
            The rows.
        others : mapping of str to Interactions
            The other parts, whose pairs are looked up.
        threshold : float, optional
            The least rating of a relevant item.
        """
        by_user: dict[str, Any] = {"rows": train.user.counts}
        by_item: dict[str, Any] = {"rows": train.item.counts}
        test = others["test"].user
        places = test.index.get_indexer(train.user.index)
        n_tested = np.append(test.counts, 0)[places]
        by_item |= sum_moments(train, n_tested / (n_tested + by_user["rows"]))
        if train.time is not None:
            by_user["last"] = find_ends(train.user, train.time, np.fmax)
            by_item["first"] = find_ends(train.item, train.time, np.fmin)
        again = train.is_repeated
        later = {f"later than {name}": _count_later(train, one) for name, one in others.items()}
        return cls(
            users=pd.DataFrame(by_user, index=train.user.index),
            items=pd.DataFrame(by_item, index=train.item.index),
            first_repeats=train.name_rows(again),
            in_train={name: train.contains(one) for name, one in others.items()},
            sums=pd.Series(
                _sum_rows(train, threshold) | later | {"repeats": again.sum()}, dtype=np.float64
            ),
        )

    def __add__(self, other: TrainSummary) -> TrainSummary:
        """Return the summary of the rows of both; no user is in both."""
        items = pd.concat([self.items, other.items]).groupby(level=0)
        return add_fields(  # a sum of flags is their or
            self,
            other,
            users=pd.concat([self.users, other.users]),
            items=items.agg({name: "min" if name == "first" else "sum" for name in self.items}),
            first_repeats=(self.first_repeats + other.first_repeats)[:3],
        )

    @property
    def period(self) -> tuple[float, float]:
        """The first and the last time; NaN without times."""
        first, last = self.items.get("first", _UNKNOWN), self.users.get("last", _UNKNOWN)
        return float(first.min()), float(last.max())

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.users["rows"].sum())


def sum_moments(part: Interactions, shares: Floats) -> dict[str, Floats]:
    """Return by item, over the rows of a part, what is needed if tested rows were drawn by user.

    The sums of their probabilities, variances and fourth cumulants: of a user of n rows, m of them
    tested, each row is tested with the probability m/n.

    Parameters
    ----------
    part : Interactions
        The rows.
    shares : float64 array
        That probability for each distinct user.
    """
    p = shares[part.user.codes]
    spread = p * (1 - p)
    moments = {"expected": p, "variance": spread, "fourth": spread * (1 - 6 * spread)}
    codes, size = part.item.codes, len(part.item.ids)
    return {name: np.bincount(codes, one, size).astype(np.float64) for name, one in moments.items()}


def find_ends(ids: EncodedIds, time: Floats, end: np.ufunc) -> Floats:
    """Return the first (`np.fmin`) or last time of each distinct id, NaN if it has none."""
    found = np.full(len(ids.ids), np.nan)
    end.at(found, ids.codes, time)
    return found


def _count_later(train: Interactions, part: Interactions) -> int:
    """Return the number of training rows that are later than the median row of a part."""
    if train.time is None or part.time is None or np.isnan(part.time).all():
        return 0
    return int((train.time > np.nanmedian(part.time)).sum())


def _sum_rows(train: Interactions, threshold: float | None) -> dict[str, float]:
    rating = train.rated
    time = np.zeros(0) if train.time is None else train.time
    relevant = rating >= threshold if threshold is not None else np.zeros(0)
    return {
        "rated": float(len(rating)),
        "rating": rating.sum(),
        "square": (rating**2).sum(),
        "relevant": float(relevant.sum()),
        "timed": float((~np.isnan(time)).sum()),
    }
