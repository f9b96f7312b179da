"""Commands as a shell runs them: streams that are full, closed or narrow, and ends from outside."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recsys_ndcg.cli import main, program

if TYPE_CHECKING:
    from pathlib import Path


PROGRAM = "from recsys_ndcg.cli import main; main()"
ROWS = "user,item,estimated,true\nann,a,4.5,5\nann,b,3.0,2\nbob,a,2.0,4\nbob,b,3.5,3\n"


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "p.csv"
    path.write_text(ROWS)
    return path


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, in which ``$run`` is our program."""
    run = f"{sys.executable} -c '{PROGRAM}'"
    return subprocess.run(  # noqa: S603 - our own
        ["/bin/bash", "-c", f"set -o pipefail; {line.replace('$run', run)}"],
        env={**os.environ, "COLUMNS": "80", **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_an_output_that_is_full_is_told_in_one_line(path: Path) -> None:
    """And nothing more is said when Python exits."""
    ran = shell(f"$run evaluate {path} > /dev/full; echo $?")
    assert ran.stdout == "2\n"
    assert ran.stderr == "error: The output cannot be written (No space left on device).\n"


def test_a_closed_pipe_ends_in_silence(path: Path) -> None:
    """As whoever closed it wanted."""
    ran = shell(f"(sleep 0.1; $run evaluate {path}; echo $? >&2) | true")
    assert ran.stderr == "1\n"


def test_a_terminal_of_ascii_alone_shows_everything(path: Path) -> None:
    """To `print`, and to a command, which says what is no text as well as it can."""
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = f"import recsys_ndcg as rn; print(rn.evaluate('{path}'))"
    ran = shell(
        f'{sys.executable} -c "{code}; {PROGRAM}" '
        f"evaluate {path} --json $'/\\xff\\x1b[31m\\u202e/x'",
        **ascii_only,
    )
    assert ran.stdout.isascii()
    assert ran.stdout.count("+-95%") == 3
    assert ran.stderr.startswith(r"error: /\udcff\x1b[31m")
    assert ran.stderr.endswith("/x: cannot be written (No such file or directory).\n")


@pytest.mark.skipif(np.__version__ < "2.1", reason="NumPy writes to it as SciPy loads it")
def test_streams_that_are_closed_are_done_without(path: Path) -> None:
    """As a daemon runs a program."""
    ran = shell(f"$run evaluate {path} --json {path}.json >&- 2>&-; echo $?")
    assert (ran.stdout, ran.stderr) == ("0\n", "")
    assert path.with_name("p.csv.json").exists()


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> object:
    """Return how the program ends if a command fails like this."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("recsys_ndcg.evaluation.evaluated", fail)
    monkeypatch.setattr(sys, "argv", ["recsys-ndcg", "evaluate", "p.csv"])
    with pytest.raises(SystemExit) as end:
        main()
    return end.value.code


def test_an_interrupt_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the code of shells."""
    assert failing(monkeypatch, KeyboardInterrupt()) == 130
    assert [text.strip() for text in capsys.readouterr()] == ["", ""]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_an_end_from_outside_goes_the_way_of_all_ends(
    number: signal.Signals,
) -> None:
    """So that a file which is being written is taken away."""
    before = signal.getsignal(number)
    program.prepared()
    try:
        with pytest.raises(SystemExit) as end:
            signal.raise_signal(number)
        assert end.value.code == 128 + number
    finally:
        signal.signal(number, before)


def test_a_mistake_of_ours_is_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And how to see more."""
    assert failing(monkeypatch, ZeroDivisionError("\x1b[31m")) == 70
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(r"error: ZeroDivisionError: \x1b[31m - a mistake of recsys-ndcg")
    assert "RECSYS_NDCG_TRACEBACK=1" in line
    monkeypatch.setenv("RECSYS_NDCG_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        failing(monkeypatch, ZeroDivisionError())


def test_too_little_memory_is_no_mistake(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """NumPy says how much it wanted."""
    assert failing(monkeypatch, MemoryError("Unable to allocate 9 TiB")) == 2
    assert "The memory does not suffice. Unable to allocate 9 TiB" in capsys.readouterr().err


def test_an_error_of_a_file_is_not_taken_for_one_of_the_output(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It has the name of the file."""
    assert failing(monkeypatch, FileNotFoundError(2, "No such file", "x")) == 70
    assert "FileNotFoundError" in capsys.readouterr().err
