"""The program: its commands, and how it is started."""

from __future__ import annotations

import sys
from dataclasses import is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

from recsys_ndcg.errors import MissingExtraError, needing

try:
    with needing("typer", "rich", job="The command line", extra="cli"):
        import typer
except MissingExtraError as error:
    sys.exit(str(error))

from recsys_ndcg.cli.options import spread
from recsys_ndcg.cli.process import ended, prepared, print_problems, say
from recsys_ndcg.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
    return [
        one.replace(annotation=hints[one.name], kind=Parameter.KEYWORD_ONLY)
        for one in signature(command).parameters.values()
    ]


def _typed(one: Parameter) -> str:
    """Return how an option is typed."""
    for declared in getattr(one.annotation, "__metadata__", ()):
        # typer takes the first name as the default, as long as it has not read the annotation
        for name in (declared.default, *(declared.param_decls or ())):
            if isinstance(name, str):
                return name
    return f"--{one.name.replace('_', '-')}"


def main() -> None:
    """Run the command line."""
    prepared()
    words = sys.argv[1:] or ["--help"]
    asked = words[:1] if words[0] in _COMMANDS else _COMMANDS
    how = {"prog_name": _NAME, "standalone_mode": False}
    sys.exit(ended(lambda: application(asked)(spread(words), **how)))
