r"""The formulas of a convention, in words and in LaTeX.

In all formulas r is a rank from 1, t_r the grade of the item there, n the length of the list, R the
number of relevant items and \theta the threshold of relevance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recsys_ndcg.convention import beyond
from recsys_ndcg.convention.notation import format_choice
from recsys_ndcg.convention.tie_rules import TIE_RULES

_BEST_FIRST = r"g(t^*_r)\,D(r), \quad g(t^*_1) \geq g(t^*_2) \geq \dots"
_PRECISIONS = (
    r"\sum_{r=1}^{\min(k, n)} [t_r \geq \theta]\,\mathrm{P@}r,"
    r"\quad \mathrm{P@}r = \frac{1}{r} \sum_{q=1}^{r} [t_q \geq \theta]"
)
#: The description of each value of each choice, the default first; with LaTeX if it has a formula.
DESCRIPTIONS: dict[str, dict[str | float, Any]] = {
    "gain": {
        "exponential": ("2 to the power of the grade, minus 1", r"g(t) = 2^t - 1"),
        "linear": ("the grade itself", r"g(t) = t"),
        "binary": ("1 for a relevant item, else 0", r"g(t) = [t \geq \theta]"),
        "exponential_above": (
            "2 to the power of (grade - threshold + 1), minus 1, for a relevant item, else 0",
            r"g(t) = [t \geq \theta] \left(2^{t - \theta + 1} - 1\right)",
        ),
    },
    "discount": {
        "log2": (
            "1 over the binary logarithm of the rank plus 1",
            r"D(r) = \frac{1}{\log_2(r + 1)}",
        ),
        "ln": ("1 over the natural logarithm of the rank plus 1", r"D(r) = \frac{1}{\ln(r + 1)}"),
        "log2_max": (
            "1 over the binary logarithm of the rank; 1 for ranks 1 and 2",
            r"D(r) = \frac{1}{\max(\log_2 r, 1)}",
        ),
        "reciprocal": ("1 over the rank", r"D(r) = \frac{1}{r}"),
    },
    "ideal": {
        "global": (
            "all the user's labelled items L, best first",
            rf"\mathrm{{IDCG@}}k = \sum_{{r=1}}^{{\min(k, |L|)}} {_BEST_FIRST} \text{{ of all }} L",
        ),
        "local": (
            "the items in the list, best first (all labelled items if it is empty)",
            rf"\mathrm{{IDCG@}}k = \sum_{{r=1}}^{{\min(k, n)}} {_BEST_FIRST} \text{{ of the list}}",
        ),
        "max": (
            "the top grade at each of the k ranks, the same for every user",
            r"\mathrm{IDCG@}k = \sum_{r=1}^{k} g(t_{\max})\,D(r)",
        ),
    },
    "unlabelled": {
        "zero": "An item without a grade has gain 0 and is not relevant.",
        "filter": "Items without a grade are removed before ranking.",
        "raise": "An item without a grade is an error.",
    },
    "ties": {name: f"Items with equal estimates{rule.text}." for name, rule in TIE_RULES.items()},
    "short_list": {
        "k": ("over k, also if the list is shorter", "k"),
        "n": (
            "over k, or over the length of a shorter list (1 if it is empty: the score is 0)",
            r"\min(k, n)",
        ),
        "drop": ("over k", "k"),
    },
    "recall_over": {
        "relevant": ("over all relevant items", "R"),
        "capped": ("over the relevant items, at most k", r"\min(k, R)"),
    },
    "ap_over": {
        "relevant": ("over all relevant items", "R"),
        "capped": ("over the relevant items, at most k", r"\min(k, R)"),
        "k": ("over k", "k"),
        "hits": (
            "over the relevant items among the first k, so that a better order can score less",
            r"\sum_{r=1}^{\min(k, n)} [t_r \geq \theta]",
        ),
    },
    "undefined": {
        "skip": "has no score and is left out of the mean",
        0.0: "scores 0",
        1.0: "scores 1",
        "raise": "is an error",
    },
    "missing_user": {
        "zero": "A labelled user without a list scores like an empty list.",
        "skip": "A labelled user without a list is left out.",
        "raise": "A labelled user without a list is an error.",
    },
    "unlisted": {
        "count": "Labelled items outside the list count in the ideal list and, if relevant, in R.",
        "ignore": "A labelled item outside the list is ignored.",
    },
    "impossible": {
        "rank": "",
        "last": "Predictions that the model could not make are ranked last, tied.",
        "drop": "Predictions that the model could not make are removed from the list.",
    },
    "mean_over": {
        "all": "all users",
        "labelled": "the users with a labelled item",
        "relevant": "the users with a relevant item",
        "lists": "the users with a list",
        "train": "the users of training",
    },
    "duplicates": {
        "raise": "are an error",
        "first": "are replaced by the first",
        "last": "are replaced by the last",
        "max": "are merged: the highest of their values",
        "mean": "are merged: the mean of their values",
    },
    **beyond.DESCRIPTIONS,
}


def format_formulas(convention: Any) -> str:
    """Return the formulas of a `Convention`, each in words with its LaTeX below."""
    sections = _describe_lists, _describe_gains, _describe_hits, _describe_users, _describe_beyond
    return "\n".join(line for describe in sections for line in describe(convention))


def _describe_lists(convention: Any) -> list[str]:
    step = convention.tie_tolerance
    rounded = "single precision" if step == "float32" else f"steps of {step}"
    return [
        "Each user's items are ranked by estimate, highest first.",
        *([f"Estimates are first rounded to {rounded}."] if step else []),
        _describe(convention, "ties"),
        _describe(convention, "unlabelled"),
        _describe(convention, "unlisted"),
        *filter(None, [_describe(convention, "impossible")]),
        f"Rows with the same user and item {_describe(convention, 'duplicates')}.",
    ]


def _describe_gains(convention: Any) -> list[str]:
    gain, discount, ideal = (_describe(convention, name) for name in ("gain", "discount", "ideal"))
    top = ""
    if convention.ideal == "max" and convention.max_grade is not None:
        top = rf", \quad t_{{\max}} = {convention.max_grade:.15g}"
    return [
        "",
        f"Gain of a grade: {gain[0]}.",
        _indent(gain[1]),
        f"Weight of a rank: {discount[0]}.",
        _indent(discount[1]),
        "DCG@k: the weighted gains of the first k items.",
        _indent(r"\mathrm{DCG@}k = \sum_{r=1}^{\min(k, n)} g(t_r)\,D(r)"),
        f"Ideal DCG@k: the DCG@k of {ideal[0]}.",
        _indent(ideal[1] + top),
        "NDCG@k: DCG@k over the ideal DCG@k.",
        _indent(r"\mathrm{NDCG@}k = \frac{\mathrm{DCG@}k}{\mathrm{IDCG@}k}"),
    ]


def _describe_hits(convention: Any) -> list[str]:
    precision, places = _describe(convention, "short_list")
    last, items, recommended = r"\min(k, n)", "first k items", []
    limit = convention.recommend_from
    if limit is not None:
        text, latex = "the threshold", r"\theta"
        if limit != "threshold":
            text = latex = f"{limit:.15g}"
        precision, places = "over the recommended items among the first k", r"\min(k, m)"
        rounded = " after rounding" if convention.tie_tolerance else ""
        last = r"\min(k, m)"
        items = f"first k items with an estimate of at least {text}{rounded}"
        recommended = [_indent(rf"m = |\{{i : \mathrm{{estimated}}_i \geq {latex}\}}|")]
    recall, recall_over = _describe(convention, "recall_over")
    ap, ap_over = _describe(convention, "ap_over")
    return [
        "",
        f"Hits: the relevant items among the {items}.",
        _indent(rf"h = \sum_{{r=1}}^{{{last}}} [t_r \geq \theta]"),
        *recommended,
        f"Precision@k: hits {precision}.",
        _indent(rf"\mathrm{{P@}}k = \frac{{h}}{{{places}}}"),
        f"Recall@k: hits {recall}.",
        _indent(rf"\mathrm{{R@}}k = \frac{{h}}{{{recall_over}}}"),
        "F1@k: twice the hits over the sum of both denominators.",
        _indent(rf"\mathrm{{F_1@}}k = \frac{{2h}}{{{places} + {recall_over}}}"),
        f"AP@k: precision at the ranks of the relevant items among the first k, {ap}.",
        _indent(rf"\mathrm{{AP@}}k = \frac{{1}}{{{ap_over}}} {_PRECISIONS}"),
        "RR@k and hit@k: from the first relevant item; undefined, like recall, if there is none.",
        _indent(
            r"\mathrm{RR@}k = \max_{r \leq \min(k, n)} \frac{[t_r \geq \theta]}{r},"
            r"\quad \mathrm{hit@}k = \max_{r \leq \min(k, n)} [t_r \geq \theta]"
        ),
    ]


def _describe_users(convention: Any) -> list[str]:
    short = [
        "A user with fewer than k items is left out.",
        "In metrics without k, a user with fewer items than the smallest k in use is left out.",
    ]
    return [
        "",
        f"A user whose denominator is 0 {_describe(convention, 'undefined')}.",
        _describe(convention, "missing_user"),
        *(short if convention.short_list == "drop" else []),
        f"Mean: over {_describe(convention, 'mean_over')} who have a score.",
        "Pooled: the sum of their numerators over the sum of their denominators.",
        _indent(
            r"\mathrm{mean} = \frac{1}{|U|} \sum_{u \in U} \frac{n_u}{d_u},"
            r"\quad \mathrm{pooled} = \frac{\sum_{u \in U} n_u}{\sum_{u \in U} d_u}"
        ),
    ]


def _describe_beyond(convention: Any) -> list[str]:
    """Return sentences about the choices beyond accuracy that are not defaults."""
    changed = []
    for name, words in beyond.DESCRIPTIONS.items():
        value = getattr(convention, name)
        if value != next(iter(words)):
            changed.append(f"{name}: your function." if callable(value) else words[value])
    numbers = [(name, getattr(convention, name)) for name in beyond.NUMBERS]
    changed += [f"{name} is {value:g}." for name, value in numbers if value is not None]
    return ["", *changed] if changed else []


def _describe(convention: Any, name: str) -> Any:
    """Return the description of a choice, also of a mapping or a user's function."""
    value = getattr(convention, name)
    if isinstance(value, Mapping):
        cases = r" \\ ".join(rf"{gain:.15g} & t = {grade:.15g}" for grade, gain in value.items())
        listed = ", ".join(f"{gain:.15g} for {grade:.15g}" for grade, gain in value.items())
        return listed, rf"g(t) = \begin{{cases}} {cases} \end{{cases}}"
    if callable(value):
        function = format_choice(value)[len("callable(") : -1]
        symbol = "g(t)" if name == "gain" else "D(r)"
        formula = rf"{symbol} = \mathrm{{{function}}}({symbol[2]})"
        return f"your function {function}", formula.replace("_", r"\_")
    return DESCRIPTIONS[name][value]


def _indent(latex: str) -> str:
    return f"    {latex}"
