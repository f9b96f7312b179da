"""The options that several commands have, and what their texts mean."""

from __future__ import annotations

import re
import sys
from dataclasses import MISSING, dataclass, field, fields, replace
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import typer

from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, label_messages
from recsys_ndcg.significance import CORRECTIONS, TESTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from recsys_ndcg.convention import Convention
    from recsys_ndcg.metrics import Metric
    from recsys_ndcg.scoring import Plan

_OWN = re.compile(
    r"(?P<module>[A-Za-z_][\w.]*):(?P<name>[A-Za-z_]\w*)(?P<rest>(\([^()]*\))?(@[^@:/.]*)?)"
)
_COMMA = re.compile(r",(?![^()]*\))")  # not at the commas in brackets, as of map(...)
#: The last two for programs: they get every digit, and no words around the table.
FORMATS = ("text", "markdown", "latex", "csv", "json")


REQUIRED = MISSING


def option(
    text: str, *names: str, default: Any = None, words: str | None = None, **how: Any
) -> Any:
    """Return an option of the command line with its help, as a parameter or a field has it.

    A shell completes it with the words of a kind, if it has any.
    """
    if words is not None:
        how["autocompletion"] = lambda incomplete: [
            word for word in _words()[words] if word.startswith(incomplete)
        ]
    return field(default=default, metadata={"typer": typer.Option(*names, help=text, **how)})


def argument(text: str, metavar: str, default: Any = None) -> Any:
    """Return what is typed without the name of an option, likewise."""
    declared = typer.Argument(metavar=metavar, help=text, show_default=False)
    return field(default=default, metadata={"typer": declared})


def _words() -> dict[str, Iterable[str]]:
    """Return the words that may be typed, by their kind: importing them all takes a while."""
    from recsys_ndcg.comparison import USERS
    from recsys_ndcg.convention import PRESETS
    from recsys_ndcg.metrics import METRICS
    from recsys_ndcg.report import Report

    return {
        "format": FORMATS,
        "metric": METRICS,
        "preset": PRESETS,
        "segments": Report.SEGMENTS,
        "sort": Report.BY,
        "users": USERS,
        "test": TESTS,
        "correction": CORRECTIONS,
    }


@dataclass(frozen=True)
class Choices:
    """Every choice that moves a number."""

    threshold: float | None = option(
        "From which true value an item is relevant: metrics such as precision and recall "
        "need it unless every true value is 0 or 1."
    )
    preset: str | None = option(
        "As this library computes it, such as trec_eval or sklearn; 'recsys-ndcg "
        "presets' lists them.",
        words="preset",
    )
    convention: list[str] | None = option("A choice such as gain=linear; may be repeated.")

    def plan(
        self, metrics: Sequence[str] | None, k: Sequence[int], gated: Sequence[Metric] = ()
    ) -> Plan:
        """Return what is asked for: metrics under a preset or a signature, with some choices.

        Under a preset each metric is measured as that library measures it. A text of choices may
        hold several, ``key=value`` with commas; gain may be a mapping, ``gain=0:0/1:1/2:3``; or it
        is a signature, which holds every choice, and the threshold if none is given.

        Parameters
        ----------
        metrics : sequence of str, optional
            The usual ones if there are none. They fall away where nothing tells what is relevant,
            unless a gate needs that.
        k : sequence of int
            The cutoffs of names without their own.
        gated : sequence of Metric
            What a gate names, which is measured, too.

        Examples
        --------
        >>> plan = Choices(4, "catboost", ["short_list=k"]).plan(["ndcg", "ap"], [10])
        >>> [(str(one), one.convention.undefined) for one in plan.measurements]
        [('ndcg@10', 1.0), ('ap@10', 0.0)]
        """
        from recsys_ndcg.convention import Convention, parsed
        from recsys_ndcg.scoring import Plan

        texts = [text.removeprefix("yours: ") for text in self.convention or ()]
        signatures = [text for text in texts if "|" in text or text.startswith("defaults:")]
        if len(signatures) + (self.preset is not None) > 1:
            msg = "A preset or a signature already holds every choice: give one of them."
            raise InvalidInputError(msg)
        chosen = ",".join(text for text in texts if text not in signatures)
        given = pairs_from(chosen, "--convention") or {}
        if ":" in given.get("gain", ""):
            given["gain"] = f"map({given['gain'].replace(':', '=').replace('/', ',')})"
        convention: Convention | str | None = self.preset
        threshold = self.threshold
        for text in signatures:
            convention = Convention.from_signature(text)
            if threshold is None:
                told = Convention.texts_of(text)[1].get("threshold", "none")
                threshold = parsed("threshold", told)
        under: dict[str, Any] = {"k": k, "threshold": threshold, "convention": convention}
        plan = Plan.of(metrics, **under)
        if gated:
            needed = any(one.needs_threshold for one in gated)
            every = Plan.of([*plan.names, *map(str, gated)], **under)
            plan = replace(every, by_default=plan.by_default and not needed)
        return plan.under(**{key: parsed(key, text) for key, text in given.items()})


