"""The means of the same lists under any choices, many measured at a time."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.scoring import Plan, measure
from recsys_ndcg.scoring.measuring import with_ties
from recsys_ndcg.scoring.signatures import signatures
from recsys_ndcg.scoring.totals import Means

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.lists.facts import Facts
    from recsys_ndcg.lists.grouped_lists import GroupedLists
    from recsys_ndcg.scoring import Measurement, Scores

_CELLS = 1 << 22  # scores that are held at once


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
        facts = with_ties(self.facts, self.lists, [*found.values()])
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
        mean = float(Means.of(scores.per_user).mean[0])
        (signed,) = signatures(scores.measurements, scores.n_scored, self.facts).values()
        return Number(mean, signed, "nobody has a score" if np.isnan(mean) else "")


def _single(scores: Scores) -> list[Scores]:
    """Return the scores under each measurement by itself."""
    return [scores.select(slice(n, n + 1)) for n in range(len(scores.measurements))]
