"""A report by user group, and how each group differs from the other users."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Codes, Flags, Floats, ReadOnlyArrays, column_counts, divide
from recsys_ndcg.errors import InvalidInputError, quote
from recsys_ndcg.findings import Finding, HasFindings, write_sentences
from recsys_ndcg.input import format_id, make_index
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.parallel import limit_threads
from recsys_ndcg.progress import progress_bar
from recsys_ndcg.rendering import (
    Document,
    Renderable,
    Section,
    ShownTable,
    list_first,
    pluralise,
    show_columns,
)
from recsys_ndcg.report.data import UnknownKeyError
from recsys_ndcg.report.document import build_remarks_section, build_signatures_section
from recsys_ndcg.scoring import subtract_scores
from recsys_ndcg.significance import GroupResults, compare_groups

if TYPE_CHECKING:
    from recsys_ndcg.report.data import ReportData

_MIN_USERS = 10  # fewer are too few for an interval or a test
_ALPHA = 0.05
_DIFFERENT_CHANCE = 0.05  # a difference between chance levels that makes means incomparable
_MATTERS = 0.001  # a difference that changes the third decimal
_MAX_NAMED = 3  # segments in a sentence, and metrics with the same finding
_ALL = "(all)"
_COLUMNS = ["metric", "segment", "users", "mean", "interval", "pooled", "chance", "adjusted"]


class HasData(Protocol):
    """A report, as far as segments need it."""

    @property
    def _data(self) -> ReportData: ...


AnyReport = TypeVar("AnyReport", bound=HasData)


def _show_table(segments: Segments[AnyReport]) -> pd.DataFrame:
    """Return the summaries as text: for each metric all users, then each segment."""
    whole = segments.whole._data.summary.assign(segment=_ALL, difference=np.nan, p_corrected=np.nan)
    by_segment = segments.to_frame()
    by_segment["segment"] = [_format_label(label) for label in by_segment["segment"]]
    place = segments.whole._data.metrics.index
    basis = "vs_others_minus_chance" if segments.metrics_minus_chance else "vs_others"
    rows = pd.concat([whole.reset_index(), by_segment]).rename(columns={"difference": basis})
    rows = rows.sort_values("metric", key=lambda names: names.map(place), kind="stable")
    return show_columns(rows, [*_COLUMNS, basis, "p_corrected"])


def _format_label(label: Any) -> str:
    """Return a label as text."""
    return str(label) if isinstance(label, bool) else format_id(label)


def _write_lead(segments: Segments[AnyReport]) -> str:
    """Return the sentence above the table: what the last two columns compare."""
    names, metrics = segments.metrics_minus_chance, segments.whole._data.metrics
    in_some = f" (minus chance in {', '.join(list_first(names, _MAX_NAMED))})" if names else ""
    minus_chance = " minus chance" if names == metrics else in_some
    return (
        f"Each segment against all others together: the difference of the mean scores"
        f"{minus_chance}, and its p-value, the larger one of {segments.draws:,} "
        "permutations of the users' segments (max-T) and of the intervals of both means, corrected "
        "for the number of segments."
    )


def _find_remarks(segments: Segments[AnyReport]) -> Iterator[Finding]:
    """Yield the reasons to be careful with the numbers, and the segments that differ."""
    labels, by = [_format_label(label) for label in segments.labels], segments.name
    yield from _find_users(by, labels, [*segments.counts.values()])
    groups = segments.summary.groupby(level="metric", sort=False)
    tables = {str(metric): table.set_axis(labels) for metric, table in groups}
    bounded = dict(zip(tables, segments.whole._data.audit.totals.kinds["bounded"], strict=True))
    for metric in compress(tables, bounded.values()):
        yield from _find_different_chance(by, metric, tables[metric]["chance"].dropna())
    for metric, table in tables.items():
        minus_chance = metric in segments.metrics_minus_chance
        yield from _find_different_segments(metric, table, minus_chance=minus_chance)
    for metric, table in tables.items():
        directions = partial(_find_directions, segments, metric)
        yield from _find_reversed_order(by, metric, table, directions, bounded=bounded[metric])


def _find_users(by: str, labels: Sequence[str], counts: Sequence[int]) -> Iterator[Finding]:
    """Yield what the sizes of the segments mean; the last count is of users in none."""
    *sizes, outside = counts
    if outside:
        yield Finding("users_outside_segments", {"outside": outside, "users": sum(counts)})
    if len(labels) == 1:
        yield Finding("single_segment", {}, {"by": by, "segment": labels[0]})
    small = [size < _MIN_USERS for size in sizes]
    if any(small):
        numbers = {"enough": _MIN_USERS, "sizes": [*compress(sizes, small)]}
        yield Finding("small_segments", numbers, {"segments": [*compress(labels, small)]})


def _find_different_chance(by: str, metric: str, chance: pd.Series[float]) -> Iterator[Finding]:
    """Yield a finding if means are not comparable because chance levels differ."""
    low, high = chance.agg(["min", "max"]).tolist()
    if high - low >= _DIFFERENT_CHANCE:
        names = {"metric": metric, "by": by, "lowest": chance.idxmin(), "highest": chance.idxmax()}
        yield Finding("different_chance", {"low": low, "high": high}, names)


def _find_different_segments(
    metric: str, table: pd.DataFrame, *, minus_chance: bool
) -> Iterator[Finding]:
    """Yield the segments that differ from the others' users, the largest difference first."""
    clear = table["difference"][table["p_corrected"] <= _ALPHA]
    clear = clear.sort_values(key=lambda size: -size.abs(), kind="stable")
    if len(clear):
        counts = {"count": len(clear), "total": len(table), "minus_chance": minus_chance}
        names = {"metric": metric, "segments": [*clear.index]}
        yield Finding("different_segments", {**counts, "differences": [*clear]}, names)


