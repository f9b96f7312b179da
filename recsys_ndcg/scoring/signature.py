"""Signatures: how a number was computed, as a value that reads back."""

from __future__ import annotations

from contextlib import suppress
from hashlib import sha256
from typing import Any, Self

import numpy as np

from recsys_ndcg.arrays import Floats
from recsys_ndcg.convention import BESIDE, BY_THRESHOLD, Convention, ours, parsed, written
from recsys_ndcg.errors import InvalidInputError, RecsysNdcgError, quote
from recsys_ndcg.lazy import lazy_property
from recsys_ndcg.lists import Facts
from recsys_ndcg.metrics import Metric, parse
from recsys_ndcg.scoring.measurement import Measurement
from recsys_ndcg.version import __version__

#: What a short signature leaves out, beside choices at their defaults.
_USUAL = {"threshold": "none", "protocol": "rated"}


class Signature(str):  # noqa: SLOT000 - what is read of the text is kept
    """How a number was computed: text to put beside it, and a value to compare.

    Parameters
    ----------
    text : str
        Complete, as ``report.signature("ndcg@10")`` gives it, or its short form.

    Raises
    ------
    InvalidInputError
        A part is missing, unknown or of another form; or a short form was written by a version
        with other defaults.

    Notes
    -----
    Two signatures are equal if they agree in everything that can move the number: a choice that
    the metric does not read (`Metric.reads`) plays no part. Equal ones on the same data mean
    equal numbers. A text is compared as the signature that it writes.

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

    def __new__(cls, text: str) -> Self:
        """Read the text, and write out what a short form leaves to the defaults."""
        if isinstance(text, cls):
            return text
        if not isinstance(text, str):
            msg = f"A signature is text, not {quote(text)}."
            raise InvalidInputError(msg)
        metric, texts = Convention.texts_of(text)
        if not metric:
            msg = f"{quote(text)} does not begin with a metric, such as 'ndcg@10|gain:...'."
            raise InvalidInputError(msg)
        named = metric if "own" in texts else ours(metric)
        return cls.joined(named, _USUAL | _checked(texts))

    @classmethod
    def joined(cls, metric: str, texts: dict[str, str]) -> Self:
        """Return the signature of parts that are known to be whole."""
        order = (*Convention.names(), *BESIDE)
        parts = [metric, *(f"{name}:{texts[name]}" for name in order if name in texts)]
        return str.__new__(cls, "|".join(parts))

    @classmethod
    def of(cls, one: Measurement, facts: Facts, users: int) -> Self:
        """Return how a metric was computed: its name, all choices, and over how many users."""
        longest = facts.seen_by(one.convention).longest
        texts = {**one.convention.texts, **_told_apart(one, facts, longest)}
        texts["threshold"] = "none" if one.threshold is None else str(one.threshold)
        if one.convention.short_list == "drop" and one.metric.k is None:
            texts["short_below"] = str(one.short_below)
        if one.metric.origin:
            told = one.metric.fingerprinted(one.metric.k or longest)
            mark = "" if told is None else f"#{_fingerprint(told)}"
            texts["own"] = f"{one.metric.origin}{mark}"
        texts |= {"protocol": facts.protocol, "users": str(users), "version": __version__}
        return cls.joined(str(one), texts)

    @property
    def text(self) -> str:
        """All of it, as plain text."""
        return str.__str__(self)

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self.partition("|")[0]

    @property
    def fields(self) -> dict[str, Any]:
        """The metric, every choice, the threshold, protocol, users and version, as values.

        A function of somebody's own is given by its text.
        """
        values = {name: _value(name, text) for name, text in self._texts.items()}
        return {"metric": self.metric, **values}

    @property
    def convention(self) -> Convention:
        """All choices.

        Raises
        ------
        InvalidInputError
            One is a function, of which only the name is known.
        """
        return Convention.from_signature(self.text)

    @property
    def typed(self) -> str:
        """What is typed behind a metric: the threshold, and choices that are not the usual ones.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> linear = rn.Convention(gain="linear")
        >>> rn.evaluate({"ann": [(4, 5), (3, 2)]}, convention=linear).signature("ndcg@10").typed
        ", convention=rn.Convention(gain='linear')"
        """
        values, texts = self.fields, self._texts
        threshold = values["threshold"]
        told = "" if threshold is None else f", threshold={threshold!r}"
        choices = ", ".join(
            f"{name}={_as_typed(values[name])}"
            for name, text in Convention.default_texts().items()
            if texts[name] != text
        )
        return f"{told}, convention=rn.Convention({choices})" if choices else told

    @property
    def reads(self) -> frozenset[str]:
        """The choices that can move the number, and the threshold if it can."""
        kind = self._kind
        if kind is None:
            return frozenset({*Convention.names(), "threshold"})
        texts = self._texts
        by_threshold = (
            kind.needs_threshold
            or ("gain" in kind.reads and texts["gain"] in BY_THRESHOLD)
            or texts["mean_over"] == "relevant"
        )
        return kind.reads | {"threshold"} if by_threshold else kind.reads

    @property
    def short(self) -> str:
        """The choices that differ from the defaults and can move the number: for a paper.

        ``defaults`` stands for all others: a digest by which a version with other defaults
        notices that it cannot read them. `Signature` reads it back.

        Examples
        --------
        >>> import recsys_ndcg as rn
        >>> linear = rn.Convention(gain="linear")
        >>> report = rn.evaluate({"ann": [(4.5, 5), (3.0, 2)]}, convention=linear)
        >>> short = report.signature("ndcg@10").short
        >>> short
        'ndcg@10|gain:linear|defaults:50b6cd49|users:1|version:0.1.0'
        >>> rn.Signature(short) == report.signature("ndcg@10")
        True
        """
        usual = Convention.default_texts() | _USUAL
        reads = {*self.reads, "protocol"}
        told = {
            name: f"{name}:{text}"
            for name, text in self._texts.items()
            if name not in usual or (name in reads and text != usual[name])
        }
        choices = [text for name, text in told.items() if name in Convention.names()]
        beside = [text for name, text in told.items() if name not in Convention.names()]
        rest = f"defaults:{Convention.default_digest()}"
        return "|".join([self.metric, *choices, rest, *beside])

    def over(self, users: int) -> Signature:
        """Return the signature of the same number over other users."""
        return self.joined(self.metric, {**self._texts, "users": str(users)})

    def differences(self, other: str) -> dict[str, tuple[Any, Any]]:
        """Return in what can move the numbers two signatures differ: ``{field: (mine, theirs)}``.

        Raises
        ------
        InvalidInputError
            The other is no signature.
        """
        theirs = Signature(other)
        mine, others = self.fields, theirs.fields
        return {
            name: (mine.get(name), others.get(name))
            for name in {**self._agreed, **theirs._agreed}
            if mine.get(name) != others.get(name)
        }

    def __eq__(self, other: object) -> bool:
        """Compare everything that can move the number."""
        if not isinstance(other, str):
            return NotImplemented
        try:
            theirs = Signature(other)
        except InvalidInputError:
            return False
        return self._agreed == theirs._agreed

    def __ne__(self, other: object) -> bool:
        """Compare everything that can move the number."""
        return not self == other

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash(frozenset(self._agreed.items()))

    @lazy_property
    def _texts(self) -> dict[str, str]:
        return Convention.texts_of(self.text)[1]

    @lazy_property
    def _kind(self) -> type[Metric] | None:
        """The metric, if it is known here."""
        with suppress(RecsysNdcgError):
            return type(parse(self.metric)[0])
        return None

    @lazy_property
    def _agreed(self) -> dict[str, str]:
        """What must agree for two numbers to be comparable."""
        ignored = {*Convention.names(), "threshold"} - self.reads
        texts = {name: text for name, text in self._texts.items() if name not in ignored}
        return {"metric": self.metric, **texts}


def _told_apart(one: Measurement, facts: Facts, longest: int) -> dict[str, str]:
    """Return choices that are functions with what they give: two may share a name.

    A metric that reads no gains does not depend on it, and it need not stand what would be asked.
    """
    convention = one.convention
    given: dict[str, Floats] = {}
    reads = one.metric.reads if one.metric.uses_gains else ()
    if callable(convention.gain) and "gain" in reads:
        top = [] if convention.max_grade is None else [convention.max_grade]
        grades = np.unique(np.concatenate([facts.grades(convention).known, top]))
        given["gain"] = convention.gains(grades, one.threshold)
    if callable(convention.discount) and "discount" in reads:
        given["discount"] = convention.discounts(one.metric.depth or longest)
    return {
        name: f"{written(getattr(convention, name))[:-1]}#{_fingerprint(values)})"
        for name, values in given.items()
    }


def _fingerprint(values: Floats) -> str:
    """Return eight signs that differ where the numbers differ, up to their last digits."""
    return sha256(",".join(f"{value:.12g}" for value in values.tolist()).encode()).hexdigest()[:8]


def _checked(texts: dict[str, str]) -> dict[str, str]:
    """Return the texts of fields as a report writes them.

    Raises
    ------
    InvalidInputError
        A text is no value of its field.
    """
    plain = {name: text for name, text in texts.items() if not text.startswith("callable(")}
    values = {name: parsed(name, plain[name]) for name in Convention.names() if name in plain}
    found = texts | {
        name: text for name, text in Convention(**values).texts.items() if name in values
    }
    for name, kind in (("threshold", float), ("users", int), ("short_below", int)):
        text = found.get(name, "none")
        try:
            found |= {} if text == "none" else {name: str(kind(text) + 0)}  # -0.0 is 0.0
        except ValueError:
            msg = f"{name}:{quote(text)} is not a number, in a signature."
            raise InvalidInputError(msg) from None
    return found


def _value(name: str, text: str) -> Any:
    """Return the value that a text stands for; that of a function, and of a name, is the text."""
    if text.startswith("callable(") or name in {"own", "protocol", "version"}:
        return text
    return int(text) if name in {"users", "short_below"} else parsed(name, text)


def _as_typed(value: Any) -> str:
    """Return Python for a choice; a function of somebody's own is named."""
    if isinstance(value, str) and value.startswith("callable("):
        name = value.removeprefix("callable(").rpartition("#")[0]
        return name if name.isidentifier() else "..."
    return repr(value)
