"""The program: its commands, how it is started, and how it ends."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, getdoc, signature
from textwrap import indent
from types import FrameType
from typing import Annotated, Any, NoReturn, get_type_hints

from recsys_ndcg.errors import (
    DataWarning,
    RecsysNdcgError,
    is_caused_by_interrupt,
    require_libraries,
)

try:
    with require_libraries("typer", "rich", job="The command line", extra="cli"):
        import typer
        from typer.core import TyperCommand
except RecsysNdcgError as error:
    sys.exit(str(error))

from recsys_ndcg.cli.options import spread
from recsys_ndcg.cli.output import complain, say
from recsys_ndcg.version import __version__

_WRONG, _BUG, _INTERRUPTED, _CLOSED = 2, 70, 130, 1
_TRACEBACK = "RECSYS_NDCG_TRACEBACK"
_SELDOM = 100_000  # objects; importing libraries makes many that stay, looked through in vain
#: Parameters that a message is about, at its beginning or behind the name of a model.
_NAMES = re.compile(r"(?:^|(?<=: ))\w+(?==| must be | tells )")
_NAME = "recsys-ndcg"
#: Where each is, in the order of the help.
_COMMANDS = {
    "evaluate": "measuring",
    "compare": "comparing",
    "report": "showing",
    "leaderboard": "showing",
    "explain": "measuring",
    "reconcile": "measuring",
    "experiment": "training",
    "demo": "training",
    "presets": "showing",
    "metrics": "showing",
}
_EXAMPLES = "\n\nExamples\n--------\n"


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"{_NAME} {__version__}")
        raise typer.Exit


def _program(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None: ...


def application(names: Iterable[str] = _COMMANDS) -> typer.Typer:
    """Return the program with some of its commands, of which no other is imported.

    Examples
    --------
    >>> [command.name for command in application(["evaluate"]).registered_commands]
    ['evaluate']
    """
    app = typer.Typer(
        name=_NAME,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        help="Ranking evaluation for recommenders: NDCG@k and its kin, and how they were computed.",
        epilog="\b\nExample:\n  recsys-ndcg evaluate predictions.csv --threshold 4",
    )
    app.callback()(_program)
    for name in names:
        module = import_module(f"{__package__}.{_COMMANDS[name]}")
        command = flattened(getattr(module, name))
        text, _, examples = (getdoc(command) or "").partition(_EXAMPLES)
        # \b keeps the lines as they are
        epilog = f"\b\nExamples:\n{indent(examples, '  ')}"
        app.command(name, cls=_Command, help=text, epilog=epilog)(command)
    return app


def flattened(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters that are dataclasses became their fields.

    Typer reads one option from each parameter; the command still gets the dataclasses.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from recsys_ndcg.cli.options import option
    >>> @dataclass
    ... class Size:
    ...     width: int = option("How wide.", default=3)
    >>> @flattened
    ... def draw(size: Size, sign: str = option("Of what.", default="x")) -> None:
    ...     print(size.width * sign)
    >>> draw(width=2, sign="o")
    oo
    """
    kinds = get_type_hints(command)
    groups: dict[str, list[Parameter]] = {}
    for name, one in signature(command).parameters.items():
        declared = {name: one.default}
        hints = kinds
        if is_dataclass(kinds[name]):
            declared = {each.name: each for each in fields(kinds[name])}
            hints = get_type_hints(kinds[name])
        groups[name] = [_parameter(each, hints[each], how) for each, how in declared.items()]

    @wraps(command)
    def called(**values: Any) -> None:
        given = {}
        for name, group in groups.items():
            own = {one.name: values[one.name] for one in group}
            given[name] = kinds[name](**own) if is_dataclass(kinds[name]) else own[name]
        command(**given)

    parameters = [one for group in groups.values() for one in group]
    vars(called)["__signature__"] = Signature(parameters)
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _parameter(name: str, kind: Any, declared: Field[Any]) -> Parameter:
    """Return a parameter as typer reads it."""
    hint = Annotated[kind, declared.metadata["typer"]]
    default = Parameter.empty if declared.default is MISSING else declared.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


class _Command(TyperCommand):
    """A command that prints warnings and errors as one line each, with its options as typed."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        typed = {one.name: one.opts[0] for one in self.params}
        quiet = ctx.params.get("quiet", False)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            try:
                return super().invoke(ctx)
            except RecsysNdcgError as error:
                complain("error", _NAMES.sub(lambda name: typed.get(name[0], name[0]), str(error)))
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
        return _INTERRUPTED if is_caused_by_interrupt(error) else _failed(error)
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
            stream.reconfigure(errors="backslashreplace")
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _stopped)


def _stopped(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line."""
    prepared()
    words = sys.argv[1:] or ["--help"]
    asked = words[:1] if words[0] in _COMMANDS else _COMMANDS
    how = {"prog_name": _NAME, "standalone_mode": False}
    sys.exit(ended(lambda: application(asked)(spread(words), **how)))
