"""Diversity: pairs of items in a list."""

from tests.beyond.parity import Ask

ASKS = {
    ("evidently", "Diversity"): Ask("diversity(topics)"),
    ("lenskit_head", "ILS"): Ask("diversity(topics)"),
    ("pyg", "LinkPredDiversity"): Ask("diversity(category)"),
    ("recmetrics", "intra_list_similarity"): Ask("diversity(topics)"),
    ("recommenders", "diversity(cooccurrence)"): Ask("diversity"),
    ("recommenders", "diversity(features)"): Ask("diversity(topics)", {"distance": "cosine"}),
    ("recpack", "IntraListDiversityK"): Ask("diversity(topics)"),
    ("rectools", "IntraListDiversity(Hamming)"): Ask("diversity(topics)"),
}
