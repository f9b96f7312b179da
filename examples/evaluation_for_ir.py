"""Which metrics depend on the order of a list? AP, RR, DCG and NDCG do; precision and CG do not.

And can lists of different lengths be compared? DCG grows with the length, NDCG does not. The
lists are given as grades in ranked order.
"""

import recsys_ndcg as rn


def ranked(*grades: int) -> list[tuple[float, int]]:
    """Return (estimated, true) for grades in ranked order."""
    return [(-place, grade) for place, grade in enumerate(grades)]


print("Binary labels, relevant is 1:")
binary = {"A": ranked(1, 1, 1, 0, 0), "B": ranked(0, 0, 1, 1, 1)}
report = rn.evaluate(binary, metrics=["precision", "ap", "rr"], k=5)
print(report.per_user.round(6).to_string())
print(f"MAP@5 of the two: {report.mean['ap@5']:.6f}, MRR: {report.mean['rr']:.6f}")

queries = {"1 and 3": ranked(1, 0, 1, 0), "3 alone": ranked(0, 0, 1, 0)}
report = rn.evaluate(queries, metrics=["ap", "rr"], k=4)
print("Queries by the ranks of their relevant documents:")
print(report.per_user.round(6).to_string())
print(f"MAP@4: {report.mean['ap@4']:.6f}, MRR: {report.mean['rr']:.6f}")
falling = [rn.reciprocal_rank([0] * (rank - 1) + [1]) for rank in range(1, 21)]
print("RR of a first hit at ranks 1 to 20:", *(f"{value:.3f}" for value in falling))

print("\nGraded labels, the same grades in two orders:")
graded = {"A": ranked(5, 2, 4, 0, 1), "B": ranked(2, 0, 5, 1, 4)}
linear = rn.Convention.preset("evaluation_for_ir")
report = rn.evaluate(graded, metrics=["cg", "dcg", "ndcg"], k=5, convention=linear)
print(report.per_user.round(6).to_string())
for model in graded:
    print(f"DCG of model {model}, step by step:")
    steps = report.explain(model, 5)[["true", "discount", "discounted_gain", "dcg"]]
    print(steps.round(2).to_string())

print("\nQueries that return three and five documents:")
lengths = {"three": ranked(5, 2, 4), "five": ranked(5, 2, 4, 0, 1)}
report = rn.evaluate(lengths, metrics=["dcg", "ndcg"], k=None, convention=linear)
for query in lengths:
    last = report.explain(query, None).iloc[-1]
    dcg, ideal = round(last["dcg"], 2), round(last["ideal_dcg"], 2)
    print(f"{query}: DCG {dcg:.2f}, ideal DCG {ideal:.2f}, NDCG {last['ndcg']:.6f};", end=" ")
    print(f"dividing the rounded DCGs gives {dcg / ideal:.6f}")
print(f"mean NDCG of the two: {report.mean['ndcg']:.6f}")
