"""Report: the scores of every user, their means, and how they were computed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Ids
from recsys_ndcg.errors import InvalidInputError, check_choice, check_integer, quote, warn
from recsys_ndcg.findings import Finding, HasFindings, write_sentences
from recsys_ndcg.rendering import Document, Renderable
from recsys_ndcg.report import saving
from recsys_ndcg.report.data import ReportData, UnknownKeyError
from recsys_ndcg.report.document import build_report_document
from recsys_ndcg.report.explanation import explain_user
from recsys_ndcg.report.gaps import build_gaps, find_known_groups
from recsys_ndcg.report.label_weights import Sensitivity, split_by_items, vary_gamma
from recsys_ndcg.report.rarefaction import compute_rarefaction
from recsys_ndcg.report.remarks import find_warnings
from recsys_ndcg.report.segments import Segments
from recsys_ndcg.report.user_groups import BUILT_IN_GROUPS, assign_segments, has_column
from recsys_ndcg.scoring import Audit, Plan, Signature

if TYPE_CHECKING:
    import altair as alt

    from recsys_ndcg.lists import Facts, GroupedLists
    from recsys_ndcg.metrics import Metric

#: The columns that `Report.leaderboard` can rank by.
_LEADERBOARD_COLUMNS = ("score", "adjusted", "z")


@dataclass(frozen=True, eq=False, repr=False)
class Report(HasFindings, Renderable, Mapping[str, float]):
    """The scores of one model, as `evaluate` returns them.

    A report is a mapping of metrics to means: ``report["ndcg@10"]``, ``dict(report)``. It never
    changes. Two reports are equal if every user has the same scores, computed in the same way.

    Parameters
    ----------
    _data : ReportData
        What the tables are made of; `evaluate` makes it.

    Attributes
    ----------
    per_user : pandas.DataFrame
        Indexed by user: n_items, n_relevant, then a column per metric; NaN if undefined.
    mean, pooled : pandas.Series
        By metric: the mean over users, and Σ numerator / Σ denominator over users.
    baselines : pandas.DataFrame
        The means of chance and other baselines: a row per baseline, a column per metric.
    summary : pandas.DataFrame
        A row per metric: mean, ci_low, ci_high, pooled, median, users, undefined, chance,
        adjusted, adjusted_low, adjusted_high, tie_low, tie_high.
    audit : pandas.DataFrame
        A row per metric: chance, adjusted, z, worst, best, ties, short lists, labels.
    counts : dict
        The numbers of users and rows, also of short lists, ties and the like.
    findings : pandas.DataFrame
        What the report shows, and what limits it: kind, metric, models, numbers, severity,
        sentence.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> report = rn.evaluate({"ann": [(4.5, 5), (3.0, 2), (2.0, 4)]}, k=2, threshold=4)
    >>> {name: round(mean, 3) for name, mean in report.items()}
    {'ndcg@2': 0.813, 'precision@2': 0.5, 'recall@2': 0.5}
    """

    _data: ReportData

    def __getitem__(self, metric: str | Metric) -> float:
        """Return the mean of a metric."""
        try:
            return float(self.mean.iloc[self._data.find_column(str(metric))])
        except InvalidInputError as error:
            raise UnknownKeyError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the metrics."""
        return iter(self.metrics)

    def __len__(self) -> int:
        """Return the number of metrics."""
        return len(self.metrics)

    def __eq__(self, other: object) -> bool:
        """Return whether every user has the same scores, computed in the same way."""
        if not isinstance(other, Report):
            return NotImplemented
        return self is other or (
            self.metrics == other.metrics
            and self._data.audit.signatures == other._data.audit.signatures
            and self.users.tolist() == other.users.tolist()
            and self._data.scores.equals(other._data.scores)
            and np.array_equal(
                self._data.audit.totals.mean, other._data.audit.totals.mean, equal_nan=True
            )
        )

    def __hash__(self) -> int:
        """Return a hash that equal reports share."""
        return hash((*self._data.audit.signatures.values(), self._data.audit.n_users))

    @property
    def signatures(self) -> dict[str, Signature]:
        """The signature of each metric: how it was computed."""
        return dict(self._data.audit.signatures)

    @property
    def users(self) -> Ids:
        """The user ids, in the order of `per_user`."""
        return self._data.scores.users

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics, in the order in which they were requested."""
        return self._data.metrics

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores by user: n_items, n_relevant, then a column per metric."""
        return self._data.scores.table()

    @property
    def mean(self) -> pd.Series[float]:
        """The mean of each metric over the users who have a score."""
        return pd.Series(self._data.audit.totals.mean, index=self.metrics, name="mean", copy=True)

    @property
    def pooled(self) -> pd.Series[float]:
        """The sum of the numerators over the sum of the denominators, by metric."""
        return pd.Series(self._data.audit.totals.pooled, index=self.metrics, name="pooled")

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of users and rows, also of short lists, ties and the like.

        Keys for the data: users; ratings (the number of rows) if each user's own ratings are
        ranked, otherwise recommended (the rows of the lists; no key if they hold all candidates);
        candidates (the sum over users of the items that each list was chosen from, or of all
        items that were ranked). Users:
        short (lists of fewer items than the largest k), trivial (every order has the same score),
        tied (at least two equal estimates), missing (labelled users without a list), left_out (by
        the convention, from at least one metric; undefined scores are counted separately), and for
        each metric ``undefined ndcg@10`` and ``trivial ndcg@10``. Rows: unlabelled, unlisted
        (labels of items outside the lists), impossible (predictions that the model could not make),
        duplicates (merged rows); and if there are any: cold (listed items without training rows),
        outside (not in the catalogue), seen (which the user had in training).
        """
        return self._data.counts

    @property
    def summary(self) -> pd.DataFrame:
        """The main numbers, a row per metric: mean, interval, pooled, chance, ties."""
        return self._data.summary

    @property
    def label_weights(self) -> pd.Series[float] | None:
        """How the weight of the relevant labels is distributed; None if labels have no weights.

        labels (their number), effective ((Σv)²/Σv², Kish 1965: as many labels of equal weight give
        as precise a mean) and top_share (of the weight: the heaviest 1 % of the labels).
        """
        return self._data.label_weights

    @property
    def baselines(self) -> pd.DataFrame:
        """The means of baselines that need no model, a column per metric.

        Every report has ``chance``. A report of `recsys_ndcg.surprise.evaluate_catalogue` has
        ``MostPopular``, too: the items with the most ratings.
        """
        return self._data.baseline_table

    @property
    def audit(self) -> pd.DataFrame:
        """Reference values for each score, a row per metric.

        Means over users: chance (random order of the list, or if it was chosen from candidates, a
        random choice of them), worst and best (the extreme orders or choices), tie_low and
        tie_high (every tie in its worst or best order), judged (the labelled share of the first k
        items: Sakai 2007), unlabelled_zero and unlabelled_top (the score if all unlabelled items
        were irrelevant, or of the top grade: `Convention.max_grade`, or else the larger of the
        highest grade in the data and the threshold).

        From these means: adjusted = (mean - chance) / (best - chance), the share of the possible
        improvement over random order that the model achieves (as in the adjusted Rand index:
        Hubert & Arabie 1985); adjusted_low and adjusted_high, its 95 % interval (the delta method
        for the ratio of sums over users; NaN if chance is unknown for some users with a score).

        For metrics that are linear in gains or relevance: z = Σ(numerator - its mean in random
        order) / √ΣVar, the distance of all lists from random order in standard deviations
        (Hoeffding 1951). From about 2 on, the order is better than random.

        Shares of the users with a score: trivial (every order has the same score),
        decided_by_ties (the order of equal estimates changes the score). Shares of all users:
        short (fewer than k items), skipped (no score). Share of the rows: unlabelled.

        NaN if a number does not exist.
        """
        return self._data.audit_table

    @property
    def remarks(self) -> list[str]:
        """Reasons to be careful with the numbers, a sentence each."""
        return write_sentences(self._data.remarks)

    @property
    def _findings(self) -> list[Finding]:
        return [*self._data.verdict, *self._data.remarks]

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
            ``"t"``: Student's t for means, the delta method for pooled scores; both on the logit
            scale for metrics in [0, 1], and on the logarithmic scale for others that cannot be
            negative, so that no interval leaves these bounds. ``"percentile"``:
            quantiles over resampled users (bootstrap). ``"bca"``: the same corrected for bias and
            skewness, for few users whose scores are far from normal. Numbers of all lists
            together, such as coverage, always have the interval of the jackknife over users: a
            bootstrap is biased for them.
        draws, seed : int
            The number of resamples, and the seed.
        progress : bool
            Whether to show a progress bar, if the output is a terminal or a notebook.

        Returns
        -------
        pandas.DataFrame
            A row per metric: mean_low, mean_high, pooled_low, pooled_high. NaN if fewer than two
            users have a score, or if all have the same: such scores show no standard error. If all
            are 0, or all 1, ``"t"`` gives the exact binomial bound for metrics in [0, 1]; if nearly
            all are, the interval allows for the scores that none of the others has.

        Raises
        ------
        InvalidInputError
            The level, the method, draws or seed is out of range.

        References
        ----------
        Efron (1987), doi:10.1080/01621459.1987.10478410; Agresti (2002), Categorical Data
        Analysis, 2nd edition, section 3.1; Clopper & Pearson (1934), doi:10.1093/biomet/26.4.404

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2)]}, k=2)
        >>> report.intervals(method="percentile").loc["ndcg@2"].round(3).tolist()
        [0.797, 1.0, 0.797, 1.0]
        """
        options: dict[str, Any] = {"draws": draws, "seed": seed, "progress": progress}
        return self._data.compute_intervals(level, method=method, **options)

    def signature(self, metric: str | Metric | None = None) -> Signature:
        """Return the signature of a metric: equal signatures on equal data mean equal numbers.

        `metric` may be left out if the report has only one.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> rn.evaluate({"ann": [(4.5, 5), (3.0, 2)]}).signature("ndcg@10")[:36]
        'ndcg@10|gain:exponential|discount:lo'
        """
        return self._data.audit.signatures[self.metrics[self._data.find_column(metric)]]

    def per_user_audit(self, metric: str | Metric | None = None) -> pd.DataFrame:
        """Return each user's score in a metric next to chance, extremes, adjusted and z.

        `metric` may be left out if only one has a score per user.

        Returns
        -------
        pandas.DataFrame
            Indexed by user: items, relevant, score, chance, worst and best (as in `audit`),
            adjusted = (score - chance) / (best - chance), and z = (numerator - its mean) / its
            standard deviation in random order, exact for metrics that are linear in gains or
            relevance. Adjusted and z are NaN for trivial users.

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
        column = self._data.find_column(metric, self._data.metrics_of_users)
        return self._data.audit_users(column)

    def leaderboard(
        self,
        metric: str | Metric | None = None,
        n: int | None = 20,
        *,
        by: str = "score",
        ascending: bool = False,
        include_trivial: bool = False,
    ) -> pd.DataFrame:
        """Return the n users with the highest or the lowest scores in a metric.

        Users without a score are left out. So are trivial users, whose score does not depend on the
        order; their number is in ``attrs["trivial"]`` of the table.

        Parameters
        ----------
        metric : str or Metric, optional
            A metric of the report; may be left out if only one has a score per user.
        n : int, optional
            The number of users, at least 1; None for all.
        by : {'score', 'adjusted', 'z'}
            The column to rank by. Short lists reach a score of 1 by luck: `adjusted` is the share
            of the possible improvement over chance, `z` the evidence that it is no luck.
        ascending : bool
            Whether the lowest come first.
        include_trivial : bool
            Whether to rank trivial users, too. They have no `adjusted` and no `z`: in an order by
            one of these they come last, with the same rank.

        Returns
        -------
        pandas.DataFrame
            Indexed by user: rank, items, relevant, score, chance, adjusted, z, as in
            `per_user_audit`. Users with equal values are ordered by z. If z is equal, too, they
            share a rank, and the longer list is shown first.

        Raises
        ------
        InvalidInputError
            `n` or `by` is out of range, no user has a value in that column, or the metric is not
            named and there are several.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> rows = {"ann": [(4, 5), (3, 2), (2, 4)], "bob": [(4, 5), (3, 4), (2, 2), (1, 1)]}
        >>> board = rn.evaluate(rows, k=4).leaderboard("ndcg@4", by="z")
        >>> board["score"].round(3).to_dict()
        {'bob': 1.0, 'ann': 0.963}
        """
        column = self._data.find_column(metric, self._data.metrics_of_users)
        scores = self._data.audit.scores_with_orders
        if n is not None:
            check_integer("n", n, 1)
        check_choice("by", by, _LEADERBOARD_COLUMNS)
        needed = {"adjusted": "best", "z": "deviation"}
        if by in needed and np.isnan(scores.roles[needed[by]][:, column]).all():
            msg = f"{self.metrics[column]} has no {by} for any user: pass `by='score'`."
            raise InvalidInputError(msg)
        table, trivial = self._data.audit_users(column), scores.trivial[:, column]
        is_ranked = np.where(trivial, include_trivial, table[by].notna())
        keys = list(dict.fromkeys([by, "z"]))
        directions = [*([ascending] * len(keys)), False]
        rounded = table.loc[is_ranked, [*keys, "items"]].apply(_round_to_twelve_digits)
        rounded = rounded.sort_values([*keys, "items"], ascending=directions, kind="stable")[:n]
        n_before = rounded.groupby(keys, dropna=False).cumcount().to_numpy()  # with equal values
        board = table.loc[rounded.index].drop(columns=["worst", "best"])
        board.insert(0, "rank", np.arange(1, len(board) + 1) - n_before)
        board.attrs["trivial"] = int(trivial.sum())
        return board

    def take(self, users: Iterable[Any]) -> Report:
        """Return the report of some users: the same as evaluating only their rows.

        Parameters
        ----------
        users : iterable of ids
            User ids as in `per_user`, in any order.

        Returns
        -------
        Report
            The users are in the order of `per_user`. If this report was loaded from a file, it has
            no lists, so the columns about ties (tie_low, tie_high, decided_by_ties) and judged,
            unlabelled_zero and unlabelled_top are NaN, and so is the chance of numbers of all
            lists together, such as coverage. Baselines of other models are left out,
            because their means are over all users.

        Raises
        ------
        InvalidInputError
            The report has no such user, or no user is given.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2)]})
        >>> report.take(["ann"]).mean["ndcg@10"]
        np.float64(1.0)
        """
        return Report(ReportData(self._data.audit.take(self._data.scores.positions_of(users))))

    def by(
        self,
        groups: Any,
        *,
        data: Any = None,
        train: Any = None,
        columns: Mapping[str, Any] | None = None,
    ) -> Segments[Report]:
        """Split the report by user group, and compare each group with all others together.

        Parameters
        ----------
        groups : str, mapping, Series, table, path or callable
            A built-in group: ``"activity"`` cuts the users at the quartiles of their number of
            labelled ratings (or of rows of `train`, if given), ``"list_length"`` of items,
            ``"relevant"`` of relevant items; ``"cold"`` separates users who are in `train` from
            users who are not; ``"training_ratings"`` cuts users at 0, 1, 2, 5, 10, 20, 50 and so on
            rows of `train`. Or the name of a column of `data`; a table with a column of
            users and a column of groups, or the path of such a file; ``{user: group}`` or
            ``{group: [users]}``; a Series indexed by user; or a function of `per_user` that
            returns a group for each user.
        data : table or path, optional
            Any input of `evaluate` with the column that `groups` names, one value per user.
        train : table, path, trainset of Surprise, or ids of users, optional
            The training data, a row per rating.
        columns : mapping, optional
            ``{"user": "uid"}`` if the tables have another name for the column of users.

        Returns
        -------
        Segments
            A mapping of the groups to their reports, in ascending order of the groups or in the
            order of their categories. Users without a group are left out and counted. Its
            ``summary`` has a row per segment and metric; ``print`` shows it.

        Raises
        ------
        InvalidInputError
            `groups` is not one of these, contains none of the users, or assigns two groups to a
            user.

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
        is_built_in = isinstance(groups, str) and groups in BUILT_IN_GROUPS
        if is_built_in and has_column(data, groups, columns):
            msg = (
                f"{groups!r} is a built-in group and a column of data. Leave out data, or pass the "
                f"column as groups: data[['user', {groups!r}]]."
            )
            raise InvalidInputError(msg)
        options: dict[str, Any] = {"tables": [data], "train": train, "columns": columns}
        return Segments.from_groups(assign_segments(groups, self._data.scores, **options), self)

    def gaps(  # noqa: PLR0913 - all are inputs
        self,
        groups: Any = None,
        metric: str | Metric | None = None,
        *,
        of: str = "metrics",
        data: Any = None,
        train: Any = None,
        columns: Mapping[str, Any] | None = None,
        level: float = 0.95,
        draws: int = 2000,
        seed: int = 0,
        progress: bool = True,
    ) -> pd.DataFrame:
        """Return how much the mean scores of groups of users differ, with simultaneous intervals.

        Among fifty groups some differ by chance. All intervals of a metric hold at once with the
        probability `level`, so that the chance of finding any gap that is not there is 1 - level.

        Parameters
        ----------
        groups : optional
            As in `by`; by default the ``groups=`` of `evaluate`.
        metric : str or Metric, optional
            One metric; by default all that have a score per user.
        of : {'metrics', 'pairs', 'groups'}
            A row per metric, per metric and pair of groups, or per metric and group.
        data, train, columns
            As in `by`.
        level : float
            Between 0 and 1.
        draws, seed : int
            The number of random permutations of the users, and their seed.
        progress : bool
            Whether to show a progress bar, if the output is a terminal or a notebook.

        Returns
        -------
        pandas.DataFrame
            ``of="metrics"``: groups, users, mean_gap (the mean absolute difference of all pairs of
            groups), mean_low, mean_high, largest_gap, largest_low, largest_high, by_chance (the
            mean gap of random groups of these sizes), lowest, highest (the groups), and
            p_corrected of the largest gap. ``"pairs"``: group, other, gap (mean minus mean), low,
            high, p_corrected; all but the gap are NaN if a group has fewer than two scores.
            ``"groups"``: group, users, mean, low, high, and remark: why there is no interval, such
            as fewer than ten users with a score.

        Raises
        ------
        InvalidInputError
            There is only one group, or no such metric, or an option is out of range.

        Notes
        -----
        Pairs have the test of `by`: a gap is found if it passes the test by permutations of the
        users, with the largest T of all pairs (Westfall & Young 1993), and the intervals of both
        means do not allow 0, either (Zou & Donner 2008; Šidák's correction). The first is exact if
        no group differs, the second holds if groups vary differently. An interval of a gap contains
        those of both tests. The intervals of the mean and the largest gap are what the intervals of
        the pairs allow.

        The intervals of groups are those of `summary`, for independent groups (Šidák 1967). For
        metrics in [0, 1], each is as if there were five more users with the same mean and scores of
        0 or 1: few users do not show how skewed scores are. For other metrics, they are too short
        if few users have very skewed scores.

        References
        ----------
        Westfall & Young (1993), Resampling-Based Multiple Testing, Wiley; Zou & Donner (2008),
        doi:10.1002/sim.3095; Šidák (1967), doi:10.1080/01621459.1967.10482935

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> rows = {n: [(4, 5), (3, 2)] if n % 6 else [(4, 1), (3, 2)] for n in range(600)}
        >>> table = rn.evaluate(rows).gaps({n: "abc"[n % 3] for n in rows}, draws=99)
        >>> gap = table.loc["ndcg@10", ["mean_gap", "mean_low", "mean_high"]]
        >>> gap.astype(float).round(3).tolist()
        [0.068, 0.049, 0.088]
        >>> table.loc["ndcg@10", ["lowest", "highest"]].tolist(), table["p_corrected"].tolist()
        (['a', 'b'], [0.01])
        """
        known = find_known_groups(self._data.audit.lists) if groups is None else groups
        segment_of_user = assign_segments(
            known, self._data.scores, tables=[data], train=train, columns=columns
        )
        options: Any = {"level": level, "draws": draws, "seed": seed, "progress": progress}
        return build_gaps(self._data, segment_of_user, metric, of, **options)

    def by_items(self, strata: Any = "popularity", *, train: Any = None) -> pd.DataFrame:
        r"""Split the scores into exact parts by stratum of items, such as popular and rare ones.

        .. math:: \text{part}_s = \frac{1}{|U|} \sum_u \frac{N_{us}}{D_u}, \quad
            \sum_s N_{us} = N_u

        with N_us the part of user u's numerator from labels of items in stratum s, and D_u the
        denominator: the parts of all strata add up to the mean.

        Parameters
        ----------
        strata : {'popularity'}, mapping or Series
            By default the number of training rows of an item: ``"0 (unknown)"``, ``"1"``,
            ``"2–4"`` …; or the stratum of each item. Items without one are in ``"other"``.
        train : table, rows or trainset, optional
            The training rows; by default those given to `evaluate`.

        Returns
        -------
        pandas.DataFrame
            Indexed by metric and stratum, of metrics that are sums over labels: items and labels
            (relevant ones, or all if the metric has gains); part, ci_low, ci_high (95 % over users)
            and share of the mean; score, the mean if only labels of this stratum counted, over the
            users who have such labels, and the number of these users.

        Raises
        ------
        InvalidInputError
            The report has no lists, no such metric or no training rows, an item has two strata, or
            the parts would not add up: under ``ties="best"`` or ``"worst"``, ``ideal="max"``, or
            a value of ``undefined`` above 0.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> train = [("bob", "a"), ("cid", "a"), ("cid", "b")]
        >>> lists = {"labels": {"ann": {"a", "b"}}, "results": {"ann": ["a", "b"]}}
        >>> report = rn.evaluate(lists, metrics=["recall@1"])
        >>> report.by_items(train=train)["part"].to_dict()
        {('recall@1', '1'): 0.0, ('recall@1', '2–4'): 0.5}
        """
        return split_by_items(self._data.audit, strata, train)

    def sensitivity(
        self,
        parameter: str = "gamma",
        others: Mapping[str, Report] | None = None,
        metric: str | Metric | None = None,
        *,
        train: Any = None,
        ends: tuple[float, float] = (-1.0, 3.0),
    ) -> Sensitivity:
        """Return how the mean, and the order of models, depends on the weights of labels.

        Parameters
        ----------
        parameter : {'gamma'}
            The exponent of `propensity`, from -1 (all labels weigh the same) on.
        others : mapping of str to Report, optional
            The reports of other models on the same labels, under any name but ``"this report"``.
            Only users of all reports count.
        metric : str or Metric, optional
            A metric that is a sum over labels; may be left out if there is only one.
        train : table, rows or trainset, optional
            The training rows; by default those given to `evaluate`.
        ends : pair of float
            The range of gamma.

        Returns
        -------
        Sensitivity
            Printed, it says over which range the order of models holds. ``means`` has a column per
            model (this report is ``"this report"``) and a row per gamma, in steps of at most 0.05;
            ``swaps`` the gamma at which two models change places, found as a root. Two swaps of the
            same models within one step are not seen.

        Raises
        ------
        InvalidInputError
            A report has no lists, no such metric, another convention or other labels, or labels
            with a column of weights; or an argument is wrong.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> train = [("bob", "a"), ("cid", "a"), ("cid", "b")]
        >>> labels = {"ann": {"a", "b"}, "dan": {"a"}, "eve": {"a"}}
        >>> popular = {"labels": labels, "results": {user: ["a", "c"] for user in labels}}
        >>> rare = {"labels": labels, "results": {user: ["b", "a"] for user in labels}}
        >>> how = {"metrics": "ndcg@2", "weights": rn.propensity(train, gamma=0)}
        >>> rn.evaluate(popular, **how).sensitivity("gamma", {"rare": rn.evaluate(rare, **how)})
        The order of models in ndcg@2 holds for gamma from -1 to 2.35. rare passes this report at
        2.345.
        """
        check_choice("parameter", parameter, ("gamma",))
        known = others or {}
        is_right = isinstance(known, Mapping) and all(isinstance(o, Report) for o in known.values())
        if not is_right or "this report" in known:
            msg = (
                f"others must be {{'name': report, ...}}, not {quote(others)}; the name 'this "
                "report' is taken."
            )
            raise InvalidInputError(msg)
        reports = {"this report": self, **known}.items()
        return vary_gamma({name: one._data for name, one in reports}, metric, train, ends)

    def rarefaction(
        self, metric: str | Metric | None = None, users: int | Iterable[int] | None = None
    ) -> pd.Series[float]:
        """Return the expected coverage of fewer users, to compare it with smaller test sets.

        Coverage grows with the number of users: 200 users of one model cover less than 900 of the
        same model. This is its mean over all choices of m of the users, computed exactly.

        Parameters
        ----------
        metric : str or Metric, optional
            A coverage of the report, by default the first.
        users : int or several, optional
            The numbers of users; by default twenty up to all.

        Returns
        -------
        pandas.Series
            The coverage, indexed by the number of users.

        Raises
        ------
        InvalidInputError
            The metric is no coverage of the report, a number of users is out of range, or the
            lists are not known.

        References
        ----------
        Hurlbert (1971), doi:10.2307/1934145

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> lists = {"labels": {"ann": {"b"}}, "results": {"ann": ["b", "a"], "bob": ["b", "c"]}}
        >>> report = rn.evaluate(lists, metrics="coverage@2", catalogue=[*"abcd"])
        >>> report.rarefaction().to_dict()
        {1: 0.5, 2: 0.75}
        """
        return compute_rarefaction(self._data.audit, metric, users)

    def explain(self, user: Any, k: int | None = 10) -> pd.DataFrame:
        """Return how a user's DCG and NDCG are computed, rank by rank.

        Parameters
        ----------
        user
            A user id as in `per_user`.
        k : int, optional
            The last rank; None for all ranks.

        Returns
        -------
        pandas.DataFrame
            A row per rank: item, estimated, true, relevant (missing without a threshold), gain,
            discount, discounted_gain, dcg (up to this rank), ideal_item (of one of the best
            orders), ideal_gain, ideal_dcg (up to this rank), ndcg. If the ideal list is longer
            than the user's, its further ranks are rows without an item.

        Raises
        ------
        InvalidInputError
            The report has no such user; or it has no lists, because it was loaded from a file; or
            it is of a whole catalogue, and keeps fewer than k ranks.

        Notes
        -----
        Under ``ties="expected"`` the gain is the mean over the items with the same estimate.
        """
        return explain_user(self._data.audit, user, k)

    def plot(
        self, kind: str = "k", metric: str | Metric | None = None
    ) -> alt.LayerChart | alt.ConcatChart:
        """Return a Vega-Altair chart, which a notebook shows.

        Parameters
        ----------
        kind : {'k', 'users'}
            ``"k"``: the mean against the cutoff, with its 95 % interval and chance. A metric with
            a single cutoff is measured at smaller ones, too, by the same convention (not in a
            report that was loaded from a file). ``"users"``: the distribution of the users'
            scores, next to chance for the same lists.
        metric : str or Metric, optional
            For ``"k"`` a metric with or without its cutoff; by default a panel for every metric
            that has one. For ``"users"`` a metric of the report, by default the first.

        Returns
        -------
        altair.LayerChart or altair.ConcatChart
            Its `description` describes it in words; ``chart.save("k.svg")`` writes a file.

        Raises
        ------
        InvalidInputError
            There is no such kind or metric, the metric has no cutoff, or no user has a score.
        MissingExtraError
            Vega-Altair is not installed: install the extra `report`.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> rows = {"ann": [(4, 5), (3, 2), (2, 4)], "bob": [(4, 5), (3, 4), (2, 2), (1, 1)]}
        >>> report = rn.evaluate(rows, k=2, metrics="ndcg")
        >>> print(report.plot("users").description)
        ndcg@2 of 2 users: mean 0.9064, quartiles 0.8597 and 0.9532;
        chance 0.5811, quartiles 0.5424 and 0.6197.
        """
        from recsys_ndcg.report.page import plot_report  # noqa: PLC0415 - imports all plots

        return plot_report(self._data, kind, None if metric is None else str(metric))

    def _document(self, *, with_verdict: bool = False) -> Document:
        """Return the document: the summary, the remarks, the audit, the signatures.

        Parameters
        ----------
        with_verdict : bool
            Whether it begins with a verdict.
        """
        return build_report_document(self._data, with_verdict=with_verdict)

    def _page(self, command: str | None = None) -> Document:
        """Return the document of an HTML page, with counts, charts and the users' lists, too.

        Parameters
        ----------
        command : str, optional
            The command line that made the page, if there was one.
        """
        from recsys_ndcg.report.page import build_report_page  # noqa: PLC0415 - imports all plots

        return build_report_page(self._data, command)

    def to_metrics(self) -> dict[str, float]:
        """Return the scores as a flat dict of numbers, for experiment trackers.

        Returns
        -------
        dict of str to float
            For each metric, the mean under its name; and with a suffix, ``_pooled``, ``_ci_low``
            and ``_ci_high`` (of the mean), ``_chance``, ``_adjusted``, and ``_users`` (the number
            of users with a score). In names, ``@`` becomes ``_at_``, and other characters that
            trackers reject become ``_``; equal names are numbered. NaN and infinity are
            left out: trackers do not store them (MLflow turns infinity into the largest float).

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2)]})
        >>> numbers = report.to_metrics()
        >>> {name: round(value, 3) for name, value in numbers.items() if "ci" not in name}
        {'ndcg_at_10': 0.898, 'ndcg_at_10_pooled': 0.98, 'ndcg_at_10_chance': 0.871,
        'ndcg_at_10_adjusted': 0.214, 'ndcg_at_10_users': 2.0}
        """
        return saving.flatten_metrics({"": self.summary})

    def to_dict(self) -> dict[str, Any]:
        """Return tables, findings and users' scores as plain values for JSON; NaN becomes None."""
        return saving.to_dict(self._data)

    def save(self, path: str | Path) -> None:
        """Write the report as JSON: readable means and signatures, compressed scores by user.

        The file contains a digest, by which `load` detects damage and changes.

        Raises
        ------
        InvalidInputError
            A user id is neither text nor a number, or the file cannot be written.
        """
        saving.save(self._data, path)

    @classmethod
    def load(cls, path: str | Path) -> Report:
        """Read a report that `save` wrote. It has no lists, and so no `explain`.

        Raises
        ------
        InvalidInputError
            The file is not a report, has a format that this version does not read, or was changed.
        """
        source = f"rn.Report.load({os.fspath(path)!r})"
        return cls(replace(saving.load(path), inputs={"report": source}))


