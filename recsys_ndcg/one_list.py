"""Metrics of one list: pairs (estimated, true), or grades in ranked order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recsys_ndcg.calls import take_options
from recsys_ndcg.convention import ConventionLike
from recsys_ndcg.errors import InvalidInputError
from recsys_ndcg.input import parse_list
from recsys_ndcg.lists import to_lists
from recsys_ndcg.metrics import METRICS
from recsys_ndcg.scoring import Plan

Grades = Iterable[float | tuple[float, float]]

_USER = "the list"
#: Phrases of messages that mention `_USER`, and their replacements: the caller gave no user.
_PHRASES_WITHOUT_USER = {
    f"User {_USER!r} has": "The list has",
    f" (user {_USER!r})": "",
    f", the first user {_USER!r}": "",
    f"for 1 users, the first {_USER!r}: each has": "for this list: it has",
    f" of user {_USER!r}": "",
    "{user: [(estimated, true), ...]}": "or pairs (estimated, true)",
}


def _advise(*given: Any, k: Any = "k", **_: Any) -> str:
    """Return what to write instead of two arrays, which scikit-learn's functions take."""
    if not any(hasattr(one, "__len__") for one in given[1:]):
        return ""
    k = next((one for one in given[2:] if not hasattr(one, "__len__")), k)
    return (
        "The second argument is the cutoff. Give estimates and true values as pairs, such as "
        f"ndcg_at_k(list(zip(y_score, y_true)), {k})."
    )


@take_options(advise=_advise)
def dcg_at_k(
    x: Grades,
    k: int | None,
    *,
    threshold: float | None = None,
    convention: ConventionLike = None,
    **choices: Any,
) -> float:
    """Return the discounted cumulative gain of one list.

    Parameters
    ----------
    x : sequence
        Pairs (estimated, true) in any order, or true grades in ranked order.
    k : int, optional
        The cutoff; None for all items.
    threshold : float, optional
        The least grade of a relevant item. Metrics that count relevant items need it, and so do
        gains such as ``"binary"``.
    convention : Convention or str, optional
        All choices, or the name of a library, as in `recsys_ndcg.evaluate`.
    **choices
        Fields of `Convention` to replace.

    Raises
    ------
    InvalidInputError
        The list is empty, or has other values than numbers or pairs.

    Examples
    --------
    >>> round(dcg_at_k([3, 2, 2, 1, 2], 5), 12)
    11.984024240491
    >>> dcg_at_k([3, 2], 2, convention="sklearn") == dcg_at_k([3, 2], 2, gain="linear")
    True
    """
    return _score("dcg", x, k, threshold, convention=convention, **choices)


@take_options(advise=_advise)
def ndcg_at_k(x: Grades, k: int | None, **options: Any) -> float:
    """Return the normalised DCG of one list, NaN if undefined; parameters as in `dcg_at_k`.

    Examples
    --------
    >>> round(ndcg_at_k([3, 2, 2, 1, 2], 5), 12)
    0.992739406476
    """
    return _score("ndcg", x, k, **options)


@take_options(advise=_advise)
def precision_at_k(
    x: Grades, k: int | None, threshold: float | None = None, **options: Any
) -> float:
    """Return the precision of one list; parameters as in `dcg_at_k`.

    Examples
    --------
    >>> precision_at_k([1, 1, 1, 0, 0], 5)
    0.6
    """
    return _score("precision", x, k, threshold, **options)


@take_options(advise=_advise)
def recall_at_k(x: Grades, k: int | None, threshold: float | None = None, **options: Any) -> float:
    """Return the recall of one list, NaN if undefined; parameters as in `dcg_at_k`.

    Examples
    --------
    >>> recall_at_k([1, 0, 1], 2)
    0.5
    """
    return _score("recall", x, k, threshold, **options)


@take_options(advise=_advise)
def average_precision_at_k(
    x: Grades, k: int | None, threshold: float | None = None, **options: Any
) -> float:
    """Return the average precision of one list, NaN if undefined; parameters as in `dcg_at_k`.

    Examples
    --------
    >>> round(average_precision_at_k([1, 0, 1], 3), 4)
    0.8333
    """
    return _score("ap", x, k, threshold, **options)


@take_options(advise=_advise)
def reciprocal_rank(
    x: Grades, k: int | None = None, threshold: float | None = None, **options: Any
) -> float:
    """Return 1 over the rank of the first relevant item of one list.

    It is 0 if that rank is above k, and NaN if no item is relevant. Parameters as in `dcg_at_k`.

    Examples
    --------
    >>> reciprocal_rank([0, 1, 1])
    0.5
    """
    return _score("rr", x, k, threshold, **options)


def _score(
    name: str,
    x: Grades,
    k: Any,
    threshold: float | None = None,
    convention: ConventionLike = None,
    **choices: Any,
) -> float:
    InvalidInputError.raise_if(_advise(x, k))
    request = "give one list: pairs (estimated, true), or grades in ranked order"
    entries = parse_list(x, "Found", request)
    if not entries:
        msg = f"The list is empty; {request}."
        raise InvalidInputError(msg)
    plan = Plan.of([METRICS[name](k)], k=None, threshold=threshold, convention=convention)
    try:
        lists = to_lists({_USER: entries})
        scores = plan.with_choices(**choices).resolve_and_measure(lists)
    except InvalidInputError as error:
        text = str(error)
        for phrase, replacement in _PHRASES_WITHOUT_USER.items():
            text = text.replace(phrase, replacement)
        error.args = (text,)
        raise
    return float(scores.per_user[0, 0])
