r"""The formulas of a convention, in words and in LaTeX.

In all of them r is a rank from 1, t_r the grade of the item there, n the length of the list, R the
number of relevant items and \theta the threshold of relevance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from recsys_ndcg.convention.notation import format_choice

_TIED = "Items with equal estimates"
_BEST_FIRST = r"g(t^*_r)\,D(r), \quad g(t^*_1) \geq g(t^*_2) \geq \dots"
_PRECISIONS = (
    r"\sum_{r=1}^{\min(k, n)} [t_r \geq \theta]\,\mathrm{P@}r,"
    r"\quad \mathrm{P@}r = \frac{1}{r} \sum_{q=1}^{r} [t_q \geq \theta]"
)
#: The words of each choice, the default first, with what they say; and with a formula, if they are
#: one.
DESCRIPTIONS: dict[str, dict[str | float, Any]] = {
    "gain": {
        "exponential": ("2 to the power of the grade, minus 1", r"g(t) = 2^t - 1"),
        "linear": ("the grade itself", r"g(t) = t"),
        "binary": ("1 for a relevant item, else 0", r"g(t) = [t \geq \theta]"),
        "exponential_above": (
            "2 to the power of the grade's steps above the threshold, from 1, minus 1; else 0",
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
            "1 over the binary logarithm of the rank; ranks 1 and 2 weigh 1 both",
            r"D(r) = \frac{1}{\max(\log_2 r, 1)}",
        ),
        "reciprocal": ("1 over the rank", r"D(r) = \frac{1}{r}"),
    },
    "ideal": {
        "global": (
            "of all the user's labelled items L, best first",
            rf"\mathrm{{IDCG@}}k = \sum_{{r=1}}^{{\min(k, |L|)}} {_BEST_FIRST} \text{{ of all }} L",
        ),
        "local": (
            "of the items in the list, best first (for an empty one of all labelled items)",
            rf"\mathrm{{IDCG@}}k = \sum_{{r=1}}^{{\min(k, n)}} {_BEST_FIRST} \text{{ of the list}}",
        ),
        "max": (
            "of the top grade at each of the k places, the same for every user",
            r"\mathrm{IDCG@}k = \sum_{r=1}^{k} g(t_{\max})\,D(r)",
        ),
    },
    "unlabelled": {
        "zero": "An item without a grade has gain 0 and is not relevant.",
        "filter": "Items without a grade are removed before ranking.",
        "raise": "Items without a grade are refused.",
    },
    "ties": {
        "expected": f"{_TIED}: the exact mean over all their orders.",
        "input": f"{_TIED} keep the order of the input.",
        "best": f"{_TIED} stand in their best order.",
        "worst": f"{_TIED} stand in their worst order.",
        "item_asc": f"{_TIED} stand by item id, lowest first.",
        "item_desc": f"{_TIED} stand by item id, highest first.",
        "text_asc": f"{_TIED} stand by item id as text, first in the alphabet first.",
        "text_desc": f"{_TIED} stand by item id as text, last in the alphabet first.",
    },
    "short_list": {
        "k": ("over k, also where the list is shorter", "k"),
        "n": (
            (
                "over k, or over the length of a shorter list (an empty one has one place, and "
                "scores 0)"
            ),
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
        "skip": "has no score and stays out of the mean",
        0.0: "scores 0",
        1.0: "scores 1",
        "raise": "is refused",
    },
    "missing_user": {
        "zero": "A labelled user without a list scores as an empty list does.",
        "skip": "A labelled user without a list is left out.",
        "raise": "A labelled user without a list is refused.",
    },
    "unlisted": {
        "count": "A labelled item outside the list counts among the relevant and the ideal ones.",
        "ignore": "A labelled item outside the list does not exist.",
    },
    "impossible": {
        "rank": "",
        "last": "Predictions that the model could not make stand after all others, tied.",
        "drop": "Predictions that the model could not make are taken out of the list.",
    },
    "mean_over": {
        "all": "all users",
        "labelled": "the users with a labelled item",
        "relevant": "the users with a relevant item",
    },
    "duplicates": {
        "raise": "is refused",
        "first": "counts by its first row",
        "last": "counts by its last row",
        "max": "counts by its highest values",
        "mean": "counts by the mean of its values",
    },
}


def format_formulas(convention: Any) -> str:
    """Return the formulas of a `Convention`, each in words with its LaTeX below."""
    parts = [*_lists(convention), *_gains(convention), *_hits(convention), *_users(convention)]
    return "\n".join(parts)


def _lists(convention: Any) -> list[str]:
    step = convention.tie_tolerance
    rounded = "single precision" if step == "float32" else f"steps of {step}"
    return [
        "Each user's items are ranked by estimate, highest first.",
        *([f"Estimates are first rounded to {rounded}."] if step else []),
        _said(convention, "ties"),
        _said(convention, "unlabelled"),
        _said(convention, "unlisted"),
        *filter(None, [_said(convention, "impossible")]),
        f"The same user and item twice {_said(convention, 'duplicates')}.",
    ]


def _gains(convention: Any) -> list[str]:
    gain, discount, ideal = (_said(convention, name) for name in ("gain", "discount", "ideal"))
    top = ""
    if convention.ideal == "max" and convention.max_grade is not None:
        top = rf", \quad t_{{\max}} = {convention.max_grade:.15g}"
    return [
        "",
        f"Gain of a grade: {gain[0]}.",
        _set(gain[1]),
        f"Weight of a rank: {discount[0]}.",
        _set(discount[1]),
        "DCG@k: the weighted gains of the first k items.",
        _set(r"\mathrm{DCG@}k = \sum_{r=1}^{\min(k, n)} g(t_r)\,D(r)"),
        f"Ideal DCG@k: that {ideal[0]}.",
        _set(ideal[1] + top),
        "NDCG@k: DCG@k over the ideal DCG@k.",
        _set(r"\mathrm{NDCG@}k = \frac{\mathrm{DCG@}k}{\mathrm{IDCG@}k}"),
    ]


def _hits(convention: Any) -> list[str]:
    words, places = _said(convention, "short_list")
    reach, which, recommended = r"\min(k, n)", "first k items", []
    least = convention.recommend_from
    if least is not None:
        limit, latex = "the threshold", r"\theta"
        if least != "threshold":
            limit = latex = f"{least:.15g}"
        words, places = "over the recommended ones among the first k", r"\min(k, m)"
        after = " after rounding" if convention.tie_tolerance else ""
        reach = r"\min(k, m)"
        which = f"first k items that are estimated at least {limit}{after}"
        recommended = [_set(rf"m = |\{{i : \mathrm{{estimated}}_i \geq {latex}\}}|")]
    recall, found = _said(convention, "recall_over")
    average, over = _said(convention, "ap_over")
    return [
        "",
        f"Hits: the relevant items among the {which}.",
        _set(rf"h = \sum_{{r=1}}^{{{reach}}} [t_r \geq \theta]"),
        *recommended,
        f"Precision@k: hits {words}.",
        _set(rf"\mathrm{{P@}}k = \frac{{h}}{{{places}}}"),
        f"Recall@k: hits {recall}.",
        _set(rf"\mathrm{{R@}}k = \frac{{h}}{{{found}}}"),
        "F1@k: twice the hits over the sum of both denominators.",
        _set(rf"\mathrm{{F_1@}}k = \frac{{2h}}{{{places} + {found}}}"),
        f"AP@k: precision at the ranks of the relevant items among the first k, {average}.",
        _set(rf"\mathrm{{AP@}}k = \frac{{1}}{{{over}}} {_PRECISIONS}"),
        "RR@k and hit@k: from the first relevant item; undefined, as recall, where there is none.",
        _set(
            r"\mathrm{RR@}k = \max_{r \leq \min(k, n)} \frac{[t_r \geq \theta]}{r},"
            r"\quad \mathrm{hit@}k = \max_{r \leq \min(k, n)} [t_r \geq \theta]"
        ),
    ]


def _users(convention: Any) -> list[str]:
    short = [
        "A user with fewer than k items is left out.",
        "In metrics without k, so is one with fewer items than the smallest k asked for.",
    ]
    return [
        "",
        f"A user whose denominator is 0 {_said(convention, 'undefined')}.",
        _said(convention, "missing_user"),
        *(short if convention.short_list == "drop" else []),
        f"Mean: over {_said(convention, 'mean_over')} that have a score.",
        "Pooled: the sum of their numerators over that of their denominators.",
        _set(
            r"\mathrm{mean} = \frac{1}{|U|} \sum_{u \in U} \frac{n_u}{d_u},"
            r"\quad \mathrm{pooled} = \frac{\sum_{u \in U} n_u}{\sum_{u \in U} d_u}"
        ),
    ]


def _said(convention: Any, name: str) -> Any:
    """Return what is said of a choice; a mapping or a function of the user's is described."""
    value = getattr(convention, name)
    if isinstance(value, Mapping):
        cases = r" \\ ".join(rf"{gain:.15g} & t = {grade:.15g}" for grade, gain in value.items())
        listed = ", ".join(f"{gain:.15g} for {grade:.15g}" for grade, gain in value.items())
        return listed, rf"g(t) = \begin{{cases}} {cases} \end{{cases}}"
    if callable(value):
        called = format_choice(value)[len("callable(") : -1]
        weight = "g(t)" if name == "gain" else "D(r)"
        words = f"the function {called}, of which nothing more is known here"
        return words, rf"{weight} = \mathrm{{{called}}}({weight[2]})".replace("_", r"\_")
    return DESCRIPTIONS[name][value]


def _set(latex: str) -> str:
    return f"    {latex}"
