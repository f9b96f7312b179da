"""A file is written completely or stays as it was."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

import recsys_ndcg as rn
from recsys_ndcg.files import write_file
from tests.commands import run_python
from tests.errors import assert_rejected, rejects

BEFORE = "as it was\n"
WRITERS: dict[str, Callable[[rn.Report, Path], object]] = {
    "save": rn.Report.save, "to_html": rn.Report.to_html,
    "text": lambda report, path: write_file(path, str(report)),
}  # fmt: skip


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "old.txt"
    path.write_text(BEFORE)
    return path


REPORT = rn.evaluate({"ann": [(4.5, 5), (3.0, 2)], "bob": [(2.0, 4), (3.5, 3)]})


def is_only_file(path: Path) -> bool:
    """Return whether the folder holds no other file."""
    return [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", ["os.fsync", "pathlib.Path.replace"])
def test_a_failed_write_leaves_the_old_file(path: Path, writer: str, error: Any, at: str) -> None:
    """After an error of the system, and after an interrupt."""
    expected = rn.InvalidInputError if isinstance(error, OSError) else KeyboardInterrupt
    with patch(at, side_effect=error), pytest.raises(expected):
        WRITERS[writer](REPORT, path)
    assert path.read_text() == BEFORE
    assert is_only_file(path)


def test_a_written_file_keeps_its_permissions_and_links(path: Path) -> None:
    """A link still points to it."""
    path.chmod(0o664)
    link = path.parent / "link"
    link.symlink_to(path.name)
    write_file(link, "new ± \n")
    assert path.read_text(encoding="utf-8") == "new ± \n"
    assert path.stat().st_mode & 0o777 == 0o664
    assert link.is_symlink()
    link.unlink()
    assert is_only_file(path)


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    """Also if a link to it exists already."""
    (tmp_path / "other").touch()
    (tmp_path / "link").symlink_to("new")
    write_file(tmp_path / "link", "x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_the_temporary_file_has_the_permissions_of_the_old_one(path: Path) -> None:
    """No other user may read it while it is written."""
    path.chmod(0o600)
    modes = []
    with patch("os.fsync", lambda number: modes.append(os.fstat(number).st_mode & 0o777)):
        write_file(path, "secret")
    assert modes == [0o600]


def test_pipes_and_devices_are_written_to(tmp_path: Path) -> None:
    """A file does not replace them."""
    write_file("/dev/null", "x")
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_file(pipe, "through")
    reader.join()
    assert read == ["through"]
    assert pipe.is_fifo()
    number = os.open(tmp_path / "file", os.O_CREAT | os.O_WRONLY)
    write_file(f"/dev/fd/{number}", "by its number")
    os.close(number)
    assert (tmp_path / "file").read_text() == "by its number"


TARGETS: list[tuple[Any, str]] = [
    ("/dev/full", "No space left"), ("/nowhere/at/all", "No such file"), (".", "Is a directory"),
    ("old.txt/below", "Not a directory"), ("n" * 300, "File name too long"),
    *((name, "cannot be the name of a file") for name in ("a\0b", "\ud800")),
    (5.5, "Give the path of a file, not 5.5"),
]  # fmt: skip


@pytest.mark.parametrize(("target", "match"), TARGETS)
def test_a_path_that_cannot_be_written_is_rejected(path: Path, target: Any, match: str) -> None:
    """With the reason, and without leaving a file."""
    with chdir(path.parent):
        for writer in WRITERS.values():
            assert_rejected(match, writer, REPORT, target, whole=False)
    assert is_only_file(path)


def test_text_with_a_lone_surrogate_is_rejected(path: Path) -> None:
    """UTF-8 cannot encode it."""
    with rejects(re.escape(f"{path}: cannot be written"), whole=False):
        write_file(path, "\ud800")
    assert path.read_text() == BEFORE


UNPRIVILEGED = """
import os, sys
import recsys_ndcg as rn
from recsys_ndcg.files.contents import write_file
os.geteuid() or os.setuid(65534)
for path in sys.argv[1:]:
    try:
        write_file(path, "new")
    except rn.InvalidInputError as error:
        print(error)
"""


@pytest.mark.slow
def test_a_protected_file_or_folder_is_not_changed() -> None:
    """Even if the folder of a protected file is writable."""
    with tempfile.TemporaryDirectory() as name:  # other users cannot enter the folders of pytest
        Path(name).chmod(0o755)
        opened, closed = Path(name) / "opened", Path(name) / "closed"
        for folder, mode in ((opened, 0o777), (closed, 0o555)):
            folder.mkdir()
            (folder / "file").write_text(BEFORE)
            (folder / "file").chmod(0o444)
            folder.chmod(mode)
        paths = [*map(str, (opened / "file", closed / "file", closed / "new"))]
        printed = run_python("-c", UNPRIVILEGED, *paths).stdout
        expected = [f"{path}: cannot be written (Permission denied)." for path in paths]
        assert printed.splitlines() == expected
        assert (opened / "file").read_text() == BEFORE
        assert len([*opened.iterdir()]) == len([*closed.iterdir()]) == 1
        closed.chmod(0o755)
