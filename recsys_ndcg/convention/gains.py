"""The gain of a grade, and the weight of a rank."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import numpy as np

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.errors import InvalidInputError, quote

Gain = (
    Literal["exponential", "linear", "binary", "exponential_above"]
    | Mapping[float, float]
    | Callable[["Floats"], "Floats"]
)
Discount = Literal["log2", "ln", "log2_max", "reciprocal"] | Callable[["Floats"], "Floats"]

_MAX_GAIN = 1e290  # so that sums do not overflow
_ONE_PER_GRADE = "gain must give one value per grade"
_N_SINGLE_CALLS = 20
_TOLERANCE = 1e-12  # relative: vectorised functions may differ in the last digits

THRESHOLD_GAINS = ("binary", "exponential_above")  # depend on the threshold


def _exponential(grades: Floats) -> Floats:
    """Return 2^t - 1, precise for small t."""
    gain: Floats = np.exp2(grades)
    gain -= 1
    small = (np.abs(grades) < 0.5) & (grades != 0)
    if small.any():
        gain[small] = np.expm1(grades[small] * np.log(2))
    return gain


DISCOUNTS = {
    "log2": lambda ranks: 1 / np.log2(ranks + 1),
    "ln": lambda ranks: 1 / np.log(ranks + 1),
    "log2_max": lambda ranks: 1 / np.maximum(np.log2(ranks), 1),
    "reciprocal": lambda ranks: 1 / ranks,
}


def compute_gains(true: Floats, rule: Gain, threshold: float | None) -> Floats:
    """Return the gain of every grade, 0 for an unlabelled item (NaN).

    Parameters
    ----------
    true : float64 array of any shape
        Grades; NaN is unlabelled.
    rule : text, mapping or callable
        As `Convention.gain`.
    threshold : float, optional
        The threshold of relevance, for gains that depend on it.

    Examples
    --------
    >>> compute_gains(np.array([0.0, 3.0, np.nan]), "exponential", None)
    array([0., 7., 0.])
    """
    if rule == "binary":
        return compute_relevance(true, threshold)
    if rule == "exponential_above":
        relevant = compute_relevance(true, threshold) > 0
        return np.where(relevant, np.exp2(true - threshold + 1) - 1, 0.0)  # type: ignore[operator]
    if isinstance(rule, str):
        gain = true if rule == "linear" else _exponential(true)
    elif isinstance(rule, Mapping):
        grades, values = np.array([*rule.keys()]), np.array([*rule.values()])
        gain = values[np.minimum(np.searchsorted(grades, true), len(grades) - 1)]
    else:
        labelled, gain = ~np.isnan(true), np.zeros(true.shape)
        gain[labelled] = _call_function(rule, true[labelled], _ONE_PER_GRADE)
        return gain
    is_unlabelled = np.isnan(true)
    return np.where(is_unlabelled, 0.0, gain) if is_unlabelled.any() else gain


def _call_function(function: Callable[[Floats], Floats], values: Floats, rule: str) -> Floats:
    """Return the results of a user's function, one number per value."""
    try:
        results = np.asarray(function(values))
    except TypeError as error:
        msg = f"{rule}, for an array of them: {error}."
        raise InvalidInputError(msg) from error
    if results.shape != values.shape or results.dtype.kind not in "fiub":
        msg = f"{rule}; for {len(values)} it gave {quote(results)}."
        raise InvalidInputError(msg)
    return results.astype(np.float64)


def _call_elementwise(
    function: Callable[[Floats], Floats], values: Floats, parts: Iterable[Positions], rule: str
) -> Floats:
    """Return the results of a user's function, and check that it computes element by element.

    With a function such as ``t / t.max()`` a user's score would depend on the other users.

    Parameters
    ----------
    function : callable
        Takes an array.
    values : float64 array
        Its argument.
    parts : iterable of int64 arrays
        Positions of some values, for which the results must be the same.
    rule : str
        The beginning of messages: what the function must do.

    Raises
    ------
    InvalidInputError
        A result for a part is different.
    """
    results = _call_function(function, values, rule)
    for part in parts:
        part_results = _call_function(function, values[part], rule)
        same = np.isclose(part_results, results[part], rtol=_TOLERANCE, atol=0, equal_nan=True)
        if not same.all():
            place = int(same.argmin())
            msg = (
                f"{rule} independent of the other values: for {values[part][place]:g} it gave "
                f"{results[part][place]:g} in an array of {len(values)} values, but "
                f"{part_results[place]:g} in an array of {len(part)}. Compute each "
                "result from its own value only."
            )
            raise InvalidInputError(msg)
    return results


def compute_relevance(true: Floats, threshold: float | None) -> Floats:
    """Return 1 for grades at or above the threshold, else 0; unlabelled items are not relevant."""
    return (true >= threshold).astype(np.float64)  # type: ignore[operator]


def compute_weights(function: Callable[[Floats], Floats], depth: int, name: str) -> Floats:
    """Return the weights of the ranks 1 to `depth` by a user's function.

    Raises
    ------
    InvalidInputError
        As for `Convention.compute_discounts`.
    """
    ranks = np.arange(1, depth + 1, dtype=np.float64)
    parts = [np.arange(size) for size in {1, depth // 2, depth - 1} if 0 < size < depth]
    weights = _call_elementwise(function, ranks, parts, f"{name} must give one weight per rank")
    is_invalid = ~np.isfinite(weights) | (weights < 0)
    is_invalid[1:] |= weights[1:] > weights[:-1]
    if is_invalid.any():
        first = int(is_invalid.argmax())
        msg = (
            f"{name} gives {weights[first]} at rank {first + 1}; "
            "weights must be finite, at least 0 and never increase with the rank."
        )
        raise InvalidInputError(msg)
    return weights


def find_faulty_grades(
    true: Floats, rule: Gain, threshold: float | None, max_grade: float | None
) -> tuple[Floats, str, str] | None:
    """Return grades without a usable gain, the problem and the advice; None if all are usable.

    A gain above the gain of `max_grade` is not usable.
    """
    top = np.array([] if max_grade is None else [max_grade], dtype=np.float64)
    grades = np.concatenate([np.unique(true), top])
    if callable(rule) and len(grades):
        places = np.arange(len(grades))
        single = places[:: max(len(grades) // _N_SINGLE_CALLS, 1), None]
        _call_elementwise(rule, grades, [np.tile(places, 2), *single], _ONE_PER_GRADE)
    if isinstance(rule, Mapping):
        unknown = grades[~np.isin(grades, [*rule])]
        if len(unknown):
            return unknown, f"no gain in {quote(rule)}", "give every grade a gain"
    with np.errstate(over="ignore"):
        values = compute_gains(grades, rule, threshold)
    shift = "shift the grades so that the lowest is 0, or map each grade to a gain"
    rescale = "rescale the grades" + (
        ", or pass `convention=Convention(gain='linear')`" if str(rule).startswith("exp") else ""
    )
    wrong_column = "if they are times or item ids, give the ratings instead"
    faults = [
        (values < 0, "a negative gain, so that NDCG has no bounds", shift),
        (np.isnan(values), "a gain that is not finite", shift),
        (values > _MAX_GAIN, "a gain too large to be added up", f"{rescale}; {wrong_column}"),
    ]
    if len(top):
        problem = f"more gain than `max_grade={max_grade}`"
        faults += [(values > values[-1], problem, "pass the real top of the scale")]
    found = ((grades[bad], problem, advice) for bad, problem, advice in faults if bad.any())
    return next(found, None)
