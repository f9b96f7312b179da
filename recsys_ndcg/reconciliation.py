"""Metrics under every preset, and the choices that explain the differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from operator import or_
from typing import Any, Unpack

import numpy as np
import pandas as pd

from recsys_ndcg.arrays import take_along
from recsys_ndcg.background import Background, BackgroundOptions
from recsys_ndcg.calls import take_options
from recsys_ndcg.convention import PRESETS, Convention, ConventionLike, format_choice
from recsys_ndcg.errors import InvalidInputError, is_number, quote
from recsys_ndcg.evaluation import pair_tables, read_lists
from recsys_ndcg.lists import Facts, GroupedLists
from recsys_ndcg.ratings import split_catalogue
from recsys_ndcg.rendering import (
    Code,
    Document,
    ReadableTable,
    Section,
    ShownTable,
    format_number,
    format_signed,
    pluralise,
    show_columns,
)
from recsys_ndcg.scoring import Cutoffs, Measurement, Metrics, Plan, Scores, Totals

_CELLS = 1 << 22  # scores that are held at once
_SAME = 1e-12
_SHOWN = 5e-5  # what four decimals show
_CLOSER = 5e-4  # a second change must reduce the gap to a reported number by at least this
_NEAREST = 5  # changes of your choices that are shown
_CHOICES = {
    **Convention.CHOICES,
    "tie_tolerance": (0.0, "float32"),
    "recommend_from": (None, "threshold"),
}
_YOURS, _CHANGED = "(yours)", "(yours, changed)"
_MOST = 10  # rows that are shown for a reported number
_NO_SUCH_METRIC = "it has no such metric; the value is ours, with the choices of its other metrics"
_LEAD = "The metric as each library computes it, and the choices that explain the differences."


@take_options(BackgroundOptions)
def reconcile(  # noqa: PLR0913 - the parameters of evaluate
    data: Any = None,
    metrics: Metrics = None,
    *,
    labels: Any = None,
    results: Any = None,
    list_separator: str | None = None,
    k: Cutoffs = "default",
    threshold: float | None = None,
    convention: ConventionLike = None,
    columns: Mapping[str, str] | None = None,
    reported: float | None = None,
    **background: Unpack[BackgroundOptions],
) -> pd.DataFrame:
    """Return each metric as every preset computes it, and the choices that explain the differences.

    Parameters
    ----------
    data, labels, results, list_separator, metrics, k, threshold, convention, columns
        As in `evaluate`; the presets are compared with your convention. If you give no cutoff, a
        preset has its own, and a change of it is called ``k``.
    reported : float, optional
        A published value of the metric. Rows are sorted by their distance to it. Further rows
        change one or two of your choices to come closest.
    **background
        As in `BackgroundOptions`.

    Returns
    -------
    pandas.DataFrame
        A row per metric and preset: metric, preset, value (the mean over users), yours,
        difference (value - yours), causes, changes, note and signature. ``causes`` maps each
        choice to its effect if your choices are replaced by theirs one by one, in the order of
        the signature: the effects add up to the difference. ``changes`` is the same in words,
        with shares. ``note`` explains why there is no value, or that the library has no such
        metric or means another by the name. With `reported` there are also the column gap
        (value - reported) and the rows of your changed choices, which have no preset.
        Print and notebooks show it as the command line does: presets with the same number share a
        row.

    Raises
    ------
    InvalidInputError
        The data or an option is invalid, or `reported` is given for several metrics.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> rows = [("ann", "a", 4.5, 5), ("ann", "b", 3.0, 2), ("bob", "a", 2.0, 4)]
    >>> table = rn.reconcile(rows, "precision@10", threshold=4).set_index("preset")
    >>> table.loc[["ranx", "lenskit"], ["value", "difference", "changes"]].round(3)
             value  difference                          changes
    preset
    ranx      0.10        0.00
    lenskit   0.75        0.65  short_list=n +0.6500 (100%)
    """
    data = pair_tables(data, labels, results, list_separator)
    catalogue, n_items = split_catalogue(background.get("catalogue"))
    known = Background.of(**{**background, "catalogue": catalogue})
    if isinstance(metrics, Iterator):  # read twice below
        metrics = [*metrics]
    plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention, background=known)
    lists = plan.add_background(read_lists(data, plan, columns, n_items=n_items))
    is_open = isinstance(k, str) and k == "default"
    return reconcile_lists(lists, plan, reported, metrics if is_open else plan.metrics)


def reconcile_lists(
    lists: GroupedLists, plan: Plan, reported: float | None, requested: Metrics
) -> ReadableTable:
    """Reconcile the metrics of a plan.

    Parameters
    ----------
    lists, plan, reported
        As in `reconcile`.
    requested : metrics
        The metrics as the caller wrote them: a preset has its own cutoff for names without one.
    """
    facts = plan.facts_of(lists)
    plan.resolve(facts, lists)  # faults of your own choices are errors, not notes
    if reported is not None and not is_number(reported):
        msg = f"`reported` must be a number, not {quote(reported)}."
        raise InvalidInputError(msg)
    if reported is not None and len(plan.names) != 1:
        msg = f"`reported` must be for a single metric, not {', '.join(plan.names)}."
        raise InvalidInputError(msg)
    # names that are the same under k=1, a cutoff that no preset has, were written with a cutoff
    open_names = {*plan.names} - {*Plan.of(requested, k=1).names}
    numbers = Numbers(lists, facts, open_names)
    cases = [
        (one, preset, _list_changes(numbers, one, preset))
        for one in plan.measurements
        for preset in _list_presets(one)
    ]
    if not cases and reported is None:
        msg = f"No library has {', '.join(plan.names)}, so there is nothing to reconcile it with."
        raise InvalidInputError(msg)
    steps = ((one, step) for one, _, changes in cases for step in _accumulate_changes(changes))
    numbers.measure(steps)
    for mine in plan.measurements:  # undefined="raise" is known once all is measured
        own = numbers.get_mean(mine, {})
        if not own.signature:
            raise InvalidInputError(own.reason)
    rows = [_build_row(numbers, *case) for case in cases]
    if reported is not None:
        first = plan.measurements[0]
        nearest = _find_nearest(numbers, first, reported)
        rows += [_build_row(numbers, first, None, changes) for changes in nearest]
    table = pd.DataFrame(rows)
    if reported is not None:
        table["gap"] = table["value"] - reported
        table = table.sort_values("gap", key=abs, kind="stable", ignore_index=True)
    return ReadableTable.of(table, partial(build_document, table, reported, plan.measurements))


def _list_presets(mine: Measurement) -> list[str]:
    """Return the presets of a metric: of a measure beyond accuracy, only libraries that have it."""
    is_beyond, presets = bool(mine.metric.needs), PRESETS.items()
    return [name for name, one in presets if (one.has(str(mine)) if is_beyond else one.metrics)]


def _list_changes(numbers: Numbers, mine: Measurement, preset: str) -> dict[str, Any]:
    """Return the changes of your choices that make a preset's, k first."""
    theirs = Convention.preset(preset, str(mine))
    own = {**type(mine.metric)().choices, **theirs.find_own_choices(str(mine))}
    # duplicates are already merged, and the top of the scale is a fact of the data
    kept, k = {"duplicates", "max_grade"}, PRESETS[preset].k
    cutoff = {"k": k} if str(mine) in numbers.open_names and k != mine.metric.k else {}
    return cutoff | {
        name: value
        for name, value in {**theirs.choices, **own}.items()
        if name not in kept and name in mine.choices and value != mine.choices[name]
    }


