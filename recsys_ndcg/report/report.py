"""Report: scores per user, averaged and pooled, and how they were computed."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, shown
from recsys_ndcg.lazy import lazy
from recsys_ndcg.metrics import parse
from recsys_ndcg.rendering import fragment, html, latex, markdown, text
from recsys_ndcg.report import storage
from recsys_ndcg.report.explanation import explained
from recsys_ndcg.report.remarks import remarks
from recsys_ndcg.report.summary import intervals, summarised

if TYPE_CHECKING:
    from pathlib import Path

    from recsys_ndcg.arrays import Ids
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.report.audit import Audit
    from recsys_ndcg.scoring.scores import Scores


@dataclass(frozen=True, eq=False)
class Report:
    """What `evaluate` returns: a value, that shows what was measured whenever it is asked.

    Parameters
    ----------
    scores : Scores
        Numerators and denominators of every user.
    signed : dict
        How each metric was computed, in words.
    audited : Audit or StoredAudit
        What stands beside the scores.
    lists : GroupedLists, optional
        What was ranked; a report that was read from a file has none.
    known_baselines : pandas.DataFrame, optional
        The means of other models on the same users, a row per model.

    Attributes
    ----------
    per_user : pandas.DataFrame
        Indexed by user: n_items, n_relevant, then a column per metric; NaN is undefined.
    mean, pooled : pandas.Series
        By metric: the mean over users, and Σ numerator / Σ denominator over users.
    baselines : pandas.DataFrame
        A row per baseline, a column per metric.
    summary : pandas.DataFrame
        A row per metric: mean, ci_low, ci_high, pooled, median, users, undefined, chance, lift,
        tie_low, tie_high.
    audit : pandas.DataFrame
        A row per metric: what the score is to be read against.
    counts : dict
        Users, ratings, and how many need a second look.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> report = rn.evaluate({"ann": [(4.5, 5), (3.0, 2), (2.0, 4)]}, k=2, threshold=4)
    >>> report.mean.round(3).to_dict()
    {'ndcg@2': 0.813, 'precision@2': 0.5, 'recall@2': 0.5}
    """

    scores: Scores
    signed: dict[str, str]
    audited: Audit | storage.StoredAudit
    lists: GroupedLists | None = None
    known_baselines: pd.DataFrame | None = None

    @property
    def signatures(self) -> dict[str, str]:
        """How each metric was computed, in words, by name."""
        return dict(self.signed)

    @property
    def users(self) -> Ids:
        """The user ids, in the order of `per_user`."""
        return self.scores.users

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics, in the order they were asked for."""
        return self.scores.names

    @property
    def bounded(self) -> pd.Series[bool]:
        """Whether each metric lies between 0 and 1."""
        found = [one.metric.bounded for one in self.scores.measurements]
        return pd.Series(found, index=self.metrics, dtype=bool)

    @property
    def per_user(self) -> pd.DataFrame:
        """Scores by user."""
        counts = self.scores.counts
        known = not np.isnan(counts.n_relevant).any()
        table = pd.DataFrame(self.scores.per_user, columns=self.metrics, copy=True)
        table.insert(0, "n_items", counts.n_items.copy())
        table.insert(1, "n_relevant", counts.n_relevant.astype(int if known else float))
        return table.set_index(pd.Index(self.users, name="user"))

    @property
    def mean(self) -> pd.Series[float]:
        """Mean over the users who have a score."""
        return pd.Series(self.audited.totals.mean, index=self.metrics, name="mean", copy=True)

    @property
    def pooled(self) -> pd.Series[float]:
        """Sum of the numerators over sum of the denominators."""
        return pd.Series(self.audited.totals.pooled, index=self.metrics, name="pooled")

    @property
    def counts(self) -> dict[str, int]:
        """Users, ratings, and how many need a second look.

        Keys: users, ratings (rows), short (lists of fewer than the largest k), trivial (every
        order scores the same), tied (two equal estimates), unlabelled (rows), unlisted (labels
        outside the lists), missing (labelled users without a list), impossible (predictions that
        the model could not make), duplicates (rows merged), left_out (users, of any metric), and
        ``undefined ndcg@10`` for each metric.
        """
        return dict(self.audited.counts)

    @property
    def summary(self) -> pd.DataFrame:
        """One row per metric."""
        return self._summary.copy()

    @lazy
    def _summary(self) -> pd.DataFrame:
        return summarised(self.audited.totals, self.scores.median, self.audited.levels)

    @property
    def baselines(self) -> pd.DataFrame:
        """The means of what needs no model, a column per metric: chance, and others if known.

        A report on a whole catalogue has ``MostPopular``, the items with the most ratings.
        """
        chance = self.audited.levels[["chance"]].T
        return chance if self.known_baselines is None else pd.concat([self.known_baselines, chance])

    @property
    def audit(self) -> pd.DataFrame:
        """What each score is to be read against: one row per metric.

        Columns, as means over users: chance (random order) and lift, how far the mean stands from
        it towards 1; worst and best (the extreme orders of the lists); tie_low and tie_high (every
        tie in its worst, best order). Shares of the users who have a score: trivial (every order
        scores the same), decided_by_ties (the order of equal estimates moves it). Shares of all
        users: short (fewer than k items), skipped (no score). Of the rows: unlabelled. Of the
        first k items: judged (Sakai 2007). The mean if all unlabelled items were irrelevant:
        unlabelled_zero; if they were of the top grade: unlabelled_top (`Convention.max_grade`, or
        the highest in the data). NaN where there is no such number.
        """
        return self.audited.table.copy()

    @property
    def remarks(self) -> list[str]:
        """What makes the numbers say less than they seem to: a sentence for each thing."""
        return remarks(self)

    def intervals(self, level: float = 0.95) -> pd.DataFrame:
        """Return confidence intervals over users.

        Parameters
        ----------
        level : float
            Between 0 and 1.

        Returns
        -------
        pandas.DataFrame
            A row per metric: mean_low and mean_high by Student's t, pooled_low and pooled_high
            by the delta method for a ratio.
        """
        return intervals(self.audited.totals, level)

    def signature(self, metric: str) -> str:
        """Return how a metric was computed, complete: two equal ones mean equal numbers.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> rn.evaluate({"ann": [(4.5, 5), (3.0, 2)]}).signature("ndcg@10")[:36]
        'ndcg@10|gain:exponential|discount:lo'
        """
        return self.signed[self._known(metric)]

    def leaderboard(self, metric: str, n: int = 20, *, ascending: bool = False) -> pd.DataFrame:
        """Return the n users with the highest, or the lowest, scores.

        Among equal scores the longer list comes first: it is the stronger evidence.
        """
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            msg = f"n must be a whole number of at least 1, not {shown(n)}."
            raise InvalidInputError(msg)
        name = self._known(metric)
        table = self.per_user
        defined = table[table[name].notna()]
        by = [name, "n_items"]
        return defined.sort_values(by, ascending=[ascending, False], kind="stable").head(n)

    def explain(self, user: Any, k: int | None = 10) -> pd.DataFrame:
        """Return where a user's DCG and NDCG come from, rank by rank.

        Parameters
        ----------
        user
            An id as in `per_user`.
        k : int, optional
            The last rank; None for all.

        Returns
        -------
        pandas.DataFrame
            A row per rank: item, estimated, true, gain, discount, discounted_gain, dcg (so far),
            ideal_gain, ideal_dcg (so far), ndcg. A short list ends early: ranks past its end
            have no item, and no row unless the ideal list is longer.

        Raises
        ------
        InvalidInputError
            There is no such user, the report was read from a file, or it is of a whole catalogue,
            of which it keeps the first ranks alone.

        Notes
        -----
        Under ``ties="expected"`` the gain is the mean over the items that share the estimate.
        """
        if self.lists is None:
            msg = "This report was read from a file, which holds no lists. Evaluate the data again."
            raise InvalidInputError(msg)
        gains = (one for one in self.scores.measurements if one.metric.uses_gains)
        return explained(self.lists, next(gains, self.scores.measurements[0]), user, k)

    def to_markdown(self) -> str:
        """Return the summary and the signatures as Markdown."""
        return markdown(self)

    def to_latex(self) -> str:
        """Return the summary as a LaTeX table, the signatures as comments."""
        return latex(self)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the summary as an HTML page, and write it if a path is given."""
        return html(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the lists, as plain values that JSON can hold; NaN is None."""
        by_metric = {"summary": self.summary, "audit": self.audit, "baselines": self.baselines.T}
        return storage.as_dict(self.scores, self.per_user, by_metric, self.counts, self.signatures)

    def save(self, path: str | Path) -> None:
        """Write the report as JSON."""
        storage.write(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | Path) -> Report:
        """Read a report that `save` wrote; it has everything but `explain`.

        Raises
        ------
        InvalidInputError
            The file is not a report.
        """
        scores, signatures, audit, baselines = storage.read(path)
        return cls(scores, signatures, audit, known_baselines=baselines)

    def __str__(self) -> str:
        """Return the summary, the counts that matter and the signature, as text."""
        return text(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return fragment(self)

    def _known(self, metric: str) -> str:
        name = str(metric)
        if name not in self.metrics:
            with suppress(RecsysNdcgError):
                name = str(parse(name)[0])
        if name in self.metrics:
            return name
        msg = f"This report has no metric {metric!r}; it has {', '.join(self.metrics)}."
        raise InvalidInputError(msg)
