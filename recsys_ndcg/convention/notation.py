"""Choices as text: format and parse the values and names of signatures and the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

from recsys_ndcg.errors import InvalidInputError, quote, suggest

_COMMA = re.compile(r",(?![^()]*\))")  # not at the commas in brackets, as of map(...)


def format_choice(value: Any) -> str:
    """Return the text of a value in a signature.

    Examples
    --------
    >>> [format_choice(value) for value in ("linear", None, 1e-9, {0.0: 0.0, 5.0: 1.0})]
    ['linear', 'none', '1e-09', 'map(0.0=0.0,5.0=1.0)']
    """
    if isinstance(value, Mapping):
        return f"map({','.join(f'{grade}={gain}' for grade, gain in value.items())})"
    if callable(value):
        name = getattr(value, "__name__", type(value).__name__)
        return f"callable({name.replace('|', '_')})"
    return "none" if value is None else str(value)


def parse_choice(name: str, text: str) -> Any:
    """Return the value of a choice from its text, as `format_choice` writes it.

    Raises
    ------
    InvalidInputError
        The text names a function, or is a mapping that cannot be parsed.

    Examples
    --------
    >>> parse_choice("ties", "input"), parse_choice("undefined", "0.0")
    ('input', 0.0)
    >>> parse_choice("gain", "map(0=0,5=1)")
    {0.0: 0.0, 5.0: 1.0}
    """
    if text == "none":
        return None
    if text.startswith("callable("):
        msg = (
            f"{name}:{text} names a function, which cannot be restored from its name. "
            f"Replace it in the signature by a built-in {name}, and pass the function with "
            f".replace({name}=...)."
        )
        raise InvalidInputError(msg)
    try:
        if text.startswith("map(") and text.endswith(")"):
            pairs = (pair.split("=") for pair in text[4:-1].split(","))
            return {float(grade): float(gain) for grade, gain in pairs}
        return float(text)
    except ValueError:
        if text.startswith("map("):
            msg = f"{name}:{quote(text)} is not of the form map(0.0=0.0,5.0=31.0)."
            raise InvalidInputError(msg) from None
        return text


def parse_fields(
    signature: str, required: list[str], optional: list[str]
) -> tuple[str, dict[str, str]]:
    """Return the metric of a signature, "" if it has none, and the texts of its fields.

    Parameters
    ----------
    signature : str
        ``name:value`` joined by ``|``, with or without the name of a metric first.
    required, optional : list of str
        The names of fields; with ``defaults:`` all are optional.

    Raises
    ------
    InvalidInputError
        A part is malformed, unknown or repeated, or a required one is missing.

    Examples
    --------
    >>> parse_fields("ndcg@10|gain:linear|users:3", ["gain"], ["users"])
    ('ndcg@10', {'gain': 'linear', 'users': '3'})
    """
    texts: dict[str, str] = {}
    parts = "".join(signature.split()).strip("`%").split("|")  # as copied from Markdown or LaTeX
    metric = parts.pop(0) if ":" not in parts[0] and len(parts) > 1 else ""
    for part in parts:
        name, colon, text = part.partition(":")
        if not colon or name not in required + optional or name in texts:
            reason = "is repeated" if name in texts else "is not name:value of a known choice"
            nearest = suggest(name, required)
            hint = f"{nearest} " if nearest.startswith("Did") and name not in texts else ""
            msg = f"{quote(part)} {reason}, in the signature {quote(signature)}. {hint}{_HINT}"
            raise InvalidInputError(msg)
        texts[name] = text
    missing = [name for name in required if name not in texts]
    if missing and "defaults" not in texts:
        msg = f"The signature {quote(signature)} lacks {', '.join(missing)}. {_HINT}"
        raise InvalidInputError(msg)
    return metric, texts


#: As trec_eval and experiment trackers write a cutoff: ndcg_cut_10, P.10, ndcg_at_10.
_NAME_AND_CUTOFF = re.compile(r"(?P<name>[a-z][\w-]*?)(?:_cut|_at)?[_.](?P<k>\d+)", re.IGNORECASE)
_PATIENCE = re.compile(r"rbp(\.\d+)", re.IGNORECASE)  # as ranx writes it
_HINT = "Copy the whole line that report.signature(metric) or convention.signature printed."


#: From normalised names and aliases to the names of metrics. `recsys_ndcg.metrics.register_metric`
#: fills it, because presets need the names and cannot import the metrics.
METRIC_ALIASES: dict[str, str] = {}


def normalise_name(name: str) -> str:
    """Return a name in lower case without underscores and hyphens.

    Examples
    --------
    >>> normalise_name("Hit_Rate"), normalise_name("R-Precision")
    ('hitrate', 'rprecision')
    """
    return name.lower().replace("_", "").replace("-", "")


def split_names(names: Any) -> list[Any]:
    """Return the names in one or several texts, separated by commas outside of brackets.

    Whatever is not text stays as it is, and need not be in a list.

    Examples
    --------
    >>> split_names("ndcg@5, rbp(p=0.9)@10,serendipity(topic,genre)@10")
    ['ndcg@5', 'rbp(p=0.9)@10', 'serendipity(topic,genre)@10']
    >>> split_names(["ndcg@5,rr", 7])
    ['ndcg@5', 'rr', 7]
    """
    if isinstance(names, str):
        return [name for name in map(str.strip, _COMMA.split(names)) if name]
    if not isinstance(names, Iterable):
        return [names]
    parts = ((isinstance(one, str) and split_names(one)) or [one] for one in names)
    return [*chain.from_iterable(parts)]


def mark_cutoff(metric: str) -> str:
    """Return ``ndcg@10`` for ``ndcg_cut_10``, ``ndcg.10`` or ``ndcg_at_10``; other texts stay.

    But ranx's ``rbp.80`` has no cutoff: that is its persistence.

    Examples
    --------
    >>> mark_cutoff("P_10"), mark_cutoff("ndcg_at_5"), mark_cutoff("top_10"), mark_cutoff("rbp.80")
    ('P@10', 'ndcg@5', 'top_10', 'rbp(p=0.8)')
    """
    if found := _PATIENCE.fullmatch(metric):
        return f"rbp(p={float(found[1])})"
    found = _NAME_AND_CUTOFF.fullmatch(metric)
    known = normalise_name(metric) in METRIC_ALIASES
    if found is None or known or normalise_name(found["name"]) not in METRIC_ALIASES:
        return metric
    return f"{found['name']}@{found['k']}"


def parse_metric_name(metric: object) -> str:
    """Return the name of a metric without options and cutoff; aliases are resolved.

    Examples
    --------
    >>> parse_metric_name("NDCG@10"), parse_metric_name("rbp(p=0.9)@5")
    ('ndcg', 'rbp')
    """
    name = _strip_options(mark_cutoff(str(metric))).lower().strip()
    return METRIC_ALIASES.get(normalise_name(name), name)


def parse_options(metric: str) -> dict[str, Any]:
    """Return what a metric has in its brackets by name.

    Examples
    --------
    >>> parse_options("diversity(genres,over=k,single=0.0)@10")
    {'over': 'k', 'single': 0.0}
    """
    parts = metric.partition("(")[2].rpartition(")")[0].split(",")
    options = (part.partition("=") for part in parts)
    return {name: parse_choice(name, text) for name, equals, text in options if equals}


def resolve_alias(metric: str) -> str:
    """Return a metric with its alias replaced by its name; options and cutoff stay.

    Examples
    --------
    >>> resolve_alias("P@10"), resolve_alias("ndcg@5")
    ('precision@10', 'ndcg@5')
    """
    metric = mark_cutoff(metric)
    alias = _strip_options(metric)
    return METRIC_ALIASES.get(normalise_name(alias), alias) + metric[len(alias) :]


def _strip_options(metric: str) -> str:
    return re.split(r"[(@]", metric, maxsplit=1)[0]
