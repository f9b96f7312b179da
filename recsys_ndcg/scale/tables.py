"""Predictions, or labels and results: what every engine reads of them, and measures in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.errors import InvalidInputError, about, shown, warn
from recsys_ndcg.input import Rows, Table, encode
from recsys_ndcg.lists import Facts, RankedLists, join
from recsys_ndcg.report import Report
from recsys_ndcg.scale.engines import LABELS, PREDICTIONS, RESULTS, is_pair
from recsys_ndcg.scoring import Audit, Scores, Totals

if TYPE_CHECKING:
    from recsys_ndcg.lists import GroupedLists
    from recsys_ndcg.scale.facts import RowFacts
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
    ...     parts.append(PartialReport.of(Audit.of(lists, plan, highest=5.0)))
    >>> (parts[0] + parts[1]).report(plan).counts["users"]
    2
    """

    facts: Facts
    totals: Totals
    kept: tuple[Scores, ...] | None = None

    @classmethod
    def of(cls, audit: Audit, *, keep: bool = True) -> PartialReport:
        """Return what is left of lists that are measured and at hand (`Audit.of`).

        Parameters
        ----------
        audit : Audit
            Of all lists of these users.
        keep : bool
            Whether the scores of every user are kept.
        """
        kept = (audit.kept_scores,) if keep else None
        assert audit.source is not None, "the lists are at hand"  # noqa: S101
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
        signed = self.totals.sign(self.facts)
        if self.kept is None:
            audit = Audit(signed, self.totals, known_median=median, where=where)
        else:
            scores = _in_order(Scores.concat(self.kept))
            totals = Totals.of(scores)
            roles = {**self.totals.roles, **totals.roles}  # those of ties and labels are known
            audit = Audit(signed, replace(totals, roles=roles), scores)
        return Report.of_audit(audit, self.facts, plan)


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


def given_tables(
    data: Any, columns: Mapping[str, str] | None
) -> dict[str, tuple[Any, Mapping[str, str] | None]]:
    """Return what is given by what it is: predictions, or labels and results.

    Each comes with what its columns are said to be called.
    """
    if not is_pair(data):
        return {PREDICTIONS: (data, columns)}
    return {name: (data[name], Table.columns_of(name, columns)) for name in (LABELS, RESULTS)}


def names_in(heads: Any, columns: Mapping[str, str] | None, table: str) -> dict[str, str]:
    """Return what a table calls our columns, in the words of any table for what is not there."""
    heading = Table(heads, columns)
    names = heading.called(*heading.wanted(table))
    heading.say_names()
    return names


def check_capitals(names: Mapping[str, str], there: Sequence[str]) -> None:
    """Refuse columns that SQL cannot tell from others.

    Raises
    ------
    InvalidInputError
        Some names differ in capitals at most.
    """
    for theirs in names.values():
        alike = [one for one in there if one.casefold() == theirs.casefold()]
        if len(alike) > 1:
            msg = (
                f"The columns {' and '.join(map(repr, alike))} differ in capitals at most, so that "
                "DuckDB and Spark take them for one. Rename or drop one of them."
            )
            raise InvalidInputError(msg)


@dataclass
class ListMaker:
    """How all rows of some users become lists, as if they had been read from memory.

    Parameters
    ----------
    duplicates : str
        As in `Convention`.
    n_items : int, optional
        How many candidates the results were chosen from.
    """

    duplicates: str
    n_items: int | None = None
    _said: list[set[str]] = field(default_factory=list)

    def lists(self, tables: Mapping[str, Any]) -> GroupedLists:
        """Return the lists of tables of pyarrow's, by what they are, with columns of our names.

        Raises
        ------
        InvalidInputError
            The same user and item stand there twice.
        """
        if PREDICTIONS in tables:
            return RankedLists.of(tables[PREDICTIONS], duplicates=self.duplicates)
        with about(""):  # what is to be said of each table was said of all its rows
            labels = Table(tables[LABELS]).rows(LABELS)
            results = Table(_without_fillers(tables[RESULTS])).rows(RESULTS)
        with about("") as said:
            lists = join(
                labels, results, self.duplicates, RankedLists, part=True, n_items=self.n_items
            )
        if len(labels.user) and len(results.user):
            self._said.append(set(said))
        return lists

    def warn(self) -> None:
        """Warn of ids that were said to differ wherever there were labels and results."""
        for told in sorted(set.intersection(*self._said)) if self._said else ():
            warn(told)


def _without_fillers(results: Any) -> Any:
    """Return results without what implicit did not recommend: that was told of all of them."""
    if "estimated" not in results.column_names:
        return results
    kept = np.asarray(results.column("estimated"), dtype=np.float64) != Rows.LOWEST
    return results if kept.all() else results.filter(kept)


def evaluate_batches(  # noqa: PLR0913 - one parameter per thing that engines differ in
    batches: Callable[[], Iterator[Mapping[str, Any]]],
    maker: ListMaker,
    plan: Plan,
    facts: RowFacts,
    *,
    is_whole: bool = False,
    keep: Callable[[Scores], bool] = lambda _: True,
    median: Callable[[], Floats] | None = None,
    where: str = "",
) -> Report:
    """Measure batches of whole users, each let go before the next one is read.

    Parameters
    ----------
    batches : callable
        Gives them, each time from the first one on: all rows of some users, in tables of pyarrow's
        by what they are, with columns of our names; one may have no rows.
    maker : ListMaker
        What makes lists of a batch.
    plan : Plan
        What is measured.
    facts : RowFacts
        Of all rows.
    is_whole : bool
        Whether the first batch has all users.
    keep : callable
        Told the scores of each batch, it returns whether those of all users so far stay in memory.
    median : callable, optional
        Returns the median of all scores where they do not.
    where : str
        Where the scores of each user are then, or how to have them.

    Returns
    -------
    Report
        Of one batch, it holds the lists.

    Raises
    ------
    InvalidInputError
        The data cannot be measured.

    Warns
    -----
    DataWarning
        As `recsys_ndcg.evaluate` does.
    """
    stream = map(maker.lists, batches())
    if is_whole:
        report = Report.of_lists(next(stream), plan)
        keep(report.scores)
        maker.warn()
        return report
    grades = facts.grades
    if plan.hangs_on_merging(unlabelled=facts.has_unlabelled):
        grades = reduce(add, (Facts.of(some).all_true for some in stream))
        stream = map(maker.lists, batches())
    plan = plan.with_threshold(grades)
    whole: PartialReport | None = None
    while (lists := next(stream, None)) is not None:
        audit = Audit.of(lists, plan, highest=grades.highest)
        part = PartialReport.of(audit, keep=whole is None or whole.kept is not None)
        whole = part if whole is None else whole + part
        if not keep(audit.scores):
            whole = replace(whole, kept=None)
        del lists, audit, part  # before there is more
    assert whole is not None, "there is a first batch"  # noqa: S101
    # now, as the files of the scores are gone when the report is asked for it
    known = median() if median is not None and whole.kept is None else None
    report = whole.report(plan, known, where)
    maker.warn()
    return report