def _find_reversed_order(
    by: str,
    metric: str,
    table: pd.DataFrame,
    find_directions: Callable[[], Floats],
    *,
    bounded: bool,
) -> Iterator[Finding]:
    """Yield two segments whose order by mean is the reverse of their order by pooled score.

    Both orders have to be significant: one segment above the others together, the other below.
    """
    mean, pooled = table["mean"].to_numpy(), table["pooled"].to_numpy()
    by_mean, by_pooled = np.subtract.outer(mean, mean), np.subtract.outer(pooled, pooled)
    reversal = np.where(by_mean > 0, np.minimum(by_mean, -by_pooled), -np.inf)
    reversal[np.isnan(reversal)] = -np.inf
    least = _MATTERS if bounded else _MATTERS * np.fmax.reduce(np.abs(mean), initial=0.0)
    if not reversal.max() >= least > 0:
        return
    directions = find_directions()
    reversal[(directions[:, None] - directions != (2, -2)).any(axis=2)] = -np.inf
    pair = np.array(np.unravel_index(reversal.argmax(), reversal.shape))
    if reversal.max() >= least:
        (mean, other_mean), (pooled, other_pooled) = mean[pair].tolist(), pooled[pair].tolist()
        numbers = {"mean": mean, "other_mean": other_mean}
        sums = {"pooled": pooled, "other_pooled": other_pooled}
        segment, other = table.index[pair]
        names = {"metric": metric, "by": by, "segment": segment, "other": other}
        yield Finding("reversed_pooled_order", {**numbers, **sums}, names)


def _find_directions(segments: Segments[AnyReport], metric: str) -> Floats:
    """Return 1 for segments significantly above the others together, -1 below: by mean and pooled.

    The pooled score of a segment is above the others' if the mean of numerator - ratio ·
    denominator is, with the ratio of the sums over all segments.
    """
    scores = segments.whole._data.audit.scores
    column = scores.names.index(metric)
    is_counted = scores.is_defined[:, column] & (segments.codes >= 0)
    top, bottom = scores.numerator[:, column], scores.denominator[:, column]
    ratio = divide(top[is_counted].sum(), bottom[is_counted].sum())
    rest = np.where(is_counted, top - ratio * bottom, np.nan)
    values = np.column_stack([scores.per_user[:, column], rest])
    kinds = scores.measurements[column].kinds.items()
    tests = _compare(segments, values, **{name: [flag, False] for name, flag in kinds})
    return np.where(tests.p_corrected <= _ALPHA, np.sign(tests.difference), 0.0)


