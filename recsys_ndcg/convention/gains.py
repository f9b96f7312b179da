"""What a grade is worth, and what a rank weighs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from recsys_ndcg.arrays import Floats, Positions
from recsys_ndcg.errors import InvalidInputError, quote

Gain = str | Mapping[float, float] | Callable[["Floats"], "Floats"]
Discount = str | Callable[["Floats"], "Floats"]

_LARGEST_GAIN = 1e290  # so that sums of a great many fit a float64
_ONE_PER_GRADE = "gain must give one value per grade"
_FEW = 20  # grades for which a function is asked one by one
_SAME = 1e-12  # relative: how far the same number may differ with its place in an array

THRESHOLD_GAINS = ("binary", "exponential_above")  # what these are worth depends on the threshold


def _exponential(grades: Floats) -> Floats:
    """Return 2^t - 1: near 0 the difference would lose what t is."""
    gain: Floats = np.exp2(grades)
    gain -= 1
    small = (np.abs(grades) < 0.5) & (grades != 0)
    if small.any():
        gain[small] = np.expm1(grades[small] * np.log(2))
    return gain


_GAINS: dict[str, Callable[[Floats], Floats]] = {
    "exponential": _exponential,
    "linear": lambda grades: grades,
}
DISCOUNTS = {
    "log2": lambda ranks: 1 / np.log2(ranks + 1),
    "ln": lambda ranks: 1 / np.log(ranks + 1),
    "log2_max": lambda ranks: 1 / np.maximum(np.log2(ranks), 1),
    "reciprocal": lambda ranks: 1 / ranks,
}


def gains(true: Floats, rule: Gain, threshold: float | None) -> Floats:
    """Return the gain of every grade, 0 for an unlabelled item (NaN).

    Parameters
    ----------
    true : float64 array of any shape
        Grades, NaN where unlabelled.
    rule : text, mapping or callable
        As `Convention.gain`.
    threshold : float, optional
        From which grade an item is relevant, for the gains that depend on it.

    Examples
    --------
    >>> gains(np.array([0.0, 3.0, np.nan]), "exponential", None)
    array([0., 7., 0.])
    """
    if rule == "binary":
        return compute_relevance(true, threshold)
    if rule == "exponential_above":
        relevant = compute_relevance(true, threshold) > 0
        return np.where(relevant, np.exp2(true - threshold + 1) - 1, 0.0)  # type: ignore[operator]
    if isinstance(rule, str):
        gain = _GAINS[rule](true)
    elif isinstance(rule, Mapping):
        grades, values = np.array([*rule.keys()]), np.array([*rule.values()])
        gain = values[np.minimum(np.searchsorted(grades, true), len(grades) - 1)]
    else:
        labelled, gain = ~np.isnan(true), np.zeros(true.shape)
        gain[labelled] = _answer(rule, true[labelled], _ONE_PER_GRADE)
        return gain
    absent = np.isnan(true)
    return np.where(absent, 0.0, gain) if absent.any() else gain


def _answer(rule: Callable[[Floats], Floats], asked: Floats, demand: str) -> Floats:
    """Return what a function of the user's says, one number for each that it was asked."""
    try:
        given = np.asarray(rule(asked))
    except TypeError as error:
        msg = f"{demand}, for an array of them: {error}."
        raise InvalidInputError(msg) from error
    if given.shape != asked.shape or given.dtype.kind not in "fiub":
        msg = f"{demand}; for {len(asked)} it gave {quote(given)}."
        raise InvalidInputError(msg)
    return given.astype(np.float64)


def _same_of_parts(
    rule: Callable[[Floats], Floats], asked: Floats, parts: Iterable[Positions], demand: str
) -> Floats:
    """Return what a function of the user's says, the same whatever else it is asked.

    Otherwise, as with ``t / t.max()``, a user's score would depend on the users beside.

    Parameters
    ----------
    rule : callable
        Takes an array.
    asked : float64 array
        What it is asked.
    parts : iterable of int64 arrays
        Places of some of that, which it is asked by themselves.
    demand : str
        What it must give.

    Raises
    ------
    InvalidInputError
        It says something else of a part.
    """
    whole = _answer(rule, asked, demand)
    for part in parts:
        again = _answer(rule, asked[part], demand)
        other = ~np.isclose(again, whole[part], rtol=_SAME, atol=0, equal_nan=True)
        if other.any():
            place = int(other.argmax())
            msg = (
                f"{demand} whatever else it is asked: for {asked[part][place]:g} it gave "
                f"{whole[part][place]:g} among {len(asked)} and {again[place]:g} among "
                f"{len(part)}. Compute each value from its own number alone."
            )
            raise InvalidInputError(msg)
    return whole


def compute_relevance(true: Floats, threshold: float | None) -> Floats:
    """Return 1 where a grade reaches the threshold, else 0; unlabelled items are not relevant."""
    return (true >= threshold).astype(np.float64)  # type: ignore[operator]


def compute_weights(rule: Callable[[Floats], Floats], depth: int, named: str) -> Floats:
    """Return the weights that a function of the user's gives the ranks 1 to `depth`.

    Raises
    ------
    InvalidInputError
        As for `Convention.compute_discounts`.
    """
    ranks = np.arange(1, depth + 1, dtype=np.float64)
    beginnings = [np.arange(size) for size in {1, depth // 2, depth - 1} if 0 < size < depth]
    weights = _same_of_parts(rule, ranks, beginnings, f"{named} must give one weight per rank")
    bad = ~np.isfinite(weights) | (weights < 0)
    bad[1:] |= weights[1:] > weights[:-1]
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        msg = (
            f"{named} gives {weights[first]} at rank {first + 1}; "
            "weights must be finite, at least 0 and never increase with the rank."
        )
        raise InvalidInputError(msg)
    return weights


def find_faulty_grades(
    true: Floats, rule: Gain, threshold: float | None, max_grade: float | None
) -> tuple[Floats, str, str] | None:
    """Return grades that have no usable gain, what is wrong with them and what to do, or None.

    None of them may gain more than `max_grade`, if it is given.
    """
    top = np.array([] if max_grade is None else [max_grade], dtype=np.float64)
    known = np.concatenate([np.unique(true), top])
    if callable(rule) and len(known):
        places = np.arange(len(known))
        alone = places[:: max(len(known) // _FEW, 1), None]
        _same_of_parts(rule, known, [np.tile(places, 2), *alone], _ONE_PER_GRADE)
    if isinstance(rule, Mapping):
        unknown = known[~np.isin(known, [*rule])]
        if len(unknown):
            return unknown, f"no gain in {quote(rule)}", "give every grade one"
    with np.errstate(over="ignore"):
        values = gains(known, rule, threshold)
    shift = "shift the grades so that the lowest is 0, or map each grade to a gain"
    rescale = "rescale the grades" + (
        ", or pass convention=Convention(gain='linear') (--convention gain=linear)"
        if str(rule).startswith("exp")
        else ""
    )
    mistaken = "if they are times or ids of items, give the ratings instead"
    faults = [
        (values < 0, "a negative gain, with which NDCG has no bounds", shift),
        (np.isnan(values), "a gain that is not finite", shift),
        (values > _LARGEST_GAIN, "a gain too large to be added up", f"{rescale}; {mistaken}"),
    ]
    if len(top):
        fault = f"more gain than max_grade={max_grade}"
        faults += [(values > values[-1], fault, "pass the real top of the scale")]
    found = ((known[bad], fault, advice) for bad, fault, advice in faults if bad.any())
    return next(found, None)
