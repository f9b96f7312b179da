"""How do one user's (estimated, true) ratings become NDCG@10? By sorting, with care for ties.

Ten test ratings get made-up estimates, alternately half a star too low and too high, so several
are tied. A stable sort keeps the order of the test set within a tie (ties="input"). The default
is the exact mean over all orders of the tied items, which does not depend on the order of the
rows. The last part shows a user with fewer ratings than k.
"""

import warnings

import recsys_ndcg as rn

# The ties below are the point of this example.
warnings.filterwarnings("ignore", category=rn.DataWarning)


def with_made_up_estimates(ratings: list[int]) -> list[tuple[float, int]]:
    """Return (estimated, true), alternately half a star below and above."""
    return [(true + (-0.5, 0.5)[place % 2], true) for place, true in enumerate(ratings)]


pairs = with_made_up_estimates([3, 4, 5, 1, 2, 3, 4, 5, 5, 4])
print("(estimated, true):", pairs)

for ties in ("input", "expected"):
    report = rn.evaluate(
        {"User 1": pairs},
        metrics=["dcg", "ndcg"],
        k=[10, 5],
        convention=rn.Convention(ties=ties),
    )
    table = report.explain("User 1")
    print(f"\nties={ties!r}, rank by rank:")
    print(table[["estimated", "true", "gain", "dcg", "ideal_gain", "ideal_dcg"]].to_string())
    for k in (10, 5):
        dcg, ndcg = report.mean[f"dcg@{k}"], report.mean[f"ndcg@{k}"]
        ideal = table["ideal_dcg"][k]
        print(f"at {k}: DCG {dcg:.12f}, ideal DCG {ideal:.12f}, NDCG {ndcg:.12f}")

few = with_made_up_estimates([1, 3, 5])
print("\nA user with three ratings:", few)
print("NDCG@10 is DCG over ideal DCG at the three ranks:")
short = rn.evaluate({"User 2": few}, metrics=["ndcg"]).explain("User 2")
print(short[["estimated", "true", "dcg", "ideal_dcg", "ndcg"]].to_string())
reasons = {
    "k": "one hit over ten places, as if seven bad items followed",
    "n": "one hit over the three places",
    "drop": "in any order, all items are among the first ten",
}
for rule, reason in reasons.items():
    convention = rn.Convention(short_list=rule)
    report = rn.evaluate({"User 2": few}, k=10, threshold=4, convention=convention)
    scores = report.per_user.loc["User 2", ["ndcg@10", "precision@10"]].round(6).to_dict()
    print(f"short_list={rule!r}: {scores}, left out: {report.counts['left_out']} ({reason})")
