"""Plan: the requested measurements, resolved, so that nothing is decided while scoring."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar, Literal

import numpy as np

from recsys_ndcg.background import Background
from recsys_ndcg.convention import PRESETS, Convention, ConventionLike, split_names
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, as_float, is_number, quote
from recsys_ndcg.lists import Facts, Grades, GroupedLists, add_background, prepare_lists
from recsys_ndcg.metrics import Metric, check_name, find_distance_warning, parse_metrics
from recsys_ndcg.ranking import SortedLists
from recsys_ndcg.scoring.measurement import Measurement, find_least_lengths
from recsys_ndcg.scoring.measuring import Block, SampledBlock, map_blocks
from recsys_ndcg.scoring.requirements import find_mistake, find_objection
from recsys_ndcg.scoring.scores import Scores

Metrics = Iterable[str | Metric] | str | Metric | None
#: "default" is 10, or the cutoff of the preset.
Cutoffs = int | Iterable[int | None] | Literal["default"] | None

_STEEP_GRADE = 10  # from here on, exponential gains surprise
_CUTOFF = re.compile(r"@\d+(?=:|$)")
_DEFAULT_METRICS = ("ndcg", "precision", "recall")


@dataclass(frozen=True)
class Plan:
    """The measurements to make, a column of scores each.

    Parameters
    ----------
    measurements : tuple of Measurement
        All with the same threshold.
    is_default : bool
        Whether the metrics are the defaults: metrics that need a threshold are left out if there
        is none.
    background : Background, optional
        What is known besides the lists (`add_background`).

    Examples
    --------
    >>> plan = Plan.of(["ndcg", "rr"], k=[5, 10], threshold=4)
    >>> plan.names, plan.threshold
    (['ndcg@5', 'ndcg@10', 'rr'], 4.0)
    """

    measurements: tuple[Measurement, ...]
    is_default: bool = False
    background: Background | None = None

    #: Estimates that should be equal may differ by rounding, if kNN adds the same numbers in
    #: another order: 4.0 and 3.9999999999999996.
    TIE_TOLERANCE: ClassVar[float] = 1e-9

    @classmethod
    def of(
        cls,
        metrics: Metrics = None,
        *,
        k: Cutoffs = "default",
        threshold: float | None = None,
        convention: ConventionLike = None,
        background: Background | None = None,
    ) -> Plan:
        """Read the options of `recsys_ndcg.evaluate`.

        Raises
        ------
        UnknownMetricError, InvalidInputError
            A metric, a cutoff, the threshold or the convention cannot be read.
        """
        how = Convention.validate(convention)
        ks, threshold = cls.complete_options(k, threshold, how)
        if threshold is not None:
            if not is_number(threshold):
                msg = f"`threshold` must be a finite number, not {quote(threshold)}."
                raise InvalidInputError(msg)
            threshold = as_float(threshold)
        requested = read_metrics(_DEFAULT_METRICS if metrics is None else metrics, ks)
        if metrics is None and threshold is None:  # drop metrics that the preset does not fit
            requested = [
                metric
                for metric in requested
                if not (metric.needs_threshold and how.find_preset_mismatch(str(metric)))
            ]
        measurements = tuple(
            Measurement.under(how.resolve(str(metric)), metric, threshold, n)
            for metric, n in zip(requested, find_least_lengths(requested), strict=True)
        )
        return cls(measurements, is_default=metrics is None, background=background)

    @staticmethod
    def complete_options(
        k: Cutoffs, threshold: float | None, convention: ConventionLike
    ) -> tuple[list[int | None], float | None]:
        """Return the cutoffs and the threshold; a preset has its own for those that are not given.

        Examples
        --------
        >>> Plan.complete_options("default", None, "trec_eval")
        ([None], 1.0)
        >>> Plan.complete_options(5, 2.0, "trec_eval")
        ([5], 2.0)
        """
        preset = PRESETS.get(Convention.validate(convention).source[0])
        if isinstance(k, str) and k == "default":
            k = preset.k if preset else 10
        is_one = isinstance(k, str | bytes) or getattr(k, "ndim", 1) == 0
        ks: list[Any] = [k] if is_one or not isinstance(k, Iterable) else list(k)
        return ks, preset.threshold if preset and threshold is None else threshold

    @property
    def names(self) -> list[str]:
        """The names of the metrics, in the order of the request."""
        return [str(one) for one in self.measurements]

    @property
    def metrics(self) -> list[Metric]:
        """The metrics, in the same order."""
        return [one.metric for one in self.measurements]

    @property
    def threshold(self) -> float | None:
        """The least grade of a relevant item."""
        return self.measurements[0].threshold

    @property
    def duplicates(self) -> str:
        """How repeated (user, item) rows are merged when the data is read."""
        return self.measurements[0].convention.duplicates

    def depends_on_merging(self, *, has_unlabelled: bool) -> bool:
        """Return whether the plan needs the grades after repeated rows are merged.

        It needs the grades to find the threshold if none is given, and to find the highest grade if
        items are unlabelled. Merging by ``"max"`` does not change the highest grade.
        """
        if self.duplicates == "raise":
            return False
        return self.threshold is None or (has_unlabelled and self.duplicates != "max")

    @property
    def threshold_readers(self) -> list[str]:
        """The metrics and choices that need to know which items are relevant."""
        readers = chain.from_iterable(map(_find_threshold_readers, self.measurements))
        return list(dict.fromkeys(readers))

    def find_warnings(self, facts: Facts) -> Iterator[str]:
        """Yield warnings about the threshold, the gains and the features that are read."""
        if self.threshold is not None and self.threshold_readers:
            yield from facts.find_threshold_suspicions(self.threshold)
        steep = [
            str(one.metric)
            for one in self.measurements
            if one.metric.uses_gains
            and one.convention.gain == "exponential"
            and not one.convention.source[0]  # a library's own choice
        ]
        highest = facts.all_grades.highest
        if steep and highest >= _STEEP_GRADE:
            yield (
                "Exponential gain, 2^t - 1, doubles with each grade: with grades up to "
                f"{highest:g}, almost only the highest ones count in {', '.join(steep)}. For gains "
                "equal to the grades, as in scikit-learn and trec_eval, pass "
                "`convention=Convention(gain='linear')`."
            )
        read = {(one.metric.name, one.metric.column): one for one in self.measurements}
        for one in read.values():  # once for all cutoffs
            message = find_distance_warning(one.metric, facts.background, one.convention)
            if message:
                yield message

    def with_known(self, **given: Any) -> Plan:
        """Return the plan with what is known besides the lists.

        Parameters
        ----------
        **given
            As in `Background.of`; training rows that no measurement reads are ignored.
        """
        if not self._reads_training:
            given.pop("train", None)
        return replace(self, background=Background.of(**given))

    def with_trainset(self, trainset: Any, **known: Any) -> Plan:
        """Return the plan with a trainset of Surprise as training rows, its items as the catalogue.

        Parameters
        ----------
        trainset : surprise.Trainset
            The trainset; not read unless a metric needs it.
        **known
            What else is known, as for `Background.of`.
        """
        if not self._reads_training:
            weights = known.get("weights")
            return self if weights is None else self.with_known(weights=weights)
        items = [trainset.to_raw_iid(item) for item in range(trainset.n_items)]
        return replace(self, background=Background.of(train=trainset, catalogue=items, **known))

    def add_background(self, lists: GroupedLists) -> GroupedLists:
        """Return lists with what is known besides them, and all training users if they count."""
        counts_train = self._counts_training_users
        return add_background(lists, self.background, with_train_users=counts_train)

    @property
    def _counts_training_users(self) -> bool:
        return any(one.convention.mean_over == "train" for one in self.measurements)

    @property
    def _reads_training(self) -> bool:
        return self._counts_training_users or any(one.metric.needs for one in self.measurements)

    def map_measurements(self, change: Callable[[Measurement], Measurement]) -> Plan:
        """Return the plan with each measurement replaced by the result of a function."""
        return replace(self, measurements=tuple(map(change, self.measurements)))

    def with_choices(self, **choices: Any) -> Plan:
        """Return the plan with other choices in every convention."""
        return self.map_measurements(lambda one: one.with_choices(**choices))

    def with_tie_tolerance(self) -> Plan:
        """Return the plan with at least the tie tolerance that models' estimates need.

        Examples
        --------
        >>> Plan.of("ndcg@10").with_tie_tolerance().measurements[0].convention.tie_tolerance
        1e-09
        """

        def change(one: Measurement) -> Measurement:
            tolerance = one.convention.tie_tolerance
            is_too_small = not isinstance(tolerance, str) and tolerance < self.TIE_TOLERANCE
            return one.with_choices(tie_tolerance=self.TIE_TOLERANCE) if is_too_small else one

        return self.map_measurements(change)

    def with_metrics(self, metrics: Sequence[Metric]) -> Plan:
        """Return the plan with more metrics, under the choices of the first measurement."""
        first, lengths = self.measurements[0], find_least_lengths([*self.metrics, *metrics])
        pairs = zip(metrics, lengths[len(self.measurements) :], strict=True)
        added = (replace(first, metric=metric, short_below=n) for metric, n in pairs)
        return replace(self, measurements=(*self.measurements, *added))

    def facts_of(self, lists: GroupedLists, facts: Facts | None = None) -> Facts:
        """Return the facts of lists, with the first rank of a tie for measurements that need it.

        Parameters
        ----------
        lists : GroupedLists
            All lists, or a part whose facts are merged with the other parts' facts.
        facts : Facts, optional
            The facts, if known: then only `first_tie_ranks` is computed.
        """
        if facts is None:
            is_custom = any(not isinstance(one.convention.gain, str) for one in self.measurements)
            facts = Facts.of(lists, keep_distinct=is_custom, threshold=self.threshold)
        by_key = {one.sort_key: one for one in self.measurements if one.requires_no_ties(facts)}
        ties = {}
        for key, one in by_key.items():
            ready = prepare_lists(lists, one.convention, unlabelled_as=one.unlabelled_as)
            ties[key] = float(SortedLists(ready, one.convention).first_tie_rank.min(initial=np.inf))
        return replace(facts, first_tie_ranks=ties)

    def resolve(self, facts: Facts, lists: GroupedLists | None = None) -> Plan:
        """Return the plan with its threshold, after checking that everything can be computed.

        Lists whose repeated rows were merged need no rule of their own in the convention.

        Parameters
        ----------
        facts : Facts
            The facts of all the lists.
        lists : GroupedLists, optional
            The lists, for the first offending rows in the message.

        Raises
        ------
        InvalidInputError
            A measurement cannot be computed; the message says why and what to do.
        """
        plan = self.with_weights(facts).with_threshold(facts.all_grades)
        if facts.merged and plan.duplicates == "raise":
            plan = plan.with_choices(duplicates=facts.duplicates)
        of_labels = [str(one) for one in plan.measurements if one.metric.needs_labels]
        InvalidInputError.raise_if(find_mistake(facts, of_labels[0]) if of_labels else "")
        plan.check(facts, lists)
        return plan

    def measure(self, lists: GroupedLists) -> Scores:
        """Rank lists block by block, and fill a column for each measurement.

        Nothing is checked here: first resolve the plan with the facts of all the lists.

        Returns
        -------
        Scores
            The users are in the order of the lists. A score depends only on the user's own rows, to
            the last bit: not on other users, blocks or threads.

        Examples
        --------
        >>> from recsys_ndcg.lists import to_lists
        >>> import recsys_ndcg as rn
        >>> lists = to_lists({"ann": [(4.5, 1), (3.0, 5)], "bob": [(2.0, 4)]})
        >>> Plan.of("rr", threshold=4).measure(lists).per_user.ravel().tolist()
        [0.5, 1.0]
        """
        parts = map_blocks(lists, self.measurements, lambda block: block.score(self.measurements))
        return Scores.concat(parts)

    def measure_sampled(
        self, lists: GroupedLists, n_sampled: int, *, replacement: bool
    ) -> tuple[Scores, Scores]:
        """Return the expected scores of relevant items among sampled ones, and their chance.

        Parameters
        ----------
        lists : GroupedLists
            Lists of all items that can be sampled, labelled 0 or 1.
        n_sampled : int
            The number of items in each sample.
        replacement : bool
            Whether an item can be sampled more than once.
        """
        chance = [one.with_ties("expected", all_tied=True) for one in self.measurements]

        def measure(block: Block) -> list[Scores]:
            sampled = SampledBlock.of(block.lists, n_sampled, replacement=replacement)
            return [sampled.score(self.measurements), sampled.score(tuple(chance))]

        sampled, random = zip(*map_blocks(lists, self.measurements, measure), strict=True)
        return Scores.concat(sampled), Scores.concat(random)

    def resolve_and_measure(self, lists: GroupedLists) -> Scores:
        """Resolve the plan with the facts of lists, and measure them.

        Raises
        ------
        InvalidInputError
            A measurement cannot be computed, or a score is undefined under ``undefined="raise"``.
        """
        scores = self.resolve(self.facts_of(lists), lists).measure(lists)
        InvalidInputError.raise_if(scores.objection())
        return scores

    def check(self, facts: Facts, lists: GroupedLists | None = None) -> None:
        """Raise if a measurement cannot be computed on lists, or on a part of them.

        Raises
        ------
        InvalidInputError
            The message says why and what to do.
        """
        for one in self.measurements:
            InvalidInputError.raise_if(find_objection(one, facts, lists))

    def with_reasons_for_no_score(self, facts: Facts) -> Plan:
        """Return the plan; measurements that cannot be computed have a `no_score_reason`."""

        def add_reason(one: Measurement) -> Measurement:
            return one if one.no_score_reason else one.without_score(find_objection(one, facts))

        return self.with_weights(facts).map_measurements(add_reason)

    def with_weights(self, facts: Facts) -> Plan:
        """Return the plan with measurements that know whether labels have weights."""
        if facts.weights is None:
            return self
        return self.map_measurements(lambda one: replace(one, is_weighted=True))

    def with_threshold(self, grades: Grades) -> Plan:
        """Return the plan with threshold 1 if it needs a threshold and all grades are 0 or 1.

        For other grades, default metrics that need a threshold are left out.

        Raises
        ------
        InvalidInputError
            The plan needs a threshold and has none.
        """
        if self.threshold is not None:
            return self
        if self.is_default and not grades.is_binary:
            kept = tuple(one for one in self.measurements if not one.metric.needs_threshold)
            return replace(self, measurements=kept, is_default=False).with_threshold(grades)
        readers = self.threshold_readers
        if not readers:
            return self
        if not grades.is_binary:
            number = f"{grades.suggest_threshold():g}"
            verb = "needs" if len(readers) == 1 else "need"
            msg = (
                f"{', '.join(readers)} {verb} to know which items are relevant: pass "
                f"`threshold={number}`, for instance, for items with a true value of at least "
                f"{number} (the values are {grades.lowest:g} to {grades.highest:g})."
            )
            raise InvalidInputError(msg)
        return self.map_measurements(lambda one: replace(one, threshold=1.0))


def _find_threshold_readers(one: Measurement) -> list[str]:
    """Return the metric and the choices of a measurement that need a threshold."""
    gain = one.convention.gain
    readers = {
        str(one.metric): one.metric.needs_threshold,
        f"`gain={gain!r}`": one.metric.uses_gains and one.convention.gain_needs_threshold,
        "`mean_over='relevant'`": one.convention.mean_over == "relevant",
    }
    return [name for name, needs_threshold in readers.items() if needs_threshold]


def read_metrics(
    metrics: Iterable[str | Metric] | str | Metric, ks: Sequence[int | None]
) -> list[Metric]:
    """Return the requested metrics, each once, in the order of the request."""
    groups: list[list[Metric]] = []
    for metric in split_names(metrics):
        if not isinstance(metric, str | Metric):
            msg = f"A metric is a name such as 'ndcg@10' or a metric object, not {quote(metric)}."
            raise InvalidInputError(msg)
        if isinstance(metric, Metric):
            check_name(type(metric))
        groups.append([metric] if isinstance(metric, Metric) else parse_metrics(metric, ks))
    distinct = dict.fromkeys(chain(*groups))
    names = [str(metric) for metric in distinct]
    duplicates = [name for name in names if names.count(name) > 1]
    if duplicates:
        msg = f"Two different metrics are called {duplicates[0]!r}: give one of them another name."
        raise InvalidInputError(msg)
    if not groups or not all(groups):
        missing = "k" if groups else "metric"
        msg = f"No {missing} is given. Name at least one metric and one k, such as 'ndcg@10'."
        raise InvalidInputError(msg)
    return list(distinct)


def find_metric_name(
    metric: str | Metric | None,
    names: Sequence[str],
    owner: str,
    of_users: Sequence[str] | None = None,
) -> str:
    """Return the name that a metric has in a report, also if it is spelled differently.

    A name without cutoff, ``"ndcg"``, is the only metric of that name at any cutoff.

    Parameters
    ----------
    metric : str or Metric, optional
        The metric; by default the only one.
    names : sequence of str
        The names of all metrics.
    owner : str
        What has them, in messages.
    of_users : sequence of str, optional
        The metrics with a score per user, if it must be one.

    Raises
    ------
    InvalidInputError
        The report does not have the metric, or it has no score per user; or several metrics are
        meant.

    Examples
    --------
    >>> find_metric_name("NDCG@10", ["rr", "ndcg@10"], "This report")
    'ndcg@10'
    >>> find_metric_name("ndcg", ["rr", "ndcg@10:catalogue"], "This comparison")
    'ndcg@10:catalogue'
    """
    found = list(of_users or names) if metric is None else _find_spelled(metric, names)
    if len(found) > 1:
        which = "metrics" if metric is None else f"metrics that {metric} could be"
        msg = f"{owner} has {len(found)} {which}: {', '.join(found)}. Name one of them."
        raise InvalidInputError(msg)
    if not found:
        shown_name = str(metric) if isinstance(metric, Metric) else repr(metric)
        msg = f"{owner} has no metric {shown_name}; it has {', '.join(names)}."
        raise InvalidInputError(msg)
    (name,) = found
    if of_users is not None and name not in of_users:
        msg = (
            f"{name} is a number of all lists together, without a score per user. Name a metric "
            f"of users{': ' if of_users else ''}{', '.join(of_users)}."
        )
        raise InvalidInputError(msg)
    return name


def _find_spelled(metric: str | Metric, names: Sequence[str]) -> list[str]:
    """Return the names that a metric can have: one, or if its cutoff is left out, each that fits.

    In ``ndcg@10:catalogue`` a protocol follows the cutoff.
    """
    text = str(metric)
    forms = {text}
    with suppress(RecsysNdcgError):
        (parsed,) = parse_metrics(text)
        forms.add(str(parsed))
        forms |= {parsed.name} if text.isalnum() else set()
    if exact := [one for one in names if one in forms]:
        return exact[:1]
    without_cutoff = {one: _CUTOFF.sub("", one) for one in names}
    return [
        one
        for one, rest in without_cutoff.items()
        if not forms.isdisjoint({rest, rest.partition(":")[0], rest.partition("(")[0]})
    ]
