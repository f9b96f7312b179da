"""Options as text: ``key=value`` from the command line to a Convention."""

from __future__ import annotations

from dataclasses import fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from recsys_ndcg import notation
from recsys_ndcg.convention import Convention
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError
from recsys_ndcg.metrics import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def pairs_from(text: str, option: str) -> dict[str, str] | None:
    """Return ``a=b,c=d`` as a dict, None for no text.

    Examples
    --------
    >>> pairs_from("estimated=est,true=r_ui", "--columns")
    {'estimated': 'est', 'true': 'r_ui'}
    """
    found = {}
    for part in filter(None, text.split(",")):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not (key and equals and value):
            msg = f"{option}: {part!r} is not of the form name=value."
            raise InvalidInputError(msg)
        found[key] = value
    return found or None


def spread(words: Sequence[str]) -> list[str]:
    """Repeat an option that takes several values before each of them.

    Examples
    --------
    >>> spread(["--convention", "gain=linear", "ties=input", "-k", "5"])
    ['--convention', 'gain=linear', '--convention', 'ties=input', '-k', '5']
    >>> spread(["--metrics", "ndcg", "rr", "data.csv"])
    ['--metrics', 'ndcg', '--metrics', 'rr', 'data.csv']
    """
    result: list[str] = []
    option = ""
    for before, word in pairwise(["", *words]):
        if before in _TAKES:
            option = before
        elif option and _TAKES[option](word):
            result.append(option)
        else:
            option = ""
        result.append(word)
    return result


def _is_choice(word: str) -> bool:
    name, equals, _ = word.partition("=")
    return bool(equals) and name in [one.name for one in fields(Convention)]


def _is_metric(word: str) -> bool:
    try:
        return all(parse(name) for name in word.split(","))
    except RecsysNdcgError:
        return False


_TAKES = {"--convention": _is_choice, "--metrics": _is_metric}


def convention_from(
    choices: Iterable[str], preset: str | None = None, metrics: Sequence[str] = ()
) -> Convention:
    """Return the convention that ``key=value`` texts describe, on top of a preset for metrics.

    A text may hold several, with commas; gain may be a mapping, ``gain=0:0/1:1/2:3``; or it is
    a signature, which holds every choice.

    Examples
    --------
    >>> convention_from(["gain=linear,undefined=0", "tie_tolerance=1e-9"]).undefined
    0.0
    """
    convention = Convention() if preset is None else _preset(preset, metrics)
    given: dict[str, str] = {}
    for choice in choices:
        if "|" in choice:
            convention = Convention.from_signature(choice)
        else:
            given.update(pairs_from(choice, "--convention") or {})
    return convention.replace(**{key: _value(key, text) for key, text in given.items()})


def _preset(name: str, metrics: Sequence[str]) -> Convention:
    """Return the convention that all the metrics have under a preset."""
    convention, *others = [Convention.preset(name, metric) for metric in metrics or ["ndcg"]]
    if any(other != convention for other in others):
        msg = (
            f"{name} computes {', '.join(metrics)} under different choices: ask for one at a time."
        )
        raise InvalidInputError(msg)
    return convention


def _value(key: str, text: str) -> Any:
    try:
        if key == "gain" and ":" in text:
            entries = (entry.split(":") for entry in text.split("/"))
            return {float(grade): float(gain) for grade, gain in entries}
        return notation.parsed(key, text)
    except ValueError:
        return text
