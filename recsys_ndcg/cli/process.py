"""The process around a command: what it says on which stream, and how it ends."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

import typer
from rich.console import Console

from recsys_ndcg.errors import PLAINLY, DataWarning, RecsysNdcgError, printable, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import FrameType


_WRONG, _BUG, _INTERRUPTED, _CLOSED = 2, 70, 130, 1
_TRACEBACK = "RECSYS_NDCG_TRACEBACK"
_SELDOM = 100_000  # objects; importing libraries makes many that stay, looked through in vain
_NO_WIDTH = 500  # a pipe has none, so nothing is cut there


def _console(*, stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    watched = stream is not None and stream.isatty()
    return Console(
        stderr=stderr,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
        width=None if watched else _NO_WIDTH,
    )


out, err = _console(stderr=False), _console(stderr=True)


def say(text: str = "", style: str | None = None, *, wrap: bool = False) -> None:
    """Print a line, whatever stands in it."""
    out.print(printable(text), style=style, soft_wrap=not wrap)


def emit(text: str) -> None:
    """Print a text for a program as it is; a person sees what acts on a terminal as escapes."""
    if sys.stdout.isatty():
        sys.stdout.writelines(f"{printable(line)}\n" for line in text.splitlines())
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode())


def complain(kind: str, text: str) -> None:
    """Print an error or a warning as one line of its own."""
    err.print(f"{kind}: {visible(text)}")


@contextmanager
def print_problems(typed: Mapping[str, str], *, quiet: bool) -> Iterator[None]:
    """Print warnings and errors as one line each, without their way through the code.

    Parameters
    ----------
    typed : mapping of str to str
        How the parameters of the command are typed, for messages that begin with one.
    quiet : bool
        Whether errors alone are printed.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            yield
        except RecsysNdcgError as error:
            found = re.match(r"(\w+)(?==| must be )", message := str(error))
            name = found[0] if found else ""
            complain("error", typed.get(name, name) + message.removeprefix(name))
            raise typer.Exit(_WRONG) from None
        finally:
            for message in dict.fromkeys(str(one.message) for one in caught if not quiet):
                complain("warning", message)


def ended(command: Callable[[], int | None]) -> int | None:
    """Run a command to its end, and return the code to exit with.

    A wrong call is told in one line, like wrong data, and so is a mistake of ours, unless the
    environment asks for the traceback. Who stops the command, or what reads its output, is told
    nothing.
    """
    try:
        code = command()
        if sys.stdout is not None:
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        _silence()
        return _CLOSED
    except Exception as error:  # noqa: BLE001 - the last who can say it
        return _failed(error)
    return code


def _failed(error: Exception) -> int:
    """Say what went wrong, if there is still somebody to hear it."""
    code, text = _WRONG, ""
    if hasattr(error, "format_message"):
        text = f"{error.format_message()} (--help tells more)"
    elif isinstance(error, OSError) and error.filename is None:  # one of a file has its name
        text = f"The output cannot be written ({error.strerror or error})."
        _silence()
    elif isinstance(error, MemoryError):
        text = f"The memory does not suffice. {error}"
    elif os.environ.get(_TRACEBACK):
        raise error
    else:
        code = _BUG
        text = (
            f"{type(error).__name__}: {error} - a mistake of recsys-ndcg, not of yours. Please "
            f"report it with what it prints under {_TRACEBACK}=1."
        )
    with suppress(OSError):
        complain("error", text)
    return code


def _silence() -> None:
    """Let what was not printed go nowhere, lest Python tries again when it exits."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def prepared() -> None:
    """Make the streams able to take any text, and an end from outside clean up behind itself.

    What can be thrown away is looked for seldom, which the start is faster for.
    """
    gc.set_threshold(_SELDOM)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed; and some libraries write there as they are loaded
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors=PLAINLY)
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _stopped)


def _stopped(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)
