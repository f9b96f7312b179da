"""Audit: what stands beside the score, so that it can be read: chance, ties, labels, counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.lazy import lazy
from recsys_ndcg.parallel import allowed
from recsys_ndcg.report.audits.levels import adjusted
from recsys_ndcg.report.summary import intervals
from recsys_ndcg.scoring.totals import Totals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats, Positions
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.report.audits.levels import Levels, LevelTotals
    from recsys_ndcg.report.signatures import Signature
    from recsys_ndcg.scoring.measurement import Measurement
    from recsys_ndcg.scoring.scores import Scores

TIES_MATTER = 0.001  # a range this wide changes the third decimal

#: The columns of the audit that stand in the summary, too.
LEVELS = ("chance", "adjusted", "tie_low", "tie_high")
#: Those that take a look at the lists; the others follow from the scores of every user.
FROM_LISTS = (
    "tie_low",
    "tie_high",
    "decided_by_ties",
    "judged",
    "unlabelled_zero",
    "unlabelled_top",
)
#: What `Report.counts` has of users and rows, beside the undefined and trivial users by metric.
COUNTS = (
    "short",
    "trivial",
    "tied",
    "unlabelled",
    "unlisted",
    "missing",
    "impossible",
    "duplicates",
    "left_out",
)


class Audit:
    """What stands beside some scores.

    Parameters
    ----------
    signatures : dict of Signature
        How each metric was computed, by name.
    """

    def __init__(self, signatures: dict[str, Signature]) -> None:
        self.signatures = signatures
        self.n_jobs = allowed()  # of what is asked for later, too

    @property
    def scores(self) -> Scores:
        """The scores of every user."""
        raise NotImplementedError

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What was measured."""
        return self.scores.measurements

    @property
    def n_users(self) -> int:
        """How many users there are."""
        return len(self.scores.users)

    @property
    def n_tied(self) -> int:
        """How many users have two items with the same estimate."""
        return int(self.scores.counts.tied.sum())

    @lazy
    def totals(self) -> Totals:
        """The scores, summed up."""
        return Totals.of(self.scores)

    @lazy
    def median(self) -> Floats:
        """The median of the scores by metric, which totals do not have."""
        return self.scores.median

    @property
    def levels(self) -> Levels:
        """What other orders of the same lists score, user by user."""
        raise NotImplementedError

    @lazy
    def level_totals(self) -> LevelTotals:
        """The levels, summed up."""
        return self.levels.totals

    @property
    def from_lists(self) -> pd.DataFrame:
        """The columns `FROM_LISTS`, a row per metric."""
        raise NotImplementedError

    @property
    def truth(self) -> NDArray[np.uint32]:
        """A digest of what is known of each user: shape (n_users,)."""
        raise NotImplementedError

    @property
    def lists(self) -> GroupedLists | None:
        """What was measured, if it is at hand."""
        return None

    def take(self, users: Positions) -> Audit:
        """Return that of some users, given by their places in ascending order."""
        raise NotImplementedError

    @lazy
    def table(self) -> pd.DataFrame:
        """One row per metric: the levels, extreme orders, shares of users, and unlabelled items."""
        totals, levels, others = self.totals, self.level_totals, self.from_lists
        chance, best = levels.chance.mean, levels.best.mean
        ordered = ~np.isnan(best)
        columns: dict[str, Any] = {
            "chance": chance,
            "adjusted": adjusted(totals.mean, chance, best),
            "z": levels.z,
            "worst": levels.worst.mean,
            "best": best,
            "trivial": share(levels.trivial, np.where(ordered, totals.n_scored, 0)),
            "tie_low": others["tie_low"].to_numpy(),
            "tie_high": others["tie_high"].to_numpy(),
            "decided_by_ties": others["decided_by_ties"].to_numpy(),
            "short": totals.short_of / totals.users,
            "skipped": 1 - totals.n_scored / totals.users,
            "unlabelled": totals.unlabelled / max(totals.ratings, 1),
            "judged": others["judged"].to_numpy(),
            "unlabelled_zero": others["unlabelled_zero"].to_numpy(),
            "unlabelled_top": others["unlabelled_top"].to_numpy(),
        }
        return pd.DataFrame(columns, index=totals.names)

    @property
    def counts(self) -> dict[str, int]:
        """How many users and rows need a second look."""
        totals, levels = self.totals, self.level_totals
        by_metric = {
            "undefined": totals.undefined.tolist(),
            "trivial": levels.trivial.tolist(),
        }
        return {
            "users": totals.users,
            **self._rows,
            **{
                name: levels.n_trivial if name == "trivial" else getattr(totals, name)
                for name in COUNTS
            },
            **{
                f"{what} {metric}": number
                for what, numbers in by_metric.items()
                for metric, number in zip(totals.names, numbers, strict=True)
            },
        }

    @property
    def protocol(self) -> str:
        """What was ranked: ratings, lists that somebody supplied, or a catalogue."""
        told: str = next(iter(self.signatures.values())).fields["protocol"]
        return told

    @property
    def _rows(self) -> dict[str, int]:
        """How many rows there are, by what they are under the protocol."""
        totals = self.totals
        if self.protocol == "rated":
            return {"ratings": totals.ratings}
        if self.protocol == "supplied":
            return {"recommended": totals.ratings}
        chosen = totals.ratings < totals.candidates
        recommended = {"recommended": totals.ratings} if chosen else {}
        return recommended | {"candidates": totals.candidates}

    @property
    def tie_range(self) -> tuple[Floats, Floats]:
        """The mean scores with every tie in its worst, and in its best order."""
        return self.from_lists["tie_low"].to_numpy(), self.from_lists["tie_high"].to_numpy()

    def widest_tie_range(self) -> tuple[str, float, float] | None:
        """Return the metric that ties leave open furthest, and its range, if it matters.

        It does if it changes the third decimal and is wider than half the interval of the mean.
        One user has no interval: the third decimal decides.
        """
        if self.n_tied < TIES_MATTER * self.n_users:
            return None
        low, high = self.tie_range
        ends = intervals(self.totals)
        half = np.nan_to_num((ends["mean_high"] - ends["mean_low"]).to_numpy() / 2)
        bounded = [one.metric.bounded for one in self.measurements]
        matters = bounded & (high - low >= TIES_MATTER) & (high - low > half)
        if not matters.any():
            return None
        widest = int(np.where(matters, high - low, 0.0).argmax())
        return str(self.measurements[widest]), float(low[widest]), float(high[widest])

    def below_chance(
        self, *, far: float = 0.1, sure: float = 4.0
    ) -> tuple[str, float, float] | None:
        """Return the metric that is most surely far below random order, its mean, and chance.

        Parameters
        ----------
        far : float
            The least share of the way from random order to the worst order, all ties being in
            their best order.
        sure : float
            The least distance from random order, in its standard deviations.
        """
        mean, levels = self.totals.mean, self.level_totals
        chance, worst = levels.chance.mean, levels.worst.mean
        kinds = [one.metric for one in self.measurements]
        bounded, upward = [one.bounded for one in kinds], [one.greater_is_better for one in kinds]
        best = np.fmax(mean, self.tie_range[1])
        with np.errstate(all="ignore"):
            # no score in [0, 1] varies more than one that is either 0 or 1
            most = np.sqrt(np.where(bounded, chance * (1 - chance), np.nan) / self.totals.n_scored)
            z = np.where(np.isnan(levels.z), (mean - chance) / most, levels.z)
            below = upward & (chance - best > far * (chance - worst)) & (z <= -sure)
        if not below.any():
            return None
        lowest = int(np.where(below, z, 0.0).argmin())
        return str(self.measurements[lowest]), float(mean[lowest]), float(chance[lowest])


def share(which: Positions, among: Positions) -> Floats:
    """Return how many of some there are, NaN of none."""
    found: Floats = np.divide(which, among, where=among > 0, out=np.full(len(which), np.nan))
    return found
