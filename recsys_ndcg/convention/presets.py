"""How other libraries compute their numbers, as choices of a Convention.

Each is compared with the library itself (tests/peers), or with its formula.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from recsys_ndcg.convention import formulas
from recsys_ndcg.convention.beyond_presets import BEYOND_PRESETS
from recsys_ndcg.convention.notation import parse_metric_name
from recsys_ndcg.errors import InvalidInputError, quote, suggest

Choices = Mapping[str, Any]


@dataclass(frozen=True)
class Preset:
    """The choices of one library.

    Parameters
    ----------
    library : str
        Its name, and the version of the comparison, if there is one.
    metrics : str
        The metrics that it has and we reproduce, by our names.
    choices : mapping
        The choices that differ from our defaults.
    by_metric : mapping, optional
        Further choices for single metrics: ``"rr"``, or ``"rr@"`` with a cutoff.
    not_reproduced : mapping, optional
        By metric, a different number that the library computes under that name.
    caveat : str, optional
        When the library's own number differs, or does not exist.
    beyond : mapping, optional
        By metric beyond accuracy, the choices that differ from our defaults.
    k : int, optional
        The cutoff of a name without ``@k``; None if the library's such names have none.
    threshold : float, optional
        The lowest relevant grade if the caller gives none.
    """

    library: str
    metrics: str
    choices: Choices
    by_metric: Mapping[str, Choices] = field(default_factory=dict)
    not_reproduced: Mapping[str, str] = field(default_factory=dict)
    caveat: str = ""
    beyond: Mapping[str, Choices] = field(default_factory=dict)
    k: int | None = 10
    threshold: float | None = None

    def __str__(self) -> str:
        """Return a sentence about what the preset reproduces."""
        metrics = ", ".join([*self.metrics.split(), *self.beyond])
        notes = [self.format_note(name) for name in self.not_reproduced]
        return "; ".join(filter(None, [f"{self.library}: {metrics}", self.remarks, *notes]))

    @property
    def remarks(self) -> str:
        """The defaults that it brings, and when the library's own number differs."""
        cut = "no cutoff" if self.k is None else f"the cutoff {self.k}"
        defaults = {
            f"names without @k have {cut}": self.k != Preset.k,
            f"items are relevant from grade {self.threshold or 0:g} on": self.threshold,
            self.caveat: self.caveat,
        }
        return "; ".join(text for text, is_shown in defaults.items() if is_shown)

    def has(self, metric: str) -> bool:
        """Return whether the preset reproduces a metric."""
        return parse_metric_name(metric) in {*self.metrics.split(), *self.beyond}

    def format_note(self, metric: str) -> str:
        """Return what else the library computes under the name of a metric; "" if nothing."""
        name = parse_metric_name(metric)
        other = self.not_reproduced.get(name)
        return f"what it calls {name} is {other}" if other else ""


def find_choices(name: str, metric: str | None = None) -> dict[str, Any]:
    """Return the choices of a preset, for one of its metrics or for NDCG.

    Raises
    ------
    InvalidInputError
        There is no such preset; the nearest name is given.

    Examples
    --------
    >>> find_choices("evaluation_for_ir")
    {'gain': 'linear'}
    """
    preset = PRESETS.get(name) if isinstance(name, str) else None
    if preset is None:
        described = formulas.DESCRIPTIONS
        word, equals, value = str(name).partition("=")
        fields = [one for one, words in described.items() if word in ([one] if equals else words)]
        hint = suggest(str(name).lower(), PRESETS)
        if fields and not hint.startswith("Did"):
            value = repr(value or word) if (value or word) in described[fields[0]] else "..."
            examples = " or ".join(f"`convention=Convention({one}={value})`" for one in fields[:3])
            hint = f"It is a choice: write {examples}."
        if not isinstance(name, str):
            hint = "Name a library, or give choices by name: Convention(gain='linear')."
        msg = f"No preset is named {quote(name)}. {hint}"
        raise InvalidInputError(msg)
    metric_name, choices = parse_metric_name(metric or "ndcg"), preset.choices
    if metric_name in preset.beyond:
        ties = {"ties": choices["ties"]} if "ties" in choices else {}
        choices = {**ties, **preset.beyond[metric_name]}
    further = preset.by_metric.get(metric_name, {})
    if metric and "@" in str(metric):
        further = preset.by_metric.get(f"{metric_name}@", further)
    return {**choices, **further}


