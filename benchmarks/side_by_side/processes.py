"""Run each library in its own process, one run at a time."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # tests/ is not installed

from tests.peers.build import HERE as PEERS  # noqa: E402
from tests.peers.build import python_of  # noqa: E402

if TYPE_CHECKING:
    import pandas as pd

    from side_by_side.contestants import Contestant

WORKER = Path(__file__).parent / "worker.py"


class FailedError(Exception):
    """A library cannot be installed, or its run failed."""


def read_environments() -> dict[str, dict[str, Any]]:
    """Return the environments in tests/peers/environments.toml."""
    return tomllib.loads((PEERS / "environments.toml").read_text(encoding="utf-8"))


def find_interpreter(name: str) -> Path:
    """Return the interpreter of an environment, which is built if it is missing.

    Raises
    ------
    FailedError
        The environment cannot be built.
    """
    if not name:
        return Path(sys.executable)
    try:
        return python_of(name, read_environments()[name]["requirements"])
    except subprocess.CalledProcessError as error:
        msg = f"the environment {name} cannot be built"
        raise FailedError(msg) from error


def save(frame: pd.DataFrame, folder: Path) -> Path:
    """Write the columns of a frame to a folder, for the workers."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in frame:
        np.save(folder / f"{name}.npy", frame[name].to_numpy())
    return folder


class Process:
    """A process that runs a library.

    Parameters
    ----------
    one : Contestant
        The library.

    Raises
    ------
    FailedError
        Its environment cannot be built.
    """

    def __init__(self, one: Contestant) -> None:
        command = [str(find_interpreter(one.environment)), str(WORKER), one.module]
        variables = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3"}
        if one.environment:
            variables.pop("PYTHONPATH", None)
        self.version = ""
        self._process = subprocess.Popen(  # noqa: S603 - our own
            command,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self) -> Self:
        """Return the process, which has started."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def read(self, folder: Path) -> None:
        """Make the process read a frame."""
        self.version = self._request(frame=str(folder))["version"]

    def run(self, *, watch: bool = False) -> dict[str, Any]:
        """Run the library once; return its seconds, means and, if `watch`, the added bytes."""
        return self._request(run=watch)

    def _request(self, **request: object) -> dict[str, Any]:
        """Return the answer to a request.

        Raises
        ------
        FailedError
            The run failed, or the process has ended.
        """
        if self._process.stdin is None or self._process.stdout is None:
            raise AssertionError
        with contextlib.suppress(BrokenPipeError):  # the process has ended
            print(json.dumps(request), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        answer: dict[str, Any] = json.loads(line) if line else {"error": "its process ended"}
        if "error" in answer:
            raise FailedError(answer["error"].splitlines()[0][:100])
        return answer
