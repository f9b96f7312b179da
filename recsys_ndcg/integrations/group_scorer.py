"""GroupScorer: the means of metrics over groups, for libraries that pass bare arrays."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import InvalidInputError, warn
from recsys_ndcg.input import to_column
from recsys_ndcg.scoring import Cutoffs, LabelledGroups, Metrics, Plan, Scores

_MAX_KEPT = 16  # data sets whose ideal lists are kept: parts of a cross-validation


class GroupScorer:
    """Scores groups of rows, and keeps what depends on the labels between calls.

    Parameters
    ----------
    metrics, k, threshold, convention
        As for `recsys_ndcg.evaluate`.

    Raises
    ------
    UnknownMetricError, InvalidInputError
        An option cannot be read.

    Examples
    --------
    >>> scorer = GroupScorer("ndcg@10")
    >>> scorer.compute_means(["ann", "bob", "ann"], [2, 1, 5], [4.5, 3.0, 2.0])
    {'ndcg@10': 0.8429144026356317}
    """

    def __init__(
        self,
        metrics: Metrics,
        *,
        k: Cutoffs = "default",
        threshold: float | None = None,
        convention: ConventionLike = None,
    ) -> None:
        self.plan = Plan.of(metrics, k=k, threshold=threshold, convention=convention)
        self._kept: deque[tuple[Any, Any, LabelledGroups]] = deque(maxlen=_MAX_KEPT)

    def __repr__(self) -> str:
        """Return the class and the metrics."""
        return f"{type(self).__name__}({', '.join(self.plan.names)})"

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to pickle, without the data."""
        return {**vars(self), "_kept": deque(maxlen=_MAX_KEPT)}

    def score(
        self,
        groups: Any,
        true: Any,
        estimated: Any,
        *,
        sizes: bool = False,
        weighted: bool = False,
    ) -> Scores:
        """Return the scores of each group.

        Parameters
        ----------
        groups, true, estimated : columns, shape (n_rows,)
            The group, the grade and the model's estimate of each row.
        sizes : bool
            Whether `groups` are sizes of groups, whose rows lie together.
        weighted : bool
            Whether the rows have weights, which are ignored.

        Raises
        ------
        InvalidInputError
            A column cannot be read, or a score cannot be computed.

        Warns
        -----
        DataWarning
            At the first call with these labels: the threshold separates no items, gains are steep,
            or weights are ignored.
        """
        groups, true = to_column(groups, "groups"), to_column(true, "true")
        for known_groups, known_true, labelled in self._kept:
            if np.array_equal(known_true, true) and np.array_equal(known_groups, groups):
                return labelled.score(estimated)
        users = np.repeat(np.arange(len(groups)), groups) if sizes else groups
        labelled = LabelledGroups.of(self.plan, users, true)
        for message in labelled.plan.find_warnings(labelled.plan.facts_of(labelled.lists)):
            warn(message)
        if weighted:
            names = ", ".join(self.plan.names)
            warn(f"The weights of the rows have no effect on {names}: all groups count the same.")
        self._kept.append((groups.copy(), true.copy(), labelled))  # the library may reuse memory
        return labelled.score(estimated)

    def compute_means(
        self, groups: Any, true: Any, estimated: Any, **how: bool
    ) -> dict[str, float]:
        """Return the mean of each metric by name, over the groups that have a score.

        Parameters
        ----------
        groups, true, estimated, **how
            As for `score`.

        Raises
        ------
        InvalidInputError
            As for `score`, or no group has a score.
        """
        scores = self.score(groups, true, estimated, **how)
        means = dict(zip(scores.names, scores.mean().tolist(), strict=True))
        for name, mean in means.items():
            if np.isnan(mean):
                msg = (
                    f"{name} is undefined for all {len(scores.users)} groups: none has an item "
                    "with a gain, or a relevant item. Check the labels and the threshold."
                )
                raise InvalidInputError(msg)
        return means
