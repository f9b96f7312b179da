"""Categories, subtopics, intent-aware measures: numbers of topics."""

from tests.beyond.parity import Ask

_CUT = "(alpha=0.5; runs cut at k=3)"
ASKS = {
    ("elliot", "SRecall"): Ask("subtopic_recall(topics)"),
    ("lenskit_head", "Entropy"): Ask("category_entropy(topics)"),
    ("lenskit_head", "RankBiasedEntropy(0.85)"): Ask(
        "category_entropy(topics)", {"patience": 0.85}
    ),
    ("pyndeval", f"ERR-IA@5{_CUT}"): Ask("err_ia(topics)", k=5),
    ("pyndeval", f"MAP-IA{_CUT}"): Ask("map_ia(topics)", k=0),
    ("pyndeval", f"P-IA@5{_CUT}"): Ask("p_ia(topics)", k=5),
    ("pyndeval", f"alpha-DCG@5{_CUT}"): Ask("alpha_dcg(topics)", k=5),
    ("pyndeval", f"alpha-nDCG@5{_CUT}"): Ask("alpha_ndcg(topics)", k=5),
    ("pyndeval", f"nERR-IA@5{_CUT}"): Ask("nerr_ia(topics)", k=5),
    ("pyndeval", f"strec@5{_CUT}"): Ask("subtopic_recall(topics)", k=5),
    ("replay", "CategoricalDiversity(pandas)"): Ask("categories(category)"),
    ("replay", "CategoricalDiversity(polars)"): Ask("categories(category)"),
    ("warprec", "SRecall"): Ask("subtopic_recall(topics)"),
}  # fmt: skip
