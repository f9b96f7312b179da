"""Signature: how a number was computed, as text that `Signature` reads back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, ClassVar, Self

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.background import SOURCES
from recsys_ndcg.convention import (
    REPORT_FIELDS,
    THRESHOLD_GAINS,
    Convention,
    format_choice,
    parse_choice,
    resolve_alias,
)
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, quote
from recsys_ndcg.lazy import Viewed, lazy_property
from recsys_ndcg.lists import Facts
from recsys_ndcg.metrics import Metric, parse_metrics
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.version import __version__

#: Defaults of the fields that are not choices; a short signature leaves them out, too.
OTHER_DEFAULTS = {"threshold": "none", "protocol": "rated"}
_PROTOCOLS_IN_WORDS = {
    "rated": "rated items",
    "supplied": "supplied lists",
    "sampled": "sampled items",
}
_VALUE_OF = "value_of"  # of what a number is the value, if not the mean over orders of ties
_CUSTOM_METRIC = "own"  # in signatures, the class of a metric that the user wrote


_TEXTS = {_CUSTOM_METRIC, _VALUE_OF, *SOURCES, "protocol", "version"}


class Signature(str, Viewed):  # noqa: SLOT000 - caches the parsed text
    """How a number was computed: text to report with it, and a value to compare.

    Parameters
    ----------
    text : str
        The complete text, as ``report.signature("ndcg@10")`` returns it, or its short form.

    Raises
    ------
    InvalidInputError
        A part is missing, unknown or malformed; or a short form is from a version with other
        defaults.

    Notes
    -----
    Two signatures are equal if they agree in everything that can move the number: a choice that
    the metric does not read (`Metric.reads`) is ignored. Equal signatures on the same data mean
    equal numbers. A plain text is compared as a signature.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> rows = {"ann": [(4.5, 5), (3.0, 2)]}
    >>> how = {"metrics": ["precision@2", "ndcg@2"], "threshold": 4}
    >>> usual = rn.evaluate(rows, **how)
    >>> linear = rn.evaluate(rows, convention=rn.Convention(gain="linear"), **how)
    >>> usual.signature("precision@2") == linear.signature("precision@2")
    True
    >>> usual.signature("ndcg@2").differences(linear.signature("ndcg@2"))
    {'gain': ('exponential', 'linear')}
    """

    _view: ClassVar[str] = "recsys_ndcg.report:view_signature"

    def __new__(cls, text: str) -> Self:
        """Read the text, and add the defaults that a short form leaves out."""
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            msg = f"A signature is text, not {quote(text)}."
            raise InvalidInputError(msg)
        metric, texts = Convention.parse_texts(text)
        if not metric:
            msg = f"{quote(text)} does not begin with a metric, such as 'ndcg@10|gain:...'."
            raise InvalidInputError(msg)
        is_custom = _CUSTOM_METRIC in texts
        name = metric if is_custom else resolve_alias(metric)
        return cls._from_parts(name, OTHER_DEFAULTS | _normalise(texts))

    @classmethod
    def _from_parts(cls, metric: str, texts: dict[str, str]) -> Self:
        """Return the signature of a metric and the texts of its fields, which must be valid."""
        order = (*_list_choices(metric), *REPORT_FIELDS)
        parts = [metric, *(f"{name}:{texts[name]}" for name in order if name in texts)]
        return str.__new__(cls, "|".join(parts))

    @property
    def text(self) -> str:
        """The complete text as a plain string."""
        return str.__str__(self)

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.partition("|")[0]

    @property
    def fields(self) -> dict[str, Any]:
        """The metric, every choice, the threshold, protocol, users and version, as values.

        A user's own function is given by its text, and what the metric needs besides the lists by
        its size and a digest: ``catalogue`` is ``'7302#5f3a9c21'``.
        """
        values = {name: _parse_value(name, text) for name, text in self._texts.items()}
        return {"metric": self.metric, **values}

    @property
    def convention(self) -> Convention:
        """The convention.

        Raises
        ------
        InvalidInputError
            A choice is a function, of which only the name is known.
        """
        return Convention.from_signature(self.text)

    @property
    def short(self) -> str:
        """The short form, for a paper: choices that are not defaults and can move the number.

        ``defaults`` is a digest of the default choices: a version with other defaults notices that
        it cannot read the short form. ``Signature(short)`` equals the complete signature. Its
        text may differ: choices that cannot move the number are filled in with their defaults.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> linear = rn.Convention(gain="linear")
        >>> report = rn.evaluate({"ann": [(4.5, 5), (3.0, 2)]}, convention=linear)
        >>> short = report.signature("ndcg@10").short
        >>> short.partition("|version:")[0]
        'ndcg@10|gain:linear|defaults:50b6cd49|users:1'
        >>> rn.Signature(short) == report.signature("ndcg@10")
        True
        """
        defaults = Convention.format_defaults() | OTHER_DEFAULTS
        reads = {*self._reads, "protocol"}
        parts = {
            name: f"{name}:{text}"
            for name, text in self._texts.items()
            if name not in defaults or (name in reads and text != defaults[name])
        }
        choices = [part for name, part in parts.items() if name in Convention.field_names()]
        rest = [part for name, part in parts.items() if name not in Convention.field_names()]
        is_beyond = not reads.isdisjoint(Convention.BEYOND_ACCURACY)
        digest = f"defaults:{Convention.digest_defaults(beyond_accuracy=is_beyond)}"
        return "|".join([self.metric, *choices, digest, *rest])

    def differences(self, other: str) -> dict[str, tuple[Any, Any]]:
        """Return the differences that can move the number: ``{field: (mine, theirs)}``.

        Raises
        ------
        InvalidInputError
            `other` is not a signature.
        """
        signature = Signature(other)
        mine, theirs = self.fields, signature.fields
        return {
            name: (mine.get(name), theirs.get(name))
            for name in {**self._parts_to_compare, **signature._parts_to_compare}
            if mine.get(name) != theirs.get(name)
        }

    def __eq__(self, other: object) -> bool:
        """Return whether everything that can move the number is equal."""
        if not isinstance(other, str):
            return NotImplemented
        try:
            signature = Signature(other)
        except InvalidInputError:
            return False
        return self._parts_to_compare == signature._parts_to_compare

    def __ne__(self, other: object) -> bool:
        """Return whether anything that can move the number differs."""
        return not self == other

    def __hash__(self) -> int:
        """Return equal hashes for equal signatures."""
        return hash(frozenset(self._parts_to_compare.items()))

    @property
    def _reads(self) -> frozenset[str]:
        """The choices that can move the number, and the threshold if it can."""
        metric_type = _find_metric_type(self.metric)
        texts = self._texts
        needs_threshold = (
            metric_type is Metric  # not registered
            or metric_type.needs_threshold
            or ("gain" in metric_type.reads and texts["gain"] in THRESHOLD_GAINS)
            or texts["mean_over"] == "relevant"
        )
        return metric_type.reads | {"threshold"} if needs_threshold else metric_type.reads

    @lazy_property
    def _texts(self) -> dict[str, str]:
        texts = Convention.parse_texts(self.text)[1]
        shown = {*_list_choices(self.metric), *REPORT_FIELDS}
        return {name: text for name, text in texts.items() if name in shown}

    @lazy_property
    def _parts_to_compare(self) -> dict[str, str]:
        """The parts that must agree in equal signatures."""
        ignored = {*Convention.field_names(), "threshold"} - self._reads
        texts = {name: text for name, text in self._texts.items() if name not in ignored}
        return {"metric": self.metric, **texts}


def sign(one: Measurement, facts: Facts, n_users: int) -> Signature:
    """Return the signature of a measurement of data with these facts, over `n_users` users."""
    longest = facts.apply_convention(one.convention).longest
    texts = {**one.convention.texts, **_format_functions(one, facts, longest)}
    texts["threshold"] = "none" if one.threshold is None else str(one.threshold)
    if one.convention.short_list == "drop" and one.metric.k is None:
        texts["short_below"] = str(one.short_below)
    if one.metric.custom_class:
        values = one.metric.compute_fingerprint(one.metric.k or longest)
        fingerprint = "" if values is None else f"#{_fingerprint(values)}"
        texts[_CUSTOM_METRIC] = f"{one.metric.custom_class}{fingerprint}"
    if not one.metric.is_linear and not one.convention.tie_rule.by:
        texts[_VALUE_OF] = "expected_exposure"
    known = facts.background
    if known is not None:
        read = one.find_sources() & known.known
        column = one.metric.column if isinstance(one.metric.column, str) else ""
        texts |= {name: known.digest(name, column) for name in read}
    if one.is_weighted and one.metric.takes_weights and one.metric.needs_labels:
        is_by_item = known is not None and known.weights is not None
        texts["weights"] = known.digest("weights") if known and is_by_item else "column"
    texts |= {"protocol": facts.protocol, "users": str(n_users), "version": __version__}
    return Signature._from_parts(str(one.metric), texts)


def sign_runs(runs: Sequence[Signature], n_users: int | None = None) -> Signature:
    """Return the signature of a mean over runs: it names the sources of all.

    `n_users` replaces the number of users.
    """
    first, *others = [run.fields for run in runs]
    texts = Convention.parse_texts(runs[0].text)[1]
    for name in first.keys() & SOURCES.keys():
        found = sorted({str(one.get(name)) for one in (first, *others)})
        if len(found) > 1:
            texts[name] = f"{len(found)} kinds#{_hash_text('|'.join(found))}"
    if n_users is not None:
        texts["users"] = str(n_users)
    return Signature._from_parts(runs[0].metric, texts)


def write_arguments(signature: Signature) -> str:
    """Write Python arguments for this number: the threshold, and choices that are no defaults.

    They begin with a comma, to follow other arguments.

    Examples
    --------
    >>> import recsys_ndcg as rn
    >>> linear = rn.Convention(gain="linear")
    >>> report = rn.evaluate({"ann": [(4, 5), (3, 2)]}, convention=linear)
    >>> write_arguments(report.signature("ndcg@10"))
    ", convention=rn.Convention(gain='linear')"
    """
    values, texts = signature.fields, signature._texts
    threshold = values["threshold"]
    first = "" if threshold is None else f", threshold={threshold!r}"
    choices = ", ".join(
        f"{name}={_to_python(values[name])}"
        for name, text in Convention.format_defaults().items()
        if texts.get(name, text) != text
    )
    return f"{first}, convention=rn.Convention({choices})" if choices else first


def describe_protocol(signature: Signature) -> str:
    """Return what is ranked, in two words for a sentence."""
    protocol = str(signature.fields["protocol"])
    if protocol.startswith("catalogue"):
        return "whole catalogue"
    return _PROTOCOLS_IN_WORDS.get(protocol, protocol)


def _find_metric_type(name: str) -> type[Metric]:
    """Return the class of a metric; `Metric` itself if it is not registered."""
    with suppress(RecsysNdcgError):
        return type(parse_metrics(name)[0])
    return Metric


def _list_choices(metric: str) -> list[str]:
    """Return the choices in a metric's signature: beyond accuracy, only those that it reads."""
    left_out = {*Convention.BEYOND_ACCURACY} - _find_metric_type(metric).reads
    return [name for name in Convention.field_names() if name not in left_out]


