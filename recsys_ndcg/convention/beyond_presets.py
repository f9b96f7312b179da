"""How other libraries compute measures beyond accuracy: choices by metric, and its own."""

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
        "diversity": {**_LISTS, "distance": "hamming", "single": 0.0},
        "popularity": _ROWS,
        "novelty": _LISTS,
        "overlap": {**_LISTS, "undefined": 0.0},
        "serendipity": _ROWS,
        "coverage": {**_COUNT, "as": "count"},
        "user_coverage": {"mean_over": "labelled"},
    },
    "replay": {
        "novelty": {**_LISTS, "list_over": "k", "as": "share"},
        "unseen": {"mean_over": "train", "undefined": 1.0},
        "unexpected": {**_LISTS, "list_over": "k", "undefined": 0.0},
        "coverage": _IGNORE,
        "categories": {**_LISTS, "list_over": "k"},
    },
    "recommenders": {
        "diversity": {**_LISTS, "popularity_of": "rows", "distance": "cooccurrence"},
        "novelty": {**_LISTS, "popularity_of": "rows", "model": "choice", "cold_item": "zero"},
        "serendipity": {**_ROWS, "by": "history", "distance": "cosine"},
        "coverage": {"universe": "train", "outside": "count"},
        "entropy": {},
    },
    "evidently": {
        "diversity": {**_LISTS, "distance": "cosine", "over": "n", "single": 0.0},
        "popularity": {**_LISTS, "cold_item": "drop"},
        "novelty": {**_LISTS, "cold_item": "drop"},
        "serendipity": {**_ROWS, "by": "hits", "distance": "cosine"},
        "coverage": _IGNORE,
        "gini": {"universe": "recommended", "over": "n-1"},
        "personalization": {"list_over": "full"},
    },
    "recpack": {
        "diversity": {
            "mean_over": "labelled", "distance": "jaccard", "single": 0.0, "undefined": 0.0,
        },
        "coverage": {**_LABELLED, **_COUNT},
        "ips_hit": {"mean_over": "labelled"},
    },
    "recmetrics": {
        "diversity": {**_LISTS, "distance": "cosine", "as": "similarity"},
        "novelty": {**_ROWS, "list_over": "k"},
        "personalization": {},
        "coverage": {**_COUNT, "as": "percent"},
    },
    "recbole": {
        "popularity": _ROWS,
        "tail": {"tail": "rarest", "popularity_of": "rows", "universe": "train"},
        "coverage": {"universe": "padded", "outside": "count"},
        "gini": {"universe": "padded", "outside": "count"},
        "entropy": {"base": "e", "over": "items"},
    },
    "lenskit": {
        "popularity": {**_LISTS, "popularity_as": "rank"},
        "gini": {"outside": "count"},
    },
    "lenskit_head": {
        "category_entropy": _LISTS,
        "diversity": {**_LISTS, "distance": "cosine", "as": "similarity", "single": 1.0},
    },
    "pyg": {
        "diversity": {**_LISTS, "distance": "category", "over": "k", "single": 0.0},
        "popularity": {**_ROWS, "list_over": "k"},
        "coverage": _COUNT,
        "personalization": {"list_over": "k"},
    },
    "elliot": {
        "popularity": {**_LABELLED, "cold_item": "raise"},
        "tail": {**_LABELLED, "universe": "train"},
        "efd": _RELEVANT,
        "epc": _RELEVANT,
        "coverage": {**_LABELLED, **_COUNT, "as": "count"},
        "gini": {
            **_LABELLED, "universe": "train", "outside": "count", "over": "n-1",
            "as": "equality",
        },
        "entropy": {**_LABELLED, "over": "lists"},
        "reo": _LABELLED,
        "rsp": {**_LABELLED, **_COUNT},
        "popreo": {**_LABELLED, "universe": "train"},
        "poprsp": {**_LABELLED, "universe": "train", "outside": "count"},
        "bias_disparity": {**_LABELLED, **_COUNT},
        "item_gap": {**_RELEVANT, "gain": "exponential_above"},
        "score": _RELEVANT,
        "user_coverage": _LABELLED,
        "n_retrieved": _RELEVANT,
        "subtopic_recall": {**_RELEVANT, "over": "train", "undefined": 0.0},
    },
    "warprec": {
        "popularity": {**_LABELLED, "cold_item": "one_user", "list_over": "k"},
        "tail": {**_LABELLED, "tail": "pass", "list_over": "k"},
        "efd": {**_RELEVANT, "list_over": "k", "cold_item": "one_user"},
        "epc": {**_RELEVANT, "list_over": "k", "cold_item": "one_user", "population": "known"},
        "coverage": {**_LABELLED, **_COUNT, "as": "count"},
        "gini": {**_LABELLED, "over": "n-1"},
        "entropy": {**_LABELLED, "base": "e"},
        "popreo": {**_LABELLED, "tail": "pass", "parity_of": "shown"},
        "poprsp": {**_LABELLED, "tail": "pass", "parity_of": "shown"},
        "subtopic_recall": {**_RELEVANT, "over": "relevant", "undefined": 0.0},
    },
    "pyndeval": {
        "subtopic_recall": {**_NDEVAL, "over": "relevant"},
        **dict.fromkeys(
            ("alpha_ndcg", "alpha_dcg", "err_ia", "nerr_ia", "p_ia", "map_ia"), _NDEVAL
        ),
    },
}  # fmt: skip
