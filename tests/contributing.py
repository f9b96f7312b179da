"""The diffs on the pages for contributors, and the command that renews them.

If the code around a diff has changed, ``python -m tests.contributing renew`` applies it with some
tolerance and writes it anew. If even that fails, start from a copy of the checkout:

    python -m tests.contributing start add-a-metric FOLDER   # the copy, with what still applies
    python -m tests.contributing renew add-a-metric FOLDER   # after you have changed FOLDER
"""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.pages import ROOT

PAGES = ROOT / "docs" / "contributing"
NAMES = ("add-a-metric", "add-a-preset", "add-a-reader")
#: What the tests need of a checkout or an unpacked sdist.
_COPIED = (
    "recsys_ndcg", "tests", "docs", "examples",
    "pyproject.toml", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CITATION.cff", "LICENSE",
)  # fmt: skip
_SKIPPED = ("__pycache__", "_build", "*.diff")
_TEXT = {".py", ".pyi", ".md", ".toml", ".json", ".jinja", ".css", ".js"}


def diff_of(name: str) -> Path:
    """Return the file of a diff."""
    return PAGES / f"{name}.diff"


def changed_files(diff: Path) -> list[str]:
    """Return the files that a diff changes or adds."""
    return re.findall(r"^\+\+\+ b/(\S+)$", diff.read_text(encoding="utf-8"), re.MULTILINE)


def copy_files(names: Iterable[str], folder: Path) -> None:
    """Copy the files that exist in the checkout into a new folder."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists():
            shutil.copy(ROOT / name, folder / name)


def copy_checkout(folder: Path) -> None:
    """Copy the package, its tests and its pages into a new folder."""
    folder.mkdir(parents=True)
    for name in _COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns(*_SKIPPED))
        elif source.exists():
            shutil.copy(source, folder / name)


def can_apply() -> bool:
    """Return whether the program that applies diffs is installed."""
    return shutil.which("patch") is not None


def apply_diff(diff: Path, folder: Path, *, is_exact: bool = True) -> str:
    """Apply a diff to a copy of the checkout, and return what does not fit: "" if all does.

    Parameters
    ----------
    diff : Path
        The file of the diff.
    folder : Path
        The copy, which is changed.
    is_exact : bool
        Whether each place must have the lines that the diff expects. Otherwise up to three
        lines around a change may differ.
    """
    options = ("-p1", f"--fuzz={0 if is_exact else 3}", "--batch", "--no-backup-if-mismatch")
    done = subprocess.run(  # noqa: S603 - our own
        ["patch", *options, "-i", str(diff.resolve())],  # noqa: S607 - wherever it is installed
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr if done.returncode else ""


def write_diff(folder: Path) -> str:
    """Return the diff from the checkout to a changed copy of it."""
    inside = (path.relative_to(folder) for path in sorted(folder.rglob("*")) if path.is_file())
    sources = (name for name in inside if name.suffix in _TEXT and name.parts[0] in _COPIED)
    return "".join(line for name in sources for line in _compare(name, folder))


def _compare(name: Path, folder: Path) -> Iterator[str]:
    """Yield the lines of the diff of one file."""
    before, after = ROOT / name, (folder / name).read_bytes()
    old = before.read_bytes() if before.exists() else b""
    if old != after:
        first = f"a/{name.as_posix()}" if before.exists() else "/dev/null"
        lines, new = (one.decode().splitlines(keepends=True) for one in (old, after))
        around = 1 if name.suffix == ".md" else 2  # neighbours in a list change often
        yield from difflib.unified_diff(lines, new, first, f"b/{name.as_posix()}", n=around)


def start(name: str, folder: Path) -> str:
    """Copy the checkout, apply as much of a diff as fits, and return what does not."""
    copy_checkout(folder)
    diff = diff_of(name)
    return apply_diff(diff, folder, is_exact=False) if diff.exists() else ""


def renew(name: str, folder: Path) -> None:
    """Write a diff anew, from the checkout to a changed copy of it."""
    diff_of(name).write_text(write_diff(folder), encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Renew diffs, or start with a copy of the checkout; return 1 if a diff does not apply."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.contributing",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=["renew", "start"])
    parser.add_argument("name", nargs="?", choices=NAMES, help="without a name, all are renewed")
    parser.add_argument("folder", nargs="?", type=Path, help="the copy of the checkout")
    given = parser.parse_args(arguments)
    if given.command == "renew" and given.folder:
        if not given.folder.is_dir():
            parser.error(f"{given.folder} is not a folder")
        renew(given.name, given.folder)
        return 0
    if not can_apply():
        parser.error("the program patch is not installed, which applies the diffs")
    if given.command == "start":
        if not given.folder or given.folder.exists():
            parser.error("start needs a name and a folder that does not exist yet")
        problems = start(given.name, given.folder)
        sys.stdout.write(problems)
        return int(bool(problems))
    failed = False
    for name in [given.name] if given.name else NAMES:
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, name)
            if problems := start(name, copy):
                failed = True
                sys.stdout.write(f"{problems}python -m tests.contributing start {name} FOLDER\n")
            else:
                renew(name, copy)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
