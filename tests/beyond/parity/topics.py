"""Categories, subtopics, intent-aware measures: numbers of topics."""

from tests.beyond.parity import Ask

#: Of the file's runs, beside the whole lists of the golden files.
_CUT = "(alpha=0.5; runs cut at k=3)"
_NDEVAL = {
    "ERR-IA@5": Ask("err_ia(topics)", k=5),
    "MAP-IA": Ask("map_ia(topics)", k=0),
    "P-IA@5": Ask("p_ia(topics)", k=5),
    "alpha-DCG@5": Ask("alpha_dcg(topics)", k=5),
    "alpha-nDCG@5": Ask("alpha_ndcg(topics)", k=5),
    "nERR-IA@5": Ask("nerr_ia(topics)", k=5),
    "strec@5": Ask("subtopic_recall(topics)", k=5),
}  # fmt: skip
ASKS = {
    ("elliot", "SRecall"): Ask("subtopic_recall(topics)"),
    ("lenskit_head", "Entropy"): Ask("category_entropy(topics)"),
    ("lenskit_head", "RankBiasedEntropy(0.85)"): Ask(
        "category_entropy(topics)", {"patience": 0.85}
    ),
    **{
        ("pyndeval", f"{measure}{runs}"): ask
        for measure, ask in _NDEVAL.items()
        for runs in (_CUT, "")
    },
    ("replay", "CategoricalDiversity(pandas)"): Ask("categories(category)"),
    ("replay", "CategoricalDiversity(polars)"): Ask("categories(category)"),
    ("warprec", "SRecall"): Ask("subtopic_recall(topics)"),
}  # fmt: skip