def _format_functions(one: Measurement, facts: Facts, longest: int) -> dict[str, str]:
    """Return the texts of choices that are functions, with fingerprints of the functions' values.

    A function that the metric does not read is not called.
    """
    convention = one.convention
    values_of: dict[str, Floats] = {}
    reads = one.metric.reads if one.metric.uses_gains else ()
    if callable(convention.gain) and "gain" in reads:
        top_grade = [] if convention.max_grade is None else [convention.max_grade]
        grades = np.unique(np.concatenate([facts.find_grades(convention).values, top_grade]))
        values_of["gain"] = convention.compute_gains(grades, one.threshold)
    if callable(convention.discount) and "discount" in reads:
        values_of["discount"] = convention.compute_discounts(one.metric.depth or longest)
    return {
        name: f"{format_choice(getattr(convention, name))[:-1]}#{_fingerprint(values)})"
        for name, values in values_of.items()
    }


def _fingerprint(values: Floats) -> str:
    """Return an eight-digit hash of numbers, rounded to twelve digits."""
    return _hash_text(",".join(f"{value:.12g}" for value in values.tolist()))


def _hash_text(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def _normalise(texts: dict[str, str]) -> dict[str, str]:
    """Return the texts of fields as a report writes them.

    Raises
    ------
    InvalidInputError
        A text is not a valid value of its field.
    """
    readable = {name: text for name, text in texts.items() if not text.startswith("callable(")}
    names = [name for name in Convention.field_names() if name in readable]
    values = {name: parse_choice(name, readable[name]) for name in names}
    canonical = Convention(**values).texts
    result = texts | {name: text for name, text in canonical.items() if name in values}
    for name, number_type in (("threshold", float), ("users", int), ("short_below", int)):
        text = result.get(name, "none")
        try:
            if text != "none":
                result[name] = str(number_type(text) + 0)  # -0.0 becomes 0.0
        except ValueError:
            msg = f"{name}:{quote(text)} is not a number, in a signature."
            raise InvalidInputError(msg) from None
    return result


def _parse_value(name: str, text: str) -> Any:
    """Return a field's value; the text itself for functions, `own`, `protocol` and `version`."""
    if text.startswith("callable(") or name in _TEXTS:
        return text
    return int(text) if name in {"users", "short_below"} else parse_choice(name, text)


def _to_python(value: Any) -> str:
    """Return the Python expression of a choice; a user's own function by its name."""
    if isinstance(value, str) and value.startswith("callable("):
        name = value.removeprefix("callable(").rpartition("#")[0]
        return name if name.isidentifier() else "..."
    return repr(value)
