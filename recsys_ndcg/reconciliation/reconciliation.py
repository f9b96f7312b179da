"""One metric under every preset, and which choices make the difference."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.convention import CHOICES, PRESETS, WORDS, Convention, written
from recsys_ndcg.errors import InvalidInputError, is_number, shown
from recsys_ndcg.lists import RankedLists
from recsys_ndcg.rendering import signed
from recsys_ndcg.scoring import Cutoffs, Metrics, Plan, Signature, facts_for, measure

if TYPE_CHECKING:
    from recsys_ndcg.lists import Facts, GroupedLists
    from recsys_ndcg.scoring import Measurement, Scores

_CELLS = 1 << 22  # scores that are held at once
_SAME = 1e-12
_SHOWN = 5e-5  # what four decimals show
_CLOSER = 5e-4  # a second change must bring a reported number at least this much nearer
_NEAREST = 5  # changes of one's own choices that are told
_TRIED = {
    name: [value for value in values if value != "raise"]
    for name, values in {
        **CHOICES,
        "tie_tolerance": (0.0, WORDS["tie_tolerance"]),
        "recommend_from": (None, WORDS["recommend_from"]),
    }.items()
    if name != "duplicates"  # settled when the data was read
}


def reconcile(  # noqa: PLR0913 - those of evaluate
    data: Any,
    metrics: Metrics = None,
    *,
    k: Cutoffs = 10,
    threshold: float | None = None,
    convention: Convention | str | None = None,
    columns: Mapping[str, str] | None = None,
    reported: float | None = None,
) -> pd.DataFrame:
    """Return each metric as every preset computes it, and which choices make the difference.

    Parameters
    ----------
    data, metrics, k, threshold, convention, columns
        As in `evaluate`; the convention is yours, which the presets are held against.
    reported : float, optional
        A number that somebody published, of the one metric asked for: rows come in the order of
        how close they are to it, and the changes of one or two of your choices that come closest
        stand among them.

    Returns
    -------
    pandas.DataFrame
        A row per metric and preset: metric, preset, value (the mean over users), yours,
        difference (value - yours), causes, changes, note and signature. ``causes`` maps choices
        to how much each moved the number when your choices became theirs one after the other,
        in the order of the signature: the amounts add up to the difference. ``changes`` says the
        same in words, with shares. ``note`` says that the library has no such metric or means
        something else by the name, or why there is no value. With `reported` also gap
        (value - reported), and rows without a preset.

    Raises
    ------
    InvalidInputError
        The data or an option cannot be used, or `reported` comes with several metrics.

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
    plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention)
    return reconciled(data, plan, columns, reported)


def reconciled(
    data: Any,
    plan: Plan,
    columns: Mapping[str, str] | None = None,
    reported: float | None = None,
) -> pd.DataFrame:
    """Return the same for metrics under choices that a plan holds."""
    lists = RankedLists.of(data, columns=columns, duplicates=plan.duplicates)
    facts = facts_for(lists, plan.measurements)
    plan.settled(facts, lists)  # what is wrong with one's own choices is an error, not a note
    numbers = Numbers(lists, facts, {str(one): one for one in plan.measurements})
    names = plan.names
    if reported is not None and (not is_number(reported) or len(names) != 1):
        msg = (
            "reported must be a number that somebody gave for the one metric asked for; got "
            f"{shown(reported)} for {', '.join(names)}."
        )
        raise InvalidInputError(msg)
    numbers.ask(
        (metric, changed)
        for metric in names
        for preset in PRESETS
        for changed in _one_after_the_other(_changes(numbers.mine(metric), preset, metric))
    )
    for metric in names:
        numbers.own(metric)  # an error, too; undefined="raise" is known once all is measured
    rows = [_row(numbers, metric, preset) for metric in names for preset in PRESETS]
    if reported is None:
        return pd.DataFrame(rows)
    table = pd.DataFrame(rows + _nearest_changes(numbers, names[0], reported))
    table["gap"] = table["value"] - reported
    return table.sort_values("gap", key=abs, kind="stable", ignore_index=True)


def _changes(mine: Convention, preset: str, metric: str) -> dict[str, Any]:
    """Return what of one's choices must change to become a preset's."""
    theirs = Convention.preset(preset, metric)
    # what was merged is merged, and the top of the scale is a fact of the data
    kept = {"duplicates", "max_grade"}
    return {
        one.name: getattr(theirs, one.name)
        for one in fields(Convention)
        if one.name not in kept and getattr(theirs, one.name) != getattr(mine, one.name)
    }


