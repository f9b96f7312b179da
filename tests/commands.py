"""Calling the command line in this process."""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

import pytest

from recsys_ndcg.cli import build_application

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


COMMANDS = [
    "evaluate",
    "compare",
    "report",
    "leaderboard",
    "explain",
    "reconcile",
    "experiment",
    "demo",
    "presets",
    "metrics",
]


_APP = build_application()


class StandardInput(BytesIO):
    """Standard input, with the name that messages look for."""

    name = "<stdin>"


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
        patch.object(sys, "stdin", TextIOWrapper(StandardInput(stdin), encoding="utf-8")),
        patch.dict(os.environ, environment or {}),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        _APP([str(word) for word in words], prog_name="recsys-ndcg")
    code = end.value.code or 0
    assert isinstance(code, int)
    return CommandResult(code, _text_of(out), _text_of(err))


def _text_of(stream: TextIOWrapper[BytesIO]) -> str:
    stream.flush()
    return stream.buffer.getvalue().decode()


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
