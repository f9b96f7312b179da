"""Rewrite the options of Python in messages as the options of the command that runs."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar

#: The options of the command that runs, by their names in Python.
_options: ContextVar[Mapping[str, Sequence[str]]] = ContextVar("_options", default={})  # noqa: B039 - never changed
#: The parameter at the beginning of a message, or after the name of a model.
_SUBJECT = re.compile(r"(?:^|(?<=: ))(\w+)(?= must (?:be|have)\b| has no effect\b)")
#: An argument of Python, such as threshold=4.0 or columns={'estimated': 'est'}.
_ARGUMENT = re.compile(
    r"(?<![\w,'])(?<!\w\()(\w+)=(?!=)"
    r"(\{[^}]*\}|Convention\([^)]*\)|'[^']*'|[\w-]+(?:\.\w+)*|)"
)
#: What Python writes in other words than the command line.
_CALLS = {
    r"RankedLists\.from_labels\(labels, results\)": "--labels FILE --results FILE",
    r"Convention\.from_signature": "--full-signature",
    r"RankedLists\.from_\.\.\.\([^)]*\), elsewhere ": "",
    r"\(catalogue=items, or their number\)": "(--catalogue FILE, or --n-items N)",
    r"\{'labels': test, 'results': lists\} \(None without labels\), or rank [^.]*": (
        "--labels FILE --results FILE"
    ),
}
#: Python's names of options, if the command line has others.
_OTHER_NAMES = {"separator": "sep", "list_separator": "list_sep"}
#: A file with its format, in Python.
_FORMAT = re.compile(r"\(path, rn\.TextFormat\((\w+)=('[^']*'|\w+)\)\)")


def use_options(options: Mapping[str, Sequence[str]]) -> None:
    """Let `name_options` write the options of a command, given by their names in Python."""
    _options.set(options)


def name_options(message: str, names: Sequence[str] = ()) -> str:
    """Return a message with the options to type in place of Python's arguments.

    Arguments stay if the command does not have such an option, and so do `names` of models
    and metrics.

    Examples
    --------
    >>> use_options({"columns": ["--columns"]})
    >>> name_options("Pass columns={'estimated': 'est'}.")
    'Pass --columns estimated=est.'
    """
    if names:
        every = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        parts = re.split(f"({every})", message)
        parts[::2] = map(name_options, parts[::2])
        return "".join(parts)
    from recsys_ndcg.convention import Convention

    options = _options.get()

    def find(name: str) -> str:
        return options.get(_OTHER_NAMES.get(name, name), [""])[0]

    def name_argument(match: re.Match[str]) -> str:
        option, value = find(match[1]), _format_value(match[2])
        if not option and match[1] in Convention.field_names() and find("convention"):
            option, value = find("convention"), f"{match[1]}={value}"
        return f"{option} {value}".rstrip() if option else match[0]

    message = _FORMAT.sub(_name_format, message)
    if "labels" in options or "sep" in options:
        for call, typed in _CALLS.items():
            message = re.sub(call, typed, message)
    return _SUBJECT.sub(lambda one: find(one[1]) or one[0], _ARGUMENT.sub(name_argument, message))


def _name_format(match: re.Match[str]) -> str:
    name = _OTHER_NAMES.get(match[1], match[1])
    value = {"False": "no", "True": "yes"}.get(match[2], match[2].strip("'"))
    typed = f"FILE,{name}={value}"
    return typed if value[-1].isalnum() else f"'{typed}'"


def _format_value(text: str) -> str:
    """Return a value of Python as a user types it: without quotes, mappings as name=value."""
    if text.startswith("Convention("):
        return shlex.quote(text.removeprefix("Convention(").rstrip(")").replace("'", ""))
    with suppress(ValueError, SyntaxError):
        value = ast.literal_eval(text)
        pairs = value.items() if isinstance(value, dict) else ()
        typed = [
            f"{ours}={'...' if one is ... else one}"
            for ours, theirs in pairs
            for one in (theirs if isinstance(theirs, list) else [theirs])
        ]
        word = ",".join(typed) or str(value)
        return shlex.quote(word) if re.search(r"\w", word) else f"'{word}'"
    return text
