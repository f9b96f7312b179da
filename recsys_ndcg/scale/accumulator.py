"""Accumulator: evaluation of users who arrive in batches, as in a training loop or a service."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from recsys_ndcg.arrays import Flags
from recsys_ndcg.background import Background, BackgroundOptions
from recsys_ndcg.calls import take_options
from recsys_ndcg.convention import Convention, ConventionLike, format_choice
from recsys_ndcg.errors import InvalidInputError, check_choice, check_flag, format_count, quote
from recsys_ndcg.input import to_array
from recsys_ndcg.lists import group_rows, hash_ids
from recsys_ndcg.scale.batches import read_batch
from recsys_ndcg.scale.engines import PartialReport, check_users_have_rows
from recsys_ndcg.scoring import Audit, Cutoffs, Metrics, Plan

if TYPE_CHECKING:
    from recsys_ndcg.report import Report

    Hashes = NDArray[np.uint64]

#: Number of users whose hashes are remembered: 8 bytes each.
MAX_REMEMBERED = 1 << 17


def merge_smallest(seen: Hashes, hashes: Hashes, most: int | None) -> Hashes:
    """Merge two sets of hashes, and return the smallest in ascending order.

    While they are few, all are kept; later a uniform sample of all (bottom-k sampling: Cohen &
    Kaplan 2007, doi:10.1145/1281100.1281133). So a repeated user is certainly found at first, and
    later at least some of many.

    Parameters
    ----------
    seen, hashes : uint64 arrays
        The kept hashes in ascending order, and new ones that are not among them.
    most : int, optional
        Maximum number of hashes; None for all.

    Examples
    --------
    >>> merge_smallest(np.array([3, 7]), np.array([5, 4]), most=3)
    array([3, 4, 5])
    """
    new = np.sort(hashes)
    return np.insert(seen, np.searchsorted(seen, new), new)[:most]


def find_seen(seen: Hashes, hashes: Hashes) -> Flags:
    """Return which hashes are among the kept ones."""
    is_seen: Flags = np.searchsorted(seen, hashes, "right") > np.searchsorted(seen, hashes)
    return is_seen


class Accumulator:
    """Evaluates users in batches; the report is that of `recsys_ndcg.evaluate` on all the data.

    Each batch is measured at once and summed up; its lists are not kept. So memory does not grow
    with the number of users, unless you ask for each user's scores. All rows of a user must be in
    one batch, as parts of a list cannot be ranked.

    Parameters
    ----------
    metrics, k, threshold, convention
        As for `recsys_ndcg.evaluate`. Without a threshold, 1 is relevant as long as every true
        value is 0 or 1; after such a batch, a batch with other values raises.
    per_user : bool
        Whether every user's scores are kept, for `Report.per_user`, the median, segments and
        comparisons: a few hundred bytes per user. Otherwise the report has sums over users, and
        intervals from them.
    repeated : {'raise', 'count'}
        What to do with a user of an earlier batch. By default raise an error, as users were
        probably split between batches. Up to 131,072 users, all repeats are found. Beyond that,
        only a uniform sample of this size (1 MB) is checked, with `per_user=True` all users (8
        bytes each). With 'count', a user who comes again counts as another user.

    protocol : {'rated', 'supplied', 'sampled'}
        Whether the lists are the users' own test ratings, recommendations, which measures beyond
        accuracy need, or relevant items among sampled ones.
    train, catalogue, features, base, groups, weights : optional
        As for `recsys_ndcg.evaluate`.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        An argument is invalid.

    Notes
    -----
    Batches may come in any order, and accumulators can be merged. All numbers equal
    `evaluate`'s, up to the last digits of sums. If users are not kept, there is no median. The
    audit's `unlabelled_top`, the mean if all unlabelled items had the top grade, is NaN if a batch
    with unlabelled items came before the highest grade, unless ``Convention(max_grade=...)`` or the
    threshold defines the top grade.

    An accumulator can be pickled and copied, and merged with another process's. It has no lock:
    use it in one thread at a time, or one accumulator per thread.

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

    A table with a row per user; the mask selects the cells that are in the lists:

    >>> estimated, true = [[4.5, 3.0, 2.0], [1.0, 2.0, 0.0]], [[5, 2, 4], [0, 4, 0]]
    >>> mask = [[True, True, True], [True, True, False]]
    >>> report = rn.Accumulator("ndcg@2").update(None, estimated, true, mask=mask).report()
    >>> report.counts["users"], report.counts["ratings"]
    (2, 5)
    """

    @take_options(BackgroundOptions)
    def __init__(  # noqa: PLR0913 - as evaluate
        self,
        metrics: Metrics = None,
        k: Cutoffs = "default",
        threshold: float | None = None,
        convention: ConventionLike = None,
        *,
        per_user: bool = False,
        repeated: str = "raise",
        protocol: str = "rated",
        **background: Unpack[BackgroundOptions],
    ) -> None:
        known = Background.of(**background)
        self._plan = Plan.of(
            metrics, k=k, threshold=threshold, convention=convention, background=known
        )
        check_users_have_rows(self._plan)
        check_choice("protocol", protocol, ("rated", "supplied", "sampled"))
        self._protocol = protocol
        check_choice("repeated", repeated, ("raise", "count"))
        check_flag("per_user", per_user)
        if per_user and repeated == "count":
            msg = (
                "per_user=True keeps scores by user id, so each id must come once. With "
                "repeated='count', give each time an id of its own, such as (user, session)."
            )
            raise InvalidInputError(msg)
        self._per_user, self._repeated = per_user, repeated
        self.reset()

    def reset(self) -> Self:
        """Forget all users and the threshold derived from their grades. Call it before each epoch.

        Returns
        -------
        Accumulator
            This one.
        """
        self._part: PartialReport | None = None
        self._resolved: Plan | None = None  # with the threshold derived from the grades
        self._max_seen = None if self._per_user else MAX_REMEMBERED
        self._seen: Hashes = np.zeros(0, dtype=np.uint64)
        self._n_numbered: int | None = None  # rows of tables so far; None if users have ids
        return self

    def update(
        self, users: Any, estimated: Any, true: Any, items: Any = None, *, mask: Any = None
    ) -> Self:
        """Measure the lists of some users.

        Accepts arrays of NumPy, torch and JAX and everything with ``__array__`` or ``__dlpack__``,
        lists, and columns of pandas, polars and pyarrow.

        Parameters
        ----------
        users : column, shape (n_rows,), or (n_users,) with tables, or None
            The user of each row. With tables, the user of each row of the table; None continues
            numbering the rows from the earlier batches.
        estimated, true : columns, shape (n_rows,), or tables, shape (n_users, n_items)
            The model's scores, higher is better, and the grades; NaN in `true` means unlabelled.
        items : column, shape (n_rows,), or (n_items,) or (n_users, n_items) with tables, optional
            The ids of the items, which some rules for ties and duplicates need.
        mask : table, shape (n_users, n_items), optional
            Which cells are in the lists. Other cells are ignored, and so are users without any.

        Returns
        -------
        Accumulator
            This one.

        Raises
        ------
        InvalidInputError
            The batch cannot be read or measured, or has a user of an earlier batch. Then nothing
            of it is added.
        """
        estimated = to_array(estimated, "estimated")
        rows = read_batch(users, estimated, true, items, mask, first=self._n_numbered or 0)
        numbered = self._count_numbered(len(estimated) if users is None else None)
        lists = group_rows(rows, self._plan.duplicates)
        if self._protocol != "rated":
            lists = replace(lists, protocol=self._protocol)
        lists = self._plan.add_background(lists)
        seen = self._seen
        if numbered is None and self._repeated == "raise":
            hashes = hash_ids(lists.users)
            repeated = lists.users[find_seen(seen, hashes)]
            if len(repeated):
                first = quote(repeated[0])
                _raise_repeated_users(len(repeated), f"an earlier batch, such as {first}")
            seen = merge_smallest(seen, hashes, self._max_seen)
        facts = self._plan.facts_of(lists)
        grades = facts.all_grades
        plan = self._resolved or self._plan.with_weights(facts).with_threshold(grades)
        # 1 became the threshold as all grades were 0 or 1, which no longer holds
        if self._plan.threshold is None and plan.threshold is not None and not grades.is_binary:
            other = grades.lowest if grades.lowest not in (0, 1) else grades.highest
            there = f" such as {quote(other)}" if other not in (0, 1) else ""
            self._raise_contradiction("so far", f"this batch has others{there}")
        plan.check(facts, lists)
        before = np.nan if self._part is None else self._part.totals.highest_grade
        highest = float(np.fmax(grades.highest, before))
        audit = Audit.of(lists, plan, facts, highest_grade=highest)
        part = PartialReport.of(audit, keep=self._per_user)
        self._part = part if self._part is None else self._part + part
        self._resolved, self._seen, self._n_numbered = plan, seen, numbered
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
            It has other settings, which the message names, or some of the same users.
        """
        if not isinstance(other, Accumulator) or other is self:
            msg = f"Merge with another accumulator, not {quote(other)}."
            raise InvalidInputError(msg)
        self._check_same_settings(other)
        if other._part is None:
            return self
        if self._part is None:
            vars(self).update(vars(other))
            return self
        numbered = self._count_numbered(other._n_numbered)
        n_shared = int(find_seen(self._seen, other._seen).sum())
        if n_shared:
            _raise_repeated_users(n_shared, "both accumulators")
        if numbered is not None and self._per_user:
            msg = (
                "The users of both are numbered from 0, so they cannot be distinguished. Give ids, "
                "update(users=...), or leave out per_user=True."
            )
            raise InvalidInputError(msg)
        if self._resolved != other._resolved:
            self._raise_contradiction("of the one accumulator", "the other has others")
        self._part += other._part
        self._seen = merge_smallest(self._seen, other._seen, self._max_seen)
        self._n_numbered = numbered
        return self

    def __or__(self, other: Accumulator) -> Accumulator:
        """Return an accumulator with the users of both."""
        if not isinstance(other, Accumulator):
            return NotImplemented
        return copy(self).merge(other)

    __add__ = __or__

    def report(self) -> Report:
        """Return the report of all users so far. Later batches do not change it.

        Raises
        ------
        InvalidInputError
            There are no users, or no item is labelled.

        Warns
        -----
        DataWarning
            As `evaluate` gives them for all batches together.
        """
        if self._part is None or self._resolved is None:
            msg = "There are no users yet. Call update() before report()."
            raise InvalidInputError(msg)
        where = "To keep them: Accumulator(..., per_user=True)."
        return self._part.report(self._resolved, where=where)

    def __len__(self) -> int:
        """Return the number of users."""
        return 0 if self._part is None else self._part.facts.users

    def __repr__(self) -> str:
        """Return a sentence with the number of users, the metrics and the threshold."""
        plan = self._resolved or self._plan
        n_ratings = 0 if self._part is None else self._part.facts.ratings
        sizes = f"{format_count(len(self), 'user')} with {format_count(n_ratings, 'rating')}"
        threshold = "" if plan.threshold is None else f", threshold {plan.threshold}"
        return f"Accumulator of {sizes}: {', '.join(plan.names)}{threshold}."

    def _count_numbered(self, more: int | None) -> int | None:
        """Return the number of numbered users after `more` of them, or None if users have ids.

        Raises
        ------
        InvalidInputError
            Earlier users have ids and these are numbered, or the other way round.
        """
        if self._part is None:
            return more
        if (self._n_numbered is None) != (more is None):
            msg = (
                "Some users have ids, and others are numbered by users=None: they cannot be "
                "distinguished. Give ids to all, or to none."
            )
            raise InvalidInputError(msg)
        return None if self._n_numbered is None or more is None else self._n_numbered + more

    def _raise_contradiction(self, known: str, other: str) -> None:
        """Raise because other grades than 0 and 1 came after 1 had become the threshold."""
        named = ", or name metrics that do not need it, such as metrics='ndcg@10'"
        msg = (
            f"All true values {known} were 0 or 1, so 1 counted as relevant, but {other}. "
            "Set the threshold, the lowest true value of a relevant item: "
            "Accumulator(..., threshold=...)"
            f"{named if self._plan.is_default else ''}."
        )
        raise InvalidInputError(msg)

    @property
    def _settings(self) -> dict[str, dict[str, Any]]:
        """The arguments by name: each value, by the text that a message shows for it."""
        plan = self._plan
        default = plan.is_default and plan.threshold is None  # which depends on the grades
        metrics = "the default" if default else ", ".join(plan.names)
        settings: dict[str, dict[str, Any]] = {
            "metrics": {metrics: plan.metrics},
            "threshold": {str(plan.threshold): plan.threshold},
            "per_user": {str(self._per_user): self._per_user},
            "repeated": {repr(self._repeated): self._repeated},
            "protocol": {repr(self._protocol): self._protocol},
            "what is known besides the lists": {str(plan.background): plan.background},
        }
        for name in Convention.field_names():
            chosen = [getattr(one.convention, name) for one in plan.measurements]
            settings[name] = {format_choice(one): one for one in chosen}
        return settings

    def _check_same_settings(self, other: Accumulator) -> None:
        """Raise if another accumulator has other settings, and name them."""
        different, others = [], other._settings
        for name, own in self._settings.items():
            mine, theirs = "/".join(own), "/".join(others[name])
            if own != others[name]:
                different.append(f"{name} is {mine} and {'another ' * (mine == theirs)}{theirs}")
        if different:
            msg = (
                f"Accumulators of different settings cannot be merged: {'; '.join(different)}. "
                "Create them with the same arguments."
            )
            raise InvalidInputError(msg)


def _raise_repeated_users(count: int, where: str) -> None:
    """Raise because some users came before."""
    msg = (
        f"{format_count(count, 'user')} came in {where}. Give all rows of a user in one batch, and "
        "call reset() before the next epoch. To count each time as a separate user: "
        "Accumulator(..., repeated='count')."
    )
    raise InvalidInputError(msg)
