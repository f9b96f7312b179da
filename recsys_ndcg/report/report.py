"""Report: scores per user, averaged and pooled, and how they were computed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Ids, divide
from recsys_ndcg.errors import InvalidInputError, check_choice, check_integer, check_level, warn
from recsys_ndcg.input import index_of
from recsys_ndcg.rendering import Document, Readable
from recsys_ndcg.report import saving
from recsys_ndcg.report.document import remarks, report_document, warnings_of
from recsys_ndcg.report.explanation import explained
from recsys_ndcg.report.segments import Segments, UnknownKeyError
from recsys_ndcg.report.user_groups import BUILT_IN, has_column, segments_of
from recsys_ndcg.scoring import Audit, Plan, Scores, Signature, metric_among
from recsys_ndcg.significance import BOOTSTRAPS, mean_interval, ratio_interval, resampled_intervals

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.lists import Facts, GroupedLists
    from recsys_ndcg.metrics import Metric


@dataclass(frozen=True, eq=False, repr=False)
class Report(Readable, Mapping[str, float]):
    """What `evaluate` returns: a value, that shows what was measured whenever it is asked.

    It is a mapping of its means, ``report["ndcg@10"]`` or ``dict(report)``. Two reports are equal
    if every user has the same scores, computed in the same way.

    Parameters
    ----------
    audited : Audit
        The scores of every user, and what stands beside them.
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
        A row per metric: mean, ci_low, ci_high, pooled, median, users, undefined, chance,
        adjusted, tie_low, tie_high.
    audit : pandas.DataFrame
        A row per metric: what the score is to be read against.
    counts : dict
        Users, rows, and how many need a second look.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> report = rn.evaluate({"ann": [(4.5, 5), (3.0, 2), (2.0, 4)]}, k=2, threshold=4)
    >>> {name: round(mean, 3) for name, mean in report.items()}
    {'ndcg@2': 0.813, 'precision@2': 0.5, 'recall@2': 0.5}
    """

    audited: Audit
    known_baselines: pd.DataFrame | None = None
    #: What users may be ranked by, and the segments that need nobody to say who is in them.
    BY: ClassVar[tuple[str, ...]] = ("score", "adjusted", "z")
    SEGMENTS: ClassVar[tuple[str, ...]] = BUILT_IN

    @classmethod
    def of_lists(cls, lists: GroupedLists, plan: Plan) -> Report:
        """Settle a plan against lists, measure them, and warn of what deceives.

        Raises
        ------
        InvalidInputError
            Something in the plan cannot be computed of them.

        Warns
        -----
        DataWarning
            As `of_audit` does.
        """
        facts = plan.facts_of(lists)
        plan = plan.settled(facts, lists)
        return cls.of_audit(Audit.of(lists, plan, facts), facts, plan)

    @classmethod
    def of_audit(cls, audit: Audit, facts: Facts, plan: Plan) -> Report:
        """Return the report of what was measured, and warn of what is legal but deceptive.

        Warns
        -----
        DataWarning
            Data that looks like a mistake, a threshold that separates no items, lists that are
            worse than in random order, ties that leave a score open.
        """
        report = cls(audit)
        for told in warnings_of(report, facts, plan):
            warn(told)
        return report

    @property
    def scores(self) -> Scores:
        """Numerators and denominators of every user."""
        return self.audited.scores

    def __getitem__(self, metric: str | Metric) -> float:
        """Return the mean of a metric."""
        try:
            return float(self.mean.iloc[self._place(metric)])
        except InvalidInputError as error:
            raise UnknownKeyError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        """Go through the names of the metrics."""
        return iter(self.metrics)

    def __len__(self) -> int:
        """Return the number of metrics."""
        return len(self.metrics)

    def __eq__(self, other: object) -> bool:
        """Compare the scores of every user, and how they were computed."""
        if not isinstance(other, Report):
            return NotImplemented
        return self is other or (
            self.metrics == other.metrics
            and self.audited.signatures == other.audited.signatures
            and self.users.tolist() == other.users.tolist()
            and self.scores.same_as(other.scores)
        )

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((*self.audited.signatures.values(), self.audited.n_users))

    @property
    def signatures(self) -> dict[str, Signature]:
        """How each metric was computed, by name."""
        return dict(self.audited.signatures)

    @property
    def users(self) -> Ids:
        """The user ids, in the order of `per_user`."""
        return self.scores.users

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics, in the order they were asked for."""
        return [str(one) for one in self.audited.measurements]

    @property
    def bounded(self) -> pd.Series[bool]:
        """Whether each metric lies between 0 and 1."""
        found = [one.metric.bounded for one in self.audited.measurements]
        return pd.Series(found, index=self.metrics, dtype=bool)

    @property
    def per_user(self) -> pd.DataFrame:
        """Scores by user."""
        return self.scores.table()

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
        """Users, rows, and how many need a second look.

        Keys: users; ratings, the rows of users' own ratings, or recommended, the rows of supplied
        lists, and candidates, what these were chosen from or all items of a catalogue; short (lists
        of fewer than the largest k), trivial (every order scores the same), tied (two equal
        estimates), unlabelled (rows), unlisted (labels outside the lists), missing (labelled users
        without a list), impossible (predictions that the model could not make), duplicates (rows
        merged), left_out (users, of any metric), and for each metric ``undefined ndcg@10`` and
        ``trivial ndcg@10``, users.
        """
        totals, protocol = self.audited.order_totals, self.audited.protocol
        counts = dict(totals.counts)
        users, ratings, candidates = map(counts.pop, ("users", "ratings", "candidates"))
        rows = {"ratings" if protocol == "rated" else "recommended": ratings}
        if protocol not in ("rated", "supplied"):
            rows = (rows if ratings < candidates else {}) | {"candidates": candidates}
        found = {"users": users, **rows, **counts}
        by_metric = {"undefined": totals.undefined, "trivial": totals.trivial}
        for what, numbers in by_metric.items():
            named = zip(totals.names, numbers.tolist(), strict=True)
            found |= {f"{what} {metric}": number for metric, number in named}
        return found

    @property
    def summary(self) -> pd.DataFrame:
        """One row per metric."""
        totals, ends = self.audited.order_totals, self.intervals()
        columns = {
            "mean": totals.mean,
            "ci_low": ends["mean_low"].to_numpy(),
            "ci_high": ends["mean_high"].to_numpy(),
            "pooled": totals.pooled,
            "median": self.audited.median,
            "users": totals.n_scored,
            "undefined": totals.undefined,
            "chance": totals.mean_of("chance"),
            "adjusted": totals.adjusted,
            "tie_low": totals.mean_of("lowest"),
            "tie_high": totals.mean_of("highest"),
        }
        return pd.DataFrame(columns, index=pd.Index(totals.names, name="metric"))

    @property
    def baselines(self) -> pd.DataFrame:
        """The means of what needs no model, a column per metric: chance, and others if known.

        A report on a whole catalogue has ``MostPopular``, the items with the most ratings.
        """
        chance = self.audit[["chance"]].T
        return chance if self.known_baselines is None else pd.concat([self.known_baselines, chance])

    @property
    def audit(self) -> pd.DataFrame:
        """What each score is to be read against: one row per metric.

        Columns, as means over users: chance (random order), worst and best (the extreme orders of
        the lists), tie_low and tie_high (every tie in its worst, best order). Of these means:
        adjusted, (mean - chance) / (best - chance), how far the model goes of the way that any
        order could have gone (as the adjusted Rand index: Hubert & Arabie 1985). Of linear
        metrics: z, Σ(numerator - its mean) / √ΣVar, in how many standard deviations of random
        order all lists together differ from it (Hoeffding 1951): from about 2 on the order is
        better than random. Shares of the users who have a score: trivial (every order scores the
        same), decided_by_ties (the order of equal estimates moves it). Shares of all users: short
        (fewer than k items), skipped (no score). Of the rows: unlabelled. Of the first k items:
        judged (Sakai 2007). The mean if all unlabelled items were irrelevant: unlabelled_zero; if
        they were of the top grade: unlabelled_top (`Convention.max_grade`, or the highest in the
        data). NaN where there is no such number.
        """
        totals = self.audited.full_totals
        counts, best = totals.counts, totals.mean_of("best")
        zero, top = totals.mean_of("zero"), totals.mean_of("top")
        if not counts["unlabelled"] and "zero" in totals.roles:
            zero = top = totals.mean
        columns: dict[str, Any] = {
            "chance": totals.mean_of("chance"),
            "adjusted": totals.adjusted,
            "z": totals.z,
            "worst": totals.mean_of("worst"),
            "best": best,
            "trivial": divide(totals.trivial, np.where(np.isnan(best), 0, totals.n_scored)),
            "tie_low": totals.mean_of("lowest"),
            "tie_high": totals.mean_of("highest"),
            "decided_by_ties": totals.mean_of("moved"),
            "short": totals.short_of / counts["users"],
            "skipped": 1 - totals.n_scored / counts["users"],
            "unlabelled": counts["unlabelled"] / max(counts["ratings"], 1),
            "judged": totals.mean_of("judged"),
            "unlabelled_zero": zero,
            "unlabelled_top": top,
        }
        return pd.DataFrame(columns, index=totals.names)

    @property
    def remarks(self) -> list[str]:
        """What makes the numbers say less than they seem to: a sentence for each thing."""
        return remarks(self)

    def intervals(
        self,
        level: float = 0.95,
        *,
        method: str = "t",
        draws: int = 10_000,
        seed: int = 0,
        progress: bool = True,
    ) -> pd.DataFrame:
        """Return confidence intervals over users.

        Parameters
        ----------
        level : float
            Between 0 and 1, and at least 1e-12 away from both.
        method : {'t', 'percentile', 'bca'}
            Student's t for means and the delta method for the ratios that pooled scores are; or
            quantiles of the scores of resampled users (bootstrap), or these corrected for bias
            and skewness: for few users with scores far from normal.
        draws, seed : int
            How many resamples, of which seed.
        progress : bool
            Whether a bar shows how many are drawn, where a person watches.

        Returns
        -------
        pandas.DataFrame
            A row per metric: mean_low, mean_high, pooled_low, pooled_high. NaN where fewer than
            two users have a score.

        Raises
        ------
        InvalidInputError
            The level, the method, draws or seed is something else.

        References
        ----------
        Efron (1987), doi:10.1080/01621459.1987.10478410

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2)]}, k=2)
        >>> report.intervals(method="percentile").loc["ndcg@2"].round(3).tolist()
        [0.797, 1.0, 0.797, 1.0]
        """
        totals = self.audited.totals
        if method == "t":
            check_level("level", level, such_as=0.95)
            own, parts = totals.scores, totals.parts
            low, high = mean_interval(own.count, own.mean_x, own.length, level)
            ratios: Iterable[Any] = ratio_interval(
                parts.count, parts.ratio, parts.mean_x, parts.residual, level
            )
        else:
            check_choice("method", method, ("t", *BOOTSTRAPS))
            scores = self.scores
            how: dict[str, Any] = {"method": method, "draws": draws, "seed": seed}
            both = (scores.numerator, scores.denominator)
            tables = (np.where(scores.defined, one, 0.0) for one in both)
            low, high, *ratios = resampled_intervals(
                scores.per_user, *tables, progress=progress, level=level, **how
            )
        ends = [low, high, *map(totals.scored, ratios)]
        columns = ["mean_low", "mean_high", "pooled_low", "pooled_high"]
        return pd.DataFrame(dict(zip(columns, ends, strict=True)), index=self.metrics)

    def signature(self, metric: str | Metric) -> Signature:
        """Return how a metric was computed, complete: two equal ones mean equal numbers.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> rn.evaluate({"ann": [(4.5, 5), (3.0, 2)]}).signature("ndcg@10")[:36]
        'ndcg@10|gain:exponential|discount:lo'
        """
        return self.audited.signatures[self.metrics[self._place(metric)]]

    def per_user_audit(self, metric: str | Metric) -> pd.DataFrame:
        """Return what each user's score in a metric is to be read against.

        Returns
        -------
        pandas.DataFrame
            Indexed by user: items, relevant, score, chance (random order of the same list), worst
            and best (its extreme orders), adjusted = (score - chance) / (best - chance), and z =
            (numerator - its mean) / its standard deviation in random order, exact for metrics
            linear in gains or relevance. Both are NaN for trivial users.

        References
        ----------
        Hubert & Arabie (1985), doi:10.1007/BF01908075; Hoeffding (1951),
        doi:10.1214/aoms/1177729545

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> report = rn.evaluate({"ann": [(4.5, 5), (3.0, 2), (2.0, 4)]}, k=2)
        >>> audit = report.per_user_audit("ndcg@2")[["score", "chance", "adjusted", "z"]]
        >>> audit.loc["ann"].round(3).tolist()
        [0.813, 0.658, 0.452, 0.623]
        """
        place, scores = self._place(metric), self.audited.full_scores
        counts = scores.counts
        known = not np.isnan(counts.n_relevant).any()
        tables = {
            "score": scores.per_user,
            **{role: scores.roles[role] for role in ("chance", "worst", "best")},
            "adjusted": scores.adjusted,
            "z": scores.z,
        }
        columns = {
            "items": counts.n_items,
            "relevant": counts.n_relevant.astype(int if known else float),
            **{name: table[:, place] for name, table in tables.items()},
        }
        return pd.DataFrame(columns, index=index_of(scores.users, "user"), copy=True)

    def leaderboard(
        self, metric: str | Metric, n: int = 20, *, by: str = "score", ascending: bool = False
    ) -> pd.DataFrame:
        """Return the n users with the highest, or the lowest, scores in a metric.

        Users for whom every order scores the same are left out: ``attrs["trivial"]`` of the table
        says how many.

        Parameters
        ----------
        metric : str or Metric
            One of the report's.
        n : int
            How many users, at least 1.
        by : {'score', 'adjusted', 'z'}
            What they are ranked by. A short list scores 1 easily: `adjusted` says how far it goes
            from chance to its best order, `z` how surely that is no chance.
        ascending : bool
            Whether the lowest come first.

        Returns
        -------
        pandas.DataFrame
            Indexed by user: rank, items, relevant, score, chance, adjusted, z, as `per_user_audit`
            has them, the highest first. Users equal in what they are ranked by stand by z, those
            equal in that too share their rank, the longer list first.

        Raises
        ------
        InvalidInputError
            `n` or `by` is something else, or the metric has no such number.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> rows = {"ann": [(4, 5), (3, 2), (2, 4)], "bob": [(4, 5), (3, 4), (2, 2), (1, 1)]}
        >>> board = rn.evaluate(rows, k=4).leaderboard("ndcg@4", by="z")
        >>> board["score"].round(3).to_dict()
        {'bob': 1.0, 'ann': 0.963}
        """
        place, scores = self._place(metric), self.audited.full_scores
        check_integer("n", n, 1)
        check_choice("by", by, self.BY)
        needed = {"adjusted": "best", "z": "deviation"}
        if by in needed and np.isnan(scores.roles[needed[by]][:, place]).all():
            msg = f"{self.metrics[place]} has no {by} for any user: rank them by='score'."
            raise InvalidInputError(msg)
        table, trivial = self.per_user_audit(metric), scores.trivial[:, place]
        some = table[table[by].notna() & ~trivial]
        keys = list(dict.fromkeys([by, "z"]))
        order = [*([ascending] * len(keys)), False]
        told = some[[*keys, "items"]].apply(_to_twelve_digits)
        told = told.sort_values([*keys, "items"], ascending=order, kind="stable").head(n)
        some = some.loc[told.index]
        new = (told[keys].diff().ne(0) & told[keys].notna()).any(axis=1).to_numpy()
        rank = np.maximum.accumulate(np.where(new, np.arange(1, len(some) + 1), 1))
        board = some.drop(columns=["worst", "best"])
        board.insert(0, "rank", rank)
        board.attrs["trivial"] = int(trivial.sum())
        return board

    def take(self, users: Iterable[Any]) -> Report:
        """Return the report of some users: the same as evaluating their rows alone.

        Parameters
        ----------
        users : iterable of ids
            As in `per_user`, in any order.

        Returns
        -------
        Report
            Of these users, in the order of `per_user`. A report that was read from a file holds
            no lists: what takes a look at them (ties, labels) is NaN there. Means of other models
            (`baselines`) are those of all users, and left out.

        Raises
        ------
        InvalidInputError
            There is no such user, or none is given.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2)]})
        >>> report.take(["ann"]).mean["ndcg@10"]
        np.float64(1.0)
        """
        return Report(self.audited.take(self.scores.places_of(users)))

    def by(
        self,
        groups: Any,
        *,
        data: Any = None,
        train: Any = None,
        columns: Mapping[str, str] | None = None,
    ) -> Segments:
        """Return the report of each of several groups of users, and how they differ.

        Parameters
        ----------
        groups : str, mapping, Series, table, path or callable
            Built in: ``"activity"``, ``"list_length"`` and ``"relevant"`` are quarters of the
            users by their labelled ratings (of `train`, if that is given), by the items in their
            lists, and by their relevant items, those without any apart; ``"cold"`` tells users
            whom `train` has from those whom it has not. Or the name of a column of `data`; a
            table, or the path of its file, with a column of users and one of groups;
            ``{user: group}``, ``{group: [users]}``, or a Series indexed by user; or a function
            that gets `per_user` and returns a group for each user.
        data : table or path, optional
            As `evaluate` reads it, one row or several per user, with the column that `groups`
            names: one value per user.
        train : table, path, trainset of Surprise, or ids of users, optional
            What the model was trained on, a row per rating.
        columns : mapping, optional
            ``{"user": "uid"}`` if a table calls its users otherwise.

        Returns
        -------
        Segments
            A mapping of the groups to their reports, in ascending order of the groups, or in that
            of their categories. Users in no group are left out, and counted. Its ``summary`` has
            a row per segment and metric; ``print`` shows it.

        Raises
        ------
        InvalidInputError
            The groups fit no user, give one user two groups, or are nothing of these.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> rows = {"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2)], "eve": [(2, 1), (1, 0)]}
        >>> segments = rn.evaluate(rows).by({"ann": "new", "bob": "old", "eve": "old"})
        >>> segments.summary["mean"].round(3).to_dict()
        {('new', 'ndcg@10'): 1.0, ('old', 'ndcg@10'): 0.898}
        >>> segments["old"].users.tolist()
        ['bob', 'eve']
        """
        if isinstance(groups, str) and groups in self.SEGMENTS and has_column(data, groups):
            msg = (
                f"{groups!r} is a column of data, and built in: leave out data for what is built "
                "in; for the column, give a table of the users and it: "
                f"data[['user', {groups!r}]]."
            )
            raise InvalidInputError(msg)
        found = segments_of(groups, self.scores, tables=[data], train=train, columns=columns)
        return Segments.of(found, self)

    @property
    def truth(self) -> pd.Series[int]:
        """A digest of what is known of each user: its sum is that of the whole, modulo 2^32."""
        users = index_of(self.users, "user")
        return pd.Series(self.audited.truth, index=users, name="truth", copy=True)

    def same_ratings(self, other: Report) -> bool:
        """Tell whether two reports are of the same users and measured on the same ratings.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> one = rn.evaluate({"ann": [(4, 5), (3, 2)]})
        >>> two = rn.evaluate({"ann": [(1, 2), (0, 5)]})
        >>> one.same_ratings(two)
        True
        """
        same_users = self.users.tolist() == other.users.tolist()
        return same_users and np.array_equal(self.audited.truth, other.audited.truth)

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
            A row per rank: item, estimated, true, relevant (missing without a threshold), gain,
            discount, discounted_gain, dcg (so far), ideal_item (one of the best orders),
            ideal_gain, ideal_dcg (so far), ndcg. A short list ends early: ranks past its end have
            no item, and no row unless the ideal list is longer.

        Raises
        ------
        InvalidInputError
            There is no such user, the report was read from a file, or it is of a whole catalogue,
            of which it keeps the first ranks alone.

        Notes
        -----
        Under ``ties="expected"`` the gain is the mean over the items that share the estimate.
        """
        return explained(self.audited, user, k)

    def plot(
        self, kind: str = "k", metric: str | Metric | None = None
    ) -> alt.LayerChart | alt.ConcatChart:
        """Return a chart of Vega-Altair, which a notebook shows.

        Parameters
        ----------
        kind : {'k', 'users'}
            ``"k"``: the mean against the cutoff, with its 95 % interval and chance. A metric that
            was measured at a single cutoff is measured at smaller ones, too, by the same
            convention; of a report that was read from a file, a single point is left.
            ``"users"``: how the users' scores are spread, beside the chance of the same lists.
        metric : str or Metric, optional
            For ``"k"`` with its cutoff or without, by default every metric that has one, a panel
            each; for ``"users"`` one of the report's, by default the first.

        Returns
        -------
        altair.LayerChart or altair.ConcatChart
            Its `description` says in words what it shows; ``chart.save("k.svg")`` writes a file.

        Raises
        ------
        InvalidInputError
            There is no such kind or metric, the metric has no cutoff, or nobody has a score.
        MissingExtraError
            Vega-Altair is not installed: the extra `report` brings it.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> rows = {"ann": [(4, 5), (3, 2), (2, 4)], "bob": [(4, 5), (3, 4), (2, 2), (1, 1)]}
        >>> report = rn.evaluate(rows, k=2, metrics="ndcg")
        >>> print(report.plot("users").description)
        ndcg@2 of 2 users: mean 0.9064, quartiles 0.8597 and 0.9532;
        chance 0.5811, quartiles 0.5424 and 0.6197.
        """
        from recsys_ndcg.report.page import plotted  # noqa: PLC0415 - with all plots

        return plotted(self, kind, None if metric is None else str(metric))

    def document(self, *, answer: bool = False) -> Document:
        """Return what people read of it: the summary, the remarks, the audit, the signatures.

        Parameters
        ----------
        answer : bool
            Whether a verdict stands above it, for forms with room for one.
        """
        return report_document(self, answer=answer)

    def page(self, command: str | None = None) -> Document:
        """Return the same with the counts, charts, and users who show their lists.

        Parameters
        ----------
        command : str, optional
            What was typed to make it, if that was a command line.
        """
        from recsys_ndcg.report.page import report_page  # noqa: PLC0415 - with all plots

        return report_page(self, command)

    def to_metrics(self) -> dict[str, float]:
        """Return the scores as one flat dict of numbers, as experiment trackers take it.

        Returns
        -------
        dict of str to float
            Of each metric, under its name, the mean; and behind the name ``_pooled``, ``_ci_low``
            and ``_ci_high`` (of the mean), ``_chance``, ``_adjusted``, and ``_users``, those with a
            score. ``@`` is ``_at_``, and what else trackers refuse is ``_``; names that would be
            the same are numbered. What there is no number for is left out: MLflow would store
            infinity as the largest float.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2)]})
        >>> found = report.to_metrics()
        >>> {name: round(value, 3) for name, value in found.items() if "ci" not in name}
        {'ndcg_at_10': 0.898, 'ndcg_at_10_pooled': 0.98, 'ndcg_at_10_chance': 0.871,
        'ndcg_at_10_adjusted': 0.214, 'ndcg_at_10_users': 2.0}
        """
        return saving.tracker_metrics({"": self.summary})

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the lists, as plain values that JSON can hold; NaN is None."""
        return saving.to_dict(self)

    def save(self, path: str | Path) -> None:
        """Write the report as JSON: what it says of all users to be read, of each user packed.

        A digest in it tells whether the file was damaged or changed since.

        Raises
        ------
        InvalidInputError
            A user id is neither text nor a number, or the file cannot be written.
        """
        saving.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Report:
        """Read a report that `save` wrote; it has everything but `explain`.

        Raises
        ------
        InvalidInputError
            The file is not a report, one of an older or newer version, or was changed.
        """
        return cls(*saving.load(path))

    def _place(self, metric: str | Metric) -> int:
        return self.metrics.index(metric_among(metric, self.metrics, "This report"))


def _to_twelve_digits(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return numbers that are the same where they differ by the last digits of a sum alone."""
    mantissa, exponent = np.frexp(column.to_numpy(dtype=np.float64))
    return pd.Series(np.ldexp(np.round(mantissa, 12), exponent), index=column.index)
