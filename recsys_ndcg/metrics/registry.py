"""The registry of metrics, and the parser of their names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from recsys_ndcg.convention import METRIC_ALIASES, mark_cutoff, normalise_name, parse_metric_name
from recsys_ndcg.errors import InvalidInputError, UnknownMetricError, quote, suggest
from recsys_ndcg.metrics.metric import PLAIN, Metric

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

METRICS: dict[str, type[Metric]] = {}
_Class = TypeVar("_Class", bound=type[Metric])
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_FORM = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9_-]*)(\((?P<options>[^()]*)\))?(@(?P<k>[^@]*))?")
#: Metrics that do not exist here, although their names look like misspelt ones that do, and what
#: to write instead.
_OTHER_METRICS = {
    **dict.fromkeys(("err", "mape", "medae", "msle", "nerr", "nrbp", "r2", "rmsle"), ""),
    **dict.fromkeys(("numrelret", "setap", "setmap", "setrelativep", "setrelp"), ""),
    "dcgburges": "Write 'dcg@10' with `convention='ranx_burges'`.",
    "ndcgburges": "Write 'ndcg@10' with `convention='ranx_burges'`.",
    "numrel": "It is in report.per_user['n_relevant'].",
    "accuracy": "Write 'precision@10' or 'hit@10' for lists, 'rmse' or 'mae' for ratings.",
    "jaccard": "It compares the lists of two models: rn.jaccard_at_k(lists_a, lists_b, k).",
    "rbo": "It compares the lists of two models: rn.rbo(lists_a, lists_b).",
}
#: Names in other libraries for a metric of whole lists.
_OF_WHOLE_LISTS = {"setf", "setp", "setr", "setrecall"}
_ENTRY_POINTS = "recsys_ndcg.metrics"


def register_metric(metric: _Class) -> _Class:
    """Register a metric under its name and aliases.

    Raises
    ------
    InvalidInputError
        The name cannot be parsed, or belongs to another metric. The same class may be registered
        again, for example if a notebook cell runs twice.
    """
    check_name(metric)
    METRICS[metric.name] = metric
    METRIC_ALIASES.update(dict.fromkeys((metric.name, *metric.also_called), metric.name))
    return metric


def check_name(metric: type[Metric]) -> None:
    """Raise if a metric's name cannot be parsed, or belongs to another metric, or an alias does.

    Raises
    ------
    InvalidInputError
        The name has other characters, or it, or an alias, is taken.
    """
    name = getattr(metric, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        msg = (
            f"A metric needs a name in lower case, of letters, digits and _, such as 'early': "
            f"{metric.__name__} has {quote(name)}."
        )
        raise InvalidInputError(msg)
    for other in METRICS.values():
        is_same = (other.__module__, other.__qualname__) == (metric.__module__, metric.__qualname__)
        taken = {other.name, *other.also_called}
        for name in (metric.name, *metric.also_called):
            if not is_same and (name in taken or normalise_name(name) in taken):
                msg = (
                    f"The name {name!r} is taken by {other.__module__}.{other.__qualname__}: "
                    f"give {metric.__name__} another name."
                )
                raise InvalidInputError(msg)


def parse_metrics(text: str, ks: Iterable[int | None] = (None,)) -> list[Metric]:
    """Return the metrics of a name: one, or one per k for a name without ``@k``.

    Aliases are in `Metric.also_called`. ``ndcg_cut_10`` and ``P.10`` as of trec_eval, and
    ``ndcg_at_10`` as of `Report.to_metrics`, are understood, too.

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
    >>> [str(parse_metrics(name)[0]) for name in ("ndcg_cut_10", "P.5", "recip_rank", "ndcg_at_10")]
    ['ndcg@10', 'precision@5', 'rr', 'ndcg@10']
    """
    parts = _FORM.fullmatch(mark_cutoff(text.strip()))
    name = (parts["name"] if parts else text).lower()
    kind = _find_class(name) if parts else None
    if parts is None and text.count("(") > 1:
        msg = (
            f"{text!r}: the name of a column may have letters, digits and _.+- , but no brackets. "
            "Rename the column."
        )
        raise InvalidInputError(msg)
    if parts is None or kind is None:
        msg = f"No metric is named {text!r}. {_suggest_name(name)}"
        raise UnknownMetricError(msg)
    options = {} if parts["options"] is None else _parse_options(kind, parts["options"], text)
    known, k = normalise_name(name), parts["k"]
    if k is not None:
        ks = (_parse_cutoff(k, text),)
        if known in _OF_WHOLE_LISTS:
            msg = f"{text!r} has no cutoff; use '{kind.name}@{k}'."
            raise InvalidInputError(msg)
    elif known in _OF_WHOLE_LISTS or kind.cutoff != "usual":
        ks = (None,)
    if known == "coveredusers":  # whose k changes nothing
        ks = (None,)
    return [kind(k=k, **options) for k in ks]


def _suggest_name(name: str) -> str:
    """Return the name that was misspelt, or what to write for the name of another metric.

    Examples
    --------
    >>> _suggest_name("recal")
    "Did you mean 'recall'?"
    >>> _suggest_name("err")[:27]
    'There are: alpha_dcg, alpha'
    """
    names, known = list_metric_names(), normalise_name(name)
    every = {*names, *METRIC_ALIASES} - _OF_WHOLE_LISTS
    near = {one for one in every if one[0] == name[:1] and known not in _OTHER_METRICS}
    hint = _OTHER_METRICS.get(known) or suggest(name, near)
    return suggest("", names) if hint.startswith("There") else hint


def _parse_options(kind: type[Metric], text: str, metric: str) -> dict[str, Any]:
    """Return the parameters in brackets; a single one, and the column, need no name."""
    known = {one.name.rstrip("_"): one for one in fields(kind) if one.name != "k"}
    names = [*known]
    if not names:
        name = metric.replace(f"({text})", "")
        msg = (
            f"{metric!r}: {kind.name} has no option in brackets; use {name!r} with `threshold=` or "
            "`convention=`."
        )
        raise InvalidInputError(msg)
    options: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals and (len(names) == 1 or ("column" in names and not options)):
            name, value = "column" if "column" in names else names[0], name
        name = next((one for one in names if one.lower() == name.lower()), name)
        if name not in names or known[name].name in options:
            choices = {**dict.fromkeys(names, ("...",)), **kind.find_choices()}
            example = ",".join(f"{one}={'|'.join(map(str, choices[one]))}" for one in names)
            msg = f"{metric!r}: write the parameters of {kind.name} as '{kind.name}({example})@10'."
            raise InvalidInputError(msg)
        one = known[name]
        options[one.name] = re.sub(r"\A(['\"])(.*)\1\Z", r"\2", value)  # without quotes
        if values := one.metadata.get("values"):  # of a choice
            with suppress(ValueError):
                options[one.name] = value if value in values else float(value)
        elif not isinstance(one.default, str):
            options[one.name] = _parse_value(value, metric)
    return options


def _parse_cutoff(text: str, metric: str) -> int:
    with suppress(ValueError):  # also for more digits than Python reads
        if text.isascii():
            return int(text)
    form = "write a metric as 'ndcg@10', a relevance level as `threshold=2`"
    msg = f"{quote(metric)}: {quote(text)} is not a number; {form}."
    raise InvalidInputError(msg)


def _parse_value(text: str, metric: str) -> Any:
    """Return the value of None, True, False, a number or a quoted string."""
    if re.fullmatch(rf"None|True|False|(['\"]){PLAIN.pattern}\1", text):
        return ast.literal_eval(text)
    for convert in (int, float):
        with suppress(ValueError):
            return convert(text)
    msg = f"{metric!r}: {text!r} is not a number; write a metric as 'ndcg@10'."
    raise InvalidInputError(msg)


def _find_class(name: str) -> type[Metric] | None:
    """Return the metric with a name or alias; None if there is none.

    Installed packages come before aliases, so that a metric under one of our aliases is an error,
    not hidden.
    """
    if name in METRICS:
        return METRICS[name]
    for point in find_entry_points():
        if point.name.lower() == name:
            try:
                kind = point.load()
            except Exception as error:  # code of another package may raise anything
                msg = f"The metric {name!r} of {point.value} cannot be loaded: {error!r}."
                raise InvalidInputError(msg) from error
            if not (isinstance(kind, type) and issubclass(kind, Metric) and kind.name == name):
                msg = f"{point.value} must be a metric named {name!r}, but is {quote(kind)}."
                raise InvalidInputError(msg)
            return register_metric(kind)
    return METRICS.get(parse_metric_name(name))


def list_metric_names() -> frozenset[str]:
    """Return the names of all metrics, also of installed packages."""
    return frozenset({*METRICS, *(point.name.lower() for point in find_entry_points())})


@cache  # the search takes milliseconds
def find_entry_points() -> EntryPoints:
    """Return the entry points of metrics in installed packages, without loading them."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - imports email, rarely needed

    return entry_points(group=_ENTRY_POINTS)
