"""How do I add a metric that no library has? In three ways: the shortest is one line."""

import numpy as np

import recsys_ndcg as rn
from recsys_ndcg.arrays import row_sums
from recsys_ndcg.datasets import sample_ratings


@rn.metric
def early(rank):
    """Weights by rank: relevant items count 1, 1/2, 1/4 …, divided by the best order's sum."""
    return 0.5 ** (rank - 1)


@rn.metric(ties="item_asc")
def top_error(estimated, true, items):
    """One user's list, cut at k: the mean absolute error of the items shown."""
    return np.abs(estimated - true).mean() if len(items) else np.nan


@rn.metric
class Capture(rn.Metric):
    """A numerator and a denominator: the share of all gain among the first k items."""

    name = "capture"
    uses_gains = True
    depth = None  # it reads all ranks, not only the first k
    same_denominator = True  # whatever the order: so it has a chance level

    def numerator(self, ranking):
        """Return each user's gain in the first k, averaged over ties."""
        return row_sums(ranking.gain[:, : self.k])

    def denominator(self, ranking):
        """Return the gains of the ideal list."""
        return row_sums(ranking.ideal_gain)


ratings = sample_ratings().rename(columns={"rating": "true"})
data = ratings.assign(estimated=ratings["true"] + np.sin(ratings["timestamp"]))
metrics = ["ndcg@10", early(10), "top_error@10", Capture(10)]
report = rn.evaluate(data, metrics=metrics, threshold=4)
print(report.summary[["mean", "pooled", "chance", "adjusted", "users"]].round(4).to_string())
print(report.signature("early@10").short)
