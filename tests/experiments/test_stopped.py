"""Experiments that are interrupted or killed."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pandas as pd
import pytest

import recsys_ndcg as rn
from tests.experiments.made import item_means, models, run

SCRIPT = """
import sys, time
from pathlib import Path
from tests.experiments.made import item_means, models, run

def slow(train):
    time.sleep(0.3)
    return item_means(train)

def holds(train):
    Path(sys.argv[1]).joinpath("begun").touch()
    sum(range(10**12))  # compiled code, which lets no other thread run

if sys.argv[3:]:
    run({"holds": holds, **models()}, n_jobs=2)
found = run({**models(), "slow": slow}, seeds=3, folder=sys.argv[1], n_jobs=int(sys.argv[2]))
print(found.leaderboard["mean"].to_json(double_precision=15))
"""
pytestmark = pytest.mark.slow
_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
_POSIX = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def _begun(folder: Path, n_jobs: int, *words: str) -> subprocess.Popen[str]:
    """Start an experiment in a group of processes of its own."""
    script, root = folder.with_suffix(".py"), str(Path(rn.__file__).parents[1])
    script.write_text(SCRIPT)
    return subprocess.Popen(  # noqa: S603 - our own script
        [sys.executable, str(script), str(folder), str(n_jobs), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
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
    """Return whether a group has a process."""
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


@_POSIX
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_a_stopped_run_ends_at_once_and_resumes(name: str, n_jobs: int, tmp_path: Path) -> None:
    """No process is left, and no finished fold is lost."""
    folder = tmp_path / "run"
    process = _begun(folder, n_jobs)
    done = "models/*/seed*.json"
    _until(lambda: len(list(folder.glob(done))) >= 3)
    os.kill(process.pid, getattr(signal, name))
    start = time.monotonic()
    _, printed = process.communicate(timeout=30)
    assert time.monotonic() - start < 5, printed  # on a busy machine; alone it takes 0.3 s
    assert process.returncode != 0
    _until(lambda: not _group(process.pid), 10)
    kept = {path: path.read_bytes() for path in folder.glob(done)}
    assert 3 <= len(kept) < 24
    if name == "SIGINT":
        assert not list(folder.rglob(".*"))
        # joblib's tracker, another process, may warn of files that are gone already
        lines = [line for line in printed.splitlines() if "resource_tracker" not in line]
        assert "KeyboardInterrupt" in lines[-1]
        # as where pathlib looks for an attribute, or pandas for a column
        links = "During handling of", "was the direct cause of"
        chained = sum(printed.count(link) for link in links)
        assert printed.count("Traceback") == 1 + chained, printed
    again = _begun(folder, n_jobs)
    resumed, _ = again.communicate(timeout=60)
    assert again.returncode == 0
    assert kept.items() <= {path: path.read_bytes() for path in folder.glob(done)}.items()
    whole = run({**models(), "slow": item_means}, seeds=3).leaderboard["mean"]
    assert resumed == f"{whole.to_json(double_precision=15)}\n"


def _workers() -> list[int]:
    """Return the numbers of the worker processes."""
    found = []
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for child in file.read_text().split():
                command = Path(f"/proc/{child}/cmdline").read_bytes()
                found += [int(child)] if b"LokyProcess" in command else []
    return found


def _slow(train: pd.DataFrame) -> object:
    time.sleep(0.2)
    return item_means(train)


@_LINUX
@pytest.mark.parametrize("seed", range(2))
def test_workers_may_be_killed_at_any_moment(seed: int, tmp_path: Path) -> None:
    """Also while results are written or sent: at most the fold of a killed worker fails."""
    draws, over = random.Random(seed), threading.Event()  # noqa: S311 - moments
    killed: list[float] = []

    def kill() -> None:
        if len(killed) < 3 and (found := _workers()):
            with suppress(ProcessLookupError):
                os.kill(draws.choice(found), signal.SIGKILL)
                killed.append(time.monotonic())

    def watch() -> None:
        while not over.wait(draws.uniform(0.1, 1.5)):
            kill()

    def on_result(_: object) -> None:
        if draws.random() < 0.2:
            kill()
        time.sleep(draws.uniform(0.0, 0.2))

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            given = {**models(), "slow": _slow}
            found = run(given, seeds=2, folder=tmp_path, n_jobs=2, on_result=on_result)
    finally:
        over.set()
        thread.join()
    assert killed
    notes = [file.read_text() for file in tmp_path.rglob("*.failed.txt")]
    assert len(notes) <= len(killed) // 2, "a fold is run twice before it counts as failed"
    notes += [str(one.message) for one in caught]
    assert all("its process was killed" in one for one in notes)
    whole = run({**models(), "slow": item_means}, seeds=2).per_user["ndcg@5"]
    for name in found.models:
        assert found.per_user["ndcg@5", name].equals(whole[name])


CUT = """
import os, signal
from multiprocessing.connection import Connection
from tests.experiments.made import item_means, models, run

def cut(train):
    def send_a_part(connection, message):
        send(connection, message[:4096])  # this much, the system writes as a whole
        os.kill(os.getpid(), signal.SIGKILL)

    send, Connection._send = Connection._send, send_a_part
    return item_means(train)

print(*run({"cut": cut, **models()}, n_jobs=2).models)
"""


def _print_models(code: str, folder: Path) -> list[str]:
    """Run a script in a process of its own, and return what it prints."""
    script, root = folder / "script.py", str(Path(rn.__file__).parents[1])
    script.write_text(code)
    printed = subprocess.run(  # noqa: S603 - our own script
        [sys.executable, str(script), str(folder / "first")],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": root},
        timeout=120,
        check=True,
    )
    return printed.stdout.split()


@_LINUX
def test_a_worker_may_be_killed_while_it_sends_a_result(tmp_path: Path) -> None:
    """Nothing waits for the end of its message."""
    assert _print_models(CUT, tmp_path) == ["cut", "SVD", "top"]


STOP = """
import sys, time
from multiprocessing.connection import Connection
from pathlib import Path
from tests.experiments.made import item_means, models, run

def stop(train):
    def send_and_stop(connection, message):
        send(connection, message)
        time.sleep(1000)  # a worker that is killed here keeps the lock of the pipe, too

    try:
        Path(sys.argv[1]).touch(exist_ok=False)
    except FileExistsError:
        time.sleep(2)  # until all others have sent theirs
        send, Connection._send = Connection._send, send_and_stop
    return item_means(train)

print(*run({**models(), "stop": stop}, n_jobs=2).models)
"""


@_LINUX
def test_a_worker_may_be_killed_after_it_has_sent_the_last_result(tmp_path: Path) -> None:
    """It keeps a lock, for which the other worker waits at its end."""
    assert _print_models(STOP, tmp_path) == ["SVD", "top", "stop"]


@_LINUX
def test_workers_in_compiled_code_end_with_a_killed_parent(tmp_path: Path) -> None:
    """Although their threads cannot notice it."""
    process = _begun(tmp_path, 2, "holds")
    _until((tmp_path / "begun").exists)
    process.kill()
    process.communicate(timeout=30)
    _until(lambda: not _group(process.pid), 10)
