"""The program: its commands, how it is started, and how it ends."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import warnings
from contextlib import contextmanager, suppress
from dataclasses import Field, fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, get_type_hints

from recsys_ndcg.errors import DataWarning, MissingExtraError, RecsysNdcgError, needing

try:
    with needing("typer", "rich", job="The command line", extra="cli"):
        import typer
except MissingExtraError as error:
    sys.exit(str(error))

from recsys_ndcg.cli.options import spread
from recsys_ndcg.cli.output import complain, say
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from types import FrameType

_WRONG, _BUG, _INTERRUPTED, _CLOSED = 2, 70, 130, 1
_TRACEBACK = "RECSYS_NDCG_TRACEBACK"
_SELDOM = 100_000  # objects; importing libraries makes many that stay, looked through in vain
#: Parameters that a message is about, at its beginning or behind the name of a model.
_NAMES = re.compile(r"(?:^|(?<=: ))\w+(?==| must be | tells )")
_NAME = "recsys-ndcg"
#: Each with what somebody may type; \b keeps the lines as they are.
_COMMANDS = {
    "evaluate": """
        recsys-ndcg evaluate predictions.csv -k 5,10 --threshold 4
        recsys-ndcg evaluate --labels clicks.csv --results top.csv.gz --metrics p@5
        zcat p.csv.gz | recsys-ndcg evaluate - --json - > report.json
        recsys-ndcg evaluate parts/*.parquet --memory-limit 2GB
        recsys-ndcg evaluate new.csv --fail-under ndcg@10=0.8
        recsys-ndcg evaluate new.csv --fail-if-worse old.json --margin 0.005
    """,
    "compare": """
        recsys-ndcg compare svd.csv knn.csv --threshold 4 --by activity
        recsys-ndcg compare --labels clicks.csv old=a.csv new=b.csv --metrics p@5
        recsys-ndcg compare old.json new.csv --fail-if-worse old --margin 0.005
        recsys-ndcg compare svd.csv knn.csv --html page.html
    """,
    "report": """
        recsys-ndcg report predictions.csv --threshold 4 --html page.html
        recsys-ndcg report report.json
        recsys-ndcg report comparison.json --html page.html
    """,
    "leaderboard": """
        recsys-ndcg leaderboard predictions.csv --sort z --ascending -n 5
        recsys-ndcg leaderboard report.json --metric precision@10
        recsys-ndcg leaderboard runs/today runs/yesterday
    """,
    "explain": """
        recsys-ndcg explain predictions.csv --user 42 -k 5
        recsys-ndcg explain --qrels qrels.txt --run run.txt --user 301 --format csv
    """,
    "reconcile": """
        recsys-ndcg reconcile predictions.csv --metric precision@10 --threshold 4
        recsys-ndcg reconcile p.parquet --metric ndcg@10 --reported 0.591
    """,
    "experiment": """
        recsys-ndcg experiment today.toml --n-jobs 2
        recsys-ndcg experiment today.toml --folder runs/today --format markdown
    """,
    "demo": """
        recsys-ndcg demo --ratings ratings.dat -k 5
        recsys-ndcg demo --html demo.html
    """,
    "presets": """
        recsys-ndcg presets --format markdown
    """,
    "metrics": """
        recsys-ndcg metrics --format json
    """,
}

#: Where those are that have no module of their own name.
_MODULES = {"presets": "listings", "metrics": "listings"}


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
        module = import_module(f"{__package__}.commands.{_MODULES.get(name, name)}")
        lines = "".join(f"\n  {line.strip()}" for line in _COMMANDS[name].strip().splitlines())
        command = flattened(getattr(module, name))
        app.command(name, epilog=f"\b\nExamples:{lines}")(command)
    return app


def flattened(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose parameters that are dataclasses became their fields.

    Typer reads one option from each parameter; the command still gets the dataclasses. Its
    warnings and errors are printed as lines.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Size:
    ...     width: int = 3
    >>> @flattened
    ... def draw(size: Size, sign: str = "x") -> None:
    ...     print(size.width * sign)
    >>> draw(width=2, sign="o")
    oo
    """
    given = _parameters(command)
    groups = {
        one.name: _parameters(one.annotation) for one in given if is_dataclass(one.annotation)
    }
    kinds = {one.name: one.annotation for one in given}
    parameters = [each for one in given for each in groups.get(one.name, [one])]
    typed = {one.name: _typed(one) for one in parameters}

    @wraps(command)
    def called(**values: Any) -> None:
        with print_problems(typed, quiet=values.get("quiet", False)):
            made = {
                name: kinds[name](**{one.name: values.pop(one.name) for one in group})
                for name, group in groups.items()
            }
            command(**made, **values)

    vars(called)["__signature__"] = Signature(parameters)
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _parameters(command: Any) -> list[Parameter]:
    """Return the parameters of a function or a dataclass, with the hints that their names mean."""
    hints = get_type_hints(command, include_extras=True)
    own = {one.name: one for one in fields(command)} if is_dataclass(command) else {}
    found = []
    for one in signature(command).parameters.values():
        hint, default, declared = hints[one.name], one.default, own.get(one.name, one.default)
        if isinstance(declared, Field) and declared.metadata:
            hint = Annotated[hint, declared.metadata["typer"]]
            default = one.default if one.name in own else declared.default
        found.append(one.replace(annotation=hint, default=default, kind=Parameter.KEYWORD_ONLY))
    return found


def _typed(one: Parameter) -> str:
    """Return how an option is typed."""
    for declared in getattr(one.annotation, "__metadata__", ()):
        # typer takes the first name as the default, as long as it has not read the annotation
        for name in (declared.default, *(declared.param_decls or ())):
            if isinstance(name, str):
                return name
    return f"--{one.name.replace('_', '-')}"


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
