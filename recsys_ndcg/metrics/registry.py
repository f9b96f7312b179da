"""The metrics by name: how they become known, and how a text is read as one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

from recsys_ndcg.convention import METRIC_ALIASES, normalise_name, parse_metric_name
from recsys_ndcg.errors import InvalidInputError, UnknownMetricError, quote, suggest
from recsys_ndcg.metrics.metric import PLAIN, Metric

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

METRICS: dict[str, type[Metric]] = {}
_Class = TypeVar("_Class", bound=type[Metric])
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FORM = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_]*)(\((?P<options>[^()]*)\))?(@(?P<k>[^@]*))?")
_ENTRY_POINTS = "recsys_ndcg.metrics"
_WORDS = {"None": None, "True": True, "False": False}


def register_metric(metric: _Class) -> _Class:
    """Make a metric known by its name.

    Raises
    ------
    InvalidInputError
        The name cannot be read back, or is that of another metric. The same class may be made
        again, as where a cell of a notebook is run twice.
    """
    name = getattr(metric, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        msg = (
            f"A metric needs a name in lower case, of letters, digits and _, such as 'early': "
            f"{metric.__name__} has {quote(name)}."
        )
        raise InvalidInputError(msg)
    check_name_is_free(metric)
    METRICS[name] = metric
    METRIC_ALIASES.update(dict.fromkeys((name, *metric.also_called), name))
    return metric


def check_name_is_free(metric: type[Metric]) -> None:
    """Refuse a metric under the name of another.

    Raises
    ------
    InvalidInputError
        The name, or one that leads to another metric, is taken.
    """
    for known in METRICS.values():
        same = (known.__module__, known.__qualname__) == (metric.__module__, metric.__qualname__)
        theirs = {known.name, *known.also_called}
        for name in (metric.name, *metric.also_called):
            if not same and (name in theirs or normalise_name(name) in theirs):
                msg = (
                    f"The name {name!r} is taken by {known.__module__}.{known.__qualname__}: "
                    f"give {metric.__name__} another name."
                )
                raise InvalidInputError(msg)


def parse_metrics(text: str, ks: Iterable[int | None] = (None,)) -> list[Metric]:
    """Return the metrics that a name stands for: one, or one per k for a name without ``@k``.

    The names that people type lead to ours: they stand in `Metric.also_called`.

    Raises
    ------
    UnknownMetricError
        There is no such metric; the nearest name is given.
    InvalidInputError
        The cutoff or the options cannot be read.

    Examples
    --------
    >>> [str(metric) for metric in parse_metrics("NDCG", [5, 10])]
    ['ndcg@5', 'ndcg@10']
    >>> str(parse_metrics("rbp(0.9)@10")[0]), str(parse_metrics("MAP@10")[0])
    ('rbp(p=0.9)@10', 'ap@10')
    """
    found = _FORM.fullmatch(text.strip())
    name = (found["name"] if found else text).lower()
    kind = _known(name) if found else None
    if found is None or kind is None:
        msg = f"No metric is named {text!r}. {suggest(name, list_metric_names())}"
        raise UnknownMetricError(msg)
    options = {} if found["options"] is None else _options(kind, found["options"], text)
    if found["k"] is not None:
        return [kind(k=_cutoff(found["k"], text), **options)]
    return [kind(k=k, **options) for k in (ks if kind.cutoff == "usual" else (None,))]


def _options(kind: type[Metric], text: str, where: str) -> dict[str, Any]:
    """Return the parameters in brackets: by name, or the only one of a metric by itself."""
    own = [one.name for one in fields(kind) if one.name != "k"]
    if not own:
        msg = f"{where!r}: {kind.name} has no option in brackets; ask for '{kind.name}@10'."
        raise InvalidInputError(msg)
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and len(own) == 1:
            name, value = own[0], name
        name = next((one for one in own if one.lower() == name.lower()), name)
        if name not in own or name in found:
            example = ",".join(f"{one}=..." for one in own)
            msg = f"{where!r}: write the parameters of {kind.name} as '{kind.name}({example})@10'."
            raise InvalidInputError(msg)
        found[name] = _value(value, where)
    return found


def _cutoff(text: str, where: str) -> int:
    try:
        if text.isascii():
            return int(text)
    except ValueError:  # of more digits than Python reads, too
        pass
    msg = f"{quote(where)}: {quote(text)} is not a number; write a metric as 'ndcg@10'."
    raise InvalidInputError(msg)


def _value(text: str, where: str) -> Any:
    """Return what Python wrote as None, True, False, a number or a text in quotes."""
    if text in _WORDS:
        return _WORDS[text]
    quoted = re.fullmatch(rf"(['\"])({PLAIN.pattern})\1", text)
    if quoted:
        return quoted[2]
    for read in (int, float):
        with suppress(ValueError):
            return read(text)
    msg = f"{where!r}: {text!r} is not a number; write a metric as 'ndcg@10'."
    raise InvalidInputError(msg)


def _known(name: str) -> type[Metric] | None:
    """Return the metric of that name, or the one of ours that people call so.

    A package's comes before: one that takes a name which leads to ours is refused, not hidden.
    """
    if name in METRICS:
        return METRICS[name]
    for point in _offered():
        if point.name.lower() == name:
            try:
                kind = point.load()
            except Exception as error:  # a package of somebody else's may fail in any way
                msg = f"The metric {name!r} of {point.value} cannot be loaded: {error!r}."
                raise InvalidInputError(msg) from error
            if not (isinstance(kind, type) and issubclass(kind, Metric) and kind.name == name):
                msg = f"{point.value} is offered as the metric {name!r}, but is {quote(kind)}."
                raise InvalidInputError(msg)
            return register_metric(kind)
    return METRICS.get(parse_metric_name(name))


def list_metric_names() -> frozenset[str]:
    """Return the names of all metrics, those that installed packages offer among them.

    To look for those takes a while: who has many names to look up asks once.
    """
    return frozenset({*METRICS, *(one.name.lower() for one in _offered())})


def _offered() -> EntryPoints:
    """Return the metrics that installed packages offer, none of them loaded."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - reads mails, and rarely needed

    return entry_points(group=_ENTRY_POINTS)
