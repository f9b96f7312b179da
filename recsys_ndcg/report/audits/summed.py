"""What stands beside scores that were summed up, and not kept user by user."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.report.audits.audit import Audit
from recsys_ndcg.report.signatures import signatures

if TYPE_CHECKING:
    import pandas as pd

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.report.audits.levels import LevelTotals
    from recsys_ndcg.report.audits.tally import Tally
    from recsys_ndcg.scoring.measurement import Measurement
    from recsys_ndcg.scoring.totals import Totals


class SummedAudit(Audit):
    """What stands beside scores that were summed up, and not kept user by user.

    Parameters
    ----------
    tally : Tally
        Of all users.
    median : float64 array, shape (n_measurements,), optional
        Of their scores, if it is known.
    where : str
        Where the scores of each user are, or how to have them: a sentence.
    """

    def __init__(self, tally: Tally, median: Floats | None, where: str) -> None:
        totals = tally.totals
        signed = signatures(totals.measurements, totals.n_scored.tolist(), tally.facts)
        super().__init__(signed)
        self._tally = tally
        unknown = np.full(len(totals.measurements), np.nan)
        self._median = unknown if median is None else median
        self._where = where

    def _refuse(self) -> NoReturn:
        msg = f"This report sums up {self.n_users} users, and does not keep each. {self._where}"
        raise InvalidInputError(msg)

    # what is asked of every user is refused here, whatever asks
    scores = levels = truth = property(_refuse)

    def take(self, users: object) -> NoReturn:  # noqa: ARG002 - that of others
        """Refuse: there are no users to take from."""
        self._refuse()

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What was measured."""
        return self._tally.totals.measurements

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return self._tally.totals.users

    @property
    def n_tied(self) -> int:
        """How many users have two items with the same estimate."""
        return self._tally.totals.tied

    @property
    def totals(self) -> Totals:
        """The scores, summed up."""
        return self._tally.totals

    @property
    def level_totals(self) -> LevelTotals:
        """The levels, summed up."""
        return self._tally.levels

    @property
    def median(self) -> Floats:
        """The median of the scores by metric."""
        return self._median

    @property
    def from_lists(self) -> pd.DataFrame:
        """The columns `FROM_LISTS`, a row per metric."""
        return self._tally.from_lists
