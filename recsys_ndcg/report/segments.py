"""A report in segments: each beside the others, and how sure it is that it differs from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import Codes, Floats, Record
from recsys_ndcg.errors import InvalidInputError, escape_invisible, quote
from recsys_ndcg.input import index_of, written
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.rendering import (
    Document,
    Readable,
    Section,
    ShownTable,
    count,
    first_few,
    number,
    probability,
    signed,
)
from recsys_ndcg.report.document import remarks_section, signatures_section, text_cells
from recsys_ndcg.scoring import Moments
from recsys_ndcg.significance import CORRECTIONS

if TYPE_CHECKING:
    from recsys_ndcg.report.report import Report

_FEW = 10  # users, of whom an interval says little
_LEVEL = 0.05
_APART = 0.05  # levels of chance so far apart make means differ
_MATTERS = 0.001  # a difference that changes the third decimal
_NAMED = 3  # segments in a sentence, and metrics of which the same is said
_ALL = "(all)"
_COLUMNS = ["metric", "segment", "users", "mean", "±95%", "pooled", "chance", "adjusted"]
_LEAD = "Each segment beside the others: its difference from them, and how sure it is."


class UnknownKeyError(InvalidInputError, KeyError):
    """What a report raises as a mapping, asked for a metric that it does not have."""

    __str__ = ValueError.__str__


def _cells(segments: Segments) -> pd.DataFrame:
    """Return the summaries as text: for each metric all users, and each segment."""
    whole = segments.whole.summary.assign(segment=_ALL, difference=np.nan, corrected=np.nan)
    parts = segments.to_frame()
    parts["segment"] = [_label(one) for one in parts["segment"]]
    rows = pd.concat([whole.reset_index(), parts], ignore_index=True)
    places = np.array([segments.whole.metrics.index(one) for one in rows["metric"]])
    rows["±95%"] = (rows["ci_high"] - rows["ci_low"]) / 2
    rows["metric"] = rows["metric"].map(escape_invisible)
    rows["difference"] = rows["difference"].map(signed)
    rows["corrected"] = rows["corrected"].map(probability)
    rows = rows[[*_COLUMNS, "difference", "corrected"]].rename(columns={"corrected": "p (Holm)"})
    return text_cells(rows.iloc[np.argsort(places, kind="stable")].set_index("metric"))


def _label(label: Any) -> str:
    """Return a label as it is shown."""
    return escape_invisible(str(label) if isinstance(label, bool) else written(label))


def _users(segments: Segments) -> Iterator[str]:
    counts = dict(segments.counts)
    total, outside = sum(counts.values()), counts.pop(None)
    if outside:
        yield f"{outside} of {total} users are in no segment: only the row of all users has them."
    if len(counts) == 1:
        yield f"All are in one segment, {_name(segments, 0)}: there is no other to compare it with."
    few = [f"{_label(one)} ({users})" for one, users in counts.items() if users < _FEW]
    if few:
        told = ", ".join(first_few(few, _NAMED))
        yield f"Of fewer than {_FEW} users an interval says little, a test less: {told}."


def _chance(segments: Segments, metric: str, table: pd.DataFrame) -> Iterator[str]:
    """Tell where means differ because random order does."""
    chance = table["chance"].to_numpy()
    if not segments.whole.bounded[metric] or np.isnan(chance).all():
        return
    low, high = int(np.nanargmin(chance)), int(np.nanargmax(chance))
    if chance[high] - chance[low] >= _APART:
        yield (
            f"Chance is {number(chance[low])} in {metric} for {_name(segments, low)} and "
            f"{number(chance[high])} for {_name(segments, high)}, so that means differ in "
            "any case: compare adjusted."
        )


def _differences(segments: Segments, metric: str, table: pd.DataFrame) -> Iterator[str]:
    """Tell which segments differ from the others, the furthest first."""
    difference = table["difference"].to_numpy()
    sure = (table["corrected"] < _LEVEL).to_numpy() & (table["users"] >= _FEW).to_numpy()
    furthest = [place for place in np.argsort(-np.abs(difference), kind="stable") if sure[place]]
    if furthest:
        labels = [_label(segments.labels[place]) for place in furthest]
        texts = [signed(one) for one in difference[furthest]]
        differences = map("{} ({})".format, labels, texts)
        told = first_few(differences, _NAMED)
        yield (
            f"In {metric}, {len(furthest)} of {len(table)} segments "
            f"{'differs' if len(furthest) == 1 else 'differ'} from all "
            f"other users (Welch's test, Holm's correction): {', '.join(told)}."
        )


def _orders(segments: Segments, metric: str, table: pd.DataFrame) -> Iterator[str]:
    """Tell two segments that stand in one order by their means, and in the other pooled."""
    mean, pooled = table["mean"].to_numpy(), table["pooled"].to_numpy()
    by_mean, by_pooled = np.subtract.outer(mean, mean), np.subtract.outer(pooled, pooled)
    turned = np.where(by_mean > 0, np.minimum(by_mean, -by_pooled), -np.inf)
    turned[np.isnan(turned)] = -np.inf
    one, other = np.unravel_index(turned.argmax(), turned.shape)
    highest = np.fmax.reduce(np.abs(mean), initial=0.0)
    least = _MATTERS if segments.whole.bounded[metric] else _MATTERS * highest
    if turned[one, other] >= least > 0:
        yield (
            f"In {metric}, {_name(segments, one)} is above {_name(segments, other)} by the mean "
            f"({number(mean[one])} and {number(mean[other])}), but below it pooled, where large "
            f"lists count for more ({number(pooled[one])} and {number(pooled[other])})."
        )


def _name(segments: Segments, place: int | np.intp) -> str:
    return f"{segments.name} {_label(segments.labels[place])}"


_MOST = 1000  # more are no segments, and each is measured
_SAME = 1e-12  # of a mean: less is the last digits of a sum


@dataclass(frozen=True, eq=False, repr=False)
class Segments(Record, Readable, Mapping[Any, "Report"]):
    """A report in segments: a mapping of their labels to the reports of their users.

    What `recsys_ndcg.Report.by` returns. It is a value: what happens to the groups that it was made
    from changes nothing in it.

    Parameters
    ----------
    name : str
        What the segments are called together.
    whole : Report
        Of all users.
    labels : tuple
        Of the segments, in order.
    reports : tuple of Report
        Of the users in each.
    codes : int array, shape (n_users,)
        The place of each user's label, -1 for users in no segment.

    Attributes
    ----------
    groups : pandas.Series
        The segment of each user.
    counts : dict
        How many users are in each, and under None how many in none.
    summary : pandas.DataFrame
        A row per segment and metric: `Report.summary` of its users, and against the others
        difference, p and corrected.
    remarks : list of str
        What is to be known before trusting the numbers, and which segments differ.

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
    whole: Report
    labels: tuple[Any, ...]
    reports: tuple[Report, ...]
    codes: Codes

    @classmethod
    def of(cls, groups: pd.Series[Any], whole: Report) -> Segments:
        """Return a report in segments, as `segments_of` found them.

        Parameters
        ----------
        groups : pandas.Series
            Categorical.
        whole : Report
            Of the same users.

        Raises
        ------
        InvalidInputError
            There are far too many.
        """
        labels, codes = groups.cat.categories.tolist(), groups.cat.codes.to_numpy()
        if len(labels) > _MOST:
            msg = (
                f"{len(labels)} groups of {groups.notna().sum()} users by {str(groups.name)!r}: "
                f"more than {_MOST} are no segments. Cut numbers into ranges first, such as "
                "pandas.qcut(values, 4)."
            )
            raise InvalidInputError(msg)
        audits = (
            whole.audited.take(np.flatnonzero(codes == place)) for place in range(len(labels))
        )
        reports = tuple(replace(whole, audited=one, known_baselines=None) for one in audits)
        return cls(str(groups.name), whole, tuple(labels), reports, codes.astype(np.int32))

    def __getitem__(self, label: Any) -> Report:
        """Return the report of the users in a segment."""
        reports: dict[Any, Report] = dict(zip(self.labels, self.reports, strict=True))
        try:
            return reports[label]
        except (KeyError, TypeError):
            msg = f"There is no segment {quote(label)}; there are {quote(list(self.labels))}."
            raise UnknownKeyError(msg) from None

    def __iter__(self) -> Iterator[Any]:
        """Go through the labels."""
        return iter(self.labels)

    def __len__(self) -> int:
        """Return the number of segments."""
        return len(self.labels)

    @property
    def groups(self) -> pd.Series[Any]:
        """The segment of each user: categorical, NaN for users in none."""
        values = pd.Categorical.from_codes(self.codes, categories=self._index)
        users = index_of(self.whole.audited.scores.users, "user")
        return pd.Series(values, index=users, name=self.name)

    @property
    def counts(self) -> dict[Any, int]:
        """How many users are in each segment, and under None how many in none."""
        none, *sizes = np.bincount(self.codes + 1, minlength=len(self.labels) + 1).tolist()
        return {**dict(zip(self.labels, sizes, strict=True)), None: none}

    @property
    def summary(self) -> pd.DataFrame:
        """One row per segment and metric.

        The columns of `Report.summary`, of the users in the segment. Beside them: difference, its
        mean less that of all users in other segments; p, Welch's t test of the two means, NaN
        where a side has fewer than two scores; and corrected, p for as many segments as are tested
        in the metric, by Holm's method.

        References
        ----------
        Welch (1947), doi:10.1093/biomet/34.1-2.28; Holm (1979), Scandinavian Journal of
        Statistics 6(2)
        """
        return self._summary.copy()

    @lazy_property
    def _summary(self) -> pd.DataFrame:
        metrics = self.whole.metrics
        table = pd.concat([report.summary for report in self.reports])
        difference, p = against_others([one.audited.totals.scores for one in self.reports])
        corrected = np.array([CORRECTIONS["holm"].correct(column) for column in p.T]).T
        columns = {"difference": difference, "p": p, "corrected": corrected}
        rows, names = np.indices(p.shape).reshape(2, -1).tolist()
        levels: list[Any] = [self._index, metrics]  # labels may be tuples
        index = pd.MultiIndex(levels=levels, codes=[rows, names], names=["segment", "metric"])
        table = table.assign(**{name: values.ravel() for name, values in columns.items()})
        return table.set_axis(index, axis=0)

    @property
    def remarks(self) -> list[str]:
        """What a reader should know before trusting the numbers: a sentence for each thing."""
        lines = [*_users(self)]
        tables = [*self.summary.groupby(level="metric", sort=False)]
        for kind in (_chance, _differences, _orders):
            told = [line for name, table in tables for line in kind(self, str(name), table)]
            lines += first_few(told, _NAMED, "… and so in {} more metrics.")
        return [escape_invisible(line) for line in lines]

    def to_frame(self) -> pd.DataFrame:
        """Return the summary with segment and metric as columns, as programs take it."""
        return self.summary.reset_index()

    def document(self, *, answer: bool = False) -> Document:  # noqa: ARG002 - it has no verdict
        """Return what people read of it: the table, the remarks and the signatures."""
        by = "" if self.name == "segment" else f" by {escape_invisible(self.name)}"
        n_segments, n_users = count(len(self.labels), "segment"), self.whole.counts["users"]
        table = ShownTable("The scores, by segment", _cells(self), left=2)
        return Document(
            title="Segments of users",
            facts=f"{n_segments}{by}, {n_users} users",
            sections=[
                Section("segments", "Segments", _LEAD, [table]),
                remarks_section(self.remarks),
                signatures_section(self.whole.signatures.values()),
            ],
            names=[self.name, *self.whole.metrics],
        )

    @property
    def _index(self) -> pd.Index[Any]:
        labels = np.fromiter(self.labels, dtype=object, count=len(self.labels))
        return index_of(labels)


