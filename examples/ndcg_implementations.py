"""Is the NDCG of a data set averaged or pooled? Both are in use, and they differ.

The example scores one list in the given, the worst and the best order; then several lists, for
which the mean of the ratios and the ratio of the sums differ (a list whose ideal DCG is 0 is
counted, but left out of the mean); then custom gains for any grade.
"""

import recsys_ndcg as rn


def ranked(*grades: float) -> list[tuple[float, float]]:
    """Return (estimated, true) for grades in ranked order."""
    return [(-place, grade) for place, grade in enumerate(grades)]


grades = [3, 1, 2, 0, 2]
print("grades by rank:", grades)
print(f"NDCG@5 as given:   {rn.ndcg_at_k(grades, 5):.12f}")
print(f"NDCG@5, ascending: {rn.ndcg_at_k(sorted(grades), 5):.12f}")
print(f"NDCG@5, descending: {rn.ndcg_at_k(sorted(grades, reverse=True), 5):.12f}")
print(f"with the natural logarithm: {rn.ndcg_at_k(grades, 5, discount='ln'):.12f}")

linear = rn.Convention(gain="linear")  # CG adds up gains: these are the grades themselves
orders = {"as given": ranked(*grades), "ascending": ranked(*sorted(grades))}
sums = rn.evaluate(orders, metrics=["cg@5"], convention=linear).per_user["cg@5"]
print("CG@5, the sum of the grades, in two orders:", sums.to_dict())

steps = rn.evaluate({"list": ranked(*grades)}, k=5).explain("list", 5)
print(steps[["true", "gain", "dcg", "ideal_gain", "ideal_dcg", "ndcg"]].round(6).to_string())

data = {"first": ranked(*grades), "second": ranked(1, 3), "zeros": ranked(0, 0, 0)}
report = rn.evaluate(data, metrics=["dcg", "ndcg"], k=5)
print("\nA data set of three lists:")
print(report.per_user.drop(columns="n_relevant").round(6).to_string())
print(f"averaged over the lists: {report.mean['ndcg@5']:.12f}")
print(f"pooled, sum over sum:    {report.pooled['ndcg@5']:.12f}")
print("lists with an ideal DCG of 0, left out:", report.counts["undefined ndcg@5"])

doubling = {0: 0, 1: 1, 2: 3, 3: 7}
print("\nCustom gains, by grade:")
print(f"{doubling}: {rn.ndcg_at_k(grades, 5, gain=doubling):.12f}, the same as by default")
own = {0: 0, 1: 0, 2: 1, 3: 10}
print(f"{own}: {rn.ndcg_at_k(grades, 5, gain=own):.12f}")
stars = {0: 0, 2.5: 1, 40: 5}
print(f"{stars} for grades 2.5, 40, 0: {rn.ndcg_at_k([2.5, 40, 0], 5, gain=stars):.12f}")