@dataclass(frozen=True)
class MetricOptions:
    """What is measured."""

    k: list[str] | None = option("Cutoffs: 10, or 5,10; may be repeated.  [default: 10]", "-k")
    metrics: list[str] | None = option(
        "Such as ndcg,precision@5,rr; may be repeated, and the first decides. "
        "'recsys-ndcg metrics' lists them.",
        words="metric",
    )

    @property
    def ks(self) -> list[int]:
        """The cutoffs: whole numbers, alone or with commas."""
        text = ",".join(self.k or ["10"])
        try:
            return [int(part) for part in text.split(",")]
        except ValueError:
            msg = f"-k must be whole numbers, such as 10 or 5,10, not {text!r}."
            raise InvalidInputError(msg) from None

    @property
    def names(self) -> list[str] | None:
        """The metrics, if any is named."""
        return names_of(self.metrics) if self.metrics else None


def given_options(*groups: Any) -> list[str]:
    """Return the options of some groups that are not at their defaults."""
    return [
        f"--{one.name.replace('_', '-')}"
        for group in groups
        for one in fields(group)
        if getattr(group, one.name) != one.default
    ]


def pairs_from(text: str, option: str) -> dict[str, str] | None:
    """Return ``a=b,c=d`` as a dict, None for no text.

    Examples
    --------
    >>> pairs_from("estimated=est,true=r_ui", "--columns")
    {'estimated': 'est', 'true': 'r_ui'}
    """
    found = {}
    for part in filter(None, _COMMA.split(text)):
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
    from recsys_ndcg.convention import Convention

    return word.partition("=")[0] in Convention.names() and "=" in word


def _is_metric(word: str) -> bool:
    from recsys_ndcg.metrics import parse

    try:
        return all(_OWN.fullmatch(name) or parse(name) for name in _COMMA.split(word))
    except RecsysNdcgError:
        return False


_TAKES = {"--convention": _is_choice, "--metrics": _is_metric}


def names_of(texts: Sequence[str]) -> list[str]:
    """Return the metrics that stand in texts, with commas or one by one.

    ``package.module:name@10`` imports a metric of one's own, from the current folder too.

    Examples
    --------
    >>> names_of(["ndcg@5,rr", "rbp(p=0.9)@10"])
    ['ndcg@5', 'rr', 'rbp(p=0.9)@10']
    """
    names = _COMMA.split(",".join(texts))
    return [_imported(name.strip()) for name in names if name.strip()]


def metric_of(text: str, option: str, k: Sequence[int]) -> Metric:
    """Return the one metric that a text names.

    Raises
    ------
    InvalidInputError
        It names several.
    """
    from recsys_ndcg.metrics import parse

    found = [one for name in names_of([text]) for one in parse(name, k)]
    if len(found) != 1:
        told = f": {', '.join(map(str, found))}" if found else ""
        msg = f"{option} {text}: that is {len(found)} metrics{told}. Name one, such as ndcg@10."
        raise InvalidInputError(msg)
    return found[0]


def _imported(text: str) -> str:
    """Return the name of a metric, imported first where it says from where.

    Raises
    ------
    InvalidInputError
        There is no such module, no such metric in it, or it fails.
    """
    found = _OWN.fullmatch(text)
    if found is None:
        return text
    from recsys_ndcg.metrics import Metric, register

    if "" not in sys.path:
        sys.path.insert(0, "")
    with label_messages(f"--metrics {text}"):
        try:
            kind = getattr(import_module(found["module"]), found["name"])
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001 - somebody's own, failing or ending in any way
            msg = f"it cannot be imported ({error!r})."
            raise InvalidInputError(msg) from None
        if not (isinstance(kind, type) and issubclass(kind, Metric)):
            msg = f"{found['name']!r} is no metric; make it one with @rn.metric."
            raise InvalidInputError(msg)
        return f"{register(kind).name}{found['rest']}"
