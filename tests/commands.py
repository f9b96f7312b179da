"""Calling the command line in this process, and Python in another one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from copy import copy
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import pandas as pd
from cyclopts import App

import recsys_ndcg as rn
from recsys_ndcg import cli

COMMANDS = [one for one in cli.build_application() if one[0] != "-"]
_collect_options = App.assemble_argument_collection
_OPTIONS: dict[Any, Any] = {}


def run_python(
    *words: str | Path, paths: Sequence[str | Path] = (), cwd: Path | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run Python in another process, which finds the package and other paths; it must succeed."""
    places = [*map(str, paths), str(Path(rn.__file__).parents[1])]
    variables = {"PYTHONPATH": os.pathsep.join(places), "PYTHONUTF8": "1", **variables}
    how: dict[str, Any] = {"env": os.environ | variables, "cwd": cwd, "encoding": "utf-8"}
    given = [sys.executable, *map(str, words)]
    done = subprocess.run(given, capture_output=True, check=False, **how)  # noqa: S603 - our own
    assert done.returncode == 0, done.stderr
    return done


class StandardInput(BytesIO):
    """Standard input, with the name that messages look for."""

    name = "<stdin>"

    def peek(self, _: int = 0) -> bytes:
        """Return what comes next."""
        return self.getvalue()[self.tell() :]


def _copy_options(app: App, **how: Any) -> Any:
    """Return the options of a command, which cyclopts takes long to collect: once for all calls."""
    key = app.default_command, *how.items()
    if key not in _OPTIONS:
        _OPTIONS[key] = _collect_options(app, **how)
    options = _OPTIONS[key]
    copies = {id(one): copy(one) for one in options}
    for one in copies.values():
        one.tokens = []
        one.children = type(options)(copies[id(child)] for child in one.children)
    return type(options)(copies.values())


class CommandResult(NamedTuple):
    """What a command printed, and its exit code."""

    exit_code: int
    stdout: str
    stderr: str


def run(
    *words: str | Path, stdin: bytes = b"", environment: Mapping[str, str] | None = None
) -> CommandResult:
    """Run a command; an exception that the command does not handle is raised."""
    out, err = (TextIOWrapper(BytesIO(), encoding="utf-8", newline="") for _ in range(2))
    with (
        patch.object(App, "assemble_argument_collection", _copy_options),
        patch.object(sys, "stdin", TextIOWrapper(StandardInput(stdin), encoding="utf-8")),
        patch.dict(os.environ, {"RECSYS_NDCG_TRACEBACK": "1", **(environment or {})}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        code = cli.run([str(word) for word in words])
    return CommandResult(code, _text_of(out), _text_of(err))


def _text_of(stream: TextIOWrapper[BytesIO]) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()


def json_of(*words: str | Path, stdin: bytes = b"") -> Any:
    """Run a command that must pass, and return what it prints as JSON."""
    result = run(*words, "--format", "json", stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def csv_of(*words: str | Path, **options: Any) -> pd.DataFrame:
    """Run a command that must pass, and return what it prints as CSV."""
    result = run(*words, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    table: pd.DataFrame = pd.read_csv(StringIO(result.stdout), **options)
    return table


def error_of(*words: str | Path, stdin: bytes = b"") -> str:
    """Run a command that must fail on bad input, and return its error message."""
    result = run(*words, stdin=stdin)
    assert result.exit_code == 2, result.stderr
    assert not result.stdout
    lines = result.stderr.splitlines()
    assert 1 <= len(lines) <= 2, result.stderr
    assert lines[0].startswith("error: ")
    assert "Traceback" not in result.stderr
    assert "recsys_ndcg/" not in result.stderr
    return lines[0]