def _accumulate_changes(changes: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield no change, the first one, the first two, and so on."""
    return accumulate(({name: value} for name, value in changes.items()), or_, initial={})


def _build_row(
    numbers: Numbers, mine: Measurement, preset: str | None, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the value after some changes, and the effect of each change."""
    yours, found = numbers.get_mean(mine, {}), numbers.get_mean(mine, changes)
    difference = found.value - yours.value
    causes = {} if np.isnan(difference) else _find_causes(numbers, mine, changes)
    effects = [
        " ".join(f"{name}={format_choice(changes[name])}" for name in names)
        + f" {format_signed(moved)}"
        + (f" ({round(moved / difference, 2) + 0.0:.0%})" if abs(difference) >= _SHOWN else "")
        for names, moved in sorted(causes.items(), key=lambda one: -abs(one[1]))
        if abs(moved) >= _SHOWN
    ]
    note = found.reason
    if preset is not None and not note:
        note = PRESETS[preset].format_note(str(mine))
        if not note and not PRESETS[preset].has(str(mine)):
            note = _NO_SUCH_METRIC
    return {
        "metric": str(mine),
        "preset": preset,
        "value": found.value,
        "yours": yours.value,
        "difference": difference,
        "causes": {"+".join(names): moved for names, moved in causes.items()},
        "changes": ", ".join(effects),
        "note": note,
        "signature": found.signature,
    }


def _find_causes(
    numbers: Numbers, mine: Measurement, changes: Mapping[str, Any]
) -> dict[tuple[str, ...], float]:
    """Return how much each choice moves the number, changed one after the other.

    A choice without a value, such as the ideal of a top grade without that grade, waits until
    others are changed; choices that never have a value by themselves count together.
    """
    causes: dict[tuple[str, ...], float] = {}
    changed: dict[str, Any] = {}
    before = numbers.get_mean(mine, {}).value
    while len(changed) < len(changes):
        waiting = [name for name in changes if name not in changed]
        possible = (
            (name,)
            for name in waiting
            if not np.isnan(numbers.get_mean(mine, {**changed, name: changes[name]}).value)
        )
        names = next(possible, tuple(waiting))
        changed.update({name: changes[name] for name in names})
        after = numbers.get_mean(mine, changed).value
        if abs(after - before) > _SAME:
            causes[names] = after - before
        before = after
    return causes


def _change(mine: Measurement, changes: Mapping[str, Any]) -> Measurement:
    """Return a measurement with other choices, of which k is the metric's."""
    choices = dict(changes)
    if "k" in choices:
        k = choices.pop("k")
        mine = replace(mine, metric=replace(mine.metric, k=k), short_below=k or 0)
    return mine.with_choices(**choices)


def _find_nearest(numbers: Numbers, mine: Measurement, reported: float) -> list[dict[str, Any]]:
    """Return the changes of one or two choices that come closest to a number."""
    own = numbers.get_mean(mine, {}).value
    single: list[dict[str, Any]] = [
        {name: value}
        for name, values in {**_CHOICES, **mine.metric.find_choices()}.items()
        if name != "duplicates"  # they were merged when the data was read
        and name in mine.choices
        for value in values
        if value not in ("raise", mine.choices[name])
    ]
    if str(mine) in numbers.open_names:
        single += [{"k": k} for k in (10, None) if k != mine.metric.k]
    numbers.measure((mine, one) for one in single)
    moving = [one for one in single if numbers.get_mean(mine, one).value != own]
    numbers.measure((mine, one | other) for one in moving for other in single)

    def gap(changes: Mapping[str, Any]) -> float:
        value = numbers.get_mean(mine, changes).value
        return np.inf if np.isnan(value) else abs(value - reported)

    pairs = {
        frozenset((one | other).items()): one | other
        for one in moving
        for other in single
        if gap(one | other) < min(gap(one), gap(other), gap({})) - _CLOSER
    }
    return sorted([{}, *moving, *pairs.values()], key=gap)[:_NEAREST]


@dataclass(frozen=True)
class Number:
    """A mean and its signature, or NaN and the reason why there is no mean."""

    value: float
    signature: str = ""
    reason: str = ""


@dataclass
class Numbers:
    """The means of the same lists under any choices, each measured once and many at a time.

    Parameters
    ----------
    lists : GroupedLists
        The lists to measure.
    facts : Facts
        Their summary.
    open_names : set of str
        The metrics whose cutoff is a choice, too.
    """

    lists: GroupedLists
    facts: Facts
    open_names: set[str]
    known: dict[Measurement, Number] = field(default_factory=dict)

    def get_mean(self, mine: Measurement, changes: Mapping[str, Any]) -> Number:
        """Return the mean after some changes of your choices."""
        try:
            one = _change(mine, changes)
        except InvalidInputError as error:
            return Number(np.nan, reason=str(error))
        if one not in self.known:
            self.measure([(mine, changes)])
        return self.known[one]

    def measure(self, wanted: Iterable[tuple[Measurement, Mapping[str, Any]]]) -> None:
        """Measure what has no mean yet, in as few passes as memory allows."""
        new: dict[Measurement, Measurement] = {}
        for mine, changes in wanted:
            with suppress(InvalidInputError):  # `get_mean` returns its reason
                one = _change(mine, changes)
                if one not in self.known:
                    new[one] = one
        facts = Plan(tuple(new)).facts_of(self.lists, self.facts)
        for one in [*new]:
            try:
                (new[one],) = Plan((one,)).resolve(facts, self.lists).measurements
            except InvalidInputError as error:
                self.known[one] = Number(np.nan, reason=str(error))
                del new[one]
        # measurements that share a sort are adjacent
        pairs = sorted(new.items(), key=lambda pair: repr(pair[1].sort_key))
        most = max(_CELLS // max(len(self.lists), 1), 1)
        for first in range(0, len(pairs), most):
            keys, settled = zip(*pairs[first : first + most], strict=True)
            scores = Plan(settled).measure(self.lists)
            for place, one in enumerate(keys):
                own = take_along(scores, "metrics", slice(place, place + 1))
                self.known[one] = self._make_number(own)

    def _make_number(self, scores: Scores) -> Number:
        if why := scores.objection():
            return Number(np.nan, reason=str(InvalidInputError(why)))
        mean = float(Totals.of(scores).mean[0] if scores.exposures else scores.mean()[0])
        (signature,) = scores.make_signatures(self.facts).values()
        return Number(mean, signature, "no user has a score" if np.isnan(mean) else "")


def build_document(
    table: pd.DataFrame, reported: float | None, measurements: Iterable[Measurement]
) -> Document:
    """Return the document of a reconciliation, a section per metric.

    Parameters
    ----------
    table : pandas.DataFrame
        As `reconcile` returns it.
    reported : float, optional
        The published value.
    measurements : iterable of Measurement
        What the presets are compared with.
    """
    goal = "" if reported is None else f", reported {reported}"
    sections = []
    for name, rows in table.groupby("metric", sort=False):
        title = f"{name}: yours {format_number(rows['yours'].iloc[0])}{goal}"
        cells = _group_presets(rows)
        *numeric, _, _ = map(str, cells)  # the last two are the libraries, and the choices
        shown = ShownTable(str(name), cells, note=title, numeric=numeric)
        sections.append(Section(str(name), title, _LEAD, [shown, _list_notes(rows)]))
    yours = dict(map(_describe, measurements))
    how = Code("The convention", [*yours], [*yours.values()])
    return Document(
        facts=f"{pluralise(len(sections), 'metric')} under {len(PRESETS)} presets",
        sections=[*sections, Section("how", "How this was computed", _LEAD, [how])],
    )


def build_one_table(table: pd.DataFrame) -> Document:
    """Return the document of a reconciliation as one table, for formats that programs read."""
    tables = {name: _group_presets(rows) for name, rows in table.groupby("metric", sort=False)}
    cells = pd.concat(tables, names=["metric"]).reset_index("metric")
    one = ShownTable("The metrics under every preset", cells)
    return Document(facts="", sections=[Section("presets", "Presets", _LEAD, [one])])


def _describe(mine: Measurement) -> tuple[str, str]:
    """Return your choices in the form of a signature, and without those that are defaults."""
    default, texts = Convention.format_defaults(), mine.convention.texts
    choices = [f"{name}:{text}" for name, text in texts.items() if text != default[name]]
    metric = [str(mine.metric)] if mine.asked_for else []  # with a library's choices for it
    short = "|".join([*metric, *choices, f"defaults:{Convention.digest_defaults()}"])
    return f"yours: {'|'.join([*metric, mine.convention.signature])}", f"yours: {short}"


def _group_presets(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one metric as text; presets with the same number share a row.

    The highest value comes first, or the closest to the reported number. Libraries without the
    metric are in brackets.
    """
    computed_by = []
    for preset, metric, causes in zip(rows["preset"], rows["metric"], rows["causes"], strict=True):
        if not isinstance(preset, str):
            computed_by.append(_CHANGED if causes else _YOURS)
        else:
            computed_by.append(preset if PRESETS[preset].has(metric) else f"[{preset}]")
    rows = rows.assign(preset=computed_by)
    if "gap" not in rows:
        yours = rows["yours"].iloc[0]
        own = {"preset": _YOURS, "value": yours, "difference": yours - yours, "changes": ""}
        rows = pd.concat([rows, pd.DataFrame([own])], ignore_index=True)
        rows = rows.sort_values("value", ascending=False, kind="stable")
    rows = rows.rename(columns={"difference": "minus_yours"})
    cells = show_columns(rows, ["value", "minus_yours", "gap", "preset", "changes"])
    *numbers, library, changes = map(str, cells)
    keys = [*numbers, changes]
    found = cells.groupby(keys, sort=False)[library].agg(", ".join).reset_index()
    return found[[*cells]].head(_MOST if "gap" in rows else len(found))


def _list_notes(rows: pd.DataFrame) -> list[str]:
    """Return the notes on presets, one per reason."""
    metric, of_presets = rows["metric"].iloc[0], rows.dropna(subset="preset")
    explained = of_presets[~of_presets["note"].isin(["", _NO_SUCH_METRIC])]
    reasons = explained.groupby("note", sort=False)["preset"]
    lines = [f"{', '.join(names)}: {reason}" for reason, names in reasons]
    if not all(PRESETS[preset].has(metric) for preset in of_presets["preset"]):
        lines.append(
            f"in brackets: libraries without {metric}; the value is ours, with the choices of "
            "their other metrics"
        )
    return lines
