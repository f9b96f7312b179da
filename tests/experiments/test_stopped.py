"""Experiments that are stopped from outside: Ctrl-C, and what nobody can catch."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import recsys_ndcg as rn
from tests.experiments.made import item_means, models, run

if TYPE_CHECKING:
    from collections.abc import Callable

SCRIPT = """
import sys, time
from tests.experiments.made import item_means, models, run

def slow(train):
    time.sleep(0.3)
    return item_means(train)

found = run({**models(), "slow": slow}, seeds=3, folder=sys.argv[1], n_jobs=int(sys.argv[2]))
print(found.leaderboard["mean"].to_json(double_precision=15))
"""
_POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def _begun(script: Path, folder: Path, n_jobs: int) -> subprocess.Popen[str]:
    """Start an experiment in a group of processes of its own."""
    return subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, str(script), str(folder), str(n_jobs)],
        cwd=Path(rn.__file__).parents[1],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(rn.__file__).parents[1])},
        start_new_session=True,
        # a shell that starts the tests in the background lets them ignore it
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )


def _until(true: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


def _group(number: int) -> bool:
    """Tell whether any process of a group is left."""
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


@_POSIX
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_it_stops_at_once_and_goes_on_later(name: str, n_jobs: int, tmp_path: Path) -> None:
    """No process is left, and nothing that was done is lost."""
    script, folder = tmp_path / "script.py", tmp_path / "run"
    script.write_text(SCRIPT)
    process = _begun(script, folder, n_jobs)
    done = "cells/*/seed*.json"
    _until(lambda: len(list(folder.glob(done))) >= 3)
    os.kill(process.pid, getattr(signal, name))
    start = time.monotonic()
    _, told = process.communicate(timeout=30)
    assert time.monotonic() - start < 5, told  # on a busy machine; alone it takes 0.3 s
    assert process.returncode != 0
    _until(lambda: not _group(process.pid), 10)
    kept = {path: path.read_bytes() for path in folder.glob(done)}
    assert 3 <= len(kept) < 24
    if name == "SIGINT":
        assert not list(folder.rglob(".*"))
        assert "KeyboardInterrupt" in told.splitlines()[-1]
        assert told.count("Traceback") == 1
    again = _begun(script, folder, n_jobs)
    resumed, _ = again.communicate(timeout=60)
    assert again.returncode == 0
    assert kept.items() <= {path: path.read_bytes() for path in folder.glob(done)}.items()
    whole = run({**models(), "slow": item_means}, seeds=3).leaderboard["mean"]
    assert resumed == f"{whole.to_json(double_precision=15)}\n"
