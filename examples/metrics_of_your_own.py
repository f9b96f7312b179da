"""How do I measure what no library has? Three ways, from a line to a class."""

import numpy as np

import recsys_ndcg as rn
from recsys_ndcg.arrays import row_sums
from recsys_ndcg.datasets import sample_ratings


@rn.metric
def early(rank):
    """Weights by rank: relevant items count 1, 1/2, 1/4 …, over what the best order has."""
    return 0.5 ** (rank - 1)


@rn.metric(ties="item_asc")
def top_error(estimated, true, items):
    """One user's ranked list, cut at k: how far off the estimates that are seen are."""
    return np.abs(estimated - true).mean() if len(items) else np.nan


@rn.metric
class Capture(rn.Metric):
    """A numerator and a denominator: the share of all gain that the first k items hold."""

    name = "capture"
    uses_gains = True
    depth = None  # it reads all ranks, not the first k alone

    def numerator(self, ranking):
        """Return the (expected) gains: users in rows, ranks in columns."""
        return row_sums(ranking.gain[:, : self.k])

    def denominator(self, ranking):
        """Return all that there are."""
        return row_sums(ranking.ideal_gain)


ratings = sample_ratings().rename(columns={"rating": "true"})
data = ratings.assign(estimated=ratings["true"] + np.sin(ratings["timestamp"]))
metrics = ["ndcg@10", early(10), "top_error@10", Capture(10)]
report = rn.evaluate(data, metrics=metrics, threshold=4)
print(report.summary[["mean", "pooled", "chance", "adjusted", "users"]].round(4).to_string())
print(report.signature("early@10").short)
