"""Calling the command line in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from typer.testing import CliRunner

from recsys_ndcg.cli import application

if TYPE_CHECKING:
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


_APP = application()


class Said(NamedTuple):
    """What a call printed, and how it ended."""

    exit_code: int
    stdout: str
    stderr: str


def run(*words: str | Path, given: bytes = b"") -> Said:
    """Run the command line on some standard input; an error that is not its own is raised."""
    result = CliRunner().invoke(_APP, [str(word) for word in words], input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Said(result.exit_code, result.stdout, result.stderr)


def refusal(*words: str | Path) -> str:
    """Run what must fail as bad input does, and return the message."""
    result = run(*words)
    assert result.exit_code == 2, result.stderr
    assert not result.stdout
    lines = result.stderr.splitlines()
    assert 1 <= len(lines) <= 2, result.stderr
    assert lines[0].startswith("error: ")
    assert "Traceback" not in result.stderr
    assert "recsys_ndcg/" not in result.stderr
    return lines[0]