def _one_after_the_other(changes: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give no change, the first one, the first two, and so on."""
    changed: dict[str, Any] = {}
    yield changed
    for name, value in changes.items():
        changed = {**changed, name: value}
        yield changed


def _row(numbers: Numbers, metric: str, preset: str) -> dict[str, Any]:
    """Return what a preset makes of a metric."""
    changes = _changes(numbers.mine(metric), preset, metric)
    row = _compared(numbers, metric, preset, changes)
    note = row["note"] or PRESETS[preset].note(metric)
    if not note and not PRESETS[preset].has(metric):
        note = "it has no such metric; its other choices make this of it"
    return row | {"note": note}


def _compared(
    numbers: Numbers, metric: str, preset: str | None, changes: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the value after some changes, and what each of them does."""
    yours, number = numbers.after({}, metric), numbers.after(changes, metric)
    difference = number.value - yours.value
    causes = {} if np.isnan(difference) else _causes(numbers, metric, changes)
    told = [
        f"{' '.join(f'{name}={written(changes[name])}' for name in names)} {signed(moved)}"
        + (f" ({round(moved / difference, 2) + 0.0:.0%})" if abs(difference) >= _SHOWN else "")
        for names, moved in sorted(causes.items(), key=lambda one: -abs(one[1]))
        if abs(moved) >= _SHOWN
    ]
    return {
        "metric": metric,
        "preset": preset,
        "value": number.value,
        "yours": yours.value,
        "difference": difference,
        "causes": {"+".join(names): moved for names, moved in causes.items()},
        "changes": ", ".join(told),
        "note": number.reason,
        "signature": number.signature,
    }


def _causes(
    numbers: Numbers, metric: str, changes: Mapping[str, Any]
) -> dict[tuple[str, ...], float]:
    """Return how much each choice moves the number, changed one after the other.

    One that leaves no number, such as the ideal of a top grade without that grade, waits until
    others are changed; what leaves none to the end counts together.
    """
    causes: dict[tuple[str, ...], float] = {}
    changed: dict[str, Any] = {}
    before = numbers.after({}, metric).value
    while len(changed) < len(changes):
        waiting = [name for name in changes if name not in changed]
        possible = (
            (name,)
            for name in waiting
            if not np.isnan(numbers.after({**changed, name: changes[name]}, metric).value)
        )
        names = next(possible, tuple(waiting))
        changed.update({name: changes[name] for name in names})
        after = numbers.after(changed, metric).value
        if abs(after - before) > _SAME:
            causes[names] = after - before
        before = after
    return causes


def _nearest_changes(numbers: Numbers, metric: str, reported: float) -> list[dict[str, Any]]:
    """Return the changes of one or two choices that come closest to a number."""
    mine, own = numbers.mine(metric), numbers.own(metric)
    single = [
        {name: value}
        for name, values in _TRIED.items()
        for value in values
        if value != getattr(mine, name)
    ]
    numbers.ask((metric, one) for one in single)
    moving = [one for one in single if numbers.after(one, metric).value != own]
    numbers.ask((metric, one | other) for one in moving for other in single)

    def gap(changes: Mapping[str, Any]) -> float:
        value = numbers.after(changes, metric).value
        return np.inf if np.isnan(value) else abs(value - reported)

    pairs = {
        frozenset((one | other).items()): one | other
        for one in moving
        for other in single
        if gap(one | other) < min(gap(one), gap(other), gap({})) - _CLOSER
    }
    found = sorted([{}, *moving, *pairs.values()], key=gap)
    return [_compared(numbers, metric, None, one) for one in found[:_NEAREST]]


@dataclass(frozen=True)
class Number:
    """A mean, NaN if there is none, and how it was computed or why it could not be."""

    value: float
    signature: str = ""
    reason: str = ""
    refused: bool = False


@dataclass
class Numbers:
    """The means of the same lists under any choices, each measured once, and many at a time.

    Parameters
    ----------
    lists : GroupedLists
        What is measured.
    facts : Facts
        What is known of them.
    asked : dict of Measurement
        One's own, by the name of the metric.
    """

    lists: GroupedLists
    facts: Facts
    asked: dict[str, Measurement]
    known: dict[tuple[str, Convention], Number] = field(default_factory=dict)

    def mine(self, metric: str) -> Convention:
        """Return one's own choices."""
        return self.asked[metric].convention

    def own(self, metric: str) -> float:
        """Return one's own number.

        Raises
        ------
        InvalidInputError
            It cannot be computed.
        """
        number = self.after({}, metric)
        if number.refused:
            raise InvalidInputError(number.reason)
        return number.value

    def after(self, changes: Mapping[str, Any], metric: str) -> Number:
        """Return the mean after some changes of one's choices."""
        try:
            convention = self.asked[metric].under(**changes).convention
        except InvalidInputError as error:
            return Number(np.nan, reason=str(error))
        if (metric, convention) not in self.known:
            self.ask([(metric, changes)])
        return self.known[metric, convention]

    def ask(self, wanted: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Measure what is not known yet, in as many passes as there are different sorts."""
        found: dict[tuple[str, Convention], Measurement] = {}
        for metric, changes in wanted:
            with suppress(InvalidInputError):  # said again by `after`
                one = self.asked[metric].under(**changes)
                if (metric, one.convention) not in self.known:
                    found[metric, one.convention] = one
        facts = facts_for(self.lists, [*found.values()], self.facts)
        by_order: dict[Hashable, list[tuple[tuple[str, Convention], Measurement]]] = {}
        for key, one in found.items():
            try:
                (settled,) = Plan((one,)).settled(facts, self.lists).measurements
            except InvalidInputError as error:
                self.known[key] = Number(np.nan, reason=str(error), refused=True)
            else:
                by_order.setdefault(settled.order, []).append((key, settled))
        most = max(_CELLS // max(len(self.lists), 1), 1)
        for together in by_order.values():
            for first in range(0, len(together), most):
                keys, measurements = zip(*together[first : first + most], strict=True)
                scores = measure(self.lists, measurements)
                self.known |= zip(keys, map(self._number, _single(scores)), strict=True)

    def _number(self, scores: Scores) -> Number:
        if why := scores.objection():
            return Number(np.nan, reason=why, refused=True)
        mean = float(scores.mean()[0])
        signature = Signature.of(scores.measurements[0], self.facts, scores.n_scored[0])
        return Number(mean, signature, "nobody has a score" if np.isnan(mean) else "")


def _single(scores: Scores) -> list[Scores]:
    """Return the scores under each measurement by itself."""
    return [scores.select(slice(n, n + 1)) for n in range(len(scores.measurements))]
