"""The program: its commands, its start and its exit codes."""

from __future__ import annotations

import gc
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from copy import copy
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, getdoc, signature
from pathlib import Path
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

from recsys_ndcg.cli.options import repeat_options
from recsys_ndcg.cli.output import print_line, print_message
from recsys_ndcg.cli.sources import parse_file
from recsys_ndcg.cli.spelling import name_options, use_options
from recsys_ndcg.version import __version__

_WRONG, _BUG, _INTERRUPTED, _CLOSED = 2, 70, 130, 1
_TRACEBACK = "RECSYS_NDCG_TRACEBACK"
_GC_THRESHOLD = 100_000  # objects: importing libraries creates many, and frees none
_NAME = "recsys-ndcg"
#: The module of each command, in the order of --help.
_COMMANDS = {
    "evaluate": "evaluation",
    "compare": "comparison",
    "across": "comparison",
    "report": "reports",
    "leaderboard": "reports",
    "explain": "evaluation",
    "reconcile": "evaluation",
    "explain-number": "reports",
    "experiment": "experiments",
    "check-split": "splits",
    "demo": "experiments",
    "presets": "reports",
    "metrics": "reports",
}
_METAVARS: dict[Any, str] = {Path: "FILE", Path | None: "FILE"}
_EXAMPLES = "\n\nExamples\n--------\n"


def _print_version(is_requested: bool) -> None:
    if is_requested:
        print_line(f"{_NAME} {__version__}")
        raise typer.Exit


def _print_nothing(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None: ...


def build_application(names: Iterable[str] = _COMMANDS) -> typer.Typer:
    """Return the program with some of its commands; the modules of others are not imported.

    Examples
    --------
    >>> [command.name for command in build_application(["evaluate"]).registered_commands]
    ['evaluate']
    """
    app = typer.Typer(
        name=_NAME,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        no_args_is_help=True,
        help="Evaluate the rankings of recommenders: NDCG@k and other metrics, each with a "
        "signature that defines how it is computed.",
        epilog="\b\nExample:\n  recsys-ndcg evaluate predictions.csv --threshold 4",
    )
    app.callback()(_print_nothing)
    for name in names:
        module = import_module(f"{__package__}.{_COMMANDS[name]}")
        command = flatten_options(getattr(module, name.replace("-", "_")))
        text, _, examples = (getdoc(command) or "").partition(_EXAMPLES)
        # \b keeps the lines as they are
        epilog = f"\b\nExamples:\n{indent(examples, '  ')}"
        app.command(name, cls=_Command, help=text, epilog=epilog)(command)
    return app


def flatten_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose dataclass parameters are replaced by their fields.

    Typer declares one option per parameter; the command still gets the dataclasses.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from recsys_ndcg.cli.options import option
    >>> @dataclass
    ... class Size:
    ...     width: int = option("Width.", default=3)
    >>> @flatten_options
    ... def draw(size: Size, sign: str = option("Character.", default="x")) -> None:
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
        heading = getattr(kinds[name], "HEADING", "Options")
        groups[name] = [
            _parameter(each, hints[each], how, heading) for each, how in declared.items()
        ]

    @wraps(command)
    def called(**values: Any) -> None:
        given = {}
        for name, group in groups.items():
            own = {one.name: _parse_files(values[one.name]) for one in group}
            given[name] = kinds[name](**own) if is_dataclass(kinds[name]) else own[name]
        command(**given)

    parameters = [one for group in groups.values() for one in group]
    vars(called)["__signature__"] = Signature(parameters)
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _parse_files(value: Any) -> Any:
    if isinstance(value, list):
        return [*map(_parse_files, value)]
    return parse_file(value) if isinstance(value, Path) else value


def _parameter(name: str, kind: Any, declared: Field[Any], heading: str) -> Parameter:
    """Return a parameter as typer reads it, named after its type or itself in --help."""
    typed = copy(declared.metadata["typer"])  # commands share options, and may group them otherwise
    typed.rich_help_panel = heading
    typed.metavar = typed.metavar or _METAVARS.get(kind, name.upper())
    hint = Annotated[kind, typed]
    default = Parameter.empty if declared.default is MISSING else declared.default
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hint)


