"""How other libraries compute measures beyond accuracy, as choices of a Convention by metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LISTS = {"mean_over": "lists"}
_LABELLED = {"mean_over": "labelled", "missing_user": "skip"}
_NDEVAL = {**_LABELLED, "ties": "text_asc"}
_ROWS = {**_LISTS, "popularity_of": "rows"}
_IGNORE = {"universe": "train", "outside": "ignore"}
_COUNT = {"universe": "catalogue", "outside": "count"}
#: By library and metric, the choices that differ from our defaults.
BEYOND_PRESETS: dict[str, dict[str, Mapping[str, Any]]] = {
    "rectools": {
        "popularity": _ROWS,
        "novelty": _LISTS,
        "overlap": _LISTS,
        "serendipity": _LISTS,
        "coverage": {**_COUNT, "coverage_as": "count"},
    },
    "replay": {
        "novelty": {**_LISTS, "list_over": "k", "novelty_as": "share"},
        "unseen": {"mean_over": "train", "undefined": 1.0},
        "unexpected": {**_LISTS, "list_over": "k"},
        "coverage": _IGNORE,
        "categories": {**_LISTS, "list_over": "k"},
    },
    "recommenders": {
        "novelty": {
            **_LISTS, "popularity_of": "rows", "novelty_model": "choice", "cold_item": "zero",
        },
        "coverage": {"universe": "train", "outside": "count"},
        "entropy": {},
    },
    "evidently": {
        "popularity": {**_LISTS, "cold_item": "drop"},
        "novelty": {**_LISTS, "cold_item": "drop"},
        "coverage": _IGNORE,
        "gini": {"universe": "recommended", "inequality_over": "n-1"},
        "personalization": {"list_over": "k"},
    },
    "recpack": {
        "coverage": {**_LABELLED, **_COUNT},
    },
    "recmetrics": {
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
        "gini": {},
    },
    "pyg": {
        "popularity": {**_ROWS, "list_over": "k"},
        "coverage": _COUNT,
        "personalization": {"list_over": "k"},
    },
    "elliot": {
        "popularity": {**_LABELLED, "cold_item": "raise"},
        "tail": {**_LABELLED, "universe": "train"},
        "efd": _LABELLED,
        "epc": _LABELLED,
        "coverage": {**_LABELLED, **_COUNT, "coverage_as": "count"},
        "gini": {
            **_LABELLED, **_IGNORE, "inequality_over": "n-1", "gini_as": "equality",
        },
        "entropy": {**_LABELLED, "entropy_over": "lists"},
        "subtopic_recall": _LABELLED,
    },
    "warprec": {
        "popularity": {**_LABELLED, "cold_item": "one_user", "list_over": "k"},
        "tail": {**_LABELLED, "tail": "pass", "list_over": "k"},
        "efd": _LABELLED,
        "epc": _LABELLED,
        "coverage": {**_LABELLED, **_COUNT, "coverage_as": "count"},
        "gini": {**_LABELLED, "inequality_over": "n-1"},
        "entropy": {**_LABELLED, "log_base": "e"},
        "subtopic_recall": {**_LABELLED, "topics_over": "relevant"},
    },
    "lenskit_head": {"category_entropy": _LISTS},
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
