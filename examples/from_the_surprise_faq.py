"""From Surprise's FAQ to recsys_ndcg: the same predictions and metric names, other numbers.

The FAQ has two popular recipes: precision and recall at k, and the top n of every user. This
example compares both with ours, and gives the reason for each difference.
"""

from collections import defaultdict

from surprise import SVD, Dataset, Reader
from surprise.model_selection import train_test_split

import recsys_ndcg as rn
from recsys_ndcg.datasets import sample_ratings
from recsys_ndcg.surprise import rank_catalogue

K, THRESHOLD = 5, 4.0
REASONS = {
    "recommend_from=threshold": "the FAQ counts an item as recommended only if its estimate is at "
    "least the threshold: a cautious model, which rarely estimates 4, is punished for its caution",
    "undefined=0.0": "a user to whom the FAQ recommends nothing, or who likes nothing, scores 0 "
    "there; here such a user has no score, is counted, and is left out of the mean",
    "ties=input": "the FAQ leaves equal estimates in the order of the test set; here they score "
    "the mean over all their orders",
}

ratings = sample_ratings()[["user", "item", "rating"]]
data = Dataset.load_from_df(ratings, Reader(rating_scale=(0.5, 5)))
trainset, testset = train_test_split(data, test_size=0.25, random_state=0)
algo = SVD(random_state=0).fit(trainset)
predictions = algo.test(testset)

names = [f"precision@{K}", f"recall@{K}"]
ours = rn.evaluate(predictions, metrics=names, threshold=THRESHOLD)
print(f"{'':14}{'FAQ':>8}{'ours':>8}")
for name in names:
    faq = rn.Convention.preset("surprise_faq", name)
    theirs = rn.evaluate(predictions, metrics=name, threshold=THRESHOLD, convention=faq)
    print(f"{name:14}{theirs.mean[name]:8.4f}{ours.mean[name]:8.4f}")

table = rn.reconcile(predictions, names, threshold=THRESHOLD)
print("\nWhy the FAQ's number differs from ours, choice by choice:")
used = set()
for row in table[table["preset"] == "surprise_faq"].itertuples():
    print(f"  {row.metric}: {row.changes}")
    used |= {choice for choice in REASONS if choice in row.changes}
for choice in sorted(used):
    print(f"- {choice}: {REASONS[choice]}.")

# the top n: predict everything the user has not rated, sort, cut
lists = defaultdict(list)
for user, item, _, estimated, _ in algo.test(trainset.build_anti_testset()):
    lists[user].append((item, estimated))
top = {
    user: sorted(pairs, key=lambda pair: pair[1], reverse=True)[:K] for user, pairs in lists.items()
}
fast = rank_catalogue(algo, trainset, k=K, clip=True)  # clipped to the scale, as algo.test does
same = sum(
    [item for item, _ in top[user]] == rows["item"].tolist() for user, rows in fast.groupby("user")
)
print(
    f"\nThe top {K} of the FAQ's recipe and of rank_catalogue(clip=True) are the same for {same} of"
)
print(
    f"{len(top)} users. Without clip, estimates above the scale are distinguished instead of tied."
)
