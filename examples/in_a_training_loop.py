"""NDCG after every epoch: a model learns ratings, and its lists are scored batch by batch.

An accumulator takes batches of whole users and keeps no lists. Accumulators of several processes
are merged. The model is a matrix factorisation in NumPy; if torch is installed, the last part
uses its tensors.
"""

from importlib.util import find_spec

import numpy as np

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings

EPOCHS, BATCH = 5, 64
FACTORS, STEP, DECAY, WEIGHT = 8, 0.3, 10.0, 5.0
METRICS = ["ndcg@10", "recall@10"]


class Model:
    """Matrix factorisation by alternating least squares: rated items are 1, all others 0."""

    def __init__(self, n_users: int, n_items: int, seed: int = 0) -> None:
        draw = np.random.default_rng(seed)
        self.users = draw.normal(0, 0.1, (n_users, FACTORS))
        self.items = draw.normal(0, 0.1, (n_items, FACTORS))

    def learn(self, known: np.ndarray) -> None:
        """Move the users' factors, then the items' factors, towards their best values."""
        self.users += STEP * (solve(known, self.items) - self.users)
        self.items += STEP * (solve(known.T, self.users) - self.items)

    def estimates(self, users: np.ndarray) -> np.ndarray:
        """Return the estimates as a table, users × items."""
        return self.users[users] @ self.items.T


def solve(known: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return the best factors of each row, given the columns' factors (Hu, Koren & Volinsky)."""
    weight = np.where(known, WEIGHT, 1.0)
    gram = np.einsum("rc,cf,cg->rfg", weight, factors, factors, optimize=True)
    target = ((weight * known) @ factors)[..., None]
    return np.linalg.solve(gram + DECAY * np.eye(FACTORS), target)[..., 0]


# a fifth of the ratings are the test set
rows = sample_ratings()
users, user = np.unique(rows["user"], return_inverse=True)
items, item = np.unique(rows["item"], return_inverse=True)
test = np.random.default_rng(1).random(len(rows)) < 0.2
known = np.zeros((len(users), len(items)), dtype=bool)
known[user[~test], item[~test]] = True
truth = np.full(known.shape, np.nan)
truth[user[test], item[test]] = rows["rating"].to_numpy()[test]

# every epoch: whole users, a table of estimates; items rated in training are not in the lists
model = Model(len(users), len(items))
scores = rn.Accumulator(METRICS, threshold=4, convention=rn.Convention(max_grade=5))
for epoch in range(EPOCHS):
    model.learn(known)
    scores.reset()
    for start in range(0, len(users), BATCH):
        batch = np.arange(start, min(start + BATCH, len(users)))
        estimated = model.estimates(batch)
        scores.update(users[batch], estimated, truth[batch], items, mask=~known[batch])
    report = scores.report()
    means = ", ".join(f"{name} {mean:.4f}" for name, mean in report.items())
    print(f"epoch {epoch + 1}: {means} of {len(scores)} users")

# the report also has the baselines
print(report.summary[["mean", "ci_low", "ci_high", "chance"]].round(4).to_string())

# two processes would each have some of the users: pickle and merge their accumulators
half = len(users) // 2
parts = []
for part in (np.arange(half), np.arange(half, len(users))):
    one = rn.Accumulator(METRICS, threshold=4, convention=rn.Convention(max_grade=5))
    parts.append(
        one.update(users[part], model.estimates(part), truth[part], items, mask=~known[part])
    )
merged = (parts[0] | parts[1]).report()
print("merged:", bool(np.allclose(merged.summary, report.summary, rtol=1e-12, equal_nan=True)))

# a user in two batches has probably been split by the loader
try:
    scores.update(users[:1], model.estimates(np.arange(1)), truth[:1], items)
except rn.InvalidInputError as error:
    print("error:", str(error).partition(".")[0])

# tensors are accepted as they are
if find_spec("torch"):
    import torch

    every = np.arange(len(users))
    estimated = torch.tensor(model.estimates(every), requires_grad=True)
    same = rn.Accumulator(METRICS, threshold=4, convention=rn.Convention(max_grade=5))
    same.update(users, estimated, torch.tensor(truth), items, mask=torch.tensor(~known))
    print("torch:", bool(np.allclose(same.report().mean, report.mean, rtol=1e-12)))
