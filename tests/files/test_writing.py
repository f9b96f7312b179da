"""A file that is written is whole: as it was before, or as it shall be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

import recsys_ndcg as rn
from recsys_ndcg.files.contents import write_whole
from tests.errors import rejects

if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE = "as it was\n"
LISTS = {"ann": [(4.5, 5), (3.0, 2)], "bob": [(2.0, 4), (3.5, 3)]}
WRITERS: dict[str, Callable[[rn.Report, Path], object]] = {
    "save": rn.Report.save,
    "to_html": rn.Report.to_html,
    "text": lambda report, path: write_whole(path, str(report)),
}


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    path = tmp_path / "old.txt"
    path.write_text(BEFORE)
    return path


@pytest.fixture(name="report", scope="module")
def _report() -> rn.Report:
    return rn.evaluate(LISTS)


def alone(path: Path) -> bool:
    """Tell whether nothing was left beside a file."""
    return [one.name for one in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("at", ["os.fsync", "pathlib.Path.replace"])
def test_what_goes_wrong_in_the_middle_leaves_the_file_as_it_was(
    path: Path, report: rn.Report, writer: str, error: BaseException, at: str
) -> None:
    """An error of the system, and an interrupt."""
    expected = rn.InvalidInputError if isinstance(error, OSError) else KeyboardInterrupt
    with patch(at, side_effect=error), pytest.raises(expected):
        WRITERS[writer](report, path)
    assert path.read_text() == BEFORE
    assert alone(path)


CHILD = """
import resource, sys
import recsys_ndcg as rn
report = rn.evaluate({user: [(4.5, 5), (3.0, 2)] for user in range(20)})
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
for write in (report.save, report.to_html):
    try:
        write(sys.argv[1])
    except rn.InvalidInputError as error:
        print(error)
"""


def test_a_full_disk_leaves_the_file_as_it_was(path: Path) -> None:
    """Files of at most 64 bytes, in a process of its own."""
    pytest.importorskip("resource")
    ran = subprocess.run(  # noqa: S603 - our own
        [sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == f"{path}: cannot be written (File too large).\n" * 2
    assert path.read_text() == BEFORE
    assert alone(path)


def test_the_new_file_takes_the_place_of_the_old_one(path: Path) -> None:
    """With its permissions; a link still leads to it."""
    path.chmod(0o664)
    link = path.parent / "link"
    link.symlink_to(path.name)
    write_whole(link, "new ± \n")
    assert path.read_text(encoding="utf-8") == "new ± \n"
    assert path.stat().st_mode & 0o777 == 0o664
    assert link.is_symlink()
    link.unlink()
    assert alone(path)


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    """Also where a link leads to nothing yet."""
    (tmp_path / "other").touch()
    (tmp_path / "link").symlink_to("new")
    write_whole(tmp_path / "link", "x")
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_no_more_people_may_read_it_while_it_is_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Than may read the file."""
    path.chmod(0o600)
    modes = []
    monkeypatch.setattr("os.fsync", lambda number: modes.append(os.fstat(number).st_mode & 0o777))
    write_whole(path, "secret")
    assert modes == [0o600]


def test_a_pipe_and_a_device_are_written_into(tmp_path: Path) -> None:
    """And not replaced by a file."""
    write_whole("/dev/null", "x")
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "through")
    reader.join()
    assert read == ["through"]
    assert pipe.is_fifo()
    number = os.open(tmp_path / "file", os.O_CREAT | os.O_WRONLY)
    write_whole(f"/dev/fd/{number}", "by its number")
    os.close(number)
    assert (tmp_path / "file").read_text() == "by its number"


@pytest.mark.parametrize(
    ("target", "match"),
    [
        ("/dev/full", "No space left"),
        ("/nowhere/at/all", "No such file"),
        (".", "Is a directory"),
        ("old.txt/below", "Not a directory"),
        ("n" * 300, "File name too long"),
        ("a\0b", "cannot be the name of a file"),
        ("\ud800", "cannot be the name of a file"),
        (None, "Give the path of a file, not None"),
    ],
)
def test_what_cannot_be_written_is_told_with_the_reason(
    path: Path, report: rn.Report, target: Any, match: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every writer, and nothing is left behind."""
    monkeypatch.chdir(path.parent)
    with rejects(match, whole=False):
        report.save(target)
    with rejects(match, whole=False):
        write_whole(target, "x")
    assert alone(path)


def test_text_that_no_file_can_hold_is_told(path: Path) -> None:
    """A lone surrogate has no place in UTF-8."""
    with rejects(re.escape(f"{path}: cannot be written"), whole=False):
        write_whole(path, "\ud800")
    assert path.read_text() == BEFORE


NOBODY = """
import os, sys
from recsys_ndcg.files.contents import write_whole
import recsys_ndcg as rn
if os.geteuid() == 0:
    os.setuid(65534)
for path in sys.argv[1:]:
    try:
        write_whole(path, "new")
    except rn.InvalidInputError as error:
        print(error)
"""


def test_a_file_or_a_folder_that_is_protected_stays() -> None:
    """A folder that is open to all does not open the file in it."""
    with tempfile.TemporaryDirectory() as name:  # pytest's own can be entered by nobody else
        Path(name).chmod(0o755)
        opened, closed = Path(name) / "opened", Path(name) / "closed"
        for folder, mode in ((opened, 0o777), (closed, 0o555)):
            folder.mkdir()
            (folder / "file").write_text(BEFORE)
            (folder / "file").chmod(0o444)
            folder.chmod(mode)
        paths = [str(opened / "file"), str(closed / "file"), str(closed / "new")]
        ran = subprocess.run(  # noqa: S603 - our own
            [sys.executable, "-c", NOBODY, *paths], capture_output=True, text=True, check=True
        )
        assert ran.stdout.splitlines() == [
            f"{path}: cannot be written (Permission denied)." for path in paths
        ]
        assert (opened / "file").read_text() == BEFORE
        assert len([*opened.iterdir()]) == len([*closed.iterdir()]) == 1
        closed.chmod(0o755)
