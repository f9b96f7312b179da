"""Accumulator: scores of users who come batch by batch, as in a training loop or a service."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags
from recsys_ndcg.convention import Convention, written
from recsys_ndcg.errors import InvalidInputError, check_choice, format_count, quote
from recsys_ndcg.lists import GroupedLists, group, hashed
from recsys_ndcg.scale.batches import as_array, batch_rows
from recsys_ndcg.scale.engines import PartialReport
from recsys_ndcg.scoring import Audit, Cutoffs, Metrics, Plan

if TYPE_CHECKING:
    from recsys_ndcg.report import Report

    Hashes = NDArray[np.uint64]

#: Users who are remembered one by one: 8 bytes each.
MOST = 1 << 17


def with_smallest(seen: Hashes, hashes: Hashes, most: int | None) -> Hashes:
    """Return the smallest of some hashes and others, as many as are kept, in ascending order.

    All are known as long as they are few, and then an even share of all that there were
    (bottom-k sampling: Cohen & Kaplan 2007, doi:10.1145/1281100.1281133). So one that came twice
    is told of for certain at first, and among many that come twice, some always are.

    Parameters
    ----------
    seen, hashes : uint64 arrays
        Those that are kept, and others that are not among them.
    most : int, optional
        How many are kept; None for all.

    Examples
    --------
    >>> with_smallest(np.array([3, 7]), np.array([5, 4]), most=3)
    array([3, 4, 5])
    """
    new = np.sort(hashes)
    return np.insert(seen, np.searchsorted(seen, new), new)[:most]


def are_seen(seen: Hashes, hashes: Hashes) -> Flags:
    """Tell which of some hashes are among those that are kept."""
    found: Flags = np.searchsorted(seen, hashes, "right") > np.searchsorted(seen, hashes)
    return found


class Accumulator:
    """Scores of users who come batch by batch: what `recsys_ndcg.evaluate` says of all of them.

    Every batch is measured when it comes, and summed up; the lists are let go. So memory does not
    grow with the users, unless the scores of each are asked for. All rows of a user come in one
    batch: a list cannot be ranked by halves.

    Parameters
    ----------
    metrics, k, threshold, convention
        As for `recsys_ndcg.evaluate`. Without a threshold, 1 is relevant as long as every true
        value is 0 or 1; a batch with others is refused once that was made use of.
    per_user : bool
        Whether the scores of every user are kept, for `Report.per_user`, the median, segments and
        comparisons: some hundred bytes of each. Without, the report holds what is left when users
        are summed up, their intervals among it.
    repeated : {'raise', 'count'}
        What becomes of a user who came in an earlier batch. An error, as it mostly means that
        users were cut in two: for certain among the first 131,072 users, and beyond that of an
        even share of so many, which takes 1 MB at most; of all, at 8 bytes each, with `per_user`.
        Or each time counts as a user of its own, and nothing is remembered.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        A setting cannot be used.

    Notes
    -----
    Batches may come in any order, and in any number of accumulators that are merged. All numbers
    are those of `evaluate` but for the last digits of sums. Where users are not kept, there is no
    median. `unlabelled_top` of the audit, the mean if all unlabelled items were of the top grade,
    is NaN where a batch with unlabelled items came before the highest grade of all, unless
    ``Convention(max_grade=...)`` or the threshold says what the top is.

    An accumulator can be pickled and copied: merge those of several processes. It has no lock: let
    one thread at a time use it, or give each one of its own.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> scores = rn.Accumulator(["ndcg@2", "precision@2"], threshold=4)
    >>> for batch in ([7, 7, 7], [8, 8, 9]):
    ...     _ = scores.update(batch, estimated=[4.5, 3.0, 2.0], true=[5, 2, 4])
    >>> scores
    Accumulator of 3 users with 6 ratings: ndcg@2, precision@2, threshold 4.0.
    >>> {name: round(mean, 3) for name, mean in scores.report().items()}
    {'ndcg@2': 0.938, 'precision@2': 0.5}

    A table with a row for each user, of whose cells some are in the lists:

    >>> estimated, true = [[4.5, 3.0, 2.0], [1.0, 2.0, 0.0]], [[5, 2, 4], [0, 4, 0]]
    >>> mask = [[True, True, True], [True, True, False]]
    >>> report = rn.Accumulator("ndcg@2").update(None, estimated, true, mask=mask).report()
    >>> report.counts["users"], report.counts["ratings"]
    (2, 5)
    """

    def __init__(  # noqa: PLR0913 - as evaluate
        self,
        metrics: Metrics = None,
        k: Cutoffs = 10,
        threshold: float | None = None,
        convention: Convention | str | None = None,
        *,
        per_user: bool = False,
        repeated: str = "raise",
    ) -> None:
        self._plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention)
        check_choice("repeated", repeated, ("raise", "count"))
        if not isinstance(per_user, bool):
            msg = f"per_user must be True or False, not {quote(per_user)}."
            raise InvalidInputError(msg)
        if per_user and repeated == "count":
            msg = (
                "per_user=True keeps scores by the ids of the users, so each must come once. Under "
                "repeated='count', give each time an id of its own, such as (user, session)."
            )
            raise InvalidInputError(msg)
        self._per_user, self._repeated = per_user, repeated
        self.reset()

    def reset(self) -> Self:
        """Forget all users, and the threshold that their grades led to, as before an epoch.

        Returns
        -------
        Accumulator
            This one.
        """
        self._part: PartialReport | None = None
        self._settled: Plan | None = None  # with the threshold that the grades led to
        self._most = None if self._per_user else MOST
        self._seen: Hashes = np.zeros(0, dtype=np.uint64)
        self._numbered: int | None = None  # rows of tables so far; None where users have ids
        return self

    def update(
        self, users: Any, estimated: Any, true: Any, items: Any = None, *, mask: Any = None
    ) -> Self:
        """Measure the lists of some users.

        Arrays of NumPy, torch and JAX will do, and whatever has ``__array__`` or ``__dlpack__``;
        lists, and columns of pandas, polars and pyarrow.

        Parameters
        ----------
        users : column, shape (n_rows,), or (n_users,) with tables, or None
            Whose item each row is. With tables, the id of each row; None numbers the rows on from
            those of earlier batches.
        estimated, true : columns, shape (n_rows,), or tables, shape (n_users, n_items)
            The model's scores, higher is better, and the grades; NaN in `true` is unlabelled.
        items : column, shape (n_rows,), or (n_items,) or (n_users, n_items) with tables, optional
            The ids of the items: rules for ties and duplicates may need them.
        mask : table, shape (n_users, n_items), optional
            Which cells are in the lists. All others might as well not be there, nor is a user
            without any.

        Returns
        -------
        Accumulator
            This one.

        Raises
        ------
        InvalidInputError
            The batch cannot be read or measured, or has a user of an earlier one. Nothing of it is
            added then.
        """
        estimated = as_array(estimated, "estimated")
        rows = batch_rows(users, estimated, true, items, mask, first=self._numbered or 0)
        numbered = self._numbering(len(estimated) if users is None else None)
        lists = group(rows, self._plan.duplicates, GroupedLists)
        seen = self._seen
        if numbered is None and self._repeated == "raise":
            hashes = hashed(lists.users)
            known = lists.users[are_seen(seen, hashes)]
            if len(known):
                _refuse_again(len(known), f"an earlier batch, such as {quote(known[0])}")
            seen = with_smallest(seen, hashes, self._most)
        facts = self._plan.facts_of(lists)
        grades = facts.all_true
        plan = self._settled or self._plan.with_threshold(grades)
        # 1 was taken for the threshold as all grades were 0 or 1, which is so no more
        if self._plan.threshold is None and plan.threshold is not None and not grades.zero_one:
            other = grades.lowest if grades.lowest not in (0, 1) else grades.highest
            there = f" such as {quote(other)}" if other not in (0, 1) else ""
            self._refuse_grades("so far", f"this batch has others{there}")
        highest = grades.highest
        if self._part is not None:
            highest = float(np.fmax(highest, self._part.totals.highest))
        audit = Audit.of(lists, plan, facts, highest=highest)
        part = PartialReport.of(audit, keep=self._per_user)
        self._part = part if self._part is None else self._part + part
        self._settled, self._seen, self._numbered = plan, seen, numbered
        return self

    def merge(self, other: Accumulator) -> Self:
        """Add the users of another accumulator, which stays as it is.

        Returns
        -------
        Accumulator
            This one.

        Raises
        ------
        InvalidInputError
            It has other settings, which are named, or some of the same users.
        """
        if not isinstance(other, Accumulator) or other is self:
            msg = f"Merge with another accumulator, not {quote(other)}."
            raise InvalidInputError(msg)
        self._check_alike(other)
        if other._part is None:
            return self
        if self._part is None:
            vars(self).update(vars(other))
            return self
        numbered = self._numbering(other._numbered)
        n_shared = int(are_seen(self._seen, other._seen).sum())
        if n_shared:
            _refuse_again(n_shared, "both accumulators")
        if numbered is not None and self._per_user:
            msg = (
                "The users of both are numbered from 0 on, and nobody could tell them apart. Give "
                "ids, update(users=...), or do without per_user=True."
            )
            raise InvalidInputError(msg)
        if self._settled != other._settled:
            self._refuse_grades("of the one", "the other has others")
        self._part += other._part
        self._seen = with_smallest(self._seen, other._seen, self._most)
        self._numbered = numbered
        return self

    def __or__(self, other: Accumulator) -> Accumulator:
        """Return an accumulator with the users of both."""
        if not isinstance(other, Accumulator):
            return NotImplemented
        return copy(self).merge(other)

    __add__ = __or__

    def report(self) -> Report:
        """Return the report of all users so far: a value, which later batches do not change.

        Raises
        ------
        InvalidInputError
            There are no users, or no score of such data means anything, as no item is labelled.

        Warns
        -----
        DataWarning
            As `evaluate` does, of all batches together.
        """
        if self._part is None or self._settled is None:
            msg = "There are no users yet. Give some to update() before you ask for a report."
            raise InvalidInputError(msg)
        where = "Ask for it: Accumulator(..., per_user=True)."
        return self._part.report(self._settled, where=where)

    def __len__(self) -> int:
        """Return the number of users."""
        return 0 if self._part is None else self._part.facts.users

    def __repr__(self) -> str:
        """Say in a sentence what is in it."""
        plan = self._settled or self._plan
        n_ratings = 0 if self._part is None else self._part.facts.ratings
        sizes = f"{format_count(len(self), 'user')} with {format_count(n_ratings, 'rating')}"
        threshold = "" if plan.threshold is None else f", threshold {plan.threshold}"
        return f"Accumulator of {sizes}: {', '.join(plan.names)}{threshold}."

    def _numbering(self, more: int | None) -> int | None:
        """Return how many users are numbered if so many more are, None where they have ids.

        Raises
        ------
        InvalidInputError
            Earlier ones have ids and these are numbered, or the other way round.
        """
        if self._part is None:
            return more
        if (self._numbered is None) != (more is None):
            msg = (
                "Some users have ids, and others are numbered by users=None: nobody could tell "
                "whether they are the same. Give ids to all, or to none."
            )
            raise InvalidInputError(msg)
        return None if self._numbered is None or more is None else self._numbered + more

    def _refuse_grades(self, known: str, other: str) -> None:
        """Refuse grades with which 1, which was relevant so far, cannot be so any more."""
        named = ", or name metrics that do not need it, such as metrics='ndcg@10'"
        msg = (
            f"No true value {known} was other than 0 or 1, so that 1 was relevant, but {other}. "
            "Say from which on an item is relevant: Accumulator(..., threshold=4.0), for instance"
            f"{named if self._plan.by_default else ''}."
        )
        raise InvalidInputError(msg)

    @property
    def _settings(self) -> dict[str, dict[str, Any]]:
        """What was asked for, by its name: how a message shows it, and what it is."""
        plan = self._plan
        default = plan.by_default and plan.threshold is None  # which hangs on the grades
        metrics = "what is measured by default" if default else ", ".join(plan.names)
        settings: dict[str, dict[str, Any]] = {
            "metrics": {metrics: plan.metrics},
            "threshold": {str(plan.threshold): plan.threshold},
            "per_user": {str(self._per_user): self._per_user},
            "repeated": {repr(self._repeated): self._repeated},
        }
        for name in Convention.names():
            chosen = [getattr(one.convention, name) for one in plan.measurements]
            settings[name] = {written(one): one for one in chosen}
        return settings

    def _check_alike(self, other: Accumulator) -> None:
        """Refuse another of other settings, naming them as they were asked for."""
        told = []
        asked = other._settings
        for name, known in self._settings.items():
            mine, theirs = "/".join(known), "/".join(asked[name])
            if known != asked[name]:
                told.append(f"{name} is {mine} and {'another ' * (mine == theirs)}{theirs}")
        if told:
            msg = (
                f"Accumulators of different settings cannot be merged: {'; '.join(told)}. Make "
                "them alike."
            )
            raise InvalidInputError(msg)


def _refuse_again(count: int, where: str) -> None:
    """Refuse users who have been here."""
    msg = (
        f"{format_count(count, 'user')} came in {where}. Give all rows of a user in one batch, and "
        "call reset() before the next epoch; if each time is to count as a user of its own: "
        "Accumulator(..., repeated='count')."
    )
    raise InvalidInputError(msg)