def _compare(segments: Segments[AnyReport], values: Floats, **options: Any) -> GroupResults:
    """Test the segments with as many threads as the report may use."""
    groups = segments.codes, len(segments.labels)
    with limit_threads(segments.whole._data.audit.n_jobs):
        return compare_groups(values, *groups, min_users=_MIN_USERS, **options)


_MAX_SEGMENTS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Segments(ReadOnlyArrays, HasFindings, Renderable, Mapping[Any, AnyReport]):
    """A report by user group: a mapping of segment labels to the reports of their users.

    `recsys_ndcg.Report.by` returns it. It never changes.

    Parameters
    ----------
    name : str
        The common name of the segments, such as the name of their column.
    whole : Report
        The report of all users.
    labels : tuple
        The labels of the segments, in order.
    reports : tuple of Report
        The report of each segment.
    codes : int array, shape (n_users,)
        The position of each user's label, -1 for users in no segment.

    Attributes
    ----------
    segment_of_user : pandas.Series
        The segment of each user.
    counts : dict
        The number of users in each segment; under None, the number of users in no segment.
    summary : pandas.DataFrame
        A row per segment and metric: the columns of `Report.summary`, and the comparison with
        the other segments: difference, p and p_corrected.
    metrics_minus_chance : list of str
        The metrics of which this comparison is of each user's score minus chance.
    draws : int
        The number of permutations that p-values come from.
    findings : pandas.DataFrame
        A row per remark: kind, metric, models, numbers, severity, sentence.
    remarks : list of str
        Reasons to be careful with the numbers, and the segments that differ.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> rows = {"ann": [(4, 5), (3, 2)], "bob": [(4, 1), (3, 2)], "eve": [(2, 1), (1, 0)]}
    >>> segments = rn.evaluate(rows).by({"ann": "new", "bob": "old"})
    >>> segments.counts
    {'new': 1, 'old': 1, None: 1}
    >>> {label: round(report["ndcg@10"], 3) for label, report in segments.items()}
    {'new': 1.0, 'old': 0.797}
    """

    name: str
    whole: AnyReport
    labels: tuple[Any, ...]
    reports: tuple[AnyReport, ...]
    codes: Codes

    @classmethod
    def from_groups(cls, segment_of_user: pd.Series[Any], whole: AnyReport) -> Segments[AnyReport]:
        """Split a report by the categorical series that `assign_segments` returned for its users.

        Raises
        ------
        InvalidInputError
            There are too many segments.
        """
        labels = segment_of_user.cat.categories.tolist()
        codes, name = segment_of_user.cat.codes.to_numpy(), str(segment_of_user.name)
        if len(labels) > _MAX_SEGMENTS:
            msg = (
                f"{name!r} has {len(labels)} groups of {(codes >= 0).sum()} users, "
                f"more than {_MAX_SEGMENTS}. Cut numbers into ranges: pandas.qcut(values, 4)."
            )
            raise InvalidInputError(msg)
        audits = [whole._data.audit.take(np.flatnonzero(codes == n)) for n in range(len(labels))]
        data = [replace(whole._data, audit=one, baselines=None) for one in audits]
        reports = tuple(replace(whole, _data=one) for one in data)  # type: ignore[type-var]
        return cls(name, whole, tuple(labels), reports, codes.astype(np.int32))

    def __getitem__(self, label: Any) -> AnyReport:
        """Return the report of a segment."""
        reports: dict[Any, AnyReport] = dict(zip(self.labels, self.reports, strict=True))
        try:
            return reports[label]
        except (KeyError, TypeError):
            msg = f"There is no segment {quote(label)}; there are {quote(list(self.labels))}."
            raise UnknownKeyError(msg) from None

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the labels."""
        return iter(self.labels)

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.labels)

    @property
    def segment_of_user(self) -> pd.Series[Any]:
        """The segment of each user: categorical, NaN for users in none."""
        values = pd.Categorical.from_codes(self.codes, categories=self._index)
        users = make_index(self.whole._data.audit.scores.users, "user")
        return pd.Series(values, index=users, name=self.name)

    @property
    def counts(self) -> dict[Any, int]:
        """The number of users in each segment; under None, in no segment."""
        n_outside, *sizes = np.bincount(self.codes + 1, minlength=len(self.labels) + 1).tolist()
        return {**dict(zip(self.labels, sizes, strict=True)), None: n_outside}

    @property
    def summary(self) -> pd.DataFrame:
        """The summary of each segment and its comparison with the others, by metric.

        The columns of `Report.summary`, and: difference, the mean of the segment minus the mean
        of all users in other segments; its p, NaN if the segment or the others have fewer than ten
        scores; and p_corrected, for the number of segments. Two tests are made, and p is the larger
        of their two p-values: the first is exact if segments are alike, and comes from permutations
        of the users' segments (9,999 for up to 10,000 users, and at least 999: `draws`; max-T); the
        second is for segments whose scores vary more or less, and comes from the intervals of both
        means. Differences and p are of each user's score minus chance, the
        mean score in random order, if every user with a score has a chance level, else of the
        score: chance may differ between segments, for example if one has shorter lists.

        References
        ----------
        Westfall & Young (1993), Resampling-Based Multiple Testing, Wiley; Zou & Donner (2008),
        doi:10.1002/sim.3095
        """
        return self._summary.copy()

    @lazy_property
    def _summary(self) -> pd.DataFrame:
        metrics = self.whole._data.metrics
        table = pd.concat([one._data.summary for one in self.reports])
        columns = {name: getattr(self._tests, name) for name in ("difference", "p", "p_corrected")}
        # labels may be tuples, which from_product would split
        levels: list[Any] = [self._index, metrics]
        codes = np.indices((len(self), len(metrics))).reshape(2, -1).tolist()
        index = pd.MultiIndex(levels=levels, codes=codes, names=["segment", "metric"])
        table = table.assign(**{name: values.ravel() for name, values in columns.items()})
        return table.set_axis(index, axis=0)

    @property
    def metrics_minus_chance(self) -> list[str]:
        """The metrics of which the differences are of each user's score minus chance."""
        return [*compress(self.whole._data.metrics, self._is_minus_chance)]

    @property
    def draws(self) -> int:
        """The number of permutations of the users' segments that p-values come from."""
        return self._tests.draws

    @lazy_property
    def _is_minus_chance(self) -> Flags:
        """Whether every user with a score has a chance level, by metric."""
        scores = self.whole._data.audit.scores_with_orders
        is_scored = ~np.isnan(scores.per_user)
        lacks_chance = is_scored & np.isnan(scores.roles["chance"])
        return np.asarray((column_counts(is_scored) > 0) & (column_counts(lacks_chance) == 0))

    @lazy_property
    def _tests(self) -> GroupResults:
        scores = self.whole._data.audit.scores_with_orders
        minus_chance = subtract_scores(scores.per_user, scores.roles["chance"])
        values = np.where(self._is_minus_chance, minus_chance, scores.per_user)
        how = {"scores": scores.per_user, **self.whole._data.audit.totals.kinds}
        with progress_bar(enabled=True) as show:
            return _compare(self, values, show=partial(show, "Permuting segments"), **how)

    @property
    def remarks(self) -> list[str]:
        """Reasons to be careful with the numbers, and the segments that differ, a sentence each."""
        return write_sentences(self._findings)

    @property
    def _findings(self) -> list[Finding]:
        return [*_find_remarks(self)]

    def to_frame(self) -> pd.DataFrame:
        """Return the summary with segment and metric as columns instead of an index."""
        return self.summary.reset_index()

    def _document(self, *, with_verdict: bool = False) -> Document:  # noqa: ARG002 - it has none
        """Return the document: the table, the remarks and the signatures."""
        by = "" if self.name == "segment" else f" by {self.name}"
        n_users = self.whole._data.counts["users"]
        n_segments = pluralise(len(self.labels), "segment")
        table = ShownTable("The scores, by segment", _show_table(self), n_left_aligned=2)
        return Document(
            title="Segments of users",
            facts=f"{n_segments}{by}, {n_users} users",
            sections=[
                Section("segments", "Segments", _write_lead(self), [table]),
                build_remarks_section(self._findings),
                build_signatures_section(self.whole._data.audit.signatures),
            ],
            names_to_shorten=[self.name, *self.whole._data.metrics],
        )

    @property
    def _index(self) -> pd.Index[Any]:
        labels = np.fromiter(self.labels, dtype=object, count=len(self.labels))
        return make_index(labels)
