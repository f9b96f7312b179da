"""Commands as a shell runs them: their streams, signals, exit codes and imports."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from recsys_ndcg.cli import program
from tests.commands import COMMANDS, run, run_python

PROGRAM = "from recsys_ndcg.cli import main; main()"
#: Runs the command line with each list of arguments, and prints the modules that are imported.
IMPORTS = """
import json, sys
from recsys_ndcg.cli import run
for words in json.loads(sys.argv[1]):
    assert run(words) == 0, words
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of shell, in which ``$run`` is our program."""
    run = f"{sys.executable} -c '{PROGRAM}'"
    return subprocess.run(  # noqa: S603 - our own
        ["/bin/bash", "-c", f"set -o pipefail; {line.replace('$run', run)}"],
        env={**os.environ, "COLUMNS": "80", **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_a_full_output_is_an_error_of_one_line(path: Path) -> None:
    """Python prints nothing more when it exits."""
    ran = shell(f"$run metrics > /dev/full; echo $? {path.name}")
    assert ran.stdout == "2 p.csv\n"
    assert ran.stderr == "error: The output cannot be written (No space left on device).\n"


@pytest.mark.slow
@pytest.mark.usefixtures("path")
def test_a_closed_stream_ends_a_command_in_one_line() -> None:
    """Closed and full outputs, and an input that is closed."""
    ran = shell("$run evaluate p.csv --per-user - > /dev/full")
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[-1].startswith("error: The output cannot be written")
    assert shell("(sleep 0.1; $run metrics; echo $? >&2) | true").stderr == "1\n"
    ran = shell("$run evaluate - <&-")
    (line,) = ran.stderr.splitlines()
    assert (ran.returncode, line[:7]) == (2, "error: ")


@pytest.mark.slow
def test_a_terminal_of_ascii_shows_everything(path: Path) -> None:
    """From `print` and from a command, which escapes what is no text."""
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = f"import recsys_ndcg as rn; print(rn.evaluate('{path}'))"
    ran = shell(
        f'{sys.executable} -c "{code}; {PROGRAM}" '
        f"evaluate {path} --json $'/\\xff\\x1b[31m\\u202e/x'",
        **ascii_only,
    )
    assert ran.stdout.isascii()
    assert ran.stdout.count("[95%]") == 4  # with a legend each
    assert ran.stderr.startswith(r"error: /\udcff\x1b[31m")
    assert ran.stderr.endswith("/x: cannot be written (No such file or directory).\n")


@pytest.mark.slow
@pytest.mark.skipif(np.__version__ < "2.1", reason="NumPy writes to it as SciPy loads it")
def test_a_command_works_with_closed_streams(path: Path) -> None:
    """As a daemon runs it."""
    ran = shell(f"$run evaluate {path} --json {path}.json >&- 2>&-; echo $?")
    assert (ran.stdout, ran.stderr) == ("0\n", "")
    assert path.with_name("p.csv.json").exists()


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, ""),
        (ZeroDivisionError("\x1b[31m"), 70, r"error: ZeroDivisionError: \x1b[31m - a bug in"),
        (FileNotFoundError(2, "No such file", "x"), 70, "error: FileNotFoundError"),
        (MemoryError("Unable to allocate 9 TiB"), 2, "Out of memory. Unable to allocate 9 TiB"),
    ],
)
def test_an_unexpected_error_is_one_line(
    error: BaseException, code: int, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug names the variable that shows the traceback; an interrupt is silent."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("recsys_ndcg.evaluation.evaluate_by_plan", fail)
    result = run("evaluate", "p.csv", environment={"RECSYS_NDCG_TRACEBACK": ""})
    assert (result.exit_code, result.stdout) == (code, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == bool(message)
    if code == 70:
        assert "RECSYS_NDCG_TRACEBACK=1" in result.stderr
        with pytest.raises(type(error)):
            run("evaluate", "p.csv")


def test_the_name_alone_shows_the_help() -> None:
    """It has all commands."""
    result = run()
    assert (result.exit_code, result.stderr) == (0, "")
    assert [name for name in COMMANDS if name not in result.stdout] == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_program_like_an_exception(number: signal.Signals) -> None:
    """So that a file which is being written is removed; garbage is collected rarely."""
    before, threshold = signal.getsignal(number), gc.get_threshold()
    gc.set_threshold(700)
    program.prepare_process()
    try:
        with pytest.raises(SystemExit) as end:
            signal.raise_signal(number)
        assert end.value.code == 128 + number
        assert gc.isenabled()
        assert gc.get_threshold()[0] >= 50_000
    finally:
        signal.signal(number, before)
        gc.set_threshold(*threshold)


def _imported(*calls: list[str]) -> set[str]:
    """Return the modules that some calls of the command line import."""
    done = run_python("-c", IMPORTS, json.dumps(calls))
    assert done.stdout
    return set(json.loads(done.stderr))


def test_help_imports_nothing_heavy() -> None:
    """So that it is shown at once."""
    found = _imported(["--help"], *([command, "--help"] for command in COMMANDS))
    assert not found & {"numpy", "pandas", "recsys_ndcg.report.report", "recsys_ndcg.metrics"}


@pytest.mark.slow
def test_a_small_file_is_evaluated_without_needless_imports(path: Path) -> None:
    """No statistics, plots or comparison."""
    found = _imported(["evaluate", str(path)])
    assert "pandas" in found
    needless = {"scipy", "jinja2", "altair", "surprise", "joblib", "numpy.f2py", "unittest"}
    ours = {"recsys_ndcg.comparison", "recsys_ndcg.rendering.plots", "recsys_ndcg.surprise"}
    assert not found & (needless | ours)
