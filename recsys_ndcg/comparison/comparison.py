"""Comparison: which model is better, for whom, and how sure that is."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.comparison import saving
from recsys_ndcg.comparison.common_users import CHANCE
from recsys_ndcg.comparison.metric_comparison import MetricComparison
from recsys_ndcg.comparison.movers import Movers, movers
from recsys_ndcg.comparison.overlap import overlaps
from recsys_ndcg.comparison.remarks import remarks
from recsys_ndcg.comparison.tables import over_users, resampled
from recsys_ndcg.comparison.verdict import Gate, check_margin, how_tested, not_worse, verdict
from recsys_ndcg.errors import InvalidInputError, check_choice, check_level, check_whole
from recsys_ndcg.input import index_of
from recsys_ndcg.report import tracker_metrics
from recsys_ndcg.significance import BOOTSTRAPS

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt

    from recsys_ndcg.arrays import Ids
    from recsys_ndcg.comparison.models import ComparedModels
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Signature
    from recsys_ndcg.significance import Testing


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What `compare` returns: models on the same users, a value.

    Parameters
    ----------
    compared : ComparedModels
        The models that meet, and how they are compared.

    Attributes
    ----------
    leaderboard : pandas.DataFrame
        A row per model in the first metric, by tier and then the best mean first: mean, ci_low,
        ci_high, pooled, pooled_low, pooled_high, chance, adjusted, won, tied and lost (users,
        against the baseline), rank_low and rank_high (the interval of its rank), tier, letters,
        users, spread (between folds or seeds). `leaderboards` has one for each metric.
    pairwise : pandas.DataFrame
        A row per metric and pair of models.
    verdict : str
        The answer in two sentences.
    """

    compared: ComparedModels

    @property
    def models(self) -> list[str]:
        """The names of the models, as they were given."""
        return self.compared.models

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics; the first decides."""
        return self.compared.metrics

    @property
    def users(self) -> Ids:
        """The users who are compared."""
        return self.compared.first.users

    @property
    def signatures(self) -> dict[str, Signature]:
        """How each metric was computed, of the first model: the others agree in what is read."""
        return dict(zip(self.compared.first.names, self.compared.first.signatures, strict=True))

    @property
    def baseline(self) -> str:
        """Against which model users are won and lost."""
        return self.compared.baseline

    @property
    def leaderboard(self) -> pd.DataFrame:
        """A row per model in the first metric, by tier, and in each the best mean first."""
        return self.compared.leaderboards[self.metrics[0]].copy()

    @property
    def leaderboards(self) -> dict[str, pd.DataFrame]:
        """The same for each metric."""
        return {name: table.copy() for name, table in self.compared.leaderboards.items()}

    @property
    def pairwise(self) -> pd.DataFrame:
        """A row per metric and pair of models, a less b.

        Columns: metric, a, b, users; difference, ci_low, ci_high; interval, "simultaneous" where
        the intervals of all pairs hold together and agree with p_corrected, or the pair's "own";
        deviation, the standard deviation of the users' differences (for `recsys_ndcg.power`);
        effect, the difference in such deviations (d_z); wins, ties, losses (users for whom a is
        better); p, p_corrected; detectable, the smallest difference that would have been found
        with 80 % power; with a margin p_a_not_worse, p_b_not_worse and p_equivalent, corrected;
        and of the pooled scores pooled_difference, pooled_low, pooled_high, pooled_p
        and pooled_p_corrected, by a test of their own.
        """
        return self.compared.pairwise.copy()

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
            How many resamples, of which seed.
        progress : bool
            As in `Report.intervals`.

        Returns
        -------
        pandas.DataFrame
            Indexed by metric and model: mean_low, mean_high, pooled_low, pooled_high.

        Raises
        ------
        InvalidInputError
            An option is none of these.
        """
        check_choice("method", method, ("t", *BOOTSTRAPS))
        check_level("level", level, such_as=0.95)
        by_metric = list(self.compared.by_metric.values())
        if method == "t":
            return over_users(by_metric, level)
        options: dict[str, Any] = {"method": method, "draws": draws, "seed": seed}
        return resampled(by_metric, level=level, **options, progress=progress)

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user: for each metric, a column per model."""
        tables = {
            name: pd.DataFrame(
                np.array(one.scores), index=index_of(self.users, "user"), columns=self.models
            )
            for name, one in self.compared.by_metric.items()
        }
        return pd.concat(tables, axis=1, names=["metric", "model"])

    @property
    def verdict(self) -> str:
        """The answer in two sentences, of the first metric."""
        return verdict(self.compared.deciding)

    @property
    def how(self) -> Testing:
        """The test, the correction, the level, the draws and their seed."""
        return self.compared.how

    @property
    def tested_by(self) -> str:
        """The test, the correction and the level, in words."""
        return how_tested(self.compared.deciding)

    @property
    def segments(self) -> pd.DataFrame:
        """For whom a model is better: a row for each metric, segment and model.

        Columns: users, mean, ci_low, ci_high, pooled, chance; difference to the baseline, its own
        interval difference_low and difference_high, effect (d_z), pooled_difference; p and
        p_corrected for the number of segments and models; against_whole and pooled_against_whole,
        whether the difference has the other sign than over all segments.

        Raises
        ------
        InvalidInputError
            The comparison was made without ``by=``.
        """
        return self.compared.segments.copy()

    @property
    def runs(self) -> pd.DataFrame:
        """What each fold took and measured: a row for each model, seed and fold.

        Columns: fit_time and test_time in seconds, peak_memory_mb, users, and every measure.

        Raises
        ------
        InvalidInputError
            The comparison is not of an experiment, or was read from a file.
        """
        if self.compared.runs is None:
            msg = (
                "Only what rn.experiment() returns has runs; those of a folder are in "
                "rn.load_runs(folder).table."
            )
            raise InvalidInputError(msg)
        return self.compared.runs.copy()

    @property
    def remarks(self) -> list[str]:
        """What makes the numbers say less than they seem to: a sentence for each thing."""
        return remarks(self.compared)

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
            How many of each.
        metric : str or Metric, optional
            The first by default.
        a, b : str, optional
            The baseline, and the best of the others, by default.

        Returns
        -------
        Movers
            With `Movers.table`, and `Movers.explain(user)` for both lists side by side.

        Raises
        ------
        InvalidInputError
            There is no such metric or model, or n is no number of users.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> a = {"ann": [(4, 5), (3, 2)], "bob": [(2, 4), (3, 1)], "cid": [(2, 4), (1, 3)]}
        >>> b = {"ann": [(1, 5), (3, 2)], "bob": [(4, 4), (3, 1)], "cid": [(2, 4), (1, 3)]}
        >>> rn.compare({"a": a, "b": b}).movers(1).table["gain"].round(3).to_dict()
        {'bob': 0.331, 'ann': -0.314}
        """
        check_whole("n", n, 1)
        name = self.compared.metric(metric)
        before, after = self.compared.both(name, a, b)
        entered = self.compared.contenders
        return movers((before, after), (entered[before], entered[after]), name, int(n))

    def overlap(
        self, k: int | None = 10, *, p: float = 0.9, per_user: bool = False
    ) -> pd.DataFrame:
        """Return how much the models' lists have in common.

        Parameters
        ----------
        k : int, optional
            How many of the first items count; None for all.
        p : float
            Persistence of rank-biased overlap: how deep it looks.
        per_user : bool
            Whether every user has a row, or each pair one, with the means.

        Returns
        -------
        pandas.DataFrame
            Of each pair a and b: jaccard and rbo, as `jaccard_at_k` and `rbo` have them.

        Raises
        ------
        InvalidInputError
            A model has no lists, they have no items, fewer ranks are kept, or p is not between 0
            and 1.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> a = [("ann", "x", 4, 5), ("ann", "y", 3, 2), ("ann", "z", 1, 3)]
        >>> b = [("ann", "x", 4, 5), ("ann", "y", 2, 2), ("ann", "z", 3, 3)]
        >>> rn.compare({"a": a, "b": b}).overlap(2).loc[("a", "b"), "jaccard"].round(3)
        np.float64(0.333)
        """
        lists = {
            name: one.lists_for(name)
            for name, one in self.compared.contenders.items()
            if one.report is not None or name != CHANCE
        }
        table = overlaps(lists, k, p)
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
        """Tell whether it is shown that a model is not worse than another by a margin or more.

        Parameters
        ----------
        model : str
            The one that shall pass.
        than : str, optional
            The other; the baseline by default.
        margin : float, optional
            Up to which it may be worse; that of the comparison by default.
        metric : str or Metric, optional
            The first by default.
        alpha : float, optional
            How often a model that is worse may pass; that of the comparison by default.

        Returns
        -------
        Gate
            True where it passes, with the reason: it is worse, or too few users tell.

        Raises
        ------
        InvalidInputError
            There is no such model or metric, or no margin.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> new = {user: [(4, 5), (3, 2)] for user in range(50)}
        >>> old = {user: [(1 + user % 2, 5), (1.5, 2)] for user in range(50)}
        >>> gate = rn.compare({"old": old, "new": new}).not_worse("new", "old", margin=0.005)
        >>> assert gate.passed, gate.reason
        """
        margin = check_margin(self.compared.margin if margin is None else margin)
        other = self.compared.model(self.compared.baseline if than is None else than)
        model = self.compared.model(model)
        if model == other:
            msg = f"{model!r} is compared with itself: say which model it must not be worse than."
            raise InvalidInputError(msg)
        pair = {name: self.compared.contenders[name] for name in (model, other)}
        level = self.compared.how.alpha if alpha is None else alpha
        how = replace(self.compared.how, test="t", correction="none", alpha=level)
        result = MetricComparison.of(self.compared.metric(metric), pair, how, margin)
        return not_worse(result, model, other, margin)

    def signature(self, metric: str | Metric) -> Signature:
        """Return how a metric was computed, of the first model."""
        return self.signatures[self.compared.metric(metric)]

    def verdict_in(self, metric: str | Metric) -> str:
        """Return the answer in two sentences, of any metric."""
        return verdict(self.compared.by_metric[self.compared.metric(metric)])

    def plot(  # noqa: PLR0913 - one or the other, by kind
        self,
        kind: str = "tiers",
        *,
        metric: str | Metric | None = None,
        a: str | None = None,
        b: str | None = None,
        against: str | Metric | None = None,
        colour: str | None = None,
    ) -> alt.LayerChart:
        """Return a plot for a notebook; its description says the same in words.

        Parameters
        ----------
        kind : {'tiers', 'differences', 'activity', 'scatter', 'trade-off'}
            The models' means with their intervals, the first tier apart, beside chance and known
            baselines; the differences between model b and model a, user by user; the mean scores
            of users with few and with many ratings; the scores of b against those of a, a dot
            for each user (counted in cells, where they are many); the means in two metrics, a
            dot for each model, those that no other beats in both joined by a line.
        metric : str or Metric, optional
            The first by default.
        a, b : str, optional
            The baseline, and the best of the others, by default.
        against : str or Metric, optional
            The other metric of a trade-off; the next one by default.
        colour : str, optional
            The parameter by which a trade-off colours the models of a search; by default the one
            that has most values.

        Raises
        ------
        InvalidInputError
            There is no such kind, metric, model or parameter, nobody has a score, or a trade-off
            has but one metric.
        MissingExtraError
            Vega-Altair is not installed.
        """
        from recsys_ndcg.comparison.plotting import (  # noqa: PLC0415 - with all plots
            check_kind,
            plotted,
            traded_off,
        )

        check_kind(kind)
        name = self.compared.metric(metric)
        if kind == "trade-off":
            return traded_off(
                self.compared, name, self.compared.other_metric(name, against), colour
            )
        return plotted(self.compared, kind, name, *self.compared.both(name, a, b))

    def to_markdown(self, metric: str | Metric | None = None, *, pairs: bool = False) -> str:
        """Return a leaderboard, or the pairs, with the verdict and the remarks as Markdown.

        Parameters
        ----------
        metric : str or Metric, optional
            The first by default.
        pairs : bool
            Whether the table has a row per pair of models in place of one per model.

        Raises
        ------
        InvalidInputError
            There is no such metric.
        """
        return self._rendered("markdown", metric, pairs=pairs)

    def to_latex(self, metric: str | Metric | None = None, *, pairs: bool = False) -> str:
        r"""Return the same as a table of LaTeX with its caption, for ``\usepackage{booktabs}``.

        The first tier is bold, and models that share a letter cannot be told apart. The verdict,
        the remarks and the signatures stand above it as comments.

        Parameters
        ----------
        metric, pairs
            As in `to_markdown`.
        """
        return self._rendered("latex", metric, pairs=pairs)

    def to_html(self, path: str | Path | None = None) -> str:
        """Return the comparison as a page, and write it if a path is given.

        One file that needs no network and lets nothing else run: the verdict, the leaderboard,
        the remarks, the charts, the segments, and a table of the users with both models' lists.

        Parameters
        ----------
        path : str or Path, optional
            The file.

        Raises
        ------
        MissingExtraError
            What the extra `report` brings is not installed.
        InvalidInputError
            The file cannot be written.
        """
        from recsys_ndcg.comparison.page import comparison_page  # noqa: PLC0415 - with all plots
        from recsys_ndcg.files import write_whole  # noqa: PLC0415
        from recsys_ndcg.rendering import render  # noqa: PLC0415 - rarely needed

        page = render(comparison_page(self), "page")
        if path is not None:
            write_whole(path, page)
        return page

    def to_frame(self) -> pd.DataFrame:
        """Return the leaderboards of all metrics below each other, indexed by metric and model."""
        return pd.concat(self.leaderboards, names=["metric", "model"])

    def to_metrics(self) -> dict[str, float]:
        """Return the leaderboards as one flat dict of numbers, as experiment trackers take it.

        Returns
        -------
        dict of str to float
            Of each model and metric the same as `Report.to_metrics`, under ``model/metric``, and
            ``_tier``.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> good = {user: [(4, 5), (3, 2), (2, 4)] for user in range(30)}
        >>> bad = {user: [(user % 3, 5), (1.5, 2), (1.2, 4)] for user in range(30)}
        >>> found = rn.compare({"good": good, "bad": bad}, metrics="ndcg@3").to_metrics()
        >>> {name: round(found[name], 3) for name in ("good/ndcg_at_3", "bad/ndcg_at_3_tier")}
        {'good/ndcg_at_3': 0.963, 'bad/ndcg_at_3_tier': 2.0}
        """
        boards = self.compared.leaderboards
        tables = {
            model: pd.DataFrame({name: one.loc[model] for name, one in boards.items()}).T
            for model in self.models
        }
        return tracker_metrics(tables, "tier")

    def to_dict(self) -> dict[str, Any]:
        """Return all but the scores of users, as plain values that JSON can hold; NaN is None.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> a = {user: [(4, 5), (3, 2)] for user in range(9)}
        >>> b = {user: [(user % 4, 5), (1.5, 2)] for user in range(9)}
        >>> told = rn.compare({"a": a, "b": b}, baseline="b").to_dict()
        >>> told["leaderboards"]["ndcg@10"][0]["won"]
        5
        """
        compared, rows = self.compared, saving.rows_of
        return {
            "models": self.models,
            "metrics": self.metrics,
            "users": len(self.users),
            "baseline": self.baseline,
            "tested_by": self.tested_by,
            "how": {**asdict(compared.how), "margin": compared.margin},
            "leaderboards": {
                name: rows(table.reset_index()) for name, table in self.leaderboards.items()
            },
            "pairwise": rows(self.pairwise),
            "segments": None if compared.groups is None else rows(self.segments.reset_index()),
            "verdict": self.verdict_in(self.metrics[0]),
            "remarks": self.remarks,
            "signatures": {name: self.signature(name).text for name in self.metrics},
        }

    def save(self, path: str | Path) -> None:
        """Write the comparison as JSON: what it says to be read, the scores of users packed.

        Raises
        ------
        InvalidInputError
            A user id or a segment label is neither text nor a number, or the file cannot be
            written.
        """
        saving.save(self.to_dict(), self.compared, path)

    @classmethod
    def load(cls, path: str | Path) -> Comparison:
        """Read a comparison that `save` wrote: all but the lists.

        Raises
        ------
        InvalidInputError
            The file is no comparison, one of an older or newer version, or was changed.
        """
        return cls(saving.load(path))

    def __str__(self) -> str:
        """Return the leaderboard of the first metric, the verdict and the remarks, as text."""
        return self._rendered("text")

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._rendered("html")

    def _rendered(
        self, form: str, metric: str | Metric | None = None, *, pairs: bool = False
    ) -> str:
        from recsys_ndcg.comparison.document import comparison_document  # noqa: PLC0415 - rarely
        from recsys_ndcg.rendering import render  # noqa: PLC0415

        kind = "pairs" if pairs else "leaderboard"
        return render(comparison_document(self, self.compared.metric(metric), [kind]), form)
