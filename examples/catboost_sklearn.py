"""Do CatBoost, scikit-learn and we agree on DCG and NDCG? Yes, once the gain is the same.

CatBoost's type=Exp and type=Base are our gain="exponential" and gain="linear". scikit-learn is
always linear, so for the exponential rows it receives 2^t - 1 instead of t. The three differ if
no item is relevant: CatBoost scores 1, scikit-learn 0, and we give no score by default.
"""

from importlib import import_module
from types import ModuleType

import recsys_ndcg as rn

judged = {"d1": 2, "d2": 2, "d3": 2, "d4": 3, "d5": 1}
returned = ["d4", "d2", "d1", "d5", "d3"]
grades = [judged[document] for document in returned]
scores = [5, 4, 3, 2, 1]  # any scores that decrease with the rank
TYPES = {"exponential": "Exp", "linear": "Base"}


def peer(name: str) -> ModuleType | None:
    """Return a library that we compare with, or print how to install it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        print(f"{error}: pip install -e '.[peers]'")
        return None


catboost, sklearn = peer("catboost.utils"), peer("sklearn.metrics")


def our_score(metric: str, k: int, gain: str, true: list[int]) -> float:
    """Return our DCG or NDCG."""
    function = rn.dcg_at_k if metric == "DCG" else rn.ndcg_at_k
    return function(list(zip(scores, true, strict=True)), k, gain=gain)


def peer_scores(metric: str, k: int, gain: str, true: list[int]) -> list[str]:
    """Return CatBoost's and scikit-learn's scores, a dash if not installed."""
    values = ["-", "-"]
    if catboost:
        name = f"{metric}:top={k};type={TYPES[gain]}"
        values[0] = f"{catboost.eval_metric(true, scores, name, group_id=[1] * 5)[0]:.12f}"
    if sklearn:
        gains = [2**t - 1 for t in true] if gain == "exponential" else true
        function = sklearn.dcg_score if metric == "DCG" else sklearn.ndcg_score
        values[1] = f"{function([gains], [scores], k=k):.12f}"
    return values


print("grades by position:", grades)
print(f"{'':<20}{'recsys_ndcg':>17}{'CatBoost':>17}{'scikit-learn':>17}")
for gain in TYPES:
    for metric, k in (("DCG", 5), ("DCG", 10), ("DCG", 2), ("NDCG", 5), ("NDCG", 2)):
        cells = [
            f"{our_score(metric, k, gain, grades):.12f}",
            *peer_scores(metric, k, gain, grades),
        ]
        print(f"{metric + '@' + str(k):<8}{gain:<12}" + "".join(f"{cell:>17}" for cell in cells))

nothing = [0] * 5
print("NDCG@5 of zeros:", our_score("NDCG", 5, "linear", nothing), "by default,", end=" ")
print(rn.ndcg_at_k(nothing, 5, undefined=1.0), "under undefined=1.0;", end=" ")
print("CatBoost and scikit-learn:", *peer_scores("NDCG", 5, "linear", nothing))