def build_report(lists: GroupedLists, plan: Plan) -> Report:
    """Measure lists as planned, and warn about suspicious data.

    Raises
    ------
    InvalidInputError
        The plan needs something that the lists do not have.

    Warns
    -----
    DataWarning
        As in `build_audit_report`.
    """
    facts = plan.facts_of(lists)
    plan = plan.resolve(facts, lists)
    audit = Audit.of(lists, plan, facts)
    _ = audit.signatures  # now, as they call functions of the user's, which can fail
    return build_audit_report(audit, facts, plan)


def build_audit_report(audit: Audit, facts: Facts, plan: Plan) -> Report:
    """Return the report of measured lists, and warn about valid but suspicious data.

    Warns
    -----
    DataWarning
        Data that looks like a mistake, a threshold that separates no items, lists that are
        worse than random order, ties that change a score.
    """
    weights = facts.weights
    data = ReportData(audit, weights=None if weights is None else weights.numbers)
    for warning in find_warnings(audit, facts, plan):
        warn(warning)
    return Report(data)


def _round_to_twelve_digits(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return numbers rounded so that rounding errors of sums do not make them differ."""
    mantissa, exponent = np.frexp(column.to_numpy(dtype=np.float64))
    return pd.Series(np.ldexp(np.round(mantissa, 12), exponent), index=column.index)
