"""How do missing labels and the choice of the ideal change NDCG? One list scores from 0.2 to 1.

Two queries have judged documents and result lists, which overlap partly: query 2 returned an
unjudged document, and both lists miss judged documents. Every decision below is
one field of the convention. The data is that of Doug Turnbull's notebook "Real life NDCG". Its
last cutoff keeps ranks below 10, and "@10" here also keeps rank 10; no list is that long, so the
numbers are the same.
"""

from collections.abc import Iterable

import pandas as pd

import recsys_ndcg as rn

labels = pd.DataFrame(
    {
        "query_id": [1, 1, 1, 2, 2, 2, 2],
        "doc_id": [125125, 5678, 1122, 12225, 1521, 5125, 1111],
        "grade": [0.9, 0.9, 0.1, 1.0, 0.9, 0.8, 0.1],
    }
)
results = pd.DataFrame(
    [(1, 1, 5678), (1, 2, 1122), (2, 1, 1521), (2, 2, 1251), (2, 3, 5125)],
    columns=["query_id", "rank", "doc_id"],
)
changed = results.replace({"doc_id": {1122: 2511}})
columns = {"user": "query_id", "item": "doc_id", "true": "grade"}
lists = rn.RankedLists.from_labels(labels, results, columns=columns)
zero = rn.Convention.preset("real_life_ndcg")
drop = zero.replace(unlabelled="filter")


def show(label: str, values: Iterable[float]) -> None:
    """Print a number per query."""
    print(f"{label:<46}", *(f"{value:.6f}" for value in values))


def compare_with_ideal(label: str, convention: rn.Convention, k: int | None = None) -> None:
    """Print the ideal DCG of both queries, and their NDCG."""
    report = rn.evaluate(lists, metrics=["ndcg"], k=k, convention=convention)
    ideal = [report.explain(query, k)["ideal_dcg"].iloc[-1] for query in (1, 2)]
    show(f"ideal DCG, {label}", ideal)
    show(f"NDCG, {label}", report.per_user[report.metrics[0]])


for name, choice in (("gain 0 (DCG-z)", zero), ("removed (DCG-f)", drop)):
    report = rn.evaluate(lists, metrics=["dcg", "ndcg"], k=None, convention=choice)
    print(f"Query 2, unlabelled results {name}:")
    print(report.explain(2, None).drop(columns=["estimated", "ndcg"]).round(6).to_string())
    show(f"DCG, unlabelled {name}", report.per_user["dcg"])
    print()

highest = drop.replace(ideal="max", max_grade=1.0)
compare_with_ideal("local: the returned documents", drop.replace(ideal="local"))
compare_with_ideal("global: all judged documents", drop)
compare_with_ideal("max: the top grade everywhere", highest)
compare_with_ideal("max, ten places", highest, k=10)
limit = rn.evaluate(lists, k=10, convention=highest).explain(1, 10)["ideal_dcg"].iloc[-1]
print(f"ideal DCG of ten places in full: {limit:.12f}")
show("Jaccard with a second engine's lists", rn.jaccard_at_k(results, changed, 10, columns=columns))
