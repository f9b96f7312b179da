"""How other libraries compute measures beyond accuracy, as choices of a Convention by metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LISTS = {"mean_over": "lists"}
_LABELLED = {"mean_over": "labelled", "missing_user": "skip"}
_RELEVANT = {"mean_over": "relevant", "missing_user": "skip"}
_NDEVAL = {**_LABELLED, "ties": "text_asc"}
_ROWS = {**_LISTS, "popularity_of": "rows"}
_IGNORE = {"universe": "train", "outside": "ignore"}
_COUNT = {"universe": "catalogue", "outside": "count"}
#: By library and metric, the choices that differ from our defaults.
BEYOND_PRESETS: dict[str, dict[str, Mapping[str, Any]]] = {
    "rectools": {
        "diversity": {**_LISTS, "distance": "hamming", "single_item": 0.0},
        "popularity": _ROWS,
        "novelty": _LISTS,
        "overlap": {**_LISTS, "undefined": 0.0},
        "serendipity": _ROWS,
        "coverage": {**_COUNT, "coverage_as": "count"},
        "user_coverage": {"mean_over": "labelled"},
    },
    "replay": {
        "novelty": {**_LISTS, "list_over": "k", "novelty_as": "share"},
        "unseen": {"mean_over": "train", "undefined": 1.0},
        "unexpected": {**_LISTS, "list_over": "k", "undefined": 0.0},
        "coverage": _IGNORE,
        "categories": {**_LISTS, "list_over": "k"},
    },
    "recommenders": {
        "diversity": {**_LISTS, "popularity_of": "rows", "distance": "cooccurrence"},
        "novelty": {
            **_LISTS, "popularity_of": "rows", "novelty_model": "choice", "cold_item": "zero",
        },
        "serendipity": {**_ROWS, "serendipity_by": "history", "distance": "cosine"},
        "coverage": {"universe": "train", "outside": "count"},
        "entropy": {},
    },
    "evidently": {
        "diversity": {
            **_LISTS, "distance": "cosine", "pairs_over": "n", "single_item": 0.0,
        },
        "popularity": {**_LISTS, "cold_item": "drop"},
        "novelty": {**_LISTS, "cold_item": "drop"},
        "serendipity": {**_ROWS, "serendipity_by": "hits", "distance": "cosine"},
        "coverage": _IGNORE,
        "gini": {"universe": "recommended", "inequality_over": "n-1"},
        "personalization": {"list_over": "full"},
    },
    "recpack": {
        "diversity": {
            "mean_over": "labelled", "distance": "jaccard", "single_item": 0.0, "undefined": 0.0,
        },
        "coverage": {**_LABELLED, **_COUNT},
        "ips_hit": {"mean_over": "labelled"},
    },
    "recmetrics": {
        "diversity": {**_LISTS, "distance": "cosine", "pairs_as": "similarity"},
        "novelty": {**_ROWS, "list_over": "k"},
        "personalization": {},
        "coverage": {**_COUNT, "coverage_as": "percent"},
    },
    "recbole": {
        "popularity": _ROWS,
        "tail": {"tail": "rarest", "popularity_of": "rows", "universe": "train"},
        "coverage": {"universe": "padded", "outside": "count"},
        "gini": {"universe": "padded", "outside": "count"},
        "entropy": {"log_base": "e", "entropy_over": "items"},
    },
    "lenskit": {
        "popularity": {**_LISTS, "popularity_as": "rank"},
        "gini": {"outside": "count"},
    },
    "lenskit_head": {
        "category_entropy": _LISTS,
        "diversity": {
            **_LISTS, "distance": "cosine", "pairs_as": "similarity", "single_item": 1.0,
        },
    },
    "pyg": {
        "diversity": {**_LISTS, "distance": "category", "pairs_over": "k", "single_item": 0.0},
        "popularity": {**_ROWS, "list_over": "k"},
        "coverage": _COUNT,
        "personalization": {"list_over": "k"},
    },
    "elliot": {
        "popularity": {**_LABELLED, "cold_item": "raise"},
        "tail": {**_LABELLED, "universe": "train"},
        "efd": _RELEVANT,
        "epc": _RELEVANT,
        "coverage": {**_LABELLED, **_COUNT, "coverage_as": "count"},
        "gini": {
            **_LABELLED, "universe": "train", "outside": "count", "inequality_over": "n-1",
            "gini_as": "equality",
        },
        "entropy": {**_LABELLED, "entropy_over": "lists"},
        "reo": _LABELLED,
        "rsp": {**_LABELLED, **_COUNT},
        "popreo": {**_LABELLED, "universe": "train"},
        "poprsp": {**_LABELLED, "universe": "train", "outside": "count"},
        "bias_disparity": {**_LABELLED, **_COUNT},
        "item_gap": {**_RELEVANT, "gain": "exponential_above"},
        "score": _RELEVANT,
        "user_coverage": _LABELLED,
        "n_retrieved": _RELEVANT,
        "subtopic_recall": {**_RELEVANT, "topics_over": "train", "undefined": 0.0},
    },
    "warprec": {
        "popularity": {**_LABELLED, "cold_item": "one_user", "list_over": "k"},
        "tail": {**_LABELLED, "tail": "pass", "list_over": "k"},
        "efd": {**_RELEVANT, "list_over": "k", "cold_item": "one_user"},
        "epc": {**_RELEVANT, "list_over": "k", "cold_item": "one_user", "population": "known"},
        "coverage": {**_LABELLED, **_COUNT, "coverage_as": "count"},
        "gini": {**_LABELLED, "inequality_over": "n-1"},
        "entropy": {**_LABELLED, "log_base": "e"},
        "popreo": {**_LABELLED, "tail": "pass", "parity_of": "shown"},
        "poprsp": {**_LABELLED, "tail": "pass", "parity_of": "shown"},
        "subtopic_recall": {**_RELEVANT, "topics_over": "relevant", "undefined": 0.0},
    },
    "pyndeval": {
        "subtopic_recall": {**_NDEVAL, "topics_over": "relevant"},
        "alpha_ndcg": _NDEVAL,
        "alpha_dcg": _NDEVAL,
        "err_ia": _NDEVAL,
        "nerr_ia": _NDEVAL,
        "p_ia": _NDEVAL,
        "map_ia": _NDEVAL,
    },
}  # fmt: skip
