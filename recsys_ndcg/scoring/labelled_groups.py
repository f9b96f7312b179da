"""LabelledGroups: labels that are scored again and again, with other estimates each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input import Rows, to_floats
from recsys_ndcg.lists import GroupedLists, group_rows
from recsys_ndcg.parallel import map_in_threads
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.scoring.measuring import Block, look_up_estimates, map_blocks
from recsys_ndcg.scoring.plan import Plan
from recsys_ndcg.scoring.scores import Scores


@dataclass(frozen=True, eq=False)
class LabelledGroups:
    """Users with their labelled items, to score with other estimates after each training step.

    What depends on the labels alone, such as the ideal lists, is computed once.

    Parameters
    ----------
    plan : Plan
        The plan, resolved.
    lists : GroupedLists
        The lists, whose estimates are the positions of the rows in the input.
    blocks : list of Block
        The same lists by blocks of users.
    reads_only_order : bool
        Whether the scores depend on nothing but the order of the estimates, and always exist.

    Examples
    --------
    >>> groups = LabelledGroups.of(Plan.of("ndcg@10"), ["ann", "bob", "ann"], [2, 1, 5])
    >>> for estimated in ([4.5, 3.0, 2.0], [1.0, 3.0, 2.0]):
    ...     groups.score(estimated).per_user.ravel().round(3).tolist()
    [0.686, 1.0]
    [1.0, 1.0]
    """

    plan: Plan
    lists: GroupedLists
    blocks: list[Block]
    reads_only_order: bool

    @classmethod
    def of(cls, plan: Plan, users: Any, true: Any, *, part: bool = False) -> LabelledGroups:
        """Group labels by user, and check that the plan can be computed.

        Parameters
        ----------
        plan : Plan
            What to measure.
        users, true : columns, shape (n_rows,)
            The user and the grade of each row; NaN means unlabelled.
        part : bool
            Whether there are further users, so that all grades may be the same.

        Raises
        ------
        InvalidInputError
            The columns cannot be read, or a measurement cannot be computed.
        """
        true = to_floats(true, "true")
        rows = Rows.from_arrays(users, None, np.arange(len(true)), true)
        lists = group_rows(rows, plan.duplicates)
        lists = lists.with_columns(place=lists.estimated.astype(np.int64))
        facts = plan.facts_of(lists)  # different estimates, so no ties yet
        if part:
            plan = plan.with_weights(facts).with_threshold(facts.all_grades)
            plan.check(facts, lists)
        else:
            plan = plan.resolve(facts, lists)
        by_order = all(
            _reads_only_order(one) and not one.requires_no_ties(facts) for one in plan.measurements
        )
        blocks = map_blocks(lists, plan.measurements, lambda block: block)
        return cls(plan, lists, blocks, by_order)

    def score(self, estimated: Any) -> Scores:
        """Rank the rows by their estimates, and score the lists.

        Parameters
        ----------
        estimated : column, shape (n_rows,)
            The model's estimate of each row, in the order of the labels.

        Returns
        -------
        Scores
            Equal to the last bit to the scores of `recsys_ndcg.evaluate`.

        Raises
        ------
        InvalidInputError
            The estimates are not as many numbers, or a score cannot be computed.
        """
        is_short = isinstance(estimated, np.ndarray) and estimated.dtype == np.float32
        if is_short and estimated.ndim == 1 and self.reads_only_order:
            values = estimated.astype(np.float64)  # decimals need not be restored
        else:
            values = to_floats(estimated, "estimated")
        n_rows = len(self.lists.true)
        if len(values) != n_rows:
            msg = f"There are {len(values)} estimates for {n_rows} labels. Give one for each row."
            raise InvalidInputError(msg)
        Rows.check_finite(values, "estimated", "if a model diverged, train it again")
        plan, measurements = self.plan, self.plan.measurements
        if not self.reads_only_order:
            lists = look_up_estimates(self.lists, values)
            plan.check(plan.facts_of(lists), lists)
        parts = map_in_threads(
            lambda block: block.with_estimates(values).score(measurements), self.blocks, n_rows
        )
        scores = Scores.concat(parts)
        InvalidInputError.raise_if(scores.objection())
        return scores


def _reads_only_order(one: Measurement) -> bool:
    """Return whether a measurement ignores the values of the estimates."""
    rule = one.convention
    return one.metric.depends_on_order and not rule.tie_tolerance and rule.recommend_from is None
