"""The users for whom it makes the most difference which of two models they get."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from recsys_ndcg.input import index_of
from recsys_ndcg.scoring import same

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recsys_ndcg.comparison.comparison import Comparison
    from recsys_ndcg.comparison.model_scores import ModelScores

#: What is shown of each list.
_SHOWN = ("item", "estimated", "true", "gain")


@dataclass(frozen=True, eq=False, repr=False)
class Movers:
    """The users who gain and lose most from one model to another.

    Parameters
    ----------
    table : pandas.DataFrame
        Indexed by user: items, relevant, the score of both models, and the gain, in which more is
        better; those who gain most first, those who lose most last.
    contenders : mapping of str to ModelScores
        From which model to which, with their lists if they are at hand.
    """

    table: pd.DataFrame
    contenders: Mapping[str, ModelScores]

    def explain(self, user: Any, k: int | None = 10) -> pd.DataFrame:
        """Return a user's two lists side by side.

        Parameters
        ----------
        user
            An id as in `table`, or any other user of the comparison.
        k : int, optional
            The last rank; None for all.

        Returns
        -------
        pandas.DataFrame
            A row per rank; for each model, item, estimated, true and gain.

        Raises
        ------
        InvalidInputError
            There is no such user, or a model has no lists: it was read from a file, or averaged
            over folds.
        """
        sides = {
            name: one.report_for(name).explain(user, k)[[*_SHOWN]]
            for name, one in self.contenders.items()
        }
        return pd.concat(sides, axis=1)

    def __repr__(self) -> str:
        """Return the table."""
        return repr(self.table)

    def _repr_html_(self) -> str:
        html: str = self.table.to_html()
        return html


def movers(comparison: Comparison, metric: str, a: str, b: str, n: int) -> Movers:
    """Return the n users who gain most from a to b, and the n who lose most, if anybody does."""
    before, after = comparison.contenders[a], comparison.contenders[b]
    place = before.at(metric)
    sign = 1 if before.metrics[place].greater_is_better else -1
    old, new = before.scores[:, place], after.scores[:, place]
    gain = np.where(same(old, new), 0.0, sign * (new - old))
    order = np.argsort(-gain, kind="stable")
    order = order[~np.isnan(gain[order])]
    first = [one for one in order[:n].tolist() if gain[one] > 0]
    last = [one for one in order[-n:].tolist() if gain[one] < 0]
    chosen = np.array([*first, *last], dtype=np.int64)
    counts = before.counts
    relevant = counts.n_relevant
    known = not np.isnan(relevant).any()
    table = pd.DataFrame(
        {
            "items": counts.n_items[chosen],
            "relevant": relevant[chosen].astype(int if known else float),
            a: old[chosen],
            b: new[chosen],
            "gain": gain[chosen],
        },
        index=index_of(before.users[chosen], "user"),
    )
    return Movers(table, {a: before, b: after})
