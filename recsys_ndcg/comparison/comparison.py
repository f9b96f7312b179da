"""Comparison: which model is better, for whom, and how certain that is."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Ids
from recsys_ndcg.comparison.compared_models import ByMetric, ComparedModels, check_model
from recsys_ndcg.comparison.document import build_comparison_document, build_segments_document
from recsys_ndcg.comparison.metric_comparison import make_intervals
from recsys_ndcg.comparison.model_scores import CHANCE, ModelScores, list_tables, require_lists
from recsys_ndcg.comparison.paper_table import write_paper_table
from recsys_ndcg.comparison.remarks import find_missing_lists, find_remarks
from recsys_ndcg.comparison.two_models import Movers, compute_overlaps, find_movers
from recsys_ndcg.comparison.verdict import decide_gate
from recsys_ndcg.errors import (
    InvalidInputError,
    check_choice,
    check_integer,
    check_level,
)
from recsys_ndcg.files import Archive, check_ids, to_json_value
from recsys_ndcg.findings import (
    Finding,
    Gate,
    HasFindings,
    write_sentences,
)
from recsys_ndcg.input import make_index
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.metrics import Metric, list_metric_names
from recsys_ndcg.rendering import Document, ReadableTable, Renderable
from recsys_ndcg.report import flatten_metrics, pack_exposures, unpack_exposures
from recsys_ndcg.scoring import ListCounts, Measurement, Signature, find_metric_name
from recsys_ndcg.significance import BOOTSTRAPS, Testing, check_margin
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    import altair as alt

_FORMAT = "comparison 2"


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(HasFindings, Renderable):
    """Models compared on the same users, as `compare` returns them. It never changes.

    Parameters
    ----------
    _data : ComparedModels
        What the tables are made of; `compare` makes it.

    Attributes
    ----------
    leaderboard : pandas.DataFrame
        A row per model in the first metric, by tier and then the best mean first: mean, ci_low,
        ci_high, pooled, pooled_low, pooled_high, chance, adjusted, adjusted_low, adjusted_high;
        against the baseline: difference, difference_low, difference_high, p_corrected, and the
        users won, tied, lost and trivial (tied in any order of their items); rank_low and rank_high
        (the interval of its rank among the models), tier (1 + the number of models that are
        significantly better), letters (models that share one do not differ significantly), users,
        spread (between folds or runs). `leaderboards` has one for each metric.
    pairwise : pandas.DataFrame
        A row per metric and pair of models.
    verdict : str
        The result under each protocol, in a few sentences.
    findings : pandas.DataFrame
        A row per finding of the verdicts and the remarks.
    """

    _data: ComparedModels
    _more_plots: ClassVar[tuple[str, ...]] = ()  # of a class that has some

    @property
    def models(self) -> list[str]:
        """The names of the models, in the order given."""
        return self._data.models

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics; the first one decides."""
        return self._data.metrics

    @property
    def users(self) -> Ids:
        """The compared users."""
        return self._data.users

    @property
    def signatures(self) -> dict[str, Signature]:
        """How each metric was computed for the first model.

        Signatures of other models may differ in choices that do not change the numbers.
        """
        return self._data.signatures

    @property
    def leaderboard(self) -> pd.DataFrame:
        """A row per model in the first metric, by tier, and in each tier the best mean first."""
        return self.leaderboards[self.metrics[0]]

    @property
    def leaderboards(self) -> dict[str, pd.DataFrame]:
        """The leaderboard of each metric."""
        boards = self._data.leaderboards.items()
        return ByMetric({name: table.copy() for name, table in boards})

    @property
    def pairwise(self) -> pd.DataFrame:
        """A row per metric and pair of models, a minus b.

        Columns: metric, a, b, users.

        - difference, ci_low, ci_high; interval, "simultaneous" if it covers all pairs at once and
          agrees with p_corrected, or else "per pair"; standard_error, statistic (t; the sum of the
          ranks of wins, or the wins), df. Without an interval if the users' differences are all the
          same.
        - relative, the difference over the mean of b, with Fieller's interval relative_low and
          relative_high.
        - sd_difference, the standard deviation of the users' differences (for
          `recsys_ndcg.power`); d_z, difference / sd_difference, with its interval d_z_low and
          d_z_high; sd_runs, the standard deviation of the differences in each run, and runs, the
          number of runs that standard_error includes (0: only users).
        - wins, ties, losses (users for whom a is better); trivial, users who are tied in any order
          of their items; common_language, (wins + (ties + trivial) / 2) / users.
        - better, the name of the significantly better model; direction, 1 if the test favours a and
          -1 for b: by the mean, or by ranks or signs; p, p_corrected; detectable, the smallest
          difference that would be found with 80 % power.
        - with a margin: p_a_not_worse, p_b_not_worse and p_equivalent, corrected; and the
          probabilities that a is worse by the margin, equivalent, or better by it, by the Bayesian
          bootstrap: probability_worse, probability_equivalent, probability_better.
        - pooled_difference, pooled_low, pooled_high, pooled_p and pooled_p_corrected, by a separate
          test of the pooled scores.

        References
        ----------
        Fieller (1954), Journal of the Royal Statistical Society B 16(2); McGraw & Wong (1992),
        doi:10.1037/0033-2909.111.2.361; Benavoli et al. (2017), JMLR 18(77)
        """
        return self._data.pairwise.copy()

    def intervals(
        self,
        level: float = 0.95,
        *,
        method: str = "t",
        draws: int = 10_000,
        seed: int = 0,
        progress: bool = True,
    ) -> pd.DataFrame:
        """Return intervals over users for every metric and model.

        Parameters
        ----------
        level : float
            Between 0 and 1, and at least 1e-12 away from both.
        method : {'t', 'percentile', 'bca'}
            As in `Report.intervals`; resampled users are the same for all metrics and models.
        draws, seed : int
            Number of resamples, and their seed.
        progress : bool
            As in `Report.intervals`.

        Returns
        -------
        pandas.DataFrame
            Indexed by metric and model: mean_low, mean_high, pooled_low, pooled_high.

        Raises
        ------
        InvalidInputError
            An option is invalid.
        """
        check_choice("method", method, ("t", *BOOTSTRAPS))
        check_level("level", level, such_as=0.95)
        options: dict[str, Any] = {"draws": draws, "seed": seed, "progress": progress}
        return make_intervals([*self._data.by_metric.values()], level, method, **options)

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user: for each metric of users, a column per model."""
        tables = {
            name: pd.DataFrame(one.scores, make_index(self.users, "user"), self.models)
            for name, one in self._data.by_metric.items()
            if one.metric.per_user
        }
        if not tables:
            return pd.DataFrame(index=make_index(self.users, "user"))
        return pd.concat(tables, axis=1, names=["metric", "model"])

    @property
    def verdict(self) -> str:
        """The result in the first metric of each protocol, in a few sentences."""
        return " ".join(map(str, self._data.list_verdicts(self.metrics[0])))

    @property
    def optimism(self) -> dict[str, float]:
        """By how much the mean of each search's best model is too good, in the first metric.

        By the name of the best model of each search that is compared; empty if none is. See
        `recsys_ndcg.significance.estimate_optimism`.
        """
        return dict(self._data.optimism)

    @property
    def segments(self) -> pd.DataFrame:
        """For whom a model is better: a row per metric, segment and model.

        Columns: users, mean, ci_low, ci_high, pooled, chance; difference from the baseline with
        its interval difference_low and difference_high, d_z, pooled_difference; p, and
        p_corrected for the number of segments and models; difference_from_others, the difference
        minus the same difference over the users of all other segments, and p_interaction, its p
        by the two tests of `Report.by`, corrected for the number of segments and models together,
        NaN for segments of fewer than ten users; opposite_to_all and
        pooled_opposite_to_all, whether the difference has the opposite sign of the difference over
        all users in segments. Print and notebooks show the main ones.

        Raises
        ------
        InvalidInputError
            The comparison was made without ``by=``.
        """
        return ReadableTable.of(self._data.segments, partial(build_segments_document, self._data))

    @property
    def remarks(self) -> list[str]:
        """Limits of what the numbers show, a sentence each."""
        return write_sentences(self._remarks)

    @property
    def _findings(self) -> list[Finding]:
        judgements = self._data.judgements.values()
        return [*(finding for findings in judgements for finding in findings), *self._remarks]

    @lazy_property
    def _remarks(self) -> list[Finding]:
        return find_remarks(self._data)

    def movers(
        self,
        n: int = 10,
        *,
        metric: str | Metric | None = None,
        a: str | None = None,
        b: str | None = None,
    ) -> Movers:
        """Return the users who gain and lose most from model a to model b.

        Parameters
        ----------
        n : int
            The largest number of users who gain, and of users who lose.
        metric : str or Metric, optional
            By default the first.
        a, b : str, optional
            By default the baseline and the best of the other models.

        Returns
        -------
        Movers
            With `Movers.table`, and `Movers.explain(user)` for both lists side by side.

        Raises
        ------
        InvalidInputError
            The metric or a model is unknown, or n is not a positive integer.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> a = {"ann": [(4, 5), (3, 2)], "bob": [(2, 4), (3, 1)], "cid": [(2, 4), (1, 3)]}
        >>> b = {"ann": [(1, 5), (3, 2)], "bob": [(4, 4), (3, 1)], "cid": [(2, 4), (1, 3)]}
        >>> rn.compare({"a": a, "b": b}).movers(1).table["improvement"].round(3).to_dict()
        {'bob': 0.331, 'ann': -0.314}
        """
        check_integer("n", n, 1)
        name = self._find_metric(metric, of_users=True)
        pair = {one: self._data.model_scores[one] for one in self._choose_pair(name, a, b)}
        return find_movers(pair, name, int(n))

    def overlap(
        self, k: int | None = 10, *, p: float = 0.9, per_user: bool = False
    ) -> pd.DataFrame:
        """Return the overlap of the models' lists.

        Parameters
        ----------
        k : int, optional
            How many of the first items count; None for all.
        p : float
            Persistence of rank-biased overlap: the higher it is, the more weight deep ranks have.
        per_user : bool
            Whether to return a row per user, or the means with a row per pair.

        Returns
        -------
        pandas.DataFrame
            For each pair a and b, jaccard and rbo, as in `jaccard_at_k` and `rbo`.

        Raises
        ------
        InvalidInputError
            A model has no lists, or lists without items or with fewer than k ranks; or p is
            not between 0 and 1.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> a = [("ann", "x", 4, 5), ("ann", "y", 3, 2), ("ann", "z", 1, 3)]
        >>> b = [("ann", "x", 4, 5), ("ann", "y", 2, 2), ("ann", "z", 3, 3)]
        >>> rn.compare({"a": a, "b": b}).overlap(2).loc[("a", "b"), "jaccard"].round(3)
        np.float64(0.333)
        """
        lists = {
            name: require_lists(one, name)
            for name, one in self._data.model_scores.items()
            if one.report is not None or name != CHANCE
        }
        table = compute_overlaps(lists, k, p)
        means = table.mean()
        pairs = {name: means.xs(name, level="overlap") for name in ("jaccard", "rbo")}
        return table if per_user else pd.DataFrame(pairs)

    def not_worse(
        self,
        model: str,
        than: str | None = None,
        *,
        margin: float | None = None,
        metric: str | Metric | None = None,
        alpha: float | None = None,
    ) -> Gate:
        """Test that a model is better than another, or worse by less than a margin.

        Parameters
        ----------
        model : str
            The model to check.
        than : str, optional
            The model to compare it with, by default the baseline.
        margin : float, optional
            The non-inferiority margin, by default the comparison's.
        metric : str or Metric, optional
            By default the first.
        alpha : float, optional
            Significance level of the non-inferiority test, by default the comparison's.

        Returns
        -------
        Gate
            True if the model passes. If it fails, the reason says which it is: the model is worse
            by the margin or more, or there are too few users to tell.

        Raises
        ------
        InvalidInputError
            A model or the metric is unknown, or there is no margin.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> new = {user: [(4, 5), (3, 2)] for user in range(50)}
        >>> old = {user: [(1 + user % 2, 5), (1.5, 2)] for user in range(50)}
        >>> gate = rn.compare({"old": old, "new": new}).not_worse("new", "old", margin=0.005)
        >>> assert gate.passed, gate.reason
        """
        data, name = self._data, self._find_metric(metric)
        margin = check_margin(data.margin if margin is None else margin)
        other, model = self._choose_pair(name, than, model)
        two_models = {one: data.model_scores[one] for one in (model, other)}
        level = data.testing.alpha if alpha is None else alpha
        testing = replace(data.testing, test="t", correction="none", alpha=level, family="pairs")
        pair = replace(data, model_scores=two_models, testing=testing, margin=margin)
        missing = find_missing_lists(two_models, {name: data.signatures[name]})
        return decide_gate(pair.by_metric[name], [*missing])

    def signature(self, metric: str | Metric | None = None) -> Signature:
        """Return how a metric, by default the first, was computed for the first model."""
        return self.signatures[self._find_metric(metric)]

    def plot(  # noqa: PLR0913 - each kind uses some
        self,
        kind: str = "tiers",
        *,
        metric: str | Metric | None = None,
        a: str | None = None,
        b: str | None = None,
        against: str | Metric | None = None,
        colour: str | None = None,
    ) -> alt.LayerChart:
        """Return a plot for a notebook, with a description in words.

        Parameters
        ----------
        kind : {'tiers', 'differences', 'activity', 'scatter', 'trade-off'}
            ``tiers``: the models' means with intervals, the first tier highlighted, with chance
            and known baselines. ``differences``: model b minus model a, user by user.
            ``activity``: mean scores of users with few and with many ratings. ``scatter``: the
            scores of b against the scores of a, a dot per user, or counts if there are many users.
            ``trade-off``: the means in two metrics, a dot per model; a line joins the models that
            no other model beats in both.
        metric : str or Metric, optional
            By default the first.
        a, b : str, optional
            By default the baseline and the best of the other models.
        against : str or Metric, optional
            The second metric of a trade-off, by default the next one.
        colour : str, optional
            The parameter that colours the models of a search in a trade-off, by default the one
            with most values.

        Raises
        ------
        InvalidInputError
            The kind, metric, model or parameter is unknown, no user has a score, or a trade-off
            has only one metric.
        MissingExtraError
            Vega-Altair is not installed.
        """
        # imported here, because it imports all plots
        from recsys_ndcg.comparison.page import KINDS, plot_metric, plot_trade_off  # noqa: PLC0415

        check_choice("kind", kind, (*KINDS, *self._more_plots))
        name = self._find_metric(metric, of_users=kind not in ("tiers", "trade-off"))
        if kind == "trade-off":
            other = None if against is None else self._find_metric(against)
            return plot_trade_off(self._data, name, other, colour)
        return plot_metric(self._data, kind, name, *self._choose_pair(name, a, b))

    def _document(
        self,
        metric: str | Metric | None = None,
        kinds: Sequence[str] = ("leaderboard",),
        *,
        with_verdict: bool = True,  # noqa: ARG002 - other documents need it
    ) -> Document:
        """Return the document in one metric: verdict, tables, remarks, signatures.

        Parameters
        ----------
        metric : str or Metric, optional
            By default the first.
        kinds : sequence of {'leaderboard', 'pairs', 'segments'}
            The tables, in this order.
        with_verdict : bool
            As in other documents; without effect, because this one always begins with a verdict.
        """
        return build_comparison_document(
            self._data, self._remarks, self._find_metric(metric), kinds
        )

    def _page(self, command: str | None = None) -> Document:
        """Return the document of the HTML page: charts, segments, users' lists in two models."""
        # imported here, because it imports all plots
        from recsys_ndcg.comparison.page import build_comparison_page  # noqa: PLC0415

        return build_comparison_page(self._data, command)

    def to_markdown(self, metric: str | Metric | None = None, *, pairs: bool = False) -> str:
        """Return a leaderboard, or the pairs, with the verdict and the remarks as Markdown.

        Parameters
        ----------
        metric : str or Metric, optional
            By default the first.
        pairs : bool
            Whether the table has a row per pair of models instead of a row per model.

        Raises
        ------
        InvalidInputError
            The metric is unknown.
        """
        return self._render("markdown", metric=metric, kinds=["pairs" if pairs else "leaderboard"])

    def to_latex(  # noqa: PLR0913 - the options of a table
        self,
        metrics: str | Metric | Sequence[str | Metric] | None = None,
        *,
        columns: str | Sequence[str] = "mean",
        digits: int = 3,
        label: str = "tab:models",
        caption: str | None = None,
        pairs: bool = False,
    ) -> str:
        r"""Return a LaTeX table for a paper: a row per model and a column per metric.

        The first tier of each metric is bold, superscript letters join models that do not differ
        significantly, and intervals stand below the scores in small print. With
        ``family="baseline"``, + and - mark models that are significantly better and worse than the
        baseline. The short signatures are below the table. The table is as wide as the column of
        text; three metrics fit 240 pt, and more need a wider one. Long names of models are broken.

        Parameters
        ----------
        metrics : str, Metric or a sequence of these, optional
            By default all.
        columns : str or sequence of str
            Columns of the leaderboard that are shown for each metric, such as ``"pooled"``.
        digits : int
            The number of decimals.
        label : str
            The name for ``\ref``.
        caption : str, optional
            LaTeX; by default it explains the table.
        pairs : bool
            Whether to return the pairs of models in one metric instead, with the verdict, the
            remarks and the signatures as comments above.

        Raises
        ------
        InvalidInputError
            A metric or a column is unknown, or the number of decimals is.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> good = {user: [(4, 5), (3, 2), (2, 4)] for user in range(30)}
        >>> bad = {user: [(user % 3, 5), (1.5, 2), (1.2, 4)] for user in range(30)}
        >>> found = rn.compare({"good": good, "bad": bad}, metrics="ndcg@3")
        >>> print(*found.to_latex(digits=2).splitlines()[11:13], sep="\n")
        good & \textbf{0.96}\textsuperscript{a} \\
        \addlinespace[2pt]
        """
        given = [metrics] if isinstance(metrics, str | Metric) else metrics or self.metrics
        names = [*dict.fromkeys(map(self._find_metric, given))]
        if pairs:
            return self._render("latex", metric=names[0], kinds=["pairs"])
        check_integer("digits", digits, 0)
        columns = [columns] if isinstance(columns, str) else [*dict.fromkeys(columns)] or ["mean"]
        return write_paper_table(
            self._data, names, columns, digits=digits, label=label, caption=caption
        )

    def to_frame(self) -> pd.DataFrame:
        """Return the leaderboards of all metrics in one table, indexed by metric and model."""
        return pd.concat(self.leaderboards, names=["metric", "model"])

    def to_metrics(self) -> dict[str, float]:
        """Return the leaderboards as a flat dict of numbers, for experiment trackers.

        Returns
        -------
        dict of str to float
            For each model and metric the values of `Report.to_metrics`, named ``model/metric``,
            and ``_tier``.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> good = {user: [(4, 5), (3, 2), (2, 4)] for user in range(30)}
        >>> bad = {user: [(user % 3, 5), (1.5, 2), (1.2, 4)] for user in range(30)}
        >>> numbers = rn.compare({"good": good, "bad": bad}, metrics="ndcg@3").to_metrics()
        >>> {name: round(numbers[name], 3) for name in ("good/ndcg_at_3", "bad/ndcg_at_3_tier")}
        {'good/ndcg_at_3': 0.963, 'bad/ndcg_at_3_tier': 2.0}
        """
        boards = self.to_frame().astype({"tier": float})  # chance may have none
        tables: dict[str, Any] = {one: boards.xs(one, level="model") for one in self.models}
        return flatten_metrics(tables, "tier")

    def to_dict(self) -> dict[str, Any]:
        """Return the tables, the verdict and all findings as values for JSON; NaN becomes None.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> a = {user: [(4, 5), (3, 2)] for user in range(9)}
        >>> b = {user: [(user % 4, 5), (1.5, 2)] for user in range(9)}
        >>> plain = rn.compare({"a": a, "b": b}, baseline="b").to_dict()
        >>> plain["leaderboards"]["ndcg@10"][0]["won"]
        5
        """
        has_segments = self._data.segment_of_user is not None
        return {
            "models": self.models,
            "metrics": self.metrics,
            "users": len(self.users),
            "baseline": self._data.baseline,
            "tested_by": self._data.tested_by,
            "how": {**asdict(self._data.testing), "margin": self._data.margin},
            "leaderboards": {
                name: to_json_value(table.reset_index())
                for name, table in self.leaderboards.items()
            },
            "pairwise": to_json_value(self.pairwise),
            "segments": to_json_value(self.segments.reset_index()) if has_segments else None,
            "verdict": self.verdict,
            "remarks": self.remarks,
            "findings": to_json_value(self.findings),
            "signatures": {name: self.signature(name).text for name in self.metrics},
        }

    def save(self, path: str | Path) -> None:
        """Write the comparison as JSON: the results readable, the users' scores compressed.

        Raises
        ------
        InvalidInputError
            A user id or a segment label is neither text nor a number, or the file cannot be
            written.
        """
        first = self._data.first_model
        columns = {"user": self.users, **vars(first.counts)}
        head: dict[str, Any] = {
            "written_by": __version__,
            "results": self.to_dict(),
            "testing": asdict(self._data.testing),
            "baseline": self._data.baseline,
            "margin": self._data.margin,
            "left_out": dict(self._data.n_dropped_users),
            "other_metrics": list(self._data.other_metrics),
            "metrics": {
                name: Measurement(one.metric).to_dict()
                for name, one in zip(self.metrics, first.measurements, strict=True)
            },
            "models": {
                name: {
                    "signatures": [each.text for each in one.signatures.values()],
                    "runs": to_json_value(one.run_means.tolist()),
                    "n_runs": len(one.run_scores),
                    "parameters": dict(one.parameters),
                    "search": one.search,
                }
                for name, one in self._data.model_scores.items()
            },
            "segments": None,
        }
        if self._data.segment_of_user is not None:
            segments = self._data.segment_of_user.cat
            head["segments"] = check_ids(segments.categories.tolist(), "segment label")
            columns["segment"] = segments.codes.to_numpy()
        for place, (name, one) in enumerate(self._data.model_scores.items()):
            columns |= {f"{table}.{name}": values for table, values in list_tables(one).items()}
            for count, values in vars(one.counts).items():  # mostly as the first model's
                if not np.array_equal(values, columns[count], equal_nan=True):
                    columns[f"{count}.{name}"] = values
            more, exposures = pack_exposures(one, f"exposures.{place}.")
            head["models"][name] |= more
            columns |= exposures
        Archive(head, columns).write(path, _FORMAT)

    @staticmethod
    def load(path: str | Path) -> Comparison:
        """Read a comparison that `save` wrote. Lists and single folds are not saved.

        Raises
        ------
        InvalidInputError
            The file is not a comparison, has a format that this version does not read, or was
            changed.
        """
        # imported here, because it imports all plots
        from recsys_ndcg.report import write_code  # noqa: PLC0415

        with Archive.open(path, _FORMAT) as (head, columns):
            registered, labels, segment_of_user = list_metric_names(), head["segments"], None
            measurements = {
                # a protocol may follow the name of a metric
                name: Measurement.from_dict(name.partition(":")[0], one, registered)
                for name, one in head["metrics"].items()
            }
            if labels is not None:
                categories = make_index(np.array(labels, dtype=object))
                segments = pd.Categorical.from_codes(columns["segment"], categories=categories)
                users = pd.Index(columns["user"].tolist(), name="user")
                segment_of_user = pd.Series(segments, index=users)
            models = head["models"].items()
            compared = ComparedModels(
                {name: _from_file(name, one, columns, measurements) for name, one in models},
                testing=Testing(**head["testing"]),
                segment_of_user=segment_of_user,
                code=write_code("comparison", [f"rn.Comparison.load({os.fspath(path)!r})"]),
                other_metrics=tuple(head["other_metrics"]),
                n_dropped_users=head["left_out"],
                **{name: head[name] for name in ("baseline", "margin")},
            )
            return Comparison(compared)

    def _choose_pair(self, metric: str, a: str | None, b: str | None) -> tuple[str, str]:
        """Return models a and b: by default the baseline and the best of the other models.

        Raises
        ------
        InvalidInputError
            A model is unknown, or both are the same.
        """
        a = check_model(self._data.baseline if a is None else a, self.models)
        result = self._data.by_metric[metric]
        ordered = [result.models[column] for column in result.columns_by_mean]
        best = next(one for one in ordered if one != a)
        b = check_model(best if b is None else b, self.models)
        if a == b:
            msg = f"{a!r} is compared with itself. Pass another model."
            raise InvalidInputError(msg)
        return a, b

    def _find_metric(self, metric: str | Metric | None, *, of_users: bool = False) -> str:
        """Return the name of a metric, by default the first, or the first with a score per user.

        Raises
        ------
        InvalidInputError
            The metric is unknown, or a number of all lists together although it must not be.
        """
        names = self._data.metrics_of_users if of_users else None
        chosen = (names or self.metrics)[0] if metric is None else metric
        return find_metric_name(chosen, self.metrics, "This comparison", names)


