"""How other libraries compute their numbers, as choices of a Convention.

Each is proved against the library itself, or worked by hand from its formula, in tests/peers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from recsys_ndcg.errors import InvalidInputError, nearest, shown

Choices = Mapping[str, Any]


@dataclass(frozen=True)
class Preset:
    """The choices of one library.

    Parameters
    ----------
    reproduces : str
        The library, its version and what of it.
    choices : mapping
        Where the library differs from our defaults.
    by_metric : mapping, optional
        Further choices of single metrics, by the name without a cutoff.
    not_reproduced : mapping, optional
        What our number does not equal and why, by metric.
    """

    reproduces: str
    choices: Choices
    by_metric: Mapping[str, Choices] = field(default_factory=dict)
    not_reproduced: Mapping[str, str] = field(default_factory=dict)

    def note(self, metric: str) -> str:
        """Return what is not reproduced of a metric, or nothing."""
        return self.not_reproduced.get(_bare(metric), "")


def choices(name: str, metric: str | None = None) -> dict[str, Any]:
    """Return the choices of a preset, for one of its metrics or for NDCG.

    Raises
    ------
    InvalidInputError
        There is no such preset; the nearest name is given.

    Examples
    --------
    >>> choices("evaluation_for_ir")
    {'gain': 'linear'}
    """
    one = PRESETS.get(name) if isinstance(name, str) else None
    if one is None:
        msg = f"No preset is named {shown(name)}. {nearest(str(name), PRESETS)}"
        raise InvalidInputError(msg)
    return {**one.choices, **one.by_metric.get(_bare(metric or "ndcg"), {})}


def _bare(metric: str) -> str:
    """Return the name of a metric without its options and cutoff."""
    return str(metric).lower().split("@")[0].split("(")[0].strip()


_TREC = {
    "gain": "linear",
    "ties": "item_desc",
    "tie_tolerance": "float32",
    "undefined": 0.0,
    "mean_over": "labelled",
}
_RANX = {"gain": "linear", "undefined": 0.0, "mean_over": "labelled"}
# only what is in a truth table is relevant, and only its users count
_TRUTH = {"gain": "binary", "mean_over": "relevant", "ties": "input"}
# what is not in a given list, or has none, does not exist
_GIVEN_LISTS = {"ideal": "local", "unlisted": "ignore", "missing_user": "skip"}
_CATBOOST = {**_GIVEN_LISTS, "ties": "worst", "short_list": "n", "undefined": 1.0}

PRESETS: dict[str, Preset] = {
    "trec_eval": Preset("trec_eval 9.0.8", {**_TREC, "missing_user": "skip"}),
    "pytrec_eval": Preset("pytrec_eval-terrier 0.5.11", {**_TREC, "missing_user": "skip"}),
    "ir_measures": Preset("ir_measures 0.4.3", _TREC),
    "ranx": Preset("ranx 0.3.21", _RANX),
    "ranx_burges": Preset("ranx 0.3.21", {**_RANX, "gain": "exponential"}),
    "sklearn": Preset("scikit-learn 1.9.1", {**_GIVEN_LISTS, "gain": "linear", "undefined": 0.0}),
    "catboost": Preset(
        "CatBoost 1.2.10",
        {**_CATBOOST, "gain": "linear", "ap_over": "capped"},
        {"ap": {"undefined": 0.0}, "rr": {"undefined": 0.0}},
    ),
    "catboost_exp": Preset("CatBoost 1.2.10", {**_CATBOOST, "gain": "exponential"}),
    "lightgbm": Preset(
        "LightGBM 4",
        {**_GIVEN_LISTS, "ties": "input", "ap_over": "capped", "undefined": 1.0},
    ),
    "xgboost": Preset(
        "XGBoost 3",
        {
            **_GIVEN_LISTS,
            "ties": "input",
            "tie_tolerance": "float32",
            "short_list": "n",
            "ap_over": "capped",
            "undefined": 1.0,
        },
    ),
    "torchmetrics": Preset(
        "torchmetrics 1.9",
        {
            **_GIVEN_LISTS,
            "gain": "linear",
            "tie_tolerance": "float32",
            "ap_over": "hits",
            "undefined": 0.0,
        },
        {name: {"ties": "input"} for name in ("ap", "precision", "recall", "hit", "rr")},
    ),
    "tensorflow_ranking": Preset(
        "TF-Ranking 0.5", {**_GIVEN_LISTS, "short_list": "n", "undefined": 0.0}
    ),
    "recommenders": Preset(
        "recommenders 1.2.1",
        {**_TRUTH, "discount": "ln", "ap_over": "capped"},
        {name: {"missing_user": "skip"} for name in ("precision", "recall", "ap")},
    ),
    "recommenders_map": Preset("recommenders 1.2.1", {**_TRUTH, "missing_user": "skip"}),
    "rectools": Preset("RecTools 0.19.0", {**_TRUTH, "ideal": "max"}),
    "replay": Preset("RePlay 0.22.0", {**_TRUTH, "ties": "item_desc", "ap_over": "capped"}),
    "lenskit": Preset(
        "LensKit 2025",
        {
            **_TRUTH,
            "discount": "log2_max",
            "short_list": "n",
            "recall_over": "capped",
            "ap_over": "capped",
            "missing_user": "skip",
            "mean_over": "all",
            "undefined": 0.0,
        },
    ),
    "implicit": Preset("implicit 0.7.3", {**_TRUTH, "recall_over": "capped", "ap_over": "capped"}),
    "replay_dict": Preset("RePlay 0.22.0", {**_TRUTH, "ap_over": "capped"}),
    "recbole": Preset("RecBole 1.2.1", {**_TRUTH, "ap_over": "capped"}),
    "elliot": Preset("elliot", {**_TRUTH, "gain": "exponential_above", "missing_user": "skip"}),
    "recpack": Preset("RecPack 0.3.6", {**_TRUTH, "recall_over": "relevant"}),
    "cornac": Preset("Cornac 3", {**_TRUTH, "missing_user": "skip"}),
    "evidently": Preset(
        "evidently 0.7",
        {"gain": "linear", "ideal": "local", "short_list": "n", "mean_over": "relevant"},
    ),
    "surprise_faq": Preset(
        "Surprise", {"ties": "input", "recommend_from": "threshold", "undefined": 0.0}
    ),
    "surprise_walkthrough": Preset("the walkthrough", {"ties": "input"}),
    "real_life_ndcg": Preset("the notebook", {"discount": "ln"}),
    "evaluation_for_ir": Preset("the notebook", {"gain": "linear"}),
}
