"""Comparison: which model is better, for whom, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from recsys_ndcg.arrays import Ids
from recsys_ndcg.comparison.document import comparison_document, remarks
from recsys_ndcg.comparison.metric_comparison import (
    MetricComparison,
    intervals,
    leaderboard,
    pairwise,
    segmented,
)
from recsys_ndcg.comparison.model_scores import CHANCE, ModelScores
from recsys_ndcg.comparison.two_models import Movers, movers, overlaps
from recsys_ndcg.comparison.verdict import Gate, how_tested, not_worse, verdict
from recsys_ndcg.errors import (
    InvalidInputError,
    check_choice,
    check_integer,
    check_level,
    quote,
    suggest,
)
from recsys_ndcg.files import Archive, checked_ids, json_value
from recsys_ndcg.input import index_of
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.metrics import Metric, names_known
from recsys_ndcg.rendering import Document, Readable
from recsys_ndcg.report import flatten_metrics
from recsys_ndcg.scoring import ListCounts, Measurement, Signature, metric_among
from recsys_ndcg.significance import BOOTSTRAPS, Testing, check_margin
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    import altair as alt

_FORM = "comparison 2"
_KINDS = {False: "leaderboard", True: "pairs"}  # of tables: whether of the pairs


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Readable):
    """What `compare` returns: models on the same users, a value.

    Parameters
    ----------
    contenders : mapping of str to ModelScores
        The models' scores, of the same users.
    how : Testing
        The test, the correction, the level, the draws and their seed.
    baseline : str
        Against which model users are won and lost.
    margin : float, optional
        Up to which a difference does not matter.
    groups : pandas.Series, optional
        The segment of each user, a categorical.
    left_out : mapping of str to int
        How many users of each model are left out, because not all have them.
    other_metrics : tuple of str
        Those that only some models have.
    cells : pandas.DataFrame, optional
        What each fold of an experiment took and measured.
    made_by : str, optional
        The lines of Python that make the same, where they are another call than `compare`.
    progress : bool
        Whether a bar shows how far tests are that take long.

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

    contenders: Mapping[str, ModelScores]
    how: Testing
    baseline: str
    margin: float | None = None
    groups: pd.Series[Any] | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    other_metrics: tuple[str, ...] = ()
    cells: pd.DataFrame | None = None
    made_by: str | None = None
    progress: bool = True

    @property
    def models(self) -> list[str]:
        """The names of the models, as they were given."""
        return list(self.contenders)

    @property
    def first(self) -> ModelScores:
        """The scores of the model that was given first."""
        return next(iter(self.contenders.values()))

    @property
    def metrics(self) -> list[str]:
        """The names of the metrics; the first decides."""
        return self.first.names

    @property
    def users(self) -> Ids:
        """The users who are compared."""
        return self.first.users

    @property
    def signatures(self) -> dict[str, Signature]:
        """How each metric was computed, of the first model: the others agree in what is read."""
        return dict(self.first.signatures)

    @lazy_property
    def by_metric(self) -> dict[str, MetricComparison]:
        """Each metric, with what the tests say of it."""
        return {name: MetricComparison.of(self, name) for name in self.metrics}

    @property
    def deciding(self) -> MetricComparison:
        """The first metric."""
        return self.by_metric[self.metrics[0]]

    @property
    def leaderboard(self) -> pd.DataFrame:
        """A row per model in the first metric, by tier, and in each the best mean first."""
        return self.leaderboards[self.metrics[0]]

    @property
    def leaderboards(self) -> dict[str, pd.DataFrame]:
        """The same for each metric."""
        return {name: table.copy() for name, table in self._leaderboards.items()}

    @lazy_property
    def _leaderboards(self) -> dict[str, pd.DataFrame]:
        return {name: leaderboard(self, name) for name in self.metrics}

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
        return pd.concat([pairwise(one) for one in self.by_metric.values()], ignore_index=True)

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
        every = [*self.by_metric.values()]
        return intervals(every, level, method, draws=draws, seed=seed, progress=progress)

    @property
    def per_user(self) -> pd.DataFrame:
        """The scores of every user: for each metric, a column per model."""
        tables = {
            name: pd.DataFrame(one.scores, index_of(self.users, "user"), self.models)
            for name, one in self.by_metric.items()
        }
        return pd.concat(tables, axis=1, names=["metric", "model"])

    @property
    def verdict(self) -> str:
        """The answer in two sentences, of the first metric."""
        return verdict(self.deciding)

    @property
    def tested_by(self) -> str:
        """The test, the correction and the level, in words."""
        return how_tested(self.deciding)

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
        return self._segments.copy()

    @lazy_property
    def _segments(self) -> pd.DataFrame:
        return segmented(self)

    @property
    def runs(self) -> pd.DataFrame:
        """What each fold took and measured: a row for each model, seed and fold.

        Columns: fit_time and test_time in seconds, peak_memory_mb, users, and every measure.

        Raises
        ------
        InvalidInputError
            The comparison is not of an experiment, or was read from a file.
        """
        if self.cells is None:
            msg = (
                "Only what rn.experiment() returns has runs; those of a folder are in "
                "rn.load_runs(folder).table."
            )
            raise InvalidInputError(msg)
        return self.cells.copy()

    @property
    def remarks(self) -> list[str]:
        """What makes the numbers say less than they seem to: a sentence for each thing."""
        return remarks(self)

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
        check_integer("n", n, 1)
        name = self._metric(metric)
        before, after = self._both(name, a, b)
        return movers(self, name, before, after, int(n))

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
            for name, one in self.contenders.items()
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
        margin = check_margin(self.margin if margin is None else margin)
        other = self._model(self.baseline if than is None else than)
        model = self._model(model)
        if model == other:
            msg = f"{model!r} is compared with itself: say which model it must not be worse than."
            raise InvalidInputError(msg)
        both = {name: self.contenders[name] for name in (model, other)}
        level = self.how.alpha if alpha is None else alpha
        how = replace(self.how, test="t", correction="none", alpha=level)
        pair = replace(self, contenders=both, how=how, margin=margin)
        return not_worse(pair.by_metric[self._metric(metric)])

    def signature(self, metric: str | Metric) -> Signature:
        """Return how a metric was computed, of the first model."""
        return self.signatures[self._metric(metric)]

    def verdict_in(self, metric: str | Metric) -> str:
        """Return the answer in two sentences, of any metric."""
        return verdict(self.by_metric[self._metric(metric)])

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
        # with all plots
        from recsys_ndcg.comparison.page import KINDS, plotted, traded_off  # noqa: PLC0415

        check_choice("kind", kind, KINDS)
        name = self._metric(metric)
        if kind == "trade-off":
            other = None if against is None else self._metric(against)
            return traded_off(self, name, other, colour)
        return plotted(self, kind, name, *self._both(name, a, b))

    def document(
        self,
        metric: str | Metric | None = None,
        kinds: Sequence[str] = ("leaderboard",),
        *,
        answer: bool = True,  # noqa: ARG002 - every form has room for it
    ) -> Document:
        """Return what people read of it in one metric, the verdict above.

        Parameters
        ----------
        metric : str or Metric, optional
            The first by default.
        kinds : sequence of {'leaderboard', 'pairs', 'segments'}
            Its tables, in their order.
        answer : bool
            As in other results, and without effect.
        """
        return comparison_document(self, self._metric(metric), kinds)

    def page(self, command: str | None = None) -> Document:
        """Return the same with the charts, the segments, and both models' lists of users."""
        from recsys_ndcg.comparison.page import comparison_page  # noqa: PLC0415 - with all plots

        return comparison_page(self, command)

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
        return self._rendered("markdown", metric=metric, kinds=[_KINDS[pairs]])

    def to_latex(self, metric: str | Metric | None = None, *, pairs: bool = False) -> str:
        r"""Return the same as a table of LaTeX with its caption, for ``\usepackage{booktabs}``.

        The first tier is bold, and models that share a letter cannot be told apart. The verdict,
        the remarks and the signatures stand above it as comments.

        Parameters
        ----------
        metric, pairs
            As in `to_markdown`.
        """
        return self._rendered("latex", metric=metric, kinds=[_KINDS[pairs]])

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
        boards = self.to_frame()
        tables: dict[str, Any] = {one: boards.xs(one, level="model") for one in self.models}
        return flatten_metrics(tables, "tier")

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
        return {
            "models": self.models,
            "metrics": self.metrics,
            "users": len(self.users),
            "baseline": self.baseline,
            "tested_by": self.tested_by,
            "how": {**asdict(self.how), "margin": self.margin},
            "leaderboards": {
                name: _rows_of(table.reset_index()) for name, table in self.leaderboards.items()
            },
            "pairwise": _rows_of(self.pairwise),
            "segments": None if self.groups is None else _rows_of(self.segments.reset_index()),
            "verdict": self.verdict,
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
        first, columns = self.first, {"user": self.users, **vars(self.first.counts)}
        head: dict[str, Any] = {
            "written_by": __version__,
            "said": self.to_dict(),
            "testing": asdict(self.how),
            "baseline": self.baseline,
            "margin": self.margin,
            "left_out": dict(self.left_out),
            "other_metrics": list(self.other_metrics),
            "metrics": {
                name: Measurement(one).to_dict()
                for name, one in zip(self.metrics, first.metrics, strict=True)
            },
            "models": {
                name: {
                    "signatures": [told.text for told in one.signatures.values()],
                    "runs": json_value(one.runs.tolist()),
                    "parameters": dict(one.parameters),
                }
                for name, one in self.contenders.items()
            },
            "segments": None,
        }
        if self.groups is not None:
            head["segments"] = checked_ids(self.groups.cat.categories.tolist(), "segment label")
            columns["segment"] = self.groups.cat.codes.to_numpy()
        for name, one in self.contenders.items():
            columns |= {f"{table}.{name}": values for table, values in one.tables.items()}
        Archive(head, columns).write(path, _FORM)

    @classmethod
    def load(cls, path: str | Path) -> Comparison:
        """Read a comparison that `save` wrote: all but the lists.

        Raises
        ------
        InvalidInputError
            The file is no comparison, one of an older or newer version, or was changed.
        """
        with Archive.open(path, _FORM) as (head, columns):
            known, labels, groups = names_known(), head["segments"], None
            measured = {
                # a protocol may stand behind the name of a metric
                name: Measurement.from_dict(name.partition(":")[0], one, known)
                for name, one in head["metrics"].items()
            }
            if labels is not None:
                kinds = index_of(np.array(labels, dtype=object))
                segments = pd.Categorical.from_codes(columns["segment"], categories=kinds)
                groups = pd.Series(segments, index=pd.Index(columns["user"].tolist(), name="user"))
            models = head["models"].items()
            return cls(
                {name: _from_file(name, one, columns, measured) for name, one in models},
                how=Testing(**head["testing"]),
                groups=groups,
                other_metrics=tuple(head["other_metrics"]),
                **{name: head[name] for name in ("baseline", "margin", "left_out")},
            )

    def _both(self, metric: str, a: str | None, b: str | None) -> tuple[str, str]:
        """Return two models: the baseline and the best of the others, unless they are named.

        Raises
        ------
        InvalidInputError
            There is no such model, or both are one.
        """
        before = self._model(self.baseline if a is None else a)
        result = self.by_metric[metric]
        ordered = [result.models[place] for place in result.best_first]
        after = self._model(next(one for one in ordered if one != before) if b is None else b)
        if before == after:
            msg = f"{before!r} is compared with itself: name two models, a= and b=."
            raise InvalidInputError(msg)
        return before, after

    def _metric(self, given: str | Metric | None) -> str:
        """Return the name of a metric as it stands here, that of the first for None."""
        if given is None:
            return self.metrics[0]
        return metric_among(given, self.metrics, "This comparison")

    def _model(self, name: str) -> str:
        """Return the name of a model, if there is one.

        Raises
        ------
        InvalidInputError
            There is none.
        """
        if name not in self.contenders:
            msg = f"There is no model {quote(name)}. {suggest(str(name), self.models)}"
            raise InvalidInputError(msg)
        return name


def _from_file(
    name: str,
    head: Mapping[str, Any],
    columns: Mapping[str, NDArray[Any]],
    measurements: Mapping[str, Measurement],
) -> ModelScores:
    """Return the scores of the model of that name."""

    def table(what: str) -> NDArray[Any]:
        return columns[f"{what}.{name}"]

    return ModelScores(
        measurements=tuple(measurements.values()),
        users=columns["user"],
        numerator=table("numerator"),
        denominator=table("denominator"),
        left_out=np.zeros(table("scores").shape, dtype=bool),
        counts=ListCounts.among(columns),
        roles={"own": table("scores"), "chance": table("chance"), "best": table("best")},
        signatures=dict(zip(measurements, map(Signature, head["signatures"]), strict=True)),
        truth=table("truth"),
        runs=np.array(head["runs"], dtype=np.float64).reshape(-1, len(measurements)),
        parameters=head.get("parameters", {}),
    )


def _rows_of(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as plain values, row by row; NaN is None."""
    return [
        {str(name): _plain(value) for name, value in row.items()}
        for row in table.astype(object).to_dict("records")
    ]


def _plain(value: Any) -> Any:
    """Return what JSON can hold; the label of a segment may be anything."""
    value = None if value is pd.NA else json_value(value)
    return value if isinstance(value, str | bool | int | float | None) else str(value)