#: The libraries' names without a cutoff have none, and items are relevant from grade 1 on.
_FROM_1: dict[str, Any] = {"k": None, "threshold": 1.0}
_BINARY = "ndcg precision recall ap rr hit"
_TREC: Choices = {
    "gain": "linear",
    "ties": "text_desc",
    "tie_tolerance": "float32",
    "undefined": 0.0,
    "missing_user": "skip",
    "mean_over": "labelled",
}
_WHOLE_GRADES = "the library rejects or truncates fractional grades"
_RANX: Choices = {"gain": "linear", "ties": "input", "undefined": 0.0, "mean_over": "labelled"}
_RANX_TIES = "ties in lists of 16 or more items are in the order of an unstable sort"
# libraries that score given lists ignore unlisted items and missing users: their ideal is "local"
_LISTS: Choices = {"ideal": "local", "unlisted": "ignore", "missing_user": "skip"}
_CATBOOST: Choices = {
    **_LISTS,
    "ties": "worst",
    "short_list": "n",
    "ap_over": "capped",
    "undefined": 1.0,
}
_CATBOOST_ZERO = {"ap": {"undefined": 0.0}, "rr": {"undefined": 0.0}}
_SHUFFLED: Choices = {**_LISTS, "tie_tolerance": "float32", "short_list": "n", "undefined": 0.0}
_SHUFFLES = "values in single precision; it shuffles ties, which are averaged here"
_BORDER = (
    "CatBoost counts grades above its option border as relevant, not those equal to it: set it "
    "just below the threshold"
)
# tables of relevant items: only users who have one count, and all grades are equal
_RELEVANT: Choices = {"gain": "binary", "ties": "input", "mean_over": "relevant"}
_SKIP: Choices = {"missing_user": "skip"}
_LONG_IDEAL = "an NDCG whose ideal has all relevant items, also beyond k"
_POOLED = "a pooled {0}: evaluate with this preset and read {0}@k in the column pooled"