def against_others(scores: Sequence[Moments]) -> tuple[Floats, Floats]:
    """Return how each group's mean differs from that of all others, and p of Welch's test.

    Parameters
    ----------
    scores : sequence of Moments
        Of each group.

    Returns
    -------
    difference, p : float64 arrays, shape (n_groups, n_metrics)
        NaN where a side has no score, or too few.

    References
    ----------
    Welch (1947), doi:10.1093/biomet/34.1-2.28

    Examples
    --------
    Two groups of three users each, whose scores are 0, 1 and 2, and 2, 3 and 4.

    >>> both = [np.array([[0.0], [1], [2]]), np.array([[2.0], [3], [4]])]
    >>> everybody = np.ones((3, 1), dtype=bool)
    >>> difference, p = against_others([Moments.of(one, one, everybody) for one in both])
    >>> difference.ravel(), p.ravel().round(4)
    (array([-2.,  2.]), array([0.0705, 0.0705]))
    """
    empty = np.zeros((0, len(scores[0].count)))
    nobody = Moments.of(empty, empty, empty.astype(bool))
    before = list(accumulate(scores, add, initial=nobody))
    after = list(accumulate(reversed(scores), add, initial=nobody))[::-1]
    found = [_welch(one, before[place] + after[place + 1]) for place, one in enumerate(scores)]
    difference, p = zip(*found, strict=True)
    return np.array(difference), np.array(p)


def _welch(one: Moments, others: Moments) -> tuple[Floats, Floats]:
    from scipy.stats import ttest_ind_from_stats  # noqa: PLC0415 - importing it takes long

    mean, other = one.mean_x, others.mean_x
    highest = np.fmax(np.abs(mean), np.abs(other))
    difference = np.where(np.abs(mean - other) <= _SAME * highest, 0.0, mean - other)
    spread, others_spread = (
        side.length / np.sqrt(np.maximum(side.count - 1, 1)) for side in (one, others)
    )
    scale = np.maximum.reduce([np.abs(difference), spread, others_spread])
    tested = (one.count > 1) & (others.count > 1)
    p = np.where(tested & (scale == 0), 1.0, np.nan)
    tested &= scale > 0
    some = [values[tested] / scale[tested] for values in (difference, spread, others_spread)]
    p[tested] = ttest_ind_from_stats(
        some[0], some[1], one.count[tested], 0.0, some[2], others.count[tested], equal_var=False
    ).pvalue
    return difference, p