def _from_file(
    name: str,
    head: Mapping[str, Any],
    columns: Mapping[str, NDArray[Any]],
    measurements: Mapping[str, Measurement],
) -> ModelScores:
    """Return one model's scores from a file."""

    def table(table_name: str) -> NDArray[Any]:
        return columns[f"{table_name}.{name}"]

    signatures = dict(zip(measurements, map(Signature, head["signatures"]), strict=True))
    runs = [table(f"run {one + 1}") for one in range(head["n_runs"])]
    return ModelScores(
        # the number of all lists together is computed again, for its test
        measurements=tuple(
            one if one.metric.per_user else replace(one, convention=signatures[name].convention)
            for name, one in measurements.items()
        ),
        users=columns["user"],
        numerator=table("numerator"),
        denominator=table("denominator"),
        left_out=np.zeros(table("scores").shape, dtype=bool),
        counts=ListCounts.from_columns(
            {count: columns.get(f"{count}.{name}", values) for count, values in columns.items()}
        ),
        roles={"own": table("scores"), "chance": table("chance"), "best": table("best")},
        signatures=signatures,
        label_digests=table("truth"),
        run_means=np.array(head["runs"], dtype=np.float64).reshape(-1, len(measurements)),
        run_scores=np.array(runs or np.zeros((0, 0, 0))),
        parameters=head["parameters"],
        search=head["search"],
        exposures=unpack_exposures(head, columns),
    )
