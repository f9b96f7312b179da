"""The errors and the warning that a caller may catch, and how warnings are emitted."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from recsys_ndcg.errors.wording import escape_invisible

_PACKAGE = Path(__file__).parents[1]
#: A value that is quoted, in which a backtick marks nothing; or code between backticks.
_MARKED = re.compile(r"""(?<!\w)(['"])(?:\\.|(?!\1).)*?(?:\1|…)|(?<!\w)`(?P<code>[^`]+)`(?!\w)""")
_collected: ContextVar[list[str] | None] = ContextVar("_collected", default=None)


@contextmanager
def label_messages(name: str) -> Iterator[list[str]]:
    """Put a name before the message of an error, and collect warnings instead of emitting them.

    Yields
    ------
    list of str
        The messages of the warnings, for `emit_labelled_warnings`.

    Raises
    ------
    RecsysNdcgError
        As it was raised, with the name.
    """
    messages: list[str] = []
    token = _collected.set(messages)
    try:
        yield messages
    except MissingExtraError:
        raise
    except RecsysNdcgError as error:
        msg = f"{name}: {error.args[0]}" if name else error.args[0]
        raise type(error)(msg) from None
    finally:
        _collected.reset(token)


def emit_labelled_warnings(messages: Mapping[str, Iterable[str]]) -> None:
    """Emit each message once, preceded by the names that have it unless all have it."""
    names: dict[str, list[str]] = {}
    for name, some in messages.items():
        for message in dict.fromkeys(some):
            names.setdefault(message, []).append(name)
    for message, those in names.items():
        warn(message if len(those) == len(messages) else f"{', '.join(those)}: {message}")


def warn(message: str) -> None:
    """Emit a `DataWarning` that points at the first line outside this package."""
    if (collected := _collected.get()) is not None:
        collected.append(message)
        return
    level, frame = 1, sys._getframe()
    while frame.f_back and Path(frame.f_code.co_filename).is_relative_to(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(DataWarning(escape_invisible(message)), stacklevel=level)


class MarkedMessage(Exception):  # noqa: N818 - of errors and warnings
    """A message that marks what the caller may write in Python, such as an argument.

    It stands between backticks in `args`, where the command line replaces it by its own option;
    the text is without them.
    """

    def __str__(self) -> str:
        """Return the message for Python."""
        return replace_code(str(self.args[0]), str)


def replace_code(message: str, write: Callable[[str], str]) -> str:
    """Replace what a message marks as code by what `write` makes of it.

    Examples
    --------
    >>> replace_code("Pass `k=5` for user 'my `k=5`'.", str)
    "Pass k=5 for user 'my `k=5`'."
    """
    return _MARKED.sub(lambda part: write(part["code"]) if part["code"] else part[0], message)


class RecsysNdcgError(MarkedMessage, ValueError):
    """Base class of all errors that this package raises; the message is one visible line."""

    __module__ = "recsys_ndcg"  # in tracebacks, the name to catch

    def __init__(self, message: object = "", *more: object) -> None:
        super().__init__(escape_invisible(str(message)), *more)


class InvalidInputError(RecsysNdcgError):
    """The data or an option cannot be used; the message says where and what to do."""

    __module__ = "recsys_ndcg"

    @classmethod
    def raise_if(cls, reason: str) -> None:
        """Raise the error if there is a reason.

        Raises
        ------
        InvalidInputError
            With the reason as its message.
        """
        if reason:
            raise cls(reason)


class DivergedModelError(InvalidInputError):
    """A model estimates NaN or infinity, which Surprise would clip to a plausible rating."""

    __module__ = "recsys_ndcg.errors"


class UnknownMetricError(RecsysNdcgError):
    """No metric has this name."""

    __module__ = "recsys_ndcg"


class MissingExtraError(RecsysNdcgError, ImportError):
    """A task needs a library that is not installed, or that fails to import.

    The message has the command that installs it.
    """

    __module__ = "recsys_ndcg"


class DataWarning(MarkedMessage, UserWarning):
    """The data is legal, but its scores are likely to mislead."""

    __module__ = "recsys_ndcg"
