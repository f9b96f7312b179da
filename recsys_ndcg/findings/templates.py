"""Templates of sentences: the table templates.toml, and how values are put into a template.

A template has values in braces, and optional pieces in brackets (braces of Python code stay):

- ``{difference:size}``: a number in one of `FORMATS` (rendering/numbers.py), or in one of Python's,
  as ``{x:.1f}``, with a space before %; ``{models:and}``: names in one of the formats below;
- ``{users:# user}``: a number and its noun, ``1 user`` or ``1,234 users``; of several numbers, the
  least and the largest;
- ``{models:is/are}``: the first word if there is one of them, else the second;
- ``{difference:>above/below}``: the first word if it is positive, or all are, else the second;
- ``{is_sure:?}``: nothing; if it is false, the piece around it is left out;
- ``[first|second]``: the first piece whose values are all known (not missing, None, NaN or empty);
- ``{each}``: the template ``each``, filled for each place of its values, which are sequences;
- ``{@lead}``: a piece that several templates have, from the table ``pieces``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from numbers import Number
from typing import Any

import numpy as np

from recsys_ndcg.glossary import read_table
from recsys_ndcg.rendering import FORMATS, join_names, list_first

#: The formats of numbers, and of names.
_FORMATS: dict[str, Callable[..., str]] = {
    **FORMATS,
    "and": join_names,
    "list": lambda names: ", ".join(list_first(names, 3)),
    "all": ", ".join,
}
_TOKENS = re.compile(r"([\[|\]]|\{\w[^{}]*\})")
_PIECE = re.compile(r"\{@(\w+)\}")


@dataclass(frozen=True)
class Template:
    """How findings of a kind are worded.

    Parameters
    ----------
    kind : str
        The kind of the findings.
    group : str
        What they belong to: ``"verdict"``, ``"remark"``, ``"gate"`` …
    text : str
        The sentence; of a verdict, its headline.
    severity : {'fact', 'warning', 'error'}
        Of findings that have none of their own; by default that of the group.
    evidence : str
        Further sentences.
    each : str
        What ``{each}`` stands for, at each place of its values.
    join, rest : str
        What stands between them, or "and" before the last; and for those after the third, where
        {} is their number.
    more : str
        The sentence for findings after the third with the same text here; {} is their number.
    """

    kind: str
    group: str
    text: str
    severity: str
    evidence: str = ""
    each: str = ""
    join: str = ", "
    rest: str = "{} more"
    more: str = ""

    def fill(self, text: str, values: Mapping[str, Any]) -> str:
        """Return one of the template's texts with values in it."""
        if "{each}" in text:
            values = {**values, "each": self._fill_each(values)}
        (filled,) = _fill(_parse(text), values, is_optional=False)
        return filled

    def _fill_each(self, values: Mapping[str, Any]) -> str:
        fields = [one for one in re.findall(r"\{(\w+)", self.each) if _is_sequence(values.get(one))]
        rows = zip(*(values[name] for name in fields), strict=True)
        texts = [
            self.fill(self.each, {**values, **dict(zip(fields, row, strict=True))}) for row in rows
        ]
        if self.join == "and":
            return join_names(texts)
        return self.join.join(list_first(texts, 3, self.rest))


@cache
def read_templates() -> dict[str, Template]:
    """Return the templates by kind."""
    groups = read_table("findings/templates.toml")
    pieces = groups.pop("pieces")

    def insert(text: str) -> str:
        while _PIECE.search(text):
            text = _PIECE.sub(lambda match: pieces[match[1]], text)
        return text

    return {
        kind: Template(
            kind, group, **{"severity": severity} | {name: insert(fields[name]) for name in fields}
        )
        for group, templates in groups.items()
        for severity in [templates.pop("severity")]
        for kind, fields in templates.items()
    }


def _parse(text: str) -> list[Any]:
    """Return the words and fields of a template; an optional piece is a list of alternatives."""
    stack: list[list[Any]] = [[[]]]
    for part in _TOKENS.split(text):
        if part == "[":
            stack.append([[]])
        elif part == "|" and len(stack) > 1:
            stack[-1].append([])
        elif part == "]":
            piece = stack.pop()
            stack[-1][-1].append(piece)
        elif part:
            stack[-1][-1].append(part)
    return stack[0]


def _fill(
    alternatives: Sequence[Any], values: Mapping[str, Any], *, is_optional: bool
) -> list[str]:
    """Return the text of the first alternative whose values are known, in a list; or none."""
    for pieces in alternatives:
        texts = []
        for piece in pieces:
            if isinstance(piece, list):
                texts += _fill(piece, values, is_optional=True)
            elif _TOKENS.fullmatch(piece):
                name, _, form = piece[1:-1].partition(":")
                if is_optional and _is_missing(values.get(name), form):
                    break
                texts.append(_format(values[name], form))
            else:
                texts.append(piece)
        else:
            return ["".join(texts)]
    return []


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence | np.ndarray) and not isinstance(value, str)


def _is_missing(value: Any, form: str) -> bool:
    if form == "?":
        return not value
    if isinstance(value, str) or _is_sequence(value):
        return len(value) == 0
    return value is None or bool(np.isnan(value))


def _format(value: Any, form: str) -> str:
    if form in _FORMATS:
        return _FORMATS[form](value)
    if form.startswith("# "):
        numbers = FORMATS["span"](value if _is_sequence(value) else [value])
        return f"{numbers} {form[2:]}{'' if _is_one(value) else 's'}"
    if form.startswith(">"):
        above, below = form[1:].split("/")
        return above if np.all(np.array(value) > 0) else below
    if "/" in form:
        singular, plural = form.split("/")
        return singular if _is_one(value) else plural
    if form.endswith("%"):
        return f"{format(value, form).rstrip('%')} %"
    return "" if form == "?" else format(value, form)


def _is_one(value: Any) -> bool:
    """Return whether a noun for a number, several numbers, or several names is singular."""
    if not _is_sequence(value):
        return bool(value == 1)
    return {*value} == {1} if isinstance(value[0], Number) else len(value) == 1
