"""The table of the scores of each user, as a report shows it and files hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from recsys_ndcg.input.ids import index_of

if TYPE_CHECKING:
    from recsys_ndcg.scoring.scores import Scores


def scores_table(scores: Scores) -> pd.DataFrame:
    """Return n_items, n_relevant and a column per metric, indexed by user."""
    counts = scores.counts
    known = not np.isnan(counts.n_relevant).any()  # what is relevant
    table = pd.DataFrame(scores.per_user, columns=scores.names, copy=True)
    table.insert(0, "n_items", counts.n_items.copy())
    table.insert(1, "n_relevant", counts.n_relevant.astype(int if known else float))
    return table.set_index(index_of(scores.users, "user"))
