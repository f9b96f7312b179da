"""The program: its commands, its start and its exit codes."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from inspect import getdoc, signature
from textwrap import fill, indent, wrap
from types import FrameType
from typing import Any, NoReturn

from recsys_ndcg.errors import (
    DataWarning,
    RecsysNdcgError,
    is_caused_by_interrupt,
    require_libraries,
)

try:
    with require_libraries("cyclopts", "rich", job="The command line", extra="cli"):
        import cyclopts
        from cyclopts.help import HelpPanel
        from cyclopts.help.formatters import PlainFormatter
        from rich.console import Console
except RecsysNdcgError as error:
    sys.exit(str(error))

from recsys_ndcg.cli.options import GROUPS, repeat_options, set_names, write_options
from recsys_ndcg.cli.output import print_message
from recsys_ndcg.version import __version__

_WRONG, _BUG, _INTERRUPTED, _CLOSED = 2, 70, 130, 1
_TRACEBACK = "RECSYS_NDCG_TRACEBACK"
_GC_THRESHOLD = 100_000  # objects: importing libraries creates many, and frees none
_NAME = "recsys-ndcg"
#: The module of each command and its arguments, in the order of --help.
_COMMANDS = {
    "evaluate": ("evaluation", "[FILE...]"),
    "compare": ("comparison", "FILE..."),
    "across": ("comparison", "FILE..."),
    "report": ("reports", "[FILE...]"),
    "leaderboard": ("reports", "[FILE] [RUN...]"),
    "explain": ("evaluation", "[FILE]"),
    "reconcile": ("evaluation", "[FILE]"),
    "explain-number": ("reports", "TEXT..."),
    "experiment": ("experiments", "CONFIG"),
    "check-split": ("experiments", "TRAIN TEST"),
    "demo": ("experiments", ""),
    "presets": ("reports", ""),
    "metrics": ("reports", ""),
}
#: A name and its description, in the section of the parameters of a docstring.
_DESCRIBED = re.compile(r"^\*?(\w+) : .*\n((?: {4}.*\n?)+)", re.MULTILINE)
_EXAMPLES = "\n\nExamples\n--------\n"
_WIDTH = 80  # of help
_LABEL_WIDTH = 28  # a longer one has a line of its own


class Application(cyclopts.App):
    """A program whose options are described in docstrings.

    It reads only docstrings: cyclopts would parse the source files as well, for 0.1 s.
    """

    def assemble_argument_collection(
        self, *, parse_docstring: bool = False, **how: Any
    ) -> cyclopts.ArgumentCollection:
        """Return the options of a command, with their help if `parse_docstring`."""
        found = super().assemble_argument_collection(**how)
        if parse_docstring and self.default_command:
            groups = [
                type(one.default) for one in signature(self.default_command).parameters.values()
            ]
            parents = [one for group in groups for one in reversed(group.__mro__)]
            docstrings = [str(getdoc(one)) for one in (self.default_command, *parents)]
            texts = dict(_DESCRIBED.findall("\n\n".join(docstrings)))
            for one in found:
                text = cyclopts.Parameter(help=" ".join(texts.get(one.field_info.name, "").split()))
                one.parameter = cyclopts.Parameter.combine(text, one.parameter)
        return found


class HelpFormatter(PlainFormatter):
    """Prints the options of a group in two columns below its heading."""

    def render_description(self, console: Console, options: Any, description: Any) -> None:  # noqa: ARG002
        """Print what the program or a command does."""
        texts = str(description.primary_renderable).split("\n\n")
        paragraphs = (fill(one, console.width, break_on_hyphens=False) for one in texts)
        console.print(*paragraphs, sep="\n\n")

    def __call__(self, console: Console, options: Any, panel: HelpPanel) -> None:  # noqa: ARG002
        """Print a group."""
        rows: dict[str, str] = {}
        for one in panel.entries:
            names = ", ".join((*one.positive_shorts, *one.positive_names))
            label = f"{names} {one.metavar or ''}".rstrip() if names else str(one.positional_label)
            default = "" if one.default is None else f"  [default: {one.default}]"
            default = "  [required]" if one.required and names else default
            rows[label] = f"{one.description.primary_renderable}{default}"
        width = min(_LABEL_WIDTH, max(map(len, rows), default=0))
        lines = ["", f"{panel.title}:"]
        for label, text in rows.items():
            margin = " " * (width + 4)
            own = [f"  {label}"] if len(label) > width else []
            first = margin if own else f"  {label:<{width}}  "
            layout: Any = {"initial_indent": first, "subsequent_indent": margin}
            lines += own + wrap(text, console.width, break_on_hyphens=False, **layout)
        if rows:
            console.print(*lines, sep="\n")


def build_application(names: Iterable[str] = _COMMANDS) -> cyclopts.App:
    """Return the program with some of its commands; the modules of others are not imported.

    Examples
    --------
    >>> "explain" in build_application(["evaluate"])
    False
    """
    console = Console(emoji=False, markup=False, highlight=False)
    console.width = min(console.width, _WIDTH)
    app = Application(
        _NAME,
        version=f"{_NAME} {__version__}",
        help="Evaluate the rankings of recommenders: NDCG@k and other metrics, each with a "
        "signature that defines how it is computed.",
        help_epilogue="Example:\n  recsys-ndcg evaluate predictions.csv --threshold 4",
        help_flags="--help",
        help_format="plaintext",
        help_formatter=HelpFormatter(),
        console=console,
        usage=f"{_NAME} [OPTIONS] COMMAND [ARGS]...",
        group_parameters=GROUPS["Options"],
        # as is the custom, the last one counts, and any word may be a value
        default_parameter=cyclopts.Parameter(
            negative=(), allow_repeating=True, allow_leading_hyphen=True
        ),
        config=_check_words,
        exit_on_error=False,
        print_error=False,
    )
    for flag in ("--help", "--version"):
        app[flag].group = GROUPS["Options"]
    if names is _COMMANDS:  # loads more of cyclopts
        app.register_install_completion_command(group=GROUPS["Options"])
    for place, name in enumerate(names):
        module, arguments = _COMMANDS[name]
        command = getattr(import_module(f"{__package__}.{module}"), name.replace("-", "_"))
        text, _, examples = str(getdoc(command)).partition(_EXAMPLES)
        app.command(
            command,
            name,
            help=text,
            help_epilogue=f"Examples:\n{indent(examples, '  ')}",
            usage=f"{_NAME} {name} [OPTIONS] {arguments}",
            sort_key=place,
        )
    return app


def _check_words(
    _: cyclopts.App, __: Sequence[str], arguments: cyclopts.ArgumentCollection
) -> None:
    """Raise if a word that would be a file looks like an option; '-' is standard input.

    Messages get to know how the options are typed.
    """
    set_names({one.field_info.name: one.names for one in arguments})
    for token in (token for one in arguments for token in one.tokens if token.keyword is None):
        if token.value.startswith("-") and token.value != "-" and not os.path.lexists(token.value):
            raise cyclopts.UnknownOptionError(token=token, argument_collection=arguments)


def _run_command(words: Sequence[str]) -> int:
    """Run a command, and print each warning and error as one line, with names of options."""
    words = repeat_options(words or ["--help"])
    app = build_application(words[:1] if words[0] in _COMMANDS else _COMMANDS)
    if words[-1] == "--help" and len(words) <= 1 + (words[0] in _COMMANDS):
        app.help_print(words[:-1])  # faster than to read options first
        return 0
    quiet = False
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DataWarning)
        try:
            command, bound, _ = app.parse_args(words)
            quiet = getattr(bound.arguments.get("output"), "quiet", False)
            return command(*bound.args, **bound.kwargs) or 0
        except RecsysNdcgError as error:
            print_message("error", write_options(error))
            return _WRONG
        finally:
            shown: list[Any] = [one.message for one in caught if not quiet]
            for message in dict.fromkeys(map(write_options, shown)):
                print_message("warning", message)


def run(words: Sequence[str]) -> int:
    """Run a command, print its error, and return the exit code.

    Errors are one line, also for invalid calls and bugs; a variable of the environment shows
    a bug's traceback. An interrupt and a closed pipe are silent.
    """
    try:
        code = _run_command(words)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
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
    if isinstance(error, cyclopts.CycloptsError):
        text = f"{_explain_call(error)} (see --help)"
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


def _explain_call(error: cyclopts.CycloptsError) -> str:
    """Return what is wrong in a call, in this package's words."""
    if isinstance(error, cyclopts.MissingArgumentError) and error.argument:
        return f"The value of {error.argument.names[0]} is missing."
    if isinstance(error, cyclopts.UnknownOptionError):
        from recsys_ndcg.convention import Convention

        option = error.token.keyword or error.token.value
        name = option.removeprefix("--").replace("-", "_")
        if name in Convention.field_names():
            return f"{option} is a choice of the convention. Write --convention {name}=..."
    return str(error)


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
    sys.exit(run(sys.argv[1:]))