PRESETS: dict[str, Preset] = {
    "trec_eval": Preset(
        "trec_eval 9.0.8", "ndcg precision recall ap rr hit rprecision", _TREC,
        caveat="without its option -c; with -c, add missing_user='zero'; single precision (version "
        "10 has double); trec_eval truncates fractional grades", **_FROM_1,
    ),
    "pytrec_eval": Preset(
        "pytrec_eval-terrier 0.5.11", "ndcg precision recall ap rr hit rprecision f1", _TREC,
        caveat=_WHOLE_GRADES, **_FROM_1,
    ),
    "ir_measures": Preset(
        "ir_measures 0.4.3", "ndcg precision recall ap rr hit rprecision f1",
        {**_TREC, "missing_user": "zero"},
        {"rr@": {"ties": "text_asc", "tie_tolerance": 0.0}},
        caveat=f"with its default providers; {_WHOLE_GRADES}", **_FROM_1,
    ),
    "ranx": Preset(
        "ranx 0.3.21", "ndcg dcg precision recall f1 ap rr hit rprecision", _RANX,
        caveat=f"via its classes, with make_comparable; {_RANX_TIES}; {_WHOLE_GRADES}", **_FROM_1,
    ),
    "ranx_burges": Preset(
        "ranx 0.3.21", "ndcg dcg", {**_RANX, "gain": "exponential"},
        caveat=f"ndcg_burges and dcg_burges; {_RANX_TIES}", **_FROM_1,
    ),
    "sklearn": Preset(
        "scikit-learn 1.9.1", "ndcg dcg", {**_LISTS, "gain": "linear", "undefined": 0.0},
        caveat="the library rejects lists of one item", k=None,
    ),
    "catboost": Preset(
        "CatBoost 1.2.10", "ndcg dcg precision recall ap rr", {**_CATBOOST, "gain": "linear"},
        _CATBOOST_ZERO, caveat=_BORDER, k=None,
    ),
    "catboost_exp": Preset("CatBoost 1.2.10", "ndcg dcg", _CATBOOST, caveat="type=Exp", k=None),
    "lightgbm": Preset(
        "LightGBM 4.7.0", "ndcg ap",
        {**_LISTS, "ties": "input", "ap_over": "capped", "undefined": 1.0},
        caveat="half stars need its option label_gain",
    ),
    "xgboost": Preset(
        "XGBoost 3.2.0", "ndcg precision ap",
        {**_LISTS, "ties": "input", "tie_tolerance": "float32", "short_list": "n",
         "ap_over": "capped", "undefined": 1.0},
        caveat="it rejects half stars", k=32,
    ),
    "torchmetrics": Preset(
        "torchmetrics 1.9.0", _BINARY,
        {**_LISTS, "gain": "linear", "tie_tolerance": "float32", "ap_over": "hits",
         "undefined": 0.0},
        {name: {"ties": "input"} for name in ("precision", "recall", "ap", "rr", "hit")},
        caveat="values in single precision; ties have no stable order, except in ndcg; items "
        "scored 0 or less count as irrelevant in precision, recall, ap and rr", k=None,
    ),
    "tensorflow_ranking": Preset(
        "TF-Ranking 0.5.5", f"{_BINARY} dcg", _SHUFFLED, caveat=_SHUFFLES, k=None,
    ),
    "recommenders": Preset(
        "recommenders 1.2.1", "ndcg precision recall ap",
        {**_RELEVANT, "discount": "ln", "ap_over": "capped"},
        {"precision": _SKIP, "recall": _SKIP, "ap": _SKIP},
        caveat="ap is its map_at_k(); a user without a list has 0 in ndcg, elsewhere no score",
    ),
    "recommenders_map": Preset(
        "recommenders 1.2.1", "ap", {**_RELEVANT, "discount": "ln", **_SKIP}, caveat="its map()",
    ),
    "rectools": Preset(
        "RecTools 0.19.0", f"{_BINARY} f1", {**_RELEVANT, "ideal": "max"},
        {"user_coverage@": {"mean_over": "lists"}},
        caveat="it takes ranks, not estimates, so it sees no ties",
    ),
    "replay": Preset(
        "RePlay 0.22.0", _BINARY, {**_RELEVANT, "ties": "item_desc", "ap_over": "capped"},
        caveat="for data frames",
    ),
    "replay_dict": Preset(
        "RePlay 0.22.0", _BINARY, {**_RELEVANT, "ap_over": "capped"}, caveat="for dictionaries",
    ),
    "lenskit": Preset(
        "LensKit 2025.8.1", f"{_BINARY} dcg",
        {"gain": "binary", "ties": "input", "discount": "log2_max", "short_list": "n",
         "recall_over": "capped", "ap_over": "capped", "undefined": 0.0, "missing_user": "skip"},
        caveat="a user whose score is undefined has 0, as in the table of its list_metrics(); "
        "its ap fails for users without a relevant item, and divides by the length of a list that "
        "is shorter than k and than the relevant items", k=None,
    ),
    "implicit": Preset(
        "implicit 0.7.3", "ndcg ap", {**_RELEVANT, "recall_over": "capped", "ap_over": "capped"},
        not_reproduced={"precision": _POOLED.format("recall")},
        caveat="for models whose recommend() returns the same order on each call",
    ),
    "recbole": Preset(
        "RecBole 1.2.1", _BINARY, {**_RELEVANT, "ap_over": "capped"},
        caveat="means rounded to four decimals",
    ),
    "elliot": Preset(
        "Elliot", "ndcg precision recall",
        {**_RELEVANT, "gain": "exponential_above", "missing_user": "skip"},
        not_reproduced={"ap": "the mean of precision@1 to precision@k"},
    ),
    "recpack": Preset(
        "RecPack 0.3.6", "ndcg dcg precision recall rr", _RELEVANT,
        not_reproduced={"hit": "the mean number of hits"},
        caveat="for 0/1 labels without ties; CalibratedRecallK is recall_over='capped'",
    ),
    "cornac": Preset(
        "Cornac 3.0.1", "ndcg precision recall f1 hit rr", {**_RELEVANT, "missing_user": "skip"},
        caveat="its rr fails for users without a hit; "
        "its models give default estimates to users without a list", k=None,
    ),
    "evidently": Preset(
        "evidently 0.7.23", "ndcg precision recall hit rr",
        {**_LISTS, "gain": "linear", "short_list": "n", "mean_over": "relevant"},
        {"ndcg": {"mean_over": "all"}},
        not_reproduced={
            "ap": "a number that depends on the order of the rows and can exceed 1",
            "f1": "the F1 of mean precision and mean recall",
        },
        caveat="for lists without ties (it gives tied items equal ranks)",
    ),
    "spark_mllib": Preset(
        "Spark MLlib 4.3.0", "ndcg precision recall ap",
        {"gain": "binary", "ties": "input", "undefined": 0.0, "missing_user": "skip"},
        {"ap@": {"ap_over": "capped"}},
        caveat="its RankingMetrics; a user without a relevant item has 0; ap@k is its "
        "meanAveragePrecisionAt()", k=None,
    ),
    "mlflow": Preset(
        "MLflow 3.17.2", "ndcg precision recall",
        {"gain": "binary", "ties": "input", "short_list": "n", "undefined": 0.0,
         "missing_user": "skip"},
        caveat="its ndcg of a list shorter than k has an ideal of that length",
    ),
    "rankereval": Preset(
        "rankereval 0.2.0", "ndcg dcg precision recall f1 ap rr",
        {"gain": "linear", "discount": "ln", "ties": "input", "ap_over": "capped",
         "mean_over": "relevant"},
        {"ndcg": {"mean_over": "all"}, "dcg": {"mean_over": "labelled"}},
        not_reproduced={"hit": "undefined for users with several relevant items"},
        caveat="with nan_handling='drop'", k=None,
    ),
    "jurity": Preset(
        "Jurity 2.1.0", "precision recall ap",
        {**_RELEVANT, "short_list": "n", "ap_over": "capped"},
        {"precision": _SKIP, "ap": _SKIP},
        not_reproduced={"ndcg": _LONG_IDEAL},
        caveat="ties have no stable order; a user without a list has 0 in recall, elsewhere no "
        "score", k=None,
    ),
    "torchrec": Preset(
        "torchrec 1.8.0", "ndcg",
        {**_LISTS, "gain": "linear", "ties": "input", "short_list": "n", "undefined": 0.0},
        not_reproduced={
            "precision": _POOLED.format("precision"), "recall": _POOLED.format("recall"),
        },
        caveat="with report_ndcg_as_decreasing_curve=False; values in single precision; ties have "
        "no stable order",
    ),
    "ignite": Preset(
        "PyTorch-Ignite 0.5.5", "ndcg hit", {**_LISTS, "ties": "input", "tie_tolerance": "float32"},
        caveat="values in single precision; labels below 1 have no gain; its hit needs k items, "
        "and ties have no stable order there",
    ),
    "pyg": Preset(
        "PyTorch Geometric 2.8.1", f"{_BINARY} f1", {**_RELEVANT, "ap_over": "capped"},
        caveat="values in single precision; it takes ranks, not estimates, so it sees no ties",
    ),
    "keras_rs": Preset(
        "Keras RS 0.4.0", "ndcg dcg precision recall ap rr", _SHUFFLED, caveat=_SHUFFLES, k=None,
    ),
    "sentence_transformers": Preset(
        "Sentence Transformers 6.2.0", _BINARY,
        {"gain": "binary", "ties": "text_asc", "ap_over": "capped", "mean_over": "relevant"},
        caveat="its InformationRetrievalEvaluator",
    ),
    "llama_index": Preset(
        "LlamaIndex 0.14.25", "precision recall ap rr hit",
        {**_RELEVANT, "short_list": "n", "missing_user": "skip"},
        not_reproduced={"ndcg": _LONG_IDEAL},
        caveat="on the first k items of each list", k=None,
    ),
    "surprise_faq": Preset(
        "Surprise 1.1.5, the FAQ's example", "precision recall",
        {"ties": "input", "undefined": 0.0, "recommend_from": "threshold"},
    ),
    "surprise_walkthrough": Preset(
        "examples/surprise_walkthrough.py", "ndcg dcg", {"ties": "input"},
    ),
    "real_life_ndcg": Preset(
        "examples/real_life_ndcg.py", "ndcg dcg", {"discount": "ln"},
        caveat="for its DCG-f, add unlabelled='filter'; for its other two kinds of NDCG, "
        "ideal='local' or ideal='max'",
    ),
    "evaluation_for_ir": Preset("examples/evaluation_for_ir.py", "ndcg dcg cg", {"gain": "linear"}),
    # which only have measures beyond accuracy
    "recmetrics": Preset("recmetrics 0.1.5", "", {}),
    "warprec": Preset("WarpRec 2026-06", "", {}),
    "pyndeval": Preset("pyndeval 0.0.8", "", {}),
    "lenskit_head": Preset("LensKit 2026-08, its development version", "", {}),
}  # fmt: skip
PRESETS |= {name: replace(PRESETS[name], beyond=one) for name, one in BEYOND_PRESETS.items()}
