"""Build the environments of the real libraries, run them, and write or check the golden files.

``python tests/peers/build.py`` builds all; with names of libraries, some; with ``--live`` those
that CI builds. ``--check`` compares their answers with the golden files, to 1e-12. The pages in
docs/coming-from are checked with it: their examples must print what the pages show.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tomllib
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENVIRONMENTS = ROOT / ".peers"
TOLERANCE = 1e-12


def python_of(name: str, packages: list[str]) -> Path:
    """Return the interpreter of an environment that has the packages."""
    home, wanted = ENVIRONMENTS / name, "\n".join(packages)
    python, installed = home / "bin" / "python", home / "requirements.txt"
    if not installed.exists() or installed.read_text() != wanted:
        venv.create(home, with_pip=True, clear=True)
        subprocess.run([home / "bin/pip", "install", "-q", "--no-compile", *packages], check=True)
        installed.write_text(wanted)
    return python


def same(now: Any, before: Any) -> bool:
    """Return whether two answers agree, numbers to the tolerance."""
    if isinstance(now, dict) and isinstance(before, dict):
        return now.keys() == before.keys() and all(same(now[key], before[key]) for key in now)
    if isinstance(now, float) and isinstance(before, float):
        return abs(now - before) <= TOLERANCE * max(1.0, abs(before))
    return bool(now == before)


def main() -> None:
    """Write or check the golden files of the libraries that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("libraries", nargs="*", help="all without any")
    parser.add_argument("--live", action="store_true", help="those that CI builds")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    options = parser.parse_args()
    environments = tomllib.loads((HERE / "environments.toml").read_text())
    different = []
    for name, one in environments.items():
        for library in one["libraries"]:
            if library not in (options.libraries or [library]) or options.live > one["live"]:
                continue
            command = [python_of(name, one["requirements"]), "-m", "tests.peers.run", library]
            run = subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE)
            folder, _, file = library.rpartition(".")
            path, now = HERE / folder / "golden" / f"{file}.json", json.loads(run.stdout)
            if not options.check:
                path.write_text(run.stdout)
            elif not same(now["answers"], json.loads(path.read_text())["answers"]):
                different.append(library)
            verdict = "differs" if library in different else f"{len(now['answers'])} answers"
            print(f"{now['library']} {now['version']}: {verdict}", flush=True)
            page = ROOT / "docs" / "coming-from" / f"{library}.md"
            command = [command[0], "-m", "tests.peers.pages", library]
            if page.exists() and subprocess.run(command, cwd=ROOT, check=False).returncode:
                different.append(page.name)
    if different:
        sys.exit(f"Not what the golden files and pages hold: {', '.join(different)}")


if __name__ == "__main__":
    main()
