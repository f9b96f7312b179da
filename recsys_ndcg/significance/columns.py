"""Columns of numbers, an entry per user, whose sums make up those of all pairs' differences.

Where every model has a score of every user, the sum of a pair's differences is the difference of
two models' sums: fifty columns stand for 1225 pairs. A pair that this would leave too few digits,
or whose models do not score the same users, has a column of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recsys_ndcg.arrays import Flags, Floats, Positions
    from recsys_ndcg.significance.differences import Compared, Moments

_WILD = 1024  # times the size of the typical model: its digits are not those of the others
_FINE = 2.0**-31  # of all models' size: what a user's difference must be on average
_CELLS = 1 << 23


class PairColumns:
    """The columns of some pairs.

    Parameters
    ----------
    compared : Compared
        The scores.
    moments : Moments
        Of all its pairs.
    pairs : int64 array, shape (n_pairs,)
        Those that columns are wanted of.
    centred : bool
        Whether each column has its mean taken off.

    Attributes
    ----------
    first, second : int64 arrays, shape (n_pairs,)
        A pair's sum is that of its first column less that of its second, of which -1 is none.
    """

    def __init__(
        self, compared: Compared, moments: Moments, pairs: Positions, *, centred: bool
    ) -> None:
        self._compared = compared
        self._mean = moments.mean if centred else np.zeros(len(moments.mean))
        size = moments.deviation * moments.users if centred else moments.absolute
        self._middle = _middle(compared, pairs)
        self._models, shared = self._shared(pairs, size[pairs])
        self._own = pairs[~shared]
        users = max(compared.scores.shape[1], 1)
        self._taken = [
            float(self._model(one).sum() / users) if centred else 0.0 for one in self._models
        ]
        place = np.searchsorted(self._models, compared.pairs[pairs])
        own = len(self._models) + np.cumsum(~shared) - 1
        self.first = np.where(shared, place[:, 0], own)
        self.second = np.where(shared, place[:, 1], -1)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._models) + len(self._own)

    @property
    def users(self) -> int:
        """How many entries each of them has."""
        return int(self._compared.scores.shape[1])

    def values(self, column: int, users: slice = slice(None)) -> Floats:
        """Return a column's entries, 0 where there is no difference."""
        if column < len(self._models):
            of_model: Floats = self._model(self._models[column], users) - self._taken[column]
            return of_model
        pair = self._own[column - len(self._models)]
        of_pair: Floats = self._compared.aligned(pair, users) - self._mean[pair]
        of_pair[np.isnan(of_pair)] = 0.0
        return of_pair

    def parts(self) -> Iterator[tuple[range, Positions]]:
        """Go through runs of columns, and the places of the pairs that they make up."""
        models = len(self._models)
        if models:
            yield range(models), np.flatnonzero(self.second >= 0)
        step = max(1, _CELLS // max(self.users, 1))
        for start in range(models, len(self), step):
            columns = range(start, min(start + step, len(self)))
            own = (self.second < 0) & (self.first >= start) & (self.first < columns.stop)
            yield columns, np.flatnonzero(own)

    def _shared(self, pairs: Positions, size: Floats) -> tuple[Positions, Flags]:
        """Return the models that have a column, and which pairs are made up of two of these."""
        none = np.zeros(0, dtype=np.int64), np.zeros(len(pairs), dtype=np.bool_)
        named = self._compared.pairs[pairs]
        models = np.unique(named)
        if self._middle is None:
            return none
        sizes = np.array([np.abs(self._model(one)).sum() for one in models])
        tame = sizes <= _WILD * np.median(sizes[sizes > 0])
        fine = size >= _FINE * self.users * sizes[tame].max()
        shared = np.isin(named, models[tame]).all(axis=1) & fine
        models = np.unique(named[shared])
        return (models, shared) if shared.sum() > len(models) else none

    def _model(self, model: int, users: slice = slice(None)) -> Floats:
        """Return how far a model's scores are from the middle of all models'."""
        assert self._middle is not None  # noqa: S101 - only then has a model a column
        entries: Floats = self._compared.scores[model, users] - self._middle[users]
        return entries


def _middle(compared: Compared, pairs: Positions) -> Floats | None:
    """Return each user's median score, if models can have columns, and are fewer than pairs."""
    if not compared.complete or len(pairs) <= len(np.unique(compared.pairs[pairs])):
        return None
    middle: Floats = np.median(compared.scores, axis=0)
    return middle
