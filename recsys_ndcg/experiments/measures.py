"""What an experiment measures in every fold: metrics under one protocol or both."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from recsys_ndcg.errors import InvalidInputError, nearest, shown
from recsys_ndcg.experiments.fingerprints import FingerprintError, fingerprint, qualified_name
from recsys_ndcg.folds import ACCURACY, FoldPlan
from recsys_ndcg.metrics import Metric, parse

if TYPE_CHECKING:
    from recsys_ndcg.convention import Convention
    from recsys_ndcg.folds import Measure
    from recsys_ndcg.scoring import Cutoffs

PROTOCOLS = ("rated", "catalogue")


def planned(
    metrics: Any,
    k: Cutoffs,
    threshold: float | None,
    convention: Convention | str | None,
    protocol: Any,
) -> FoldPlan:
    """Return what is measured of every fold, as somebody asked for it.

    Metrics are taken under each protocol; those that name one, under that alone.

    Raises
    ------
    InvalidInputError
        Nothing that is asked for ranks anything.
    """
    protocols = _protocols(protocol)
    if metrics is None:
        metrics = ["ndcg", *([] if threshold is None else ["precision", "recall"])]
    single = isinstance(metrics, str | Metric) or not isinstance(metrics, Iterable)
    given = [metrics] if single else list(metrics)
    ks = list(k) if isinstance(k, Iterable) else [k]
    measures = [
        name
        for each in protocols
        for one in given
        for name in _under(each, one, ks, first=each == protocols[0])
    ]
    plan = FoldPlan.of(measures, threshold, convention, train=False)
    if plan.rated is None and plan.catalogue is None:
        msg = (
            "No metric here ranks anything: ask for one such as 'ndcg@10', by which models "
            "are compared."
        )
        raise InvalidInputError(msg)
    return plan


def _under(protocol: str, given: Any, ks: list[int | None], *, first: bool) -> Iterable[Any]:
    if not isinstance(given, str | Metric) or str(given).strip().lower() in ACCURACY:
        return [given] if first else []
    name, colon, named = str(given).partition(":")
    if colon:
        return [f"{one}:{named}" for one in parse(name, ks)] if first else []
    parsed = [given] if isinstance(given, Metric) else parse(name, ks)
    return [f"{one}:{protocol}" if protocol != "rated" else one for one in parsed]


def _protocols(given: Any) -> list[str]:
    asked = PROTOCOLS if given == "both" else [given] if isinstance(given, str) else given
    if not isinstance(asked, Iterable) or not (known := list(asked)):
        known = [given]
    for one in known:
        if one not in PROTOCOLS:
            told = nearest(str(one), [*PROTOCOLS, "both"])
            msg = f"protocol={shown(given)}: what is ranked is 'rated' or 'catalogue'. {told}"
            raise InvalidInputError(msg)
    return list(dict.fromkeys(known))


def lower_is_better(name: str) -> bool:
    """Tell errors from all other measures."""
    return name in ACCURACY and not ACCURACY[name].greater_is_better


def describe_measures(plan: FoldPlan) -> dict[str, dict[str, str]]:
    """Return how each measure is computed: every choice, and digests of the functions it calls.

    Raises
    ------
    InvalidInputError
        A function holds something that has no content to compare.
    """
    return {one.name: _describe(one, plan) for one in plan.measures}


def _describe(one: Measure, plan: FoldPlan) -> dict[str, str]:
    ranking = plan.rated if one.protocol == "rated" else plan.catalogue
    if one.metric is None or ranking is None:
        called: dict[str, Any] = {"function": (one.function, one.keywords)}
        choices = {"kind": "function", "name": qualified_name(one.function)}
    else:
        found = next(each for each in ranking.measurements if each.metric == one.metric)
        used = {"gain": found.convention.gain, "discount": found.convention.discount}
        called = {name: rule for name, rule in used.items() if callable(rule)}
        called |= {"metric": type(one.metric)} if one.metric.origin else {}
        choices = {"kind": "ranking", **found.convention.texts, "threshold": str(found.threshold)}
    for what, function in called.items():
        try:
            choices[f"code of {what}"] = fingerprint(function)[0]
        except FingerprintError as error:
            msg = f"{one.name}: its {what} cannot be compared, so no folder can resume it: {error}."
            raise InvalidInputError(msg) from None
    return choices
