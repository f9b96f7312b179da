"""What stands beside scores that were read from a file, or taken from such."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.report.audits.audit import Audit
from recsys_ndcg.report.audits.levels import Levels, Orders

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Positions
    from recsys_ndcg.report.signatures import Signature
    from recsys_ndcg.scoring.scores import Scores


class StoredAudit(Audit):
    """What stands beside scores that were read from a file, or taken from such.

    Parameters
    ----------
    scores : Scores
        Of every user.
    orders : Orders
        Of the same users.
    from_lists : pandas.DataFrame
        What the file has of the columns `FROM_LISTS`.
    signatures : dict of Signature
        By the names of the metrics.
    truth : uint32 array, shape (n_users,)
        The digests of what is known of them.
    """

    def __init__(
        self,
        scores: Scores,
        orders: Orders,
        from_lists: pd.DataFrame,
        signatures: dict[str, Signature],
        truth: NDArray[np.uint32],
    ) -> None:
        super().__init__(signatures)
        self._scores = scores
        self._levels = Levels(scores, orders)
        self._from_lists = from_lists
        self._truth = truth

    @property
    def scores(self) -> Scores:
        """The scores of every user."""
        return self._scores

    @property
    def levels(self) -> Levels:
        """What other orders of the same lists score, user by user."""
        return self._levels

    @property
    def from_lists(self) -> pd.DataFrame:
        """The columns `FROM_LISTS`, a row per metric."""
        return self._from_lists

    @property
    def truth(self) -> NDArray[np.uint32]:
        """A digest of what is known of each user."""
        return self._truth

    def take(self, users: Positions) -> StoredAudit:
        """Return that of some users: what took a look at their lists is not known of them."""
        scores, unknown = self.scores.take(users), self._from_lists * np.nan
        signed = zip(self.signatures.items(), scores.n_scored, strict=True)
        return StoredAudit(
            scores,
            self._levels.orders.take(users),
            unknown,
            {name: one.over(count) for (name, one), count in signed},
            self._truth[users],
        )
