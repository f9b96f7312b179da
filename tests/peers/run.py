"""Run one library on all cases and print its answers, with the versions: its golden file.

``python -m tests.peers.run scikit_learn``, where scikit-learn is installed; those of a folder with
cases of its own by its name, ``paired.scipy``.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib import import_module
from importlib.metadata import version


def golden(library: str) -> str:
    """Return a library's answers as JSON, one line per preset, case and metric."""
    folder, _, name = f"tests.peers.{library}".rpartition(".")
    adapter = import_module(f"{folder}.libraries.{name}")
    answers = {}
    for case in import_module(f"{folder}.cases").cases():
        for preset, metrics in adapter.scores(case).items():
            for metric, answer in metrics.items():
                answers[f"{preset} {case.name} {metric}"] = json.dumps(answer)
    head = {"library": adapter.DISTRIBUTION, "version": version(adapter.DISTRIBUTION)}
    head["python"] = platform.python_version()
    lines = ",\n".join(f"  {json.dumps(key)}: {answer}" for key, answer in answers.items())
    return f'{json.dumps(head)[:-1]},\n "answers": {{\n{lines}\n}}}}\n'


if __name__ == "__main__":
    print(golden(sys.argv[1]), end="")