class _Command(TyperCommand):
    """A command that prints each warning and error as one line, with names of options."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the parts of the usage line: FILE... if there may be several."""
        pieces = {"": "[OPTIONS]"}
        for one in self._list_arguments(ctx):
            name = f"{one.metavar}..." if one.nargs < 0 else one.metavar
            pieces[one.metavar] = name if one.required else f"[{name}]"
        return [*pieces.values()]

    def _list_arguments(self, ctx: Any) -> list[Any]:
        return [one for one in self.get_params(ctx) if one.param_type_name == "argument"]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, and the options in groups."""
        arguments = {one.metavar: one.help for one in reversed(self._list_arguments(ctx))}
        groups: dict[str, list[Any]] = {}
        if arguments:
            groups["Arguments"] = [*reversed(arguments.items())]
        heading = "Options"
        for one in self.get_params(ctx):
            if one.param_type_name == "option":  # --help is last, and has no group
                heading = getattr(one, "rich_help_panel", None) or heading
                groups.setdefault(heading, []).append(one.get_help_record(ctx))
        for name, rows in groups.items():
            with formatter.section(name):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        typed = {one.name: one.opts for one in self.params}
        quiet = ctx.params.get("quiet", False)
        with use_options(typed), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", DataWarning)
            try:
                return super().invoke(ctx)
            except RecsysNdcgError as error:
                print_message("error", name_options(str(error)))
                raise typer.Exit(_WRONG) from None
            finally:
                for message in dict.fromkeys(str(one.message) for one in caught if not quiet):
                    print_message("warning", name_options(message))


def run_to_exit_code(command: Callable[[], int | None]) -> int | None:
    """Run a command, print its error, and return the exit code.

    Errors are one line, also for invalid calls and bugs; a variable of the environment shows
    a bug's traceback. An interrupt and a closed pipe are silent.
    """
    try:
        code = command()
        if sys.stdout is not None:
            sys.stdout.flush()
    except (KeyboardInterrupt, typer.Abort):
        return _INTERRUPTED
    except BrokenPipeError:
        _discard_output()
        return _CLOSED
    except Exception as error:  # noqa: BLE001 - nothing else reports it
        return _INTERRUPTED if is_caused_by_interrupt(error) else _report_error(error)
    return code


def _report_error(error: Exception) -> int:
    """Print an error, if standard error is open; return the exit code."""
    code, text = _WRONG, ""
    if hasattr(error, "format_message"):
        text = f"{error.format_message()} (see --help)"
    elif isinstance(error, OSError) and error.filename is None:  # an error of a file has its name
        text = f"The output cannot be written ({error.strerror or error})."
        _discard_output()
    elif isinstance(error, MemoryError):
        text = f"Out of memory. {error}"
    elif os.environ.get(_TRACEBACK):
        raise error
    else:
        code = _BUG
        text = (
            f"{type(error).__name__}: {error} - a bug in recsys-ndcg. Please report it with the "
            f"traceback, which {_TRACEBACK}=1 prints."
        )
    with suppress(OSError):
        print_message("error", text)
    return code


def _discard_output() -> None:
    """Discard unprinted output, so that Python does not try to print it when it exits."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def prepare_process() -> None:
    """Prepare the streams for any text, signals for a clean exit, and the garbage collector.

    It collects rarely, which makes the start faster.
    """
    gc.set_threshold(_GC_THRESHOLD)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed; some libraries write to it when imported
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    for name in ("SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), _exit_on_signal)


def _exit_on_signal(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


def main() -> None:
    """Run the command line."""
    prepare_process()
    words = sys.argv[1:] or ["--help"]
    commands = words[:1] if words[0] in _COMMANDS else _COMMANDS
    how = {"prog_name": _NAME, "standalone_mode": False}
    sys.exit(run_to_exit_code(lambda: build_application(commands)(repeat_options(words), **how)))
