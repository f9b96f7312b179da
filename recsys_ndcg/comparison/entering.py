"""From what somebody wants to compare, in any form, to contenders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from recsys_ndcg.comparison.averaging import averaged
from recsys_ndcg.comparison.contender import Contender
from recsys_ndcg.errors import InvalidInputError, about, shown, warn_of_some
from recsys_ndcg.errors.visible import is_encodable
from recsys_ndcg.evaluation import measured
from recsys_ndcg.files.archive import is_saved
from recsys_ndcg.metrics import Metric
from recsys_ndcg.rendering.progress import followed
from recsys_ndcg.report.report import Report
from recsys_ndcg.scoring.plan import Plan, chosen_metrics

if TYPE_CHECKING:
    from recsys_ndcg.convention.convention import Convention
    from recsys_ndcg.scoring.plan import Cutoffs, Metrics


class Asked(NamedTuple):
    """How predictions are measured, as `recsys_ndcg.evaluate` takes it."""

    metrics: Metrics
    k: Cutoffs
    threshold: float | None
    convention: Convention | str | None
    columns: Mapping[str, str] | None
    progress: bool = True

    def plan(self) -> Plan:
        """Return the plan for predictions."""
        return Plan.of(self.metrics, k=self.k, threshold=self.threshold, convention=self.convention)

    def refuse_for(self, name: str) -> None:
        """Refuse choices that come too late, for what is measured already.

        Raises
        ------
        InvalidInputError
            There are such.
        """
        given = {"threshold": self.threshold, "convention": self.convention}
        late = [f"{choice}=" for choice, value in given.items() if value is not None]
        if late:
            msg = (
                f"{name!r} is measured already, so that {' and '.join(late)} would change nothing "
                "of it. Leave it, or give the predictions."
            )
            raise InvalidInputError(msg)


def contenders_of(models: Any, asked: Asked, least: int = 2) -> dict[str, Contender]:
    """Return the contenders by name, at least so many.

    Raises
    ------
    InvalidInputError
        There are no names, too few models, or one of them under two names; or one cannot
        be read.
    """
    entries = _named(models)
    _refuse_twins(entries)
    # an iterator of metrics or cutoffs would be used up by the first model
    given = asked._asdict().items()
    lists: dict[str, Any] = {name: [*one] for name, one in given if isinstance(one, Iterator)}
    asked = asked._replace(**lists)
    found: dict[str, Contender] = {}
    said = {}
    with closing(followed(entries, "Evaluating", len(entries), wanted=asked.progress)) as names:
        for name in names:
            with about(name) as said[name]:
                entered = _entered(name, entries[name], asked)
            for one in entered:
                if one in found:
                    msg = f"Two models are called {one!r}: give one of them another name."
                    raise InvalidInputError(msg)
            found |= entered
    warn_of_some(said)
    if len(found) < least:
        only = f"There is only {next(iter(found))!r}. " if found else "There is none. "
        msg = f"A comparison needs at least two models. {only}rn.evaluate() is for one."
        raise InvalidInputError(msg)
    return found


def _named(models: Any) -> dict[str, Any]:
    """Return the models by their names."""
    if _has(models, "contenders"):
        return {"": models}
    if not isinstance(models, Mapping) or isinstance(models, Report):
        msg = (
            f"Give the models by name, {{'SVD': predictions, 'KNN': others}}, not {shown(models)}."
        )
        raise InvalidInputError(msg)
    for name in models:
        if not isinstance(name, str) or not name.strip():
            msg = f"The name of a model is text, not {shown(name)}."
            raise InvalidInputError(msg)
        if not is_encodable(name):
            msg = f"The name {name!r} of a model has a lone surrogate. Give it another name."
            raise InvalidInputError(msg)
    if len({name.strip() for name in models}) < len(models):
        msg = "Two models are called alike but for blanks: give one of them another name."
        raise InvalidInputError(msg)
    return dict(models)


def _refuse_twins(entries: Mapping[str, Any]) -> None:
    """Refuse one model under two names."""
    known: dict[Any, str] = {}
    for name, data in entries.items():
        key = os.path.realpath(data) if isinstance(data, str | Path) else id(data)
        if key in known:
            msg = (
                f"{known[key]!r} and {name!r} are the same "
                f"{'file' if isinstance(data, str | Path) else 'object'}: give each model its own."
            )
            raise InvalidInputError(msg)
        known[key] = name


def _entered(name: str, data: Any, asked: Asked) -> dict[str, Contender]:
    """Return one contender, or those of a search, under their names."""
    if _has(data, "contenders"):
        asked.refuse_for(name or "The search")
        parts: Mapping[str, Contender] = data.contenders
        return {
            f"{name}: {told}" if name else told: _chosen(one, asked) for told, one in parts.items()
        }
    if isinstance(data, Sequence) and data and all(map(is_measured, data)):
        return {name: averaged([_one(name, run, asked) for run in data])}
    return {name: _one(name, data, asked)}


def _has(data: Any, name: str) -> bool:
    """Tell whether there is such a property, without working it out."""
    return hasattr(type(data), name)


def is_measured(data: Any) -> bool:
    """Tell a report or a cross-validation from predictions."""
    return isinstance(data, Report) or _has(data, "contender")


def _one(name: str, data: Any, asked: Asked) -> Contender:
    if isinstance(data, Mapping) and "fit_time" in data and not _has(data, "contender"):
        msg = (
            "This is what Surprise's own cross_validate returns, which keeps no scores of users. "
            "Take that of recsys_ndcg.surprise, with a measure such as 'ndcg@10'."
        )
        raise InvalidInputError(msg)
    if isinstance(data, str | Path) and is_saved(data, "comparison"):
        msg = f"{data} is a saved comparison, not a model: rn.Comparison.load() reads it."
        raise InvalidInputError(msg)
    if _has(data, "contender"):
        asked.refuse_for(name)
        found: Contender = data.contender
        return _chosen(found, asked)
    if isinstance(data, str | Path) and is_saved(data):
        data = Report.load(data)
    if isinstance(data, Report):
        asked.refuse_for(name)
    else:
        data = measured(data, asked.plan(), asked.columns)
    return _chosen(Contender.of(data.audited, report=data), asked)


def _chosen(found: Contender, asked: Asked) -> Contender:
    """Return the metrics that are asked for, all of them if none is."""
    if asked.metrics is None:
        return found
    wanted = asked.metrics
    names = []
    for one in [wanted] if isinstance(wanted, str | Metric) else list(wanted):
        given = str(one) if isinstance(one, Metric) or one in found.names else None
        names += [given] if given else _names(str(one), asked.k)
    missing = [name for name in names if name not in found.names]
    if missing:
        msg = f"It was not measured in {', '.join(missing)}; it has {', '.join(found.names)}."
        raise InvalidInputError(msg)
    return found.columns(list(dict.fromkeys(names)))


def _names(text: str, k: Cutoffs) -> list[str]:
    """Return our names of what somebody typed; a protocol behind a colon stays."""
    name, colon, protocol = text.partition(":")
    return [f"{one}{colon}{protocol}" for one in chosen_metrics(name, k)]
