"""PartialReport: the report of some users, which adds up with those of others to the whole."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recsys_ndcg.errors import InvalidInputError, shown
from recsys_ndcg.input import encode
from recsys_ndcg.report import Report, warn_of
from recsys_ndcg.scoring import Audit, Scores, Totals, signatures

if TYPE_CHECKING:
    from collections.abc import Callable

    from recsys_ndcg.arrays import Floats
    from recsys_ndcg.lists import Facts
    from recsys_ndcg.scoring import Plan

_SMALL = 1 << 16  # users of parts that are joined


@dataclass(frozen=True, eq=False)
class PartialReport:
    """What is left of the lists of some users, none of whom is in another part.

    Parameters
    ----------
    facts : Facts
        What is known of the lists.
    totals : Totals
        Of the scores, in every role.
    kept : tuple of Scores, optional
        Those of every user, part by part; None where they are not kept.

    Examples
    --------
    >>> from recsys_ndcg import RankedLists
    >>> from recsys_ndcg.scoring import Plan
    >>> plan, parts = Plan.of("ndcg@2"), []
    >>> for user in ("ann", "bob"):
    ...     lists = RankedLists.from_tuples({user: [(4.5, 3), (3.0, 5)]})
    ...     parts.append(PartialReport.of(Audit.of_part(lists, plan, highest=5.0)))
    >>> (parts[0] + parts[1]).report(plan).counts["users"]
    2
    """

    facts: Facts
    totals: Totals
    kept: tuple[Scores, ...] | None = None

    @classmethod
    def of(cls, audit: Audit, *, keep: bool = True) -> PartialReport:
        """Return what is left of lists that are measured and at hand (`Audit.of_part`).

        Parameters
        ----------
        audit : Audit
            Of all lists of these users.
        keep : bool
            Whether the scores of every user are kept.
        """
        kept = (audit.kept_scores,) if keep else None
        return cls(audit.source.facts, audit.full_totals, kept)

    def __add__(self, other: PartialReport) -> PartialReport:
        """Return that of the users of both, measured alike; users are kept if both keep them."""
        kept = None
        if self.kept is not None and other.kept is not None:
            kept = _few([*self.kept, *other.kept])
        return PartialReport(self.facts + other.facts, self.totals + other.totals, kept)

    def report(
        self, plan: Plan, median: Floats | Callable[[], Floats] | None = None, where: str = ""
    ) -> Report:
        """Return the report of all users, in ascending order of their ids if they were kept.

        Parameters
        ----------
        plan : Plan
            By which all were measured.
        median : float64 array, shape (n_measurements,), or callable that returns it, optional
            Of all scores, where the users are not kept.
        where : str
            Where their scores are then, or how to have them.

        Raises
        ------
        InvalidInputError
            A user is in two parts, or no score of such data means anything.

        Warns
        -----
        DataWarning
            As `recsys_ndcg.evaluate` does.
        """
        plan.settled(self.facts)
        counted = self.totals.n_scored.tolist()
        signed = signatures(self.totals.measurements, counted, self.facts)
        if self.kept is None:
            audit = Audit(signed, totals=self.totals, median=median, where=where)
        else:
            scores = _in_order(Scores.concat(self.kept))
            totals = Totals.of(scores)
            roles = {**self.totals.roles, **totals.roles}  # those of ties and labels are known
            audit = Audit(signed, scores, replace(totals, roles=roles))
        warn_of(audit, self.facts, plan)
        return Report(audit)


def _few(kept: list[Scores]) -> tuple[Scores, ...]:
    """Join the last parts as long as they are small: each array costs more than a user's numbers.

    A part is joined with one that is no larger, so each user is copied a few times: as often as
    the users of a batch double until there are enough.
    """
    while len(kept) > 1:
        sizes = [len(one.users) for one in kept[-2:]]
        if sizes[0] > sizes[1] or sum(sizes) > _SMALL:
            break
        kept[-2:] = [Scores.concat(kept[-2:])]
    return tuple(kept)


def _in_order(scores: Scores) -> Scores:
    """Return scores in ascending order of the users' ids.

    Raises
    ------
    InvalidInputError
        A user is there twice.
    """
    distinct, place = encode(scores.users, "user")
    if len(distinct) < len(place):
        twice = distinct[np.bincount(place) > 1][0]
        msg = f"The user {shown(twice)} is in two parts. Give all rows of a user at once."
        raise InvalidInputError(msg)
    return scores.take(np.argsort(place))
