"""The report of users who come part by part, each of them whole in one part."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input.ids import encode
from recsys_ndcg.report.audits.levels import Orders
from recsys_ndcg.report.audits.measured import MeasuredAudit
from recsys_ndcg.report.audits.stored import StoredAudit
from recsys_ndcg.report.audits.summed import SummedAudit
from recsys_ndcg.report.report import Report
from recsys_ndcg.report.reporting import warn_of
from recsys_ndcg.report.signatures import signatures
from recsys_ndcg.scoring.measuring import facts_for
from recsys_ndcg.scoring.scores import Scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.report.audits.audit import Audit
    from recsys_ndcg.report.audits.tally import Tally
    from recsys_ndcg.scoring.plan import Plan

_SMALL = 1 << 16  # users of parts that are joined


class _Kept(NamedTuple):
    """What is kept of the users of a part: what a report that is read from a file has of them."""

    scores: Scores
    orders: Orders
    truth: NDArray[np.uint32]

    @classmethod
    def joined(cls, parts: list[_Kept]) -> _Kept:
        """Return the users of several parts, in their order."""
        scores, orders, truth = zip(*parts, strict=True)
        return cls(Scores.concat(scores), Orders.concat(orders), np.concatenate(truth))


class Parts:
    """Lists that are measured part by part, and what is left of each.

    Parameters
    ----------
    plan : Plan
        With its threshold settled.
    highest : float
        The highest grade of all parts. Where it is not known, that of the parts so far counts, and
        `unlabelled_top` of the audit is NaN if a higher one comes after it was made use of.
    keep : bool
        Whether the scores of every user are kept.

    Examples
    --------
    >>> from recsys_ndcg import RankedLists
    >>> from recsys_ndcg.scoring import Plan
    >>> parts = Parts(Plan.of("ndcg@2"), highest=5.0)
    >>> for user in ("ann", "bob"):
    ...     _ = parts.add(RankedLists.from_tuples({user: [(4.5, 3), (3.0, 5)]}))
    >>> parts.report().counts["users"]
    2
    """

    def __init__(self, plan: Plan, *, highest: float = np.nan, keep: bool = True) -> None:
        self.plan = plan
        self.highest = highest
        self.tally: Tally | None = None
        self._kept: list[_Kept] | None = [] if keep else None

    def add(self, lists: GroupedLists, facts: Facts | None = None) -> MeasuredAudit:
        """Measure the lists of some users, none of whom is in another part.

        Parameters
        ----------
        lists : GroupedLists
            All lists of these users.
        facts : Facts, optional
            What is known of them, if somebody looked already (`recsys_ndcg.scoring.facts_for`).

        Returns
        -------
        MeasuredAudit
            Of these users alone; what is needed of it is kept.

        Raises
        ------
        InvalidInputError
            Something in the plan cannot be computed of them. Nothing is added then.
        """
        facts = facts or facts_for(lists, self.plan.measurements)
        self.plan.check(facts, lists)
        highest = self.highest
        if np.isnan(highest):
            before = np.nan if self.tally is None else self.tally.highest
            highest = float(np.fmax(before, facts.all_true.highest))
        part = MeasuredAudit.of(lists, facts, self.plan, highest=highest)
        kept = None
        if self._kept is not None:
            kept = [_Kept(part.scores, part.levels.orders, part.truth)]
        self._add(part.tally, kept)
        return part

    @property
    def n_users(self) -> int:
        """How many users there are so far."""
        return 0 if self.tally is None else self.tally.totals.users

    @property
    def keeps(self) -> bool:
        """Whether the scores of every user are kept."""
        return self._kept is not None

    def forget(self) -> None:
        """Keep the scores of no user from now on."""
        self._kept = None

    def merge(self, other: Parts) -> None:
        """Add the parts of another, measured alike."""
        if other.tally is not None:
            self._add(other.tally, other._kept)

    def _add(self, tally: Tally, kept: list[_Kept] | None) -> None:
        self.tally = tally if self.tally is None else self.tally | tally
        if kept is None:
            self._kept = None
        elif self._kept is not None:
            self._kept = _few([*self._kept, *kept])

    def report(self, median: Floats | None = None, where: str = "") -> Report:
        """Return the report of all users, in ascending order of their ids if they were kept.

        Parameters
        ----------
        median : float64 array, shape (n_measurements,), optional
            Of all scores, where the users are not kept.
        where : str
            Where their scores are then, or how to have them.

        Raises
        ------
        InvalidInputError
            There is nobody, a user is in two parts, or no score of such data means anything.

        Warns
        -----
        DataWarning
            As `recsys_ndcg.evaluate` does.
        """
        if self.tally is None:
            msg = "There are no users yet, so there is nothing to report."
            raise InvalidInputError(msg)
        self.plan.settled(self.tally.facts)
        audit: Audit
        if self._kept is None:
            audit = SummedAudit(self.tally, median, where)
        else:
            audit = _whole(self._kept, self.tally)
        warn_of(audit, self.tally.facts, self.plan)
        return Report(audit)


def _few(kept: list[_Kept]) -> list[_Kept]:
    """Join the last parts as long as they are small: each array costs more than a user's numbers.

    A part is joined with one that is no larger, so each user is copied a few times: as often as
    the users of a batch double until there are enough.
    """
    while len(kept) > 1:
        sizes = [len(one.truth) for one in kept[-2:]]
        if sizes[0] > sizes[1] or sum(sizes) > _SMALL:
            break
        kept[-2:] = [_Kept.joined(kept[-2:])]
    return kept


def _whole(kept: list[_Kept], tally: Tally) -> StoredAudit:
    """Join the users of all parts."""
    scores, orders, truth = _Kept.joined(kept)
    distinct, place = encode(scores.users, "user")
    if len(distinct) < len(place):
        twice = distinct[np.bincount(place) > 1][0]
        msg = f"The user {shown(twice)} is in two parts. Give all rows of a user at once."
        raise InvalidInputError(msg)
    order = np.argsort(place)
    return StoredAudit(
        scores.take(order),
        orders.take(order),
        tally.from_lists,
        signatures(tally.totals.measurements, tally.totals.n_scored.tolist(), tally.facts),
        truth[order],
    )
