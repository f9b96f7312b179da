"""The weights of labels by item: given, or one over a propensity estimated from training rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar
from zlib import crc32

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags, Floats, Ids, Positions
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.input import has_values_by_id, read_values_by_id, to_floats

if TYPE_CHECKING:
    from recsys_ndcg.background.background import Background


@dataclass(frozen=True, eq=False, repr=False)
class Propensity:
    """How likely each item's labels are observed: a power of its popularity (`propensity`).

    Parameters
    ----------
    train : Background
        The training rows.
    gamma : float
        The exponent, from -1 to `MAX_GAMMA`.
    """

    #: With larger exponents the weights of rare items would overflow.
    MAX_GAMMA: ClassVar[float] = 20.0

    train: Background
    gamma: float

    def __repr__(self) -> str:
        """Return a sentence with the exponent and the number of items."""
        return f"Propensity with gamma={self.gamma:g} of {len(self.train.items)} items."

    @property
    def values(self) -> pd.Series[float]:
        """The propensity of each item, in (0, 1]; 1 for the most popular one."""
        return (1 / self.weights).rename("propensity")

    @property
    def weights(self) -> pd.Series[float]:
        """The weight of each item's labels, one over its propensity."""
        values = self.compute_weights(np.asarray(self.train.n_rows))
        return pd.Series(values, pd.Index(self.train.items, name="item"), name="weight")

    def compute_weights(self, n_rows: Floats) -> Floats:
        """Return the weights of items, given their numbers of training rows; 0 counts as 1."""
        most = np.asarray(self.train.n_rows).max()
        weights: Floats = (most / np.maximum(n_rows, 1.0)) ** ((self.gamma + 1) / 2)
        return weights

    def find_training_rows(self, users: Ids, user: Positions, items: Ids, item: Positions) -> Flags:
        """Return whether each pair of user and item is a training row.

        Parameters
        ----------
        users, items : arrays
            The distinct ids.
        user, item : int arrays, shape (n_pairs,)
            The positions of each pair's ids.
        """
        place, (aligned, code) = self.train.find_users(users)[user], self.train.align(items)
        assert aligned.history is not None, "made from training rows"  # noqa: S101
        n_items = len(aligned.items)
        keys = aligned.history.owners * n_items + aligned.history.codes
        return np.isin(place * n_items + code[item], keys)

    def digest(self) -> str:
        """Return the number of items, and a digest of their training rows and the exponent."""
        items, n_rows = self.train.items, np.asarray(self.train.n_rows)
        return f"{digest_columns(len(items), items, n_rows)}(gamma={self.gamma:g})"

    def with_gamma(self, gamma: float) -> Propensity:
        """Return the propensity of the same items with another exponent."""
        return replace(self, gamma=gamma)


def read_weights(data: Any) -> tuple[Ids, Floats]:
    """Return items and the weights of their labels.

    Parameters
    ----------
    data : Propensity, mapping, Series, table, or path of a file
        A weight by item; a table has a column ``item`` and one more.

    Raises
    ------
    InvalidInputError
        The data has another form, an item twice, or a weight that is not a finite number of at
        least 0.
    """
    if isinstance(data, Propensity):
        data = data.weights
    if not has_values_by_id(data):
        msg = (
            "weights must be propensity(train, gamma=...), a Series of weights by item, or a table "
            f"with the columns item and weight, not {quote(data)}."
        )
        raise InvalidInputError(msg)
    items, given = read_values_by_id(data, "weights")
    values = to_floats(given, "weights")
    wrong = np.flatnonzero(~((values >= 0) & np.isfinite(values)))
    if len(wrong):
        msg = (
            f"weights: the item {quote(items[wrong[0]])} has the weight {values[wrong[0]]:g} "
            f"({len(wrong)} such items). A weight is a finite number of at least 0."
        )
        raise InvalidInputError(msg)
    return items, values


def digest_columns(size: int, *columns: NDArray[Any]) -> str:
    """Return a size and an eight-digit digest of columns of numbers or ids."""
    total = 0
    for column in columns:
        kind, numbers = column.dtype.kind, column
        if kind == "f" and (column == np.floor(column)).all():
            numbers = column.astype(np.int64)  # an id of the lists can make all ids floats
        is_text = kind not in "biuf"
        data = "\0".join(map(repr, column.tolist())).encode() if is_text else numbers.tobytes()
        total = crc32(data, total)  # a longer digest would take longer than the metric
    return f"{size}#{total:08x}"
